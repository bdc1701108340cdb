// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/kubelet_files: what a kubelet's configuration says of a node
 * shutdown; the file that it keeps of one, and whatever else lies in its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "lib/claim.h"
#include "wire/kubernetes/kubelet_files.h"

#define S INT64_C(1000000000)

#define TYPE "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
#define TYPED \
	"\"apiVersion\": \"kubelet.config.k8s.io/v1beta1\", \"kind\": \"KubeletConfiguration\""
#define LIST "shutdownGracePeriodByPodPriority: "

static int read(const char *text, struct kubeletconf *ret)
{
	struct kubeletconf_why why;

	return kubeletconf_read(text, strlen(text), ret, &why);
}

static void test_pair(void **state)
{
	struct kubeletconf conf;

	assert_int_equal(read(TYPE "registerWithTaints:\n- {key: a, effect: NoSchedule}\n"
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

	assert_int_equal(read("{" TYPED ", \"shutdownGracePeriodByPodPriority\": ["
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
		TYPE,
		TYPE "shutdownGracePeriod:\n" LIST "null\n",
		TYPE "shutdownGracePeriod: 0s\nfeatureGates: ~\n",
		TYPE "shutdownGracePeriod: \"0\"\n" LIST "[]\n",
	};
	struct kubeletconf conf;

	for (size_t i = 0; i < LEN(texts); i++) {
		assert_int_equal(read(texts[i], &conf), 0);
		assert_int_equal(conf.total_ns, 0);
		assert_int_equal(conf.n_list, 0);
		assert_int_equal(conf.gate, KUBELETCONF_DEFAULT);
	}
}

#define A_DURATION "must be a duration like 30s or 1m30s"
#define A_NUMBER   ", without quotes or leading zeros"
#define PRIORITY   "priority must be a whole number from -2147483648 to 2147483647" A_NUMBER

static void test_bad(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "it is empty"},
		{"just words", "line 1: it is no mapping"},
		{"- a list\n", "line 1: it is no mapping"},
		{TYPE "x: @y\n", "line 3: found character that cannot start any token"},
		{"shutdownGracePeriod: 30s\n", "Object 'Kind' is missing"},
		{"kind: KubeletConfiguration\n", "Object 'apiVersion' is missing"},
		{"apiVersion: v1\nkind: Pod\n", "line 2: kind is not KubeletConfiguration"},
		{"kind: KubeletConfiguration\napiVersion: v1\n",
		 "line 2: apiVersion is not kubelet.config.k8s.io/v1beta1"},
		{TYPE "shutdownGracePeriod: 30\n", "line 3: shutdownGracePeriod " A_DURATION},
		{TYPE "shutdownGracePeriod: 0\n", "line 3: shutdownGracePeriod " A_DURATION},
		{TYPE "shutdownGracePeriod: [30s]\n", "line 3: shutdownGracePeriod " A_DURATION},
		{TYPE "shutdownGracePeriod: \"\"\n", "line 3: shutdownGracePeriod " A_DURATION},
		{TYPE "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: ten\n",
		 "line 4: shutdownGracePeriodCriticalPods " A_DURATION},
		{TYPE "shutdownGracePeriod: 30s\nshutdownGracePeriod: 20s\n",
		 "line 4: shutdownGracePeriod is there twice"},
		{TYPE LIST "{priority: 1}\n",
		 "line 3: shutdownGracePeriodByPodPriority must be a list"},
		{TYPE LIST "soon\n", "line 3: shutdownGracePeriodByPodPriority must be a list"},
		{TYPE LIST "[7]\n",
		 "line 3: shutdownGracePeriodByPodPriority has an entry that is no mapping"},
		{TYPE LIST "[{priority: 3000000000}]\n", "line 3: " PRIORITY},
		{TYPE LIST "\n- {priority: \"0\"}\n", "line 4: " PRIORITY},
		{TYPE LIST "\n- {priority: 010}\n", "line 4: " PRIORITY},
		{TYPE LIST "\n- {priority: 0x10}\n", "line 4: " PRIORITY},
		{TYPE LIST "\n- priority: 1\n  priority: 2\n", "line 5: priority is there twice"},
		{TYPE LIST "[{shutdownGracePeriodSeconds: 5s}]\n",
		 "line 3: shutdownGracePeriodSeconds must be a whole number from "
		 "-9223372036854775808 to 9223372036854775807" A_NUMBER},
		{TYPE "featureGates: on\n", "line 3: featureGates must be a mapping"},
		{TYPE "featureGates:\n  GracefulNodeShutdown: \"true\"\n",
		 "line 4: GracefulNodeShutdown must be true or false"},
	};
	struct kubeletconf_why why;
	struct kubeletconf conf;

	for (size_t i = 0; i < LEN(cases); i++) {
		const char *text = cases[i].text;

		assert_int_equal(kubeletconf_read(text, strlen(text), &conf, &why), -EBADMSG);
		assert_string_equal(why.text, cases[i].why);
		assert_int_equal(conf.total_ns, 0);
	}
}

static void test_too_many(void **state)
{
	char text[64 * (KUBELETCONF_RANGES_MAX + 1) + 256] = TYPE LIST "\n";
	struct kubeletconf_why why;
	struct kubeletconf conf;

	for (int i = 0; i <= KUBELETCONF_RANGES_MAX; i++)
		strcat(text, "- {priority: 1}\n");
	assert_int_equal(kubeletconf_read(text, strlen(text), &conf, &why), -E2BIG);
	assert_string_equal(why.text,
			    "line 68: shutdownGracePeriodByPodPriority has more than 64 entries");
	assert_int_equal(conf.n_list, 0);
	assert_int_equal(kubeletconf_read(text, KUBELETCONF_SIZE_MAX + 1, &conf, &why), -E2BIG);
	assert_string_equal(why.text, "it is bigger than 1024 KiB");
}

static void test_gates(void **state)
{
	static const struct {
		const char *text;
		unsigned int minor;
		bool gate, priority_gate;
	} cases[] = {
		{TYPE, 20, false, false},
		{TYPE, 21, true, false},
		{TYPE, 23, true, false},
		{TYPE, 24, true, true},
		{TYPE "featureGates: {GracefulNodeShutdown: true}\n", 20, true, false},
		{TYPE "featureGates: {GracefulNodeShutdown: True}\n", 20, true, false},
		{TYPE "featureGates: {GracefulNodeShutdown: false}\n", 30, false, true},
		{TYPE "featureGates: {GracefulNodeShutdownBasedOnPodPriority: false}\n", 30, true,
		 false},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct shutplan_config plan;
		struct kubeletconf conf;

		assert_int_equal(read(cases[i].text, &conf), 0);
		plan = kubeletconf_plan(&conf, cases[i].minor);
		assert_int_equal(plan.gate, cases[i].gate);
		assert_int_equal(plan.priority_gate, cases[i].priority_gate);
	}
}

#define START	    INT64_C(1635760800)
#define ZERO_ENDED  "\"endTime\":\"0001-01-01T00:00:00Z\"}"
#define START_FIELD "{\"startTime\":\"2021-11-01T10:00:00"

static void test_written(void **state)
{
	static const struct {
		struct shutstate state;
		const char *text;
	} want[] = {
		{{}, "{\"startTime\":\"0001-01-01T00:00:00Z\"," ZERO_ENDED},
		{{.started = true, .start_wall_ns = START * NS_PER_S},
		 START_FIELD "Z\"," ZERO_ENDED},
		{{.started = true, .start_wall_ns = START * NS_PER_S + 120000000},
		 START_FIELD ".12Z\"," ZERO_ENDED},
		{{true, true, START * NS_PER_S + 1, START * NS_PER_S + NS_PER_S},
		 START_FIELD ".000000001Z\",\"endTime\":\"2021-11-01T10:00:01Z\"}"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct shutstate again;

		assert_int_equal(shutstate_write(&out, &want[i].state), 0);
		assert_string_equal(buf_str(&out), want[i].text);
		assert_int_equal(shutstate_read(out.data, out.len, &again), 0);
		assert_int_equal(again.started, want[i].state.started);
		assert_int_equal(again.ended, want[i].state.ended);
		assert_int_equal(again.start_wall_ns, want[i].state.start_wall_ns);
		assert_int_equal(again.end_wall_ns, want[i].state.end_wall_ns);
	}
}

static void test_read(void **state)
{
	static const struct {
		const char *text;
		bool started, ended;
		int64_t start_s;
	} want[] = {
		{"{}", false, false, 0},
		{"{\"startTime\":null,\"more\":[1,{\"endTime\":3}]}", false, false, 0},
		{"{\"startTime\":\"2021-11-01T12:00:00.999999999+02:00\"}\n", true, false, START},
		{"{\"startTime\":\"1969-12-31T23:59:59.5Z\",\"endTime\":\"2021-11-01T10:00:00Z\"}",
		 true, true, -1},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct shutstate got;

		assert_int_equal(shutstate_read(want[i].text, strlen(want[i].text), &got), 0);
		assert_int_equal(got.started, want[i].started);
		assert_int_equal(got.ended, want[i].ended);
		assert_int_equal(shutstate_seconds(got.started, got.start_wall_ns),
				 want[i].start_s);
	}
	assert_int_equal(shutstate_read(NULL, 0, &(struct shutstate){}), 0);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"null",
		"[]",
		"7",
		"{",
		"{\"startTime\":7}",
		"{\"startTime\":\"\"}",
		"{\"startTime\":\"2021-11-01\"}",
		"{\"startTime\":\"2021-11-01T10:00:00Z\",\"endTime\":{}}",
		"{\"startTime\":\"9999-01-01T00:00:00Z\"}",
		"{\"startTime\":\"0001-01-01T00:00:01Z\"}",
		"{\"startTime\":\"2021-11-01T10:00:00Z\\u0000\"}",
		"{\"startTime\":\"2021-11-01T10:00:00Z\"} {}",
		"{\"startTime\":\"\xff\"}",
	};

	for (size_t i = 0; i < LEN(texts); i++) {
		struct shutstate got = {.started = true, .start_wall_ns = 7};

		if (shutstate_read(texts[i], strlen(texts[i]), &got) != -EBADMSG)
			fail_msg("%s is taken", texts[i]);
		assert_int_equal(got.start_wall_ns, 7);
	}
}

static void test_bounded(void **state)
{
	size_t size = SHUTSTATE_MAX_SIZE + 1;
	_cleanup_(cleanup_free) char *text = malloc(size);
	struct shutstate got;

	assert_non_null(text);
	memset(text, '[', size);
	assert_int_equal(shutstate_read(text, size, &got), -EFBIG);
	assert_int_equal(shutstate_read(text, size - 1, &got), -EBADMSG);
	memset(text, ' ', size);
	memcpy(text, "{}", 2);
	assert_int_equal(shutstate_read(text, size - 1, &got), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the two periods are read, and what else is there is passed over", test_pair),
		CLAIM("periods by priority are read in their order, from JSON, too",
		      test_priorities),
		CLAIM("what is not said or null says nothing", test_nothing),
		CLAIM("what a kubelet would not take, or takes otherwise than it is read, is refused by its line",
		      test_bad),
		CLAIM("more text, or priorities, than there is room for is refused", test_too_many),
		CLAIM("a gate that is not set is as its version has it", test_gates),
		CLAIM("the file has the kubelet's form, and is read back as it was", test_written),
		CLAIM("what the kubelet would read is read, a missing file too", test_read),
		CLAIM("anything else is refused and changes nothing", test_refused),
		CLAIM("a file has a limit, and so has its nesting", test_bounded),
	};

	return cmocka_run_group_tests_name("wire/kubernetes/kubelet_files", tests, NULL, NULL);
}
