// SPDX-License-Identifier: Apache-2.0
/* Claims about core/story: requests that came while init was held up, signals that were none, and
 * processes that have exec'd since. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/story/part.h"
#include "core/story/phrase.h"
#include "core/story/story.h"
#include "lib/claim.h"

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

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

static void a_sender_in_the_container_itself_is_said_to_be_there(void **state)
{
	static const char *const want[] = {
		"kill[812] (in a pod) sent SIGTERM to app[1]",
		"kill[812 on the host] (in its container) sent SIGTERM to app[1]"};
	const struct record_stop killed = {
		.process = {.pid = 4201, .ns_pid = 1, .comm = "app"},
		.container.cgroup = "/box",
		.outcome = OUTCOME_KILLED,
		.cause = CAUSE_SAME_CONTAINER,
		.exit = {.known = true, .status = 9},
		.kill_signal = {.known = true,
				.number = 9,
				.sender = {.kind = SENDER_CONTAINER,
					   .process = {.pid = 812, .comm = "kill"},
					   .cgroup = "/box"}},
	};
	struct story_event event = {.what = STORY_ASKED};
	_cleanup_(buf_free) struct buf why = {};

	story_add_why(&why, &killed);
	assert_string_equal(buf_str(&why),
			    "app[1] was killed by kill[812 on the host] (in its container).");
	for (int inside = 0; inside < 2; inside++) {
		const struct record_stop stop = {
			.process = {.pid = 4201, .ns_pid = 1, .comm = "app"},
			.requests = {{.number = 15,
				      .sender = SENDER_POD,
				      .process = {.pid = 812, .comm = "kill"},
				      .inside = inside}},
		};
		_cleanup_(buf_free) struct buf out = {};

		story_add_event(&out, &stop, &event);
		assert_string_equal(buf_str(&out), want[inside]);
	}
}

#define BESIDE(n, at, ...)                                                            \
	{                                                                             \
		.number = (n), .at_ns = (at), .sender = SENDER_RUNTIME,               \
		.process = {.pid = 3508, .ns_pid = 3508, .comm = "runc"}, __VA_ARGS__ \
	}
/* It ends at two seconds. */
#define ENDED(outcome_, cause_, code)                                                        \
	.process = {.pid = 4201, .ns_pid = 1, .comm = "app"}, .outcome = OUTCOME_##outcome_, \
	.cause = CAUSE_##cause_, .exit = {.known = true, .status = (code) << 8, .at_ns = 2 * S}

static void assert_why(const struct record_stop *stop, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	story_add_why(&out, stop);
	assert_string_equal(buf_str(&out), want);
}

static void an_exit_after_a_signal_is_not_by_itself(void **state)
{
	static const struct {
		struct record_stop stop;
		const char *want;
	} rows[] = {
		{{ENDED(COMPLETED, SELF, 0), .requests = {BESIDE(15, S, .taken_ns = 1920 * MS)}},
		 "app[1] exited with code 0, 80.0ms after it took SIGTERM from runc[3508] (the runtime)."},
		{{ENDED(FAILED, SELF, 130), .requests = {BESIDE(1, S), BESIDE(2, 1900 * MS)}},
		 "app[1] exited with code 130, 100ms after it was sent SIGINT from runc[3508] (the "
		 "runtime)."},
		/* What it took is likelier than what came later. */
		{{ENDED(FAILED, SELF, 130),
		  .requests = {BESIDE(2, S, .taken_ns = S), BESIDE(10, 1900 * MS)}},
		 "app[1] exited with code 130, 1.00s after it took SIGINT from runc[3508] (the runtime)."},
		{{ENDED(FAILED, SELF, 1), .requests = {BESIDE(15, S, .result = RESULT_IGNORED)}},
		 "app[1] exited with code 1 by itself; no request to stop was seen."},
		{{ENDED(FAILED, SUPERVISOR, 124), .requests = {BESIDE(1, S)}},
		 "app[1] exited with code 124, as timeout does when its time is over."},
		{{ENDED(TERMINATED, HOST, 130),
		  .via = {{.pid = 4207, .ns_pid = 7, .comm = "sleep"}, VIA_PASSED_ON},
		  .requests = {BESIDE(2, 1900 * MS)}},
		 "sleep[7], child of app[1], died of SIGINT, sent by a process of the host. app[1] passed "
		 "130 on. That was 100ms after it was sent SIGINT from runc[3508] (the runtime)."},
		/* It did not pass that one on: the child died of another. */
		{{ENDED(KILLED, HOST, 137),
		  .via = {{.pid = 4207, .ns_pid = 7, .comm = "sleep"}, VIA_PASSED_ON},
		  .requests = {BESIDE(1, 1900 * MS)}},
		 "sleep[7], child of app[1], was killed by a process of the host. app[1] passed 137 on."},
	};
	_cleanup_(buf_free) struct buf note = {};
	const char *text, *page;

	for (size_t i = 0; i < LEN(rows); i++)
		assert_why(&rows[i].stop, rows[i].want);
	story_add_note(&note, &rows[0].stop);
	story_add_note(&note, &rows[3].stop);
	assert_string_equal(buf_str(&note), "SIGTERM from runc[3508] (the runtime)");
	assert_true(story_remedy(&rows[1].stop, 0, &text, &page));
	assert_string_equal(text, "It may have ended by that signal, which was no request to stop: "
				  "see who sent it, and the program's own log.");
	assert_false(story_remedy(&rows[1].stop, 1, &text, &page));
}

static void what_was_passed_on_is_named(void **state)
{
	struct record_member list[] = {
		{.process = {.pid = 4201}},
		{.process = {.pid = 4202, .ns_pid = 2, .comm = "box"},
		 .asked = {.number = 2, .result = RESULT_IGNORED},
		 .disposition = DISPOSITION_DEFAULT},
	};
	struct record_stop stop = {
		ENDED(KILLED, GRACE_EXPIRED, 0),
		.reason = UNHEARD_CHILD_IGNORED,
		.stop_signal = {.known = true, .number = 15, .sender.kind = SENDER_KUBELET},
		.forward = {.count = 1,
			    .number = 2,
			    .result = RESULT_IGNORED,
			    .to = list[1].process},
	};

	assert_why(&stop,
		   "app[1] passed SIGINT on to its child, which ignores it; an unknown sender "
		   "killed it 2.00s later.");
	stop.processes = list;
	stop.n_processes = LEN(list);
	assert_why(&stop,
		   "app[1] passed SIGINT on to its child, which is PID 1 of a pid namespace of its "
		   "own and has no handler for it; an unknown sender killed it 2.00s later.");
	stop.reason = UNHEARD_NONE;
	assert_why(&stop,
		   "app[1] was sent SIGTERM, passed SIGINT to box[2], which has no handler for "
		   "it, and did not end; an unknown sender killed it 2.00s later.");
	/* Another one followed. */
	list[1].asked.result = RESULT_DELIVERED;
	assert_why(&stop, "app[1] was sent SIGTERM, passed SIGINT to box[2], and did not end; an "
			  "unknown sender killed it 2.00s later.");
}

/* What it is by now, and what it did to a process without passing anything on. */
static void an_init_is_named_as_it_was_when_it_was_asked(void **state)
{
	const struct record_stop exec = {
		ENDED(KILLED, GRACE_EXPIRED, 0),
		.stop_signal = {.known = true, .number = 15, .at_ns = S},
		.requests = {{.number = 15, .at_ns = S, .target_comm = "sh"}},
	};
	const struct record_stop kills = {
		ENDED(GRACEFUL, STOP_SIGNAL, 0),
		.stop_signal = {.known = true, .number = 15, .sender.kind = SENDER_KUBELET},
		.forward = {.count = 1, .number = 9, .to = {4202, 2, "job", 0}},
	};
	const struct record_stop reboots = {
		.process = {.pid = 4201, .ns_pid = 1, .comm = "app"},
		.exit = {.known = true, .status = 2, .at_ns = 2 * S},
		.kill_signal = {.known = true, .number = 9, .at_ns = 2 * S},
	};
	_cleanup_(buf_free) struct buf out = {};
	struct story_event events[STORY_LINES];
	size_t more;

	assert_why(&exec,
		   "sh[1] was sent SIGTERM and did not end; an unknown sender killed it 1.00s "
		   "later.");
	assert_why(&kills, "app[1] killed job[2], and ended after SIGTERM from the kubelet.");
	assert_int_equal(story_events(&reboots, events, &more), 1);
	story_add_event(&out, &reboots, events);
	assert_string_equal(buf_str(&out), "app[1] was ended by reboot(2)");
}

static void a_request_before_the_handler_has_its_remedy(void **state)
{
	static const struct record_stop stop = {
		ENDED(KILLED, GRACE_EXPIRED, 0),
		.reason = UNHEARD_BEFORE_HANDLER,
		.stop_signal = {.known = true, .number = 15, .sender.kind = SENDER_KUBELET},
	};
	const char *text, *page;

	assert_why(&stop, "app[1] was sent SIGTERM before it had installed its handler; an unknown "
			  "sender killed it 2.00s later.");
	assert_true(story_remedy(&stop, 0, &text, &page));
	assert_non_null(strstr(text, "--ready-log"));
	assert_false(story_remedy(&stop, 1, &text, &page));
}

static void a_name_does_not_write_the_sentence(void **state)
{
	static const struct {
		const char *name, *text;
	} table[] = {
		{"app", "app[7]"},
		{"(sd-pam)", "(sd-pam)[7]"},
		{"naïve", "naïve[7]"},
		{"npm start", "npm start[7]"},
		{"x[1], which", "\"x[1], which\"[7]"},
		{"a\" was \"b", "\"a\\\" was \\\"b\"[7]"},
		{"a\n,b", "\"a\\x0a,b\"[7]"},
		{"", "?[7]"},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(buf_free) struct buf out = {};

		phrase_add_process(&out, &(struct record_process){
						 .pid = 4201, .ns_pid = 7, .comm = table[i].name});
		assert_string_equal(buf_str(&out), table[i].text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a request that was taken once it went on, or that it died of, was not in vain",
		      what_was_heard_later_was_not_in_vain),
		cmocka_unit_test(each_process_has_the_name_that_it_had_then),
		CLAIM("a sender in the very container is said to be there",
		      a_sender_in_the_container_itself_is_said_to_be_there),
		CLAIM("an exit after a signal that is no request is not said to be by itself",
		      an_exit_after_a_signal_is_not_by_itself),
		CLAIM("of a signal that init passed on in vain, its own number is said, and whether it "
		      "is ignored or dropped",
		      what_was_passed_on_is_named),
		CLAIM("an init is named as it was when it was asked, and for what it did",
		      an_init_is_named_as_it_was_when_it_was_asked),
		CLAIM("one that came before the handler has its sentence and its remedy",
		      a_request_before_the_handler_has_its_remedy),
		CLAIM("a name that could be words of the sentence is in quotes",
		      a_name_does_not_write_the_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
