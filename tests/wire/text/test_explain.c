// SPDX-License-Identifier: Apache-2.0
/* Claims about graced explain from end to end: tests/pods in, phase, conditions and words out. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/json/explain.h"
#include "wire/text/explain.h"
#include "wire/kubernetes/pod.h"

#define PODS "tests/pods"

/* 2026-11-22T08:00:00Z, after all that is in the pods. */
#define NOW 1795334400000000000

static json_t *load(const char *name)
{
	char path[512];
	json_error_t error;
	json_t *json;

	snprintf(path, sizeof(path), "%s/%s", PODS, name);
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s: line %d: %s", path, error.line, error.text);
	return json;
}

/* The answer as its JSON; NULL after a failure that was printed. */
static json_t *explain(const char *name, const json_t *file, const struct jobpolicy *job)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {}, table = {};
	const char *version = json_string_value(json_object_get(file, "kubernetes"));
	struct podread_error error = {};
	struct podobj_pod pod;
	struct explain_in in = {.pod = &pod, .job = job, .now_wall_ns = NOW};
	struct explain e;

	in.minor = (unsigned int)atoi(version + 2);
	if (podread_pod(json_object_get(file, "pod"), &arena, &pod, &error) < 0)
		fail_msg("%s: %s %s", name, error.member, error.problem);
	assert_int_equal(explain_pod(&in, &arena, &e), 0);
	assert_int_equal(explain_json(&out, name, &e), 0);
	assert_int_equal(explain_table(&table, &e, &(struct grid_view){}), 0);
	return json_loads(buf_str(&out), JSON_REJECT_DUPLICATES, NULL);
}

static void check_text(const char *name, const json_t *got, const char *key, const json_t *wanted)
{
	if (wanted && !json_equal(json_object_get(got, key), wanted))
		fail_msg("%s: %s is %s, not %s", name, key,
			 json_string_value(json_object_get(got, key)), json_string_value(wanted));
}

static const json_t *condition_of(const json_t *conditions, const char *type)
{
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *c = json_array_get(conditions, i);

		if (strcmp(json_string_value(json_object_get(c, "type")), type) == 0)
			return c;
	}
	fail_msg("there is no condition %s", type);
	return NULL;
}

static bool same_text(const json_t *got, const json_t *wanted)
{
	return (!wanted && json_is_null(got)) || json_equal(got, wanted);
}

/* A real pod's own status says what is to come out. */
static void check_real(const char *name, const json_t *file, const json_t *got)
{
	const json_t *status = json_object_get(json_object_get(file, "pod"), "status");
	const json_t *wanted = json_object_get(status, "conditions");

	check_text(name, json_object_get(got, "phase"), "value", json_object_get(status, "phase"));
	for (size_t i = 0; i < json_array_size(wanted); i++) {
		static const char *const keys[] = {"status", "reason", "message"};
		const json_t *w = json_array_get(wanted, i);
		const char *type = json_string_value(json_object_get(w, "type"));
		const json_t *g = condition_of(json_object_get(got, "conditions"), type);

		for (size_t k = 0; k < LEN(keys); k++) {
			if (!same_text(json_object_get(g, keys[k]), json_object_get(w, keys[k])))
				fail_msg("%s: %s of %s", name, keys[k], type);
		}
	}
}

static void check_hand(const char *name, const json_t *expect, const json_t *got)
{
	const json_t *phase = json_object_get(got, "phase");
	const char *type;
	json_t *pair;

	check_text(name, phase, "value", json_object_get(expect, "phase"));
	check_text(name, phase, "reason", json_object_get(expect, "reason"));
	check_text(name, phase, "rule", json_object_get(expect, "rule"));
	check_text(name, phase, "from", json_object_get(expect, "from"));
	check_text(name, phase, "container", json_object_get(expect, "container"));
	check_text(name, json_object_get(got, "next"), "action", json_object_get(expect, "next"));
	json_object_foreach(json_object_get(expect, "conditions"), type, pair) {
		const json_t *g = condition_of(json_object_get(got, "conditions"), type);

		check_text(name, g, "status", json_array_get(pair, 0));
		check_text(name, g, "reason", json_array_get(pair, 1));
	}
}

static void test_pods(void **state)
{
	DIR *dir = opendir(PODS);
	const struct dirent *entry;
	size_t real = 0, hand = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		json_auto_t *file = NULL, *got = NULL;
		const json_t *expect;

		if (!strstr(entry->d_name, ".json"))
			continue;
		file = load(entry->d_name);
		got = explain(entry->d_name, file, NULL);
		assert_non_null(got);
		expect = json_object_get(file, "expect");
		if (expect)
			check_hand(entry->d_name, expect, got);
		else
			check_real(entry->d_name, file, got);
		*(expect ? &hand : &real) += 1;
	}
	closedir(dir);
	assert_in_range(real, 20, 1000);
	assert_in_range(hand, 15, 1000);
}

static const char *why_of(const json_t *got, const char *rule)
{
	const json_t *rules = json_object_get(json_object_get(got, "phase"), "rules");

	for (size_t i = 0; i < json_array_size(rules); i++) {
		const json_t *r = json_array_get(rules, i);

		if (strcmp(json_string_value(json_object_get(r, "rule")), rule) == 0)
			return json_string_value(json_object_get(r, "why"));
	}
	return "not tried";
}

/* A pod with one container that ended with 1, of a restartPolicy Always unless more says else. */
static void check_why(const char *version, const char *metadata, const char *status,
		      const char *rule, const char *wanted)
{
	_cleanup_(buf_free) struct buf text = {};
	json_auto_t *file = NULL, *got = NULL;

	buf_printf(&text,
		   "{\"kubernetes\":\"%s\",\"pod\":{\"metadata\":{\"name\":\"p\"%s},\"spec\":{"
		   "\"nodeName\":\"n\",\"restartPolicy\":\"Always\",\"containers\":[{\"name\":"
		   "\"a\"}]},\"status\":{\"phase\":\"Running\",\"containerStatuses\":[%s]}}}",
		   version, metadata, status);
	file = json_loads(buf_str(&text), 0, NULL);
	assert_non_null(file);
	got = explain(rule, file, NULL);
	assert_string_equal(why_of(got, rule), wanted);
}

static void test_words(void **state)
{
#define DELETED ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\""
#define STATIC	",\"annotations\":{\"kubernetes.io/config.source\":\"file\"}"
#define ENDED	"{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":1}}}"
	check_why("1.36", "", ENDED, "container-restarts",
		  "container a ended (exit 1) and is started again by the pod's restartPolicy");
	check_why("1.26", DELETED, ENDED, "container-restarts",
		  "container a ended (exit 1) and would be started again, but the pod is being "
		  "deleted");
	check_why("1.36", DELETED STATIC, ENDED, "container-restarts",
		  "container a ended (exit 1) and would be started again, but the pod is being "
		  "deleted");
	check_why("1.36", "", ENDED, "killed-some-failed", "the pod was not killed");
	check_why("1.26", DELETED, ENDED, "killed-some-failed",
		  "a kubelet before 1.27 does not ask whether the pod was killed");
	check_why("1.36", DELETED STATIC, ENDED, "killed-all-succeeded",
		  "a static pod stays as it is when it is killed");
	check_why("1.36", DELETED, ENDED, "killed-all-succeeded",
		  "not all containers ended with 0");
	check_why("1.36", "", ENDED, "container-running", "no container runs");
	check_why("1.36", "", "", "container-running", "a container is unknown");
	check_why("1.36", DELETED, "", "killed-some-failed", "a container is unknown");
#undef DELETED
#undef STATIC
#undef ENDED
}

/* The pod of a Job whose main container is done, and one thing more. */
static void check_note(const char *metadata, const char *end, const char *note, const char *wanted)
{
	_cleanup_(buf_free) struct buf text = {};
	json_auto_t *file = NULL, *got = NULL;
	const json_t *notes;

	buf_printf(&text,
		   "{\"kubernetes\":\"1.36\",\"pod\":{\"metadata\":{\"name\":\"p\","
		   "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"controller\":true}]%s},"
		   "\"spec\":{\"nodeName\":\"n\",\"restartPolicy\":\"Never\",\"containers\":"
		   "[{\"name\":\"a\"},{\"name\":\"log\"}]},\"status\":{\"phase\":\"Running\","
		   "\"containerStatuses\":[{\"name\":\"a\",\"state\":{\"terminated\":{%s}}},"
		   "{\"name\":\"log\",\"state\":{\"running\":{}}}]}}}",
		   metadata, end);
	file = json_loads(buf_str(&text), 0, NULL);
	assert_non_null(file);
	got = explain(note, file, NULL);
	notes = json_object_get(got, "notes");
	for (size_t i = 0; i < json_array_size(notes); i++) {
		const json_t *n = json_array_get(notes, i);
		const char *what = json_string_value(json_object_get(n, "what"));

		if (strcmp(json_string_value(json_object_get(n, "note")), note) != 0)
			continue;
		if (!strstr(what, wanted))
			fail_msg("%s: %s", note, what);
		return;
	}
	fail_msg("no note %s", note);
}

static void test_notes(void **state)
{
#define DONE	"\"exitCode\":0"
#define DELETED ",\"deletionTimestamp\":\"2026-11-22T07:00:00Z\""
	check_note(DELETED ",\"finalizers\":[\"batch.kubernetes.io/job-tracking\"]", DONE,
		   "finalizer", "the Job controller, once it has counted the pod");
	check_note(DELETED, DONE, "deletion-overdue", "node.kubernetes.io/out-of-service");
	check_note(DELETED, DONE, "deletion-overdue", "over for 1h00m, and the kubelet of n ");
	check_note("", DONE, "runs-beside", "the Job, is not over until each of its containers");
	check_note("", "\"exitCode\":143,\"reason\":\"OOMKilled\"", "oom-not-init",
		   "exit 143 is that of PID 1, which SIGTERM ended");
	check_note("", DONE, "scheduled-by-kubelet", "as the kubelet writes it");
#undef DONE
#undef DELETED
}

static void test_job_of_others(void **state)
{
	static const char job_text[] =
		"{\"kind\":\"List\",\"items\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
		"\"metadata\":{\"namespace\":\"shop\",\"name\":\"night\",\"uid\":\"u\"}}]}";
	_cleanup_(arena_free) struct arena arena = {};
	json_auto_t *file = NULL, *job_json = NULL, *got = NULL;
	struct podread_error error;
	struct jobpolicy job;

	assert_int_equal(podread_parse(job_text, strlen(job_text), &job_json, &error), 0);
	assert_int_equal(podread_job(job_json, &arena, &job, &error), 0);
	assert_string_equal(job.namespace_, "shop");
	assert_string_equal(job.name, "night");
	assert_string_equal(job.uid, "u");
	file = load("hand-evicted.json");
	got = explain("other", file, &job);
	assert_true(json_is_null(json_object_get(got, "job_rule")));
	assert_true(json_is_false(json_object_get(got, "job_applies")));
	json_decref(got);
	got = explain("none", file, NULL);
	assert_true(json_is_null(json_object_get(got, "job_applies")));
}

static void test_job(void **state)
{
	static const char job_text[] =
		"{\"kind\":\"Job\",\"spec\":{\"backoffLimit\":2,\"podFailurePolicy\":{\"rules\":["
		"{\"action\":\"Ignore\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\"}]},"
		"{\"action\":\"FailJob\",\"onExitCodes\":{\"containerName\":\"setup\","
		"\"operator\":\"In\",\"values\":[3]}}]}},\"status\":{\"failed\":1}}";
	_cleanup_(arena_free) struct arena arena = {};
	json_auto_t *file = NULL, *job_json = NULL, *got = NULL;
	struct podread_error error;
	struct jobpolicy job;
	const json_t *rule;

	assert_int_equal(podread_parse(job_text, strlen(job_text), &job_json, &error), 0);
	assert_int_equal(podread_job(job_json, &arena, &job, &error), 0);
	assert_int_equal(job.backoff_limit, 2);
	assert_int_equal(job.failed, 1);
	assert_string_equal(job.rules[0].conditions[0].status, "True");
	file = load("hand-init-failed.json");
	got = explain("job", file, &job);
	assert_true(json_is_true(json_object_get(got, "job_applies")));
	rule = json_object_get(got, "job_rule");
	assert_int_equal(json_integer_value(json_object_get(rule, "index")), 1);
	assert_string_equal(json_string_value(json_object_get(rule, "action")), "FailJob");
	assert_string_equal(json_string_value(json_object_get(rule, "container")), "setup");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(got, "next"), "action")),
		"fails-job");
}

static void test_job_names_the_member(void **state)
{
	static const struct {
		const char *text, *member, *problem;
	} want[] = {
		{"{\"kind\":\"Pod\"}", "kind", "is not Job"},
		{"{\"kind\":\"Job\",\"apiVersion\":\"batch.volcano.sh/v1alpha1\"}", "apiVersion",
		 "is not of the group batch"},
		{"{\"kind\":\"List\",\"items\":[]}", "items", "does not hold one Job alone"},
		{"{\"kind\":\"List\",\"items\":[{\"kind\":\"Pod\"}]}", "items[0].kind",
		 "is not Job"},
		{"{\"kind\":\"JobList\",\"items\":[{\"metadata\":{\"name\":1}}]}",
		 "items[0].metadata.name", "is not a string"},
		{"{\"kind\":\"Job\",\"spec\":{\"backoffLimit\":-1}}", "spec.backoffLimit",
		 "is out of range"},
		{"{\"kind\":\"Job\",\"status\":{\"failed\":\"1\"}}", "status.failed",
		 "is not a whole number"},
		{"{\"kind\":\"Job\",\"spec\":{\"podFailurePolicy\":{\"rules\":[{}]}}}",
		 "spec.podFailurePolicy.rules[0].action",
		 "is none of Count, FailJob, FailIndex, Ignore"},
		{"{\"kind\":\"Job\",\"spec\":{\"podFailurePolicy\":{\"rules\":[{\"action\":"
		 "\"Count\",\"onExitCodes\":{}}]}}}",
		 "spec.podFailurePolicy.rules[0].onExitCodes.operator", "is none of In, NotIn"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		json_auto_t *json = json_loads(want[i].text, 0, NULL);
		struct podread_error error = {.problem = "none"};
		struct jobpolicy job;

		assert_true(podread_job(json, &arena, &job, &error) < 0);
		if (strcmp(error.member, want[i].member) != 0 ||
		    strcmp(error.problem, want[i].problem) != 0)
			fail_msg("%s: '%s' %s", want[i].text, error.member, error.problem);
	}
}

static void test_table(void **state)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"\\u001b[31mred\"},\"spec\":{\"nodeName\":\"n\","
		"\"containers\":[{\"name\":\"a-name-that-is-far-too-long-for-its-column\"}]},"
		"\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":"
		"\"a-name-that-is-far-too-long-for-its-column\",\"state\":{\"waiting\":{\"reason\":"
		"\"\\u202eevil\\n\"}},\"lastState\":{\"terminated\":{\"exitCode\":-2147483648}}}]}}";
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {}, narrow = {};
	json_auto_t *json = NULL;
	struct podread_error error;
	struct podobj_pod pod;
	struct explain_in in = {.minor = 36, .pod = &pod, .now_wall_ns = NOW};
	struct explain e;

	assert_int_equal(podread_parse(text, strlen(text), &json, &error), 0);
	assert_int_equal(podread_pod(json, &arena, &pod, &error), 0);
	assert_int_equal(explain_pod(&in, &arena, &e), 0);
	assert_int_equal(explain_table(&out, &e, &(struct grid_view){.width = 120}), 0);
	assert_non_null(strstr(buf_str(&out), "\\x1b[31mred"));
	assert_non_null(strstr(buf_str(&out), "\na-name-that-is-far"));
	term_check(&out, 120);
	assert_int_equal(explain_table(&narrow, &e, &(struct grid_view){.width = 80}), 0);
	term_check(&narrow, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("pods of a real kubelet come out as it had them, those by hand as they are "
		      "to",
		      test_pods),
		CLAIM("of each rule the reason that holds is given", test_words),
		CLAIM("each note says what ends what it is about", test_notes),
		CLAIM("a Job's rule is matched and named", test_job),
		CLAIM("a Job alone in a list is taken, and said not to be another pod's",
		      test_job_of_others),
		CLAIM("what is wrong with a Job is named", test_job_names_the_member),
		CLAIM("a table fits 120 and 80 columns, and does no harm to a terminal",
		      test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
