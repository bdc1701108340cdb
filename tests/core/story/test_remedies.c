// SPDX-License-Identifier: Apache-2.0
/* Claims about core/story: what to do about kills by none that asked, and who is named in them. */
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/story/part.h"
#include "lib/claim.h"

#define S 1000000000ull

static void each_way_to_be_killed_has_its_remedy(void **state)
{
	static const struct {
		enum cause cause;
		bool asked;
		const char *begin;
	} rows[] = {
		{CAUSE_KERNEL, false, "See its limit of CPU time (ulimit -t"},
		{CAUSE_KERNEL, true, "See its limit of CPU time (ulimit -t"},
		{CAUSE_SELF, false, "See the program's own log: it ended itself."},
		{CAUSE_SAME_CONTAINER, true, "It was stopping, and a process of its own container"},
		{CAUSE_SAME_CONTAINER, false, "It was no stop: see why the sender"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct record_stop stop = {
			.stop_signal = {.known = rows[i].asked, .number = SIGTERM, .at_ns = S},
			.exit = {.known = true, .status = SIGKILL, .at_ns = 2 * S},
			.outcome = OUTCOME_KILLED,
			.cause = rows[i].cause,
		};
		const char *text, *page;

		assert_true(story_remedy(&stop, 0, &text, &page));
		assert_memory_equal(text, rows[i].begin, strlen(rows[i].begin));
		assert_false(story_remedy(&stop, 1, &text, &page));
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

/* A PID 1 that kills its child on SIGTERM. */
static void what_was_not_received_is_no_other_signal(void **state)
{
	for (int killed = 0; killed < 2; killed++) {
		const struct record_member list[] = {
			{.process = {.pid = 4201, .ns_pid = 1, .comm = "python3"}},
			{.process = {.pid = 4202, .ns_pid = 42, .comm = "sleep"},
			 .cut = true,
			 .by = ENDED_PID_NAMESPACE},
		};
		const struct record_stop stop = {
			.process = list[0].process,
			.stop_signal = {.known = true, .number = SIGTERM, .at_ns = S},
			.forward = {.count = 1,
				    .number = killed ? SIGKILL : SIGTERM,
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
		assert_non_null(
			strstr(buf_str(&out), killed ? "; sleep[42] never received SIGTERM and"
						     : "; sleep[42] never received it and"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a kill by the kernel, by itself or by its own container has its remedy",
		      each_way_to_be_killed_has_its_remedy),
		CLAIM("the remedy for a process that was cut depends on who killed it",
		      the_remedy_for_a_cut_process_depends_on_who_killed_it),
		CLAIM("a sender in a container outside pods has the container's name",
		      a_sender_outside_pods_has_its_container_s_name),
		CLAIM("what a process never received is named where another signal was passed on",
		      what_was_not_received_is_no_other_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
