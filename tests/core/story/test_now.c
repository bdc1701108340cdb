// SPDX-License-Identifier: Apache-2.0
/* Claims about the stories of what is not over: a stop that is under way, and what one would do. */
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/stop/advice.h"
#include "core/story/part.h"
#include "core/tree/tree.h"
#include "lib/claim.h"

#define MS	 UINT64_C(1000000)
#define S	 (1000 * MS)
#define ASKED_NS (100 * S)
#define PROC(p, n, name)                                  \
	{                                                 \
		.pid = (p), .ns_pid = (n), .comm = (name) \
	}
#define APP PROC(4201, 1, "app")

/* --- a stop that is under way ------------------------------------------------------------------ */

#define SENT(n, at)                                                                 \
	{                                                                           \
		.known = true, .number = (n), .at_ns = ASKED_NS + (at), .sender = { \
			.kind = SENDER_RUNTIME,                                     \
			.process = PROC(700, 700, "runc")                           \
		}                                                                   \
	}
#define GRACE(from_, s)                      \
	{                                    \
		.from = (from_), .ns = (s)*S \
	}

static void a_stop_that_is_under_way_says_how_it_stands(void **state)
{
	static const struct {
		struct record_stop stop;
		uint64_t after_ns;
		const char *want;
	} rows[] = {
		{{.process = APP,
		  .stop_signal = SENT(SIGTERM, 0),
		  .deliver_ns = ASKED_NS + MS,
		  .grace = GRACE(GRACE_SPEC, 30)},
		 6 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 6.00s ago; it took that after 1.00ms and "
		 "has not ended. 20% of its grace period of 30.0s is used: 24.0s is left."},
		{{.process = APP,
		  .stop_signal = SENT(SIGTERM, 0),
		  .reason = UNHEARD_SHELL,
		  .grace = GRACE(GRACE_ASSUMED, 10)},
		 12 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 12.0s ago; app[1] is a shell that never "
		 "heard SIGTERM and passes nothing on. Its assumed grace period of 10.0s was over 2.00s "
		 "ago."},
		{{.process = APP,
		  .stop_signal = {.known = true,
				  .number = SIGTERM,
				  .at_ns = ASKED_NS,
				  .sender = {SENDER_HOST, PROC(711, 711, "bash")}}},
		 S,
		 "bash[711] (on the host) sent SIGTERM to app[1] 1.00s ago; that it took it was not seen. "
		 "It has no grace period, as no manager asked."},
		{{.process = APP, .stop_signal = SENT(SIGTERM, 0), .grace = {.from = GRACE_HIDDEN}},
		 S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 1.00s ago; that it took it was not seen. "
		 "How long its grace period is, is not known."},
		{{.process = APP,
		  .stop_signal = SENT(SIGTERM, 0),
		  .deaf = true,
		  .reason = UNHEARD_NO_HANDLER,
		  .kill_signal = SENT(SIGKILL, 2 * S),
		  .grace = GRACE(GRACE_SPEC, 2),
		  .held_by = {.process = PROC(4210, 9, "agent")}},
		 5 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 5.00s ago; app[1] has no handler for "
		 "SIGTERM and never heard it. Its grace period of 2.00s was over 3.00s ago. runc[700] "
		 "(the runtime) sent SIGKILL to app[1] 3.00s ago, and it has not ended. It waits for "
		 "agent[9]."},
		{{.process = APP,
		  .container = {.known = true, .runtime = CGPATH_RT_DOCKER},
		  .stop_signal = SENT(SIGTERM, 0),
		  .deliver_ns = ASKED_NS + MS,
		  .grace = GRACE(GRACE_RUNTIME, 10)},
		 2 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 2.00s ago; it took that after 1.00ms and "
		 "has not ended. 20% of its grace period of 10.0s is used: 8.00s is left, unless the stop "
		 "was given another one (docker stop -t)."},
		{{.process = APP,
		  .container = {.known = true, .runtime = CGPATH_RT_PODMAN},
		  .stop_signal = SENT(SIGTERM, 0),
		  .deliver_ns = ASKED_NS + MS,
		  .grace = GRACE(GRACE_RUNTIME, 10)},
		 12 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 12.0s ago; it took that after 1.00ms and "
		 "has not ended. Its grace period of 10.0s was over 2.00s ago, unless the stop was given "
		 "another one (podman stop -t)."},
		{{.process = APP,
		  .container = {.known = true, .runtime = CGPATH_RT_PODMAN},
		  .stop_signal = SENT(SIGTERM, 0),
		  .deliver_ns = ASKED_NS + MS,
		  .grace = GRACE(GRACE_UNIT, 10)},
		 12 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 12.0s ago; it took that after 1.00ms and "
		 "has not ended. Its grace period of 10.0s was over 2.00s ago."},
		{{.process = APP,
		  .pod = {.known = true},
		  .container = {.known = true, .runtime = CGPATH_RT_CONTAINERD},
		  .stop_signal = SENT(SIGTERM, 0),
		  .deliver_ns = ASKED_NS + MS,
		  .grace = GRACE(GRACE_ASSUMED, 10)},
		 12 * S,
		 "runc[700] (the runtime) sent SIGTERM to app[1] 12.0s ago; it took that after 1.00ms and "
		 "has not ended. Its assumed grace period of 10.0s was over 2.00s ago."},
		{{.process = APP, .kill_signal = SENT(SIGKILL, 0)},
		 S,
		 "runc[700] (the runtime) sent SIGKILL to app[1] 1.00s ago, and it has not ended."},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};

		story_add_stopping(&out, &rows[i].stop, ASKED_NS + rows[i].after_ns);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

static void a_signal_has_its_sentence(void **state)
{
	struct record_signal signal = {.number = 15,
				       .target = APP,
				       .sender = {.kind = SENDER_RUNTIME,
						  .process = PROC(700, 700, "runc")}};
	_cleanup_(buf_free) struct buf out = {};

	story_add_signal(&out, &signal);
	assert_string_equal(buf_str(&out),
			    "runc[700] (the runtime) sent SIGTERM to app[1] (delivered).");
	buf_reset(&out);
	signal.reason = UNHEARD_SHELL;
	story_add_signal(&out, &signal);
	assert_string_equal(
		buf_str(&out),
		"runc[700] (the runtime) sent SIGTERM to app[1], which is a shell that never "
		"heard SIGTERM and passes nothing on.");
}

/* --- what a stop would do ---------------------------------------------------------------------- */

#define MAX 20

struct bench {
	struct tree_process list[MAX];
	struct tree tree;
	struct audit_record look;
};

static void open_bench(struct bench *b, enum audit_verdict verdict, enum audit_reason reason)
{
	*b = (struct bench){
		.tree = {.n = 2, .signal = SIGTERM, .shielded = true},
		.look = {.seen = true,
			 .process = PROC(4300, 1, "sh"),
			 .has_app = true,
			 .app = PROC(4309, 9, "node"),
			 .facts = {.signal = SIGTERM, .shielded = true},
			 .audit = {verdict, reason, 0}},
	};
	for (size_t i = 0; i < MAX; i++)
		b->list[i] = (struct tree_process){
			.process = PROC(4300 + (uint32_t)i, 1 + (uint32_t)i, i ? "node" : "sh"),
			.parent = i ? 0 : TREE_NONE,
			.fate = i ? TREE_RECEIVES : TREE_IGNORES,
			.reason = i ? TREE_HANDLER : TREE_NO_HANDLER,
			.signal = SIGTERM,
			.from = TREE_NONE,
			.by = TREE_NONE,
		};
	b->tree.list = b->list;
	b->look.tree = &b->tree;
}

static const char *sentence(struct buf *out, const struct bench *b, bool daemon)
{
	buf_reset(out);
	story_add_running(out, &b->look, daemon);
	return buf_str(out);
}

static void what_a_stop_would_do_is_a_sentence(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct bench b;

	open_bench(&b, AUDIT_HEARS, AUDIT_HANDLER);
	assert_string_equal(sentence(&out, &b, true),
			    "It would act on SIGTERM: sh[1] has a handler for SIGTERM.");
	b.look.audit.warnings = 1u << AUDIT_SHELL_WAITS;
	assert_memory_equal(
		sentence(&out, &b, true),
		"SIGTERM may not end it: sh[1] does not pass SIGTERM on to node[9]: ", 65);
	open_bench(&b, AUDIT_DEAF, AUDIT_SHELL);
	assert_string_equal(
		sentence(&out, &b, true),
		"SIGTERM would not end it: sh[1] is PID 1 and passes nothing on: node[9] "
		"never gets SIGTERM. It would be killed when its grace period is over.");
	b.look.grace = (struct grace){.from = GRACE_SPEC, .ns = 30 * S};
	assert_non_null(strstr(sentence(&out, &b, true), "after its grace period of 30.0s."));
	open_bench(&b, AUDIT_DIES, AUDIT_DEFAULT);
	b.look.audit.warnings = 1u << AUDIT_CHILD_UNSIGNALLED;
	assert_string_equal(
		sentence(&out, &b, true),
		"SIGTERM ends sh[1] at once, as no handler for it runs; SIGTERM ends sh[1] at "
		"once, and node[9] gets only the SIGKILL that follows.");
	open_bench(&b, AUDIT_UNKNOWN, AUDIT_ACCESS);
	assert_string_equal(
		sentence(&out, &b, true),
		"What SIGTERM would do is not known: this user may not look into sh[1].");
}

static void what_one_look_cannot_show_is_named(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct bench b;

	open_bench(&b, AUDIT_HEARS, AUDIT_HANDLER);
	assert_non_null(
		strstr(sentence(&out, &b, false),
		       ". Whether it is being stopped already is not known, as no graced run "
		       "answers."));
	b.look.audit.warnings = 1u << AUDIT_PENDING;
	assert_non_null(
		strstr(sentence(&out, &b, false),
		       ". SIGTERM was sent to it and no thread has taken it: by whom, when, and "
		       "how much of its grace period is used is not known, as no graced run "
		       "answers."));
	assert_non_null(strstr(sentence(&out, &b, true), "as graced run has not seen that."));
}

static void of_many_processes_those_that_a_stop_hurts_are_listed(void **state)
{
	size_t list[STORY_LINES], more;
	struct bench b;

	open_bench(&b, AUDIT_DEAF, AUDIT_SHELL);
	assert_int_equal(story_members(&b.look, 0, list, &more), 2);
	assert_int_equal(more, 0);
	b.tree.n = MAX;
	b.tree.others = 3;
	b.list[17].fate = TREE_CUT;
	b.list[18].fate = TREE_UNKNOWN;
	assert_int_equal(story_members(&b.look, b.list[15].process.pid, list, &more), STORY_LINES);
	assert_int_equal(more, MAX + 3 - STORY_LINES);
	assert_int_equal(list[0], 0);
	assert_int_equal(list[STORY_LINES - 3], 15);
	assert_int_equal(list[STORY_LINES - 2], 17);
	assert_int_equal(list[STORY_LINES - 1], 18);
	b.look.tree = NULL;
	assert_int_equal(story_members(&b.look, 0, list, &more), 0);
}

static void each_trouble_of_an_audit_is_advised_on(void **state)
{
	const char *text, *page;
	struct bench b;

	open_bench(&b, AUDIT_HEARS, AUDIT_HANDLER);
	assert_false(story_remedy_of_audit(&b.look, 0, &text, &page));
	for (unsigned int w = 0; w < AUDIT_WARNING_COUNT; w++) {
		b.look.audit.warnings = 1u << w;
		assert_true(story_remedy_of_audit(&b.look, 0, &text, &page));
		assert_string_equal(text, advice_remedy(AUDIT_REASON_COUNT + w));
		assert_false(story_remedy_of_audit(&b.look, 1, &text, &page));
	}
	b.look.audit = (struct audit){AUDIT_DEAF, AUDIT_SHELL, 0};
	assert_true(story_remedy_of_audit(&b.look, 0, &text, &page));
	assert_string_equal(page, "exec-in-a-script");
}

static void a_stop_that_goes_on_names_who_is_left(void **state)
{
	const struct record record = {
		.type = RECORD_STOP,
		.at_ns = ASKED_NS + S,
		.stop = {.id = "b/c/1", .process = APP, .stop_signal = SENT(SIGTERM, 0)},
	};
	struct story story;
	struct bench b;

	open_bench(&b, AUDIT_HEARS, AUDIT_HANDLER);
	b.tree.n = 14;
	b.tree.others = 1;
	story_of_stopping(&story, &record, &b.look);
	assert_int_equal(story_error(&story), 0);
	assert_int_equal(story.n_lines, 2);
	assert_int_equal(story.lines[1].at_ns, 0);
	assert_string_equal(
		buf_str(&story.lines[1].text),
		"still there: sh[1], node[2], node[3], node[4], node[5], node[6], node[7], "
		"node[8], node[9], node[10], node[11], node[12] and 3 more");
	assert_memory_equal(story.remedies[0].text, "See what it waits for", 21);
	story_done(&story);
}

static void a_stop_of_one_that_is_held_up_says_to_continue_it(void **state)
{
	struct record record = {
		.type = RECORD_STOP,
		.at_ns = ASKED_NS + S,
		.stop = {.process = APP,
			 .stop_signal = SENT(SIGTERM, 0),
			 .requests = {{.number = SIGTERM,
				       .at_ns = ASKED_NS,
				       .reason = UNHEARD_STOPPED}}},
	};

	const struct wait frozen = {.what = WAIT_FOR_THAW};

	for (int taken = 0; taken < 3; taken++) {
		struct story story;

		record.stop.requests[0].taken_ns = taken == 1 ? ASKED_NS + MS : 0;
		record.stop.waited_for = &frozen;
		record.stop.n_waited_for = taken == 2;
		story_of_stopping(&story, &record, NULL);
		assert_non_null(
			strstr(buf_str(&story.sentence),
			       taken == 2 ? "; app[1] was frozen when SIGTERM came."
			       : taken	  ? "; it took that after 1.00ms and has not ended."
					  : "; app[1] was frozen or stopped when SIGTERM came."));
		assert_int_equal(strstr(story.remedies[0].text, "continue it") != NULL, !taken);
		story_done(&story);
	}
}

static void a_stop_that_nobody_will_end_has_no_advice_about_a_kill(void **state)
{
	struct record record = {
		.type = RECORD_STOP,
		.at_ns = ASKED_NS + S,
		.stop = {.process = APP, .stop_signal = SENT(SIGTERM, 0)},
	};
	struct story story;

	record.stop.stop_signal.sender.kind = SENDER_HOST;
	record.stop.stop_signal.sender.process.comm = "bash";
	story_of_stopping(&story, &record, NULL);
	assert_non_null(strstr(buf_str(&story.sentence), "no grace period, as no manager asked"));
	assert_int_equal(story.n_remedies, 0);
	story_done(&story);
}

static void a_handler_that_the_look_finds_came_after_the_signal(void **state)
{
	const struct record record = {
		.type = RECORD_STOP,
		.at_ns = ASKED_NS + S,
		.stop = {.process = APP,
			 .reason = UNHEARD_NO_HANDLER,
			 .stop_signal = SENT(SIGTERM, 0),
			 .requests = {{.number = SIGTERM,
				       .at_ns = ASKED_NS,
				       .reason = UNHEARD_NO_HANDLER}}},
	};
	struct bench b;

	open_bench(&b, AUDIT_HEARS, AUDIT_HANDLER);
	b.look.process = record.stop.process;
	for (int caught = 0; caught < 2; caught++) {
		struct story story;

		b.look.audit.reason = caught ? AUDIT_HANDLER : AUDIT_SHIELD;
		story_of_stopping(&story, &record, &b.look);
		assert_non_null(strstr(buf_str(&story.sentence),
				       caught ? "before it had installed its handler"
					      : "has no handler for SIGTERM"));
		assert_non_null(strstr(buf_str(&story.lines[0].text),
				       caught ? "it had not installed its handler yet"
					      : "it has no handler"));
		story_done(&story);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop that is under way says who asked, what became of it, and what is left",
		      a_stop_that_is_under_way_says_how_it_stands),
		CLAIM("a signal has its sentence", a_signal_has_its_sentence),
		CLAIM("what a stop would do is a sentence", what_a_stop_would_do_is_a_sentence),
		CLAIM("what one look cannot show is named", what_one_look_cannot_show_is_named),
		CLAIM("of many processes those that a stop hurts are listed, and the one of interest",
		      of_many_processes_those_that_a_stop_hurts_are_listed),
		CLAIM("each trouble of an audit is advised on",
		      each_trouble_of_an_audit_is_advised_on),
		CLAIM("a stop of one that was frozen or stopped says so, and to continue it, until it "
		      "takes the signal",
		      a_stop_of_one_that_is_held_up_says_to_continue_it),
		CLAIM("a stop that nobody will end has no advice about a kill",
		      a_stop_that_nobody_will_end_has_no_advice_about_a_kill),
		CLAIM("a handler that the look finds came after the signal",
		      a_handler_that_the_look_finds_came_after_the_signal),
		CLAIM("a stop that goes on names who is left",
		      a_stop_that_goes_on_names_who_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
