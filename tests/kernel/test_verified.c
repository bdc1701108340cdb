// SPDX-License-Identifier: Apache-2.0
// What loading the kernel half costs: the steps of the verifier, which do not depend on the machine.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <bpf/bpf.h>
#include <stdio.h>

#include "io/kernel/priv.h"

/* On an emulated CPU the verifier does some ten thousand steps a second. */
#define STEPS_OF_ONE 30000
#define STEPS_OF_ALL 46000
#define STEPS_AGAIN  8000 /* of second programs, where there are any */

static int setup(void **state)
{
	return kernhalf_open(state, "verified");
}

static int setup_all(void **state)
{
	return kernhalf_open_all(state, "verified-all");
}

/* 0: this kernel does not count them (before 5.16). */
static unsigned int steps_of(int program)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	return info.verified_insns;
}

static void programs_are_verified_in_few_steps(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct kern_program program;
	struct kern_flavours flavours;
	unsigned int all = 0, most;

	kern_get_flavours(k->kern, &flavours);
	most = STEPS_OF_ALL + flavours.again * STEPS_AGAIN;
	for (unsigned int i = 0; kern_get_program(k->kern, i, &program) >= 0; i++) {
		unsigned int steps = program.wanted ? steps_of(k->kern->program_fds[i]) : 0;

		if (steps > STEPS_OF_ONE)
			fail_msg("%s needs %u steps, more than %u", program.name, steps,
				 STEPS_OF_ONE);
		all += steps;
	}
	if (!all)
		skip();
	if (all > most)
		fail_msg("the programs need %u steps, more than %u", all, most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the programs are verified in few steps", programs_are_verified_in_few_steps),
	};
	const struct CMUnitTest of_all[] = {
		CLAIM("so they are with scope all", programs_are_verified_in_few_steps),
	};
	int failed = cmocka_run_group_tests_name("verified", tests, setup, kernhalf_close);

	return cmocka_run_group_tests_name("verified all", of_all, setup_all, kernhalf_close) ||
	       failed;
}
