// SPDX-License-Identifier: Apache-2.0
// Attach a tracer within a test, and run a group of such tests on each hierarchy.
#include "lib/kernel/attach.h"

#include <stdio.h>
#include <string.h>

int attach_open(void **state, const char *what)
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
	if (r) {
		fprintf(stderr, "%s: cannot make cgroups: %s\n", what, strerror(-r));
		free(f);
		return -1;
	}
	*state = f;
	return 0;
}

static int attach_close(void **state)
{
	struct fixture *f = *state;
	int r;

	if (!f)
		return 0;
	/* A test that fails leaves it. */
	tracer_free(f->tracer);
	r = box_tree_close(&f->tree);
	free(f);
	*state = NULL;
	return r;
}

void attach_begin(struct fixture *f)
{
	const struct tracer_spec spec = {.args = BOX_ARGV("--signals"), .tree = &f->tree};

	/* A test that fails leaves it. */
	f->tracer = tracer_free(f->tracer);
	assert_int_equal(tracer_start(&spec, &f->tracer), 0);
}

void attach_if(struct fixture *f, enum attach when, enum attach now)
{
	if (when == now)
		attach_begin(f);
}

void attach_end(struct fixture *f)
{
	assert_int_equal(tracer_stop(f->tracer), 0);
	f->tracer = tracer_free(f->tracer);
}

int attach_run_tests(const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup)
{
	static const char *const hierarchies[] = {"memory", "unified"};
	struct hier hier;
	int failed = 0;

	for (size_t i = 0; i < LEN(hierarchies); i++) {
		setenv("GRACED_TEST_HIERARCHY", hierarchies[i], 1);
		if (hier_detect(&hier))
			printf("# %s is not mounted here\n", hierarchies[i]);
		else
			failed += _cmocka_run_group_tests(hierarchies[i], tests, n, setup,
							  attach_close);
	}
	return failed;
}
