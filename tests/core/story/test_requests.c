// SPDX-License-Identifier: Apache-2.0
/* Claims about core/story/events: requests that came while init was held up, and processes that
 * have exec'd since. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/story/part.h"
#include "core/story/story.h"
#include "lib/claim.h"

#define S UINT64_C(1000000000)

#define REQUEST(n, at, taken)                                                                 \
	{                                                                                     \
		.number = (n), .at_ns = (at), .taken_ns = (taken), .reason = UNHEARD_STOPPED, \
		.sender = SENDER_KUBELET,                                                     \
	}

static void what_was_heard_later_was_not_in_vain(void **state)
{
	static const struct record_stop stop = {
		.process = {.pid = 4201, .ns_pid = 1, .comm = "app"},
		.outcome = OUTCOME_TERMINATED,
		.cause = CAUSE_STOP_SIGNAL,
		.exit = {.known = true, .status = 15, .at_ns = 9 * S},
		.requests = {REQUEST(2, S, 3 * S), REQUEST(15, 2 * S, 0), REQUEST(1, 3 * S, 0)},
	};
	static const char *const want[] = {
		"the kubelet sent SIGINT to app[1], which took it after 2.00s",
		"the kubelet sent SIGTERM to app[1]",
		"the kubelet sent SIGHUP to app[1], in vain: it was frozen or stopped",
	};
	struct story_event events[STORY_LINES];
	size_t more;

	assert_true(story_events(&stop, events, &more) >= LEN(want));
	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};

		story_add_event(&out, &stop, events + i);
		assert_string_equal(buf_str(&out), want[i]);
	}
}

static void each_process_has_the_name_that_it_had_then(void **state)
{
	static const struct record_process now = {.pid = 4201, .ns_pid = 1, .comm = "sleep"};
	static const struct record_member members[] = {
		{.process = {.pid = 4201, .ns_pid = 1, .comm = "sleep"}},
		{.process = {.pid = 4202, .ns_pid = 2, .comm = "app"},
		 .exit = {.known = true, .status = 15, .at_ns = 3 * S},
		 .asked = {.number = 15,
			   .at_ns = 2 * S,
			   .sender = SENDER_CONTAINER,
			   .process = {.pid = 4201, .ns_pid = 1, .comm = "bash"}},
		 .fatal = {.number = 15,
			   .at_ns = 2 * S,
			   .sender = SENDER_CONTAINER,
			   .process = {.pid = 4201, .ns_pid = 1, .comm = "bash"}}},
	};
	const struct record_stop stop = {
		.process = now,
		.outcome = OUTCOME_GRACEFUL,
		.cause = CAUSE_STOP_SIGNAL,
		.exit = {.known = true, .at_ns = 9 * S},
		.stop_signal = {.known = true, .number = 15, .at_ns = S},
		.requests = {{.number = 15,
			      .at_ns = S,
			      .taken_ns = 2 * S,
			      .target_comm = "sh",
			      .sender = SENDER_KUBELET}},
		.forward = {.count = 1, .number = 15, .to = members[1].process},
		.processes = members,
		.n_processes = 2,
	};
	static const char *const want[] = {
		"the kubelet sent SIGTERM to sh[1], which took it after 1.00s",
		"bash[1] sent SIGTERM to app[2]",
		"app[2] died of SIGTERM, sent by bash[1]",
		"sleep[1] exited with code 0",
	};
	struct story_event events[STORY_LINES];
	_cleanup_(buf_free) struct buf why = {};
	size_t more;

	assert_true(story_events(&stop, events, &more) >= LEN(want));
	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};

		story_add_event(&out, &stop, events + i);
		assert_string_equal(buf_str(&out), want[i]);
	}
	story_add_why(&why, &stop);
	assert_non_null(strstr(buf_str(&why), "bash[1] passed SIGTERM to app[2]"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a request that was taken once it went on, or that it died of, was not in vain",
		      what_was_heard_later_was_not_in_vain),
		cmocka_unit_test(each_process_has_the_name_that_it_had_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
