/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many boxes that end at moments of their own, each in its way, while a test does something else;
 * and what records say of them in the end.
 *
 *   fleet_start(&tree, 200, &random, &fleet);
 *   while (!fleet_done(&fleet))
 *           fleet_step(&fleet, ms since the start);
 *   assert_int_equal(fleet_read(&fleet, path), 0);
 *   fleet_check(&fleet);
 */
#ifndef TESTS_LIB_BOX_FLEET_H
#define TESTS_LIB_BOX_FLEET_H

#include "lib/box/box.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fleet_box {
	struct box box;
	bool deaf;
	int code;			      /* it exits with, unless it is deaf */
	uint64_t stop_ms, kill_ms, remove_ms; /* when; kill_ms only if it is deaf */
	bool stopped, killed, removed;
	int status; /* as waitpid(2) returned it */
	char *line; /* the stop record that was read; owned */
	unsigned int lines;
};

struct fleet {
	struct box_tree *tree;
	struct fleet_box *boxes;
	size_t n, removed;
	unsigned int complete, partial, repeated; /* records, by fleet_check() */
};

/* They end within that time. 0 or -errno. The caller frees with fleet_done(). */
int fleet_start(struct box_tree *tree, size_t n, uint64_t within_ms, struct fleet *ret);
void fleet_done(struct fleet *fleet);

/* Does what is due by now. 0 or -errno. */
int fleet_step(struct fleet *fleet, uint64_t now_ms);

/* Takes the stop records of boxes of the tree from a file; fails when two of one id differ, or one
 * is of no box. How many boxes have one. */
size_t fleet_read(struct fleet *fleet, const char *path);

/* Fails unless each box has one that says how it ended, or that it cannot know and why. */
void fleet_check(struct fleet *fleet);

#endif
