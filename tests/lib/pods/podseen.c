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

void podseen_add_pod(struct podseen *seen, const struct podjson_pod *pod)
{
	seen->pods = realloc(seen->pods, (seen->n_pods + 1) * sizeof(*pod));
	assert_non_null(seen->pods);
	seen->pods[seen->n_pods++] = *pod;
}

void podseen_add_container(struct podseen *seen, const struct meta_container *container)
{
	size_t size = (seen->n_containers + 1) * sizeof(*container);

	seen->containers = realloc(seen->containers, size);
	assert_non_null(seen->containers);
	seen->containers[seen->n_containers++] = *container;
}

static void on_pod(void *userdata, const struct podjson_pod *pod)
{
	podseen_add_pod(userdata, pod);
}

static void on_container(void *userdata, const struct meta_container *container)
{
	podseen_add_container(userdata, container);
}

int podseen_read(struct podseen *seen, const char *text, size_t size, struct podjson_list *ret)
{
	struct podjson_sink sink = {seen, on_pod, on_container, NULL};
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
	podjson_get_list(walk, ret);
	assert_int_equal(ret->pods, seen->n_pods);
	podjson_free(walk);
	free(copy);
	return r;
}
