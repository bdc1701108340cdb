// SPDX-License-Identifier: Apache-2.0
/* Claims about the story of a stop as JSON. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/why.h"

static int add_json(struct buf *out, const struct record *record)
{
	struct story story;
	int r;

	story_of_stop(&story, record);
	r = why_json(out, &story);
	story_done(&story);
	return r;
}

static void a_story_is_one_object_on_one_line(void **state)
{
	const struct record record = {
		.type = RECORD_STOP,
		.wall_ns = 1795334400000000000,
		.stop = {.id = "b/c/1",
			 .process = {.pid = 4200, .ns_pid = 1, .comm = "a\"\n"},
			 .outcome = OUTCOME_KILLED,
			 .cause = CAUSE_GRACE_EXPIRED,
			 .deaf = true,
			 .reason = UNHEARD_RERAISED,
			 .gaps = 1u << GAP_EVENTS_LOST,
			 .processes_gaps = 1u << LIST_GAP_MISSED | 1u << LIST_GAP_MORE,
			 .stop_signal = {.known = true, .number = 15, .at_ns = 5000000000},
			 .kill_signal = {.known = true, .number = 9, .at_ns = 7000000000},
			 .exit = {.known = true, .status = 9}},
	};
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(add_json(&out, &record), 0);
	assert_string_equal(
		buf_str(&out),
		"{\"type\":\"why\",\"schema\":1,\"time\":\"2026-11-22T08:00:00.000000000Z\",\"state\":\"ended\",\"id\":\"b/c/1\",\"outcome\":\"killed\","
		"\"cause\":\"grace-expired\",\"reason\":null,\"pod\":null,\"container\":null,\"sentence\":\"\\\"a\\\\\\\"\\\\x0a\\\"[1] took SIGTERM and raised it "
		"again, which does not end PID 1; the kernel killed it 2.00s later.\",\"evidence\":{\"complete\":false,\"gaps\":[\"events-lost\"]},"
		"\"processes_gaps\":[\"records-missed\",\"too-many\"],\"events\":["
		"{\"at_boot_ns\":5000000000,\"text\":\"the kernel sent SIGTERM to \\\"a\\\\\\\"\\\\x0a\\\"[1]\"},"
		"{\"at_boot_ns\":7000000000,\"text\":\"the kernel killed \\\"a\\\\\\\"\\\\x0a\\\"[1]\"}],"
		"\"events_other\":0,\"remedies\":[{\"text\":\"Have its handler end the program (exit) "
		"in place of raising the signal again, or start it behind an init that passes signals on: "
		"tini in the image, or outside Kubernetes docker run --init, init: true in compose.\","
		"\"page\":\"a-handler-in-the-program\"}]}\n");
}

static void what_went_well_has_empty_lists(void **state)
{
	const struct record record = {
		.type = RECORD_STOP,
		.stop = {.id = "b/c/2",
			 .outcome = OUTCOME_COMPLETED,
			 .cause = CAUSE_SELF,
			 .exit = {.known = true}},
	};
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(add_json(&out, &record), 0);
	assert_string_equal(
		buf_str(&out),
		"{\"type\":\"why\",\"schema\":1,\"time\":null,\"state\":\"ended\",\"id\":\"b/c/2\",\"outcome\":\"completed\","
		"\"cause\":\"self\",\"reason\":null,\"pod\":null,\"container\":null,\"sentence\":\"the init exited with code 0 by itself; no "
		"request to stop was seen.\",\"evidence\":{\"complete\":true,\"gaps\":[]},\"processes_gaps\":[],"
		"\"events\":[],\"events_other\":0,"
		"\"remedies\":[]}\n");
}

static void what_goes_on_has_no_evidence_yet(void **state)
{
	static const struct record_pod pod;
	static const struct record_container container;
	const struct story story = {.state = STORY_STOPPING, .pod = &pod, .container = &container};
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(why_json(&out, &story), 0);
	assert_non_null(strstr(buf_str(&out), "\"evidence\":null,\"processes_gaps\":null,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a story is one object on one line", a_story_is_one_object_on_one_line),
		CLAIM("without events and remedies the lists are empty",
		      what_went_well_has_empty_lists),
		CLAIM("what goes on has no evidence yet, neither whole nor with gaps",
		      what_goes_on_has_no_evidence_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
