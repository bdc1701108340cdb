// SPDX-License-Identifier: Apache-2.0
// The same verdicts whichever cgroup hierarchy holds the containers, as far as this host has it.
#include "lib/claim.h"
#include "lib/kernel/fixture.h"
#include "lib/kernel/scene.h"

#include <stdio.h>
#include <string.h>

static bool is_quick(const struct box_tree *tree, const struct scene *scene)
{
	return !scene->slow && !scene->whole_node && !scene_unavailable(tree, scene);
}

static void play_all(struct fixture *f)
{
	struct box other;
	unsigned int wrong = 0;
	char why[1024];

	assert_int_equal(box_start(&f->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other),
			 0);
	for (size_t i = 0; i < scene_count; i++) {
		struct played *played = calloc(1, sizeof(*played));

		assert_non_null(played);
		if (is_quick(&f->tree, &scene_table[i])) {
			assert_int_equal(scene_play(&f->tree, &scene_table[i], &other, played), 0);
			if (scene_check(&f->tree, played,
					tracer_await_stop(f->tracer, &played->box), why,
					sizeof(why))) {
				print_message("%s: %s\n", scene_table[i].claim, why);
				wrong++;
			}
		}
		free(played);
	}
	assert_int_equal(box_remove(&other), 0);
	assert_int_equal(wrong, 0);
}

static void play_on(void **state, const char *hierarchy)
{
	struct hier hier;

	setenv("GRACED_TEST_HIERARCHY", hierarchy, 1);
	if (hier_detect(&hier)) {
		print_message("%s is not mounted here\n", hierarchy);
		skip();
	}
	assert_int_equal(fixture_open(state, hierarchy, BOX_ARGV("--assume-grace", "2s")), 0);
	if (!*state)
		skip();
	play_all(*state);
}

static int teardown(void **state)
{
	unsetenv("GRACED_TEST_HIERARCHY");
	return fixture_close(state);
}

static void verdicts_are_the_same_on_the_unified_hierarchy(void **state)
{
	play_on(state, "unified");
}

static void verdicts_are_the_same_on_another_v1_controller(void **state)
{
	play_on(state, "pids");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"verdicts are the same on the unified hierarchy",
		 verdicts_are_the_same_on_the_unified_hierarchy, NULL, teardown, NULL},
		{"verdicts are the same on another v1 controller",
		 verdicts_are_the_same_on_another_v1_controller, NULL, teardown, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
