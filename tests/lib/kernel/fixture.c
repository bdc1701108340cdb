// SPDX-License-Identifier: Apache-2.0
// Set up and take down a box tree with a tracer for a group of tests.
#include "lib/kernel/fixture.h"

#include <stdio.h>
#include <string.h>

int fixture_open(void **state, const char *what, const char *const *args)
{
	const char *why = box_unavailable();
	struct fixture *f;
	int r;

	*state = NULL;
	if (!why)
		why = tracer_unavailable();
	if (why) {
		fprintf(stderr, "SKIP %s: %s\n", what, why);
		return 0;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return -1;
	r = box_tree_open(&f->tree, what);
	if (r)
		fprintf(stderr, "%s: cannot make cgroups: %s\n", what, strerror(-r));
	else if ((r = tracer_start(&(struct tracer_spec){.args = args, .tree = &f->tree},
				   &f->tracer)))
		fprintf(stderr, "%s: the tracer does not attach: %s\n", what, strerror(-r));
	if (r) {
		box_tree_close(&f->tree);
		free(f);
		return -1;
	}
	*state = f;
	return 0;
}

int fixture_close(void **state)
{
	struct fixture *f = *state;
	int status, r;

	if (!f)
		return 0;
	status = tracer_stop(f->tracer);
	if (status)
		fprintf(stderr, "the tracer ended with status %d\n", status);
	f->tracer = tracer_free(f->tracer);
	r = box_tree_close(&f->tree);
	if (r)
		fprintf(stderr, "the boxes do not go away: %s\n", strerror(-r));
	free(f);
	*state = NULL;
	return status || r ? -1 : 0;
}
