// SPDX-License-Identifier: Apache-2.0
/* Claims about the engine in a node's shutdown: who does not hear its stop signal, and whether
 * another process in its container was signalled. */
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

/* The runtime asks its init, which does not hear it. */
static void ask_deaf(struct world *w)
{
	const struct shot shot = {
		.sig = 15,
		.result = 1,
		.flags = GRACED_SIG_GROUP | GRACED_SIG_SHIELDED | GRACED_SIG_DFL,
		.from = &P_RUNC,
		.to = &P_A1,
		.parents = {&P_SHIM, &P_SYSTEMD},
	};

	world_shot(w, ASKED, CG_A1, &shot);
	shutworld_tell(w, ASKED, SHUTDOWN_EV_HOLDERS);
}

static void look(struct world *w, uint64_t at, bool looked, uint64_t signalled_ns)
{
	struct obs obs = {
		.type = OBS_COUNTS,
		.at_ns = at,
		.counts = {.id = CG_A1,
			   .populated = true,
			   .looked = looked,
			   .told_at_ns = signalled_ns},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* No process in it was signalled, or not since this shutdown began. */
static void test_deaf(void **state)
{
	static const uint64_t signalled[] = {0, ANNOUNCED - 1};

	for (size_t i = 0; i < LEN(signalled); i++) {
		struct world w;

		shutworld_open(&w, SHUTDOWN_ASSIST, SEC(2));
		shutworld_announce(&w);
		ask_deaf(&w);
		shutworld_pass(&w, ASKED + SEC(2) - 1);
		assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 0);
		shutworld_pass(&w, ASKED + SEC(2));
		assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 1);
		assert_int_equal(world_effect(&w, EFFECT_READ_COUNTS)->id, CG_A1);
		assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
		look(&w, ASKED + SEC(2) + MSEC(1), true, signalled[i]);
		assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
		assert_int_equal(world_effect(&w, EFFECT_KILL)->id, CG_A1);
		assert_true(shutworld_step(&w, SHUTDOWN_REPORT_KILLED)->step.deaf);
		world_close(&w);
	}
}

static void test_deaf_others_signalled(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, SEC(2));
	shutworld_announce(&w);
	ask_deaf(&w);
	shutworld_pass(&w, ASKED + SEC(2));
	look(&w, ASKED + SEC(2), true, ASKED + SEC(1));
	shutworld_pass(&w, ASKED + SEC(22) - 1);
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(22));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	assert_false(shutworld_step(&w, SHUTDOWN_REPORT_KILLED)->step.deaf);
	world_close(&w);
}

/* The pod was deleted before, and a hook has signalled its processes since. */
static void test_deaf_hook_signalled(void **state)
{
	struct meta_pod pod = world_pod_deleted(ANNOUNCED - SEC(3), SEC(45));
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, SEC(2));
	world_lists(&w, ANNOUNCED - SEC(3), &pod);
	shutworld_announce(&w);
	ask_deaf(&w);
	shutworld_pass(&w, ASKED + SEC(2));
	look(&w, ASKED + SEC(2), true, ANNOUNCED - SEC(2));
	shutworld_pass(&w, ASKED + SEC(10));
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	world_close(&w);
}

static void test_deaf_unseen(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, SEC(2));
	shutworld_announce(&w);
	ask_deaf(&w);
	/* Before its time came, and by a sweep that did not look. */
	shutworld_pass(&w, ASKED + SEC(2) - 1);
	look(&w, ASKED + SEC(2) - 1, true, 0);
	shutworld_pass(&w, ASKED + SEC(2));
	look(&w, ASKED + SEC(2), false, 0);
	shutworld_pass(&w, ASKED + SEC(10));
	/* No answer comes: once a second it is asked again. */
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 9);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	world_close(&w);
}

/* An httpGet hook tells it to drain, and no signal shows that. */
static void test_deaf_hook(void **state)
{
	struct meta_container main = world_main_a1();
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, SEC(2));
	main.known |= META_CTR_PRESTOP;
	main.prestop = true;
	world_say_container(&w, SEC(99), &main);
	shutworld_announce(&w);
	ask_deaf(&w);
	shutworld_pass(&w, ASKED + SEC(10));
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 0);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(22));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	world_close(&w);
}

static void test_deaf_spared(void **state)
{
	static const struct {
		enum shutdown_mode mode;
		uint64_t deaf_grace_ns;
		bool deaf;
	} rows[] = {
		{SHUTDOWN_ASSIST, 0, true},
		{SHUTDOWN_OBSERVE, SEC(2), true},
		{SHUTDOWN_ASSIST, SEC(2), false},
	};

	for (size_t i = 0; i < 3; i++) {
		struct world w;

		shutworld_open(&w, rows[i].mode, rows[i].deaf_grace_ns);
		shutworld_announce(&w);
		if (rows[i].deaf)
			ask_deaf(&w);
		else
			world_managed(&w, ASKED, CG_A1, &P_A1, 15);
		shutworld_pass(&w, ASKED + SEC(10));
		assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 0);
		look(&w, ASKED + SEC(10), true, 0);
		assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
		world_close(&w);
	}
}

static void test_deaf_missed(void **state)
{
	struct obs missed = {
		.type = OBS_LOST, .at_ns = ASKED + SEC(1), .lost = {.recursion_misses = 1}};
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, SEC(2));
	shutworld_announce(&w);
	ask_deaf(&w);
	assert_int_equal(world_tell(&w, &missed), 0);
	shutworld_pass(&w, ASKED + SEC(2));
	look(&w, ASKED + SEC(2), true, 0);
	shutworld_pass(&w, ASKED + SEC(10));
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	world_close(&w);
}

/* It was judged to be deaf for long enough, and is to be killed; the SIGKILL may be another's. */
static void decide(struct world *w)
{
	shutworld_open(w, SHUTDOWN_ASSIST, SEC(2));
	shutworld_announce(w);
	ask_deaf(w);
	shutworld_pass(w, ASKED + SEC(2));
	look(w, ASKED + SEC(2) + MSEC(1), true, 0);
	assert_int_equal(world_effects(w, EFFECT_KILL), 1);
}

static void die(struct world *w, const struct graced_proc *killer)
{
	uint64_t at = ASKED + SEC(2) + MSEC(2);

	if (killer)
		world_from(w, at, CG_A1, &P_A1, 9, killer);
	else
		world_managed(w, at, CG_A1, &P_A1, 9);
	world_exit(w, at + MSEC(1), CG_A1, &P_A1, 9);
	world_empty(w, at + MSEC(2), CG_A1);
	world_timer(w, at + SEC(1));
}

/* Whatever others may have given it: that graced decided so is a fact. */
static void test_cause(void **state)
{
	struct world w;

	decide(&w);
	die(&w, &P_SELF);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_DEAF_GRACE, 0);
	assert_true(world_stop(&w)->deaf);
	world_close(&w);
}

static void test_cause_others(void **state)
{
	struct world w;

	decide(&w);
	die(&w, NULL);
	assert_int_equal(world_stop(&w)->cause, CAUSE_GRACE_EXPIRED);
	assert_int_equal(world_stop(&w)->gaps, GAP(GRACE_UNCERTAIN));
	world_close(&w);
	/* graced's own kill at the end of its time. */
	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	ask_deaf(&w);
	shutworld_pass(&w, ASKED + SEC(22));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	world_from(&w, ASKED + SEC(22), CG_A1, &P_A1, 9, &P_SELF);
	world_exit(&w, ASKED + SEC(22) + MSEC(1), CG_A1, &P_A1, 9);
	world_empty(&w, ASKED + SEC(22) + MSEC(2), CG_A1);
	world_timer(&w, ASKED + SEC(23));
	assert_int_equal(world_stop(&w)->cause, CAUSE_GRACE_EXPIRED);
	world_close(&w);
}

/* The next engine sees the SIGKILL that this one decided to send, or its end alone. */
static void test_cause_restart(void **state)
{
	struct obs_list kept = {};
	struct world w;

	decide(&w);
	engine_keep(w.engine, true, relay_keep, &kept);
	world_close(&w);
	world_open_bare(&w, &WORLD_ALL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	obs_list_free(&kept);
	world_found(&w, ASKED + SEC(2), CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(&w, ASKED + SEC(2), CG_A1,
		    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_found(&w, ASKED + SEC(2), CG_SANDBOX,
		    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_SANDBOX);
	world_init(&w, ASKED + SEC(2), CG_A1, &P_A1);
	world_attach(&w, ASKED + SEC(2));
	die(&w, &P_SELF);
	assert_int_equal(world_stop(&w)->cause, CAUSE_DEAF_GRACE);
	assert_int_equal(world_stop(&w)->gaps & GAP(GRACE_UNCERTAIN), 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a deaf container is ended early when a look at its others finds none signalled",
		      test_deaf),
		CLAIM("but has its own time when one of them was signalled",
		      test_deaf_others_signalled),
		CLAIM("or when that was before, by a hook of its pod's deletion",
		      test_deaf_hook_signalled),
		CLAIM("or when it has a preStop hook, that only its own time ends", test_deaf_hook),
		CLAIM("nobody is ended early whom nobody has looked at", test_deaf_unseen),
		CLAIM("nobody looks without the wish, in observe, or at who heard",
		      test_deaf_spared),
		CLAIM("graced's decision to end a deaf container is the cause, and complete",
		      test_cause),
		CLAIM("but not of another's SIGKILL, nor of one at the end of its time",
		      test_cause_others),
		CLAIM("and it is known to the next engine", test_cause_restart),
		CLAIM("a program that was not run may have been somebody's signal",
		      test_deaf_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
