// SPDX-License-Identifier: Apache-2.0
/*
 * What a Prometheus that scrapes one node each minute would have stored, made from a story: stops
 * are recordings of tests/replay through the engine, pages are those of the daemon. For the tests
 * of alerts, questions and the dashboard.
 *
 *   metrics_story NODE RECORDINGS <STORY
 *                   lines of OpenMetrics with times, without their end
 *   metrics_story families
 *                   pages with every family and each of their labels
 *
 * A line of a story is a minute and a command; minutes do not fall:
 *
 *   MINUTE start                         the daemon starts, its counters at 0
 *   MINUTE down                          scrapes fail from now on
 *   MINUTE runs NAMESPACE WORKLOAD CONTAINER
 *   MINUTE play RECORDING NAMESPACE WORKLOAD CONTAINER COUNT
 *   MINUTE hears NAMESPACE WORKLOAD CONTAINER 0|1
 *   MINUTE ready CONDITION 0|1           by its number in enum metrics_ready
 *   MINUTE shed NUMBER                   of enum shed
 *   MINUTE unclean COUNT                 the last boot ended so, that many did
 *   MINUTE shutdown SECONDS              of the node, that long, from this minute on
 *   MINUTE lost COUNT                    events
 *   MINUTE evicted COUNT                pods begin to terminate
 *   MINUTE restarts NAMESPACE WORKLOAD CONTAINER COUNT
 *   MINUTE end
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics/series_store.h"
#include "lib/fleet/cast.h"
#include "wire/prometheus/metrics.h"

#define BEGIN_S	  ((int64_t)1793491200) /* 2026-11-01T00:00:00Z */
#define MINUTE_NS 60000000000ULL
#define SECOND_NS 1000000000LL

struct story {
	const char *node, *recordings;
	struct series *series; /* NULL: the daemon is down */
	struct metrics metrics;
	struct bootlog previous;
	int64_t minute;
	unsigned int starts; /* a pod has another address each time */
	char namespace_[64], workload[64], container[64];
};

static const struct audit hearing = {.verdict = AUDIT_HEARS, .reason = AUDIT_HANDLER};
static const struct audit deaf = {.verdict = AUDIT_DEAF, .reason = AUDIT_SHIELD};

static void fail(const char *what)
{
	fprintf(stderr, "metrics_story: %s\n", what);
	exit(1);
}

static int64_t wall_ns(const struct story *s)
{
	return (BEGIN_S + s->minute * 60) * SECOND_NS;
}

/* One line of a page, with the labels that a scrape adds, and its time. */
static void print_sample(const struct story *s, const char *line, size_t len)
{
	size_t name = strcspn(line, "{ ");
	bool labels = line[name] == '{';

	printf("%.*s{job=\"graced\",instance=\"%s-%u:9753\",node=\"%s\"%s%.*s %" PRId64 "\n",
	       (int)name, line, s->node, s->starts, s->node, labels ? "," : "}",
	       (int)(len - name - (labels ? 1 : 0)), line + name + (labels ? 1 : 0),
	       BEGIN_S + s->minute * 60);
}

/* Without an exemplar, which Prometheus does not store beside a time of ours. */
static size_t len_of_sample(const char *line, const char *end)
{
	const char *exemplar = memmem(line, (size_t)(end - line), " # {", 4);

	return (size_t)((exemplar ? exemplar : end) - line);
}

static void print_page(const struct story *s, const char *page)
{
	for (const char *line = page, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *created = strstr(line, "_created");

		if (*line != '#' && !(created && created < line + strcspn(line, "{ ")))
			print_sample(s, line, len_of_sample(line, end));
	}
}

static void scrape(struct story *s)
{
	struct buf page = {};

	if (s->series) {
		s->metrics.series = s->series;
		if (metrics_write(&page, EXPO_OPENMETRICS, &s->metrics) < 0)
			fail("no memory");
		print_page(s, buf_str(&page));
		series_scraped(s->series);
	}
	print_page(s, s->series ? "up 1\n" : "up 0\n");
	buf_free(&page);
}

static void start(struct story *s)
{
	const struct series_config config = {.reserved = METRICS_OWN_LINES};

	series_free(s->series);
	if (series_new(&config, &s->series) < 0)
		fail("no memory");
	s->metrics.process_start_wall_ns = wall_ns(s);
	s->starts++;
}

/* All but two workloads are Deployments. */
static const char *kind_of(const char *workload)
{
	if (strcmp(workload, "ledger") == 0)
		return "StatefulSet";
	return strcmp(workload, "spider") == 0 ? "CronJob" : "Deployment";
}

/* hears NULL: that it runs is all that is known. */
static void runs(struct story *s, const struct audit *hears)
{
	const struct record_pod pod = {.known = true,
				       .namespace_ = s->namespace_,
				       .name = "pod-0",
				       .uid = "uid",
				       .workload = s->workload,
				       .workload_kind = kind_of(s->workload)};
	const struct record_container container = {
		.known = true, .name = s->container, .kind = CONTAINER_KIND_CONTAINER};

	series_seen(s->series, &pod, &container, (uint64_t)s->minute * MINUTE_NS, wall_ns(s));
	if (hears)
		series_hears(s->series, &pod, &container, hears);
}

static void rename_subject(const struct story *s, struct record_pod *pod,
			   struct record_container *container)
{
	pod->known = true;
	pod->namespace_ = s->namespace_;
	pod->workload = s->workload;
	pod->workload_kind = kind_of(s->workload);
	container->name = s->container;
}

/* The recordings have the container main; what else is in them is not of the story. */
static void on_record(void *userdata, const struct record *record)
{
	const struct story *s = userdata;
	struct record copy = *record;
	struct record_container *container =
		copy.type == RECORD_OOM ? &copy.oom.container : &copy.stop.container;

	if (copy.type != RECORD_STOP && copy.type != RECORD_OOM)
		return;
	if (!container->known || !container->name || strcmp(container->name, "main") != 0)
		return;
	rename_subject(s, copy.type == RECORD_OOM ? &copy.oom.pod : &copy.stop.pod, container);
	copy.at_ns = (uint64_t)s->minute * MINUTE_NS;
	copy.wall_ns = wall_ns(s);
	series_record(s->series, &copy);
}

static void play(struct story *s, const char *recording)
{
	const struct feed_sink sink = {.userdata = s, .record = on_record};
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.rec", s->recordings, recording);
	if (cast_feed(path, &sink) < 0)
		fail(path);
}

/* Pods that begin to terminate, or containers that are made again. */
static void happens(const struct story *s, enum record_type type, unsigned int n)
{
	struct record record = {
		.type = type, .at_ns = (uint64_t)s->minute * MINUTE_NS, .wall_ns = wall_ns(s)};
	struct record_container container = {.known = true, .kind = CONTAINER_KIND_CONTAINER};

	if (type == RECORD_POD) {
		record.pod_state.state = POD_STAGE_TERMINATING;
		record.pod_state.trigger = POD_EVICTED;
	} else {
		rename_subject(s, &record.restart.pod, &container);
		record.restart.container = container;
		record.restart.probe = TRI_TRUE;
	}
	while (n--)
		series_record(s->series, &record);
}

static void boot_ended(struct story *s, uint64_t count)
{
	s->previous.saved_wall_ns = wall_ns(s);
	s->previous.watched_ns = s->previous.saved_ns = MINUTE_NS;
	strcpy(s->previous.boot_id, "11111111-2222-3333-4444-555555555555");
	s->metrics.boot.previous = &s->previous;
	s->metrics.boot.unclean = count;
}

static void command(struct story *s, const char *verb, const char *rest)
{
	char recording[64];
	unsigned int number = 0, value = 0;

	if (strcmp(verb, "start") == 0) {
		start(s);
	} else if (strcmp(verb, "down") == 0) {
		s->series = series_free(s->series);
	} else if (strcmp(verb, "runs") == 0 &&
		   sscanf(rest, "%63s %63s %63s", s->namespace_, s->workload, s->container) == 3) {
		runs(s, NULL);
	} else if (strcmp(verb, "hears") == 0 && sscanf(rest, "%63s %63s %63s %u", s->namespace_,
							s->workload, s->container, &value) == 4) {
		runs(s, value ? &hearing : &deaf);
	} else if (strcmp(verb, "play") == 0 &&
		   sscanf(rest, "%63s %63s %63s %63s %u", recording, s->namespace_, s->workload,
			  s->container, &number) == 5) {
		while (number--)
			play(s, recording);
	} else if (strcmp(verb, "restarts") == 0 &&
		   sscanf(rest, "%63s %63s %63s %u", s->namespace_, s->workload, s->container,
			  &number) == 4) {
		happens(s, RECORD_RESTART, number);
	} else if (strcmp(verb, "ready") == 0 && sscanf(rest, "%u %u", &number, &value) == 2 &&
		   number < METRICS_READY_COUNT) {
		s->metrics.shutdown.ready[number] = value ? METRICS_READY_YES : METRICS_READY_NO;
	} else if (sscanf(rest, "%u", &number) != 1) {
		fail(verb);
	} else if (strcmp(verb, "evicted") == 0) {
		happens(s, RECORD_POD, number);
	} else if (strcmp(verb, "shed") == 0) {
		s->metrics.shed = (enum shed)number;
	} else if (strcmp(verb, "unclean") == 0) {
		boot_ended(s, number);
	} else if (strcmp(verb, "shutdown") == 0) {
		s->metrics.shutdown.start_s = BEGIN_S + s->minute * 60;
		s->metrics.shutdown.end_s = s->metrics.shutdown.start_s + number;
	} else if (strcmp(verb, "lost") == 0) {
		s->metrics.totals[1].lost += number;
	} else {
		fail(verb);
	}
}

static void fill(struct metrics *m)
{
	static const struct metrics_program program = {"on_exit", true, 1000000000, 7};

	m->programs = &program;
	m->n_programs = 1;
	m->boot.on = m->shutdown.on = m->shutdown.held = true;
	m->control.on = m->checkpoint.on = m->api.events.on = m->api.statuses.on = true;
	m->shutdown.delay_known = true;
	m->shutdown.delay_max_ns = 60 * (uint64_t)SECOND_NS;
	m->shutdown.n_groups = 1;
	m->overhead_known = m->process_known = true;
	m->overhead_ppm = 4000;
	m->budget_ppm = 20000;
	m->process_resident_bytes = 20 << 20;
	m->process_start_wall_ns = m->reload_ok_wall_ns = BEGIN_S * SECOND_NS;
	m->version = "0.1.0";
	m->kernel = "6.1.0";
	for (int i = 0; i < METRICS_READY_COUNT; i++)
		m->shutdown.ready[i] = METRICS_READY_YES;
	for (int i = 0; i < METRICS_SINK_COUNT; i++)
		m->sinks[i].on = true;
	for (int i = META_NONE + 1; i < META_SOURCE_COUNT; i++)
		m->sources[i] = (struct metrics_source){.asked = true, .up = true};
	m->sources[META_KUBELET].credential =
		(struct credential){CREDENTIAL_TOKEN, BEGIN_S + 360 * 86400, BEGIN_S + 359 * 86400};
}

static void tell(struct story *s)
{
	char line[512], verb[32];
	int64_t minute;
	int at;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%" SCNd64 " %31s%n", &minute, verb, &at) != 2)
			continue;
		for (; s->minute < minute; s->minute++)
			scrape(s);
		if (strcmp(verb, "end") != 0)
			command(s, verb, line + at);
	}
}

static void count_all(struct series *series)
{
	struct record record = {.type = RECORD_STOP};
	struct record_stop *stop = &record.stop;

	stop->pod = (struct record_pod){.known = true,
					.namespace_ = "shop",
					.name = "cart-0",
					.uid = "uid",
					.workload = "cart",
					.workload_kind = "Deployment"};
	stop->container = (struct record_container){
		.known = true, .name = "app", .kind = CONTAINER_KIND_CONTAINER};
	stop->latency_known = stop->deaf = true;
	stop->collateral_kills = stop->cut = 1;
	stop->grace = (struct grace){.from = GRACE_SPEC, .ns = 30 * (uint64_t)SECOND_NS};
	for (unsigned int i = 0; i < OUTCOME_COUNT * CAUSE_COUNT; i++) {
		stop->outcome = i / CAUSE_COUNT;
		stop->cause = i % CAUSE_COUNT;
		if (serie_is_pair(stop->outcome, stop->cause))
			series_record(series, &record);
	}
	record = (struct record){.type = RECORD_POD};
	record.pod_state.state = POD_STAGE_TERMINATED;
	record.pod_state.exit_ns = record.pod_state.empty_ns = 1;
	series_record(series, &record);
	record = (struct record){.type = RECORD_RESTART};
	record.restart.probe = TRI_TRUE;
	series_record(series, &record);
	record = (struct record){.type = RECORD_POD_READY};
	record.pod_ready.stop_ns = record.pod_ready.until_ns = 1;
	series_record(series, &record);
}

static void print_all(struct story *s)
{
	struct buf page = {};

	s->metrics.series = s->series;
	if (metrics_write(&page, EXPO_OPENMETRICS, &s->metrics) < 0)
		fail("no memory");
	fputs(buf_str(&page), stdout);
	buf_free(&page);
}

/* Once as after a boot that ended unclean, once as after a shutdown. */
static void print_families(struct story *s)
{
	start(s);
	count_all(s->series);
	strcpy(s->namespace_, "shop");
	strcpy(s->workload, "cart");
	strcpy(s->container, "app");
	runs(s, &hearing);
	strcpy(s->container, "deaf");
	runs(s, &deaf);
	boot_ended(s, 1);
	print_all(s);
	s->previous.shutdown.announced_ns = 1;
	s->previous.shutdown.released_ns = MINUTE_NS;
	print_all(s);
}

int main(int argc, char **argv)
{
	struct story s = {.node = argv[1]};

	fill(&s.metrics);
	if (argc == 2 && strcmp(argv[1], "families") == 0) {
		print_families(&s);
	} else if (argc == 3) {
		s.recordings = argv[2];
		tell(&s);
	} else {
		fail("usage: metrics_story NODE RECORDINGS | families");
	}
	series_free(s.series);
	return fflush(stdout) ? 1 : 0;
}
