// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/engine: when it no longer matters what went unseen while no daemon ran, or
 * before the first one was attached. What is complete then is what an engine says that saw all.
 */
#include <string.h>

#include "core/stop/stop.h"
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

/* A request lapses after 120 s, or after 600 s where the grace period is not known. */
static const struct engine_config GRACE_30 = {.scope = SCOPE_CONTAINERS,
					      .assumed_grace_ns = SEC(30)};
static const struct engine_config SCOPED_ALL = {.scope = SCOPE_ALL};

#define LAPSE	 SEC(600)
#define LAPSE_30 SEC(120)

static void find(struct world *w, uint64_t at)
{
	world_found(w, at, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(w, at, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_found(w, at, CG_A2, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A2);
	world_found(w, at, CG_SYSTEM, "/system.slice");
}

/* The container goes on, and the next engine is attached at that time. */
static void restart(struct world *w, const struct engine_config *config, uint64_t at)
{
	struct obs_list kept = {};

	engine_keep(w->engine, true, relay_keep, &kept);
	world_close(w);
	world_open_bare(w, config);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(w, &kept.list[i]);
	obs_list_free(&kept);
	find(w, at - MSEC(1));
	world_init(w, at - MSEC(1), CG_A1, &P_A1);
	world_attach(w, at);
}

static void open_late(struct world *w, const struct engine_config *config, uint32_t rank,
		      uint64_t at)
{
	world_open_bare(w, config);
	find(w, at - MSEC(2));
	world_ranked(w, at - MSEC(1), CG_A1, &P_A1, rank);
	world_attach(w, at);
	world_names(w, at + 1, WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
}

static void end(struct world *w, uint64_t at, uint32_t status)
{
	world_exit(w, at, CG_A1, &P_A1, status);
	world_empty(w, at + 1000, CG_A1);
	world_timer(w, at + SEC(1));
}

/* --- when it lapses ---------------------------------------------------------------------------- */

static void test_bound(void **state)
{
	static const struct {
		const struct engine_config *config;
		uint64_t lapse;
	} ways[] = {{NULL, LAPSE}, {&GRACE_30, LAPSE_30}};

	for (int i = 0; i < 8; i++) {
		const struct engine_config *config = ways[i & 1].config;
		bool late = i & 2, over = i & 4;
		struct world w;

		if (late) {
			open_late(&w, config, GRACED_INIT_PID1, SEC(100));
		} else {
			world_open(&w, config);
			world_init(&w, SEC(10), CG_A1, &P_A1);
			restart(&w, config, SEC(100));
		}
		end(&w, SEC(100) + ways[i & 1].lapse - !over, EXIT(0));
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF,
			       over   ? 0
			       : late ? GAP(ATTACHED_LATE)
				      : GAP(DAEMON_DOWN));
		assert_int_equal(world_stop(&w)->oom_kills_unknown, over);
		world_close(&w);
	}
}

/* The age of the checkpoint is nothing to go by. */
static void test_old_checkpoint(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	restart(&w, NULL, SEC(90000));
	end(&w, SEC(90000) + LAPSE - 1, EXIT(0));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(DAEMON_DOWN));
	world_close(&w);
}

static void test_restarted_again(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	restart(&w, NULL, SEC(100));
	/* Over once, which is found out at a signal. */
	world_from(&w, SEC(100) + LAPSE, CG_A1, &P_A1, 1, &P_SHELL);
	restart(&w, NULL, SEC(1000));
	end(&w, SEC(1000) + LAPSE - 1, EXIT(0));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(DAEMON_DOWN));
	world_close(&w);
}

/* What was sent unseen may have been the request, and this one its repetition. */
static void test_repetition(void **state)
{
	static const struct {
		uint64_t asked, exit;
		enum outcome outcome;
		uint32_t gaps;
	} rows[] = {
		{LAPSE - SEC(1), LAPSE + SEC(1), OUTCOME_GRACEFUL, GAP(DAEMON_DOWN)},
		{LAPSE - SEC(1), 2 * LAPSE, OUTCOME_COMPLETED, 0},
		{LAPSE, LAPSE + SEC(1), OUTCOME_GRACEFUL, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		restart(&w, NULL, SEC(100));
		world_managed(&w, SEC(100) + rows[i].asked, CG_A1, &P_A1, 15);
		end(&w, SEC(100) + rows[i].exit, EXIT(0));
		assert_verdict(&w, rows[i].outcome,
			       rows[i].outcome == OUTCOME_GRACEFUL ? CAUSE_STOP_SIGNAL : CAUSE_SELF,
			       rows[i].gaps);
		world_close(&w);
	}
}

/* --- what does not ----------------------------------------------------------------------------- */

/* It was blocked, pending or the process was frozen; by now its sender cannot be found. */
static void test_pending(void **state)
{
	static const struct {
		uint32_t before, after, status;
		enum cause cause;
		uint32_t gaps;
	} rows[] = {
		{0, 0, 15, CAUSE_UNKNOWN, GAP(KILL_UNSEEN)},
		{3, 0, 3, CAUSE_UNKNOWN, GAP(KILL_UNSEEN)},
		{0, 3, 3, CAUSE_HOST, 0},
		{3, 3, 3, CAUSE_HOST, 0},
		{0, 0, 31, CAUSE_UNKNOWN, GAP(KILL_UNSEEN)},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		if (rows[i].before)
			world_from(&w, SEC(20), CG_A1, &P_A1, rows[i].before, &P_A1_CHILD);
		restart(&w, NULL, SEC(100));
		if (rows[i].after)
			world_from(&w, SEC(110), CG_A1, &P_A1, rows[i].after, &P_SHELL);
		end(&w, SEC(110) + 2 * LAPSE, rows[i].status);
		assert_verdict(&w,
			       rows[i].cause == CAUSE_HOST ? OUTCOME_TERMINATED : OUTCOME_CRASHED,
			       rows[i].cause, rows[i].gaps);
		world_close(&w);
	}
}

static void test_guess_stays(void **state)
{
	struct world w;

	open_late(&w, NULL, GRACED_INIT_GUESSED, SEC(3));
	end(&w, SEC(3) + LAPSE, EXIT(0));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(INIT_GUESSED));
	world_close(&w);
}

/* With scope all no grace period is that of a process. */
static void test_process(void **state)
{
	const struct graced_proc old = {.pid = 901, .start_ns = SEC(1), .comm = "old"};
	const struct shot quit = {.sig = 10, .from = &P_SHELL, .to = &old, .not_init = true};

	for (int over = 0; over < 2; over++) {
		uint64_t at = SEC(100) + LAPSE - !over;
		struct world w;
		struct obs obs = {
			.type = OBS_EXIT, .at_ns = at, .exit = {.proc = old, .status = 10}};

		world_open_bare(&w, &SCOPED_ALL);
		world_attach(&w, SEC(100));
		world_shot(&w, at - 1000, 0, &quit);
		assert_int_equal(world_tell(&w, &obs), 0);
		assert_verdict(&w, OUTCOME_TERMINATED, CAUSE_HOST, over ? 0 : GAP(ATTACHED_LATE));
		world_close(&w);
	}
}

/* --- walks ------------------------------------------------------------------------------------- */

#define WALKS 400
#define CUTS  12

static uint64_t seed;
static const struct engine_config *walk_config;

static uint64_t draw(uint64_t n)
{
	uint64_t x;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (seed ^ seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) % n;
}

/* Any sender sends any signal, which may be taken, ignored, or pending already. */
static void shoot(struct world *w, uint64_t at)
{
	static const struct graced_proc *const from[] = {&P_SHELL, &P_A1_CHILD, &P_A1,
							 &P_A2,	   &P_B1,	&P_SHIM};
	static const uint32_t sigs[] = {1, 2, 3, 3, 10, 11, 15, 15, 31};
	const struct shot shot = {.sig = sigs[draw(LEN(sigs))],
				  .result = (int32_t)draw(3),
				  .from = from[draw(LEN(from))],
				  .to = &P_A1};

	if (draw(3) == 0)
		world_managed(w, at, CG_A1, &P_A1, shot.sig);
	else
		world_shot(w, at, CG_A1, &shot);
}

static void walk(struct world *w)
{
	static const uint32_t statuses[] = {EXIT(0), EXIT(1), 2, 3, 9, 11, 15, 31, EXIT(143)};
	uint64_t at = SEC(10), n = 2 + draw(6);

	world_open(w, walk_config);
	world_init(w, at, CG_A1, &P_A1);
	for (uint64_t i = 0; i < n; i++) {
		at += draw(2) ? draw(SEC(60)) : draw(SEC(700));
		if (draw(5) == 0)
			world_timer(w, at);
		else
			shoot(w, at);
	}
	at += draw(2) ? draw(SEC(20)) : draw(SEC(700));
	if (draw(4) == 0)
		world_managed(w, at, CG_A1, &P_A1, 9);
	world_exit(w, at + 50000, CG_A1, &P_A1, statuses[draw(LEN(statuses))]);
	world_empty(w, at + 70000, CG_A1);
}

static bool says_the_same(const struct record_stop *a, const struct record_stop *b)
{
	return a->outcome == b->outcome && a->cause == b->cause && a->deaf == b->deaf &&
	       a->reason == b->reason && a->stop_signal.known == b->stop_signal.known &&
	       a->stop_signal.at_ns == b->stop_signal.at_ns &&
	       a->kill_signal.known == b->kill_signal.known && a->latency_ns == b->latency_ns;
}

/* Whether it is complete though a restart was in its life. */
static bool check(const struct relay *relay, const struct relay_leg *leg)
{
	const struct record_stop *want = &world_record(&relay->whole, RECORD_STOP, 0)->stop;
	const struct record_stop *got = NULL;
	struct relay_run run;
	bool complete;

	relay_run(relay, leg, &run);
	assert_int_equal(relay_count_stops(&run, want->id, &got), 1);
	complete = !got->gaps;
	if (complete && !says_the_same(want, got))
		fail_msg("%s/%s, not %s/%s: cut at %zu, %zu lost", outcome_name(got->outcome),
			 cause_name(got->cause), outcome_name(want->outcome),
			 cause_name(want->cause), leg->at, leg->lost);
	relay_run_close(&run);
	return complete;
}

static void test_walks(void **state)
{
	size_t n_complete = 0, n_lost = 0;

	seed = 11;
	for (int i = 0; i < WALKS; i++) {
		struct relay relay;

		walk_config = i % 2 ? &GRACE_30 : NULL;
		relay_open(&relay, walk_config, walk);
		for (int n = 0; n < CUTS; n++) {
			/* From the init to before its exit. */
			size_t from = relay.attached + 1, to = relay.fed.n - 2;
			struct relay_leg leg = {.incremental = n % 2, .at = from + draw(to - from)};

			leg.lost = draw(to - leg.at);
			n_lost += leg.lost;
			n_complete += check(&relay, &leg);
		}
		relay_close(&relay);
	}
	print_message("# %zu complete, %zu observations lost\n", n_complete, n_lost);
	assert_true(n_complete > WALKS && n_lost > WALKS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what went unseen matters until a request would have lapsed, no longer",
		      test_bound),
		CLAIM("... counted from the start of the daemon, not from its checkpoint",
		      test_old_checkpoint),
		CLAIM("each restart begins it anew", test_restarted_again),
		CLAIM("it matters for a request that may be a repetition", test_repetition),
		CLAIM("a death by a signal of then is never explained by one that was seen",
		      test_pending),
		CLAIM("an init that was guessed stays a guess", test_guess_stays),
		CLAIM("it is the same with a process of scope all", test_process),
		CLAIM("what is complete after a restart is what an engine says that saw all",
		      test_walks),
	};

	return cmocka_run_group_tests_name("core/engine: what went unseen", tests, NULL, NULL);
}
