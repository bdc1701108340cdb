/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system (FUSE) with one program in it that at some time answers no question any more, as
 * that of a server that is away: what asks it waits until hangfs_close(). It is mounted in the
 * mount namespace of each process that runs the program, and nowhere else.
 *
 *   hangfs_open(&(struct hangfs_spec){.dir = dir, .program = program, .argument = "deaf"}, &fs);
 *   box_start(&tree, &(struct box_spec){ .run = hangfs_run }, &box);
 *   hangfs_hang(fs);
 *   …
 *   assert_false(hangfs_was_asked(fs));
 *   hangfs_close(fs);
 *
 * Or it is slow: what is behind the program's beginning is not read before hangfs_go_on().
 */
#ifndef TESTS_LIB_BOX_HANGFS_H
#define TESTS_LIB_BOX_HANGFS_H

#include "lib/box/page.h"

#include <stdbool.h>

struct hangfs;

/* Why it cannot be had here, or NULL. */
const char *hangfs_unavailable(void);

enum hangfs_place {
	HANGFS_MOUNTED,	 /* the program is called "program", below a directory */
	HANGFS_DETACHED, /* it is on a mount of its own that is under no root */
	HANGFS_ROOT,	 /* it is called "memfd:runc", and the file system is the root */
	HANGFS_OPEN,	 /* it is open, until the process runs it from elsewhere at go 1 */
};

struct hangfs_spec {
	const char *dir;     /* to mount it in */
	const char *program; /* a static one, of which it serves a copy */
	const char *argument;
	enum hangfs_place place;
	bool slow;
};

/* There is one at a time. 0 or -errno. */
int hangfs_open(const struct hangfs_spec *spec, struct hangfs **ret);

/* For struct box_spec: mounts it and runs the program with its argument in the process. */
void hangfs_run(struct page *page);

/* From now on it answers nothing. */
void hangfs_hang(struct hangfs *fs);

/* A slow one answers from now on. */
void hangfs_go_on(struct hangfs *fs);

/* Whether it has been asked since. */
bool hangfs_was_asked(const struct hangfs *fs);

/* What waits for an answer gets an error. NULL is fine; returns NULL. */
struct hangfs *hangfs_close(struct hangfs *fs);

#endif
