// SPDX-License-Identifier: Apache-2.0
// What a stop waited for, in words; and what to do about it.
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/story/part.h"
#include "lib/claim.h"

#define S 1000000000ull

static struct record_stop stop_with(const struct wait *list, size_t n)
{
	return (struct record_stop){
		.process = {.pid = 4201, .ns_pid = 1, .comm = "app"},
		.stop_signal = {.known = true, .number = SIGTERM, .at_ns = 100 * S},
		.kill_signal = {.known = true, .number = SIGKILL, .at_ns = 110 * S},
		.deliver_ns = 100 * S + 200000,
		.exit = {.known = true, .status = SIGKILL, .at_ns = 110 * S},
		.grace = {.ns = 10 * S, .from = GRACE_SPEC},
		.outcome = OUTCOME_KILLED,
		.cause = CAUSE_GRACE_EXPIRED,
		.waited_for = list,
		.n_waited_for = n,
	};
}

#define APP(kind) .what = WAIT_FOR_##kind, .pid = 4201, .ns_pid = 1, .comm = "app"

static void each_kind_of_wait_has_its_words(void **state)
{
	static const struct {
		struct wait wait;
		const char *want;
	} rows[] = {
		{{APP(CLIENTS), .count = 2, .port = 80},
		 "app[1] had 2 clients connected at port 80"},
		{{APP(CLIENTS), .count = 1}, "app[1] had 1 client connected"},
		{{APP(CHILD), .count = 3}, "app[1] had 3 children left"},
		{{APP(CHILD), .count = 1, .peer_pid = 77, .peer_comm = "node"},
		 "app[1] had a child left, node[77 on the host]"},
		{{APP(CHILD), .count = 1, .peer_pid = 77, .peer_comm = "app",
		  .wchan = "kernel_clone"},
		 "app[1] waited for its child to execute a program or end, app[77 on the host]"},
		{{APP(READER), .file = "pipe:[7]", .peer_pid = 88, .peer_comm = "conmon"},
		 "app[1] was blocked in a write to pipe:[7], which conmon[88 on the host] has open for reading"},
		{{APP(READER), .file = "pipe:[7]", .peer_pid = 4201, .peer_comm = "app"},
		 "app[1] was blocked in a write to pipe:[7], which it has open for reading"},
		{{APP(READER), .file = "/dev/pts/0\x1b["},
		 "app[1] was blocked in a write to /dev/pts/0\\x1b["},
		{{APP(LOCK), .file = "/data/pid"}, "app[1] waited for the lock of /data/pid"},
		{{APP(LOCK), .file = "/data/pid", .peer_pid = 88, .peer_comm = "node"},
		 "app[1] waited for the lock of /data/pid, which node[88 on the host] holds"},
		{{APP(IO), .wchan = "nfs_wait"},
		 "app[1] waited in the kernel for a file or a device (in nfs_wait)"},
		{{APP(KERNEL), .wchan = "kernel_clone"},
		 "app[1] waited in the kernel, uninterruptible (in kernel_clone)"},
		{{APP(TRACER), .peer_pid = 9},
		 "app[1] was stopped by its tracer, pid 9 on the host"},
		{{APP(CONT)}, "app[1] was stopped by a signal"},
		{{APP(HANDLER)}, "app[1] was still computing"},
		{{APP(TIME), .call = LOOK_CALL_POLL}, "app[1] slept in a poll"},
		{{APP(LOCK), .file = "/data/pid", .peer_pid = 4209, .peer_comm = "node"},
		 "app[1] waited for the lock of /data/pid, which node[9] holds"},
		{{.what = WAIT_FOR_TIME, .pid = 4209, .ns_pid = 9, .comm = "node"},
		 "node[9] slept"},
		{{.what = WAIT_FOR_TIME, .pid = 4210, .comm = "node"},
		 "node[4210 on the host] slept"},
		{{.what = WAIT_FOR_THAW}, "it was frozen"},
		{{APP(THAW)}, "app[1] was frozen"},
		{{.what = WAIT_FOR_CPU, .time_ns = 2 * S},
		 "its CPU limit had held it back for 2.00s"},
		{{.what = WAIT_FOR_MEMORY, .time_ns = 2 * S},
		 "it had stalled for memory for 2.00s"},
		{{.what = WAIT_FOR_IO, .time_ns = 2 * S}, "it had stalled for I/O for 2.00s"},
		{{.what = WAIT_FOR_FORK, .count = 3, .limit = 20},
		 "3 forks had failed at its limit of 20 processes"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct wait waits[] = {rows[i].wait,
					     {.what = WAIT_FOR_TIME, .pid = 4209, .ns_pid = 9}};
		struct record_stop stop = stop_with(waits, LEN(waits));
		_cleanup_(buf_free) struct buf out = {};

		story_add_wait(&out, &stop, &rows[i].wait);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

static void the_sentence_says_what_was_found(void **state)
{
	const struct wait waits[] = {
		{APP(CLIENTS), .count = 1, .port = 5432, .at_ns = 109 * S, .looks = 2}};
	struct record_stop stop = stop_with(waits, 1);
	_cleanup_(buf_free) struct buf out = {}, deaf = {};

	story_add_why(&out, &stop);
	assert_non_null(
		strstr(buf_str(&out),
		       ". 9.00s after SIGTERM app[1] had 1 client connected at port 5432."));
	stop.reason = UNHEARD_IGNORED;
	story_add_why(&deaf, &stop);
	assert_null(strstr(buf_str(&deaf), "client"));
}

static void a_story_has_a_line_for_each_of_three(void **state)
{
	struct wait waits[5] = {{APP(CLIENTS), .count = 1, .at_ns = 109 * S}};
	struct story_event events[STORY_LINES];
	size_t n, more, seen = 0;
	struct record_stop stop;

	for (size_t i = 1; i < LEN(waits); i++)
		waits[i] = (struct wait){APP(TIME), .at_ns = 109 * S};
	stop = stop_with(waits, LEN(waits));
	n = story_events(&stop, events, &more);
	for (size_t i = 0; i < n; i++)
		if (events[i].what == STORY_SEEN)
			assert_int_equal(events[i].index, seen++);
	assert_int_equal(seen, 3);
}

static const char *first_remedy(enum wait_for what, const char *comm)
{
	static const char *page;
	struct wait wait = {.what = what, .pid = 4201, .at_ns = 109 * S};
	struct record_stop stop = stop_with(&wait, what != WAIT_FOR_NOTHING);
	const char *text = "";

	strcpy(wait.comm, comm);
	strcpy(wait.wchan, strcmp(comm, "vforks") ? "" : "kernel_clone");
	assert_true(story_remedy(&stop, 0, &text, &page));
	assert_non_null(page);
	assert_false(story_remedy(&stop, 1, &text, &page));
	return text;
}

static void each_kind_has_one_remedy(void **state)
{
	for (int what = WAIT_FOR_NOTHING; what < WAIT_FOR_COUNT; what++)
		assert_true(first_remedy((enum wait_for)what, "app")[0]);
	assert_non_null(strstr(first_remedy(WAIT_FOR_CLIENTS, "postgres"), "STOPSIGNAL SIGINT"));
	assert_null(strstr(first_remedy(WAIT_FOR_CLIENTS, "app"), "STOPSIGNAL"));
	assert_non_null(strstr(first_remedy(WAIT_FOR_CHILD, "vforks"), "executes its program"));
}

/* supervisord waits for a program that ignores the signal, and asks no other one meanwhile. */
static void a_child_that_ignores_the_signal_is_the_remedy_s(void **state)
{
	static const struct {
		enum disposition disposition;
		uint32_t asked;
		bool cut;
		const char *begin;
	} rows[] = {
		{DISPOSITION_IGNORED, 15, true, "Have the process that does"},
		/* It may have taken it from a signalfd. */
		{DISPOSITION_BLOCKED, 15, true, "Have each process asked"},
		{DISPOSITION_HANDLER, 15, true, "Have each process asked"},
		{DISPOSITION_IGNORED, 0, true, "Have each process asked"},
		{DISPOSITION_IGNORED, 15, false, "Have each process asked"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct record_member list[] = {
			{.process = {.pid = 4200}},
			{.process = {.pid = 4201},
			 .disposition = rows[i].disposition,
			 .asked = {.number = rows[i].asked},
			 .cut = rows[i].cut,
			 .by = ENDED_PID_NAMESPACE},
			{.process = {.pid = 4202}, .cut = true, .by = ENDED_PID_NAMESPACE},
		};
		struct wait wait = {.what = WAIT_FOR_CHILD, .pid = 4201, .at_ns = 109 * S};
		struct record_stop stop = stop_with(&wait, 1);
		const char *text, *page;

		stop.processes = list;
		stop.n_processes = LEN(list);
		assert_true(story_remedy(&stop, 0, &text, &page));
		assert_memory_equal(text, rows[i].begin, strlen(rows[i].begin));
		assert_false(story_remedy(&stop, 1, &text, &page));
	}
}

/* tini -g, whose signal the first of its group died of; what tini waits for is the second. */
static void whose_end_was_passed_on_is_named(void **state)
{
	for (int passed = 0; passed < 2; passed++) {
		const struct record_asked asked = {.number = SIGTERM, .process = {.pid = 4201}};
		const struct record_exit died = {.known = true, .status = SIGTERM};
		const struct record_member list[] = {
			{.process = {.pid = 4201, .ns_pid = 1, .comm = "tini"}},
			{.process = {.pid = 4202, .ns_pid = 2, .comm = "sh"},
			 .asked = asked,
			 .exit = died},
			{.process = {.pid = 4203, .ns_pid = 3, .comm = "sleep"},
			 .asked = asked,
			 .exit = died},
		};
		struct record_stop stop = {
			.process = list[0].process,
			.stop_signal = {.known = true, .number = SIGTERM, .at_ns = 100 * S},
			.forward = {.count = 2, .number = SIGTERM, .to = list[2].process},
			.exit = {.known = true, .status = 143 << 8, .at_ns = 101 * S},
			.outcome = OUTCOME_TERMINATED,
			.cause = CAUSE_STOP_SIGNAL,
			.processes = list,
			.n_processes = LEN(list),
		};
		_cleanup_(buf_free) struct buf out = {};

		if (passed)
			stop.via.process = list[1].process;
		story_add_why(&out, &stop);
		assert_non_null(strstr(buf_str(&out), passed ? "passed SIGTERM to sh[2], which died"
							     : "passed SIGTERM to sleep[3]"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each kind of wait has its words; a pid that is the host's is marked",
		      each_kind_of_wait_has_its_words),
		CLAIM("the sentence says what was found, unless it heard nothing",
		      the_sentence_says_what_was_found),
		CLAIM("a story has a line for each of three", a_story_has_a_line_for_each_of_three),
		CLAIM("each kind has one remedy", each_kind_has_one_remedy),
		CLAIM("of those that init passed its signal to, the one whose end it passed on is "
		      "named",
		      whose_end_was_passed_on_is_named),
		CLAIM("a child that ignores the signal is what the remedy is about",
		      a_child_that_ignores_the_signal_is_the_remedy_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
