/* SPDX-License-Identifier: Apache-2.0 */
/* The child of io/sources/files/homes: what it is asked, and what it answers. */
#ifndef IO_SOURCES_FILES_HOME_CHILD_H
#define IO_SOURCES_FILES_HOME_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cgroup/path.h"
#include "core/names/meta.h"
#include "io/sources/files/homes.h"

struct home_query {
	char id[META_ID_MAX]; /* 64 hex digits */
	enum cgpath_runtime runtime;
};

struct home_question {
	const char *passwd; /* as in struct source_homes_options */
	uint32_t user;
	unsigned int n;
	struct home_query queries[SOURCE_HOMES_WAITING];
};

/* One of each, in any order, by messages. The child may have fallen to what it read: any bytes are
 * to be expected. */
struct home_answer {
	uint32_t index;
	uint32_t result; /* enum meta_result */
	struct meta_container container;
};

/* A child_fn; userdata is a question. */
void home_child_run(void *question, bool confined);

#endif
