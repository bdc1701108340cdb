// SPDX-License-Identifier: Apache-2.0
/* Claims about core/story: what to do about kills by none that asked, and who is named in them. */
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/story/part.h"
#include "lib/claim.h"

#define S 1000000000ull

#define INIT(name)                                                     \
	{                                                              \
		.process = {.pid = 4201, .ns_pid = 1, .comm = (name) } \
	}
#define CHILD(...)                                                        \
	{                                                                 \
		.process = {.pid = 4202}, .parent_pid = 4201, __VA_ARGS__ \
	}
#define LATE(...)                                                                            \
	{                                                                                    \
		.process = {.pid = 4202, .start_ns = S + 1}, .parent_pid = 4201, __VA_ARGS__ \
	}
#define ENDED(status_) .exit = {.known = true, .status = (status_), .at_ns = 2 * S}
#define OF(outcome_, cause_, status_) \
	.outcome = OUTCOME_##outcome_, .cause = CAUSE_##cause_, ENDED(status_)
#define ASKED	    .stop_signal = {.known = true, .number = SIGTERM, .at_ns = S}
#define SLOW	    OF(KILLED, GRACE_EXPIRED, SIGKILL), ASKED, .deliver_ns = S
#define VIA	    .via = {.process = {.pid = 4202}}
#define FOUND(wait) .waited_for = &(wait), .n_waited_for = 1
#define CUT(by_)    .cut = true, .by = ENDED_##by_
#define DROPS \
	.asked = {.number = SIGTERM, .result = RESULT_IGNORED}, .disposition = DISPOSITION_DEFAULT
#define PASSED	.forward = {.count = 1, .number = SIGTERM, .to = {.pid = 4202}}
#define IGNORES .asked = {.number = SIGTERM}, .disposition = DISPOSITION_IGNORED

static const struct wait frozen = {.what = WAIT_FOR_THAW}, stopped = {.what = WAIT_FOR_CONT};

/* Its first remedy begins with that, and the second; NULL: there is none. */
static void each_trouble_has_its_own_remedies(void **state)
{
	static const struct {
		struct record_stop stop;
		const char *comm;
		struct record_member child;
		const char *first, *page, *second;
	} rows[] = {
		/* --- killed --- */
		{{OF(KILLED, KERNEL, SIGKILL)}, "app", {}, "See its limit of CPU time", NULL, NULL},
		{{OF(KILLED, KERNEL, SIGKILL), ASKED}, "app", {}, "See its limit of CPU", NULL, NULL},
		{{OF(KILLED, SELF, SIGKILL)},
		 "app",
		 {},
		 "See the program's own log: it ended itself",
		 NULL,
		 NULL},
		{{OF(KILLED, SAME_CONTAINER, SIGKILL), ASKED},
		 "app",
		 {},
		 "It was stopping, and",
		 NULL,
		 NULL},
		{{OF(KILLED, SAME_CONTAINER, SIGKILL)}, "app", {}, "It was no stop", NULL, NULL},
		{{OF(KILLED, HOST, SIGKILL), .gaps = 1u << GAP_DAEMON_DOWN},
		 "app",
		 {},
		 "Not all was seen",
		 NULL,
		 NULL},
		{{OF(KILLED, HOST, SIGKILL), .gaps = 1u << GAP_EVENTS_LOST},
		 "app",
		 {},
		 "Not all was seen",
		 NULL,
		 NULL},
		{{OF(KILLED, HOST, SIGKILL), .gaps = 1u << GAP_ATTACHED_LATE},
		 "app",
		 {},
		 "Not all was seen",
		 NULL,
		 NULL},
		{{OF(KILLED, HOST, SIGKILL), .gaps = 1u << GAP_SUPPRESSED},
		 "app",
		 {},
		 "Not all was seen",
		 NULL,
		 NULL},
		{{OF(KILLED, HOST, SIGKILL), .gaps = 1u << GAP_NOT_EMPTY},
		 "app",
		 {},
		 "It was no stop",
		 NULL,
		 NULL},
		{{OF(KILLED, NO_GRACE, SIGKILL)}, "app", {}, "Stop it by what asks", NULL, NULL},
		{{OF(KILLED, NO_GRACE, SIGKILL), .gaps = 1u << GAP_ATTACHED_LATE},
		 "app",
		 {},
		 "Not all was seen",
		 NULL,
		 NULL},
		/* --- its child was --- */
		{{OF(KILLED, SUPERVISOR, 137 << 8), VIA},
		 "timeout",
		 CHILD(ENDED(SIGKILL)),
		 "Its own parent ended it",
		 NULL,
		 NULL},
		{{OF(KILLED, SUPERVISOR, 137 << 8), VIA, ASKED},
		 "app",
		 CHILD(ENDED(SIGKILL), CUT(CONTAINER)),
		 "It is the application that kills",
		 NULL,
		 NULL},
		/* --- ended by another signal --- */
		{{OF(CRASHED, KERNEL, SIGSEGV | 0x80)},
		 "app",
		 {},
		 "See the program's own log and the core that was written",
		 NULL,
		 NULL},
		{{OF(CRASHED, KERNEL, SIGSEGV)},
		 "app",
		 {},
		 "See the program's own log; no core",
		 NULL,
		 NULL},
		{{OF(CRASHED, SELF, SIGSEGV << 8 | 139), VIA},
		 "app",
		 CHILD(ENDED(SIGABRT | 0x80)),
		 "See the program's own log and the core that was written",
		 NULL,
		 NULL},
		{{OF(CRASHED, KERNEL, SIGXCPU)},
		 "app",
		 {},
		 "See its limit of CPU time",
		 NULL,
		 "See the program's own log; no core"},
		{{OF(CRASHED, SELF, SIGXFSZ)},
		 "app",
		 {},
		 "See its limit of a file's size",
		 NULL,
		 "See the program's own log; no core"},
		{{OF(CRASHED, SELF, SIGSYS | 0x80)},
		 "app",
		 {},
		 "See its seccomp profile",
		 NULL,
		 "See the program's own log and the core"},
		{{OF(CRASHED, HOST, SIGSYS)}, "app", {}, "See the program's own log; no", NULL, NULL},
		{{OF(CRASHED, SELF, SIGALRM)}, "app", {}, "See why that signal came", NULL, NULL},
		{{OF(CRASHED, SELF, SIGUSR1)}, "app", {}, "See why that signal came", NULL, NULL},
		{{OF(CRASHED, SELF, 139 << 8)},
		 "app",
		 {},
		 "See the program's own log and its core dump, if",
		 NULL,
		 NULL},
		/* --- took it, in vain --- */
		{{SLOW, .reason = UNHEARD_RERAISED}, "node", {}, "Add a handler", "node", NULL},
		{{SLOW, .reason = UNHEARD_RERAISED},
		 "perl",
		 {},
		 "Have its handler end the program",
		 "a-handler-in-the-program",
		 NULL},
		{{SLOW}, "bash", CHILD(ENDED(0)), "Its trap ran", "trap-and-wait", NULL},
		{{SLOW, .forward = {.count = 1}},
		 "bash",
		 CHILD(ENDED(0)),
		 "See what it waits for",
		 "it-hears-and-takes-10-seconds-all-the-same",
		 NULL},
		{{SLOW},
		 "python3",
		 CHILD(ENDED(0)),
		 "See what it waits for",
		 "it-hears-and-takes-10-seconds-all-the-same",
		 NULL},
		{{SLOW},
		 "bash",
		 CHILD(ENDED(SIGKILL), CUT(PID_NAMESPACE)),
		 "Have each process asked",
		 "exec-in-a-script",
		 "See what it waits for"},
		{{SLOW, .reason = UNHEARD_CHILD_IGNORED, PASSED},
		 "bash",
		 CHILD(IGNORES),
		 "Have the child handle the signal, or remove",
		 "ignored-or-blocked",
		 NULL},
		/* docker in docker, say. */
		{{SLOW, .reason = UNHEARD_CHILD_IGNORED, PASSED},
		 "bash",
		 CHILD(DROPS),
		 "Have that child handle the signal, or start",
		 "a-handler-in-the-program",
		 NULL},
		/* It would be cut even sooner. */
		{{SLOW, .reason = UNHEARD_RERAISED},
		 "bash",
		 CHILD(ENDED(SIGKILL), CUT(PID_NAMESPACE), .asked = {.number = SIGTERM}),
		 "See why the process that it passed",
		 "it-hears-and-takes-10-seconds-all-the-same",
		 NULL},
		{{SLOW, .reason = UNHEARD_RERAISED},
		 "bash",
		 CHILD(.asked = {.number = SIGTERM}),
		 "See why the process that it passed",
		 "it-hears-and-takes-10-seconds-all-the-same",
		 NULL},
		/* It cleans up. */
		{{SLOW},
		 "python3",
		 LATE(ENDED(SIGKILL), CUT(PID_NAMESPACE)),
		 "What it started after the signal",
		 "it-hears-and-takes-10-seconds-all-the-same",
		 NULL},
		/* Killed by init, which had more to wait for. */
		{{SLOW},
		 "app",
		 CHILD(ENDED(SIGKILL), CUT(CONTAINER), IGNORES),
		 "See what it waits for",
		 "it-hears-and-takes-10-seconds-all-the-same",
		 NULL},
		{{OF(GRACEFUL, STOP_SIGNAL, 0), ASKED},
		 "app",
		 CHILD(ENDED(SIGKILL), CUT(CONTAINER), IGNORES),
		 "Have the process that does",
		 "ignored-or-blocked",
		 NULL},
		/* It is PID 1 of its own. */
		{{OF(GRACEFUL, STOP_SIGNAL, 0), ASKED},
		 "app",
		 CHILD(ENDED(SIGKILL), CUT(CONTAINER), DROPS),
		 "Have the process that does",
		 "ignored-or-blocked",
		 NULL},
		/* --- did not hear it --- */
		{{SLOW, .reason = UNHEARD_NO_HANDLER},
		 "app",
		 {},
		 "Have the program handle the signal",
		 "a-handler-in-the-program",
		 NULL},
		{{SLOW, .reason = UNHEARD_NO_HANDLER},
		 "flock",
		 CHILD(ENDED(SIGKILL), CUT(PID_NAMESPACE)),
		 "Replace it by the application",
		 "a-handler-in-the-program",
		 NULL},
		{{SLOW, .reason = UNHEARD_NO_HANDLER},
		 "flock",
		 CHILD(.by = ENDED_UNKNOWN),
		 "Replace it by the application",
		 "a-handler-in-the-program",
		 NULL},
		{{SLOW, .reason = UNHEARD_NO_HANDLER},
		 "flock",
		 CHILD(.helper = true),
		 "Have the program handle the signal",
		 "a-handler-in-the-program",
		 NULL},
		{{SLOW, .reason = UNHEARD_NO_HANDLER},
		 "tail",
		 CHILD(ENDED(SIGKILL), CUT(PID_NAMESPACE)),
		 "Run the application in the foreground",
		 NULL,
		 NULL},
		{{SLOW, .reason = UNHEARD_STOPPED}, "app", {}, "See what holds it: thaw", NULL, NULL},
		{{SLOW, .reason = UNHEARD_STOPPED, FOUND(stopped)},
		 "app",
		 {},
		 "Continue it",
		 NULL,
		 NULL},
		{{SLOW, .reason = UNHEARD_STOPPED, FOUND(frozen)}, "app", {}, "Thaw it", NULL, NULL},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct record_member list[] = {INIT(rows[i].comm), rows[i].child};
		const char *text, *page, *second = rows[i].second;
		struct record_stop stop = rows[i].stop;

		stop.process = list[0].process;
		stop.processes = list;
		stop.n_processes = rows[i].child.process.pid ? 2 : 1;
		assert_true(story_remedy(&stop, 0, &text, &page));
		if (strncmp(text, rows[i].first, strlen(rows[i].first)) != 0)
			fail_msg("row %zu: %s", i, text);
		assert_true(page == rows[i].page || strcmp(page ?: "", rows[i].page ?: "") == 0);
		assert_int_equal(story_remedy(&stop, 1, &text, &page), second != NULL);
		assert_true(!second || strncmp(text, second, strlen(second)) == 0);
		assert_false(story_remedy(&stop, 2, &text, &page));
	}
}

/* An init that passes signals on helps where none was sent, and not against a killer. */
static void the_remedy_for_a_cut_process_depends_on_who_killed_it(void **state)
{
	static const struct {
		enum ended_by by;
		const char *unasked, *asked;
	} rows[] = {
		{ENDED_UNKNOWN, "Have each process asked", "Have that process end sooner"},
		{ENDED_PID_NAMESPACE, "Have each process asked", "Have that process end sooner"},
		{ENDED_RUNTIME, "Have each process asked", "Have that process end sooner"},
		{ENDED_KERNEL, "Have each process asked", "Have that process end sooner"},
		{ENDED_PARENT_DEATH, "Have each process asked", "Have that process end sooner"},
		{ENDED_CONTAINER, "It is the application", "Have that process end sooner"},
		{ENDED_HOST, "It was no stop", "It was no stop"},
		{ENDED_POD, "It was no stop", "It was no stop"},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		for (int asked = 0; asked < 2; asked++) {
			const struct record_member list[] = {
				{.process = {.pid = 4201}},
				{.process = {.pid = 4309},
				 .cut = true,
				 .by = rows[i].by,
				 .asked = {.number = asked ? 15 : 0}},
			};
			const struct record_stop stop = {.outcome = OUTCOME_GRACEFUL,
							 .cause = CAUSE_STOP_SIGNAL,
							 .cut = 1,
							 .processes = list,
							 .n_processes = 2};
			const char *begin = asked ? rows[i].asked : rows[i].unasked;
			const char *text, *page;

			assert_true(story_remedy(&stop, 0, &text, &page));
			assert_memory_equal(text, begin, strlen(begin));
			assert_false(story_remedy(&stop, 1, &text, &page));
		}
}

static void a_sender_outside_pods_has_its_container_s_name(void **state)
{
	struct record_stop stop = {
		.process = {.pid = 4201, .ns_pid = 1, .comm = "app"},
		.container = {.known = true, .id = "c"},
		.kill_signal = {.known = true,
				.number = SIGKILL,
				.sender = {.kind = SENDER_CONTAINER,
					   .process = {.pid = 6126, .comm = "bash"},
					   .container = {.known = true, .id = "d", .name = "k"},
					   .ancestors = {"containerd-shim"}}},
		.exit = {.known = true, .status = SIGKILL},
		.outcome = OUTCOME_KILLED,
		.cause = CAUSE_OTHER_POD,
	};
	_cleanup_(buf_free) struct buf out = {}, unnamed = {};

	story_add_why(&out, &stop);
	assert_string_equal(buf_str(&out),
			    "app[1] was killed by bash[6126] (in container k; parents: "
			    "containerd-shim).");
	stop.kill_signal.sender.container.name = NULL;
	story_add_why(&unnamed, &stop);
	assert_non_null(strstr(buf_str(&unnamed), "(in a container; parents"));
}

/* A PID 1 that kills its child on SIGTERM, and one that starts it then. */
static void what_was_not_received_is_no_other_signal(void **state)
{
	static const char *const want[] = {"; sleep[42] never received it and",
					   "; sleep[42] never received SIGTERM and",
					   "; sleep[42] began after it and was killed when"};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_member list[] = {
			{.process = {.pid = 4201, .ns_pid = 1, .comm = "python3"}},
			{.process = {.pid = 4202,
				     .ns_pid = 42,
				     .comm = "sleep",
				     .start_ns = i == 2 ? S + 1 : 0},
			 .cut = true,
			 .by = ENDED_PID_NAMESPACE},
		};
		const struct record_stop stop = {
			.process = list[0].process,
			.stop_signal = {.known = true, .number = SIGTERM, .at_ns = S},
			.forward = {.count = 1,
				    .number = i == 1 ? SIGKILL : SIGTERM,
				    .to = list[1].process},
			.exit = {.known = true, .at_ns = 2 * S},
			.outcome = OUTCOME_GRACEFUL,
			.cause = CAUSE_STOP_SIGNAL,
			.processes = list,
			.n_processes = LEN(list),
			.cut = 1,
		};
		_cleanup_(buf_free) struct buf out = {};

		story_add_why(&out, &stop);
		assert_non_null(strstr(buf_str(&out), want[i]));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each trouble has its own remedies, by who did what and by what is not known",
		      each_trouble_has_its_own_remedies),
		CLAIM("the remedy for a process that was cut depends on who killed it",
		      the_remedy_for_a_cut_process_depends_on_who_killed_it),
		CLAIM("a sender in a container outside pods has the container's name",
		      a_sender_outside_pods_has_its_container_s_name),
		CLAIM("what a process never received is named where another signal was passed on, and "
		      "one that began later is said to have",
		      what_was_not_received_is_no_other_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
