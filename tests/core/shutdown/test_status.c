// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown in assist: when it asks for the status of pods that have ended, and
 * how long it waits for that. */
#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static void api(struct shutstage *s, bool reachable)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_API,
						   .lister.reachable = reachable});
}

/* No address of its host was ever known. */
static void absent_api(struct shutstage *s)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_API, .lister.absent = true});
}

static void listed(struct shutstage *s, bool is_static)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_LISTED,
						   .lister.is_static = is_static});
}

/* In each row the same happens; the pod's own end, and who holds a lock, differ. */
static void test_absent(void **state)
{
	static const struct {
		bool terminal;
		const char *holders;
	} rows[] = {{false, ""}, {true, ""}, {false, "kubelet"}, {true, "kubelet"}};

	for (size_t i = 0; i < 2 * LEN(rows); i++) {
		struct shutdown_container c = shutstage_asked();
		bool unlisted = i % 2;
		struct shutstage s;

		shutstage_assist(&s, 0, "kubelet");
		if (!unlisted)
			absent_api(&s);
		shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD,
							    .pod.uid = "web",
							    .pod.ended = rows[i / 2].terminal,
							    .pod.unlisted = unlisted});
		shutstage_container(&s, &c);
		shutstage_run(&s, 5);
		shutstage_holders(&s, rows[i / 2].holders);
		c.populated = false;
		shutstage_container(&s, &c);
		assert_string_equal(shutstage_log(&s),
				    rows[i / 2].terminal ? "released pods-ended\nflush\n"
							 : "released api-unreachable\nflush\n");
		shutstage_end(&s);
	}
}

/* Its name is resolved in the middle of the shutdown. */
static void test_present_again(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	absent_api(&s);
	shutstage_pod(&s, "web", 0, false, false);
	shutstage_container(&s, &c);
	shutstage_run(&s, 5);
	shutstage_holders(&s, "");
	api(&s, true);
	c.populated = false;
	shutstage_container(&s, &c);
	assert_null(strstr(shutstage_log(&s), "released"));
	shutstage_end(&s);
}

static void test_status(void **state)
{
	static const struct {
		bool reachable, api_server, terminal;
		double at_s;
		const char *log;
	} rows[] = {
		{true, false, true, 5, "released pods-ended\nflush\n"},
		{true, false, false, 59, "released status-late\nflush\n"},
		{false, false, false, 5, "released api-unreachable\nflush\n"},
		{true, true, false, 5, "released api-server-stopped\nflush\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_container c = shutstage_asked();
		struct shutstage s;

		shutstage_assist(&s, 0, "kubelet");
		api(&s, rows[i].reachable);
		shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD,
							    .pod.uid = "web",
							    .pod.ended = rows[i].terminal,
							    .pod.api_server = rows[i].api_server});
		/* The end of a pod that is not being stopped is not awaited. */
		shutstage_pod(&s, "other", 0, false, false);
		shutstage_container(&s, &c);
		shutstage_run(&s, 5);
		shutstage_holders(&s, "");
		c.populated = false;
		shutstage_container(&s, &c);
		if (rows[i].at_s > 5) {
			shutstage_run(&s, rows[i].at_s - 0.001);
			assert_string_equal(shutstage_log(&s), "");
			shutstage_run(&s, rows[i].at_s);
		}
		assert_string_equal(shutstage_log(&s), rows[i].log);
		shutstage_end(&s);
	}
}

/* It is asked for at 5 s, when the pod is empty, and seen at 7.5 s. */
static void test_asks(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutdown_pod web = {.uid = "web", .stopping = true};
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	api(&s, true);
	shutstage_pod(&s, "other", 0, false, false);
	shutstage_container(&s, &c);
	shutstage_run(&s, 5);
	assert_int_equal(s.status_asked, 0);
	c.populated = false;
	shutstage_container(&s, &c);
	assert_int_equal(s.status_asked, 1);
	assert_string_equal(s.status_of, "web");
	shutstage_run(&s, 5.9);
	assert_int_equal(s.status_asked, 1);
	shutstage_run(&s, 7.5);
	assert_int_equal(s.status_asked, 3);
	web.ended = true;
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = web});
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_run(&s, 20);
	assert_int_equal(s.status_asked, 3);
	shutstage_end(&s);
}

/* Each pod when it is empty, though others of its group are not. */
static void test_asks_each(void **state)
{
	struct shutdown_container c = shutstage_asked(), other = shutstage_asked();
	struct shutstage s;

	other.id = 8;
	other.pod_uid = "slow";
	shutstage_assist(&s, 0, "kubelet");
	api(&s, true);
	shutstage_container(&s, &c);
	shutstage_container(&s, &other);
	shutstage_run(&s, 5);
	c.populated = false;
	shutstage_container(&s, &c);
	assert_int_equal(s.status_asked, 1);
	shutstage_pod(&s, "web", 0, true, true);
	shutstage_run(&s, 8);
	assert_int_equal(s.status_asked, 1);
	other.populated = false;
	shutstage_container(&s, &other);
	assert_int_equal(s.status_asked, 2);
	assert_string_equal(s.status_of, "slow");
	shutstage_end(&s);
}

/* The pod is empty at 5 s, the kubelet has let go, and the pod's status does not come. */
static void begin_empty(struct shutstage *s, bool reachable)
{
	struct shutdown_container c = shutstage_asked();

	shutstage_assist(s, 0, "kubelet");
	api(s, reachable);
	shutstage_container(s, &c);
	shutstage_run(s, 5);
	shutstage_holders(s, "");
	c.populated = false;
	shutstage_container(s, &c);
}

static void test_away(void **state)
{
	struct shutstage s;

	begin_empty(&s, true);
	shutstage_run(&s, 6);
	api(&s, false);
	/* Each time is one of its own. */
	shutstage_run(&s, 7.5);
	api(&s, true);
	shutstage_run(&s, 7.7);
	api(&s, false);
	api(&s, false);
	shutstage_run(&s, 9.699);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 9.7);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutstage_end(&s);
	/* No longer than logind waits. */
	begin_empty(&s, true);
	shutstage_run(&s, 58);
	api(&s, false);
	shutstage_run(&s, 58.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 59);
	assert_string_equal(shutstage_log(&s), "released status-late\nflush\n");
	shutstage_end(&s);
}

/* The measured times from a container's death to its pod's status, and what they came to when it
 * was waited for 5 s. */
static void test_up_to_the_limit(void **state)
{
	static const double late_s[] = {4, 9, 30, 53.9};

	for (size_t i = 0; i < LEN(late_s); i++) {
		struct shutstage s;

		begin_empty(&s, true);
		shutstage_run(&s, 5 + late_s[i]);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_pod(&s, "web", 0, true, true);
		assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
		shutstage_end(&s);
	}
}

static void test_shorter(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin_with(&s, &(struct shutdown_config){.mode = SHUTDOWN_ASSIST,
							   .status_wait_ns = 7 * S});
	shutstage_container(&s, &c);
	shutstage_hold(&s);
	api(&s, true);
	shutstage_run(&s, 1);
	shutstage_announce(&s, 60);
	/* As long as the kubelet holds, too. */
	shutstage_holders(&s, "kubelet");
	c.populated = false;
	shutstage_run(&s, 5);
	shutstage_container(&s, &c);
	shutstage_run(&s, 11.999);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_run(&s, 12);
	assert_string_equal(shutstage_log(&s), "released status-late\nflush\n");
	shutstage_end(&s);
}

/* Another container of the pod is not asked by anybody, and the kubelet is done. */
static void test_left_alive(void **state)
{
	static const struct {
		uint64_t wait_ns;
		bool ends; /* the other one, before that */
		double at_s;
		const char *log;
	} rows[] = {
		{0, false, 59, "released limit\nflush\n"},
		{0, true, 59, "released status-late\nflush\n"},
		{7 * S, false, 12, "released status-late\nflush\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_container c = shutstage_asked(), other = c;
		struct shutstage s;

		other.id = 8;
		other.asked_ns = 0;
		shutstage_begin_with(&s,
				     &(struct shutdown_config){.mode = SHUTDOWN_ASSIST,
							       .status_wait_ns = rows[i].wait_ns});
		shutstage_container(&s, &other);
		shutstage_container(&s, &c);
		shutstage_hold(&s);
		api(&s, true);
		shutstage_run(&s, 1);
		shutstage_announce(&s, 60);
		shutstage_holders(&s, "kubelet");
		shutstage_run(&s, 5);
		c.populated = false;
		shutstage_container(&s, &c);
		shutstage_holders(&s, "");
		if (rows[i].ends) {
			shutstage_run(&s, 10);
			other.populated = false;
			shutstage_container(&s, &other);
		}
		shutstage_run(&s, rows[i].at_s - 0.001);
		assert_string_equal(shutstage_log(&s), "announced\n");
		shutstage_run(&s, rows[i].at_s);
		assert_string_equal(shutstage_log(&s), rows[i].log);
		shutstage_end(&s);
	}
}

static void test_silent(void **state)
{
	struct shutstage s;

	begin_empty(&s, true);
	/* That is answered, and what it is asked at 6 s is not. */
	s.silent = true;
	shutstage_run(&s, 10.5);
	listed(&s, false);
	shutstage_run(&s, 15.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 16);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutstage_end(&s);
}

/* Two sources: what the one owes is not the other's matter. */
static void test_silent_apart(void **state)
{
	const struct shutdown_pod of_kubelet = {.uid = "etcd", .stopping = true, .is_static = true};
	struct shutstage s;

	begin_empty(&s, true);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_API,
						    .lister = {true, true, true}});
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = of_kubelet});
	shutstage_run(&s, 12);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_pod(&s, "web", 0, true, true);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutstage_end(&s);
}

/* A kubelet that stands still answers nothing, and is the one who is asked; the machine stays up
 * for its lock. */
static void test_kubelet_holds(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	for (int of_kubelet = 0; of_kubelet < 2; of_kubelet++) {
		shutstage_assist(&s, 0, "kubelet");
		shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_API,
							    .lister.kubelet = of_kubelet});
		shutstage_container(&s, &c);
		shutstage_run(&s, 5);
		c.populated = false;
		shutstage_container(&s, &c);
		shutstage_run(&s, 30);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_holders(&s, "");
		if (!of_kubelet) {
			assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
			shutstage_end(&s);
			c.populated = true;
			continue;
		}
		/* Its own answers may come a moment later. */
		shutstage_run(&s, 31.9);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_run(&s, 32);
		assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
		shutstage_end(&s);
	}
	/* The limit is the end of it. */
	c.populated = true;
	shutstage_assist(&s, 0, "kubelet");
	shutstage_container(&s, &c);
	shutstage_run(&s, 5);
	c.populated = false;
	shutstage_container(&s, &c);
	shutstage_run(&s, 59);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutstage_end(&s);
}

/* The API's pods have ended; of the static ones no source is configured. */
static void test_partly_unlisted(void **state)
{
	const struct shutdown_pod etcd = {
		.uid = "etcd", .stopping = true, .unlisted = true, .is_static = true};
	struct shutstage s;

	begin_empty(&s, true);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = etcd});
	shutstage_run(&s, 7);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_pod(&s, "web", 0, true, true);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
}

/* It may have come back since it was asked; in a shutdown it is asked every second. */
static void test_away_before(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_begin(&s, SHUTDOWN_ASSIST, 0);
	c.asked_ns = 0;
	shutstage_container(&s, &c);
	shutstage_hold(&s);
	api(&s, false);
	shutstage_run(&s, 100);
	shutstage_announce(&s, 60);
	c.asked_ns = s.now_ns;
	shutstage_container(&s, &c);
	shutstage_run(&s, 101);
	shutstage_holders(&s, "");
	c.populated = false;
	shutstage_container(&s, &c);
	shutstage_run(&s, 101.999);
	assert_string_equal(shutstage_log(&s), "announced\n");
	shutstage_run(&s, 102);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutstage_end(&s);
	begin_empty(&s, false);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	shutstage_end(&s);
}

static void test_unlisted(void **state)
{
	const struct shutdown_pod web = {.uid = "web", .stopping = true, .unlisted = true};
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	shutstage_assist(&s, 0, "kubelet");
	api(&s, true);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = web});
	shutstage_container(&s, &c);
	shutstage_run(&s, 5);
	assert_string_equal(shutstage_log(&s), "");
	c.populated = false;
	shutstage_container(&s, &c);
	assert_string_equal(shutstage_log(&s), "released api-unreachable\nflush\n");
	assert_int_equal(s.status_asked, 0);
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a source that never had an address makes no difference to none",
		      test_absent),
		CLAIM("one whose name is resolved in the shutdown is waited for",
		      test_present_again),
		CLAIM("the status is waited for where somebody can show it", test_status),
		CLAIM("it is asked for when a pod is empty, and every second until it is seen",
		      test_asks),
		CLAIM("for each pod that is empty, whoever else is not", test_asks_each),
		CLAIM("but not for long from somebody who does not answer", test_away),
		CLAIM("it is waited for up to 2 s before the limit, and then pods have ended",
		      test_up_to_the_limit),
		CLAIM("shutdown.statusWait makes that shorter", test_shorter),
		CLAIM("what is left alive in a pod that was stopped is what the limit cuts short",
		      test_left_alive),
		CLAIM("a source that is silent for 5 s is away", test_silent),
		CLAIM("each source for its own pods", test_silent_apart),
		CLAIM("while the kubelet holds its lock nothing is lost by waiting with it",
		      test_kubelet_holds),
		CLAIM("pods of a source that is not configured keep others from nothing",
		      test_partly_unlisted),
		CLAIM("who did not before the shutdown may do so in it", test_away_before),
		CLAIM("it is neither asked nor waited for where no source lists the pod",
		      test_unlisted),
	};

	return cmocka_run_group_tests_name("core/shutdown", tests, NULL, NULL);
}
