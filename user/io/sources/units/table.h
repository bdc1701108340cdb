/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_SOURCES_UNITS_TABLE_H
#define IO_SOURCES_UNITS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-bus.h>

struct unit;
TAILQ_HEAD(unit_list, unit);

/* What was reported of a service last. */
struct unit_report {
	uint32_t known, main_pid, stop_signal;
	uint64_t grace_ns;
};

/* A service that was asked for. */
struct unit {
	TAILQ_ENTRY(unit) link;
	struct unit_list *in; /* NULL: nothing is to be done about it */
	sd_bus_slot *call;    /* while it is asked */
	uint64_t asked_ns;
	uint64_t used;	     /* higher: asked for later */
	unsigned int finds;  /* look-ups that wait for it */
	unsigned int pinned; /* its end is being reported: it may not go */
	bool again;	     /* the answer under way may be old */
	bool reported;
	struct unit_report last;
	char *object; /* its path on the bus; NULL: not asked since connected */
	char cgroup[];
};

/* The services that were asked for: by cgroup, by object, in the order they are to be asked about. */
struct unit_table {
	struct unit **list; /* sorted by cgroup */
	size_t n, room;
	/* Looked up now, to be looked up, to be looked up again when there is nothing else. */
	struct unit_list asked, wanted, stale;
	unsigned int n_asked;
};

void units_init(struct unit_table *t);
/* Finds it or makes it. NULL when there is no memory, or a caller waits for each. */
struct unit *units_get(struct unit_table *t, const char *cgroup);
/* NULL for none. */
struct unit *units_by_object(const struct unit_table *t, const char *object);
/* Moves it to the end of another list, or of none. */
void units_put(struct unit_table *t, struct unit *unit, struct unit_list *in);
/* Looks it up again when there is time; what is under way may be old. */
void units_refresh(struct unit_table *t, struct unit *unit);
void units_refresh_all(struct unit_table *t);
/* Forgets it, unless a caller waits for it. */
void units_forget(struct unit_table *t, struct unit *unit);
/* Frees all of them. */
void units_done(struct unit_table *t);

#endif
