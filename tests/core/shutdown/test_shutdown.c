// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown's lock: when it is asked for, and when it goes. */
#include <errno.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static const struct shutdown_container web = {
	.id = 7,
	.pod_uid = "web",
	.kind = SHUTDOWN_KIND_CONTAINER,
	.populated = true,
};

static void test_asks(void **state)
{
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_OBSERVE, 0);
	shutstage_run(&s, 100);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_plain(&s, SHUTDOWN_EV_LOGIND_UP);
	assert_string_equal(shutstage_log(&s), "take\n");
	for (double wait = 1, at = 100; wait < 100; wait *= 2) {
		double pause = wait < 30 ? wait : 30;

		shutstage_plain(&s, SHUTDOWN_EV_LOCK_REFUSED);
		shutstage_run(&s, at + pause - 0.1);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_run(&s, at += pause);
		assert_string_equal(shutstage_log(&s), "take\n");
	}
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_REFUSED);
	shutstage_plain(&s, SHUTDOWN_EV_LOGIND_DOWN);
	shutstage_run(&s, 1000);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_hold(&s);
	shutstage_run(&s, 2000);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

static void test_lost(void **state)
{
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_hold(&s);
	shutstage_run(&s, 100);
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_LOST);
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_TAKEN);
	assert_string_equal(shutstage_log(&s), "take\n");
	/* The second time within a minute it may wait. */
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_LOST);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 101);
	assert_string_equal(shutstage_log(&s), "take\n");
	shutstage_end(&s);
}

static void test_observe(void **state)
{
	static const struct {
		bool lives;
		const char *who; /* "" none, NULL fails, "?" never answers */
		double at_s, flushed_s;
		const char *log;
	} rows[] = {
		{false, "kubelet", 0, 0, "announced\nreleased all-empty\nflush\ndrop\n"},
		{true, "", 0, 0, "announced\nreleased no-other-lock\nflush\ndrop\n"},
		{true, NULL, 28, 28, "announced\nreleased limit\nflush\ndrop\n"},
		{true, "?", 28, 28, "announced\nreleased limit\nflush\ndrop\n"},
		{true, "kubelet", 28, 28, "announced\nreleased limit\nflush\ndrop\n"},
		{true, "kubelet", 29, 99, "announced\nreleased limit\nflush\ndrop\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_status status;
		struct shutstage s;

		shutstage_begin(&s, SHUTDOWN_OBSERVE, 0);
		if (rows[i].lives)
			shutstage_container(&s, &web);
		shutstage_hold(&s);
		shutstage_announce(&s, 30);
		shutstage_holders(&s, rows[i].who);
		shutstage_run(&s, rows[i].flushed_s < 99 ? rows[i].flushed_s : 28);
		if (rows[i].flushed_s < 99)
			shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
		shutstage_run(&s, rows[i].at_s);
		shutdown_get_status(s.sd, &status);
		assert_int_equal(status.state, SHUTDOWN_RELEASED);
		assert_false(status.locked);
		if (strcmp(shutstage_log(&s), rows[i].log) != 0)
			fail_msg("row %zu", i);
		shutstage_end(&s);
	}
}

static void test_observe_ends(void **state)
{
	struct shutdown_container c = web;
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_OBSERVE, 0);
	shutstage_container(&s, &c);
	shutstage_hold(&s);
	shutstage_announce(&s, 30);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 5);
	assert_string_equal(shutstage_log(&s), "announced\n");
	c.populated = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "released all-empty\nflush\n");
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	assert_string_equal(shutstage_log(&s), "drop\n");
	shutstage_plain(&s, SHUTDOWN_EV_STOPPING);
	assert_string_equal(shutstage_log(&s), "ended\n");
	shutstage_end(&s);
}

/* Two containers; who holds is known for 5 s, and then logind is away. */
static void begin_in_the_dark(struct shutstage *s, const char *who, bool stops)
{
	struct shutdown_container a = web, b = web;

	b.id = 8;
	shutstage_begin(s, SHUTDOWN_OBSERVE, 0);
	shutstage_container(s, &a);
	shutstage_container(s, &b);
	shutstage_hold(s);
	shutstage_announce(s, 30);
	shutstage_holders(s, who);
	shutstage_run(s, 4);
	a.asked_ns = b.asked_ns = shutstage_at(4);
	if (stops) {
		shutstage_container(s, &a);
		shutstage_container(s, &b);
	}
	shutstage_run(s, 5);
	assert_string_equal(shutstage_log(s), "announced\n");
	shutstage_plain(s, SHUTDOWN_EV_LOGIND_DOWN);
	shutstage_holders(s, NULL);
	s->who = NULL;
}

static void leaves(struct shutstage *s, uint64_t id)
{
	struct shutdown_container c = web;

	c.id = id;
	c.populated = false;
	shutstage_container(s, &c);
}

static void test_dark(void **state)
{
	struct shutstage s;

	begin_in_the_dark(&s, "kubelet", true);
	shutstage_run(&s, 10);
	leaves(&s, 7);
	shutstage_run(&s, 20);
	assert_string_equal(shutstage_log(&s), "");
	leaves(&s, 8);
	assert_string_equal(shutstage_log(&s), "released all-empty\nflush\n");
	shutstage_end(&s);
	/* A kubelet that held its lock may stop them yet. */
	begin_in_the_dark(&s, "kubelet", false);
	shutstage_run(&s, 27.9);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 28);
	assert_string_equal(shutstage_log(&s), "released limit\nflush\n");
	shutstage_end(&s);
	begin_in_the_dark(&s, "unattended-upgrades", true);
	shutstage_run(&s, 27.9);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 28);
	assert_string_equal(shutstage_log(&s), "released limit\nflush\n");
	shutstage_end(&s);
	/* There is none to wait for. */
	begin_in_the_dark(&s, "unattended-upgrades", false);
	shutstage_run(&s, 5.05);
	assert_string_equal(shutstage_log(&s), "released locks-unknown\nflush\n");
	shutstage_end(&s);
	/* It is back. */
	begin_in_the_dark(&s, "kubelet", true);
	shutstage_run(&s, 10);
	shutstage_plain(&s, SHUTDOWN_EV_LOGIND_UP);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 15);
	assert_string_equal(shutstage_log(&s), "");
	s.who = "";
	shutstage_run(&s, 15.1);
	assert_string_equal(shutstage_log(&s), "released no-other-lock\nflush\n");
	shutstage_end(&s);
}

/* It has let go at 5 s. */
static void begin_let_go(struct shutstage *s)
{
	struct shutdown_container c = web;

	shutstage_begin(s, SHUTDOWN_OBSERVE, 0);
	shutstage_container(s, &c);
	shutstage_hold(s);
	shutstage_announce(s, 60);
	shutstage_holders(s, "kubelet");
	shutstage_run(s, 5);
	c.populated = false;
	shutstage_container(s, &c);
	shutstage_plain(s, SHUTDOWN_EV_FLUSHED);
	assert_string_equal(shutstage_log(s), "announced\nreleased all-empty\nflush\ndrop\n");
}

static void test_held_up(void **state)
{
	struct shutdown_container again = web;
	struct shutstage s;

	begin_let_go(&s);
	shutstage_run(&s, 9.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 10);
	assert_string_equal(shutstage_log(&s), "held-up kubelet\n");
	shutstage_run(&s, 20);
	shutstage_holders(&s, "unattended-upgrades");
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "held-up unattended-upgrades\n");
	shutstage_end(&s);
	/* The kubelet is done in time. */
	begin_let_go(&s);
	shutstage_run(&s, 9.9);
	shutstage_holders(&s, "");
	shutstage_run(&s, 50);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
	/* It has begun a container, and holds for that. */
	begin_let_go(&s);
	shutstage_container(&s, &again);
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "");
	again.populated = false;
	shutstage_container(&s, &again);
	shutstage_run(&s, 34.9);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 35);
	assert_string_equal(shutstage_log(&s), "held-up kubelet\n");
	shutstage_end(&s);
}

static void test_alone(void **state)
{
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_OBSERVE, 0);
	shutstage_container(&s, &web);
	shutstage_hold(&s);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 5.01);
	/* It lets go, and nobody tells. */
	s.who = "";
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_run(&s, 5.11);
	assert_string_equal(shutstage_log(&s), "released no-other-lock\nflush\n");
	shutstage_end(&s);
	/* A logind that owes an answer is not asked again and again. */
	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_container(&s, &web);
	shutstage_hold(&s);
	shutstage_announce(&s, 60);
	shutstage_run(&s, 10);
	assert_true(s.lists <= 11);
	shutstage_end(&s);
}

static void test_limits(void **state)
{
	static const struct {
		double limit_s, goes_s, gone_s;
	} rows[] = {
		/* Not known: logind's default. */
		{0, 4.5, 4.75},	    {0.001, 0.0005, 0.00075},
		{0.4, 0.2, 0.3},    {0.5, 0.25, 0.375},
		{1, 0.75, 0.875},   {2.5, 2.25, 2.375},
		{5, 4.5, 4.75},	    {10, 9, 9.5},
		{20, 18, 19},	    {60, 58, 59},
		{7200, 7198, 7199},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_status status;
		struct shutstage s;

		shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
		shutstage_container(&s, &web);
		shutstage_hold(&s);
		shutstage_announce(&s, rows[i].limit_s);
		shutstage_holders(&s, "kubelet");
		shutstage_run(&s, rows[i].goes_s - 0.0001);
		shutdown_get_status(s.sd, &status);
		assert_int_equal(status.state, SHUTDOWN_GOING);
		shutstage_run(&s, rows[i].goes_s);
		shutdown_get_status(s.sd, &status);
		assert_int_equal(status.state, SHUTDOWN_FLUSHING);
		shutstage_run(&s, rows[i].gone_s - 0.0001);
		shutdown_get_status(s.sd, &status);
		assert_int_equal(status.state, SHUTDOWN_FLUSHING);
		shutstage_run(&s, rows[i].gone_s);
		shutdown_get_status(s.sd, &status);
		assert_int_equal(status.state, SHUTDOWN_RELEASED);
		shutstage_end(&s);
	}
}

/* logind goes on before anything could be done: nothing is waited for, not even records. */
static void test_no_delay(void **state)
{
	for (unsigned int mode = 0; mode < SHUTDOWN_MODE_COUNT; mode++) {
		struct shutstage s;

		shutstage_begin(&s, mode, 0);
		shutstage_container(&s, &web);
		shutstage_hold(&s);
		shutstage_announce(&s, SHUTSTAGE_NO_DELAY);
		assert_non_null(strstr(shutstage_log(&s), "released limit\nflush\ndrop\n"));
		shutstage_end(&s);
	}
}

static void test_repeats(void **state)
{
	struct shutdown_status status;
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_container(&s, &web);
	shutstage_hold(&s);
	shutstage_run(&s, 10);
	shutstage_announce(&s, 0);
	shutstage_holders(&s, "kubelet");
	shutstage_announce(&s, 40);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_ANNOUNCED,
						    .announced.at_ns = shutstage_at(8)});
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutdown_get_status(s.sd, &status);
	assert_int_equal(status.announced_ns, shutstage_at(8));
	assert_int_equal(status.deadline_ns, shutstage_at(46));
	assert_int_equal(status.action, SHUTDOWN_POWER_OFF);
	shutstage_end(&s);
}

static void test_cancel(void **state)
{
	static const struct {
		double at_s; /* when it is cancelled */
		bool flushed;
		const char *log;
		enum shutdown_state state;
	} rows[] = {
		{1, false, "announced\ncancelled\n", SHUTDOWN_HOLDING},
		{28, false, "announced\nreleased limit\nflush\ncancelled\n", SHUTDOWN_HOLDING},
		{28, true, "announced\nreleased limit\nflush\ndrop\ncancelled\ntake\n",
		 SHUTDOWN_ASKING},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_status status;
		struct shutstage s;

		shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
		shutstage_container(&s, &web);
		shutstage_hold(&s);
		shutstage_announce(&s, 30);
		shutstage_holders(&s, "kubelet");
		shutstage_run(&s, rows[i].at_s);
		if (rows[i].flushed)
			shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
		shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
		assert_string_equal(shutstage_log(&s), rows[i].log);
		shutdown_get_status(s.sd, &status);
		assert_int_equal(status.state, rows[i].state);
		assert_int_equal(status.announced_ns, 0);
		shutstage_run(&s, 1000);
		shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
		shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_end(&s);
	}
}

static void test_unlocked(void **state)
{
	struct shutdown_status status;
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_container(&s, &web);
	shutstage_plain(&s, SHUTDOWN_EV_LOGIND_UP);
	shutstage_announce(&s, 30);
	shutstage_holders(&s, "kubelet");
	assert_string_equal(shutstage_log(&s), "take\nannounced\n");
	/* The signal was faster than the answer. */
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_TAKEN);
	shutdown_get_status(s.sd, &status);
	assert_int_equal(status.state, SHUTDOWN_GOING);
	shutstage_run(&s, 28);
	assert_string_equal(shutstage_log(&s), "released limit\nflush\n");
	shutstage_run(&s, 29);
	/* Nothing holds the node by mistake. */
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_TAKEN);
	assert_string_equal(shutstage_log(&s), "drop\ndrop\n");
	shutstage_end(&s);
}

static void reach(struct shutstage *s, enum shutdown_state state)
{
	struct shutdown_container stopping = web;

	/* So that no rule moves it. */
	stopping.asked_ns = 1;
	shutstage_begin(s, SHUTDOWN_ASSIST, 0);
	shutstage_container(s, &stopping);
	if (state >= SHUTDOWN_ASKING && state != SHUTDOWN_UNLOCKED)
		shutstage_plain(s, SHUTDOWN_EV_LOGIND_UP);
	if (state >= SHUTDOWN_HOLDING && state != SHUTDOWN_UNLOCKED)
		shutstage_plain(s, SHUTDOWN_EV_LOCK_TAKEN);
	if (state >= SHUTDOWN_GOING)
		shutstage_announce(s, 60);
	if (state == SHUTDOWN_FLUSHING || state == SHUTDOWN_RELEASED)
		shutstage_run(s, 58);
	if (state == SHUTDOWN_RELEASED)
		shutstage_plain(s, SHUTDOWN_EV_FLUSHED);
}

static enum shutdown_state state_of(const struct shutstage *s)
{
	struct shutdown_status status;

	shutdown_get_status(s->sd, &status);
	return status.state;
}

static void test_states(void **state)
{
	enum {
		AWAY = SHUTDOWN_AWAY,
		ASKS = SHUTDOWN_ASKING,
		HOLD = SHUTDOWN_HOLDING,
		GOES = SHUTDOWN_GOING,
		FLUS = SHUTDOWN_FLUSHING,
		UNLO = SHUTDOWN_UNLOCKED,
		RELE = SHUTDOWN_RELEASED,
	};
	/* Those of all states that follow on each event; any other leaves the state as it is. */
	static const uint8_t rows[SHUTDOWN_EVENT_COUNT][SHUTDOWN_STATE_COUNT] = {
		[SHUTDOWN_EV_LOGIND_UP] = {ASKS, ASKS, HOLD, GOES, FLUS, UNLO, RELE},
		[SHUTDOWN_EV_LOGIND_DOWN] = {AWAY, AWAY, HOLD, GOES, FLUS, UNLO, RELE},
		[SHUTDOWN_EV_LOCK_TAKEN] = {HOLD, HOLD, HOLD, GOES, FLUS, GOES, RELE},
		[SHUTDOWN_EV_LOCK_REFUSED] = {AWAY, ASKS, HOLD, GOES, FLUS, UNLO, RELE},
		[SHUTDOWN_EV_LOCK_LOST] = {AWAY, ASKS, ASKS, UNLO, RELE, UNLO, RELE},
		[SHUTDOWN_EV_ANNOUNCED] = {UNLO, UNLO, GOES, GOES, FLUS, UNLO, RELE},
		[SHUTDOWN_EV_CANCELLED] = {AWAY, ASKS, HOLD, HOLD, HOLD, ASKS, ASKS},
		[SHUTDOWN_EV_FLUSHED] = {AWAY, ASKS, HOLD, GOES, RELE, UNLO, RELE},
	};

	for (unsigned int event = 0; event < SHUTDOWN_EVENT_COUNT; event++) {
		for (unsigned int from = 0; from < SHUTDOWN_STATE_COUNT; from++) {
			bool moves = rows[event][SHUTDOWN_RELEASED] || rows[event][0];
			struct shutdown_event e = {.type = event};
			struct shutstage s;

			reach(&s, from);
			assert_int_equal(state_of(&s), from);
			shutdown_step(s.sd, &e, s.now_ns);
			if (state_of(&s) != (moves ? rows[event][from] : from))
				fail_msg("event %u in state %u leads to %u", event, from,
					 state_of(&s));
			shutstage_end(&s);
		}
	}
}

/* A state does not take what it cannot expect for anything else. */
static void test_unexpected(void **state)
{
	struct shutdown_stats stats;
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_LOST);
	shutstage_hold(&s);
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_REFUSED);
	shutdown_get_stats(s.sd, &stats);
	assert_int_equal(stats.unexpected, 2);
	assert_int_equal(shutdown_step(s.sd, &(struct shutdown_event){.type = SHUTDOWN_EVENT_COUNT},
				       s.now_ns),
			 -EINVAL);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

/* What send_prepare_for() of src/login/logind-dbus.c sends in each release: handle_action_table of
 * src/login/logind-action.c, by the actions of HANDLE_ACTION_IS_SHUTDOWN(). Releases before 255 send
 * no metadata, 252 and 253 know of no soft reboot, and 255 and later have the words for API. */
static void test_actions(void **state)
{
	static const struct {
		unsigned int from, to; /* releases of systemd */
		const char *type;
		enum shutdown_action action;
		const char *name;
	} rows[] = {
		{252, 254, "", SHUTDOWN_UNKNOWN, "unknown"},
		{255, 262, "poweroff", SHUTDOWN_POWER_OFF, "power-off"},
		{255, 262, "reboot", SHUTDOWN_REBOOT, "reboot"},
		{255, 262, "halt", SHUTDOWN_HALT, "halt"},
		{255, 262, "kexec", SHUTDOWN_KEXEC, "kexec"},
		{255, 262, "soft-reboot", SHUTDOWN_SOFT_REBOOT, "soft-reboot"},
		/* What logind does not send for a shutdown. */
		{255, 262, "factory-reset", SHUTDOWN_UNKNOWN, "unknown"},
		{255, 262, "unknown", SHUTDOWN_UNKNOWN, "unknown"},
		{255, 262, "power-off", SHUTDOWN_POWER_OFF, "power-off"},
		{255, 262, "power off", SHUTDOWN_UNKNOWN, "unknown"},
		{255, 262, "reboot-param", SHUTDOWN_UNKNOWN, "unknown"},
	};

	for (unsigned int release = 252; release <= 262; release++)
		for (size_t i = 0; i < LEN(rows); i++) {
			enum shutdown_action action = shutdown_action_of(rows[i].type);

			if (release < rows[i].from || release > rows[i].to)
				continue;
			if (action != rows[i].action)
				fail_msg("systemd %u: %s", release, rows[i].type);
			assert_string_equal(shutdown_action_name(action), rows[i].name);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the lock is asked for when logind is there, ever less often", test_asks),
		CLAIM("a lost lock is taken again, at once when it was steady", test_lost),
		CLAIM("observe lets go at once where nobody else holds", test_observe),
		CLAIM("observe lets go when the last container is empty", test_observe_ends),
		CLAIM("observe holds alone for 100 ms at most", test_alone),
		CLAIM("observe holds in the dark while containers are stopped, as assist does",
		      test_dark),
		CLAIM("others hold the node up when they do so 5 s after the last container",
		      test_held_up),
		CLAIM("the lock goes before the limit by a margin that fits it, and is gone after half of "
		      "that",
		      test_limits),
		CLAIM("a logind that waits for no lock is not kept waiting", test_no_delay),
		CLAIM("what is announced again is the same shutdown, better known", test_repeats),
		CLAIM("a cancelled shutdown leaves the lock held, or asked for", test_cancel),
		CLAIM("a lock that comes after the announcement counts, after letting go not",
		      test_unlocked),
		CLAIM("every event leads every state where it should, and facts nowhere",
		      test_states),
		CLAIM("the action is known by every word that systemd 252 to 262 sends",
		      test_actions),
		CLAIM("what a state does not expect is counted and changes nothing",
		      test_unexpected),
	};

	return cmocka_run_group_tests_name("core/shutdown", tests, NULL, NULL);
}
