// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the alerts of deploy/graced.rules.yaml while everything is restarted: real
 * containers, the real daemon, and two real Prometheus to which a minute is a second. One has the
 * same address for each daemon, as on a host; the other has another one for each, as in Kubernetes.
 * A third one begins later. The claims build on each other, in their order.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/prom.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

#define SPACE	 "firing-shop"
#define OTHER	 "11111111-2222-3333-4444-555555555555"
#define DOWN_S	 10 /* GracedDown's `for`, scaled; GracedAbsent has more */
#define KEEP_S	 5  /* keep_firing_for, scaled */
#define AGE_S	 22 /* at which nothing of a process is young */
#define PATIENCE 90 /* seconds */
#define FIRING	 "ALERTS{alertstate=\"firing\",alertname=\"%s\",container=\"%s\"}"

enum { STUCK, ACROSS, STILL, SOUND, PAST, CONTAINERS };
enum { HOST, PODS, SITES, LATER = SITES };

static const struct {
	const char *name, *behaviour;
} containers[CONTAINERS] = {
	[STUCK] = {"stuck", "deaf"},	 [ACROSS] = {"across", "deaf"}, [STILL] = {"still", "deaf"},
	[SOUND] = {"sound", "graceful"}, [PAST] = {"past", "deaf"},
};

/* Whatever fires in the whole test: for each container, and for none. */
static const char *const expected[] = {
	"GracedContainerDeaf stuck",
	"GracedContainerDeaf across",
	"GracedContainerDeaf still",
	"GracedDeafStop stuck",
	"GracedDeafStop across",
	"GracedDeafStop past",
	"GracedGraceExpired stuck",
	"GracedGraceExpired past",
	"GracedUncleanEnd -",
	"GracedEvidenceIncomplete daemon-down",
	"GracedEvidenceIncomplete exit-unseen",
};

struct stage {
	struct box_tree tree;
	struct lognames names;
	char dir[64];  /* the daemons' state */
	uint16_t port; /* of each daemon, besides one of its own */
	struct service *service;
	struct prom *proms[SITES + 1];
	time_t began;
	struct box boxes[CONTAINERS];
};

/* --- the stage --------------------------------------------------------------------------------- */

static int start_daemon(struct stage *stage)
{
	char address[32];
	const char *const args[] = {"--names.log-directory",
				    stage->names.dir,
				    "--sinks.journal=false",
				    "--budget.cpu=off",
				    "--web.listen-address",
				    address,
				    NULL};
	const struct service_spec spec = {.args = args, .tree = &stage->tree, .dir = stage->dir};

	snprintf(address, sizeof(address), "127.0.0.1:%u", stage->port);
	return service_start(&spec, &stage->service);
}

static int start_boxes(struct stage *stage, int from, int to)
{
	for (int i = from; i <= to; i++) {
		struct lognames_of of = {&stage->names, SPACE, containers[i].name,
					 containers[i].name};
		const struct box_spec spec = {.argv = BOX_ARGV(containers[i].behaviour, "0"),
					      .named = lognames_of,
					      .userdata = &of};

		if (box_start(&stage->tree, &spec, &stage->boxes[i]) < 0)
			return -1;
	}
	return 0;
}

static int setup(void **state)
{
	static struct stage stage;
	int r = tracer_open_tree("firing", prom_unavailable(), &stage.tree);

	*state = NULL;
	if (r <= 0)
		return r;
	*state = &stage;
	strcpy(stage.dir, "/tmp/graced-firing-XXXXXX");
	if (!mkdtemp(stage.dir) || lognames_open(&stage.names) < 0)
		return -1;
	stage.port = prom_free_port();
	if (start_daemon(&stage) < 0 || service_port(stage.service) == stage.port)
		return -1;
	stage.began = time(NULL);
	if (prom_start_alerts(stage.port, &stage.proms[HOST]) < 0 ||
	    prom_start_alerts(service_port(stage.service), &stage.proms[PODS]) < 0)
		return -1;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;
	struct run_result result;

	if (!stage)
		return 0;
	for (int i = 0; i <= SITES; i++)
		prom_free(stage->proms[i]);
	service_free(stage->service);
	lognames_close(&stage->names);
	if (run(&(struct run_spec){.exe = "/bin/rm", .args = BOX_ARGV("-r", stage->dir)},
		&result) == 0)
		run_done(&result);
	return box_tree_close(&stage->tree);
}

static void end_daemon(struct stage *stage, int sig)
{
	kill(service_pid(stage->service), sig);
	assert_int_equal(service_wait(stage->service), sig == SIGTERM ? 0 : 128 + sig);
	stage->service = service_free(stage->service);
}

static void begin_daemon(struct stage *stage)
{
	assert_int_equal(start_daemon(stage), 0);
	assert_int_equal(prom_retarget(stage->proms[PODS], service_port(stage->service)), 0);
}

static void ask(struct stage *stage, int i)
{
	struct sent sent;

	assert_int_equal(send_signal(&stage->tree, SEND_RUNTIME, NULL, stage->boxes[i].init_pid,
				     SIGTERM, &sent),
			 0);
}

static void await_end(struct stage *stage, int i)
{
	struct proc_end proc_end;

	assert_int_equal(proc_wait(&stage->boxes[i].proc, &proc_end), 0);
	assert_int_equal(box_remove(&stage->boxes[i]), 0);
}

static void end(struct stage *stage, int i)
{
	struct sent sent;

	assert_int_equal(send_signal(&stage->tree, SEND_RUNTIME, NULL, stage->boxes[i].init_pid,
				     SIGKILL, &sent),
			 0);
	await_end(stage, i);
}

/* --- what Prometheus has ----------------------------------------------------------------------- */

/* Until a query of each that runs has a value of at least this. */
static void await(const struct stage *stage, double least, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void await(const struct stage *stage, double least, const char *format, ...)
{
	char query[512];
	va_list args;

	va_start(args, format);
	vsnprintf(query, sizeof(query), format, args);
	va_end(args);
	for (int site = 0; site <= SITES; site++) {
		double value = -1;

		if (!stage->proms[site])
			continue;
		for (int i = 0; i < PATIENCE * 10 && value < least; i++) {
			value = prom_value(stage->proms[site], query);
			if (value < least)
				usleep(100000);
		}
		if (value < least)
			fail_msg("%s is %g at site %d", query, value, site);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The longest time without a scrape since then, in seconds. */
static double longest_gap(const struct stage *stage, int site, time_t from)
{
	json_t *result = prom_query(stage->proms[site], "up{job=\"graced\"}[20m]");
	const json_t *series, *pair;
	double times[4096] = {(double)from}, gap = 0;
	size_t n = 1, i, k;

	json_array_foreach(result, i, series)
		json_array_foreach(json_object_get(series, "values"), k, pair)
			if (n < LEN(times) &&
			    json_number_value(json_array_get(pair, 0)) >= times[0] &&
			    strcmp(json_string_value(json_array_get(pair, 1)), "1") == 0)
				times[n++] = json_number_value(json_array_get(pair, 0));
	json_decref(result);
	qsort(times, n, sizeof(times[0]), compare);
	for (i = 1; i < n; i++)
		gap = times[i] - times[i - 1] > gap ? times[i] - times[i - 1] : gap;
	return gap;
}

static bool is_expected(const char *alert)
{
	for (size_t i = 0; i < LEN(expected); i++)
		if (strcmp(expected[i], alert) == 0)
			return true;
	return false;
}

/* Each alert that has fired so far is expected; their number. */
static size_t check_fired(const struct stage *stage, int site)
{
	json_t *result = prom_query(stage->proms[site],
				    "count by (alertname, container, gap) "
				    "(max_over_time(ALERTS{alertstate=\"firing\"}[20m]))");
	double gap = longest_gap(stage, site, stage->began);
	const json_t *one;
	size_t i, n = 0;

	assert_true(json_is_array(result));
	json_array_foreach(result, i, one) {
		const json_t *labels = json_object_get(one, "metric");
		const char *name = json_string_value(json_object_get(labels, "alertname"));
		const char *gap_of = json_string_value(json_object_get(labels, "gap"));
		const char *container = json_string_value(json_object_get(labels, "container"));
		char alert[128];

		snprintf(alert, sizeof(alert), "%s %s", name,
			 container ? container
			 : gap_of  ? gap_of
				   : "-");
		/* True on a machine that is so slow. */
		if (gap >= DOWN_S &&
		    (strcmp(alert, "GracedDown -") == 0 || strcmp(alert, "GracedAbsent -") == 0))
			continue;
		if (!is_expected(alert))
			fail_msg("%s fires at site %d", alert, site);
		n++;
	}
	json_decref(result);
	return n;
}

/*
 * While its stops were counted, it was that many for most of the time. Prometheus extrapolates the
 * increase of a series that has ended, to twice its value at the last moment.
 */
static void check_count(const struct stage *stage, int i, double times)
{
	char query[256];

	snprintf(query, sizeof(query),
		 "quantile_over_time(0.5, (graced:container_deaf_stops:count15m"
		 "{container=\"%s\"} > 0.5)[20m:1s])",
		 containers[i].name);
	for (int site = 0; site < SITES; site++) {
		double count = prom_value(stage->proms[site], query);

		/* A series that was never counted has no value. */
		count = count < 0 ? 0 : count;
		if (count <= times - 0.5 || count >= times * 1.9 + 0.1)
			fail_msg("%s is %g at site %d", query, count, site);
	}
}

/* It fired once since then, and did not stop in between. */
static void check_steady(const struct stage *stage, time_t from, const char *alert,
			 const char *container)
{
	char query[256];

	snprintf(query, sizeof(query),
		 "changes(ALERTS_FOR_STATE{alertname=\"%s\",container=\"%s\"}[20m])", alert,
		 container);
	for (int site = 0; site < SITES; site++)
		if (longest_gap(stage, site, from) < KEEP_S)
			assert_true(prom_value(stage->proms[site], query) == 0);
}

/* --- claims ------------------------------------------------------------------------------------ */

static void test_running(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	assert_int_equal(start_boxes(stage, STUCK, PAST - 1), 0);
	await(stage, 1, FIRING, "GracedContainerDeaf", "stuck");
	await(stage, 1, FIRING, "GracedContainerDeaf", "across");
	await(stage, 1, FIRING, "GracedContainerDeaf", "still");
	for (int site = 0; site < SITES; site++)
		check_fired(stage, site);
}

static void test_stop(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	ask(stage, STUCK);
	end(stage, STUCK);
	ask(stage, SOUND);
	await_end(stage, SOUND);
	await(stage, 1, FIRING, "GracedDeafStop", "stuck");
	await(stage, 1,
	      "sum(graced_container_stops_total{container=\"sound\",outcome=\"graceful\"})");
}

/* Its request is seen by a daemon, its end by the next one, which is killed then. */
static void test_daemons(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	ask(stage, ACROSS);
	end_daemon(stage, SIGTERM);
	end(stage, ACROSS);
	begin_daemon(stage);
	await(stage, 1, FIRING, "GracedDeafStop", "across");
	/* A stop that no daemon saw is a third of all. */
	await(stage, 1,
	      "ALERTS{alertstate=\"firing\",alertname=\"GracedEvidenceIncomplete\","
	      "gap=\"daemon-down\"}");
	end_daemon(stage, SIGKILL);
	begin_daemon(stage);
	await(stage, 1, "count(up == 1)");
	check_count(stage, STUCK, 1);
	check_count(stage, ACROSS, 1);
	check_steady(stage, stage->began, "GracedDeafStop", "stuck");
	check_steady(stage, stage->began, "GracedContainerDeaf", "still");
	for (int site = 0; site < SITES; site++)
		check_fired(stage, site);
}

static void test_prometheus(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	assert_int_equal(prom_restart(stage->proms[HOST], SIGTERM), 0);
	assert_int_equal(prom_restart(stage->proms[PODS], SIGKILL), 0);
	await(stage, 1, "count(count_over_time(up[3s]))");
	check_count(stage, STUCK, 1);
	check_count(stage, ACROSS, 1);
	for (int site = 0; site < SITES; site++)
		check_fired(stage, site);
}

/* The note that a killed daemon leaves, with another boot id in it. */
static void boot_anew(struct stage *stage)
{
	char boot_id[37], command[384];
	struct run_result result;

	end_daemon(stage, SIGKILL);
	clock_boot_id(boot_id);
	snprintf(command, sizeof(command),
		 "sed -i s/%s/" OTHER "/ %s/boot && grep -q " OTHER " %s/boot", boot_id, stage->dir,
		 stage->dir);
	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh", .args = BOX_ARGV("-c", command)},
			     &result),
			 0);
	assert_int_equal(result.status, 0);
	run_done(&result);
}

static void test_boot(void **state)
{
	struct stage *stage = *state;
	time_t from;

	if (!stage)
		skip();
	boot_anew(stage);
	begin_daemon(stage);
	await(stage, 1, FIRING, "GracedUncleanEnd", "");
	from = time(NULL);
	end_daemon(stage, SIGTERM);
	begin_daemon(stage);
	assert_int_equal(start_boxes(stage, PAST, PAST), 0);
	ask(stage, PAST);
	end(stage, PAST);
	await(stage, 1, FIRING, "GracedDeafStop", "past");
	await(stage, 1, FIRING, "GracedUncleanEnd", "");
	check_steady(stage, from, "GracedUncleanEnd", "");
}

static void test_windows(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	await(stage, 1, "absent(ALERTS{alertname=~\"Graced(DeafStop|GraceExpired)\"})");
	for (int i = 0; i < CONTAINERS; i++)
		check_count(stage, i, i == STILL || i == SOUND ? 0 : 1);
	for (int site = 0; site < SITES; site++)
		assert_int_equal(check_fired(stage, site), LEN(expected));
}

/* The daemon is older than the window, and so is what it has counted. */
static void test_later(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	await(stage, AGE_S, "min(time() - process_start_time_seconds)");
	stage->began = time(NULL);
	/* The other two have done their part. */
	for (int site = 0; site < SITES; site++)
		stage->proms[site] = prom_free(stage->proms[site]);
	assert_int_equal(prom_start_alerts(stage->port, &stage->proms[LATER]), 0);
	await(stage, 1, "sum(graced_container_deaf_stops_total{container=\"past\"})");
	end_daemon(stage, SIGTERM);
	assert_int_equal(start_daemon(stage), 0);
	await(stage, 4, "sum(count_over_time((process_start_time_seconds > %lld)[1m:1s]))",
	      (long long)stage->began);
	assert_int_equal(check_fired(stage, LATER), 1);
	assert_int_equal(box_remove(&stage->boxes[STILL]), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("containers that are deaf fire an alert before they stop, one that hears "
		      "does not",
		      test_running),
		CLAIM("a deaf stop fires an alert", test_stop),
		CLAIM("daemons that are restarted and killed count it once, and a stop that a "
		      "restart divides, too",
		      test_daemons),
		CLAIM("a Prometheus that is restarted or killed fires nothing new",
		      test_prometheus),
		CLAIM("an unclean end fires once, whichever daemon reports it", test_boot),
		CLAIM("alerts about stops end with their window, and no other has fired at any time",
		      test_windows),
		CLAIM("what is old does not fire in a Prometheus that begins, nor when the daemon "
		      "is restarted then",
		      test_later),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
