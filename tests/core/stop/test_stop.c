// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop: its state table, and which signals count. What follows from them is in
 * test_stop_facts.c. */
#include "core/stop/stop.h"

#include "lib/engine/stop_bench.h"

#define NO (-1)

static void test_table(void **state)
{
	static const int to[STOP_STATE_COUNT][STOP_EVENT_COUNT] = {
		[STOP_IDLE] = {[STOP_EV_INIT] = STOP_RUNNING,
			       [STOP_EV_REQUEST] = NO,
			       [STOP_EV_KILL] = NO,
			       [STOP_EV_LAPSE] = NO,
			       [STOP_EV_EXIT] = STOP_EXITED,
			       [STOP_EV_REPORT] = NO,
			       [STOP_EV_EMPTY] = STOP_IDLE,
			       [STOP_EV_VOID] = NO},
		[STOP_RUNNING] = {[STOP_EV_INIT] = STOP_RUNNING,
				  [STOP_EV_REQUEST] = STOP_REQUESTED,
				  [STOP_EV_KILL] = STOP_KILLED,
				  [STOP_EV_LAPSE] = NO,
				  [STOP_EV_EXIT] = STOP_EXITED,
				  [STOP_EV_REPORT] = NO,
				  [STOP_EV_EMPTY] = STOP_EXITED,
				  [STOP_EV_VOID] = NO},
		[STOP_REQUESTED] = {[STOP_EV_INIT] = NO,
				    [STOP_EV_REQUEST] = STOP_REQUESTED,
				    [STOP_EV_KILL] = STOP_KILLED,
				    [STOP_EV_LAPSE] = STOP_RUNNING,
				    [STOP_EV_EXIT] = STOP_EXITED,
				    [STOP_EV_REPORT] = NO,
				    [STOP_EV_EMPTY] = STOP_EXITED,
				    [STOP_EV_VOID] = NO},
		[STOP_KILLED] = {[STOP_EV_INIT] = NO,
				 [STOP_EV_REQUEST] = NO,
				 [STOP_EV_KILL] = STOP_KILLED,
				 [STOP_EV_LAPSE] = NO,
				 [STOP_EV_EXIT] = STOP_EXITED,
				 [STOP_EV_REPORT] = NO,
				 [STOP_EV_EMPTY] = STOP_EXITED,
				 [STOP_EV_VOID] = NO},
		[STOP_EXITED] = {[STOP_EV_INIT] = NO,
				 [STOP_EV_REQUEST] = NO,
				 [STOP_EV_KILL] = NO,
				 [STOP_EV_LAPSE] = NO,
				 [STOP_EV_EXIT] = NO,
				 [STOP_EV_REPORT] = STOP_REPORTED,
				 [STOP_EV_EMPTY] = STOP_EXITED,
				 [STOP_EV_VOID] = STOP_IDLE},
		[STOP_REPORTED] = {[STOP_EV_INIT] = STOP_RUNNING,
				   [STOP_EV_REQUEST] = NO,
				   [STOP_EV_KILL] = NO,
				   [STOP_EV_LAPSE] = NO,
				   [STOP_EV_EXIT] = NO,
				   [STOP_EV_REPORT] = NO,
				   [STOP_EV_EMPTY] = STOP_IDLE,
				   [STOP_EV_VOID] = NO},
	};

	for (int s = 0; s < STOP_STATE_COUNT; s++) {
		for (int ev = 0; ev < STOP_EVENT_COUNT; ev++) {
			struct bench b;
			bool moved;

			bench_open(&b, (enum stop_state)s);
			moved = stop_advance(b.stop, (enum stop_event)ev);
			if (moved != (to[s][ev] != NO) ||
			    (int)b.stop->state != (moved ? to[s][ev] : s))
				fail_msg("state %d, event %d: state %d", s, ev, b.stop->state);
			bench_close(&b);
		}
	}
}

static void test_what_counts(void **state)
{
	static const struct {
		const char *what;
		enum stop_state before;
		uint32_t sig;
		enum relation from;
		int32_t result;
		uint32_t flags;
		enum stop_note note;
		enum stop_state after;
	} want[] = {
		{"SIGTERM by a manager", STOP_RUNNING, 15, RELATION_MANAGER, 0, 0,
		 STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"SIGINT by the host", STOP_RUNNING, 2, RELATION_HOST, 0, 0, STOP_NOTE_REQUEST,
		 STOP_REQUESTED},
		{"SIGQUIT by the same pod", STOP_RUNNING, 3, RELATION_SAME_POD, 0, 0,
		 STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"SIGRTMIN+3 by another pod", STOP_RUNNING, 37, RELATION_OTHER_POD, 0, 0,
		 STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"SIGTERM by itself", STOP_RUNNING, 15, RELATION_SELF, 0, 0, STOP_NOTE_NONE,
		 STOP_RUNNING},
		{"SIGTERM by its own container", STOP_RUNNING, 15, RELATION_SAME_CONTAINER, 0, 0,
		 STOP_NOTE_NONE, STOP_RUNNING},
		{"SIGTERM by the kernel", STOP_RUNNING, 15, RELATION_KERNEL, 0, 0, STOP_NOTE_NONE,
		 STOP_RUNNING},
		{"SIGTERM by a timer, whoever's", STOP_RUNNING, 15, RELATION_UNKNOWN, 0, 0,
		 STOP_NOTE_NONE, STOP_RUNNING},
		{"SIGTERM by who cannot be placed", STOP_RUNNING, 15, RELATION_UNPLACED, 0, 0,
		 STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"SIGHUP by a manager", STOP_RUNNING, 1, RELATION_MANAGER, 0, 0, STOP_NOTE_NONE,
		 STOP_RUNNING},
		{"SIGRTMIN+4 by a manager", STOP_RUNNING, 38, RELATION_MANAGER, 0, 0,
		 STOP_NOTE_NONE, STOP_RUNNING},
		{"one that is ignored", STOP_RUNNING, 15, RELATION_MANAGER, 1, 0, STOP_NOTE_REQUEST,
		 STOP_REQUESTED},
		{"one that is pending already", STOP_RUNNING, 15, RELATION_MANAGER, 2, 0,
		 STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"one that did not fit", STOP_RUNNING, 37, RELATION_MANAGER, 3, 0, STOP_NOTE_NONE,
		 STOP_RUNNING},
		{"one that lost its siginfo", STOP_RUNNING, 15, RELATION_MANAGER, 4, 0,
		 STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"one to a zombie", STOP_RUNNING, 15, RELATION_MANAGER, 0, GRACED_SIG_TARGET_ZOMBIE,
		 STOP_NOTE_NONE, STOP_RUNNING},
		{"one to a target in group exit", STOP_RUNNING, 15, RELATION_MANAGER, 1,
		 GRACED_SIG_GROUP_EXIT, STOP_NOTE_NONE, STOP_RUNNING},
		{"one that ends its target", STOP_RUNNING, 15, RELATION_MANAGER, 0,
		 GRACED_SIG_GROUP_EXIT, STOP_NOTE_REQUEST, STOP_REQUESTED},
		{"one to a target that was killed", STOP_KILLED, 15, RELATION_MANAGER, 0, 0,
		 STOP_NOTE_NONE, STOP_KILLED},
		{"one to a target that exited", STOP_EXITED, 15, RELATION_MANAGER, 0, 0,
		 STOP_NOTE_NONE, STOP_EXITED},
		{"one to a target that was reported", STOP_REPORTED, 15, RELATION_MANAGER, 0, 0,
		 STOP_NOTE_NONE, STOP_REPORTED},
		{"a repeat", STOP_REQUESTED, 15, RELATION_HOST, 0, 0, STOP_NOTE_REQUEST,
		 STOP_REQUESTED},
		{"SIGKILL by a manager", STOP_RUNNING, 9, RELATION_MANAGER, 0,
		 GRACED_SIG_GROUP_EXIT, STOP_NOTE_KILL, STOP_KILLED},
		{"SIGKILL in a request", STOP_REQUESTED, 9, RELATION_HOST, 0, 0, STOP_NOTE_KILL,
		 STOP_KILLED},
		{"SIGKILL by itself", STOP_RUNNING, 9, RELATION_SELF, 0, 0, STOP_NOTE_KILL,
		 STOP_KILLED},
		{"SIGKILL that its namespace shields it from", STOP_RUNNING, 9,
		 RELATION_SAME_CONTAINER, 1, GRACED_SIG_SHIELDED | GRACED_SIG_DFL, STOP_NOTE_NONE,
		 STOP_RUNNING},
		{"SIGKILL to a target that exited", STOP_EXITED, 9, RELATION_MANAGER, 0, 0,
		 STOP_NOTE_NONE, STOP_EXITED},
		{"SIGTERM to nobody", STOP_IDLE, 15, RELATION_MANAGER, 0, 0, STOP_NOTE_UNEXPECTED,
		 STOP_IDLE},
		{"SIGKILL to nobody", STOP_IDLE, 9, RELATION_MANAGER, 0, 0, STOP_NOTE_UNEXPECTED,
		 STOP_IDLE},
		{"signal 0", STOP_RUNNING, 0, RELATION_MANAGER, 0, 0, STOP_NOTE_NONE, STOP_RUNNING},
		{"signal 65", STOP_RUNNING, 65, RELATION_MANAGER, 0, 0, STOP_NOTE_NONE,
		 STOP_RUNNING},
		{"signal 2^32-1", STOP_RUNNING, UINT32_MAX, RELATION_MANAGER, 0, 0, STOP_NOTE_NONE,
		 STOP_RUNNING},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;
		enum stop_note note;

		bench_open(&b, want[i].before);
		note = bench_shoot(&b, SEC(5), want[i].sig, want[i].from, want[i].result,
				   want[i].flags);
		if (note != want[i].note || b.stop->state != want[i].after)
			fail_msg("%s: note %d, state %d", want[i].what, note, b.stop->state);
		assert_int_equal(b.stop->request->seen, want[i].note == STOP_NOTE_REQUEST);
		assert_int_equal(b.stop->kill->seen, want[i].note == STOP_NOTE_KILL);
		bench_close(&b);
	}
}

static void test_repeats(void **state)
{
	static const struct {
		enum relation first, second;
		uint64_t at; /* of the request that stands */
	} want[] = {
		{RELATION_MANAGER, RELATION_MANAGER, SEC(5)},
		{RELATION_MANAGER, RELATION_OTHER_POD, SEC(5)},
		{RELATION_HOST, RELATION_HOST, SEC(5)},
		{RELATION_OTHER_POD, RELATION_HOST, SEC(5)},
		{RELATION_HOST, RELATION_MANAGER, SEC(6)},
		{RELATION_SAME_POD, RELATION_MANAGER, SEC(6)},
		{RELATION_OTHER_POD, RELATION_MANAGER, SEC(6)},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 15, want[i].first, 0, 0);
		bench_shoot(&b, SEC(6), 15, want[i].second, 0, 0);
		assert_int_equal(b.stop->request->at_ns, want[i].at);
		/* The manager's stands, whatever comes after it. */
		bench_shoot(&b, SEC(7), 15, RELATION_MANAGER, 0, 0);
		if (want[i].first == RELATION_MANAGER || want[i].second == RELATION_MANAGER)
			assert_int_equal(b.stop->request->at_ns, want[i].at);
		else
			assert_int_equal(b.stop->request->at_ns, SEC(7));
		bench_close(&b);
	}
}

static void test_deaf(void **state)
{
	const uint32_t shield = GRACED_SIG_SHIELDED | GRACED_SIG_DFL;
	const struct {
		const char *what;
		int32_t result;
		uint32_t flags;
		bool deaf;
	} want[] = {
		{"ignored under the shield by default", 1, shield, true},
		{"the same for the group, siginfo absent", 1,
		 shield | GRACED_SIG_GROUP | GRACED_SIG_INFO_NONE, true},
		{"delivered under the shield", 0, shield, false},
		{"pending already under the shield", 2, shield, false},
		{"ignored by choice under the shield", 1, GRACED_SIG_SHIELDED | GRACED_SIG_IGN,
		 false},
		{"ignored by a handler's owner", 1, GRACED_SIG_SHIELDED, false},
		{"ignored by default without a shield", 1, GRACED_SIG_DFL, false},
		{"ignored because it is in group exit", 1, shield | GRACED_SIG_GROUP_EXIT, false},
		{"ignored because it is a zombie", 1, shield | GRACED_SIG_TARGET_ZOMBIE, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct obs_signal sig = {
			.sig = 15, .result = want[i].result, .flags = want[i].flags};

		if (stop_signal_deaf(&sig) != want[i].deaf)
			fail_msg("%s", want[i].what);
	}
}

static void test_lapse(void **state)
{
	static const struct {
		uint64_t grace, lapse;
	} want[] = {
		{0, SEC(100) + SEC(600)},
		{SEC(30), SEC(100) + SEC(120)},
		{SEC(1), SEC(100) + SEC(62)},
		{1, SEC(100) + SEC(60) + 2},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		b.stop->grace.ns = want[i].grace;
		bench_shoot(&b, SEC(100), 15, RELATION_MANAGER, 1,
			    GRACED_SIG_SHIELDED | GRACED_SIG_DFL);
		assert_true(b.stop->deaf);
		assert_int_equal(stop_lapse_ns(b.stop), want[i].lapse);
		stop_lapse(&b.map, b.stop);
		assert_int_equal(b.stop->state, STOP_RUNNING);
		assert_ptr_equal(b.stop->request, &stop_no_signal);
		assert_false(b.stop->deaf);
		assert_int_equal(b.stop->request_sigs, 0);
		/* What comes later is a request of its own. */
		bench_shoot(&b, SEC(2000), 2, RELATION_HOST, 0, 0);
		assert_int_equal(b.stop->request->at_ns, SEC(2000));
		assert_int_equal(b.stop->request_sigs, 1ULL << 1);
		bench_close(&b);
	}
}

static void test_lapse_only_of_a_request(void **state)
{
	for (int s = 0; s < STOP_STATE_COUNT; s++) {
		struct bench b;

		bench_open(&b, (enum stop_state)s);
		b.stop->deaf = true;
		stop_lapse(&b.map, b.stop);
		assert_int_equal(b.stop->deaf, s != STOP_REQUESTED);
		bench_close(&b);
	}
}

static void test_fatal_kill(void **state)
{
	const uint32_t acted = GRACED_SIG_GROUP_EXIT;
	struct outcome_facts facts;
	struct bench b;

	/* The last one delivered is fatal ... */
	bench_open(&b, STOP_RUNNING);
	bench_shoot(&b, SEC(5), 9, RELATION_HOST, 0, 0);
	bench_shoot(&b, SEC(6), 9, RELATION_MANAGER, 0, acted);
	stop_facts(b.stop, 0, &facts);
	assert_int_equal(facts.kill_from, RELATION_MANAGER);
	assert_int_equal(b.stop->kill->at_ns, SEC(6));
	/* ... but one to a target that is on its way out does nothing: old kernels call that
	 * delivered too, newer ones ignored. */
	bench_shoot(&b, SEC(7), 9, RELATION_OTHER_POD, 0, acted);
	bench_shoot(&b, SEC(8), 9, RELATION_OTHER_POD, 1, acted);
	bench_shoot(&b, SEC(9), 9, RELATION_OTHER_POD, 2, 0);
	assert_int_equal(b.stop->kill->at_ns, SEC(6));
	bench_close(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("every state answers every event as the table says", test_table),
		CLAIM("a signal is a request, a kill or nothing by number, sender, result and state",
		      test_what_counts),
		CLAIM("a second stop signal does not restart the clock, unless a manager's "
		      "replaces another's",
		      test_repeats),
		CLAIM("deaf is ignored by default under PID 1's shield and not dying", test_deaf),
		CLAIM("a request lapses after twice its grace and a minute, or ten minutes",
		      test_lapse),
		CLAIM("only an open request lapses", test_lapse_only_of_a_request),
		CLAIM("the fatal kill is the last one delivered that did something",
		      test_fatal_kill),
	};

	return cmocka_run_group_tests_name("core/stop", tests, NULL, NULL);
}
