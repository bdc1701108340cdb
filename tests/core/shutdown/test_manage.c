// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown in mode manage: what it wants, and when. */
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static const struct shutdown_group two_groups[] = {{.ns = 20 * S}, {.ns = 10 * S}};

static struct shutdown_container container(uint64_t id, const char *pod)
{
	return (struct shutdown_container){
		.id = id,
		.pod_uid = pod,
		.kind = SHUTDOWN_KIND_CONTAINER,
		.populated = true,
		.grace = {.set = true, .s = 5},
	};
}

static void add(struct shutstage *s, uint64_t id, const char *pod)
{
	struct shutdown_container c = container(id, pod);

	shutstage_container(s, &c);
}

static void end(struct shutstage *s, uint64_t id, const char *pod)
{
	struct shutdown_container c = container(id, pod);

	c.populated = false;
	shutstage_container(s, &c);
}

static void ask(struct shutstage *s, uint64_t id, const char *pod)
{
	struct shutdown_container c = container(id, pod);

	c.asked_ns = s->now_ns;
	shutstage_container(s, &c);
}

/* Pod web of the first group, pod dns of the second, at their second 0. */
static void begin(struct shutstage *s, bool lock)
{
	shutstage_begin(s, SHUTDOWN_MANAGE, 0);
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_PLAN,
						   .plan.groups = two_groups,
						   .plan.n = LEN(two_groups)});
	shutstage_pod(s, "web", 0, false, false);
	shutstage_pod(s, "dns", 1, false, false);
	add(s, 1, "web");
	add(s, 2, "dns");
	if (lock)
		shutstage_hold(s);
	assert_string_equal(shutstage_log(s), "");
}

static void announce(struct shutstage *s)
{
	shutstage_announce(s, 60);
	shutstage_holders(s, "");
	assert_string_equal(shutstage_log(s), "announced\nstop units\n");
	shutstage_plain(s, SHUTDOWN_EV_UNITS_STOPPED);
}

static void answer_sandbox(struct shutstage *s, const char *pod)
{
	shutstage_send(s,
		       &(struct shutdown_event){.type = SHUTDOWN_EV_SANDBOX_STOPPED, .uid = pod});
}

static void test_order(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	ask(&s, 1, "web");
	shutstage_run(&s, 3);
	end(&s, 1, "web");
	assert_string_equal(shutstage_log(&s),
			    "group-done 0\ngroup-started 1\nstop 2 5 s\nstop sandbox web\n");
	answer_sandbox(&s, "web");
	end(&s, 2, "dns");
	assert_string_equal(shutstage_log(&s), "group-done 1\nstop sandbox dns\n");
	answer_sandbox(&s, "dns");
	assert_string_equal(shutstage_log(&s), "released all-stopped\nflush\n");
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	assert_string_equal(shutstage_log(&s), "drop\n");
	shutstage_end(&s);
}

static void test_units(void **state)
{
	struct shutstage s;

	begin(&s, true);
	shutstage_announce(&s, 60);
	assert_string_equal(shutstage_log(&s), "announced\nstop units\n");
	shutstage_run(&s, 4.9);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 5);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_string_equal(shutstage_log(&s), "start units\ncancelled\n");
	/* The answer to the first is none to the second. */
	shutstage_announce(&s, 60);
	shutstage_plain(&s, SHUTDOWN_EV_UNITS_STOPPED);
	assert_string_equal(shutstage_log(&s), "announced\nstop units\n");
	shutstage_plain(&s, SHUTDOWN_EV_UNITS_STOPPED);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	shutstage_end(&s);
}

static void test_deaf(void **state)
{
	struct shutdown_stats stats;
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	ask(&s, 1, "web");
	shutstage_run(&s, 4.999);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	shutstage_run(&s, 5);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_run(&s, 7);
	assert_string_equal(shutstage_log(&s), "container-survives 1\nkill 1\nkill 1\n");
	shutdown_get_stats(s.sd, &stats);
	assert_int_equal(stats.killed, 1);
	shutstage_run(&s, 20);
	assert_non_null(strstr(shutstage_log(&s), "group-done 0 timed out\ngroup-started 1\n"));
	shutstage_end(&s);
}

/* Its runtime's SIGKILL comes as its time ends. */
static void test_dying(void **state)
{
	struct shutdown_container c = container(1, "web");
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	(void)shutstage_log(&s);
	c.asked_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_run(&s, 4.9);
	c.kill_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_run(&s, 5.899);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 5.9);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
}

/* What has no process is not waited for, though a source is asked about it. */
static void test_asking(void **state)
{
	struct shutdown_container c = container(3, "web");
	struct shutstage s;

	c.kind = SHUTDOWN_KIND_UNKNOWN;
	c.unanswered = true;
	for (int lives = 0; lives < 2; lives++) {
		begin(&s, true);
		c.populated = lives;
		shutstage_container(&s, &c);
		announce(&s);
		assert_string_equal(shutstage_log(&s),
				    lives ? "" : "group-started 0\nstop 1 5 s\n");
		shutstage_run(&s, 5);
		assert_string_equal(shutstage_log(&s) + (lives ? 0 : strlen("signal 1 15\n")),
				    lives ? "group-started 0\nstop 1 5 s\n" : "");
		shutstage_end(&s);
	}
}

static void test_hung(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	shutstage_run(&s, 1.999);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	shutstage_run(&s, 2);
	assert_string_equal(shutstage_log(&s), "signal 1 15\n");
	shutstage_run(&s, 6.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 7);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
}

/* graced's own signal may be late; a signal that came before it does not count. */
static void test_sent_late(void **state)
{
	struct shutdown_container c = container(1, "web");
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = 1});
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\nsignal 1 15\n");
	shutstage_run(&s, 1);
	c.asked_ns = shutstage_at(0.7);
	shutstage_container(&s, &c);
	shutstage_run(&s, 5.699);
	assert_string_equal(shutstage_log(&s), "");
	c.asked_ns = shutstage_at(9);
	shutstage_container(&s, &c);
	c.asked_ns = shutstage_at(0.2);
	shutstage_container(&s, &c);
	shutstage_run(&s, 5.7);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
}

static void test_failed(void **state)
{
	struct shutdown_container c = container(1, "web");
	struct shutstage s;

	begin(&s, true);
	c.stop_signal = 3;
	shutstage_container(&s, &c);
	announce(&s);
	shutstage_run(&s, 1);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = 1});
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\nsignal 1 3\n");
	/* Neither is one that fails later, nor one of what is not there, anything to act on. */
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = 1});
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = 2});
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = 9});
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED});
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

/* What follows the report that this one began in the shutdown. */
static const char *after_late(struct shutstage *s, unsigned int id)
{
	const char *log = shutstage_log(s), *next = strchr(log, '\n');
	unsigned int late = 0, time_s = 0, stop_s;

	assert_int_equal(sscanf(log, "container-late %u %u s", &late, &time_s), 2);
	assert_int_equal(late, id);
	/* It has the time that it is given, where it is asked to stop at once. */
	if (sscanf(next, " stop %*u %u s", &stop_s) == 1)
		assert_int_equal(time_s, stop_s);
	return next + 1;
}

/* By the pod's spec, the group and what is left of it. */
static void test_grace(void **state)
{
	static const struct {
		struct seconds grace;
		uint32_t groups;
		double at;
		const char *stop;
	} rows[] = {
		{{true, 5}, 2, 0, "stop 1 5 s\n"},     {{true, 30}, 2, 0, "stop 1 20 s\n"},
		{{false, 0}, 2, 0, "stop 1 20 s\n"},   {{true, 0}, 2, 0, "stop 1 2 s\n"},
		{{true, 30}, 2, 4.5, "stop 1 15 s\n"}, {{true, 5}, 2, 4.5, "stop 1 5 s\n"},
		{{true, 30}, 2, 19.5, "stop 1 2 s\n"}, {{true, 30}, 0, 0, "stop 1 30 s\n"},
		{{false, 0}, 0, 0, "stop 1 30 s\n"},   {{true, 90}, 0, 7, "stop 1 90 s\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_container c = container(1, "web"), other = container(3, "web");
		struct shutstage s;

		begin(&s, true);
		c.populated = false;
		shutstage_container(&s, &c);
		/* It keeps the first group busy. */
		other.grace.set = false;
		shutstage_container(&s, &other);
		shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_PLAN,
							    .plan.groups = two_groups,
							    .plan.n = rows[i].groups});
		announce(&s);
		shutstage_run(&s, rows[i].at);
		(void)shutstage_log(&s);
		c.populated = true;
		c.grace = rows[i].grace;
		shutstage_container(&s, &c);
		assert_string_equal(after_late(&s, 1), rows[i].stop);
		shutstage_end(&s);
	}
}

/* It may be the runtime's own process that is in it by then. */
static void test_no_init(void **state)
{
	struct shutdown_container c = container(9, "web");
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	(void)shutstage_log(&s);
	c.no_init = true;
	shutstage_container(&s, &c);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = c.id});
	assert_string_equal(after_late(&s, 9), "stop 9 5 s\n");
	c.no_init = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "signal 9 15\n");
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "");
	/* Its runtime sends it at last. */
	c.no_init = true;
	c.id = 11;
	shutstage_container(&s, &c);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = c.id});
	(void)shutstage_log(&s);
	c.asked_ns = s.now_ns;
	shutstage_container(&s, &c);
	c.no_init = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "");
	/* Without one it is killed at its deadline all the same. */
	c = container(10, "web");
	c.no_init = true;
	shutstage_container(&s, &c);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_STOP_FAILED, .id = c.id});
	(void)shutstage_log(&s);
	shutstage_run(&s, 6);
	assert_non_null(strstr(shutstage_log(&s), "container-killed 10\n"));
	shutstage_end(&s);
}

/* Not one that was there, nor one of a shutdown that was cancelled. */
static void test_late_reported(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	assert_null(strstr(shutstage_log(&s), "late"));
	add(&s, 9, "web");
	assert_string_equal(after_late(&s, 9), "stop 9 5 s\n");
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	(void)shutstage_log(&s);
	announce(&s);
	assert_null(strstr(shutstage_log(&s), "late"));
	shutstage_end(&s);
}

/* A group of no time still stops its pods, and the next one begins at once. */
static void test_no_time(void **state)
{
	static const struct shutdown_group groups[] = {{.ns = 0}, {.ns = 10 * S}};
	const char *log;
	struct shutstage s;

	begin(&s, true);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	announce(&s);
	log = shutstage_log(&s);
	assert_ptr_equal(strstr(log, "group-started 0\ngroup-done 0 timed out\ngroup-started 1\n"),
			 log);
	assert_non_null(strstr(log, "stop 1 2 s\n"));
	assert_non_null(strstr(log, "stop 2 5 s\n"));
	ask(&s, 1, "web");
	ask(&s, 2, "dns");
	shutstage_run(&s, 2);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
}

/* Its last container ends as its time does, before the timer. */
static void test_just_in_time(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	shutstage_run(&s, 19.9);
	(void)shutstage_log(&s);
	s.now_ns = shutstage_at(20);
	end(&s, 1, "web");
	assert_string_equal(shutstage_log(&s),
			    "group-done 0\ngroup-started 1\nstop 2 5 s\nstop sandbox web\n");
	shutstage_end(&s);
}

static void add_sidecar(struct shutstage *s, uint64_t id, uint32_t sidecar)
{
	struct shutdown_container c = container(id, "web");

	c.sidecar = sidecar;
	c.grace.s = 15;
	shutstage_container(s, &c);
}

static void test_sidecars(void **state)
{
	struct shutstage s;

	begin(&s, true);
	add_sidecar(&s, 3, 1);
	add_sidecar(&s, 4, 2);
	announce(&s);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	ask(&s, 1, "web");
	shutstage_run(&s, 3.5);
	end(&s, 1, "web");
	/* 3 s of its 15 are gone. */
	assert_string_equal(shutstage_log(&s), "stop 4 12 s\n");
	/* It takes all that the first has: the least is left. */
	shutstage_run(&s, 14.999);
	assert_string_equal(shutstage_log(&s), "signal 4 15\n");
	shutstage_run(&s, 15);
	assert_string_equal(shutstage_log(&s), "stop 3 2 s\n");
	shutstage_end(&s);
}

static void test_hook(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	(void)shutstage_log(&s);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_HOOK_BEGUN, .id = 1});
	shutstage_run(&s, 3.5);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_HOOK_ENDED, .id = 1});
	ask(&s, 1, "web");
	shutstage_run(&s, 5.499);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 5.5);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
	/* One that never ends is no excuse. */
	begin(&s, true);
	announce(&s);
	(void)shutstage_log(&s);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_HOOK_BEGUN, .id = 1});
	shutstage_run(&s, 6.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 9);
	assert_string_equal(shutstage_log(&s), "signal 1 15\nkill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
}

static void hook(struct shutstage *s, double at, enum shutdown_event_type type)
{
	shutstage_run(s, at);
	shutstage_send(s, &(struct shutdown_event){.type = type, .id = 1});
}

/* Neither does a second one give it time, nor one that ends, or begins, after the stop signal. */
static void test_hook_odd(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	(void)shutstage_log(&s);
	hook(&s, 0, SHUTDOWN_EV_HOOK_BEGUN);
	hook(&s, 2, SHUTDOWN_EV_HOOK_BEGUN);
	shutstage_run(&s, 6.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 7);
	assert_string_equal(shutstage_log(&s), "signal 1 15\n");
	shutstage_end(&s);
	for (int before = 0; before < 2; before++) {
		begin(&s, true);
		announce(&s);
		(void)shutstage_log(&s);
		if (before)
			hook(&s, 0, SHUTDOWN_EV_HOOK_BEGUN);
		shutstage_run(&s, 1);
		ask(&s, 1, "web");
		hook(&s, 2, SHUTDOWN_EV_HOOK_BEGUN);
		hook(&s, 4, SHUTDOWN_EV_HOOK_ENDED);
		shutstage_run(&s, 5.999);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_run(&s, 6);
		assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
		shutstage_end(&s);
	}
}

/* A hook has what is left of the grace period, which the least of 2 s is no part of. */
static void test_hook_time(void **state)
{
	static const struct {
		bool hook, asked;
		int64_t grace_s;
		const char *stop;
	} rows[] = {
		{true, false, 5, "stop 3 5 s, hook 5 s\n"},
		{true, false, 1, "stop 3 2 s, hook 1 s\n"},
		{true, false, 0, "stop 3 2 s\n"},
		{true, false, -1, "stop 3 2 s\n"},
		{true, true, 5, "stop 3 5 s\n"},
		{false, false, 5, "stop 3 5 s\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_container c = container(3, "web");
		struct shutstage s;

		begin(&s, true);
		announce(&s);
		(void)shutstage_log(&s);
		c.hook = rows[i].hook;
		c.asked_ns = rows[i].asked ? s.now_ns : 0;
		c.grace.s = rows[i].grace_s;
		shutstage_container(&s, &c);
		assert_string_equal(after_late(&s, 3), rows[i].stop);
		shutstage_end(&s);
	}
}

/* Nothing but containers, for sure, of pods. */
static void test_managed(void **state)
{
	static const enum shutdown_kind kinds[] = {SHUTDOWN_KIND_UNKNOWN, SHUTDOWN_KIND_SANDBOX,
						   SHUTDOWN_KIND_OWN};

	for (size_t i = 0; i < LEN(kinds); i++) {
		struct shutdown_container c = container(1, "web");
		struct shutstage s;

		begin(&s, true);
		end(&s, 2, "dns");
		c.kind = kinds[i];
		shutstage_container(&s, &c);
		announce(&s);
		assert_string_equal(shutstage_log(&s), "released all-stopped\nflush\n");
		/* It is known now, and records are on their way. */
		c.kind = SHUTDOWN_KIND_CONTAINER;
		shutstage_container(&s, &c);
		assert_string_equal(shutstage_log(&s), "stop 1 2 s\n");
		shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_end(&s);
	}
}

static void test_unlocked(void **state)
{
	struct shutdown_status status;
	struct shutstage s;

	begin(&s, false);
	announce(&s);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	end(&s, 1, "web");
	end(&s, 2, "dns");
	assert_string_equal(shutstage_log(&s), "group-done 0\ngroup-started 1\nstop 2 5 s\n"
					       "stop sandbox web\ngroup-done 1\n"
					       "stop sandbox dns\n");
	answer_sandbox(&s, "web");
	answer_sandbox(&s, "dns");
	assert_string_equal(shutstage_log(&s), "released all-stopped\n");
	shutdown_get_status(s.sd, &status);
	assert_int_equal(status.state, SHUTDOWN_RELEASED);
	/* What begins now is stopped, too. */
	add(&s, 5, "web");
	assert_string_equal(after_late(&s, 5), "stop 5 2 s\n");
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_string_equal(shutstage_log(&s), "start units\ncancelled\ntake\n");
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

/* systemd stops it. */
static void test_handed_over(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	end(&s, 1, "web");
	answer_sandbox(&s, "web");
	end(&s, 2, "dns");
	answer_sandbox(&s, "dns");
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	assert_non_null(strstr(shutstage_log(&s), "released all-stopped\nflush\ndrop\n"));
	add(&s, 5, "web");
	shutstage_run(&s, 50);
	assert_string_equal(shutstage_log(&s), "");
	/* Not so in the next shutdown. */
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_TAKEN);
	(void)shutstage_log(&s);
	announce(&s);
	assert_non_null(strstr(shutstage_log(&s), "stop 5 5 s\n"));
	shutstage_end(&s);
}

/* Whatever else is in the pod would be ended with it. */
static void test_sandbox(void **state)
{
	static const enum shutdown_kind kinds[] = {SHUTDOWN_KIND_UNKNOWN, SHUTDOWN_KIND_OWN,
						   SHUTDOWN_KIND_CONTAINER};

	for (size_t i = 0; i < LEN(kinds); i++) {
		struct shutdown_container sandbox = container(7, "web"),
					  other = container(8, "web");
		struct shutstage s;

		begin(&s, true);
		sandbox.kind = SHUTDOWN_KIND_SANDBOX;
		shutstage_container(&s, &sandbox);
		other.kind = kinds[i];
		shutstage_container(&s, &other);
		announce(&s);
		ask(&s, 1, "web");
		(void)shutstage_log(&s);
		end(&s, 1, "web");
		assert_null(strstr(shutstage_log(&s), "sandbox"));
		other.populated = false;
		shutstage_container(&s, &other);
		assert_non_null(strstr(shutstage_log(&s), "stop sandbox web\n"));
		/* One that is new has a sandbox of its own. */
		add(&s, 9, "web");
		end(&s, 9, "web");
		assert_non_null(strstr(shutstage_log(&s), "stop sandbox web\n"));
		shutstage_end(&s);
	}
}

static void test_sandbox_hangs(void **state)
{
	struct shutstage s;

	begin(&s, true);
	end(&s, 2, "dns");
	announce(&s);
	shutstage_run(&s, 1);
	end(&s, 1, "web");
	answer_sandbox(&s, "dns");
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\ngroup-done 0\n"
					       "stop sandbox web\n");
	shutstage_run(&s, 2.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 3);
	assert_string_equal(shutstage_log(&s), "released all-stopped\nflush\n");
	shutstage_end(&s);
}

/* In each state: units are started again, and nothing is ended any more. */
static void announce_as(struct shutstage *s, bool by_hand)
{
	shutstage_send(
		s, &(struct shutdown_event){.type = SHUTDOWN_EV_ANNOUNCED,
					    .announced = {.limit_ns = 30 * S, .by_hand = by_hand}});
}

/* The container outlives each SIGKILL. */
static void test_by_hand(void **state)
{
	for (int announced = 0; announced < 2; announced++) {
		double end = announced ? 19 + 28 : 28;
		struct shutstage s;

		begin(&s, true);
		announce_as(&s, true);
		shutstage_plain(&s, SHUTDOWN_EV_UNITS_STOPPED);
		shutstage_run(&s, 19);
		announce_as(&s, !announced);
		shutstage_run(&s, 20);
		announce_as(&s, !announced);
		shutstage_run(&s, end - 0.1);
		assert_null(strstr(shutstage_log(&s), "released"));
		shutstage_run(&s, end);
		assert_non_null(strstr(shutstage_log(&s), "released limit\n"));
		shutstage_end(&s);
	}
}

static void test_cancelled(void **state)
{
	static const double when[] = {0, 0.5, 2.5, 5.5, 21, 57, 58};

	for (size_t i = 0; i < LEN(when); i++) {
		struct shutstage s;

		begin(&s, true);
		shutstage_announce(&s, 60);
		shutstage_holders(&s, "");
		shutstage_run(&s, when[i] / 2);
		if (when[i] > 0)
			shutstage_plain(&s, SHUTDOWN_EV_UNITS_STOPPED);
		shutstage_run(&s, when[i]);
		(void)shutstage_log(&s);
		shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
		assert_string_equal(shutstage_log(&s), "start units\ncancelled\n");
		shutstage_run(&s, 70);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_end(&s);
	}
}

/* While one is under way another announcement is the same shutdown; after it, it is a new one. */
static void test_again(void **state)
{
	struct shutstage s;

	begin(&s, true);
	announce(&s);
	ask(&s, 1, "web");
	(void)shutstage_log(&s);
	shutstage_announce(&s, 60);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 1);
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	shutstage_run(&s, 2);
	(void)shutstage_log(&s);
	announce(&s);
	assert_string_equal(shutstage_log(&s), "group-started 0\nstop 1 5 s\n");
	shutstage_run(&s, 7);
	assert_string_equal(shutstage_log(&s), "kill 1\ncontainer-killed 1\n");
	shutstage_end(&s);
}

static void test_limit(void **state)
{
	struct shutstage s;

	begin(&s, true);
	shutstage_announce(&s, 8);
	shutstage_holders(&s, "");
	shutstage_plain(&s, SHUTDOWN_EV_UNITS_STOPPED);
	ask(&s, 1, "web");
	shutstage_run(&s, 5.5);
	(void)shutstage_log(&s);
	shutstage_run(&s, 7.2);
	assert_non_null(strstr(shutstage_log(&s), "released limit\nflush\n"));
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	end(&s, 1, "web");
	assert_non_null(strstr(shutstage_log(&s), "stop 2 5 s\n"));
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("groups are ended one after the other, and the lock goes with the last",
		      test_order),
		CLAIM("units are stopped first, for 5 s at most, and started when it is cancelled",
		      test_units),
		CLAIM("a deaf container is killed at its deadline, and again when it survives",
		      test_deaf),
		CLAIM("a SIGKILL of another's has its second", test_dying),
		CLAIM("an answer about what lives is waited for, for 5 s", test_asking),
		CLAIM("a runtime that hangs is overtaken after 2 s", test_hung),
		CLAIM("it has its time from when its stop signal was sent", test_sent_late),
		CLAIM("a runtime that fails is overtaken at once, by the container's own signal",
		      test_failed),
		CLAIM("a container has its pod's period, its group's or what is left of that",
		      test_grace),
		CLAIM("one that began after the announcement is reported as late",
		      test_late_reported),
		CLAIM("one without an init is sent its signal when it has one", test_no_init),
		CLAIM("a group of 0 s stops its pods and the next one begins", test_no_time),
		CLAIM("a group that is empty when its time ends did not time out",
		      test_just_in_time),
		CLAIM("sidecars stop after the others, the last one first, out of their own time",
		      test_sidecars),
		CLAIM("a hook comes before the stop signal, out of the container's time",
		      test_hook),
		CLAIM("a hook that is odd moves no deadline", test_hook_odd),
		CLAIM("a hook is run where there is one, in what is left of the grace period",
		      test_hook_time),
		CLAIM("what may be no container is neither stopped nor waited for", test_managed),
		CLAIM("a pod's sandbox is stopped when nothing else is in it", test_sandbox),
		CLAIM("a runtime that does not stop a sandbox is waited for for 2 s",
		      test_sandbox_hangs),
		CLAIM("what begins after the lock was released is left alone", test_handed_over),
		CLAIM("without a lock a shutdown is driven all the same", test_unlocked),
		CLAIM("logind's limit counts from its own announcement, not from a beginning by "
		      "hand",
		      test_by_hand),
		CLAIM("a cancelled shutdown ends nothing more, whatever its state", test_cancelled),
		CLAIM("a second announcement changes nothing, one after a cancelled shutdown does",
		      test_again),
		CLAIM("the lock goes a margin before the limit, and what remains is stopped",
		      test_limit),
	};

	return cmocka_run_group_tests_name("core/shutdown/manage", tests, NULL, NULL);
}
