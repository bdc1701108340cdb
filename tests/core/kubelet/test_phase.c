// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/phase: the phase, the rule that gave it, the container it is about. */
#include "core/kubelet/phase.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/pods/podmake.h"

static struct podphase ask(const struct podmake *make, unsigned int minor, bool killed)
{
	return podphase_of(&(struct kubelet_in){
		.rules = podphase_rules_of(minor),
		.pod = &make->pod,
		.inits = make->pod.status.inits,
		.containers = make->pod.status.containers,
		.killed = killed,
	});
}

static void check(struct podphase got, enum meta_phase phase, enum podphase_rule rule,
		  enum podobj_list list, size_t index)
{
	if (got.phase != phase || got.rule != rule || got.because.list != list ||
	    got.because.index != index)
		fail_msg("%s by %s, because of %d[%zu]", meta_phase_name(got.phase),
			 podphase_rule_name(got.rule), got.because.list, got.because.index);
}

static void test_says_why(void **state)
{
	struct podmake m = {};

	podmake_start(&m, META_RESTART_NEVER);
	podmake_init(&m, "first");
	podmake_init(&m, "second");
	podmake_container(&m, "a");
	podmake_container(&m, "b");
	check(ask(&m, 36, false), META_PHASE_PENDING, PODPHASE_RULE_INIT_PENDING, PODOBJ_INITS, 0);
	podmake_init_status(&m, "first", PODOBJ_NONE)->state = podmake_end(0, "Completed");
	podmake_init_status(&m, "second", PODOBJ_NONE)->state = podmake_end(3, "Error");
	check(ask(&m, 36, false), META_PHASE_FAILED, PODPHASE_RULE_INIT_FAILED, PODOBJ_INITS, 1);
	m.init_statuses[1].state = podmake_end(0, "Completed");
	podmake_status(&m, "a", PODOBJ_RUNNING);
	check(ask(&m, 36, false), META_PHASE_PENDING, PODPHASE_RULE_UNKNOWN, PODOBJ_CONTAINERS, 1);
	podmake_status(&m, "b", PODOBJ_WAITING);
	check(ask(&m, 36, false), META_PHASE_PENDING, PODPHASE_RULE_WAITING, PODOBJ_CONTAINERS, 1);
	m.statuses[1].state.kind = PODOBJ_RUNNING;
	check(ask(&m, 36, false), META_PHASE_RUNNING, PODPHASE_RULE_RUNNING, PODOBJ_CONTAINERS, 0);
	m.statuses[0].state = podmake_end(0, "Completed");
	m.statuses[1].state = podmake_end(1, "Error");
	check(ask(&m, 36, false), META_PHASE_FAILED, PODPHASE_RULE_FAILED, PODOBJ_CONTAINERS, 1);
	m.statuses[1].state = podmake_end(0, "Completed");
	check(ask(&m, 36, false), META_PHASE_SUCCEEDED, PODPHASE_RULE_SUCCEEDED, PODOBJ_CONTAINERS,
	      0);
}

static void test_killed(void **state)
{
	struct podmake m = {};

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_NONE)->state = podmake_end(143, "Error");
	check(ask(&m, 36, false), META_PHASE_RUNNING, PODPHASE_RULE_RESTARTS, PODOBJ_CONTAINERS, 0);
	check(ask(&m, 36, true), META_PHASE_FAILED, PODPHASE_RULE_KILLED_FAILED, PODOBJ_CONTAINERS,
	      0);
	check(ask(&m, 27, true), META_PHASE_FAILED, PODPHASE_RULE_KILLED_FAILED, PODOBJ_CONTAINERS,
	      0);
	check(ask(&m, 26, true), META_PHASE_RUNNING, PODPHASE_RULE_RESTARTS, PODOBJ_CONTAINERS, 0);
	m.statuses[0].state = podmake_end(0, "Completed");
	check(ask(&m, 36, true), META_PHASE_SUCCEEDED, PODPHASE_RULE_KILLED_SUCCEEDED,
	      PODOBJ_CONTAINERS, 0);
	m.pod.is_static = true;
	check(ask(&m, 36, true), META_PHASE_RUNNING, PODPHASE_RULE_RESTARTS, PODOBJ_CONTAINERS, 0);
}

/* A crash loop whose last exit was 0 ends the pod with container rules, and not without. */
static void test_last_exit_is_no_success(void **state)
{
	struct podmake m = {};

	podmake_start(&m, META_RESTART_ON_FAILURE);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_WAITING)->last = podmake_end(0, "Completed");
	assert_int_equal(ask(&m, 36, false).phase, META_PHASE_FAILED);
	assert_int_equal(ask(&m, 34, false).phase, META_PHASE_RUNNING);
}

static void test_sidecar_by_version(void **state)
{
	struct podmake m = {};

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_sidecar(&m, "proxy");
	podmake_container(&m, "a");
	podmake_init_status(&m, "proxy", PODOBJ_RUNNING)->started = PODOBJ_STARTED_YES;
	podmake_status(&m, "a", PODOBJ_RUNNING);
	check(ask(&m, 29, false), META_PHASE_RUNNING, PODPHASE_RULE_RUNNING, PODOBJ_INITS, 0);
	check(ask(&m, 26, false), META_PHASE_PENDING, PODPHASE_RULE_INIT_PENDING, PODOBJ_INITS, 0);
}

static void test_first_rule(void **state)
{
	static const int32_t codes[] = {42};
	static const struct podobj_rule rules[] = {
		{PODOBJ_OP_OTHER, PODOBJ_RESTART, codes, 1}, /* an operator nobody knows */
		{PODOBJ_OP_IN, PODOBJ_RESTART_ALL, codes, 1},
		{PODOBJ_OP_IN, PODOBJ_RESTART, codes, 1},
		{PODOBJ_OP_NOT_IN, PODOBJ_RESTART, codes, 1},
	};
	struct podobj_container c = {
		.name = "c", .restart_policy = META_RESTART_NEVER, .rules = rules, .n_rules = 4};
	struct podobj_container_state end = podmake_end(42, "Error");
	struct podphase_rules today = podphase_rules_of(36), before = podphase_rules_of(35);
	enum podphase_restart by;

	assert_ptr_equal(podphase_rule_for(&c, 42), &rules[1]);
	assert_ptr_equal(podphase_rule_for(&c, 0), &rules[3]);
	assert_true(podphase_restarts(&today, META_RESTART_NEVER, &c, &end, &by));
	assert_int_equal(by, PODPHASE_BY_RULE);
	assert_false(podphase_restarts(&before, META_RESTART_ALWAYS, &c, &end, &by));
	assert_int_equal(by, PODPHASE_BY_CONTAINER);
	end.reason = "RestartingAllContainers";
	assert_true(podphase_restarts(&before, META_RESTART_NEVER, &c, &end, &by));
	assert_int_equal(by, PODPHASE_BY_RESTARTED_ALL);
	c.restart_policy = 0;
	end.reason = "";
	assert_true(podphase_restarts(&today, META_RESTART_ALWAYS, &c, &end, &by));
	assert_int_equal(by, PODPHASE_BY_POD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a phase names its rule and the container that it is about", test_says_why),
		CLAIM("a killed pod ends by its exit codes, since 1.27 and unless it is static",
		      test_killed),
		CLAIM("an exit with 0 that is past is no success", test_last_exit_is_no_success),
		CLAIM("a sidecar is an init container to kubelets that know none",
		      test_sidecar_by_version),
		CLAIM("the first rule whose exit codes fit decides, by what its kubelet knows",
		      test_first_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
