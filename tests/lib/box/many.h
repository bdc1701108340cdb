/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thousands of short lives: each a cgroup of its own with one process that moves in, execs and
 * exits; then the cgroup goes away. Several creators make them at once, as fast as they can.
 *
 *   many_start(&spec, &many);
 *   …                              scrape meanwhile, say
 *   assert_int_equal(many_wait(&many), 0);
 */
#ifndef TESTS_LIB_BOX_MANY_H
#define TESTS_LIB_BOX_MANY_H

#include "lib/box/box_tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MANY_CREATORS 4

struct many_life {
	char parent[64]; /* directory below the root; made and removed with it. "": the root */
	char leaf[256];	 /* name of its cgroup */
	int code;	 /* of its exit */
};

/* What the number-th life is like. Runs in a creator's process. */
typedef void (*many_fn)(void *userdata, uint32_t number, struct many_life *ret);

struct many_spec {
	const char *root;     /* an existing cgroup directory */
	const char *workload; /* the helper program */
	uint32_t first, n;    /* numbers */
	many_fn fn;
	void *userdata;
};

struct many {
	pid_t creators[MANY_CREATORS]; /* 0 once reaped */
	int error;
};

/* 0 or -errno with nothing running. */
int many_start(const struct many_spec *spec, struct many *ret);

/* Whether they have all lived; does not wait. */
bool many_done(struct many *many);

/* Waits for the creators: 0 when all have lived, or the first error. */
int many_wait(struct many *many);

/* The same of containers that exit with 0, each in a pod of its own, numbered from first so that
 * none is there twice. */
int many_containers_start(const struct box_tree *tree, uint32_t first, uint32_t n,
			  struct many *ret);
int many_containers(const struct box_tree *tree, uint32_t first, uint32_t n);

#endif
