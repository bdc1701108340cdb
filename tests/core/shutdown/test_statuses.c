// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown: when the last status of a pod is written, and how long that holds the
 * lock. */
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static const struct shutdown_config manages = {.mode = SHUTDOWN_MANAGE,
					       .statuses = true,
					       .stops_kubelet = true};

static const struct shutdown_pod web = {.uid = "web", .named = true};

static void pod(struct shutstage *s, const struct shutdown_pod *facts)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = *facts});
}

static void container(struct shutstage *s, uint64_t id, bool populated)
{
	const struct shutdown_container c = {
		.id = id,
		.pod_uid = "web",
		.kind = SHUTDOWN_KIND_CONTAINER,
		.populated = populated,
		.asked_ns = s->now_ns,
		.grace = {.set = true, .s = 5},
	};

	shutstage_container(s, &c);
}

static const struct shutdown_pod web_static = {.uid = "web", .named = true, .is_static = true};

static void answer(struct shutstage *s, enum shutdown_write result)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_STATUS,
						   .status.uid = "web",
						   .status.result = result});
}

static void units(struct shutstage *s, bool failed)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_UNITS_STOPPED,
						   .failed = failed});
}

static void evidence(struct shutstage *s, bool cgroups_lost)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_EVIDENCE,
						   .evidence = {.complete = true,
								.cgroups_lost = cgroups_lost}});
}

static void sandbox_stopped(struct shutstage *s)
{
	shutstage_send(s,
		       &(struct shutdown_event){.type = SHUTDOWN_EV_SANDBOX_STOPPED, .uid = "web"});
}

static bool logged(struct shutstage *s, const char *what)
{
	return strstr(shutstage_log(s), what) != NULL;
}

/* Pod web with containers 1 and 2, announced at 0 with that limit. */
static void begin(struct shutstage *s, const struct shutdown_config *config, double limit_s)
{
	shutstage_begin_with(s, config);
	pod(s, &web);
	container(s, 1, true);
	container(s, 2, true);
	shutstage_hold(s);
	shutstage_announce(s, limit_s);
	shutstage_holders(s, config->mode == SHUTDOWN_ASSIST ? "kubelet" : "");
}

/* ... and with its containers ended. */
static void end_all(struct shutstage *s)
{
	container(s, 1, false);
	container(s, 2, false);
}

static void test_manage(void **state)
{
	struct shutstage s;

	begin(&s, &manages, 60);
	units(&s, false);
	container(&s, 1, false);
	assert_false(logged(&s, "write"));
	container(&s, 2, false);
	sandbox_stopped(&s);
	assert_string_equal(shutstage_log(&s), "stop sandbox web\nwrite web\n");
	answer(&s, SHUTDOWN_WRITTEN);
	assert_string_equal(shutstage_log(&s), "released all-stopped\nflush\n");
	shutstage_end(&s);
}

static void test_static(void **state)
{
	struct shutstage s;

	begin(&s, &manages, 60);
	pod(&s, &web_static);
	units(&s, false);
	end_all(&s);
	assert_true(logged(&s, "write web\n"));
	shutstage_end(&s);
}

/* A kubelet of 1.20 shows it as ended as soon as it stops it; the API need not. */
static void test_static_assist(void **state)
{
	const struct shutdown_pod shown = {
		.uid = "web", .named = true, .is_static = true, .ended = true};
	const struct shutdown_config assists = {
		.mode = SHUTDOWN_ASSIST, .statuses = true, .volumes = true};
	struct shutstage s;

	begin(&s, &assists, 60);
	pod(&s, &web_static);
	shutstage_plain(&s, SHUTDOWN_EV_VOLUMES);
	container(&s, 1, false);
	pod(&s, &shown);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_UNMOUNTER});
	shutstage_holders(&s, "");
	(void)shutstage_log(&s);
	container(&s, 2, false);
	assert_string_equal(shutstage_log(&s), "write web\n");
	answer(&s, SHUTDOWN_WRITTEN);
	assert_true(logged(&s, "released pods-ended\n"));
	shutstage_end(&s);
}

/* What forbids it, from the beginning on or before the last container ends. */
static void test_withheld(void **state)
{
	static const struct {
		const char *why;
		struct shutdown_pod pod;
		bool no_units, unit_runs, lost, refused;
	} rows[] = {
		{.why = "unnamed", .pod = {.uid = "web"}},
		{.why = "ended", .pod = {.uid = "web", .named = true, .ended = true}},
		{.why = "records of it lost", .pod = {.uid = "web", .named = true, .lost = true}},
		{.why = "an end is pending", .pod = {.uid = "web", .named = true, .pending = true}},
		{.why = "a cgroup lost", .pod = {.uid = "web", .named = true}, .lost = true},
		{.why = "no unit is stopped",
		 .pod = {.uid = "web", .named = true},
		 .no_units = true},
		{.why = "a unit runs", .pod = {.uid = "web", .named = true}, .unit_runs = true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_config config = manages;
		struct shutstage s;

		config.stops_kubelet = !rows[i].no_units;
		begin(&s, &config, 60);
		units(&s, rows[i].unit_runs);
		pod(&s, &rows[i].pod);
		if (strcmp(rows[i].why, "unnamed") == 0)
			pod(&s, &(struct shutdown_pod){.uid = "web"});
		evidence(&s, rows[i].lost);
		end_all(&s);
		if (logged(&s, "write"))
			fail_msg("written: %s", rows[i].why);
		shutstage_end(&s);
	}
}

/* An end that was pending is written when it is known, and called back when a container is there. */
static void test_called_back(void **state)
{
	const struct shutdown_pod pending = {.uid = "web", .named = true, .pending = true};
	struct shutstage s;

	begin(&s, &manages, 60);
	units(&s, false);
	pod(&s, &pending);
	end_all(&s);
	sandbox_stopped(&s);
	assert_false(logged(&s, "released"));
	pod(&s, &web);
	assert_true(logged(&s, "write web\n"));
	container(&s, 3, true);
	assert_true(logged(&s, "leave web\n"));
	container(&s, 3, false);
	assert_true(logged(&s, "write web\n"));
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_string_equal(shutstage_log(&s), "leave web\nstart units\ncancelled\n");
	/* It does not end what begins anew. */
	answer(&s, SHUTDOWN_WRITTEN);
	shutstage_end(&s);
}

static void test_answers(void **state)
{
	static const struct {
		enum shutdown_write result;
		const char *then;
	} rows[] = {
		{SHUTDOWN_WRITTEN, "released all-stopped\nflush\n"},
		{SHUTDOWN_WRITE_THERE, "released all-stopped\nflush\n"},
		{SHUTDOWN_WRITE_GONE, "released all-stopped\nflush\n"},
		{SHUTDOWN_WRITE_REFUSED, "released all-stopped\nflush\n"},
		{SHUTDOWN_WRITE_GAVE_UP, "released all-stopped\nflush\n"},
		{SHUTDOWN_WRITE_CONFLICT, "write web\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutstage s;

		begin(&s, &manages, 60);
		units(&s, false);
		end_all(&s);
		sandbox_stopped(&s);
		assert_true(logged(&s, "write web\n"));
		answer(&s, rows[i].result);
		assert_string_equal(shutstage_log(&s), rows[i].then);
		for (int n = 1; n < 8 && rows[i].result == SHUTDOWN_WRITE_CONFLICT; n++)
			answer(&s, SHUTDOWN_WRITE_CONFLICT);
		if (rows[i].result == SHUTDOWN_WRITE_CONFLICT)
			assert_true(logged(&s, "released"));
		shutstage_end(&s);
	}
}

/* Whatever becomes of the API, the lock is released before logind's limit. */
static void test_bounds(void **state)
{
	static const struct {
		double limit_s;
		uint64_t wait_ns;
		bool api_server;
		double held_s;
		const char *reason;
	} rows[] = {
		{60, 0, false, 10, "released api-unreachable"},
		{60, 3 * S, false, 3, "released status-late"},
		{8, 0, false, 7.2, "released status-late"},
		{60, 0, true, 0, "released api-server-stopped"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_config config = manages;
		struct shutdown_pod facts = web;
		struct shutstage s;

		config.status_wait_ns = rows[i].wait_ns;
		facts.api_server = rows[i].api_server;
		begin(&s, &config, rows[i].limit_s);
		pod(&s, &facts);
		units(&s, false);
		end_all(&s);
		if (rows[i].held_s > 0) {
			sandbox_stopped(&s);
			shutstage_run(&s, rows[i].held_s - 0.1);
			assert_false(logged(&s, "released"));
			shutstage_run(&s, rows[i].held_s);
		} else {
			shutstage_log(&s);
			sandbox_stopped(&s);
		}
		if (!logged(&s, rows[i].reason))
			fail_msg("row %zu is not %s", i, rows[i].reason);
		shutstage_end(&s);
	}
}

/* In assist the kubelet writes, and has its time for it. */
static void test_assist(void **state)
{
	static const struct {
		bool holds, dies;
		double written_s; /* 0: never */
	} rows[] = {
		{.holds = true},
		{.written_s = 14},
		{.dies = true, .written_s = 2},
		{.holds = true, .dies = true},
	};
	const struct shutdown_config assists = {
		.mode = SHUTDOWN_ASSIST, .statuses = true, .volumes = true};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutstage s;

		begin(&s, &assists, 60);
		container(&s, 1, true);
		shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_UNMOUNTER,
							    .lives = true});
		end_all(&s);
		shutstage_run(&s, 2);
		if (rows[i].dies)
			shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_UNMOUNTER});
		assert_false(logged(&s, "write"));
		shutstage_holders(&s, rows[i].holds ? "kubelet" : "");
		if (rows[i].written_s > 2) {
			shutstage_run(&s, rows[i].written_s - 0.1);
			assert_false(logged(&s, "write"));
		}
		shutstage_run(&s, rows[i].written_s ? rows[i].written_s : 40);
		if (logged(&s, "write web\n") != (rows[i].written_s > 0))
			fail_msg("row %zu", i);
		shutstage_end(&s);
	}
}

/* Another process has seen the pod end, and released nothing; it was ended after 3 s. */
static void resume(struct shutstage *s, const struct shutdown_config *config,
		   const struct shutdown_run *run, bool seen)
{
	const struct shutdown_pod ended = {
		.uid = "web", .named = true, .stopping = seen, .seen = seen};
	struct shutdown_run saved = *run;

	shutstage_begin_with(s, config);
	saved.announced_ns = s->now_ns;
	shutstage_run(s, 3);
	s->now_ns = shutstage_at(3);
	pod(s, &ended);
	shutstage_hold(s);
	(void)shutstage_log(s);
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_ANNOUNCED,
						   .announced = {.at_ns = saved.announced_ns,
								 .limit_ns = 60 * S,
								 .run = &saved}});
	shutstage_holders(s, "");
}

static void test_resumed(void **state)
{
	static const struct shutdown_run run = {.units_stopped = true};
	struct shutstage s;

	resume(&s, &manages, &run, true);
	/* That the kubelet is still stopped is known to systemd alone. */
	assert_string_equal(shutstage_log(&s), "stop units\nannounced\n");
	units(&s, false);
	assert_string_equal(shutstage_log(&s), "write web\n");
	answer(&s, SHUTDOWN_WRITTEN);
	assert_string_equal(shutstage_log(&s), "released all-stopped\nflush\n");
	shutstage_end(&s);
}

static void test_resumed_withheld(void **state)
{
	static const struct {
		const char *why;
		bool seen, runs, silent, handed_over;
	} rows[] = {
		{.why = "it was not seen alive"},
		{.why = "the kubelet's unit runs", .seen = true, .runs = true},
		{.why = "systemd is silent", .seen = true, .silent = true},
		{.why = "the lock was released", .seen = true, .handed_over = true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct shutdown_run run = {.units_stopped = true,
						 .handed_over = rows[i].handed_over};
		struct shutstage s;
		const char *log;

		resume(&s, &manages, &run, rows[i].seen);
		if (!rows[i].silent)
			units(&s, rows[i].runs);
		shutstage_run(&s, 40);
		log = shutstage_log(&s);
		if (strstr(log, "write") || !strstr(log, "released all-stopped\n"))
			fail_msg("%s: %s", rows[i].why, log);
		shutstage_end(&s);
	}
}

/* In assist it is known from the process before that a kubelet stopped the pods. */
static void test_resumed_assist(void **state)
{
	const struct shutdown_config assists = {
		.mode = SHUTDOWN_ASSIST, .statuses = true, .volumes = true};

	for (int held = 0; held < 2; held++) {
		const struct shutdown_run run = {.kubelet_held = held};
		struct shutdown_run saved;
		struct shutstage s;

		resume(&s, &assists, &run, true);
		assert_true(shutdown_save_run(s.sd, &saved));
		assert_true(saved.kubelet_held == held);
		assert_true(shutdown_saw_pod(s.sd, "web"));
		shutstage_run(&s, 14.9);
		assert_false(logged(&s, "write"));
		shutstage_run(&s, 15);
		assert_true(logged(&s, "write web\n") == held);
		shutstage_end(&s);
	}
}

/* Each row has a pod whose containers, but for the last one's, end; the lock goes at the limit. */
static void test_counts(void **state)
{
	static const struct {
		const char *why;
		struct shutdown_pod pod;
		bool unit_runs, lives, silent;
	} rows[] = {
		[SHUTDOWN_WITHHELD_ALIVE] = {"alive", {.uid = "web", .named = true}, .lives = true},
		[SHUTDOWN_WITHHELD_LOST] = {"records-lost",
					    {.uid = "web", .named = true, .lost = true}},
		[SHUTDOWN_WITHHELD_UNNAMED] = {"unnamed", {.uid = "web"}},
		[SHUTDOWN_WITHHELD_KUBELET] = {"kubelet",
					       {.uid = "web", .named = true},
					       .unit_runs = true},
		[SHUTDOWN_WITHHELD_LATE] = {"late", {.uid = "web", .named = true}, .silent = true},
		[SHUTDOWN_WITHHELD_COUNT] = {NULL, {.uid = "web", .named = true}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutdown_stats stats;
		struct shutstage s;

		begin(&s, &manages, 20);
		units(&s, rows[i].unit_runs);
		pod(&s, &rows[i].pod);
		container(&s, 1, false);
		container(&s, 2, rows[i].lives);
		if (!rows[i].silent && !rows[i].why)
			answer(&s, SHUTDOWN_WRITTEN);
		shutstage_run(&s, 19);
		assert_true(logged(&s, "released"));
		shutdown_get_stats(s.sd, &stats);
		assert_int_equal(stats.statuses.writes[SHUTDOWN_WRITTEN], !rows[i].why);
		for (size_t n = 0; n < SHUTDOWN_WITHHELD_COUNT; n++)
			if (stats.statuses.withheld[n] != (n == i))
				fail_msg("%s: %s", rows[i].why, shutdown_withheld_name(n));
		if (rows[i].why)
			assert_string_equal(shutdown_withheld_name((enum shutdown_withheld)i),
					    rows[i].why);
		shutstage_end(&s);
	}
}

/* A pod of which no process was seen in this shutdown has ended before, or never began. */
static void test_never_seen(void **state)
{
	const struct shutdown_pod deleted = {.uid = "old", .named = true, .stopping = true};
	struct shutstage s;

	begin(&s, &manages, 60);
	units(&s, false);
	pod(&s, &deleted);
	end_all(&s);
	assert_false(logged(&s, "write old"));
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a status is written when the pod's last container has ended", test_manage),
		CLAIM("so is that of a static pod", test_static),
		CLAIM("also if a kubelet that has died showed it as ended", test_static_assist),
		CLAIM("no status is written that is not proven, or is the kubelet's",
		      test_withheld),
		CLAIM("a pod that lives again, or a shutdown that is over, calls a write back",
		      test_called_back),
		CLAIM("each answer settles a write, a conflict after some more attempts",
		      test_answers),
		CLAIM("an API that does not answer holds the lock for 10 s, and never to its limit",
		      test_bounds),
		CLAIM("beside a kubelet a status is written once that is dead or late",
		      test_assist),
		CLAIM("what is written is counted, and what is withheld, each with its reason",
		      test_counts),
		CLAIM("a pod that was not seen alive gets no status", test_never_seen),
		CLAIM("a process that is started later writes once systemd has confirmed the stop",
		      test_resumed),
		CLAIM("it writes nothing that neither it nor the earlier one has seen",
		      test_resumed_withheld),
		CLAIM("beside a kubelet it writes 12 s later, if that held its lock before",
		      test_resumed_assist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
