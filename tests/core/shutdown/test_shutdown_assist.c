// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown in assist: what it waits for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static void api(struct shutstage *s, bool reachable)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_API,
						   .lister.reachable = reachable});
}

/* The kubelet lets go while a deaf container has 60 ms left. */
static void test_measured(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	api(&s, true);
	shutstage_run(&s, 2);
	c.deaf = true;
	c.timeout_ns = 20 * S;
	shutstage_container(&s, &c);
	shutstage_run(&s, 22);
	shutstage_holders(&s, "");
	shutstage_run(&s, 22.06);
	c.kill_ns = s.now_ns;
	shutstage_container(&s, &c);
	c.populated = false;
	shutstage_container(&s, &c);
	shutstage_run(&s, 25.4);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_pod(&s, "web", 0, true, true);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	assert_string_equal(shutstage_log(&s), "drop\n");
	shutstage_end(&s);
}

/* The daemon was killed; its successor does not know yet that somebody ends the pod. */
static void begin_late(struct shutstage *s, struct shutdown_container *c)
{
	*c = shutstage_asked();
	c->asked_ns = 0;
	shutstage_begin(s, SHUTDOWN_ASSIST, 0);
	shutstage_container(s, c);
	shutstage_hold(s);
	api(s, true);
	shutstage_run(s, 20);
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_ANNOUNCED,
						   .announced.at_ns = shutstage_at(2),
						   .announced.limit_ns = 60 * S});
	shutstage_holders(s, "");
}

static void test_late(void **state)
{
	struct shutdown_container c;
	struct shutstage s;

	begin_late(&s, &c);
	shutstage_run(&s, 24.9);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_run(&s, 25);
	assert_string_equal(shutstage_log(&s), "released nobody-stops\nflush\n");
	shutstage_end(&s);
	begin_late(&s, &c);
	shutstage_run(&s, 21);
	shutstage_pod(&s, "web", 0, true, true);
	shutstage_run(&s, 40);
	assert_string_equal(shutstage_log(&s), "announced\n");
	c.populated = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
	/* Nothing lives that anybody could be ending. */
	begin_late(&s, &c);
	c.populated = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "announced\nreleased nobody-stops\nflush\n");
	shutstage_end(&s);
}

static void test_notes(void **state)
{
	struct shutdown_container c = shutstage_asked();
	const struct shutdown_event timer = {.type = SHUTDOWN_EV_TIMER};
	struct shutdown_event pod = {.type = SHUTDOWN_EV_POD, .pod = {.uid = "web"}};
	struct shutdown_event container = {.type = SHUTDOWN_EV_CONTAINER};
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	shutstage_run(&s, 5);
	/* It was stopped and has ended: as two steps, the first would not be awaited. */
	pod.pod.stopping = true;
	c.populated = false;
	container.container = c;
	assert_int_equal(shutdown_note(s.sd, &container), 1);
	assert_int_equal(shutdown_note(s.sd, &pod), 1);
	pod.pod.ended = true;
	assert_int_equal(shutdown_note(s.sd, &pod), 1);
	assert_int_equal(shutdown_note(s.sd, &pod), 0);
	assert_int_equal(shutdown_note(s.sd, &container), 0);
	assert_int_equal(shutdown_note(s.sd, &timer), -EINVAL);
	assert_string_equal(shutstage_log(&s), "");
	shutdown_settle(s.sd, s.now_ns);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
}

static void test_holds(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	/* A preStop hook runs; then it exits, and the kubelet has a group more to end. */
	shutstage_pod(&s, "web", 0, true, false);
	shutstage_holders(&s, "");
	shutstage_run(&s, 20);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_holders(&s, "kubelet");
	shutstage_pod(&s, "web", 0, false, false);
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "");
	/* No lock but the kubelet's is waited for: who would stop anything? */
	shutstage_holders(&s, "apt");
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	/* Then a container is asked after all. */
	c.asked_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	shutstage_run(&s, 41.9);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 42);
	assert_string_equal(shutstage_log(&s), "pod-overdue 7\nkill 7\ncontainer-killed 7\n");
	shutstage_end(&s);
}

static void test_nobody(void **state)
{
	static const char *const who[] = {"", "apt", "Kubelet kubelets"};

	for (size_t i = 0; i < LEN(who); i++) {
		struct shutdown_container c = shutstage_asked();
		struct shutstage s;

		shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
		shutstage_hold(&s);
		c.asked_ns = 0;
		shutstage_container(&s, &c);
		shutstage_announce(&s, 60);
		assert_string_equal(shutstage_log(&s), "announced\n");
		shutstage_holders(&s, who[i]);
		assert_string_equal(shutstage_log(&s), "released nobody-stops\nflush\n");
		shutstage_end(&s);
	}
}

static void assert_pods(struct shutstage *s, size_t known, size_t stopped, size_t ended)
{
	uint64_t by_state[SHUTDOWN_POD_STATE_COUNT] = {};
	struct shutdown_status status;

	shutdown_get_status(s->sd, &status);
	assert_int_equal(status.pods, known);
	assert_int_equal(status.pods_stopped, stopped);
	assert_int_equal(status.pods_ended, ended);
	shutdown_count_pods(s->sd, 0, by_state);
	assert_int_equal(by_state[SHUTDOWN_POD_RUNNING], known - stopped);
	assert_int_equal(by_state[SHUTDOWN_POD_ENDED], ended);
}

/* A Job's pod that is there still, and one that ended just now, whose status is yet to be seen. */
static void test_ended_before(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	c.asked_ns = 0;
	shutstage_container(&s, &c);
	shutstage_pod(&s, "job", 0, true, true);
	shutstage_pod(&s, "now", 0, true, false);
	shutstage_hold(&s);
	api(&s, true);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	assert_pods(&s, 1, 0, 0);
	shutstage_pod(&s, "web", 0, true, false);
	c.id = 8;
	c.pod_uid = "late";
	shutstage_container(&s, &c);
	assert_pods(&s, 2, 1, 0);
	shutstage_pod(&s, "late", 0, true, true);
	c.populated = false;
	shutstage_container(&s, &c);
	c.id = 7;
	c.pod_uid = "web";
	shutstage_container(&s, &c);
	shutstage_pod(&s, "web", 0, true, true);
	assert_pods(&s, 2, 2, 2);
	assert_string_equal(shutstage_log(&s), "announced\n");
	/* The end of that one is awaited all the same. */
	shutstage_holders(&s, "");
	assert_string_equal(shutstage_log(&s), "");
	shutstage_pod(&s, "now", 0, true, true);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	assert_pods(&s, 2, 2, 2);
	shutstage_end(&s);
}

/* In back-off, or Pending: no process is in it when the shutdown comes, nor later. */
static void test_empty_before(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	c.asked_ns = 0;
	shutstage_container(&s, &c);
	shutstage_pod(&s, "back-off", 0, false, false);
	shutstage_hold(&s);
	api(&s, true);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_pod(&s, "pending", 0, false, false);
	assert_pods(&s, 3, 0, 0);
	shutstage_pod(&s, "back-off", 0, true, false);
	assert_pods(&s, 3, 1, 0);
	shutstage_pod(&s, "back-off", 0, true, true);
	shutstage_pod(&s, "pending", 0, true, true);
	assert_pods(&s, 3, 2, 2);
	/* The next shutdown finds them ended. */
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	shutstage_announce(&s, 60);
	assert_pods(&s, 1, 0, 0);
	shutstage_end(&s);
}

/* ... is neither what makes an end of nothing one of pods, nor what a program that came late has
 * heard of. */
static void test_ended_is_no_stop(void **state)
{
	struct shutdown_container c;
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	c = shutstage_asked();
	c.asked_ns = 0;
	shutstage_container(&s, &c);
	shutstage_pod(&s, "job", 0, true, true);
	shutstage_hold(&s);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "");
	assert_string_equal(shutstage_log(&s), "announced\nreleased nobody-stops\nflush\n");
	shutstage_end(&s);
	begin_late(&s, &c);
	shutstage_pod(&s, "job", 0, true, true);
	shutstage_run(&s, 24.9);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_end(&s);
}

static void test_observes_only(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_OBSERVE, 2 * S);
	shutstage_hold(&s);
	c.deaf = true;
	shutstage_container(&s, &c);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "kubelet");
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "announced\npod-overdue 7\n");
	/* Each request is one to be late for. */
	c.asked_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_run(&s, 42);
	assert_string_equal(shutstage_log(&s), "pod-overdue 7\n");
	shutstage_end(&s);
}

static void test_bounds(void **state)
{
	struct shutdown_stats stats;
	struct shutdown_status status;
	struct shutstage s;
	char uid[32];

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	for (unsigned int i = 0; i < SHUTDOWN_MAX_CONTAINERS + 10; i++) {
		const struct shutdown_event event = {
			.type = SHUTDOWN_EV_CONTAINER,
			.container = {.id = i + 1, .pod_uid = uid, .populated = true},
		};

		snprintf(uid, sizeof(uid), "pod-%u", i);
		assert_int_equal(shutdown_step(s.sd, &event, s.now_ns),
				 i < SHUTDOWN_MAX_CONTAINERS ? 0 : -ENOSPC);
	}
	shutdown_get_status(s.sd, &status);
	assert_int_equal(status.containers, SHUTDOWN_MAX_CONTAINERS);
	assert_int_equal(status.living, SHUTDOWN_MAX_CONTAINERS);
	assert_int_equal(status.pods, SHUTDOWN_MAX_PODS);
	shutdown_get_stats(s.sd, &stats);
	assert_int_equal(stats.refused, SHUTDOWN_MAX_CONTAINERS - SHUTDOWN_MAX_PODS + 10);
	for (unsigned int i = 0; i < SHUTDOWN_MAX_CONTAINERS; i++)
		shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE,
							    .id = i + 1});
	shutdown_get_status(s.sd, &status);
	assert_int_equal(status.containers + status.pods, 0);
	shutstage_end(&s);
}

static void test_refuses(void **state)
{
	char longest[POD_UID_MAX + 1];
	const struct shutdown_event bad[] = {
		{.type = SHUTDOWN_EV_CONTAINER, .container = {.pod_uid = "web"}},
		{.type = SHUTDOWN_EV_CONTAINER, .container = {.id = 1, .pod_uid = longest}},
		{.type = SHUTDOWN_EV_CONTAINER_GONE},
		{.type = SHUTDOWN_EV_POD},
		{.type = SHUTDOWN_EV_POD, .pod.uid = ""},
		{.type = SHUTDOWN_EV_POD, .pod.uid = longest},
		{.type = SHUTDOWN_EV_POD_GONE},
	};
	struct shutdown_status status;
	struct shutstage s;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	for (size_t i = 0; i < LEN(bad); i++)
		assert_int_equal(shutdown_step(s.sd, &bad[i], s.now_ns), -EINVAL);
	shutdown_get_status(s.sd, &status);
	assert_int_equal(status.containers + status.pods, 0);
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("who comes to it late hears of who is stopped before letting go", test_late),
		CLAIM("the measured case: it holds until the runtime's SIGKILL and the pod's status",
		      test_measured),
		CLAIM("what is noted is decided about at once, when it is settled", test_notes),
		CLAIM("it holds while anything is stopped or the kubelet may, and no longer",
		      test_holds),
		CLAIM("where nobody stops anything it lets go at once", test_nobody),
		CLAIM("a pod that had ended before is none that the shutdown stops",
		      test_ended_before),
		CLAIM("one that was empty before and had not ended is", test_empty_before),
		CLAIM("nor one by which something is stopped", test_ended_is_no_stop),
		CLAIM("observe ends nothing", test_observes_only),
		CLAIM("containers and pods are bounded, and all memory comes back", test_bounds),
		CLAIM("a fact of nothing is refused", test_refuses),
	};

	return cmocka_run_group_tests_name("core/shutdown", tests, NULL, NULL);
}
