// SPDX-License-Identifier: Apache-2.0
/* What a container is sent before any source has provided its stop signal. */
#include "lib/claim.h"
#include "lib/engine/world_meta.h"

#include <signal.h>

#include "core/stop/outcome.h"

/* The container's metadata, without a stop signal. */
static void open_undescribed(struct world *w)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();

	world_open_described(w, &pod, &c);
}

static void provide(struct world *w, uint64_t at, uint32_t number)
{
	struct meta_container c = world_main_a1();

	c.stop_signal = number;
	world_say_container(w, at, &c);
}

/* After the exit and before the verdict is published. */
static void end_and_provide(struct world *w, uint64_t at, uint32_t status, uint32_t number)
{
	world_exit(w, at, CG_A1, &P_A1, status);
	if (number)
		provide(w, at + 500, number);
	world_empty(w, at + 1000, CG_A1);
	world_timer(w, at + MSEC(250));
}

static void test_request(void **state)
{
	static const struct {
		uint32_t status;
		bool killed, before_exit;
		enum outcome outcome;
		enum cause cause;
	} want[] = {
		{EXIT(0), false, true, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL},
		{EXIT(0), false, false, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL},
		{SIGHUP, false, true, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL},
		{SIGHUP, false, false, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL},
		{SIGKILL, true, true, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED},
		{SIGKILL, true, false, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_stop *s;
		struct world w;

		open_undescribed(&w);
		world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
		if (want[i].before_exit)
			provide(&w, SEC(21), SIGHUP);
		if (want[i].killed)
			world_managed(&w, SEC(50), CG_A1, &P_A1, SIGKILL);
		end_and_provide(&w, SEC(50) + 1, want[i].status, want[i].before_exit ? 0 : SIGHUP);
		s = world_stop(&w);
		assert_int_equal(s->outcome, want[i].outcome);
		assert_int_equal(s->cause, want[i].cause);
		assert_true(s->stop_signal.known);
		assert_int_equal(s->stop_signal.number, SIGHUP);
		assert_int_equal(s->stop_signal.at_ns, SEC(20));
		assert_int_equal(s->stop_signal.sender.kind, SENDER_RUNTIME);
		assert_int_equal(s->gaps & GAP(STOP_SIGNAL_UNKNOWN), 0);
		world_close(&w);
	}
}

static void test_unknown(void **state)
{
	static const struct {
		uint32_t provided; /* after the exit; 0: never */
		uint32_t sent[2];
		uint64_t exit_ns;
		uint32_t gaps;
	} want[] = {
		{0, {SIGHUP}, SEC(21), GAP(STOP_SIGNAL_UNKNOWN)},
		{0, {SIGHUP, SIGUSR1}, SEC(21), GAP(STOP_SIGNAL_UNKNOWN)},
		{SIGHUP, {SIGHUP, SIGUSR1}, SEC(21), GAP(STOP_SIGNAL_UNKNOWN)},
		{SIGTERM, {SIGHUP, SIGUSR1}, SEC(21), 0},
		{0, {0}, SEC(21), 0},
		{SIGCHLD, {0}, SEC(21), GAP(STOP_SIGNAL_UNKNOWN)},
		{SIGCONT, {0}, SEC(21), GAP(STOP_SIGNAL_UNKNOWN)},
		{SIGURG, {0}, SEC(21), GAP(STOP_SIGNAL_UNKNOWN)},
		{SIGWINCH, {0}, SEC(21), 0},
		{0, {SIGHUP}, SEC(20) + 2 * SEC(30) + SEC(60), 0},
		{SIGHUP, {SIGHUP}, SEC(20) + 2 * SEC(30) + SEC(60), 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct world w;

		open_undescribed(&w);
		for (size_t j = 0; j < LEN(want[i].sent) && want[i].sent[j]; j++)
			world_managed(&w, SEC(20), CG_A1, &P_A1, want[i].sent[j]);
		end_and_provide(&w, want[i].exit_ns, EXIT(0), want[i].provided);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, want[i].gaps);
		world_close(&w);
	}
}

static void test_unknown_kill(void **state)
{
	struct world w;

	open_undescribed(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
	world_managed(&w, SEC(50), CG_A1, &P_A1, SIGKILL);
	end_and_provide(&w, SEC(50) + 1, SIGKILL, 0);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, GAP(STOP_SIGNAL_UNKNOWN));
	assert_int_equal(world_stop(&w)->stop_signal.number, SIGHUP);
	assert_true(world_stop(&w)->inferred);
	world_close(&w);
}

static void test_known_kill(void **state)
{
	struct world w;

	open_undescribed(&w);
	provide(&w, SEC(19), SIGHUP);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGUSR1);
	world_managed(&w, SEC(50), CG_A1, &P_A1, SIGKILL);
	end_and_provide(&w, SEC(50) + 1, SIGKILL, 0);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	assert_false(world_stop(&w)->inferred);
	world_close(&w);
}

/* A person's SIGQUIT is a request of its own, and not the stop. */
static void test_beside_another(void **state)
{
	static const uint32_t provided[] = {SIGHUP, 0};

	for (size_t i = 0; i < LEN(provided); i++) {
		struct world w;

		open_undescribed(&w);
		world_from(&w, SEC(19), CG_A1, &P_A1, SIGQUIT, &P_SHELL);
		world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
		if (provided[i])
			provide(&w, SEC(21), provided[i]);
		world_managed(&w, SEC(50), CG_A1, &P_A1, SIGKILL);
		end_and_provide(&w, SEC(50) + 1, SIGKILL, 0);
		if (provided[i])
			assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, 0);
		else
			assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE,
				       GAP(STOP_SIGNAL_UNKNOWN));
		world_close(&w);
	}
}

/* The kernel half followed the person's. */
static void test_delivery_of_another(void **state)
{
	struct obs exit = {.type = OBS_EXIT, .at_ns = SEC(21)};
	struct world w;

	open_undescribed(&w);
	world_from(&w, SEC(19), CG_A1, &P_A1, SIGQUIT, &P_SHELL);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
	exit.exit.id = CG_A1;
	exit.exit.flags = GRACED_EXIT_INIT;
	exit.exit.proc = P_A1;
	exit.exit.stop_at_ns = SEC(19);
	exit.exit.deliver_ns = SEC(19) + 7;
	world_tell(&w, &exit);
	provide(&w, SEC(21) + 500, SIGHUP);
	world_empty(&w, SEC(21) + 1000, CG_A1);
	world_timer(&w, SEC(22));
	assert_int_equal(world_stop(&w)->stop_signal.at_ns, SEC(20));
	assert_int_equal(world_stop(&w)->deliver_ns, 0);
	world_close(&w);
}

static void test_not_asked(void **state)
{
	struct world w;

	/* Its own process asks it to reload. */
	open_undescribed(&w);
	world_from(&w, SEC(20), CG_A1, &P_A1, SIGHUP, &P_A1_CHILD);
	end_and_provide(&w, SEC(21), EXIT(0), 0);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
	/* The request that came is the stop, whatever came before. */
	open_undescribed(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
	world_managed(&w, SEC(22), CG_A1, &P_A1, SIGTERM);
	end_and_provide(&w, SEC(23), EXIT(0), 0);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	assert_int_equal(world_stop(&w)->stop_signal.at_ns, SEC(22));
	world_close(&w);
	/* The next init of the container was sent nothing. */
	open_undescribed(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
	world_init(&w, SEC(21), CG_A1, &P_A1_CHILD);
	world_exit(&w, SEC(22), CG_A1, &P_A1_CHILD, EXIT(0));
	world_empty(&w, SEC(22) + 1000, CG_A1);
	world_timer(&w, SEC(22) + MSEC(250));
	assert_int_equal(world_record(&w, RECORD_STOP, 1)->stop.gaps & GAP(STOP_SIGNAL_UNKNOWN), 0);
	world_close(&w);
}

static void take(struct world *w, uint64_t at, uint32_t number)
{
	const struct obs taken = {.type = OBS_TAKEN,
				  .at_ns = at,
				  .taken = {.id = CG_A1, .pid = P_A1.pid, .sig = number}};

	world_tell(w, &taken);
}

/* Its stop signal is SIGQUIT. What comes in the minute before the exit may be why it exits. */
static void test_exit_after_another(void **state)
{
	static const struct {
		uint32_t sent;
		const struct graced_proc *by; /* NULL: a runtime */
		uint64_t exit_ns;
		enum sender_kind sender;
		uint32_t listed;
	} want[] = {
		{SIGTERM, NULL, SEC(21), SENDER_RUNTIME, 1},
		{SIGTERM, &P_SHELL, SEC(80), SENDER_HOST, 1},
		{SIGTERM, &P_SHELL, SEC(80) + 1, SENDER_HOST, 0},
		{SIGINT, &P_A1_CHILD, SEC(21), SENDER_POD, 1},
		{SIGHUP, &P_SHELL, SEC(21), SENDER_HOST, 1},
		{SIGUSR2, NULL, SEC(21), SENDER_RUNTIME, 1},
		{37, &P_SHELL, SEC(21), SENDER_HOST, 1},
		{SIGPIPE, &P_SHELL, SEC(21), SENDER_HOST, 0},
		{SIGALRM, &P_SHELL, SEC(21), SENDER_HOST, 0},
		{SIGTERM, &P_A1, SEC(21), SENDER_POD, 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_stop *s;
		struct world w;

		open_undescribed(&w);
		provide(&w, SEC(19), SIGQUIT);
		if (want[i].by)
			world_from(&w, SEC(20), CG_A1, &P_A1, want[i].sent, want[i].by);
		else
			world_managed(&w, SEC(20), CG_A1, &P_A1, want[i].sent);
		take(&w, SEC(20) + 5, want[i].sent);
		end_and_provide(&w, want[i].exit_ns, EXIT(0), 0);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
		s = world_stop(&w);
		assert_false(s->stop_signal.known);
		assert_int_equal(s->n_requests, want[i].listed);
		assert_int_equal(s->requests[0].number, want[i].listed ? want[i].sent : 0);
		assert_true(!record_beside(s) == !want[i].listed);
		if (want[i].listed) {
			assert_int_equal(s->requests[0].sender, want[i].sender);
			assert_int_equal(s->requests[0].taken_ns, SEC(20) + 5);
		}
		world_close(&w);
	}
}

/* A runtime's signal that might have been the stop, and was not. */
static void test_exit_after_a_candidate(void **state)
{
	struct world w;

	open_undescribed(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGHUP);
	end_and_provide(&w, SEC(21), EXIT(0), SIGTERM);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->requests[0].number, SIGHUP);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a signal is the request once a source provides that it is the stop signal",
		      test_request),
		CLAIM("where no source does, the verdict has a gap", test_unknown),
		CLAIM("a kill without grace has a gap when the signal before it may have asked",
		      test_unknown_kill),
		CLAIM("... and has none when that is known not to be the stop signal",
		      test_known_kill),
		CLAIM("another's request does not hide the stop", test_beside_another),
		CLAIM("... nor is its delivery that of the stop", test_delivery_of_another),
		CLAIM("signals from within, of a former init and before a request leave no gap",
		      test_not_asked),
		CLAIM("a signal that is no request, and that init took in the minute before it exited, is "
		      "listed with its sender",
		      test_exit_after_another),
		CLAIM("... also once it is known not to be the stop signal",
		      test_exit_after_a_candidate),
	};

	return cmocka_run_group_tests_name("core/engine: stop signal", tests, NULL, NULL);
}
