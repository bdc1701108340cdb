/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers whose processes end at random moments, in the ways that are easily misjudged, and the
 * truth of when the last process of them ended.
 *
 *   ends_start(&tree, 500, 2000, &ends);
 *   ends_go(&ends, 1500);
 *   …                                      whatever waits for them
 *   last = ends_last_ns(&ends, &running);
 *   ends_free(&ends);
 *
 * One of eight passes on to a child at its end, is removed at once, moves between cgroups of its
 * own, gets a new process after it was empty, or is made late. The last two outlast all others but
 * are begun while others run, so that a process is there at each moment until the last.
 */
#ifndef TESTS_LIB_BOX_ENDS_H
#define TESTS_LIB_BOX_ENDS_H

#include "lib/box/box_tree.h"

#include <stddef.h>
#include <stdint.h>

struct ends_life;

struct ends {
	struct ends_life *lives; /* shared with the processes */
	uint64_t *go_ns;
	size_t n;
	int hold_fd; /* closed: they begin to count */
};

/* Starts n containers, 16 at least, which end within within_ms after ends_go(). 0 or -errno with
 * what is left over left to box_tree_close(). */
int ends_start(struct box_tree *tree, size_t n, uint64_t within_ms, struct ends *ret);
/* Their time begins lead_ms from now. */
void ends_go(struct ends *ends, uint64_t lead_ms);
/* When the last process ended, read by itself before its exit; how many containers have one yet. */
uint64_t ends_last_ns(const struct ends *ends, size_t *ret_running);
/* Reaps what has ended, kills what has not. Twice is fine. */
void ends_free(struct ends *ends);

#endif
