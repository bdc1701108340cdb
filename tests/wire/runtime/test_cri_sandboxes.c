// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/cri: what runtimes tell of sandboxes, and of pods by them, in a list
 * and in an event. */
#include <string.h>

#include "lib/claim.h"
#include "lib/cri/criparts.h"

#define ID64 CRIPARTS_ID
#define UID  CRIPARTS_UID
#define HASH CRIPARTS_HASH
#define POD  CRIPARTS_POD

static const enum criparts_answer sandbox_parts[] = {CRIPARTS_LIST_SANDBOX, CRIPARTS_EVENT_SANDBOX};

static void a_sandbox_tells_its_pod(void **state)
{
	static const struct criparts_sandbox s = {
		.id = ID64,
		.name = "web-5d78c9869d-x2x4z",
		.namespace_ = "default",
		.uid = UID,
		.attempt = 3,
		.labels = {{POD "name", "web-5d78c9869d-x2x4z"},
			   {POD "namespace", "default"},
			   {POD "uid", UID},
			   {"pod-template-hash", "5d78c9869d"}},
		.annotations = {{"kubernetes.io/config.source", "api"}},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(sandbox_parts); i++) {
		criparts_sandbox(sandbox_parts[i], &s, NULL, &item);
		assert_int_equal(item.pod.source, META_CRI);
		assert_string_equal(item.pod.uid, UID);
		assert_string_equal(item.pod.namespace_, "default");
		assert_string_equal(item.pod.name, "web-5d78c9869d-x2x4z");
		assert_string_equal(item.pod.workload, "web");
		assert_int_equal(item.pod.known, META_POD_STATIC);
		assert_false(item.pod.is_static);
		assert_int_equal(item.container.source, META_CRI);
		assert_int_equal(item.container.kind, META_KIND_SANDBOX);
		assert_string_equal(item.container.id, ID64);
		assert_string_equal(item.container.pod_uid, UID);
		assert_string_equal(item.container.name, "");
		assert_string_equal(item.container.image, "");
		assert_int_equal(item.container.known, META_CTR_ATTEMPT);
		assert_int_equal(item.container.attempt, 3);
		assert_int_equal(item.state, CRI_STATE_RUNNING);
		assert_string_equal(item.sandbox_id, ID64);
		assert_string_equal(item.image_key, "");
		assert_int_equal(item.refused, 0);
	}
}

#define PAUSE(...) .id = "s1", .name = "p-1", .namespace_ = "ns", .uid = UID, .labels = __VA_ARGS__

static void labels_of_controllers_tell_the_workload(void **state)
{
	static const struct {
		struct criparts_sandbox s;
		const char *node, *want;
	} rows[] = {
		{{PAUSE({{"statefulset.kubernetes.io/pod-name", "p-1"}})}, NULL, "p"},
		{{PAUSE({{"controller-revision-hash", "x"}})}, NULL, "p-1"},
		{{PAUSE({{"job-name", "backup-28391040"}})}, NULL, "backup"},
		{{PAUSE({{"batch.kubernetes.io/job-name", "a"}, {"job-name", "b"}})}, NULL, "a"},
		{{PAUSE({{"app", "x"}})}, NULL, "p-1"},
		{{PAUSE({{"app", "x"}})}, "1", "p-1"},
		{{PAUSE({}), .annotations = {{"kubernetes.io/config.source", "file"}}}, "1", "p"},
		{{PAUSE({}), .annotations = {{"kubernetes.io/config.source", "file"}}}, NULL, "p-1"},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		criparts_sandbox(sandbox_parts[i % 2], &rows[i].s, rows[i].node, &item);
		assert_string_equal(item.pod.workload, rows[i].want);
	}
}

static void where_a_pod_comes_from_tells_whether_it_is_static(void **state)
{
	static const struct {
		const char *uid, *source;
		bool known, is_static;
	} rows[] = {
		{UID, "api", true, false},  {UID, "file", true, true},	{UID, "http", true, true},
		{UID, NULL, false, false},  {UID, "", false, false},	{HASH, NULL, true, true},
		{HASH, "file", true, true}, {HASH, "api", true, false},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct criparts_sandbox s = {.id = "s1", .name = "p", .uid = rows[i].uid};

		if (rows[i].source)
			s.annotations[0] = (struct criparts_pair){"kubernetes.io/config.source",
								  rows[i].source};
		criparts_sandbox(CRIPARTS_LIST_SANDBOX, &s, NULL, &item);
		assert_string_equal(item.pod.uid, rows[i].uid);
		assert_int_equal(item.pod.known, rows[i].known ? META_POD_STATIC : 0);
		assert_int_equal(item.pod.is_static, rows[i].is_static);
	}
}

static void metadata_stands_before_labels_which_fill_in(void **state)
{
	static const struct criparts_pair labels[] = {
		{POD "name", "label"}, {POD "namespace", "labels"}, {POD "uid", HASH}};
	struct criparts_sandbox s = {.id = "s1", .name = "meta", .namespace_ = "metas", .uid = UID};
	struct cri_item item;

	memcpy(s.labels, labels, sizeof(labels));
	criparts_sandbox(CRIPARTS_LIST_SANDBOX, &s, NULL, &item);
	assert_string_equal(item.pod.name, "meta");
	assert_string_equal(item.pod.namespace_, "metas");
	assert_string_equal(item.pod.uid, UID);
	assert_int_equal(item.refused, 0);

	s.name = s.namespace_ = NULL;
	s.uid = "no-uid";
	criparts_sandbox(CRIPARTS_LIST_SANDBOX, &s, NULL, &item);
	assert_string_equal(item.pod.name, "label");
	assert_string_equal(item.pod.namespace_, "labels");
	assert_string_equal(item.pod.uid, HASH);
	assert_int_equal(item.refused, 1);
}

static void only_what_looks_like_a_uid_names_a_pod(void **state)
{
	static const struct {
		const char *uid, *want;
	} rows[] = {
		{UID, UID},
		{"94DC9966-1B2C-4D5E-8F90-A1B2C3D4E5F6", UID},
		{HASH, HASH},
		{"0123456789ABCDEF0123456789abcdef", HASH},
		{"", ""},
		{"redhat-test-crio", ""},
		{"94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f", ""},
		{UID "0", ""},
		{HASH "0", ""},
		{"94dc9966x1b2c-4d5e-8f90-a1b2c3d4e5f6", ""},
		{"94dc996-61b2c-4d5e-8f90-a1b2c3d4e5f6", ""},
		{"94dc9966_1b2c_4d5e_8f90_a1b2c3d4e5f6", ""},
		{"g4dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6", ""},
		{"../../../../../../../../../etc/passwd", ""},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct criparts_sandbox s = {
			.id = "s1", .name = "p", .namespace_ = "ns", .uid = rows[i].uid};

		criparts_sandbox(CRIPARTS_LIST_SANDBOX, &s, NULL, &item);
		assert_string_equal(item.pod.uid, rows[i].want);
		assert_string_equal(item.container.pod_uid, rows[i].want);
		assert_string_equal(item.pod.name, *rows[i].want ? "p" : "");
		assert_string_equal(item.pod.namespace_, *rows[i].want ? "ns" : "");
		assert_string_equal(item.pod.workload, *rows[i].want ? "p" : "");
		assert_int_equal(item.refused, *rows[i].uid && !*rows[i].want);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a sandbox tells its pod", a_sandbox_tells_its_pod),
		CLAIM("labels of controllers tell the workload",
		      labels_of_controllers_tell_the_workload),
		CLAIM("where a pod comes from tells whether it is static",
		      where_a_pod_comes_from_tells_whether_it_is_static),
		CLAIM("metadata stands before labels, which fill in",
		      metadata_stands_before_labels_which_fill_in),
		CLAIM("only what looks like a UID names a pod",
		      only_what_looks_like_a_uid_names_a_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
