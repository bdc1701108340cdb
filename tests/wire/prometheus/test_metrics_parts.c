// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/prometheus/metrics: parts of the page that are shown as a whole, or not at all.
 */
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/engine/serieslib.h"
#include "lib/net/exporead.h"
#include "wire/prometheus/metrics.h"

#define _buf_ _cleanup_(buf_free) struct buf

static void write_page(struct buf *out, enum expo_format format, const struct metrics *m)
{
	assert_int_equal(metrics_write(out, format, m), 0);
	exporead_page(buf_str(out), format == EXPO_OPENMETRICS, NULL, NULL);
}

static void test_pods(void **state)
{
	static const char *const want[] = {
		"graced_working_pods{lifecycle=\"sync\",config=\"desired\",static=\"\"} 3",
		"graced_working_pods{lifecycle=\"terminating\",config=\"orphan\",static=\"true\"} 4",
		"graced_working_pods{lifecycle=\"terminated\",config=\"runtime_only\","
		"static=\"unknown\"} 5",
		"graced_desired_pods{static=\"true\"} 2",
		"graced_active_pods{static=\"\"} 1",
		"graced_mirror_pods 2",
		"graced_restarted_pods_total{static=\"true\"} 6",
		"graced_orphaned_runtime_pods_total 7",
		"graced_pods_refused_total 8",
	};
	struct metrics m = {
		.pods = {.desired = {1, 2}, .active = {1, 0}, .restarted = {0, 6}, .orphaned = 7},
		.engine = {.pods_refused = 8},
	};
	_buf_ page = {};
	size_t lines = 0;

	m.pods.working[POD_STAGE_SYNC][POD_DESIRED][false] = 3;
	m.pods.working[POD_STAGE_TERMINATING][POD_ORPHAN][true] = 4;
	m.pods.working[POD_STAGE_TERMINATED][POD_RUNTIME_ONLY][false] = 5;
	write_page(&page, EXPO_TEXT, &m);
	for (size_t i = 0; i < LEN(want); i++)
		if (!strstr(buf_str(&page), want[i]))
			fail_msg("the page lacks %s", want[i]);
	for (const char *at = buf_str(&page); (at = strstr(at, "\ngraced_working_pods{")); at++)
		lines++;
	assert_int_equal(lines, 15);
}

static void test_boot(void **state)
{
	static const char *const want[] = {
		"\ngraced_unclean_shutdowns_total 5\n",
		"\ngraced_last_boot_end{end=\"clean\"} 1\n",
		"\ngraced_last_shutdown_start_time_seconds 1699999998\n",
		"\ngraced_last_shutdown_duration_seconds 1.5\n",
		"\ngraced_last_shutdown_release{reason=\"limit\"} 1\n",
		"\ngraced_last_shutdown_containers{outcome=\"graceful\"} 3\n",
		"\ngraced_last_shutdown_containers{outcome=\"killed\"} 0\n",
		"\ngraced_last_boot_seen_time_seconds 1700000000\n",
		"\ngraced_last_boot_alive{kind=\"pod\"} 7\n",
		"\ngraced_last_boot_alive{kind=\"container\"} 9\n",
	};
	const struct bootlog log = {
		.saved_ns = 100000000000,
		.saved_wall_ns = 1700000000000000000,
		.stopped_ns = 100000000000,
		.shutdown = {.announced_ns = 98000000000,
			     .released_ns = 99500000000,
			     .reason = SHUTDOWN_LIMIT,
			     .outcomes = {[OUTCOME_GRACEFUL] = 3}},
		.pods = {.total = 7},
		.containers = {.total = 9},
	};
	struct metrics m = {.boot = {true, 5, &log}};
	_buf_ page = {}, without = {};

	write_page(&page, EXPO_TEXT, &m);
	for (size_t i = 0; i < LEN(want); i++)
		if (!strstr(buf_str(&page), want[i]))
			fail_msg("the page lacks %s", want[i]);
	/* The first boot that is noted. */
	m.boot.previous = NULL;
	write_page(&without, EXPO_OPENMETRICS, &m);
	assert_non_null(strstr(buf_str(&without), "graced_unclean_shutdowns_total 5\n"));
	assert_null(strstr(buf_str(&without), "graced_last_"));
}

static void test_checkpoint(void **state)
{
	static const char *const want[] = {
		"\ngraced_checkpoint_size_bytes 67\n",
		"\ngraced_checkpoint_writes_total 71\n",
		"\ngraced_checkpoint_failures_total 73\n",
		"\ngraced_checkpoint_dropped_total 79\n",
	};
	struct metrics m = {.checkpoint = {true, 67, 71, 73, 79}};

	for (int format = EXPO_TEXT; format <= EXPO_OPENMETRICS; format++) {
		_buf_ page = {};

		write_page(&page, (enum expo_format)format, &m);
		for (size_t i = 0; i < LEN(want); i++)
			if (!strstr(buf_str(&page), want[i]))
				fail_msg("the page lacks %s", want[i]);
	}
}

static void test_api_events(void **state)
{
	struct metrics m = {.api.events = {true, {2, 3, 5, 7, 11}}};
	_buf_ page = {};

	assert_int_equal(metrics_write(&page, EXPO_TEXT, &m), 0);
	assert_non_null(strstr(buf_str(&page), "\ngraced_api_events_total{result=\"created\"} 2\n"
					       "graced_api_events_total{result=\"updated\"} 3\n"
					       "graced_api_events_total{result=\"dropped\"} 5\n"
					       "graced_api_events_total{result=\"refused\"} 7\n"
					       "graced_api_events_total{result=\"expired\"} 11\n"));
	m.api.events.on = false;
	buf_reset(&page);
	assert_int_equal(metrics_write(&page, EXPO_TEXT, &m), 0);
	assert_null(strstr(buf_str(&page), "graced_api_events"));
}

static void test_api_statuses(void **state)
{
	struct metrics m = {.api.statuses = {true, {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11}}}};
	_buf_ page = {};

	assert_int_equal(metrics_write(&page, EXPO_TEXT, &m), 0);
	assert_non_null(strstr(buf_str(&page),
			       "\ngraced_api_status_writes_total{result=\"written\"} 1\n"
			       "graced_api_status_writes_total{result=\"already-there\"} 2\n"
			       "graced_api_status_writes_total{result=\"gone\"} 3\n"
			       "graced_api_status_writes_total{result=\"conflict\"} 4\n"
			       "graced_api_status_writes_total{result=\"refused\"} 5\n"
			       "graced_api_status_writes_total{result=\"gave-up\"} 6\n"));
	assert_non_null(strstr(buf_str(&page),
			       "\ngraced_api_status_withheld_total{reason=\"alive\"} 7\n"
			       "graced_api_status_withheld_total{reason=\"records-lost\"} 8\n"
			       "graced_api_status_withheld_total{reason=\"unnamed\"} 9\n"
			       "graced_api_status_withheld_total{reason=\"kubelet\"} 10\n"
			       "graced_api_status_withheld_total{reason=\"late\"} 11\n"));
	m.api.statuses.on = false;
	buf_reset(&page);
	assert_int_equal(metrics_write(&page, EXPO_TEXT, &m), 0);
	assert_null(strstr(buf_str(&page), "graced_api_status"));
}

static void test_no_checkpoint(void **state)
{
	struct metrics m = {};
	_buf_ page = {};

	write_page(&page, EXPO_TEXT, &m);
	assert_null(strstr(buf_str(&page), "graced_checkpoint_"));
}

static void test_shutdown(void **state)
{
	static const char *const want[] = {
		"\ngraced_shutdown_inhibitor_held 1\n",
		"\ngraced_shutdown_delay_max_seconds 45.5\n",
		"\ngraced_shutdown_start_time_seconds 1700000001\n",
		"\ngraced_shutdown_end_time_seconds 0\n",
		"\ngraced_shutdown_pods{group=\"-5\",state=\"running\"} 2\n",
		"\ngraced_shutdown_pods{group=\"-5\",state=\"stopping\"} 3\n",
		"\ngraced_shutdown_pods{group=\"2000000000\",state=\"ended\"} 4\n",
		"\ngraced_shutdown_ready{condition=\"logind-reachable\"} 0\n",
		"\ngraced_shutdown_ready{condition=\"lock-held\"} 1\n",
		"\ngraced_shutdown_ready{condition=\"delay-not-pinned\"} 1\n",
		"\ngraced_shutdown_ready{condition=\"kubelet-config\"} 0\n",
	};
	struct metrics m = {.shutdown = {.on = true,
					 .held = true,
					 .delay_known = true,
					 .delay_max_ns = 45500000000,
					 .start_s = 1700000001,
					 .groups = {{-5, {2, 3, 0}}, {2000000000, {0, 0, 4}}},
					 .n_groups = 2}};

	m.shutdown.ready[METRICS_READY_LOCK] = m.shutdown.ready[METRICS_READY_UNPINNED] =
		METRICS_READY_YES;
	m.shutdown.ready[METRICS_READY_LOGIND] = m.shutdown.ready[METRICS_READY_KUBELET] =
		METRICS_READY_NO;
	for (int format = EXPO_TEXT; format <= EXPO_OPENMETRICS; format++) {
		_buf_ page = {};

		write_page(&page, (enum expo_format)format, &m);
		for (size_t i = 0; i < LEN(want); i++)
			if (!strstr(buf_str(&page), want[i]))
				fail_msg("the page lacks %s", want[i]);
		assert_null(strstr(buf_str(&page), "delay-enough"));
		assert_null(strstr(buf_str(&page), "grace-fits"));
	}
}

static void test_no_shutdown(void **state)
{
	struct metrics m = {.shutdown = {.held = true, .n_groups = 1}};
	_buf_ page = {}, unknown = {};

	write_page(&page, EXPO_TEXT, &m);
	assert_null(strstr(buf_str(&page), "graced_shutdown_"));
	m.shutdown.on = true;
	write_page(&unknown, EXPO_TEXT, &m);
	assert_null(strstr(buf_str(&unknown), "\ngraced_shutdown_delay_max_seconds"));
}

/* With the time in OpenMetrics, and nothing of it in the text format. */
static void test_created(void **state)
{
	static const char *const want[] = {
		"\ngraced_container_stops_created{namespace=\"shop\",workload=\"\","
		"container=\"cart\",outcome=\"graceful\",cause=\"stop-signal\"} 1700000000.25\n",
		"\ngraced_container_stops_created{namespace=\"shop\",workload=\"\","
		"container=\"cart\",outcome=\"killed\",cause=\"grace-expired\"} 1600000000\n",
		"\ngraced_container_stop_duration_seconds_created{namespace=\"shop\",workload=\"\","
		"container=\"cart\",outcome=\"graceful\"} 1700000000.25\n",
	};
	_series_ struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct record stop = serieslib_stop("shop", "cart");
	const struct metrics m = {.series = series};
	_buf_ openmetrics = {}, text = {};

	stop.wall_ns = 1700000000250000000;
	series_seen(series, &stop.stop.pod, &stop.stop.container, S, 1600000000000000000);
	series_record(series, &stop);
	write_page(&openmetrics, EXPO_OPENMETRICS, &m);
	write_page(&text, EXPO_TEXT, &m);
	for (size_t i = 0; i < LEN(want); i++)
		if (!strstr(buf_str(&openmetrics), want[i]))
			fail_msg("the page lacks %s", want[i]);
	assert_null(strstr(buf_str(&text), "_created"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("OpenMetrics says when a series of a container began", test_created),
		CLAIM("pods are shown as the kubelet shows its own, in 15 series", test_pods),
		CLAIM("how the last boot ended is shown, once there was one", test_boot),
		CLAIM("the checkpoint is shown where there is one", test_checkpoint),
		CLAIM("Events are counted by result where they are written", test_api_events),
		CLAIM("statuses of pods are counted by what came of them, where any are written",
		      test_api_statuses),
		CLAIM("without a checkpoint nothing is said of it", test_no_checkpoint),
		CLAIM("shutdowns are shown by lock, times, groups of pods and what they need",
		      test_shutdown),
		CLAIM("where shutdowns are none of ours, and of a limit not known, nothing is said",
		      test_no_shutdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
