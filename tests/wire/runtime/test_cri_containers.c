// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/cri: what runtimes tell of containers, in a list and in a status. */
#include <string.h>

#include "lib/claim.h"
#include "lib/cri/criparts.h"

#define ID64   CRIPARTS_ID
#define UID    CRIPARTS_UID
#define HASH   CRIPARTS_HASH
#define SHA    CRIPARTS_SHA
#define POD    CRIPARTS_POD
#define CTR    CRIPARTS_CTR
#define SECOND 1000000000ull

static const enum criparts_answer sandbox_parts[] = {CRIPARTS_LIST_SANDBOX, CRIPARTS_EVENT_SANDBOX};
static const enum criparts_answer container_parts[] = {CRIPARTS_LIST_CONTAINER, CRIPARTS_STATUS};

static const struct criparts_container nginx = {
	.id = ID64,
	.sandbox_id = "sandbox-1",
	.name = "nginx",
	.attempt = 7,
	.state = 1,
	.image = "docker.io/library/nginx:1.25",
	.image_ref = "docker.io/library/nginx@" SHA,
	.labels = {{CTR "name", "nginx"},
		   {POD "name", "web-0"},
		   {POD "namespace", "shop"},
		   {POD "uid", UID}},
	.annotations = {{CTR "hash", "b0012cb9"}, {POD "terminationGracePeriod", "30"}},
};

static void a_container_tells_itself_and_its_pod(void **state)
{
	struct cri_item item;

	for (size_t i = 0; i < LEN(container_parts); i++) {
		bool in_list = container_parts[i] == CRIPARTS_LIST_CONTAINER;

		criparts_container(container_parts[i], &nginx, &item);
		assert_int_equal(item.container.source, META_CRI);
		assert_int_equal(item.container.kind, META_KIND_CONTAINER);
		assert_string_equal(item.container.id, ID64);
		assert_string_equal(item.container.unit, "");
		assert_string_equal(item.container.pod_uid, UID);
		assert_string_equal(item.container.name, "nginx");
		assert_string_equal(item.container.image, "docker.io/library/nginx:1.25");
		assert_int_equal(item.container.known, META_CTR_ATTEMPT | META_CTR_PRESTOP);
		assert_int_equal(item.container.attempt, 7);
		assert_false(item.container.prestop);
		assert_int_equal(item.container.stop_signal, 0);
		assert_int_equal(item.pod.source, META_CRI);
		assert_string_equal(item.pod.uid, UID);
		assert_string_equal(item.pod.name, "web-0");
		assert_string_equal(item.pod.namespace_, "shop");
		assert_string_equal(item.pod.workload, "");
		assert_int_equal(item.pod.known, META_POD_GRACE);
		assert_int_equal(item.pod.grace_ns, 30 * SECOND);
		assert_int_equal(item.state, CRI_STATE_RUNNING);
		assert_string_equal(item.sandbox_id, in_list ? "sandbox-1" : "");
		assert_string_equal(item.image_key, "docker.io/library/nginx@" SHA);
		assert_int_equal(item.refused, 0);
	}
}

static void a_container_outside_of_kubernetes_has_no_pod(void **state)
{
	struct criparts_container c = {.id = "c1", .name = "tool", .labels = {{"app", "x"}}};
	struct cri_item item;

	criparts_container(CRIPARTS_LIST_CONTAINER, &c, &item);
	assert_string_equal(item.pod.uid, "");
	assert_string_equal(item.container.pod_uid, "");
	assert_string_equal(item.container.name, "tool");
	assert_int_equal(item.container.known, META_CTR_ATTEMPT);
	assert_int_equal(item.pod.known, 0);
	c.name = NULL;
	c.labels[1] = (struct criparts_pair){CTR "name", "by-label"};
	criparts_container(CRIPARTS_LIST_CONTAINER, &c, &item);
	assert_string_equal(item.container.name, "by-label");
}

static void of_two_labels_with_one_key_the_last_counts(void **state)
{
	struct criparts_container c = {
		.id = "c1",
		.labels = {
			{POD "uid", HASH}, {POD "uid", UID}, {POD "name", "a"}, {POD "name", "b"}}};
	struct cri_item item;

	criparts_container(CRIPARTS_LIST_CONTAINER, &c, &item);
	assert_string_equal(item.pod.uid, UID);
	assert_string_equal(item.pod.name, "b");
}

static void the_grace_period_is_whole_seconds_or_unknown(void **state)
{
	static const struct {
		const char *text;
		bool known;
		uint64_t ns;
	} rows[] = {
		{"0", true, 0},
		{"30", true, 30 * SECOND},
		{"9223372036", true, 9223372036 * SECOND},
		{"9223372037", false, 0},
		{"99999999999999999999999", false, 0},
		{"-1", false, 0},
		{"+1", false, 0},
		{"1.5", false, 0},
		{"30s", false, 0},
		{" 30", false, 0},
		{"", false, 0},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct criparts_container c = nginx;

		c.annotations[1].value = rows[i].text;
		criparts_container(container_parts[i % 2], &c, &item);
		assert_int_equal(item.pod.known, rows[i].known ? META_POD_GRACE : 0);
		assert_true(item.pod.grace_ns == rows[i].ns);
	}
}

static void a_prestop_hook_is_known_where_the_kubelet_made_the_container(void **state)
{
	static const struct {
		struct criparts_pair annotations[3];
		bool known, prestop;
	} rows[] = {
		{{}, false, false},
		{{{CTR "hash", "1"}}, true, false},
		{{{CTR "hash", "1"}, {CTR "preStopHandler", "{}"}}, true, true},
		{{{CTR "preStopHandler", ""}}, true, true},
		{{{CTR "preStopHandlers", "{}"}}, false, false},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct criparts_container c = {.id = "c1"};

		memcpy(c.annotations, rows[i].annotations, sizeof(c.annotations));
		criparts_container(container_parts[i % 2], &c, &item);
		assert_int_equal(item.container.known,
				 META_CTR_ATTEMPT | (rows[i].known ? META_CTR_PRESTOP : 0));
		assert_int_equal(item.container.prestop, rows[i].prestop);
	}
}

static void an_image_is_called_as_people_call_it_and_asked_for_by_what_is_exact(void **state)
{
	static const struct {
		const char *image, *user, *ref, *id, *want, *key;
	} rows[] = {
		{"nginx:1", NULL, NULL, NULL, "nginx:1", "nginx:1"},
		{SHA, "nginx:1", SHA, NULL, "nginx:1", SHA},
		{SHA, NULL, "nginx@" SHA, NULL, "nginx@" SHA, "nginx@" SHA},
		{ID64, NULL, "nginx@" SHA, NULL, "nginx@" SHA, "nginx@" SHA},
		{SHA, NULL, ID64, NULL, SHA, ID64},
		{NULL, NULL, SHA, "img", SHA, "img"},
		{"nginx:1", NULL, "ref", "img", "nginx:1", "img"},
		{"sha256:0123", NULL, "ref", NULL, "sha256:0123", "ref"},
		{NULL, NULL, NULL, NULL, "", ""},
	};
	struct cri_item item;

	for (size_t i = 0; i < 2 * LEN(rows); i++) {
		struct criparts_container c = {.id = "c1",
					       .image = rows[i / 2].image,
					       .user_image = rows[i / 2].user,
					       .image_ref = rows[i / 2].ref,
					       .image_id = rows[i / 2].id};

		criparts_container(container_parts[i % 2], &c, &item);
		assert_string_equal(item.container.image, rows[i / 2].want);
		assert_string_equal(item.image_key, rows[i / 2].key);
	}
}

static void states_are_read_and_others_are_unknown(void **state)
{
	static const struct {
		int state;
		enum cri_state sandbox, container;
	} rows[] = {
		{0, CRI_STATE_RUNNING, CRI_STATE_CREATED},
		{1, CRI_STATE_EXITED, CRI_STATE_RUNNING},
		{2, CRI_STATE_UNKNOWN, CRI_STATE_EXITED},
		{3, CRI_STATE_UNKNOWN, CRI_STATE_UNKNOWN},
		{4, CRI_STATE_UNKNOWN, CRI_STATE_UNKNOWN},
		{-1, CRI_STATE_UNKNOWN, CRI_STATE_UNKNOWN},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct criparts_sandbox s = {.id = "s1", .state = rows[i].state};
		struct criparts_container c = {.id = "c1", .state = rows[i].state};

		criparts_sandbox(sandbox_parts[i % 2], &s, NULL, &item);
		assert_int_equal(item.state, rows[i].sandbox);
		criparts_container(container_parts[i % 2], &c, &item);
		assert_int_equal(item.state, rows[i].container);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("states are read, and others are unknown",
		      states_are_read_and_others_are_unknown),
		CLAIM("a container tells itself and its pod, but no workload",
		      a_container_tells_itself_and_its_pod),
		CLAIM("a container outside of Kubernetes has no pod",
		      a_container_outside_of_kubernetes_has_no_pod),
		CLAIM("of two labels with one key the last counts",
		      of_two_labels_with_one_key_the_last_counts),
		CLAIM("the grace period is whole seconds, or unknown",
		      the_grace_period_is_whole_seconds_or_unknown),
		CLAIM("a preStop hook is known where the kubelet made the container",
		      a_prestop_hook_is_known_where_the_kubelet_made_the_container),
		CLAIM("an image is called as people call it, and asked for by what is exact",
		      an_image_is_called_as_people_call_it_and_asked_for_by_what_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
