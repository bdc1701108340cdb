// SPDX-License-Identifier: Apache-2.0
/* Claims about the engine in a shutdown that graced drives: containers in no pod, and services, by
 * the rules of shutdown.managed. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_meta.h"
#include "lib/shutdown/margin.h"
#include "lib/shutdown/shutworld.h"

#define ID_D2 HEX_64("f")

enum { CG_WEB = 70, CG_D2, CG_FORGED };

static const struct graced_proc P_WEB = {.pid = 5100,
					 .ns_pid = 5100,
					 .start_ns = SEC(3),
					 .cgroup_id = CG_WEB,
					 .watch_id = CG_WEB,
					 .comm = "web"},
				P_D2 = {.pid = 5200,
					.ns_pid = 1,
					.start_ns = SEC(3),
					.cgroup_id = CG_D2,
					.watch_id = CG_D2,
					.comm = "db"};

static const char *const both[] = {"scope=docker priority=1000", "unit=web.service priority=0",
				   NULL};

static void attach_in(struct world *w, const char *own)
{
	struct obs obs = {.type = OBS_ATTACHED, .at_ns = SEC(4), .attached = {.self_pid = 77}};

	strcpy(obs.attached.boot_id, WORLD_BOOT);
	strcpy(obs.attached.self_cgroup, own);
	assert_int_equal(world_tell(w, &obs), 0);
}

/* web.service, and of Docker's containers D1 with a stop timeout of 5 s, less a part, and D2, which
 * no source describes. Priorities below 1000 have 20 s, the others 8. own: graced's cgroup. */
static void open_in(struct world *w, enum shutdown_mode mode, const char *const *rules,
		    const char *own)
{
	/* In there what other users made counts as a container, too. */
	static const char *const roots[] = {"/", NULL};
	const struct engine_config config = {.scope = SCOPE_SERVICES,
					     .container_roots = roots,
					     .sources = 1u << META_SYSTEMD | 1u << META_DOCKER};
	const struct obs_shutdown_plan plan = {
		.mode = mode, .n_ranges = 2, .ranges = {{0, 20}, {1000, 8}}};
	const struct meta_container docker = {.source = META_DOCKER,
					      .kind = META_KIND_CONTAINER,
					      .id = WORLD_ID_D1,
					      .name = "redis",
					      .known = META_CTR_GRACE,
					      .grace_ns = MSEC(4001)};

	world_open(w, &config);
	attach_in(w, own);
	world_found(w, SEC(5), CG_WEB, "/system.slice/web.service");
	world_found(w, SEC(5), CG_D2, "/docker/" ID_D2);
	world_init(w, SEC(10), CG_WEB, &P_WEB);
	world_init(w, SEC(10), CG_D1, &P_D1);
	world_init(w, SEC(10), CG_D2, &P_D2);
	world_init(w, SEC(10), CG_SSHD, &P_SSHD);
	world_say_container(w, SEC(12), &docker);
	for (; *rules; rules++) {
		struct obs rule = {.type = OBS_SHUTDOWN_RULE, .at_ns = SEC(20)};

		assert_null(managed_parse(*rules, &rule.shutdown_rule));
		assert_int_equal(world_tell(w, &rule), 0);
	}
	shutworld_set_plan(w, SEC(20), &plan);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOGIND_UP);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOCK_TAKEN);
	world_clear(w);
}

static void open_by(struct world *w, const char *const *rules)
{
	open_in(w, SHUTDOWN_MANAGE, rules, "");
}

static void announce(struct world *w)
{
	shutworld_announce(w);
	shutworld_answer(w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
}

static void ends(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *init)
{
	world_exit(w, at, id, init, EXIT(0));
	world_empty(w, at, id);
}

/* The one effect of that type since it was looked last. */
static void expect(struct world *w, enum effect_type type, uint64_t id)
{
	assert_int_equal(world_effects(w, type), 1);
	assert_int_equal(world_effect(w, type)->id, id);
}

static void expect_nothing(struct world *w)
{
	assert_int_equal(world_effects(w, EFFECT_STOP), 0);
	assert_int_equal(world_effects(w, EFFECT_SIGNAL), 0);
	assert_int_equal(world_effects(w, EFFECT_KILL), 0);
}

static void test_order(void **state)
{
	struct world w;

	open_by(&w, both);
	announce(&w);
	/* The service's timeout is unknown: it has its group's. */
	expect(&w, EFFECT_STOP, CG_WEB);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, SEC(20));
	assert_string_equal(world_effect(&w, EFFECT_STOP)->pod_uid, "");
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_STOP_FAILED, CG_WEB);
	expect(&w, EFFECT_SIGNAL, CG_WEB);
	assert_int_equal(world_effect(&w, EFFECT_SIGNAL)->signal, 15);
	assert_int_equal(world_effect(&w, EFFECT_SIGNAL)->pid, P_WEB.pid);
	world_from(&w, ASKED, CG_WEB, &P_WEB, 15, &P_SELF);
	world_clear(&w);
	ends(&w, ASKED + SEC(1), CG_WEB, &P_WEB);
	expect(&w, EFFECT_STOP, CG_D1);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, SEC(5));
	shutworld_answer(&w, ASKED + SEC(1), SHUTDOWN_EV_STOP_FAILED, CG_D1);
	world_from(&w, ASKED + SEC(1), CG_D1, &P_D1, 15, &P_SELF);
	shutworld_pass(&w, ASKED + SEC(6) - 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(6));
	expect(&w, EFFECT_KILL, CG_D1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_KILLED)->step.container.id, CG_D1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_KILLED)->step.group, 1);
	world_clear(&w);
	ends(&w, ASKED + SEC(6), CG_D1, &P_D1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED)->step.reason,
			 SHUTDOWN_ALL_STOPPED);
	expect_nothing(&w);
	world_close(&w);
}

/* Docker's own timeout is 10 s, and the group has 8. */
static void test_default_grace(void **state)
{
	static const char *const rules[] = {"scope=containers priority=1000", NULL};
	struct world w;

	open_by(&w, rules);
	ends(&w, SEC(30), CG_D1, &P_D1);
	announce(&w);
	expect(&w, EFFECT_STOP, CG_D2);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, SEC(8));
	world_close(&w);
}

static void expect_unknown(struct world *w)
{
	expect_nothing(w);
	assert_int_equal(shutworld_status(w).living, 0);
}

static void test_left_alone(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const all[] = {"unit=*.service priority=0",
					  "scope=containers priority=0", NULL};
	static const struct {
		enum shutdown_mode mode;
		const char *const *rules;
		const char *own;
		uint64_t spared;
	} rows[] = {
		{SHUTDOWN_MANAGE, none, "", 0},
		{SHUTDOWN_OBSERVE, all, "", 0},
		{SHUTDOWN_ASSIST, all, "", 0},
		{SHUTDOWN_MANAGE, all, "/system.slice/web.service", CG_WEB},
		{SHUTDOWN_MANAGE, all, "/system.slice/web.service/below", CG_WEB},
		{SHUTDOWN_MANAGE, all, "/docker/" ID_D2, CG_D2},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct world w;

		open_in(&w, rows[i].mode, rows[i].rules, rows[i].own);
		announce(&w);
		if (!rows[i].spared)
			expect_unknown(&w);
		else
			assert_int_equal(world_effects(&w, EFFECT_STOP), 2);
		for (size_t e = 0; e < w.n_effects; e++)
			assert_true(
				w.effects[e].type != EFFECT_STOP ||
				(w.effects[e].id != rows[i].spared && w.effects[e].id != CG_SSHD));
		world_close(&w);
	}
}

/* Neither a container that graced is the init of nor a rule that comes later counts; another unit's
 * name may begin like that of graced's. */
static void test_own(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const all[] = {"unit=*.service priority=0",
					  "scope=containers priority=0", NULL};
	struct obs rule = {.type = OBS_SHUTDOWN_RULE, .at_ns = SEC(30)};
	struct graced_proc init = P_D2;
	struct world w;

	open_by(&w, all);
	world_found(&w, SEC(30), CG_FORGED, "/docker/" HEX_64("9"));
	init.pid = P_SELF.pid;
	init.cgroup_id = init.watch_id = CG_FORGED;
	world_init(&w, SEC(31), CG_FORGED, &init);
	announce(&w);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 3);
	for (size_t e = 0; e < w.n_effects; e++)
		assert_true(w.effects[e].type != EFFECT_STOP || w.effects[e].id != CG_FORGED);
	world_close(&w);

	open_in(&w, SHUTDOWN_MANAGE, all, "/system.slice/web.service-2");
	announce(&w);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 3);
	world_close(&w);

	open_by(&w, none);
	assert_null(managed_parse(all[0], &rule.shutdown_rule));
	assert_int_equal(world_tell(&w, &rule), 0);
	announce(&w);
	expect_unknown(&w);
	world_close(&w);
}

/* graced does not signal anew what systemd asks. */
static void test_asked_by_systemd(void **state)
{
	static const char *const rules[] = {"unit=web.service priority=0", NULL};
	struct world w;

	open_by(&w, rules);
	announce(&w);
	world_from(&w, ASKED, CG_WEB, &P_WEB, 15, &P_SYSTEMD);
	shutworld_answer(&w, ASKED + SEC(1), SHUTDOWN_EV_STOP_FAILED, CG_WEB);
	shutworld_pass(&w, ASKED + SEC(3));
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	world_close(&w);
}

/* Who may choose names below a directory chooses no priority. */
static void test_forged(void **state)
{
	static const char *const rules[] = {"unit=web.service priority=0",
					    "scope=containers priority=0", NULL};
	struct graced_proc init = P_WEB;
	struct obs obs = {.type = OBS_CGROUP_FOUND,
			  .at_ns = SEC(30),
			  .cgroup = {.id = CG_FORGED, .delegated_level = 2}};
	struct world w;

	open_by(&w, rules);
	strcpy(obs.cgroup.path, "/custom/web.slice/docker-" HEX_64("e") ".scope");
	assert_int_equal(world_tell(&w, &obs), 0);
	init.pid = 6000;
	init.cgroup_id = init.watch_id = CG_FORGED;
	world_init(&w, SEC(31), CG_FORGED, &init);
	announce(&w);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 3);
	for (size_t e = 0; e < w.n_effects; e++)
		assert_true(w.effects[e].type != EFFECT_STOP || w.effects[e].id != CG_FORGED);
	world_close(&w);
}

static void say_labels(struct world *w, uint64_t at, uint32_t labels)
{
	const struct meta_container c = {.source = META_DOCKER,
					 .kind = META_KIND_CONTAINER,
					 .id = ID_D2,
					 .name = "db",
					 .known = META_CTR_LABELS,
					 .labels = labels};

	world_say_container(w, at, &c);
}

/* The source has nothing about the labels of Docker's containers. */
static void answer_names(struct world *w)
{
	world_answer(w, ASKED, CG_D1, "", WORLD_ID_D1);
	world_answer(w, ASKED, CG_D2, "", ID_D2);
}

/* A source that is slow is queried again, and decides until the container's turn has come. */
static void test_late_label(void **state)
{
	static const char *const rules[] = {"label=tier=db priority=1000",
					    "unit=web.service priority=0", NULL};
	static const char *const wider[] = {"label=tier=db priority=1000",
					    "scope=containers priority=0", NULL};
	struct world w;

	open_by(&w, rules);
	world_answer(&w, SEC(50), CG_D2, "", ID_D2);
	world_clear(&w);
	announce(&w);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 2);
	answer_names(&w);
	expect(&w, EFFECT_STOP, CG_WEB);
	say_labels(&w, ASKED + SEC(1), 1);
	world_clear(&w);
	ends(&w, ASKED + SEC(2), CG_WEB, &P_WEB);
	expect(&w, EFFECT_STOP, CG_D2);
	world_close(&w);

	open_by(&w, wider);
	announce(&w);
	answer_names(&w);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 2);
	say_labels(&w, ASKED + SEC(1), 1);
	ends(&w, ASKED + SEC(2), CG_D1, &P_D1);
	assert_null(shutworld_step(&w, SHUTDOWN_REPORT_GROUP_DONE));
	ends(&w, ASKED + SEC(3), CG_D2, &P_D2);
	assert_non_null(shutworld_step(&w, SHUTDOWN_REPORT_GROUP_DONE));
	world_close(&w);
}

/* What a source is being queried about may be what a rule names: for 5 s at the most. */
static void test_label_awaited(void **state)
{
	static const char *const rules[] = {"label=tier=db priority=1000",
					    "scope=containers priority=0", NULL};
	static const char *const only[] = {"label=tier=db priority=1000", NULL};
	struct world w;

	open_by(&w, rules);
	announce(&w);
	expect_nothing(&w);
	say_labels(&w, ASKED + SEC(1), 1);
	expect_nothing(&w);
	world_answer(&w, ASKED + SEC(1), CG_D1, "", WORLD_ID_D1);
	expect(&w, EFFECT_STOP, CG_D1);
	ends(&w, ASKED + SEC(2), CG_D1, &P_D1);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 2);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->id, CG_D2);
	world_close(&w);

	open_by(&w, only);
	announce(&w);
	shutworld_pass(&w, ANNOUNCED + SHUTDOWN_JOIN_NS - 1);
	assert_null(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED));
	shutworld_pass(&w, ANNOUNCED + SHUTDOWN_JOIN_NS);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED)->step.reason,
			 SHUTDOWN_ALL_STOPPED);
	expect_nothing(&w);
	world_close(&w);
}

static void restart(struct world *w, uint64_t at, uint32_t pid)
{
	struct graced_proc again = P_WEB;

	again.pid = pid;
	again.start_ns = at;
	world_init(w, at, CG_WEB, &again);
}

/* What systemd or dockerd restarts is stopped again, until the last group and the limit are over. */
static void test_restarted(void **state)
{
	static const char *const rules[] = {"unit=web.service priority=0",
					    "scope=docker priority=0", NULL};
	struct graced_proc again = P_WEB;
	uint64_t at;
	struct world w;

	open_by(&w, rules);
	announce(&w);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 2);
	ends(&w, ASKED, CG_D1, &P_D1);
	shutworld_pass(&w, ASKED + SEC(4));
	ends(&w, ASKED + SEC(4), CG_WEB, &P_WEB);
	restart(&w, ASKED + SEC(4), 5101);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 3);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->id, CG_WEB);
	/* The first was the last of its group, and there is none after it. */
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, 0);
	again.pid = 5101;
	again.start_ns = ASKED + SEC(4);
	ends(&w, ASKED + SEC(4), CG_WEB, &again);
	assert_non_null(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED));
	at = ANNOUNCED + LIMIT - margin_ns(LIMIT);
	shutworld_pass(&w, at);
	restart(&w, at, 5102);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 3);
	world_close(&w);
}

/* Its neighbour lives. */
static void test_restarted_in_group(void **state)
{
	static const char *const rules[] = {"unit=web.service priority=0",
					    "scope=docker priority=0", NULL};
	struct world w;

	open_by(&w, rules);
	announce(&w);
	world_from(&w, ASKED, CG_WEB, &P_WEB, 15, &P_SELF);
	world_from(&w, ASKED, CG_D1, &P_D1, 15, &P_SELF);
	shutworld_pass(&w, ASKED + SEC(4));
	ends(&w, ASKED + SEC(4), CG_WEB, &P_WEB);
	restart(&w, ASKED + SEC(4), 5101);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 3);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->id, CG_WEB);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, SEC(16));
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("containers and services that rules name are stopped group by group",
		      test_order),
		CLAIM("a container has the less of its own timeout and its group's time",
		      test_default_grace),
		CLAIM("without a rule, in another mode, and where graced is, nothing is stopped",
		      test_left_alone),
		CLAIM("graced is left alone by every way that shows where it is", test_own),
		CLAIM("a service that systemd asks is asked", test_asked_by_systemd),
		CLAIM("a name that a user may choose matches no rule", test_forged),
		CLAIM("a label that is known late decides until the container's turn",
		      test_late_label),
		CLAIM("a label that a source is queried for is awaited, for 5 s",
		      test_label_awaited),
		CLAIM("what is restarted is stopped again, and not for ever", test_restarted),
		CLAIM("what is restarted has what is left of its group", test_restarted_in_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
