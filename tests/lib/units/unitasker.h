/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io/sources/units with a stand-in for systemd (lib/units/unitpeer.h) in a directory of its own,
 * and what the sink received, in order. With cmocka: fails by itself.
 */
#ifndef TESTS_LIB_UNITS_UNITASKER_H
#define TESTS_LIB_UNITS_UNITASKER_H

#include "io/sources/units/units.h"
#include "lib/units/unitpeer.h"

#define UNITASKER_REPORTS_MAX 8192

struct unitasker_report {
	bool done; /* else a container */
	enum meta_result result;
	char key[64]; /* done: the cgroup; else the unit */
	struct meta_container container;
};

struct unitasker {
	sd_event *event;
	struct unitpeer peer;
	struct source_units *units;
	struct source_sink sink;
	char dir[32];
	struct unitasker_report *reports;
	size_t n;	  /* so far */
	size_t n_done;	  /* of them */
	const char *next; /* looked up from within the next call of the sink */
};

/* Without a peer, and without units. */
void unitasker_begin(struct unitasker *a);
void unitasker_end(struct unitasker *a);
/* For a test's setup and teardown, with a peer that does not listen yet and has the services a,
 * with main process 42, and b: SIGTERM, 90 s. */
#define UNITASKER_A "/system.slice/a.service"
#define UNITASKER_B "/system.slice/b.service"
int unitasker_setup(void **state);
int unitasker_teardown(void **state);
/* The peer listens at dir/name. */
void unitasker_listen(struct unitasker *a, const char *name);
/* Makes units ask dir/name, "private" or something else, which need not be there. */
void unitasker_ask(struct unitasker *a, const char *name, uint64_t timeout_ns);

/* Runs the loop until check() is true, for at most PATIENCE_S. */
void unitasker_until(struct unitasker *a, bool (*check)(struct unitasker *));
/* Runs it until everything sent so far has been read on both sides. */
void unitasker_settle(struct unitasker *a);
bool unitasker_is_up(struct unitasker *a);
bool unitasker_is_down(struct unitasker *a);
bool unitasker_is_off(struct unitasker *a);
/* Looks up one cgroup and runs the loop until that is over. */
enum meta_result unitasker_find(struct unitasker *a, const char *cgroup);
/* The newest container that was reported; NULL for none. */
const struct meta_container *unitasker_last(const struct unitasker *a);
size_t unitasker_containers(const struct unitasker *a);

#endif
