// SPDX-License-Identifier: Apache-2.0
/* Claims about core/trial: which stops are good, why others are not, and in which words. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "core/trial/trial.h"
#include "lib/claim.h"

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

struct row {
	struct record_stop stop;
	uint64_t within_ns, refused_ns;
	const char *want;
	enum trial_verdict verdict;
};

static void assert_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct trial_facts facts = {.stop = &rows[i].stop,
						  .within_ns = rows[i].within_ns,
						  .refused_ns = rows[i].refused_ns};
		struct trial trial = trial_judge(&facts);
		_cleanup_(buf_free) struct buf out = {};

		trial_add_verdict(&out, &trial, &facts);
		assert_string_equal(buf_str(&out), rows[i].want);
		assert_int_equal(trial.verdict, rows[i].verdict);
		assert_int_equal(trial.reasons == 0, trial.verdict == TRIAL_WELL);
	}
}

#define STOP(outcome_, cause_) .outcome = OUTCOME_##outcome_, .cause = CAUSE_##cause_
#define ASKED                          \
	.stop_signal =                 \
		{                      \
			.known = true, \
			.number = 15,  \
	},                             \
	.latency_known = true, .latency_ns = S

static void what_ends_in_time_as_it_was_asked_stops_well(void **state)
{
	static const struct row rows[] = {
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED}, 0, 0, "It stops well.", TRIAL_WELL},
		{{STOP(TERMINATED, STOP_SIGNAL), ASKED}, S, 0, "It stops well.", TRIAL_WELL},
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED, .exit = {.status = 3 << 8}},
		 0,
		 0,
		 "It stops well.",
		 TRIAL_WELL},
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED,
		  .gaps = 1u << GAP_ATTACHED_LATE | 1u << GAP_NAME_LATE},
		 0,
		 0,
		 "It stops well.",
		 TRIAL_WELL},
	};

	assert_rows(rows, LEN(rows));
}

/* Below an init that passes nothing of it on. */
static void a_process_that_crashes_makes_a_stop_bad(void **state)
{
	static const struct {
		uint32_t status;
		enum ended_by by;
		uint64_t at_ns;
		bool entered;
		const char *want;
	} rows[] = {
		{11, ENDED_KERNEL, 9, false,
		 "It does not stop well: app[2 on the host], one of its processes, crashed."},
		{6, ENDED_ITSELF, 9, false,
		 "It does not stop well: app[2 on the host], one of its processes, crashed."},
		{11, ENDED_CONTAINER, 9, false, "It stops well."},
		{15, ENDED_ITSELF, 9, false, "It stops well."},
		{11, ENDED_KERNEL, 4, false, "It stops well."},
		{11, ENDED_KERNEL, 9, true, "It stops well."},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct record_member list[2] = {
			{.process = {.pid = 1}},
			{.process = {.pid = 2, .comm = "app"},
			 .exit = {.known = true, .status = rows[i].status, .at_ns = rows[i].at_ns},
			 .by = rows[i].by,
			 .entered = rows[i].entered},
		};
		const struct row row = {
			.stop = {STOP(GRACEFUL, STOP_SIGNAL),
				 .stop_signal = {.known = true, .number = 15, .at_ns = 5},
				 .processes = list, .n_processes = 2},
			.want = rows[i].want,
			.verdict = rows[i].want[3] == 's' ? TRIAL_WELL : TRIAL_NOT_WELL,
		};

		assert_rows(&row, 1);
	}
}

static void each_reason_makes_a_stop_bad(void **state)
{
	static const struct row rows[] = {
		{{STOP(KILLED, GRACE_EXPIRED), ASKED},
		 0,
		 0,
		 "It does not stop well: it was killed.",
		 TRIAL_NOT_WELL},
		{{STOP(OOM_KILLED, OOM_CONTAINER), ASKED},
		 0,
		 0,
		 "It does not stop well: the OOM killer ended it.",
		 TRIAL_NOT_WELL},
		{{STOP(CRASHED, KERNEL), ASKED},
		 0,
		 0,
		 "It does not stop well: it crashed.",
		 TRIAL_NOT_WELL},
		{{STOP(CRASHED, SELF), ASKED, .exit = {.known = true, .status = 14}},
		 0,
		 0,
		 "It does not stop well: a signal ended it.",
		 TRIAL_NOT_WELL},
		{{STOP(GRACEFUL, SELF), ASKED, .deaf = true, .reason = UNHEARD_NO_HANDLER},
		 0,
		 0,
		 "It does not stop well: it has no handler for SIGTERM and never heard it.",
		 TRIAL_NOT_WELL},
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED, .cut = 1},
		 0,
		 0,
		 "It does not stop well: 1 of its processes was killed before it had ended.",
		 TRIAL_NOT_WELL},
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED, .cut = 2},
		 999 * MS,
		 300 * MS,
		 "It does not stop well: 2 of its processes were killed before they had ended; it "
		 "took 1.00s, longer than 999ms; it refused connections for 300ms while it ran.",
		 TRIAL_NOT_WELL},
	};

	assert_rows(rows, LEN(rows));
}

static void what_was_taken_in_vain_was_heard(void **state)
{
	for (unsigned int reason = 1; reason < UNHEARD_COUNT; reason++) {
		const struct record_stop stop = {STOP(KILLED, GRACE_EXPIRED), ASKED,
						 .reason = (enum unheard)reason};
		struct trial trial = trial_judge(&(struct trial_facts){.stop = &stop});
		bool taken = reason == UNHEARD_RERAISED || reason == UNHEARD_CHILD_IGNORED;

		assert_int_equal(trial.reasons, 1u << TRIAL_KILLED | 1u << (taken ? TRIAL_IN_VAIN
										  : TRIAL_UNHEARD));
	}
}

static void what_was_not_asked_or_not_seen_is_no_verdict(void **state)
{
	static const struct row rows[] = {
		{{STOP(COMPLETED, SELF)},
		 0,
		 0,
		 "Whether it stops well is not known: it ended by itself, and was not asked to stop.",
		 TRIAL_UNKNOWN},
		{{STOP(FAILED, SELF)},
		 0,
		 0,
		 "Whether it stops well is not known: it ended by itself, and was not asked to stop.",
		 TRIAL_UNKNOWN},
		{{STOP(FAILED, SELF), .requests = {{.number = 2, .sender = SENDER_HOST}}},
		 0,
		 0,
		 "Whether it stops well is not known: it ended after a signal that is not its stop signal.",
		 TRIAL_UNKNOWN},
		{{STOP(UNKNOWN, UNKNOWN), ASKED},
		 0,
		 0,
		 "Whether it stops well is not known: not all of it was seen.",
		 TRIAL_UNKNOWN},
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED, .gaps = 1u << GAP_EVENTS_LOST},
		 0,
		 0,
		 "Whether it stops well is not known: not all of it was seen.",
		 TRIAL_UNKNOWN},
		{{STOP(GRACEFUL, STOP_SIGNAL), ASKED, .processes_gaps = 1u << LIST_GAP_MISSED},
		 0,
		 0,
		 "Whether it stops well is not known: not all of it was seen.",
		 TRIAL_UNKNOWN},
		/* What was seen is bad, whatever else there may be. */
		{{STOP(KILLED, GRACE_EXPIRED), ASKED, .gaps = 1u << GAP_EVENTS_LOST},
		 0,
		 0,
		 "It does not stop well: it was killed; not all of it was seen.",
		 TRIAL_NOT_WELL},
	};

	assert_rows(rows, LEN(rows));
}

static void what_is_in_another_cgroup_is_not_seen(void **state)
{
	const struct record_stop stop = {STOP(GRACEFUL, STOP_SIGNAL), ASKED};
	const struct {
		struct trial_facts facts;
		const char *why;
	} rows[] = {
		{{.stop = &stop, .elsewhere = true}, "a process of it was in another cgroup."},
		{{.stop = &stop, .unlooked = true}, "where its processes were is not known."},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct trial trial = trial_judge(&rows[i].facts);

		trial_add_verdict(&out, &trial, &rows[i].facts);
		assert_int_equal(trial.verdict, TRIAL_UNKNOWN);
		assert_non_null(strstr(buf_str(&out), "not all of it was seen, as "));
		assert_non_null(strstr(buf_str(&out), rows[i].why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_in_time_as_it_was_asked_stops_well),
		cmocka_unit_test(each_reason_makes_a_stop_bad),
		CLAIM("what took its signal in vain is not said to be deaf",
		      what_was_taken_in_vain_was_heard),
		CLAIM("... and so does a process that crashes in it",
		      a_process_that_crashes_makes_a_stop_bad),
		cmocka_unit_test(what_was_not_asked_or_not_seen_is_no_verdict),
		cmocka_unit_test(what_is_in_another_cgroup_is_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
