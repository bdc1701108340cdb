// SPDX-License-Identifier: Apache-2.0
/* Claims about core/story/events: requests that came while init was held up. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "core/story/part.h"
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a request that was taken once it went on, or that it died of, was not in vain",
		      what_was_heard_later_was_not_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
