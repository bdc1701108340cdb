// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/pod: one pod, from its JSON and back. */
#include "wire/kubernetes/pod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

static const char whole[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-0\","
	"\"namespace\":\"default\",\"uid\":\"94dc9966-0000-4000-8000-000000000001\","
	"\"deletionTimestamp\":\"2026-01-02T03:04:05Z\",\"deletionGracePeriodSeconds\":7,"
	"\"annotations\":{\"a\":\"b\"},"
	"\"ownerReferences\":[{\"kind\":\"X\",\"name\":\"x\"},"
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"web\",\"uid\":\"u-web\","
	"\"controller\":true}]},"
	"\"spec\":{\"restartPolicy\":\"OnFailure\",\"nodeName\":\"n1\",\"priority\":-5,"
	"\"terminationGracePeriodSeconds\":45,\"hostNetwork\":true,\"activeDeadlineSeconds\":60,"
	"\"initContainers\":[{\"name\":\"proxy\",\"image\":\"p\",\"restartPolicy\":\"Always\"}],"
	"\"containers\":[{\"name\":\"main\",\"image\":\"m:1\",\"restartPolicy\":\"Never\","
	"\"restartPolicyRules\":[{\"action\":\"Restart\",\"exitCodes\":"
	"{\"operator\":\"NotIn\",\"values\":[0,-1]}},{\"action\":\"Dance\"}],\"env\":[1,2]}],"
	"\"ephemeralContainers\":[{\"name\":\"debug\"}],"
	"\"readinessGates\":[{\"conditionType\":\"example.com/g\"}],"
	"\"tolerations\":[{\"operator\":\"Exists\"},{\"key\":\"k\",\"value\":\"v\","
	"\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],"
	"\"volumes\":[{\"name\":\"d\",\"emptyDir\":{}},"
	"{\"name\":\"c\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]},"
	"\"status\":{\"phase\":\"Running\",\"reason\":\"r\",\"message\":\"m\","
	"\"startTime\":\"1970-01-01T00:00:10Z\",\"conditions\":[{\"type\":\"Ready\","
	"\"status\":\"True\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}],"
	"\"containerStatuses\":[{\"name\":\"main\",\"ready\":true,\"started\":false,"
	"\"restartCount\":2,\"image\":\"m:1\",\"imageID\":\"i\",\"containerID\":\"containerd://1\","
	"\"state\":{\"running\":{\"startedAt\":\"2026-01-02T03:04:05Z\"}},"
	"\"lastState\":{\"terminated\":{\"exitCode\":137,\"signal\":9,\"reason\":\"OOMKilled\","
	"\"message\":\"mm\",\"startedAt\":\"2026-01-02T03:04:00Z\","
	"\"finishedAt\":\"2026-01-02T03:04:01Z\",\"containerID\":\"containerd://0\"}}}]}}";

static int read_pod(const char *text, struct arena *arena, struct podobj_pod *ret,
		    struct podread_error *error)
{
	json_auto_t *json = NULL;
	int r = podread_parse(text, strlen(text), &json, error);

	return r < 0 ? r : podread_pod(json, arena, ret, error);
}

static void check_metadata(const struct podobj_pod *pod)
{
	assert_string_equal(pod->namespace_, "default");
	assert_string_equal(pod->name, "web-0");
	assert_string_equal(pod->owner.kind, "StatefulSet");
	assert_string_equal(pod->owner.name, "web");
	assert_string_equal(pod->owner.api, "apps/v1");
	assert_string_equal(pod->owner.uid, "u-web");
	assert_true(pod->deleting);
	assert_int_equal(pod->deleted_wall_ns, 1767323045000000000);
	assert_true(pod->deletion_grace.set);
	assert_int_equal(pod->deletion_grace.s, 7);
	assert_false(pod->is_static || pod->mirror);
}

static void check_spec(const struct podobj_pod *pod)
{
	assert_int_equal(pod->restart_policy, META_RESTART_ON_FAILURE);
	assert_true(pod->has_priority && pod->grace.set);
	assert_int_equal(pod->priority, -5);
	assert_int_equal(pod->grace.s, 45);
	assert_true(pod->host_network && pod->deadline.set);
	assert_int_equal(pod->deadline.s, 60);
	assert_int_equal(pod->inits.n, 1);
	assert_true(podobj_is_sidecar(&pod->inits.items[0]));
	assert_string_equal(pod->containers.items[0].image, "m:1");
	assert_int_equal(pod->containers.items[0].n_rules, 2);
	assert_int_equal(pod->containers.items[0].rules[0].op, PODOBJ_OP_NOT_IN);
	assert_int_equal(pod->containers.items[0].rules[0].codes[1], -1);
	assert_int_equal(pod->containers.items[0].rules[1].action, PODOBJ_ACTION_OTHER);
	assert_string_equal(pod->ephemerals.items[0].name, "debug");
	assert_string_equal(pod->gates[0], "example.com/g");
	assert_false(pod->tolerations[0].seconds.set);
	assert_int_equal(pod->tolerations[1].seconds.s, 300);
	assert_int_equal(pod->volumes, PODOBJ_VOLUME_EMPTY_DIR | PODOBJ_VOLUME_CLAIM);
}

static void check_status(const struct podobj_pod *pod)
{
	const struct podobj_status *main_status = &pod->status.containers.items[0];

	assert_int_equal(pod->start_wall_ns, 10000000000);
	assert_string_equal(pod->status.phase, "Running");
	assert_true(podobj_condition_is_true(&pod->status.conditions, "Ready"));
	assert_true(pod->status.inits.absent);
	assert_false(pod->status.containers.absent);
	assert_int_equal(main_status->state.kind, PODOBJ_RUNNING);
	assert_int_equal(main_status->started, PODOBJ_STARTED_NO);
	assert_int_equal(main_status->last.exit_code, 137);
	assert_int_equal(main_status->last.signal, 9);
	assert_string_equal(main_status->last.id, "containerd://0");
}

static void test_whole(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podread_error error = {};
	struct podobj_pod pod;

	if (read_pod(whole, &arena, &pod, &error) < 0)
		fail_msg("%s %s", error.member, error.problem);
	check_metadata(&pod);
	check_spec(&pod);
	check_status(&pod);
}

static void test_static(void **state)
{
	static const struct {
		const char *annotations;
		bool is_static, mirror;
		const char *uid;
	} want[] = {
		{"{}", false, false, ""},
		{"null", false, false, ""},
		{"{\"kubernetes.io/config.source\":\"api\"}", false, false, ""},
		{"{\"kubernetes.io/config.source\":\"file\"}", true, false, ""},
		{"{\"kubernetes.io/config.hash\":\"1\"}", false, false, ""},
		{"{\"kubernetes.io/config.mirror\":\"1\"}", true, true, ""},
		{"{\"kubernetes.io/config.mirror\":\"1\",\"kubernetes.io/config.hash\":\"2\"}",
		 true, true, "2"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podread_error error;
		struct podobj_pod pod;
		char text[256];

		snprintf(text, sizeof(text), "{\"metadata\":{\"annotations\":%s},\"spec\":{}}",
			 want[i].annotations);
		assert_int_equal(read_pod(text, &arena, &pod, &error), 0);
		if (pod.is_static != want[i].is_static || pod.mirror != want[i].mirror ||
		    strcmp(pod.static_uid, want[i].uid) != 0)
			fail_msg("%s", want[i].annotations);
	}
}

static void test_names_the_member(void **state)
{
	static const struct {
		const char *text, *member, *problem;
	} want[] = {
		{"[]", "", "is not an object"},
		{"{\"kind\":\"Node\"}", "kind",
		 "is not Pod; of a Deployment or its like, pass the pods"},
		{"{\"spec\":{}}", "metadata", "is missing"},
		{"{\"metadata\":{}}", "spec", "is missing"},
		{"{\"metadata\":{\"name\":1},\"spec\":{}}", "metadata.name", "is not a string"},
		{"{\"metadata\":{\"deletionTimestamp\":\"soon\"},\"spec\":{}}",
		 "metadata.deletionTimestamp", "is not a time as in RFC 3339"},
		{"{\"metadata\":{\"finalizers\":7},\"spec\":{}}", "metadata.finalizers",
		 "is not a list"},
		{"{\"metadata\":{\"finalizers\":[\"a\",7]},\"spec\":{}}", "metadata.finalizers",
		 "is not a list of strings"},
		{"{\"metadata\":{\"ownerReferences\":[{},{\"kind\":7}]},\"spec\":{}}",
		 "metadata.ownerReferences[1].kind", "is not a string"},
		{"{\"metadata\":{},\"spec\":{\"containers\":{}}}", "spec.containers",
		 "is not a list"},
		{"{\"metadata\":{},\"spec\":{\"containers\":[{},7]}}", "spec.containers[1]",
		 "is not an object"},
		{"{\"metadata\":{},\"spec\":{\"containers\":[{\"restartPolicy\":\"Now\"}]}}",
		 "spec.containers[0].restartPolicy", "is none of Always, OnFailure, Never"},
		{"{\"metadata\":{},\"spec\":{\"containers\":[{\"restartPolicyRules\":"
		 "[{\"exitCodes\":{\"values\":[1,1e300]}}]}]}}",
		 "spec.containers[0].restartPolicyRules[0].exitCodes.values",
		 "has a number that is out of range"},
		{"{\"metadata\":{},\"spec\":{\"priority\":99999999999}}", "spec.priority",
		 "is out of range"},
		{"{\"metadata\":{},\"spec\":{\"priority\":1.5}}", "spec.priority",
		 "is not a whole number"},
		{"{\"metadata\":{\"deletionGracePeriodSeconds\":\"7\"},\"spec\":{}}",
		 "metadata.deletionGracePeriodSeconds", "is not a whole number"},
		{"{\"metadata\":{},\"spec\":{\"terminationGracePeriodSeconds\":1.5}}",
		 "spec.terminationGracePeriodSeconds", "is not a whole number"},
		{"{\"metadata\":{},\"spec\":{\"hostNetwork\":\"yes\"}}", "spec.hostNetwork",
		 "is neither true nor false"},
		{"{\"metadata\":{},\"spec\":{},\"status\":{\"initContainerStatuses\":"
		 "[{\"lastState\":{\"terminated\":{\"exitCode\":\"0\"}}}]}}",
		 "status.initContainerStatuses[0].lastState.terminated.exitCode",
		 "is not a whole number"},
		{"{\"metadata\":{},\"spec\":{},\"status\":{\"containerStatuses\":"
		 "[{\"state\":[]}]}}",
		 "status.containerStatuses[0].state", "is not an object"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podread_error error = {.problem = "none"};
		struct podobj_pod pod;
		int r = read_pod(want[i].text, &arena, &pod, &error);

		if (r != -EINVAL || strcmp(error.member, want[i].member) != 0 ||
		    strcmp(error.problem, want[i].problem) != 0)
			fail_msg("%s: %d, '%s' %s", want[i].text, r, error.member, error.problem);
	}
}

static void test_no_json(void **state)
{
	static const struct {
		const char *text, *member, *problem;
		int line;
	} want[] = {
		{"", "", "it is empty", 0},
		{" \r\n\t", "", "it is empty", 0},
		{"{", "", "it is no JSON", 1},
		{"apiVersion: v1", "", "it is no JSON", 1},
		{"{}\n x", "", "it is no JSON", 2},
		{"\"\xff\"", "", "it is no JSON", 1},
		{"{\"a\":1,\n\"a\":2}", "\"a\"", "is there twice", 2},
		{"{\"near '\":1,\"near '\":2}", "\"near '\"", "is there twice", 1},
		{"{\"a\":\"\\u0000\"}", "", "a text has a NUL in it", 1},
		{"{\"a\":1e999}", "", "a number is too large", 1},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct podread_error error = {};
		json_t *json = NULL;

		assert_int_equal(podread_parse(want[i].text, strlen(want[i].text), &json, &error),
				 -EBADMSG);
		assert_string_equal(error.problem, want[i].problem);
		assert_string_equal(error.member, want[i].member);
		assert_int_equal(error.line, want[i].line);
		assert_int_equal(error.column > 0, want[i].line > 0);
		assert_null(json);
	}
}

/* null, a number or a list is JSON; that it is no pod is for whoever reads one to say. */
static void test_other_json(void **state)
{
	static const char *const texts[] = {"null", "5", "[]", "\"text\""};

	for (size_t i = 0; i < LEN(texts); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podread_error error = {};
		json_auto_t *json = NULL;
		struct podobj_pod pod;

		assert_int_equal(podread_parse(texts[i], strlen(texts[i]), &json, &error), 0);
		assert_int_equal(podread_pod(json, &arena, &pod, &error), -EINVAL);
		assert_string_equal(error.problem, "is not an object");
	}
}

static json_t *pod_with(const char *key, json_t *value)
{
	json_t *spec = json_pack("{s:o}", key, value);

	return json_pack("{s:{}, s:o}", "metadata", "spec", spec);
}

static void test_bounds(void **state)
{
	char *text = malloc(PODREAD_TEXT_MAX + 1);
	struct podread_error error;
	json_t *json = NULL;

	assert_non_null(text);
	memset(text, '[', PODREAD_TEXT_MAX + 1);
	assert_int_equal(podread_parse(text, PODREAD_TEXT_MAX, &json, &error), -EBADMSG);
	assert_int_equal(podread_parse(text, PODREAD_TEXT_MAX + 1, &json, &error), -E2BIG);
	free(text);
	for (size_t extra = 0; extra <= 1; extra++) {
		_cleanup_(arena_free) struct arena arena = {};
		json_auto_t *list = json_array(), *pod_json = NULL;
		struct podobj_pod pod;

		for (size_t i = 0; i < PODREAD_CONTAINERS_MAX + extra; i++)
			json_array_append_new(list, json_object());
		pod_json = pod_with("containers", json_incref(list));
		assert_int_equal(podread_pod(pod_json, &arena, &pod, &error), extra ? -EINVAL : 0);
		if (extra)
			assert_string_equal(error.problem, "has too many elements");
	}
}

/* A document of n values, as many of them as text has marks; or all marks in one string. */
static char *make_values(size_t n, bool in_text)
{
	char *text = malloc(2 * n + 8), *at = text;

	assert_non_null(text);
	at += sprintf(at, "{\"x\":%s", in_text ? "\"" : "[");
	for (size_t i = 2; i < n; i++)
		at += sprintf(at, i + 1 < n && !in_text ? "0," : in_text ? "[," : "0");
	strcpy(at, in_text ? "\"}" : "]}");
	return text;
}

static void test_values(void **state)
{
	static const struct {
		size_t n;
		bool in_text, fits;
	} rows[] = {
		{PODREAD_VALUES_MAX, false, true},
		{PODREAD_VALUES_MAX + 1, false, false},
		{PODREAD_VALUES_MAX * 8, true, true}, /* one value, whatever is in it */
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char *text = make_values(rows[i].n, rows[i].in_text);
		struct podread_error error;
		json_auto_t *json = NULL;

		assert_int_equal(podread_parse(text, strlen(text), &json, &error),
				 rows[i].fits ? 0 : -EBADMSG);
		if (!rows[i].fits)
			assert_string_equal(error.problem,
					    "it has more values than a pod can have");
		free(text);
	}
}

static void test_long_text(void **state)
{
	char name[PODREAD_NAME_MAX + 2];

	memset(name, 'n', sizeof(name));
	for (size_t len = PODREAD_NAME_MAX; len <= PODREAD_NAME_MAX + 1; len++) {
		_cleanup_(arena_free) struct arena arena = {};
		json_auto_t *json = pod_with("nodeName", json_stringn(name, len));
		struct podread_error error;
		struct podobj_pod pod;

		assert_int_equal(podread_pod(json, &arena, &pod, &error),
				 len > PODREAD_NAME_MAX ? -EINVAL : 0);
	}
}

static void test_memory(void **state)
{
	json_auto_t *json = NULL;
	struct podread_error error;

	assert_int_equal(podread_parse(whole, strlen(whole), &json, &error), 0);
	for (size_t limit = 16; limit < 65536; limit += 16) {
		_cleanup_(arena_free) struct arena arena = {.limit = limit};
		struct podobj_pod pod = {.name = "untouched"};
		int r = podread_pod(json, &arena, &pod, &error);

		if (r == 0)
			return;
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(pod.name, "untouched");
	}
	fail_msg("64 KiB are not enough");
}

/* Every cut and every changed byte of a pod: an answer, and no crash. */
static void test_hostile(void **state)
{
	static const char bytes[] = "{}[]\",:0-\\\n";
	char text[sizeof(whole)];

	for (size_t i = 0; i < strlen(whole); i++) {
		for (size_t b = 0; b < LEN(bytes); b++) {
			_cleanup_(arena_free) struct arena arena = {};
			struct podread_error error = {};
			struct podobj_pod pod;

			memcpy(text, whole, sizeof(whole));
			text[i] = bytes[b];
			if (read_pod(text, &arena, &pod, &error) < 0)
				assert_non_null(error.problem);
		}
	}
}

static void read_status(json_t *status, struct arena *arena, struct podobj_pod_status *ret)
{
	json_t *around = json_pack("{s:{}, s:{}, s:O}", "metadata", "spec", "status", status);
	struct podread_error error;
	struct podobj_pod pod;

	assert_int_equal(podread_pod(around, arena, &pod, &error), 0);
	json_decref(around);
	*ret = pod.status;
}

static void test_back(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {}, again = {};
	json_auto_t *json = NULL, *status_json = NULL, *written = NULL;
	struct podobj_pod_status status;
	json_error_t json_error;

	json = json_loads(whole, 0, &json_error);
	status_json = json_incref(json_object_get(json, "status"));
	json_object_del(status_json, "startTime");
	read_status(status_json, &arena, &status);
	podwrite_status(&out, NULL, &status);
	assert_int_equal(buf_error(&out), 0);
	written = json_loads(buf_str(&out), 0, &json_error);
	assert_true(json_equal(written, status_json));
	read_status(written, &arena, &status);
	podwrite_status(&again, NULL, &status);
	assert_string_equal(buf_str(&out), buf_str(&again));
}

static void test_written_states(void **state)
{
	struct podobj_status statuses[] = {podobj_no_status("a"), podobj_no_status("b")};
	struct podobj_pod_status status = {
		.phase = "",
		.reason = "",
		.message = "",
		.ephemerals = {.items = statuses, .n = 2},
	};
	_cleanup_(buf_free) struct buf out = {};

	statuses[0].state.kind = PODOBJ_WAITING;
	statuses[0].state.reason = "a \"reason\"";
	podwrite_status(&out, NULL, &status);
	assert_string_equal(buf_str(&out),
			    "{\"ephemeralContainerStatuses\":[{\"name\":\"a\",\"state\":"
			    "{\"waiting\":{\"reason\":\"a \\\"reason\\\"\"}},\"lastState\":{},"
			    "\"ready\":false,\"restartCount\":0,\"image\":\"\",\"imageID\":\"\"},"
			    "{\"name\":\"b\",\"state\":{},\"lastState\":{},\"ready\":false,"
			    "\"restartCount\":0,\"image\":\"\",\"imageID\":\"\"}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("every member that is looked at is read", test_whole),
		CLAIM("a static pod is one by its annotations", test_static),
		CLAIM("an error names the member and says what is wrong with it",
		      test_names_the_member),
		CLAIM("what is no JSON is reported with its line", test_no_json),
		CLAIM("what is JSON and no object is no pod", test_other_json),
		CLAIM("text, nesting and lists have bounds", test_bounds),
		CLAIM("a document has no more values than a pod can have, text not counted",
		      test_values),
		CLAIM("a name may be as long as it may be", test_long_text),
		CLAIM("without memory there is an error and no half a pod", test_memory),
		CLAIM("whatever byte is changed, there is an answer", test_hostile),
		CLAIM("a status is written as it was read", test_back),
		CLAIM("every state has its form", test_written_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
