/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what was read of pods and their containers. */
#ifndef TESTS_LIB_PODS_PODSEEN_H
#define TESTS_LIB_PODS_PODSEEN_H

#include <stddef.h>

#include "core/names/meta.h"
#include "wire/kubernetes/pods.h"

struct podseen {
	struct podjson_pod *pods;
	struct meta_container *containers;
	size_t n_pods, n_containers;
};

void podseen_done(struct podseen *seen);
void podseen_add_pod(struct podseen *seen, const struct podjson_pod *pod);
void podseen_add_container(struct podseen *seen, const struct meta_container *container);

/* Walks the text to its end, in a block of exactly its size. What the last podjson_next() said. */
int podseen_read(struct podseen *seen, const char *text, size_t size, struct podjson_list *ret);

#endif
