// SPDX-License-Identifier: Apache-2.0
/* Claims about what graced try writes: names of any content in each form, and the sums of JUnit's. */
#include <string.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/trial/trial.h"

#define HOSTILE "a<b>&\"'\033[31m\n::error::,%"

static struct record a_record(void)
{
	return (struct record){
		.type = RECORD_STOP,
		.stop = {.container = {.known = true, .name = HOSTILE},
			 .process = {.pid = 4, .ns_pid = 1, .comm = HOSTILE},
			 .outcome = OUTCOME_KILLED,
			 .cause = CAUSE_GRACE_EXPIRED,
			 .stop_signal = {.known = true, .number = 15, .at_ns = 1},
			 .exit = {.known = true, .status = 9, .at_ns = 2000000001},
			 .latency_known = true,
			 .latency_ns = 2000000000},
	};
}

static void write_both(enum trial_format format, struct buf *out)
{
	struct record record = a_record();
	struct trial_case bad = {.name = HOSTILE,
				 .record = &record,
				 .facts = {.stop = &record.stop, .within_ns = 1000000000}};
	const struct trial_case vain = {
		.name = "x", .failure = "It could not be tried.", .trial.verdict = TRIAL_UNKNOWN};
	struct trial_report report = {.format = format};

	bad.trial = trial_judge(&bad.facts);
	trial_report_add(&report, &bad);
	trial_report_add(&report, &vain);
	assert_int_equal(trial_report_write(&report, out), 0);
	buf_free(&report.body);
	assert_null(strchr(buf_str(out), '\033'));
}

static unsigned int count_lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void the_verdict_is_the_first_line(void **state)
{
	static const char want[] =
		"a<b>&\"'\\x1b[31m\\x0a::error::,%: It does not stop well: it was killed; it took "
		"2.00s, longer than 1.00s.\n";
	_cleanup_(buf_free) struct buf out = {};

	write_both(TRIAL_TEXT, &out);
	assert_memory_equal(buf_str(&out), want, strlen(want));
	assert_non_null(strstr(buf_str(&out), "\nx: It could not be tried.\n"));
}

static void json_is_an_object_a_line(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	json_t *bad, *vain;
	char *second;

	write_both(TRIAL_JSON, &out);
	assert_int_equal(count_lines(buf_str(&out)), 2);
	second = strchr(buf_str(&out), '\n');
	*second = '\0';
	bad = json_loads(buf_str(&out), 0, NULL);
	vain = json_loads(second + 1, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(bad, "name")), HOSTILE);
	assert_string_equal(json_string_value(json_object_get(bad, "verdict")), "not-well");
	assert_int_equal(json_array_size(json_object_get(bad, "reasons")), 2);
	assert_int_equal(json_array_size(json_object_get(bad, "remedies")), 1);
	assert_true(json_is_object(json_object_get(bad, "why")));
	assert_string_equal(json_string_value(json_object_get(vain, "verdict")), "unknown");
	assert_true(json_is_null(json_object_get(vain, "why")));
	json_decref(bad);
	json_decref(vain);
}

static void junit_counts_what_failed_and_what_could_not_be_tried(void **state)
{
	static const char want[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"graced "
		"try\" tests=\"2\" failures=\"1\" errors=\"1\" time=\"2.000\">\n<testcase "
		"classname=\"graced.try\" name=\"a&lt;b&gt;&amp;&quot;&#39;\\x1b[31m\\x0a::error::,%\" "
		"time=\"2.000\">\n<failure message=\"It does not stop well: ";
	_cleanup_(buf_free) struct buf out = {};

	write_both(TRIAL_JUNIT, &out);
	assert_memory_equal(buf_str(&out), want, strlen(want));
	assert_non_null(strstr(buf_str(&out), "<error message=\"It could not be tried.\""));
	assert_null(strstr(buf_str(&out), "a<b"));
}

static void an_annotation_is_one_line_that_no_name_ends(void **state)
{
	static const char want[] =
		"::error title=graced try a<b>&\"'\\x1b[31m\\x0a%3A%3Aerror%3A%3A%2C%25::a<b>&\"'\\x1b["
		"31m\\x0a::error::,%25: It does not stop well";
	_cleanup_(buf_free) struct buf out = {};

	write_both(TRIAL_GITHUB, &out);
	assert_memory_equal(buf_str(&out), want, strlen(want));
	assert_int_equal(count_lines(buf_str(&out)), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_is_the_first_line),
		cmocka_unit_test(json_is_an_object_a_line),
		cmocka_unit_test(junit_counts_what_failed_and_what_could_not_be_tried),
		cmocka_unit_test(an_annotation_is_one_line_that_no_name_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
