// SPDX-License-Identifier: Apache-2.0
/* Appends to arrays. */
#include "lib/pods/podseen.h"

#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"

void podseen_done(struct podseen *seen)
{
	free(seen->pods);
	free(seen->containers);
	*seen = (struct podseen){};
}

static void on_pod(void *userdata, const struct meta_pod *meta, const struct podobj_pod *pod)
{
	struct podseen *seen = userdata;

	seen->pods = realloc(seen->pods, (seen->n_pods + 1) * sizeof(*seen->pods));
	assert_non_null(seen->pods);
	seen->pods[seen->n_pods++] = (struct podseen_pod){*meta, pod->mirror, pod->seen_wall_ns};
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct podseen *seen = userdata;
	size_t size = (seen->n_containers + 1) * sizeof(*container);

	seen->containers = realloc(seen->containers, size);
	assert_non_null(seen->containers);
	seen->containers[seen->n_containers++] = *container;
}

struct podjson_sink podseen_sink(struct podseen *seen)
{
	return (struct podjson_sink){seen, on_pod, on_container, NULL};
}

int podseen_read(struct podseen *seen, const char *text, size_t size, struct podjson_list *ret)
{
	struct podjson_sink sink = podseen_sink(seen);
	char *copy = malloc(size ? size : 1);
	struct podjson *walk;
	int r;

	assert_non_null(copy);
	memcpy(copy, text, size);
	assert_int_equal(podjson_new(copy, size, &walk), 0);
	do
		r = podjson_next(walk, &sink);
	while (r == 1);
	assert_int_equal(podjson_next(walk, &sink), r);
	*ret = *podjson_list(walk);
	assert_int_equal(ret->pods, seen->n_pods);
	podjson_free(walk);
	free(copy);
	return r;
}
