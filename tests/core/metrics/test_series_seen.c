// SPDX-License-Identifier: Apache-2.0
/* Claims about core/metrics/series: what is there before anything was counted, and how good counts
 * are. */
#include "core/metrics/series.h"
#include "lib/claim.h"
#include "lib/engine/serieslib.h"

static const char from_the_start[] =
	"graced_container_stops_total|shop||cart|killed|grace-expired|- 0\n"
	"graced_container_stops_total|shop||cart|killed|no-grace|- 0\n"
	"graced_container_stops_total|shop||cart|oom-killed|oom-container|- 0\n"
	"graced_container_stops_total|shop||cart|crashed|self|- 0\n"
	"graced_container_stops_total|shop||cart|failed|self|- 0\n"
	"graced_container_deaf_stops_total|shop||cart|-|-|- 0\n"
	"graced_collateral_kills_total|shop||cart|-|-|- 0\n"
	"graced_oom_kills_total|shop||cart|-|-|container 0\n"
	"graced_oom_kills_total|shop||cart|-|-|pod 0\n"
	"graced_oom_kills_total|shop||cart|-|-|node 0\n"
	"graced_oom_kills_total|shop||cart|-|-|unknown 0\n";

static void see(struct series *series, const struct record *stop, uint64_t now_ns)
{
	series_seen(series, &stop->stop.pod, &stop->stop.container, now_ns,
		    (int64_t)(1000 * S + now_ns));
}

static void test_seen(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	see(series, &record, S);
	serieslib_assert(series, from_the_start);
	/* Seen again, it loses nothing of what was counted. */
	record.stop.deaf = true;
	series_record(series, &record);
	see(series, &record, 2 * S);
	assert_int_equal(serieslib_sum(series, SERIES_DEAF_STOPS), 1);
	assert_int_equal(serieslib_sum(series, SERIES_STOPS), 1);
}

static void test_seen_kinds(void **state)
{
	static const struct {
		enum record_container_kind kind;
		bool there;
	} want[] = {
		{CONTAINER_KIND_UNKNOWN, false}, {CONTAINER_KIND_CONTAINER, true},
		{CONTAINER_KIND_SANDBOX, false}, {CONTAINER_KIND_SERVICE, true},
		{CONTAINER_KIND_PROCESS, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_series_ struct series *series = serieslib_new(0, 0);
		struct record record = serieslib_stop("shop", "cart");

		record.stop.container.kind = want[i].kind;
		see(series, &record, S);
		serieslib_assert(series, want[i].there ? from_the_start : "");
	}
}

/* A CronJob's series go between two runs, and are there again with the next one. */
static void test_seen_again(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	see(series, &record, S);
	series_record(series, &record);
	for (int n = 0; n < 3; n++)
		series_scraped(series);
	series_age(series, 100 * S + H);
	serieslib_assert(series, "");
	see(series, &record, 200 * S + H);
	serieslib_assert(series, from_the_start);
}

static void take_created(void *userdata, const struct series_point *point)
{
	*(int64_t *)userdata = point->created_wall_ns;
}

static int64_t created(const struct series *series, enum series_family family)
{
	int64_t at = -1;

	series_each(series, family, take_created, &at);
	return at;
}

static void test_created(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	record.wall_ns = 1700 * (int64_t)S;
	see(series, &record, S);
	see(series, &record, 2 * S);
	series_record(series, &record);
	record.wall_ns = 1800 * (int64_t)S;
	series_record(series, &record);
	assert_int_equal(created(series, SERIES_DEAF_STOPS), 1001 * S);
	assert_int_equal(created(series, SERIES_STOP_DURATION), 1700 * S);
}

static void test_incomplete(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_stats stats;

	series_record(series, &record);
	record.stop.gaps = 1u << GAP_ATTACHED_LATE | 1u << GAP_SHED;
	series_record(series, &record);
	record.stop.gaps = 1u << GAP_SHED;
	series_record(series, &record);
	record.stop.container.kind = CONTAINER_KIND_SANDBOX;
	series_record(series, &record);
	series_get_stats(series, &stats);
	for (int gap = 0; gap < GAP_COUNT; gap++)
		assert_int_equal(stats.incomplete[gap], gap == GAP_SHED		   ? 2
							: gap == GAP_ATTACHED_LATE ? 1
										   : 0);
}

/* Deaf or not: of a sandbox, and of what no word is there for, nothing counts. */
static void test_unheard(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_stats stats;

	for (int reason = 0; reason <= UNHEARD_COUNT; reason++) {
		record.stop.reason = (enum unheard)reason;
		series_record(series, &record);
	}
	record.stop.reason = UNHEARD_SHELL;
	series_record(series, &record);
	record.stop.container.kind = CONTAINER_KIND_SANDBOX;
	series_record(series, &record);
	series_get_stats(series, &stats);
	for (int reason = 0; reason < UNHEARD_COUNT; reason++)
		assert_int_equal(stats.unheard[reason], reason == UNHEARD_SHELL	 ? 2
							: reason == UNHEARD_NONE ? 0
										 : 1);
}

static void hear(struct series *series, const struct record *stop, struct audit audit)
{
	series_hears(series, &stop->stop.pod, &stop->stop.container, &audit);
}

static const struct audit hears = {AUDIT_HEARS, AUDIT_HANDLER, 0};
static const struct audit dies = {AUDIT_DIES, AUDIT_DEFAULT, 0};
static const struct audit ignores = {AUDIT_IGNORES, AUDIT_SIG_IGN, 0};
static const struct audit blocked = {AUDIT_DEAF, AUDIT_BLOCKED, 0};

static void test_hears(void **state)
{
	const struct {
		struct audit audits[3];
		size_t n;
		const char *want;
	} rows[] = {
		{{}, 0, ""},
		{{hears}, 1, "graced_container_hears|shop||cart|-|-|handler 1\n"},
		{{dies, hears}, 2, "graced_container_hears|shop||cart|-|-|handler 1\n"},
		{{hears, blocked}, 2, "graced_container_hears|shop||cart|-|-|blocked 0\n"},
		{{blocked, hears}, 2, "graced_container_hears|shop||cart|-|-|blocked 0\n"},
		{{blocked, hears, ignores}, 3, "graced_container_hears|shop||cart|-|-|ignored 0\n"},
		{{ignores, hears, blocked}, 3, "graced_container_hears|shop||cart|-|-|ignored 0\n"},
		{{dies}, 1, "graced_container_hears|shop||cart|-|-|default 1\n"},
	};
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	for (size_t i = 0; i < LEN(rows); i++) {
		series_hears_begin(series);
		for (size_t n = 0; n < rows[i].n; n++)
			hear(series, &record, rows[i].audits[n]);
		serieslib_assert(series, rows[i].want);
	}
	record.stop.container.kind = CONTAINER_KIND_SANDBOX;
	series_hears_begin(series);
	hear(series, &record, blocked);
	serieslib_assert(series, "");
}

static void test_hears_until_stop(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	hear(series, &record, blocked);
	series_record(series, &record);
	assert_int_equal(serieslib_sum(series, SERIES_STOPS), 1);
	hear(series, &record, hears);
	assert_int_equal(serieslib_sum(series, SERIES_HEARS), 1);
	series_record(series, &record);
	assert_int_equal(serieslib_sum(series, SERIES_HEARS), 0);
}

/* An alert has to say what it is about: any of its names is enough. */
static void test_hears_nameless(void **state)
{
	static const struct {
		const char *namespace_, *workload, *container;
		const char *want;
	} rows[] = {
		{NULL, NULL, NULL, ""},
		{"", "", "", ""},
		{"shop", NULL, NULL, "graced_container_hears|shop|||-|-|blocked 0\n"},
		{NULL, "cart", NULL, "graced_container_hears||cart||-|-|blocked 0\n"},
		{NULL, NULL, "cart", "graced_container_hears|||cart|-|-|blocked 0\n"},
	};
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	for (size_t i = 0; i < LEN(rows); i++) {
		record.stop.pod.namespace_ = rows[i].namespace_;
		record.stop.pod.workload = rows[i].workload;
		record.stop.container.name = rows[i].container;
		series_hears_begin(series);
		hear(series, &record, blocked);
		serieslib_assert(series, rows[i].want);
	}
}

static void test_kills(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_stats stats;

	record.stop.kill_signal.known = true;
	record.stop.kill_signal.sender.kind = SENDER_RUNTIME;
	series_record(series, &record); /* graceful */
	record.stop.outcome = OUTCOME_KILLED;
	record.stop.cause = CAUSE_KILLED_EARLY;
	series_record(series, &record);
	record.stop.kill_signal.sender.kind = SENDER_UNPLACED;
	series_record(series, &record);
	record.stop.kill_signal.known = false;
	series_record(series, &record);
	record.stop.cause = CAUSE_HOST;
	series_record(series, &record);
	series_get_stats(series, &stats);
	assert_int_equal(stats.stops[OUTCOME_KILLED], 4);
	for (int kill = 0; kill < SERIES_KILL_COUNT; kill++) {
		bool early = kill == SERIES_KILL_EARLY;

		for (int sender = 0; sender <= SENDER_UNKNOWN; sender++)
			assert_int_equal(stats.kills[kill][sender],
					 early && sender == SENDER_RUNTIME   ? 1
					 : early && sender == SENDER_UNKNOWN ? 2
									     : 0);
	}
}

static void test_terminations(void **state)
{
	static const struct {
		enum pod_stage stage;
		enum pod_trigger trigger;
	} rows[] = {
		{POD_STAGE_SYNC, POD_STARTED},
		{POD_STAGE_TERMINATING, POD_EVICTED},
		{POD_STAGE_TERMINATED, POD_LAST_EXIT},
		{POD_STAGE_TERMINATING, POD_TRIGGER_COUNT},
	};
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = {.type = RECORD_POD};
	struct series_stats stats;

	for (size_t i = 0; i < LEN(rows); i++) {
		record.pod_state.state = rows[i].stage;
		record.pod_state.trigger = rows[i].trigger;
		series_record(series, &record);
	}
	series_get_stats(series, &stats);
	for (int trigger = 0; trigger < POD_TRIGGER_COUNT; trigger++)
		assert_int_equal(stats.terminations[trigger],
				 trigger == POD_EVICTED || trigger == POD_TRIGGER_NONE);
}

static void assert_kind(const struct series *series, const char *want)
{
	struct serieslib_page page = {.family = SERIES_WORKLOAD};

	series_each(series, SERIES_WORKLOAD, serieslib_point, &page);
	assert_string_equal(page.text, want);
}

/* Two containers of a workload, another workload, and one whose kind is not known. */
static void test_kind(void **state)
{
	static const char *const seen[][3] = {{"web", "app", "Deployment"},
					      {"web", "side", "Deployment"},
					      {"db", "app", "StatefulSet"},
					      {"old", "app", NULL},
					      {NULL, "app", "Pod"}};
	_series_ struct series *series = serieslib_new(0, 0);
	struct record stop = serieslib_stop("shop", "app");

	for (size_t i = 0; i < LEN(seen); i++) {
		stop.stop.pod.workload = seen[i][0];
		stop.stop.container.name = seen[i][1];
		stop.stop.pod.workload_kind = seen[i][2];
		series_seen(series, &stop.stop.pod, &stop.stop.container, 100 * S, 1);
	}
	assert_kind(series, "graced_workload_info|shop|db|-|-|-|StatefulSet 1\n"
			    "graced_workload_info|shop|web|-|-|-|Deployment 1\n");
	/* One line of a workload at any time: queries join with it. */
	stop.stop.pod.workload = "web";
	stop.stop.pod.workload_kind = "Job";
	series_record(series, &stop);
	assert_kind(series, "graced_workload_info|shop|db|-|-|-|StatefulSet 1\n"
			    "graced_workload_info|shop|web|-|-|-|Job 1\n");
	stop.stop.pod.workload_kind = NULL;
	series_record(series, &stop);
	assert_kind(series, "graced_workload_info|shop|db|-|-|-|StatefulSet 1\n"
			    "graced_workload_info|shop|web|-|-|-|Job 1\n");
	for (int i = 0; i < SERIES_MIN_SCRAPES; i++)
		series_scraped(series);
	stop.stop.pod.workload_kind = "Job";
	series_seen(series, &stop.stop.pod, &stop.stop.container, 100 * S + SERIES_DEFAULT_AGE_NS,
		    1);
	series_age(series, 101 * S + SERIES_DEFAULT_AGE_NS);
	assert_kind(series, "graced_workload_info|shop|web|-|-|-|Job 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what alerts count is 0 from the moment a container is seen", test_seen),
		CLAIM("nothing is shown of what may be no container", test_seen_kinds),
		CLAIM("series that aged out begin again with 0 when their container is seen",
		      test_seen_again),
		CLAIM("a series keeps the moment at which it began", test_created),
		CLAIM("a stop counts under each gap of its evidence", test_incomplete),
		CLAIM("a stop counts under the reason why its signal was not acted on",
		      test_unheard),
		CLAIM("of containers that share labels the worst answer is shown, and of the last "
		      "walk alone",
		      test_hears),
		CLAIM("nothing is said of a container that has no name", test_hears_nameless),
		CLAIM("a stop leaves no answer about the one that stopped", test_hears_until_stop),
		CLAIM("a kill counts by its cause and by who sent it", test_kills),
		CLAIM("a pod's termination counts once, by its trigger", test_terminations),
		CLAIM("a workload has one line with its kind where that is known, and it ages with it",
		      test_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
