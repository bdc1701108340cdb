// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/prometheus/metrics: what the page says, and that it is exposition whatever the
 * snapshot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/engine/serieslib.h"
#include "lib/net/exporead.h"
#include "wire/prometheus/metrics.h"

#define _buf_ _cleanup_(buf_free) struct buf

static const struct metrics_program programs[METRICS_PROGRAMS_MAX + 1] = {
	{"on_exit", true, 1234567891, 42},
	{"on_signal", true, 1000000000, 7},
	{"on_oom_pid", false, 99, 99},
};

/* A snapshot in which nothing is left out and no two numbers are the same. */
/* An earlier boot that went through a shutdown. */
static const struct bootlog earlier = {
	.boot_id = "11111111-2222-3333-4444-555555555555",
	.saved_ns = 100000000000,
	.saved_wall_ns = 1700000000000000000,
	.shutdown = {.announced_ns = 98000000000, .released_ns = 99500000000},
};

static const struct histogram_bounds loop_bounds = {6,
						    {1000000, 5000000, 10000000, 50000000,
						     100000000, 500000000}};
static const struct histogram loop_wall = {{3, 2, 0, 0, 1}, 6, 1, 500000000, {}};
static const struct histogram loop_cpu = {{5, 1, 0}, 6, 0, 250000000, {}};
static const struct histogram loop_delay = {{0, 0, 0, 0, 0, 0, 1}, 1, 2, 0, {}};

static struct metrics full(const struct series *series)
{
	struct metrics m = {
		.series = series,
		.recursion_misses = 3,
		.rejected = 5,
		.programs = programs,
		.n_programs = 3,
		.engine = {.observations = 1000,
			   .unexpected = 11,
			   .inits_not_found = 181,
			   .cgroups = 250,
			   .cgroups_refused = 13,
			   .pods = 110,
			   .procs_forgotten = 17,
			   .pods_described = 131,
			   .containers_described = 132,
			   .names_refused = 133},
		.effects_dropped = 19,
		.boot = {true, 2, &earlier},
		.sources = {[META_CRI] = {true, true, {103, 104, 105, 106}},
			    [META_KUBELET] = {true,
					      false,
					      {107, 108, 109, 110},
					      {CREDENTIAL_TOKEN, 1800003600, 1800003240}},
			    [META_API] =
				    {true, true, {1, 2, 3, 4}, {CREDENTIAL_CERTIFICATE, 86399, -1}},
			    [META_SYSTEMD] = {true, true, {111, 112, 113, 114}},
			    [META_DOCKER] = {true, true, {115, 116, 117, 118}},
			    [META_PODMAN] = {true, true, {119, 120, 121, 122}},
			    [META_CONTAINERD] = {true, true, {123, 124, 125, 126}},
			    [META_LOGS] = {true, true, {101, 102, 127, 128}}},
		.sinks = {{true, 201, 202, 31, 32},
			  {true, 203, 204, 33, 34},
			  {true, 205, 206, 35, 36}},
		.overhead_known = true,
		.overhead_ppm = 12345,
		.budget_ppm = 20000,
		.shed = SHED_SIGNALS,
		.shed_containers = 23,
		.shed_changes = 29,
		.loop = {&loop_bounds, &loop_wall, &loop_cpu, &loop_delay},
		.http_requests = {0, 0, 301, 303, 302, 304},
		.http_connections = 31,
		.http_connections_refused = 37,
		.http_connections_expired = 43,
		.control = {true, 53, 59, 61},
		.checkpoint = {true, 67, 71, 73, 79},
		.api.events = {true, {2, 3, 5, 7, 11}},
		.shutdown = {.on = true,
			     .held = true,
			     .delay_known = true,
			     .delay_max_ns = 45500000000,
			     .start_s = 1700000001,
			     .end_s = 1700000002,
			     .groups = {{0, {83, 89, 97}}, {2000000000, {163, 167, 173}}},
			     .n_groups = 2,
			     .ready = {METRICS_READY_NO, METRICS_READY_YES, METRICS_READY_NO,
				       METRICS_READY_NO, METRICS_READY_NO, METRICS_READY_NO}},
		.log_lost = 47,
		.reload_ok_wall_ns = 1700000000500000000,
		.version = "0.1.0",
		.kernel = "6.1.0-13-amd64",
		.process_known = true,
		.process_cpu_ns = 1230000000,
		.process_resident_bytes = 20971520,
		.process_virtual_bytes = 209715200,
		.process_open_fds = 41,
		.process_max_fds = 1024,
		.process_start_wall_ns = 1700000000000000000,
	};

	for (unsigned int i = 0; i < GRACED_STAT_COUNT; i++)
		m.totals[i] = (struct graced_stat){1000 + i, 2000 + i, 3000 + i};
	return m;
}

static void write_page(struct buf *out, enum expo_format format, const struct metrics *m)
{
	assert_int_equal(metrics_write(out, format, m), 0);
	exporead_page(buf_str(out), format == EXPO_OPENMETRICS, NULL, NULL);
}

static void test_says(void **state)
{
	static const char *const want[] = {
		"graced_events_total{type=\"cgroup_new\"} 1001",
		"graced_events_total{type=\"oom\"} 1007",
		"graced_events_total{type=\"reaped\"} 1008",
		"graced_events_lost_total{type=\"signal\",stage=\"ring\"} 2005",
		"graced_events_lost_total{type=\"unknown\",stage=\"program\"} 3",
		"graced_events_suppressed_total{type=\"signal\",stage=\"kernel\"} 3005",
		"graced_events_rejected_total 5",
		"graced_cgroups_refused_total{reason=\"map-full\"} 2010",
		"graced_cgroups_refused_total{reason=\"quota\"} 2011",
		"graced_cgroups_refused_total{reason=\"too-deep\"} 2012",
		"graced_cgroups_refused_total{reason=\"table-full\"} 13",
		"graced_observations_total 1000",
		"graced_unexpected_events_total 11",
		"graced_inits_not_found_total 181",
		"graced_effects_dropped_total 19",
		"graced_processes_forgotten_total 17",
		"graced_cgroups 250",
		"graced_known_pods 110",
		"graced_bpf_attached{program=\"on_exit\"} 1",
		"graced_bpf_attached{program=\"on_oom_pid\"} 0",
		"graced_bpf_run_seconds_total{program=\"on_exit\"} 1.234567891",
		"graced_bpf_runs_total{program=\"on_signal\"} 7",
		"graced_overhead_ratio 0.012345",
		"graced_overhead_budget_ratio 0.02",
		"graced_shed{what=\"noisy\"} 1",
		"graced_shed{what=\"signals\"} 1",
		"graced_shed{what=\"names\"} 0",
		"graced_shed_containers 23",
		"graced_shed_changes_total 29",
		"graced_metadata_lookups_total{source=\"logs\",result=\"found\"} 101",
		"graced_metadata_lookups_total{source=\"logs\",result=\"missing\"} 102",
		"graced_metadata_lookups_total{source=\"cri\",result=\"failed\"} 105",
		"graced_metadata_lookups_total{source=\"kubelet\",result=\"shed\"} 110",
		"graced_metadata_source_up{source=\"cri\"} 1",
		"graced_metadata_source_up{source=\"kubelet\"} 0",
		"graced_credential_expiry_timestamp_seconds{source=\"kubelet\"} 1800003600",
		"graced_credential_warn_timestamp_seconds{source=\"kubelet\"} 1800003240",
		"graced_credential_expiry_timestamp_seconds{source=\"api\"} 86399",
		"graced_credential_warn_timestamp_seconds{source=\"api\"} 0",
		"graced_metadata_entries{kind=\"pod\"} 131",
		"graced_metadata_entries{kind=\"container\"} 132",
		"graced_metadata_refused_total 133",
		"graced_sink_records_total{sink=\"stdout\"} 201",
		"graced_sink_dropped_total{sink=\"stdout\"} 202",
		"graced_sink_records_total{sink=\"file\"} 203",
		"graced_sink_dropped_total{sink=\"journal\"} 206",
		"graced_sink_waiting_records{sink=\"file\"} 33",
		"graced_sink_failures_total{sink=\"file\"} 34",
		"graced_loop_step_seconds_bucket{le=\"0.05\"} 5",
		"graced_loop_step_seconds_count 6",
		"graced_loop_step_seconds_sum 1.5",
		"graced_loop_step_cpu_seconds_bucket{le=\"0.001\"} 5",
		"graced_loop_delay_seconds_bucket{le=\"0.05\"} 0",
		"graced_loop_delay_seconds_sum 2",
		"graced_http_requests_total{code=\"2xx\"} 301",
		"graced_http_requests_total{code=\"4xx\"} 302",
		"graced_http_connections 31",
		"graced_http_connections_refused_total 37",
		"graced_http_connections_expired_total 43",
		"graced_control_requests_total{result=\"answered\"} 53",
		"graced_control_requests_total{result=\"refused\"} 59",
		"graced_control_requests_total{result=\"failed\"} 61",
		"graced_log_lines_lost_total 47",
		"graced_config_last_reload_successful 1",
		"graced_config_last_reload_success_timestamp_seconds 1700000000.5",
		"graced_build_info{version=\"0.1.0\",kernel=\"6.1.0-13-amd64\"} 1",
		"process_cpu_seconds_total 1.23",
		"process_resident_memory_bytes 20971520",
		"process_virtual_memory_bytes 209715200",
		"process_open_fds 41",
		"process_max_fds 1024",
		"process_start_time_seconds 1700000000",
		"graced_container_stops_total{namespace=\"shop\",workload=\"\",container=\"cart\","
		"outcome=\"graceful\",cause=\"stop-signal\"} 1",
		"graced_container_stop_duration_seconds_sum{namespace=\"shop\",workload=\"\","
		"container=\"cart\",outcome=\"graceful\"} 1.5",
		"graced_container_grace_used_ratio_sum{namespace=\"shop\",workload=\"\","
		"container=\"cart\"} 0.05",
		"graced_container_deaf_stops_total{namespace=\"shop\",workload=\"\","
		"container=\"cart\"} 0",
		"graced_oom_kills_total{namespace=\"shop\",workload=\"\",container=\"cart\","
		"level=\"node\"} 0",
		"graced_stops_total{outcome=\"graceful\"} 1",
		"graced_stops_total{outcome=\"killed\"} 0",
		"graced_stops_total{outcome=\"unknown\"} 0",
		"graced_stops_incomplete_total{gap=\"events-lost\"} 0",
		"graced_stops_incomplete_total{gap=\"attached-late\"} 1",
		"graced_unheard_stops_total{reason=\"no-handler\"} 0",
		"graced_unheard_stops_total{reason=\"child-ignored\"} 1",
		"graced_oom_kills_total{namespace=\"shop\",workload=\"\",container=\"cart\","
		"level=\"pod\"} 1",
		"graced_series_absorbed_total{metric=\"graced_container_stops_total\"} 0",
		"graced_series_aged_total 0",
		"graced_series_limit 10000",
		"graced_series_used_ratio 0.003744",
	};
	_series_ struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct record stop = serieslib_stop("shop", "cart");
	struct record oom = serieslib_oom("shop", "cart", OOM_LEVEL_POD);
	struct metrics m = full(series);

	stop.stop.gaps = 1u << GAP_ATTACHED_LATE;
	stop.stop.reason = UNHEARD_CHILD_IGNORED;
	series_seen(series, &stop.stop.pod, &stop.stop.container, S, 1);
	series_record(series, &stop);
	series_record(series, &oom);
	for (int format = EXPO_TEXT; format <= EXPO_OPENMETRICS; format++) {
		_buf_ page = {};

		write_page(&page, (enum expo_format)format, &m);
		for (size_t i = 0; i < LEN(want); i++) {
			char line[512];

			snprintf(line, sizeof(line), "\n%s\n", want[i]);
			if (!strstr(buf_str(&page), line))
				fail_msg("the page lacks %s", want[i]);
		}
	}
}

/* Each stands alone, and the guessed sandboxes are where they are counted. */
static void test_help(void **state)
{
	static const char *const want[] = {
		" Stops whose evidence has a gap, by gap: those in graced_container_stops_total, "
		"each under all of its gaps, and of guessed sandboxes, which are not in there, "
		"under sandbox-guessed alone.\n",
		" When the log begins to warn that the token or client certificate for a source "
		"expires: a day before that, or when the last tenth of its life begins if that is "
		"later; absent while unknown.\n",
	};
	_series_ struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct record stop = serieslib_stop("shop", "cart");
	struct metrics m = full(series);

	stop.stop.container.kind = CONTAINER_KIND_SANDBOX;
	stop.stop.gaps = 1u << GAP_SANDBOX_GUESSED | 1u << GAP_ATTACHED_LATE;
	series_record(series, &stop);
	for (int format = EXPO_TEXT; format <= EXPO_OPENMETRICS; format++) {
		_buf_ page = {};

		write_page(&page, (enum expo_format)format, &m);
		for (size_t i = 0; i < LEN(want); i++)
			if (!strstr(buf_str(&page), want[i]))
				fail_msg("the page lacks%s", want[i]);
		assert_non_null(
			strstr(buf_str(&page),
			       "\ngraced_stops_incomplete_total{gap=\"sandbox-guessed\"} 1\n"));
		assert_non_null(
			strstr(buf_str(&page),
			       "\ngraced_stops_incomplete_total{gap=\"attached-late\"} 0\n"));
		assert_null(strstr(buf_str(&page), "\ngraced_container_stops_total{"));
	}
}

static void test_unknown(void **state)
{
	static const char *const absent[] = {
		"graced_overhead_ratio",
		"graced_overhead_budget_ratio",
		"graced_bpf_attached",
		"graced_bpf_runs_total",
		"process_",
		"timestamp_seconds",
		"graced_sink_",
		"graced_container_",
		"graced_series_absorbed",
		"graced_loop_",
	};
	const struct metrics m = {};
	_buf_ page = {};

	write_page(&page, EXPO_TEXT, &m);
	for (size_t i = 0; i < LEN(absent); i++) {
		if (strstr(buf_str(&page), absent[i]))
			fail_msg("%s is there", absent[i]);
	}
	assert_non_null(strstr(buf_str(&page), "\ngraced_events_total{type=\"exit\"} 0\n"));
	assert_non_null(strstr(buf_str(&page), "\ngraced_shed{what=\"names\"} 0\n"));
	assert_non_null(
		strstr(buf_str(&page), "\ngraced_build_info{version=\"\",kernel=\"\"} 1\n"));
}

static void test_no_statistics(void **state)
{
	struct metrics m = full(NULL);
	_buf_ page = {};

	write_page(&page, EXPO_TEXT, &m);
	assert_int_equal(exporead_sum(buf_str(&page), "graced_bpf_attached", NULL, NULL), 2);
	assert_null(strstr(buf_str(&page), "graced_bpf_runs_total{program=\"on_oom_pid\"}"));
	assert_null(strstr(buf_str(&page), "graced_bpf_run_seconds_total{program=\"on_oom_pid\"}"));
}

static void test_produced(void **state)
{
	struct metrics m = full(NULL);
	uint64_t produced = 0, shown = 0;
	_buf_ page = {};

	for (int type = GRACED_EV_NONE + 1; type < GRACED_EV_COUNT; type++)
		produced +=
			m.totals[type].emitted + m.totals[type].lost + m.totals[type].suppressed;
	write_page(&page, EXPO_TEXT, &m);
	shown += exporead_sum(buf_str(&page), "graced_events_total", NULL, NULL);
	shown += exporead_sum(buf_str(&page), "graced_events_lost_total", NULL, NULL);
	shown += exporead_sum(buf_str(&page), "graced_events_suppressed_total", NULL, NULL);
	assert_int_equal(shown, produced + m.recursion_misses);
}

static uint64_t last_number(const struct buf *page)
{
	static const char name[] = "\ngraced_series ";
	const char *at = strstr(buf_str(page), name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 10);
}

/* As many of everything as there may be. */
static void test_own_lines(void **state)
{
	_series_ struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct metrics_program many[METRICS_PROGRAMS_MAX + 1];
	char names[LEN(many)][16];
	struct metrics m = full(series);
	_buf_ page = {};

	for (size_t i = 0; i < LEN(many); i++) {
		snprintf(names[i], sizeof(names[i]), "program%zu", i);
		many[i] = (struct metrics_program){names[i], true, 1, 1};
	}
	m.programs = many;
	m.n_programs = LEN(many);
	m.shutdown.n_groups = METRICS_GROUPS_MAX;
	for (int i = 0; i < METRICS_GROUPS_MAX; i++)
		m.shutdown.groups[i].priority = i;
	assert_int_equal(metrics_write(&page, EXPO_TEXT, &m), 0);
	assert_int_equal(exporead_page(buf_str(&page), false, NULL, NULL), METRICS_OWN_LINES);
	assert_int_equal(last_number(&page), METRICS_OWN_LINES);
	/* The least metrics.maxSeries. */
	assert_true(METRICS_OWN_LINES + series_overflow_lines() <= 700);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Any bytes, of any length, with what breaks quotes more often than chance would have it. */
static void hostile_name(char *ret, size_t size, uint64_t *seed)
{
	static const char *const bits[] = {"\"", "\\",	 "\n",		 "}",	 "{",
					   ",",	 "\xff", "\xe2\x80\xae", "\x1b", "_other"};
	size_t n = next_random(seed) % (size - 8), at = 0;

	while (at < n) {
		if (next_random(seed) % 4 == 0) {
			const char *bit = bits[next_random(seed) % LEN(bits)];

			at = (size_t)(stpcpy(ret + at, bit) - ret);
		} else {
			ret[at++] = (char)(1 + next_random(seed) % 255);
		}
	}
	ret[at] = '\0';
}

static struct record hostile_stop(char *namespace_, char *name, size_t size, uint64_t *seed)
{
	static const enum outcome outcomes[] = {OUTCOME_GRACEFUL, OUTCOME_TERMINATED};
	struct record record;

	hostile_name(namespace_, size, seed);
	hostile_name(name, size, seed);
	record = serieslib_stop(namespace_, name);
	record.stop.outcome = outcomes[next_random(seed) % LEN(outcomes)];
	record.stop.latency_ns = next_random(seed) % (100 * S);
	record.stop.grace.from = next_random(seed) % 2 ? GRACE_SPEC : GRACE_UNKNOWN;
	record.stop.deaf = next_random(seed) % 2;
	record.stop.collateral_kills = next_random(seed) % 3;
	return record;
}

static void assert_fed(const char *page, uint64_t stops, uint64_t deaf, uint64_t kills)
{
	assert_int_equal(exporead_sum(page, "graced_container_stops_total", NULL, NULL), stops);
	assert_int_equal(exporead_sum(page, "graced_stops_total", NULL, NULL), stops);
	assert_int_equal(exporead_sum(page, "graced_container_stop_duration_seconds_count", NULL,
				      NULL),
			 stops);
	assert_int_equal(exporead_sum(page, "graced_container_deaf_stops_total", NULL, NULL), deaf);
	assert_int_equal(exporead_sum(page, "graced_collateral_kills_total", NULL, NULL), kills);
}

static void test_hostile(void **state)
{
	const uint32_t limits[] = {1, METRICS_OWN_LINES + (uint32_t)series_overflow_lines() + 40,
				   2000};

	for (size_t i = 0; i < LEN(limits); i++) {
		_series_ struct series *series = serieslib_new(limits[i], METRICS_OWN_LINES);
		uint64_t seed = 0x9e3779b97f4a7c15, deaf = 0, kills = 0;
		struct metrics m = full(series);
		struct series_stats stats;

		for (uint64_t n = 1; n <= 10000; n++) {
			char namespace_[400], name[400];
			struct record r = hostile_stop(namespace_, name, sizeof(name), &seed);
			_buf_ page = {};

			series_record(series, &r);
			deaf += r.stop.deaf;
			kills += r.stop.collateral_kills;
			if (n % 2500)
				continue;
			write_page(&page, n % 5000 ? EXPO_TEXT : EXPO_OPENMETRICS, &m);
			series_get_stats(series, &stats);
			assert_true(last_number(&page) <= stats.limit);
			assert_int_equal(exporead_page(buf_str(&page), n % 5000 == 0, NULL, NULL),
					 last_number(&page));
			assert_fed(buf_str(&page), n, deaf, kills);
		}
		assert_true(stats.absorbed[SERIES_STOPS] > 0);
	}
}

static void test_hostile_strings(void **state)
{
	struct metrics_program program = {"a\"} 1\nevil 2\n#", true, 1, 1};
	struct metrics m = full(NULL);
	_buf_ page = {};

	m.version = "\"} 1\nevil{a=\"";
	m.kernel = "\xff\\";
	m.programs = &program;
	m.n_programs = 1;
	m.reload_ok_wall_ns = INT64_MIN;
	write_page(&page, EXPO_TEXT, &m);
	assert_null(strstr(buf_str(&page), "\nevil"));
}

static void test_limit(void **state)
{
	struct metrics m = full(NULL);
	_buf_ page = {.limit = 1000};

	assert_int_equal(metrics_write(&page, EXPO_TEXT, &m), -ENOBUFS);
}

/* Adds time stamps, without which promtool imports nothing. */
/* Where the line has its exemplar, or ends. A quote in a label's value is escaped. */
static size_t len_of_sample(const char *line, size_t n)
{
	const char *pod = memmem(line, n, " # {pod=\"", 9);

	return pod ? (size_t)(pod - line) : n;
}

static void add_stamps(struct buf *out, const char *page)
{
	while (*page) {
		size_t n = strcspn(page, "\n"), sample = len_of_sample(page, n);

		buf_add(out, page, sample);
		if (*page != '#')
			buf_adds(out, " 1700000000");
		buf_add(out, page + sample, n - sample);
		buf_addc(out, '\n');
		page += n + 1;
	}
}

/* Runs promtool with its words and the page in a file of its own; its complaints are ours. */
static int promtool(const char *tool, const char *words, const struct buf *page)
{
	char dir[] = "/tmp/graced-metrics-XXXXXX", command[1024];
	FILE *file;

	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command), "%s/page", dir);
	file = fopen(command, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(page->data, 1, page->len, file), page->len);
	fclose(file);
	snprintf(command, sizeof(command),
		 "cd %s && '%s' %s >log 2>&1; r=$?; [ $r = 0 ] || cat log >&2", dir, tool, words);
	snprintf(command + strlen(command), sizeof(command) - strlen(command),
		 "; rm -r %s; exit $r", dir);
	return system(command);
}

static void check_with(const char *tool)
{
	_series_ struct series *series = serieslib_new(2000, METRICS_OWN_LINES);
	struct metrics m = full(series);
	_buf_ text = {}, openmetrics = {}, stamped = {};
	uint64_t seed = 1;

	for (int n = 0; n < 1000; n++) {
		char namespace_[400], name[400];
		struct record stop = hostile_stop(namespace_, name, sizeof(name), &seed);
		struct record oom = serieslib_oom(namespace_, name, OOM_LEVEL_NODE);

		series_record(series, &stop);
		series_record(series, &oom);
	}
	write_page(&text, EXPO_TEXT, &m);
	assert_int_equal(promtool(tool, "check metrics <page", &text), 0);
	write_page(&openmetrics, EXPO_OPENMETRICS, &m);
	add_stamps(&stamped, buf_str(&openmetrics));
	assert_int_equal(
		promtool(tool, "tsdb create-blocks-from openmetrics page blocks", &stamped), 0);
}

static void test_promtool(void **state)
{
	const char *tool = getenv("PROMTOOL") ? getenv("PROMTOOL") : "promtool";
	char command[512];

	snprintf(command, sizeof(command), "command -v '%s' >/dev/null 2>&1", tool);
	if (system(command) != 0) {
		print_message("no promtool in PATH, and PROMTOOL names none\n");
		skip();
	}
	check_with(tool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the page says all that the snapshot knows", test_says),
		CLAIM("help says what is counted where", test_help),
		CLAIM("what is not known is left out, what is zero is not", test_unknown),
		CLAIM("a program without statistics has no run time", test_no_statistics),
		CLAIM("emitted, lost and suppressed are what was produced", test_produced),
		CLAIM("the daemon's own lines are as many as are reserved", test_own_lines),
		CLAIM("10,000 hostile label sets stay within the limit, each stop counted",
		      test_hostile),
		CLAIM("no string of the snapshot leaves its quotes", test_hostile_strings),
		CLAIM("a page that does not fit is an error", test_limit),
		CLAIM("promtool takes both formats without a complaint", test_promtool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
