// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about native histograms and exemplars, with a real Prometheus that scrapes a page of
 * metrics to which each scrape adds 100 stops of 20 ms to 2 s, and 24 ends of pods in buckets of
 * their own.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/http/web.h"
#include "lib/claim.h"
#include "lib/daemon/prom.h"
#include "lib/engine/serieslib.h"
#include "lib/net/http.h"
#include "wire/prometheus/metrics.h"

#define STOPS	  100
#define STEP_NS	  (20 * MS)
#define HISTOGRAM "graced_container_stop_duration_seconds"
#define CART	  "{container=\"cart\"}"
#define WIDE	  "graced_pod_empty_duration_seconds"
#define OCTAVES	  3  /* of WIDE with each scrape, with a value in each of their 8 buckets */
#define SCRAPES	  12 /* after so many the schema has fallen from 3 to 0 */
#define ID	  "0123/%u"
#define POD	  "a-workload-of-a-very-long-name-indeed-7d4b9c6f5d-x2x4z"
#define POD_SHOWN      \
	"\xe2\x80\xa6" \
	"y-long-name-indeed-7d4b9c6f5d-x2x4z"

struct stage {
	pid_t site;
	uint16_t port;
	struct prom *native, *classic;
};

/* --- the site, a process of its own ------------------------------------------------------------ */

static void add_stops(struct series *series)
{
	static unsigned int n;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	for (unsigned int i = 1; i <= STOPS; i++) {
		struct record record = serieslib_stop("shop", "cart");

		record.wall_ns = now.tv_sec * (int64_t)S + now.tv_nsec;
		record.stop.latency_ns = i * STEP_NS;
		record.stop.pod.name = POD;
		snprintf(record.stop.id, sizeof(record.stop.id), "boot/" ID, ++n);
		series_record(series, &record);
	}
}

/* One that is killed at the end of its 30 seconds, and one that is held for as long again. */
static void add_late(struct series *series)
{
	struct record record = serieslib_stop("shop", "late");

	record.stop.latency_ns = 30 * S + 20 * MS;
	series_record(series, &record);
	record = serieslib_stop("shop", "held");
	record.stop.latency_ns = 60 * S;
	series_record(series, &record);
}

/* After 8, 16 and 32 octaves, from 2 ms on, the buckets of the schema are used up. */
static void add_pods(struct series *series)
{
	static unsigned int octave;

	for (unsigned int i = 0; i < OCTAVES; i++, octave++) {
		for (unsigned int k = 0; k < 8; k++) {
			struct record record = serieslib_stop("shop", "cart");
			struct record_pod pod = record.stop.pod;
			uint64_t value = (2 * MS << octave % 33) * (16 + 2 * k + 1) / 16;

			record = (struct record){
				.type = RECORD_POD,
				.pod_state = {.pod = pod,
					      .state = POD_STAGE_TERMINATED,
					      .exit_ns = 1,
					      .empty_ns = 1 + value},
			};
			series_record(series, &record);
		}
	}
}

static int64_t start_wall_ns;

static void answer(void *userdata, const struct web_request *request, struct web_reply *ret)
{
	struct metrics metrics = {.series = userdata, .process_known = true};

	metrics.process_start_wall_ns = start_wall_ns;
	add_stops(userdata);
	add_late(userdata);
	add_pods(userdata);
	ret->status = metrics_write(&ret->body, request->format, &metrics) < 0 ? 500 : 200;
	ret->type = negotiate_content_type(request->format);
}

static void serve(int port_fd) __attribute__((noreturn));
static void serve(int port_fd)
{
	static const char *const listen[] = {"127.0.0.1:0"};
	const struct web_config config = {.listen = listen, .n_listen = 1};
	struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct web_why why;
	struct web *web;
	sd_event *event;
	uint16_t port;

	start_wall_ns = (int64_t)time(NULL) * (int64_t)S;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sd_event_new(&event) < 0 || web_new(event, &config, answer, series, &web, &why) < 0)
		_exit(1);
	port = web_port(web, 0);
	if (write(port_fd, &port, sizeof(port)) != sizeof(port))
		_exit(1);
	sd_event_loop(event);
	_exit(1);
}

static int setup(void **state)
{
	static struct stage stage;
	int fds[2], r;

	*state = NULL;
	if (prom_unavailable()) {
		fprintf(stderr, "skipped: %s\n", prom_unavailable());
		return 0;
	}
	*state = &stage;
	if (pipe(fds) < 0)
		return -1;
	stage.site = fork();
	if (stage.site == 0)
		serve(fds[1]);
	close(fds[1]);
	if (read(fds[0], &stage.port, sizeof(stage.port)) != sizeof(stage.port))
		return -1;
	close(fds[0]);
	r = prom_start_features(stage.port, "native-histograms,exemplar-storage", &stage.native);
	if (r == 0)
		r = prom_start_features(stage.port, "exemplar-storage", &stage.classic);
	return r;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	prom_free(stage->native);
	prom_free(stage->classic);
	kill(stage->site, SIGKILL);
	waitpid(stage->site, NULL, 0);
	return 0;
}

/* --- claims ------------------------------------------------------------------------------------ */

/* Until a query has an answer. */
static double await_value(const struct prom *prom, const char *query)
{
	double value = -1;

	for (int i = 0; i < 600 && !(value > 0); i++) {
		value = prom_value(prom, query);
		if (!(value > 0))
			usleep(100000);
	}
	return value;
}

/* The 90th of 100 stops took 1.8 s. A native bucket is 9 % wide; the classic one is from 1 to 3 s. */
static void test_quantile(void **state)
{
	static const char query[] = "histogram_quantile(0.9, sum(rate(" HISTOGRAM CART "[1m])))";
	struct stage *stage = *state;
	double value;

	if (!stage)
		skip();
	value = await_value(stage->native, query);
	assert_true(value > 1.8 / 1.0906 && value < 1.8 * 1.0906);
}

static void test_counts(void **state)
{
	struct stage *stage = *state;
	double count;

	if (!stage)
		skip();
	count = await_value(
		stage->native,
		"histogram_count(" HISTOGRAM CART ") == on() group_left "
		"graced_container_stops_total{cause=\"stop-signal\",container=\"cart\"}");
	assert_true(count > 0 && (unsigned int)count % STOPS == 0);
	assert_true(prom_value(stage->native, "histogram_sum(" HISTOGRAM CART ") / "
					      "histogram_count(" HISTOGRAM CART ")") == 1.01);
}

/* A reset would be counted as an increase by all that there is. */
static void test_no_reset(void **state)
{
	static const char query[] = "histogram_count(sum(increase(" WIDE "[5m]))) / "
				    "histogram_count(sum(increase(" HISTOGRAM CART "[5m])))";
	struct stage *stage = *state;
	char until[128];
	double ratio;

	if (!stage)
		skip();
	snprintf(until, sizeof(until), "histogram_count(sum(" WIDE ")) >= %d",
		 SCRAPES * OCTAVES * 8);
	assert_true(await_value(stage->native, until) > 0);
	ratio = prom_value(stage->native, query) * STOPS / (OCTAVES * 8);
	assert_true(ratio > 0.999 && ratio < 1.001);
}

static void test_not_twice(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	assert_true(await_value(stage->native, "histogram_count(" HISTOGRAM CART ")") > 0);
	assert_true(prom_value(stage->native, "count(" HISTOGRAM "_bucket)") == -1);
	assert_true(await_value(stage->classic, "count(" HISTOGRAM "_bucket" CART ")") == 13);
	assert_true(prom_value(stage->classic, "count(" HISTOGRAM ")") == -1);
}

/* The same families in both, whichever format they came in. */
static void test_others(void **state)
{
	static const char query[] =
		"count(count by (__name__) ({job=\"graced\",__name__=~\"(graced|process)_.+\","
		"__name__!~\".+_(bucket|sum|count|created)\","
		"__name__!~\".+_(duration_seconds|used_ratio|while_terminating_seconds)\"}))";
	struct stage *stage = *state;
	double families;

	if (!stage)
		skip();
	families = await_value(stage->native, query);
	assert_true(families > 40);
	assert_true(await_value(stage->classic, query) == families);
	assert_true(prom_value(stage->native, "graced_series") ==
		    prom_value(stage->classic, "graced_series"));
}

static void check_exemplars(const struct prom *prom, const char *selector)
{
	const json_t *exemplar = NULL, *labels;
	json_t *data = NULL;
	unsigned int n;

	for (int i = 0; i < 600 && !exemplar; i++) {
		json_decref(data);
		data = prom_exemplars(prom, selector);
		exemplar = json_array_get(json_object_get(json_array_get(data, 0), "exemplars"), 0);
		if (!exemplar)
			usleep(100000);
	}
	labels = json_object_get(exemplar, "labels");
	assert_string_equal(json_string_value(json_object_get(labels, "pod")), POD_SHOWN);
	assert_int_equal(sscanf(json_string_value(json_object_get(labels, "id")), ID, &n), 1);
	json_decref(data);
}

static void test_exemplars(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	check_exemplars(stage->native, HISTOGRAM CART);
	check_exemplars(stage->classic, HISTOGRAM "_bucket" CART);
}

/* The 95th of 100 stops used 1.9 of 30 s. The first classic bucket ends at one half. */
static void test_margin(void **state)
{
	static const char query[] = "graced:margin:p95_1h" CART;
	struct stage *stage = *state;
	double native, classic;

	if (!stage)
		skip();
	native = await_value(stage->native, query);
	classic = await_value(stage->classic, query);
	assert_true(native > 1 - 1.9 / 30 * 1.0906 && native < 1 - 1.9 / 30 / 1.0906);
	assert_true(classic > 0.5 && classic < 0.55);
}

static void check_firing(const struct prom *prom)
{
	static const char low[] = "count(ALERTS{alertname=\"GracedMarginLow\","
				  "alertstate=\"firing\",container=~\"late|held\"}) == 2";
	static const char held[] =
		"count(ALERTS{alertname=\"GracedGraceOverrun\",alertstate=\"firing\"})";

	assert_true(await_value(prom, low) > 0);
	assert_true(await_value(prom, held) > 0);
	assert_true(prom_value(prom, "count(ALERTS{alertname=\"GracedGraceOverrun\","
				     "container!=\"held\"})") == -1);
	assert_true(prom_value(prom, "count(ALERTS{alertname=\"GracedMarginLow\","
				     "container!~\"late|held\"})") == -1);
}

static void read_page(const char *path, struct buf *ret)
{
	FILE *in = fopen(path, "re");
	char line[1024];

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		buf_adds(ret, line);
	fclose(in);
}

/* By the query of an alert's command, how many nodes such a container has. */
static size_t count_nodes(const struct prom *prom, const char *alert, const char *container)
{
	struct buf query = {}, rules = {};
	const char *at, *end;
	json_t *result;
	size_t n;

	read_page("deploy/graced.rules.yaml", &rules);
	at = strstr(buf_str(&rules), alert);
	at = at ? strstr(at, "query (printf `") : NULL;
	assert_non_null(at);
	at += strlen("query (printf `");
	end = strchr(at, '`');
	for (; at < end; at++) {
		if (strncmp(at, "%[1]s", 5) == 0) {
			buf_printf(&query, "container=\"%s\"", container);
			at += 4;
		} else {
			buf_addc(&query, *at);
		}
	}
	result = prom_query(prom, buf_str(&query));
	assert_non_null(result);
	n = json_array_size(result);
	json_decref(result);
	buf_free(&query);
	buf_free(&rules);
	return n;
}

static void test_commands(void **state)
{
	struct stage *stage = *state;
	const struct prom *both[2];

	if (!stage)
		skip();
	both[0] = stage->native;
	both[1] = stage->classic;
	for (size_t i = 0; i < LEN(both); i++) {
		check_firing(both[i]);
		assert_int_equal(count_nodes(both[i], "GracedGraceOverrun", "held"), 1);
		assert_int_equal(count_nodes(both[i], "GracedGraceOverrun", "late"), 0);
		assert_int_equal(count_nodes(both[i], "GracedMarginLow", "held"), 1);
		assert_int_equal(count_nodes(both[i], "GracedMarginLow", "late"), 1);
		assert_int_equal(count_nodes(both[i], "GracedMarginLow", "cart"), 0);
	}
}

static void test_alerts(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	check_firing(stage->native);
	check_firing(stage->classic);
}

/* Without an answer it is one that can be asked. */
static void check_question(const struct prom *prom, const char *query, bool has_answer)
{
	json_t *result;

	for (int i = 0; has_answer && i < 600 && prom_value(prom, query) == -1; i++)
		usleep(100000);
	result = prom_query(prom, query);
	assert_true(json_is_array(result));
	assert_int_equal(json_array_size(result), has_answer);
	json_decref(result);
}

/* The second of them asks about five hours ago. */
static void test_questions(void **state)
{
	static const bool has_answer[] = {true, false, true};
	struct stage *stage = *state;
	struct buf page = {};
	const char *at;
	char *query, *end;
	size_t n = 0;

	if (!stage)
		skip();
	read_page("docs/questions.md", &page);
	at = strstr(buf_str(&page), "## Where only native histograms");
	for (; at && (at = strstr(at, "```promql\n")); n++, at = end + 1) {
		query = (char *)at + strlen("```promql\n");
		end = strstr(query, "```");
		assert_non_null(end);
		*end = '\0';
		assert_true(n < LEN(has_answer));
		check_question(stage->native, query, has_answer[n]);
	}
	assert_int_equal(n, LEN(has_answer));
	buf_free(&page);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a quantile of a native histogram is 9 % from the truth at most",
		      test_quantile),
		CLAIM("a native histogram counts each stop once, and the time it took",
		      test_counts),
		CLAIM("a schema that falls is no reset for Prometheus", test_no_reset),
		CLAIM("Prometheus stores the native buckets or the classic ones", test_not_twice),
		CLAIM("all other families are the same in both formats", test_others),
		CLAIM("the rules have the margin from native histograms and from classic ones",
		      test_margin),
		CLAIM("from both the rules alert about the same containers", test_alerts),
		CLAIM("... and their commands find the node by both", test_commands),
		CLAIM("the questions about native histograms have their answers", test_questions),
		CLAIM("both formats bring exemplars to Prometheus", test_exemplars),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
