// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon's page and its memory when 10,000 containers of different and hostile
 * names come and go on its node: the page has its limit, so has the memory, and each stop counts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/box/box_tree.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"
#include "lib/net/exporead.h"
#include "lib/patience.h"
#include "lib/run.h"

#define LIVES	   10000
#define HALF	   (LIVES / 2)
#define LIMIT	   2000 /* of series */
#define SERVICE_OF 10	/* one in so many is a service, the others are containers */

/* Less than 5,000 containers take that are not forgotten; more than a page takes while it is
 * written. */
#define FLAT_BYTES (1 << 20)

struct stage {
	struct box_tree tree;
	struct service *service;
	char logs[32], records[64], workload[HIER_PATH_MAX + 16];
	FILE *in;		    /* the records, read on and on */
	uint32_t records_of[LIVES]; /* stop records of each */
	uint32_t n_records;	    /* in all */
	uint64_t stops, misread;    /* of whomever on this host; of ours but not as it was named */
	size_t most_samples;
	unsigned int scrapes;
};

/* --- what they are called --- */

static bool is_service(uint32_t number)
{
	return number % SERVICE_OF == 0;
}

static void lengthen(char *text, char with)
{
	size_t len = strlen(text);

	memset(text + len, with, 63 - len);
	text[63] = '\0';
}

/* Kubernetes allows few bytes, but 63 of them. */
static void namespace_of(uint32_t number, char ret[64])
{
	static const char *const forms[] = {"n", "0", "kube--system", "other"};

	snprintf(ret, 64, "%s-%u", forms[number % LEN(forms)], number % 97);
	if (number % 3 == 0)
		lengthen(ret, 'x');
}

static void container_of(uint32_t number, char ret[64])
{
	snprintf(ret, 64, "c%u", number);
	if (number % 2)
		lengthen(ret, number % 4 == 1 ? '-' : 'c');
	ret[number % 2 ? 62 : 0] = 'c';
}

static void uid_of(uint32_t number, char ret[37])
{
	snprintf(ret, 37, "%08x-0000-4000-8000-00000000cafe", number);
}

static void id_of(uint32_t number, char ret[65])
{
	snprintf(ret, 65, "%056x%08x", 0xcafe, number);
}

/* A cgroup may be called anything without a line feed and a slash. The number is the last thing in
 * it, and one name is as long as a file's may be. */
static void unit_of(uint32_t number, char ret[256])
{
	static const char *const forms[] = {
		"quote\"} 1 ",	"back\\slash\\",    "return\r# HELP \r",
		"tab\t{}=,",	"\xff\xfe\xc0\x80", "\xe2\x80\xae evil ",
		"\xed\xa0\x80", "_other",	    "escape\x1b[2J",
		"# EOF ",	"\xf0\x9f\x92\xa3",
	};
	size_t form = number / SERVICE_OF % (LEN(forms) + 1), len = 0;

	if (form < LEN(forms))
		len = (size_t)snprintf(ret, 256, "%s", forms[form]);
	else
		for (; len + 3 + strlen("99999.service") <= 255; len += 3)
			memcpy(ret + len, "\xe2\x82\xac", 3);
	snprintf(ret + len, 256 - len, "%u.service", number);
}

static void name_life(void *userdata, uint32_t number, struct many_life *ret)
{
	char uid[37];

	ret->code = number % 3 == 0 ? 1 : 0;
	if (is_service(number)) {
		unit_of(number, ret->leaf);
		return;
	}
	uid_of(number, uid);
	snprintf(ret->parent, sizeof(ret->parent), "kubepods/burstable/pod%s", uid);
	id_of(number, ret->leaf);
}

/* As the kubelet lays them out. */
static void make_log(const struct stage *stage, uint32_t number)
{
	char namespace_[64], container[64], uid[37], id[65], pod[256], path[512], target[512];

	namespace_of(number, namespace_);
	container_of(number, container);
	uid_of(number, uid);
	id_of(number, id);
	snprintf(pod, sizeof(pod), "%s_p-%u.web_%s", namespace_, number, uid);
	snprintf(path, sizeof(path), "%s/pods/%s", stage->logs, pod);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/containers/p-%u.web_%s_%s-%s.log", stage->logs, number,
		 namespace_, container, id);
	snprintf(target, sizeof(target), "/var/log/pods/%s/%s/0.log", pod, container);
	assert_int_equal(symlink(target, path), 0);
}

static void make_logs(struct stage *stage)
{
	char path[64];

	strcpy(stage->logs, "/tmp/graced-logs-XXXXXX");
	assert_non_null(mkdtemp(stage->logs));
	snprintf(path, sizeof(path), "%s/pods", stage->logs);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/containers", stage->logs);
	assert_int_equal(mkdir(path, 0755), 0);
	for (uint32_t i = 0; i < LIVES; i++)
		if (!is_service(i))
			make_log(stage, i);
}

/* --- the stage --- */

static int setup(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	int r = stage ? tracer_open_tree("cap", NULL, &stage->tree) : -1;

	*state = r > 0 ? stage : NULL;
	if (r <= 0)
		free(stage);
	return r < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;
	struct run_result result;
	int r;

	if (!stage)
		return 0;
	service_free(stage->service);
	if (stage->in)
		fclose(stage->in);
	if (stage->logs[0] &&
	    run(&(struct run_spec){.exe = "/bin/rm",
				   .args = (const char *const[]){"-r", stage->logs, NULL}},
		&result) == 0)
		run_done(&result);
	r = box_tree_close(&stage->tree);
	free(stage);
	return r;
}

static void start(struct stage *stage)
{
	const char *const args[] = {"--scope",
				    "services",
				    "--names.log-directory",
				    stage->logs,
				    "--sinks.file",
				    stage->records,
				    "--metrics.max-series=2000",
				    "--sinks.journal=false",
				    "--budget.cpu",
				    "off", /* else names are what it saves on a busy machine */
				    NULL};

	make_logs(stage);
	snprintf(stage->workload, sizeof(stage->workload), "%s/workload", stage->tree.helpers);
	snprintf(stage->records, sizeof(stage->records), "%s/records", stage->logs);
	assert_int_equal(service_start(&(struct service_spec){.args = args, .tree = &stage->tree},
				       &stage->service),
			 0);
	stage->in = fopen(stage->records, "re");
	assert_non_null(stage->in);
}

/* --- the records --- */

static bool is_named(const json_t *record, uint32_t number)
{
	char namespace_[64], container[64];

	if (is_service(number))
		return jrec_is_null(record, "pod");
	namespace_of(number, namespace_);
	container_of(number, container);
	return !strcmp(jrec_text(record, "pod.namespace"), namespace_) &&
	       !strcmp(jrec_text(record, "container.name"), container);
}

static void take_own(struct stage *stage, const json_t *record)
{
	const char *id = jrec_text(record, "container.id");
	const char *cgroup = jrec_text(record, "container.cgroup"), *at;
	unsigned long number;

	if (strlen(id) == 64) {
		number = strtoul(id + 56, NULL, 16);
	} else {
		at = cgroup + strlen(cgroup) - strlen(".service");
		while (at > cgroup && at[-1] >= '0' && at[-1] <= '9')
			at--;
		number = strtoul(at, NULL, 10);
	}
	assert_true(number < LIVES);
	stage->records_of[number]++;
	stage->n_records++;
	stage->misread += !is_named(record, (uint32_t)number);
}

static void take_record(struct stage *stage, const char *line)
{
	const char *root = box_tree_relative(&stage->tree, stage->tree.root);
	json_t *record;

	if (!strstr(line, "\"type\":\"stop\""))
		return;
	record = json_loads(line, 0, NULL);
	assert_non_null(record);
	/* Sandboxes are no containers to the metrics. */
	stage->stops += strcmp(jrec_text(record, "container.kind"), "sandbox") != 0;
	if (!strncmp(jrec_text(record, "container.cgroup"), root, strlen(root)))
		take_own(stage, record);
	json_decref(record);
}

static void take_records(struct stage *stage)
{
	char *line = NULL;
	size_t size = 0;

	clearerr(stage->in);
	while (getline(&line, &size, stage->in) > 0)
		take_record(stage, line);
	free(line);
}

static void scrape(struct stage *stage, struct buf *page)
{
	bool openmetrics = stage->scrapes++ % 2;
	size_t samples;

	assert_int_equal(
		service_get(stage->service, "/metrics",
			    openmetrics ? "Accept: application/openmetrics-text\r\n" : NULL, page),
		200);
	samples = exporead_page(buf_str(page), openmetrics, NULL, NULL);
	assert_in_range(samples, 1, LIMIT);
	if (samples > stage->most_samples)
		stage->most_samples = samples;
}

/* The memory once it is less than that, for what is free is given back after a while. */
static double resident_below(struct stage *stage, double most)
{
	struct buf page = {};
	double resident = 0;

	for (int i = 0; i < PATIENCE_S * 2; i++) {
		scrape(stage, &page);
		resident = service_sum(buf_str(&page), "process_resident_memory_bytes", NULL);
		if (resident < most)
			break;
		usleep(500000);
	}
	buf_free(&page);
	return resident;
}

/* Lives up to that number come and go while the page is scraped; returns the memory after it. */
static double live_until(struct stage *stage, uint32_t first, uint32_t n, double most)
{
	const struct many_spec spec = {
		.root = stage->tree.root,
		.workload = stage->workload,
		.first = first,
		.n = n,
		.fn = name_life,
	};
	struct buf page = {};
	struct many many;

	assert_int_equal(many_start(&spec, &many), 0);
	while (!many_done(&many)) {
		scrape(stage, &page);
		usleep(100000);
	}
	assert_int_equal(many_wait(&many), 0);
	for (int i = 0; i < 300 && stage->n_records < first + n; i++) {
		usleep(100000);
		take_records(stage);
	}
	buf_free(&page);
	return resident_below(stage, most);
}

/* The page as it was after exactly these stops were reported: others' may come meanwhile. */
static void read_still_page(struct stage *stage, struct buf *page)
{
	uint64_t before;

	do {
		take_records(stage);
		before = stage->stops;
		usleep(300000); /* longer than a page is kept */
		scrape(stage, page);
		take_records(stage);
	} while (stage->stops != before);
}

/* What the kernel half says of itself tells where a stop got lost. */
static void print_events(struct stage *stage)
{
	static const char before[] = "graced_events_";
	struct buf page = {};
	const char *at;

	scrape(stage, &page);
	for (at = buf_str(&page); *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (!strncmp(at, before, strlen(before)))
			print_message("%.*s\n", (int)strcspn(at, "\n"), at);
	buf_free(&page);
}

static void check_records(struct stage *stage)
{
	unsigned int wrong = 0;

	for (uint32_t i = 0; i < LIVES; i++) {
		if (stage->records_of[i] == 1)
			continue;
		wrong++;
		print_message("life %u was reported %u times\n", i, stage->records_of[i]);
	}
	if (wrong)
		print_events(stage);
	assert_int_equal(wrong, 0);
}

static void test_cap(void **state)
{
	struct stage *stage = *state;
	struct buf page = {};
	double half, full;

	if (!stage)
		skip();
	start(stage);
	half = live_until(stage, 0, HALF, INFINITY);
	full = live_until(stage, HALF, LIVES - HALF, half + FLAT_BYTES);
	print_message("%u scrapes of at most %zu samples; %.1f MiB after %d, %.1f MiB after %d\n",
		      stage->scrapes, stage->most_samples, half / (1 << 20), HALF, full / (1 << 20),
		      LIVES);
	check_records(stage);
	assert_int_equal(stage->misread, 0);
	read_still_page(stage, &page);
	assert_int_equal(service_sum(buf_str(&page), "graced_container_stops_total", NULL),
			 stage->stops);
	assert_true(service_sum(buf_str(&page), "graced_container_stops_total",
				"container=\"_other\"") > LIVES / 2);
	assert_true(service_sum(buf_str(&page), "graced_series_absorbed_total", NULL) > 0);
	assert_true(service_sum(buf_str(&page), "graced_series_used_ratio", NULL) == 1);
	assert_true(service_await_log(stage->service, "metrics.maxSeries is too low: "));
	buf_free(&page);
	assert_true(full < half + FLAT_BYTES);
	assert_int_equal(service_stop(stage->service), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("10,000 containers of hostile names stay within the page's limit and the "
		      "memory of 5,000, and each stop counts once",
		      test_cap),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
