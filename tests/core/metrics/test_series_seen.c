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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
