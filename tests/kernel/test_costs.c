// SPDX-License-Identifier: Apache-2.0
// What the BPF programs cost, by their own measure.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
	return kernhalf_open(state, "costs");
}

static struct kern_program of_exits(const struct kernhalf *k)
{
	struct kern_program program;

	for (unsigned int i = 0; kern_get_program(k->kern, i, &program) >= 0; i++)
		if (program.attached && strcmp(program.tracepoint, "sched_process_exit") == 0)
			return program;
	fail_msg("no program sees exits");
	return program;
}

/* More than the ticks of any single burst. */
#define LEAST	  5000
#define MOST	  100000
#define AT_ONCE	  500
#define CONTAINER "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/*
 * Other exits of the host run the program, too, so it is no more than that many. What is timed is a
 * part of all ticks: the more exits there are, the nearer the figure comes.
 */
static void as_many_runs_are_found_as_there_were(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct kern_program before = of_exits(k), now = before;
	char dir[HIER_PATH_MAX];
	uint64_t exits = 0;

	snprintf(dir, sizeof(dir), "%.400s" CONTAINER, k->tree.root);
	assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
	while (exits < LEAST || (now.runs - before.runs < exits / 2 && exits < MOST)) {
		kernhalf_end_children(dir, AT_ONCE, 0);
		exits = kernhalf_counts(k, dir).exits;
		now = of_exits(k);
	}
	if (now.runs - before.runs < exits / 2)
		fail_msg("%llu runs are reported of %llu",
			 (unsigned long long)(now.runs - before.runs), (unsigned long long)exits);
	assert_true(now.run_ns > before.run_ns);
	assert_int_equal(cg_remove(dir), 0);
}

static void what_is_not_attached_costs_nothing(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct kern_program program, before = of_exits(k);
	uint64_t run_ns = 0;

	kern_detach(k->kern);
	for (unsigned int i = 0; i < 100; i++)
		kernhalf_end_children(k->tree.root, 1, 0);
	for (unsigned int i = 0; kern_get_program(k->kern, i, &program) >= 0; i++)
		if (strcmp(program.name, before.name) == 0)
			run_ns = program.run_ns;
	assert_int_equal(run_ns, before.run_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("as many runs are found as there were, within a factor of two",
		      as_many_runs_are_found_as_there_were),
		CLAIM("programs that are not attached cost nothing",
		      what_is_not_attached_costs_nothing),
	};

	return cmocka_run_group_tests_name("costs", tests, setup, kernhalf_close);
}
