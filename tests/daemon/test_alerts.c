// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the queries of graced-run(8), with a real Prometheus that scrapes before, during and
 * after one container of each kind has stopped once: those that compare are alerts, which fire then
 * and did not before.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/prom.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/net/jwtgen.h"
#include "lib/patience.h"

#define PAGE	    "docs/graced-run.8"
#define CREDENTIALS 10 /* the query about them */
#define QUERIES_MAX 16
#define SPACE	    "alerts-shop"
#define SCRAPES	    4		      /* that have seen the containers before anything happens */
#define PATIENCE    (PATIENCE_S * 10) /* tenths of a second */
#define MIB	    (1024ull * 1024)

/* In the order of the page: by which container the query fires, NULL: for no container. */
static const char *const fires_for[] = {
	"stuck", "stuck", "hungry", "job", "victim", NULL, NULL, NULL, NULL, NULL, NULL,
};

/* Half a year of its life is left, and an hour. */
static const struct {
	const char *source;
	int64_t left_s;
	bool fires;
} credentials[] = {{"kubelet", 180 * 86400, false}, {"api", 3600, true}};

/* One that stops at the end, so that it is asked for its p95. */
enum { STUCK, HUNGRY, JOB, VICTIM, CONTAINERS };

static const struct {
	const char *name;
	const char *argv[4];
	uint64_t memory;
} containers[CONTAINERS] = {
	[STUCK] = {"stuck", {"deaf"}, 0},
	[HUNGRY] = {"hungry", {"wait", "oom"}, 16 * MIB},
	[JOB] = {"job", {"wait", "exit", "3"}, 0},
	[VICTIM] = {"victim", {"graceful"}, 0},
};

struct stage {
	struct box_tree tree;
	struct service *service;
	struct prom *prom;
	struct lognames names;
	char tokens[LEN(credentials)][64];
	struct box boxes[CONTAINERS];
	char *queries[QUERIES_MAX + 1];
	size_t n_queries;
};

/* As mdoc has it: \(dq is a quotation mark. */
static char *unescape(const char *line)
{
	char *text = strdup(line), *to = text;

	for (const char *from = text; *from && *from != '\n';) {
		bool quote = strncmp(from, "\\(dq", 4) == 0;

		*to++ = quote ? '"' : *from;
		from += quote ? 4 : 1;
	}
	*to = '\0';
	return text;
}

static int read_queries(struct stage *stage)
{
	FILE *page = fopen(PAGE, "re");
	bool within = false;
	char line[1024];

	if (!page)
		return -1;
	while (fgets(line, sizeof(line), page)) {
		if (strncmp(line, ".Ss ", 4) == 0 || strncmp(line, ".Sh ", 4) == 0)
			within = strcmp(line, ".Ss Queries\n") == 0;
		else if (within && strncmp(line, ".Dl ", 4) == 0 && stage->n_queries < QUERIES_MAX)
			stage->queries[stage->n_queries++] = unescape(line + 4);
	}
	return fclose(page);
}

static int start_boxes(struct stage *stage)
{
	for (int i = 0; i < CONTAINERS; i++) {
		char pod[32];
		struct lognames_of of = {&stage->names, SPACE, pod, containers[i].name};
		const struct box_spec spec = {
			.argv = containers[i].argv,
			.memory = containers[i].memory,
			.named = lognames_of,
			.userdata = &of,
		};

		snprintf(pod, sizeof(pod), "pod-%d", i);
		if (box_start(&stage->tree, &spec, &stage->boxes[i]) < 0)
			return -1;
	}
	return 0;
}

static int write_tokens(struct stage *stage)
{
	int64_t now = time(NULL);

	for (size_t i = 0; i < LEN(credentials); i++) {
		int64_t expires = now + credentials[i].left_s;
		char token[JWTGEN_SIZE];
		FILE *file;
		int fd;

		strcpy(stage->tokens[i], "/tmp/graced-token-XXXXXX");
		fd = mkstemp(stage->tokens[i]);
		file = fd < 0 ? NULL : fdopen(fd, "we");
		if (!file)
			return -1;
		fputs(jwtgen_life(expires - 360 * 86400, expires, token), file);
		fclose(file);
	}
	return 0;
}

/* Nobody listens where the kubelet and the API server should be. */
static int setup(void **state)
{
	static struct stage stage;
	const char *const args[] = {"--names.log-directory",
				    stage.names.dir,
				    "--sinks.journal=false",
				    "--budget.cpu=off",
				    "--kubelet.url",
				    "https://127.0.0.1:9",
				    "--kubelet.ca",
				    stage.tokens[0],
				    "--kubelet.token-file",
				    stage.tokens[0],
				    "--api.url",
				    "https://127.0.0.1:9",
				    "--api.ca",
				    stage.tokens[0],
				    "--api.token-file",
				    stage.tokens[1],
				    "--node-name",
				    "node-1",
				    NULL};
	const char *why = tracer_unavailable() ? tracer_unavailable() : prom_unavailable();

	*state = NULL;
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	*state = &stage;
	if (read_queries(&stage) < 0 || write_tokens(&stage) < 0 ||
	    lognames_open(&stage.names) < 0 || box_tree_open(&stage.tree, "alerts") < 0)
		return -1;
	if (service_start(&(struct service_spec){.args = args, .tree = &stage.tree},
			  &stage.service) < 0 ||
	    start_boxes(&stage) < 0)
		return -1;
	/* One that always fires shows that rules are evaluated. */
	stage.queries[stage.n_queries] = strdup("vector(1)");
	return prom_start_rules(service_port(stage.service), (const char *const *)stage.queries,
				stage.n_queries + 1, &stage.prom);
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	prom_free(stage->prom);
	service_free(stage->service);
	lognames_close(&stage->names);
	for (size_t i = 0; i < LEN(credentials); i++)
		unlink(stage->tokens[i]);
	for (size_t i = 0; i <= stage->n_queries; i++)
		free(stage->queries[i]);
	return box_tree_close(&stage->tree);
}

static void test_known(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	assert_int_equal(stage->n_queries, LEN(fires_for));
}

static double value(const struct stage *stage, const char *query)
{
	return prom_value(stage->prom, query);
}

static bool await(const struct stage *stage, const char *query, double least)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (value(stage, query) >= least)
			return true;
		usleep(100000);
	}
	print_message("%s is %g\n", query, value(stage, query));
	return false;
}

/* How many alerts of the query fire for our containers; -1: none. */
static double fires(const struct stage *stage, size_t i, const char *container)
{
	char query[256];

	snprintf(query, sizeof(query),
		 "count(ALERTS{alertname=\"query%zu\",alertstate=\"firing\",namespace=\"" SPACE
		 "\"%s%s%s})",
		 i, container ? ",container=\"" : "", container ? container : "",
		 container ? "\"" : "");
	return value(stage, query);
}

static void test_before(void **state)
{
	struct stage *stage = *state;
	char query[256];

	if (!stage)
		skip();
	/* Every one has been 0 on several pages, and the rules were evaluated. */
	for (int i = 0; i < CONTAINERS; i++) {
		snprintf(
			query, sizeof(query),
			"min(count_over_time(graced_oom_kills_total{job=\"graced\",namespace=\"" SPACE
			"\",container=\"%s\"}[1h]))",
			containers[i].name);
		assert_true(await(stage, query, SCRAPES));
	}
	snprintf(query, sizeof(query),
		 "count(ALERTS{alertname=\"query%zu\",alertstate=\"firing\"})", stage->n_queries);
	assert_true(await(stage, query, 1));
	for (size_t i = 0; i < LEN(fires_for); i++)
		assert_true(fires(stage, i, NULL) == -1);
	assert_true(value(stage,
			  "sum({__name__=~\"graced_container_.*_total|graced_oom_kills_total\","
			  "job=\"graced\",namespace=\"" SPACE "\"})") == 0);
}

static void end_lives(struct stage *stage)
{
	struct proc_end end;

	page_go(stage->boxes[HUNGRY].proc.page, 1);
	page_go(stage->boxes[JOB].proc.page, 1);
	assert_int_equal(kill(stage->boxes[STUCK].init_pid, SIGTERM), 0);
	assert_int_equal(kill(stage->boxes[STUCK].init_pid, SIGKILL), 0);
	assert_int_equal(kill(stage->boxes[VICTIM].init_pid, SIGKILL), 0);
	for (int i = 0; i < CONTAINERS; i++) {
		assert_int_equal(proc_wait(&stage->boxes[i].proc, &end), 0);
		assert_int_equal(box_remove(&stage->boxes[i]), 0);
	}
}

static void test_after(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	end_lives(stage);
	for (size_t i = 0; i < LEN(fires_for); i++) {
		for (int n = 0; fires_for[i] && n < PATIENCE && fires(stage, i, fires_for[i]) < 1;
		     n++)
			usleep(100000);
		if (fires_for[i] && fires(stage, i, fires_for[i]) < 1)
			fail_msg("%s does not fire for %s", stage->queries[i], fires_for[i]);
	}
	/* Each for whom it is about, and for nobody else of ours. */
	for (size_t i = 0; i < LEN(fires_for); i++)
		if (fires_for[i] && i != 4)
			assert_true(fires(stage, i, NULL) == 1);
}

static void test_answers(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	for (size_t i = 0; i < stage->n_queries; i++) {
		json_t *result = prom_query(stage->prom, stage->queries[i]);

		if (!json_is_array(result))
			fail_msg("Prometheus does not answer %s", stage->queries[i]);
		json_decref(result);
	}
}

static void test_credentials(void **state)
{
	struct stage *stage = *state;
	char query[256];

	if (!stage)
		skip();
	for (size_t i = LEN(credentials); i-- > 0;) {
		snprintf(query, sizeof(query),
			 "count(ALERTS{alertname=\"query%d\",alertstate=\"firing\",job=\"graced\","
			 "source=\"%s\"})",
			 CREDENTIALS, credentials[i].source);
		if (credentials[i].fires)
			assert_true(await(stage, query, 1));
		else
			assert_true(value(stage, query) == -1);
		snprintf(query, sizeof(query),
			 "count(graced_credential_expiry_timestamp_seconds{job=\"graced\","
			 "source=\"%s\"})",
			 credentials[i].source);
		assert_true(value(stage, query) == 1);
	}
}

/* A scrape's own labels are those of the pod that is scraped. */
static void test_labels(void **state)
{
	static const char honoured[] = "count(graced_container_deaf_stops_total{job=\"graced\","
				       "namespace=\"" SPACE "\",container=\"stuck\"})";
	static const char renamed[] =
		"count(graced_container_deaf_stops_total{job=\"renamed\","
		"namespace=\"graced\",container=\"graced\",exported_namespace=\"" SPACE
		"\",exported_container=\"stuck\"})";
	struct stage *stage = *state;

	if (!stage)
		skip();
	assert_true(value(stage, honoured) == 1);
	assert_true(value(stage, renamed) == 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each query of the page is known here", test_known),
		CLAIM("before anything happens counters are 0 and no alert fires", test_before),
		CLAIM("an alert fires for the first event of its kind", test_after),
		CLAIM("Prometheus answers each query of the page", test_answers),
		CLAIM("an alert fires for the credential that expires soon, for no other",
		      test_credentials),
		CLAIM("with honor_labels a container's labels are its own, without they are renamed",
		      test_labels),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
