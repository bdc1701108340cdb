// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown in assist: whom it ends, and when. */
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static void test_overdue(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutdown_stats stats;
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	shutstage_run(&s, 2);
	shutstage_container(&s, &c);
	shutstage_run(&s, 13.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 14);
	assert_string_equal(shutstage_log(&s), "pod-overdue 7\nkill 7\ncontainer-killed 7\n");
	c.populated = false;
	shutstage_container(&s, &c);
	shutstage_holders(&s, "");
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutdown_get_stats(s.sd, &stats);
	assert_int_equal(stats.killed, 1);
	shutstage_end(&s);
}

/* One thing each that forbids what the row above it does at 14 s. */
static void test_spared(void **state)
{
	struct shutdown_container rows[9];

	for (size_t i = 0; i < LEN(rows); i++)
		rows[i] = shutstage_asked();
	rows[0].asked_ns = 0;
	rows[1].asked_ns = shutstage_at(1) - 1; /* before this shutdown */
	rows[2].kill_ns = shutstage_at(12);
	rows[3].timeout_known = false;
	rows[4].populated = false;
	rows[5].kind = SHUTDOWN_KIND_UNKNOWN;
	rows[6].kind = SHUTDOWN_KIND_SANDBOX;
	rows[7].kind = SHUTDOWN_KIND_OWN;
	rows[8].timeout_ns = UINT64_MAX;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutstage s;

		shutstage_assist(&s, 2 * S, "kubelet");
		rows[i].id = 9;
		shutstage_run(&s, 3);
		shutstage_container(&s, &rows[i]);
		shutstage_run(&s, 58);
		if (strstr(shutstage_log(&s), "kill 9"))
			fail_msg("row %zu is killed", i);
		shutstage_end(&s);
	}
}

static void test_cancelled(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 2 * S, "kubelet");
	c.asked_ns = shutstage_at(1);
	shutstage_container(&s, &c);
	shutstage_run(&s, 12.9);
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_string_equal(shutstage_log(&s), "cancelled\n");
	shutstage_run(&s, 100);
	/* A new shutdown is no reason to end what the one before asked. */
	shutstage_announce(&s, 60);
	shutstage_run(&s, 157);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_end(&s);
}

/* Only the acts of containers survive from the shutdown before. */
static void test_anew(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	shutstage_container(&s, &c);
	shutstage_run(&s, 15.5);
	assert_string_equal(
		shutstage_log(&s),
		"pod-overdue 7\nkill 7\ncontainer-killed 7\ncontainer-survives 7\nkill 7\n");
	c.kill_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	shutstage_run(&s, 100);
	shutstage_announce(&s, 60);
	shutstage_run(&s, 102);
	assert_string_equal(shutstage_log(&s), "cancelled\nannounced\n");
	c.kill_ns = 0;
	c.asked_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_run(&s, 114);
	assert_string_equal(shutstage_log(&s), "pod-overdue 7\nkill 7\ncontainer-killed 7\n");
	c.populated = false;
	shutstage_container(&s, &c);
	shutstage_holders(&s, "");
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	shutstage_run(&s, 200);
	shutstage_announce(&s, 60);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\ncancelled\n"
					       "announced\nreleased nobody-stops\nflush\n");
	shutstage_end(&s);
}

/* The answer to a look at it. */
static void look(struct shutstage *s, struct shutdown_container *c, uint64_t signalled_ns)
{
	c->looked_ns = s->now_ns;
	c->signalled_ns = signalled_ns;
	shutstage_container(s, c);
}

/* It was announced at 1 s and asked at 2 s; what is seen in it at 4 s. */
static void test_deaf(void **state)
{
	static const char killed[] = "look 7\nkill 7\ncontainer-killed 7 deaf\n";
	const struct {
		uint64_t grace_ns;
		bool deaf;
		uint64_t ending_ns, signalled_ns;
		const char *log;
	} rows[] = {
		{2 * S, true, 0, 0, killed},
		{2 * S, true, 0, shutstage_at(1) - 1, killed},
		{2 * S, true, 0, shutstage_at(1), "look 7\n"},
		{2 * S, true, 0, shutstage_at(3), "look 7\n"},
		{2 * S, true, shutstage_at(0.5), shutstage_at(0.5) - 1, killed},
		{2 * S, true, shutstage_at(0.5), shutstage_at(0.5), "look 7\n"},
		{2 * S, true, shutstage_at(3), shutstage_at(1), "look 7\n"},
		{2 * S, false, 0, 0, ""},
		{0, true, 0, 0, ""},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_container c = shutstage_asked();
		struct shutstage s;

		shutstage_assist(&s, rows[i].grace_ns, "kubelet");
		shutstage_run(&s, 2);
		c.deaf = rows[i].deaf;
		c.ending_ns = rows[i].ending_ns;
		shutstage_container(&s, &c);
		shutstage_run(&s, 3.999);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_run(&s, 4);
		look(&s, &c, rows[i].signalled_ns);
		assert_string_equal(shutstage_log(&s), rows[i].log);
		if (rows[i].log != killed) {
			shutstage_run(&s, 14);
			assert_string_equal(shutstage_log(&s),
					    "pod-overdue 7\nkill 7\ncontainer-killed 7\n");
		}
		shutstage_end(&s);
	}
}

static void test_unseen(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 2 * S, "kubelet");
	shutstage_run(&s, 2);
	c.deaf = true;
	shutstage_container(&s, &c);
	/* What was seen before its time came. */
	shutstage_run(&s, 3.999);
	look(&s, &c, 0);
	shutstage_run(&s, 4.5);
	shutstage_container(&s, &c);
	shutstage_run(&s, 5.999);
	assert_string_equal(shutstage_log(&s), "look 7\nlook 7\n");
	shutstage_run(&s, 6.5);
	/* Told just now. */
	look(&s, &c, shutstage_at(6.4));
	assert_string_equal(shutstage_log(&s), "look 7\n");
	shutstage_run(&s, 13.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

/* Its group comes long after it was looked at, and then it is looked at anew. */
static void test_stale(void **state)
{
	const struct shutdown_group groups[] = {{20 * S, false}, {20 * S, false}};
	struct shutdown_container first = shutstage_asked(), c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 2 * S);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	shutstage_pod(&s, "web", 0, false, false);
	shutstage_pod(&s, "dns", 1, false, false);
	first.timeout_known = c.timeout_known = false;
	c.id = 8;
	c.pod_uid = "dns";
	c.deaf = true;
	shutstage_hold(&s);
	shutstage_container(&s, &first);
	shutstage_container(&s, &c);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 15);
	look(&s, &c, 0);
	assert_string_equal(shutstage_log(&s), "announced\ngroup-started 0\n");
	shutstage_run(&s, 20);
	assert_string_equal(shutstage_log(&s), "group-done 0 timed out\nlook 8\n");
	look(&s, &c, 0);
	assert_string_equal(shutstage_log(&s), "kill 8\ncontainer-killed 8 deaf\n");
	shutstage_end(&s);
}

/* The answer comes while the lock is lost, and says nothing of when there is one again. */
static void test_outlived(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 2 * S, "kubelet");
	shutstage_run(&s, 2);
	c.deaf = true;
	shutstage_container(&s, &c);
	shutstage_run(&s, 4);
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_LOST);
	look(&s, &c, 0);
	shutstage_run(&s, 5);
	assert_string_equal(shutstage_log(&s), "look 7\n");
	shutstage_plain(&s, SHUTDOWN_EV_LOCK_TAKEN);
	assert_string_equal(shutstage_log(&s), "look 7\n");
	look(&s, &c, 0);
	assert_string_equal(shutstage_log(&s), "kill 7\ncontainer-killed 7 deaf\n");
	shutstage_end(&s);
}

static void test_groups(void **state)
{
	const struct shutdown_group groups[] = {{20 * S, false}, {5 * S, false}, {10 * S, false}};
	struct shutdown_container slow = shutstage_asked(), later = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 2 * S);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 3});
	shutstage_pod(&s, "web", 0, false, false);
	shutstage_pod(&s, "dns", 2, false, false);
	slow.timeout_known = false;
	later.id = 8;
	later.pod_uid = "dns";
	later.asked_ns = shutstage_at(3);
	later.timeout_ns = S;
	shutstage_hold(&s);
	shutstage_container(&s, &slow);
	shutstage_container(&s, &later);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 19.9);
	/* Somebody asked it long ago, but its turn has not come. */
	assert_string_equal(shutstage_log(&s), "announced\ngroup-started 0\npod-overdue 8\n");
	shutstage_run(&s, 20);
	assert_string_equal(shutstage_log(&s), "group-done 0 timed out\n"
					       "kill 8\ncontainer-killed 8\n");
	later.populated = false;
	shutstage_container(&s, &later);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

/* The kubelet begins a group after its pod workers have finished with the one before, not when that
 * is empty; its time runs from then on. */
static void test_groups_observed(void **state)
{
	const struct shutdown_group groups[] = {{20 * S, false}, {10 * S, false}};
	struct shutdown_container first = shutstage_asked(), second = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_OBSERVE, 0);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	shutstage_pod(&s, "web", 0, false, false);
	shutstage_pod(&s, "dns", 1, false, false);
	first.asked_ns = second.asked_ns = 0;
	second.id = 8;
	second.pod_uid = "dns";
	shutstage_hold(&s);
	shutstage_container(&s, &first);
	shutstage_container(&s, &second);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 1);
	assert_string_equal(shutstage_log(&s), "announced\n");
	first.asked_ns = shutstage_at(1);
	shutstage_container(&s, &first);
	assert_string_equal(shutstage_log(&s), "group-started 0\n");
	shutstage_run(&s, 5);
	first.populated = false;
	shutstage_container(&s, &first);
	assert_string_equal(shutstage_log(&s), "group-done 0\n");
	shutstage_run(&s, 13);
	assert_string_equal(shutstage_log(&s), "");
	second.asked_ns = shutstage_at(13);
	shutstage_container(&s, &second);
	assert_string_equal(shutstage_log(&s), "group-started 1\n");
	shutstage_run(&s, 22.9);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 23);
	assert_string_equal(shutstage_log(&s), "group-done 1 timed out\n");
	shutstage_end(&s);
}

/* logind may be slower to say that the kubelet holds a lock than a container is to end. */
static void test_groups_quick(void **state)
{
	const struct shutdown_group groups[] = {{20 * S, false}, {10 * S, false}};
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 2 * S);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	shutstage_pod(&s, "web", 0, false, false);
	c.asked_ns = 0;
	shutstage_holders(&s, "?");
	shutstage_hold(&s);
	shutstage_container(&s, &c);
	shutstage_announce(&s, 60);
	c.asked_ns = shutstage_at(0.1);
	shutstage_run(&s, 0.1);
	shutstage_container(&s, &c);
	c.populated = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_holders(&s, "kubelet");
	assert_string_equal(shutstage_log(&s), "group-started 0\ngroup-done 0\n");
	shutstage_end(&s);
}

/* Hooks keep the first group from its stop signals; its time ends by the announcement all the same,
 * and the next group is seen to begin. */
static void test_groups_hooks(void **state)
{
	const struct shutdown_group groups[] = {{20 * S, false}, {10 * S, false}};
	struct shutdown_container first = shutstage_asked(), second = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_OBSERVE, 0);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	shutstage_pod(&s, "web", 0, false, false);
	shutstage_pod(&s, "dns", 1, false, false);
	first.asked_ns = second.asked_ns = 0;
	first.timeout_known = second.timeout_known = false;
	second.id = 8;
	second.pod_uid = "dns";
	shutstage_hold(&s);
	shutstage_container(&s, &first);
	shutstage_container(&s, &second);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	/* A user deletes a pod of the later group meanwhile: that is not its beginning. */
	second.asked_ns = shutstage_at(5);
	shutstage_run(&s, 5);
	shutstage_container(&s, &second);
	shutstage_run(&s, 15);
	first.asked_ns = shutstage_at(15);
	shutstage_container(&s, &first);
	assert_string_equal(shutstage_log(&s), "announced\ngroup-started 0\n");
	shutstage_run(&s, 20);
	assert_string_equal(shutstage_log(&s), "group-done 0 timed out\n");
	second.asked_ns = shutstage_at(20);
	shutstage_container(&s, &second);
	assert_string_equal(shutstage_log(&s), "group-started 1\n");
	shutstage_end(&s);
}

/* Where the kubelet has no lock its groups do not begin, and a drain may be as slow as it likes. */
static void test_no_kubelet(void **state)
{
	const struct shutdown_group groups[] = {{S, false}, {S, false}};
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	shutstage_pod(&s, "web", 1, true, false);
	shutstage_container(&s, &c);
	shutstage_hold(&s);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "apt");
	shutstage_run(&s, 50);
	assert_string_equal(shutstage_log(&s), "announced\npod-overdue 7\n");
	shutstage_end(&s);
}

/* docs/kubelet-rules.md, "Two-phase shutdown": critical pods are asked at their time, even when
 * nothing else is left. */
static void test_two_phases(void **state)
{
	const struct shutdown_group groups[] = {{20 * S, true}, {10 * S, false}};
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	shutstage_send(&s, &(struct shutdown_event){
				   .type = SHUTDOWN_EV_PLAN, .plan.groups = groups, .plan.n = 2});
	shutstage_pod(&s, "web", 1, false, false);
	shutstage_hold(&s);
	c.asked_ns = 0;
	shutstage_container(&s, &c);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 19.9);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_run(&s, 20);
	c.asked_ns = shutstage_at(20);
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "group-started 1\n");
	shutstage_end(&s);
}

static void test_suspend(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutdown_stats stats;
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	shutstage_run(&s, 2);
	shutstage_container(&s, &c);
	shutstage_run(&s, 5);
	/* 20 s in which the runtime's own timer stood still. */
	shutstage_jump(&s, 25);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 33.4);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 34);
	assert_string_equal(shutstage_log(&s), "pod-overdue 7\nkill 7\ncontainer-killed 7\n");
	shutdown_get_stats(s.sd, &stats);
	assert_in_range(stats.lost_ns, 19 * S, 20 * S);
	/* One that lasts beyond the limit ends in letting go, and in no kill. */
	shutstage_jump(&s, 4000);
	assert_string_equal(shutstage_log(&s),
			    "released limit\nflush\ndrop\ncontainer-survives 7\n");
	shutstage_end(&s);
}

static void test_survives(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	shutstage_run(&s, 2);
	shutstage_container(&s, &c);
	shutstage_run(&s, 14.5);
	assert_string_equal(shutstage_log(&s), "pod-overdue 7\nkill 7\ncontainer-killed 7\n");
	shutstage_run(&s, 16.5);
	assert_string_equal(shutstage_log(&s), "container-survives 7\nkill 7\nkill 7\n");
	shutstage_run(&s, 61);
	assert_non_null(strstr(shutstage_log(&s), "released limit\nflush\ndrop\n"));
	shutstage_end(&s);

	/* The runtime's own SIGKILL is not repeated. */
	shutstage_assist(&s, 0, "kubelet");
	c.kill_ns = shutstage_at(3);
	shutstage_container(&s, &c);
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "container-survives 7\n");
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a container is ended when its own time and the slack are over",
		      test_overdue),
		CLAIM("nothing else is ended: not asked, killed already, of unknown time or kind",
		      test_spared),
		CLAIM("a cancellation ends all killing, also of those that it had asked",
		      test_cancelled),
		CLAIM("the next shutdown begins anew", test_anew),
		CLAIM("a deaf container is ended early where that is wished, and no process in it was signalled",
		      test_deaf),
		CLAIM("but not while it is not known whether anybody was", test_unseen),
		CLAIM("nor by what was seen before its group's turn", test_stale),
		CLAIM("nor by what was seen more than a second ago", test_outlived),
		CLAIM("none of a later group is ended", test_groups),
		CLAIM("without the kubelet there are no groups", test_no_kubelet),
		CLAIM("a group has started when its first container is asked",
		      test_groups_observed),
		CLAIM("... and is, if it was over before logind named the kubelet",
		      test_groups_quick),
		CLAIM("whatever hooks and deletions do in between", test_groups_hooks),
		CLAIM("before 1.23 the default group takes its whole time", test_two_phases),
		CLAIM("time in which nothing ran is no container's", test_suspend),
		CLAIM("what outlives its SIGKILL is named and holds no longer than the limit",
		      test_survives),
	};

	return cmocka_run_group_tests_name("core/shutdown", tests, NULL, NULL);
}
