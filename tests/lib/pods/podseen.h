/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what was read of pods and their containers. */
#ifndef TESTS_LIB_PODS_PODSEEN_H
#define TESTS_LIB_PODS_PODSEEN_H

#include <stddef.h>

#include "core/names/meta.h"
#include "wire/kubernetes/pods.h"

struct podseen_pod {
	struct meta_pod meta;
	bool mirror;
	int64_t seen_wall_ns;
};

struct podseen {
	struct podseen_pod *pods;
	struct meta_container *containers;
	size_t n_pods, n_containers;
};

void podseen_done(struct podseen *seen);

struct podjson_sink podseen_sink(struct podseen *seen);

/* Walks the text to its end, in a block of exactly its size. What the last podjson_next() said. */
int podseen_read(struct podseen *seen, const char *text, size_t size, struct podjson_list *ret);

#endif
