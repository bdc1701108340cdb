/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A `graced trace -o json` child whose records are collected in memory while the test goes on.
 *
 *   struct tracer *tracer;
 *   const json_t *stop;
 *
 *   tracer_start(&(struct tracer_spec){ .args = BOX_ARGV("--assume-grace", "2s") }, &tracer);
 *   …
 *   stop = tracer_await_stop(tracer, &box);
 *   assert_string_equal(jrec_text(stop, "outcome"), "graceful");                  (jrec.h)
 *   …
 *   assert_int_equal(tracer_stop(tracer), 0);
 *   tracer_free(tracer);
 *
 * Records belong to the tracer and live until tracer_free(). Lines are read by a thread of the
 * library, so a test may be busy for as long as it likes.
 */
#ifndef TESTS_LIB_KERNEL_TRACER_H
#define TESTS_LIB_KERNEL_TRACER_H

#include "lib/box/box.h"

#include <jansson.h>

struct tracer;

struct tracer_spec {
	const char *const *args; /* after `trace -o json`; NULL for none */
	const char *record;	 /* write a recording to this file as well */
	const char *command;	 /* another command than "trace" */
	/* It looks for containers in this tree alone, so that no workload of others on the host
	 * takes its ring's room; NULL: on the whole host. */
	const struct box_tree *tree;
	const char *root; /* in place of a tree: a cgroup, from the hierarchy's root; NULL: none */
};

/* One record that is waited for: members left 0 or NULL match anything. */
struct tracer_want {
	const char *type;
	const char *id;	    /* container.id, of the target in signal records */
	const char *cgroup; /* container.cgroup, likewise */
	pid_t pid;	    /* process.pid, or target.pid */
	unsigned int nth;   /* how many earlier matches to pass over */
};

/* Why the tracer cannot run here (not root, no BTF, GRACED not set), or NULL. */
const char *tracer_unavailable(void);

/* box_tree_open() where both the tracer and boxes can be had, and where no other reason is given;
 * else prints the reason to skip. 1, 0: skipped, or -1. */
int tracer_open_tree(const char *what, const char *reason, struct box_tree *ret);

/* Start it, on GRACED_TEST_HIERARCHY if that is set, and wait until it says it is attached. 0,
 * -ETIMEDOUT, or -ECHILD when it ended first. */
int tracer_start(const struct tracer_spec *spec, struct tracer **ret);

pid_t tracer_pid(const struct tracer *tracer);

/* Wait at most PATIENCE_S for a record; NULL when it does not come. */
const json_t *tracer_await(struct tracer *tracer, const struct tracer_want *want);

/* Wait for the (first) stop record of a box: by its id, or by its cgroup when it has none. */
const json_t *tracer_await_stop(struct tracer *tracer, const struct box *box);

/* What has been read so far: the number of records, one of them, how many match. */
size_t tracer_records(struct tracer *tracer);
const json_t *tracer_record(struct tracer *tracer, size_t i);
size_t tracer_count(struct tracer *tracer, const struct tracer_want *want);

/* Lines that were no JSON object. */
size_t tracer_bad_lines(struct tracer *tracer);

/* Wait until it ends by itself (--count, --duration): its exit status, 128 + n if it died of signal
 * n, or -ETIMEDOUT after PATIENCE_S. All records are in afterwards. */
int tracer_wait(struct tracer *tracer);

/* SIGINT, then tracer_wait(). */
int tracer_stop(struct tracer *tracer);

/* Kill it if it still runs and free everything. NULL is fine; returns NULL. */
struct tracer *tracer_free(struct tracer *tracer);

#endif
