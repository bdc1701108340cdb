// SPDX-License-Identifier: Apache-2.0
// The same verdicts whichever cgroup hierarchy holds the containers, as far as this host has it.
#include "lib/claim.h"
#include "lib/fixture.h"
#include "lib/scene.h"

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

/* Run everything on a hierarchy of choice; the tests before and after it use their own. */
static void play_on(const char *hierarchy)
{
	struct hier hier;
	void *opened;
	int r;

	setenv("GRACED_TEST_HIERARCHY", hierarchy, 1);
	if (hier_detect(&hier)) {
		print_message("%s is not mounted here\n", hierarchy);
		skip();
	}
	assert_int_equal(fixture_open(&opened, "hierarchy", BOX_ARGV("--assume-grace", "2s")), 0);
	if (!opened)
		skip();
	play_all(opened);
	r = fixture_close(&opened);
	unsetenv("GRACED_TEST_HIERARCHY");
	assert_int_equal(r, 0);
}

static void verdicts_are_the_same_on_the_unified_hierarchy(void **state)
{
	(void)state;
	play_on("unified");
}

static void verdicts_are_the_same_on_another_v1_controller(void **state)
{
	(void)state;
	play_on("pids");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("verdicts are the same on the unified hierarchy",
		      verdicts_are_the_same_on_the_unified_hierarchy),
		CLAIM("verdicts are the same on another v1 controller",
		      verdicts_are_the_same_on_another_v1_controller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
