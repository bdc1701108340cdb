// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubeletconf: what a kubelet's configuration says of a node shutdown. */
#include <errno.h>
#include <string.h>

#include "lib/claim.h"
#include "wire/kubeletconf.h"

#define S INT64_C(1000000000)

static int read(const char *text, struct kubeletconf *ret)
{
	return kubeletconf_read(text, strlen(text), ret);
}

static void test_pair(void **state)
{
	struct kubeletconf conf;

	(void)state;
	assert_int_equal(read("apiVersion: kubelet.config.k8s.io/v1beta1\n"
			      "kind: KubeletConfiguration\n"
			      "registerWithTaints:\n- {key: a, effect: NoSchedule}\n"
			      "shutdownGracePeriod: 30s\n"
			      "shutdownGracePeriodCriticalPods: 10.5s\n",
			      &conf),
			 0);
	assert_int_equal(conf.total_ns, 30 * S);
	assert_int_equal(conf.critical_ns, 10 * S + S / 2);
	assert_int_equal(conf.n_list, 0);
}

static void test_priorities(void **state)
{
	struct kubeletconf conf;

	(void)state;
	assert_int_equal(read("{\"shutdownGracePeriodByPodPriority\": ["
			      "{\"priority\": 100000, \"shutdownGracePeriodSeconds\": 10},"
			      "{\"shutdownGracePeriodSeconds\": 60}, {\"priority\": -5}]}",
			      &conf),
			 0);
	assert_int_equal(conf.n_list, 3);
	assert_int_equal(conf.list[0].priority, 100000);
	assert_int_equal(conf.list[0].seconds, 10);
	assert_int_equal(conf.list[1].priority, 0);
	assert_int_equal(conf.list[1].seconds, 60);
	assert_int_equal(conf.list[2].priority, -5);
	assert_int_equal(conf.list[2].seconds, 0);
}

static void test_nothing(void **state)
{
	static const char *const texts[] = {
		"kind: KubeletConfiguration\n",
		"shutdownGracePeriod: \"\"\nshutdownGracePeriodByPodPriority: null\n",
		"shutdownGracePeriod: 0s\nfeatureGates: null\n",
	};
	struct kubeletconf conf;

	(void)state;
	for (size_t i = 0; i < LEN(texts); i++) {
		assert_int_equal(read(texts[i], &conf), 0);
		assert_int_equal(conf.total_ns, 0);
		assert_int_equal(conf.n_list, 0);
		assert_int_equal(conf.gate, KUBELETCONF_DEFAULT);
	}
}

static void test_bad(void **state)
{
	static const char *const texts[] = {
		"",
		"just words",
		"- a list\n",
		"shutdownGracePeriod: 30\n",
		"shutdownGracePeriod: [30s]\n",
		"shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: ten\n",
		"shutdownGracePeriodByPodPriority: {priority: 1}\n",
		"shutdownGracePeriodByPodPriority: [7]\n",
		"shutdownGracePeriodByPodPriority: [{priority: 3000000000}]\n",
		"shutdownGracePeriodByPodPriority: [{shutdownGracePeriodSeconds: 5s}]\n",
		"shutdownGracePeriod: 30s\n\tx: {",
	};
	struct kubeletconf conf;

	(void)state;
	for (size_t i = 0; i < LEN(texts); i++) {
		assert_int_equal(read(texts[i], &conf), -EBADMSG);
		assert_int_equal(conf.total_ns, 0);
	}
}

static void test_too_many(void **state)
{
	char text[64 * (KUBELETCONF_RANGES_MAX + 1) + 64] = "shutdownGracePeriodByPodPriority:\n";
	struct kubeletconf conf;

	(void)state;
	for (int i = 0; i <= KUBELETCONF_RANGES_MAX; i++)
		strcat(text, "- {priority: 1}\n");
	assert_int_equal(read(text, &conf), -E2BIG);
	assert_int_equal(conf.n_list, 0);
}

static void test_gates(void **state)
{
	static const struct {
		const char *text;
		unsigned int minor;
		bool gate, priority_gate;
	} cases[] = {
		{"kind: x\n", 20, false, false},
		{"kind: x\n", 21, true, false},
		{"kind: x\n", 23, true, false},
		{"kind: x\n", 24, true, true},
		{"featureGates: {GracefulNodeShutdown: true}\n", 20, true, false},
		{"featureGates: {GracefulNodeShutdown: false}\n", 30, false, true},
		{"featureGates: {GracefulNodeShutdownBasedOnPodPriority: false}\n", 30, true,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct shutplan_config plan;
		struct kubeletconf conf;

		assert_int_equal(read(cases[i].text, &conf), 0);
		plan = kubeletconf_plan(&conf, cases[i].minor);
		assert_int_equal(plan.gate, cases[i].gate);
		assert_int_equal(plan.priority_gate, cases[i].priority_gate);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the two periods are read, and what else is there is passed over", test_pair),
		CLAIM("periods by priority are read in their order, from JSON, too",
		      test_priorities),
		CLAIM("what is not said, empty or null says nothing", test_nothing),
		CLAIM("what a kubelet would not start with is refused whole", test_bad),
		CLAIM("more priorities than there is room for are refused", test_too_many),
		CLAIM("a gate that is not set is as its version has it", test_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
