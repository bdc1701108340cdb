// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the status page of a daemon whose containers, and whose node, have names full of
 * markup: who may read it, and what a browser makes of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

#define CHROMIUM "/usr/bin/chromium"
#define USERS                        \
	"basic_auth_users:\n  joe: " \
	"$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
#define JOE   "Authorization: Basic am9lOnNlY3JldA==\r\n"
#define NODE  "<script>document.title='ran'</script>"
#define LEAF  "<img src=x onerror=document.title='ran'>\"&amp;<b>%u.service"
#define LIVES 3

struct stage {
	struct box_tree tree;
	struct service *service;
	char users[96], profile[96];
};

static int setup(void **state)
{
	static struct stage stage;

	*state = NULL;
	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (box_tree_open(&stage.tree, "page") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	return stage ? box_tree_close(&stage->tree) : 0;
}

static int clear(void **state)
{
	struct stage *stage = *state;
	struct run_result result;

	if (!stage)
		return 0;
	stage->service = service_free(stage->service);
	unlink(stage->users);
	if (stage->profile[0] &&
	    run(&(struct run_spec){.exe = "/bin/rm", .args = BOX_ARGV("-rf", stage->profile)},
		&result) == 0)
		run_done(&result);
	stage->profile[0] = '\0';
	return 0;
}

static void name_life(void *userdata, uint32_t number, struct many_life *ret)
{
	snprintf(ret->leaf, sizeof(ret->leaf), LEAF, number);
}

static void live(struct stage *stage)
{
	char workload[HIER_PATH_MAX + 16];
	const struct many_spec spec = {
		.root = stage->tree.root, .workload = workload, .n = LIVES, .fn = name_life};
	struct many many;

	snprintf(workload, sizeof(workload), "%s/workload", stage->tree.helpers);
	assert_int_equal(many_start(&spec, &many), 0);
	assert_int_equal(many_wait(&many), 0);
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 LIVES) >= LIVES);
	usleep(300000); /* a page is kept for a moment */
}

static void start(struct stage *stage, const char *option, const char *value)
{
	const struct service_spec spec = {
		.args = BOX_ARGV("--sinks.journal=false", "--names.enabled=false", "--scope",
				 "services", "--node-name", NODE, option, value),
		.tree = &stage->tree,
	};

	assert_int_equal(service_start(&spec, &stage->service), 0);
}

static void a_name_is_no_markup(void **state)
{
	_cleanup_(buf_free) struct buf page = {};
	struct stage *stage = *state;

	if (!stage)
		skip();
	start(stage, NULL, NULL);
	live(stage);
	assert_int_equal(service_get(stage->service, "/", NULL, &page), 200);
	assert_non_null(strstr(buf_str(&page), "<h1>graced on &lt;script&gt;document"));
	assert_non_null(strstr(buf_str(&page), "&lt;img src=x onerror=document.title=&#39;ran"));
	assert_null(strstr(buf_str(&page), "<img"));
	assert_null(strstr(buf_str(&page), "<b>"));
	assert_null(strstr(buf_str(&page), "<script>document"));
}

static void only_who_may_scrape_reads_it(void **state)
{
	_cleanup_(buf_free) struct buf page = {};
	struct stage *stage = *state;
	FILE *f;

	if (!stage)
		skip();
	snprintf(stage->users, sizeof(stage->users), "%s/web.yml", stage->tree.tmp);
	f = fopen(stage->users, "we");
	assert_non_null(f);
	fputs(USERS, f);
	fclose(f);
	assert_int_equal(chmod(stage->users, 0600), 0);
	start(stage, "--web.config.file", stage->users);
	assert_int_equal(service_get(stage->service, "/", NULL, &page), 401);
	assert_null(strstr(buf_str(&page), "graced on"));
	assert_int_equal(service_get(stage->service, "/", JOE, &page), 200);
	assert_non_null(strstr(buf_str(&page), "graced on"));
}

/* What is in the document after 12 seconds of the browser's own time. */
static void browse(struct stage *stage, struct run_result *ret)
{
	char profile[112], url[64];

	snprintf(stage->profile, sizeof(stage->profile), "/tmp/graced-chromium-XXXXXX");
	assert_non_null(mkdtemp(stage->profile));
	snprintf(profile, sizeof(profile), "--user-data-dir=%s", stage->profile);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", service_port(stage->service));
	assert_int_equal(
		run(&(struct run_spec){.exe = "/usr/bin/timeout",
				       .args = BOX_ARGV(
					       "-k", "2", "50", CHROMIUM, "--headless",
					       "--no-sandbox", "--disable-gpu", "--disable-quic",
					       "--no-first-run", "--disable-background-networking",
					       "--disable-component-update", "--disable-sync",
					       profile, "--virtual-time-budget=12000", "--dump-dom",
					       url)},
		    ret),
		0);
	assert_int_equal(ret->status, 0);
}

static void a_browser_runs_nothing_of_a_name(void **state)
{
	struct stage *stage = *state;
	struct run_result result;
	double asked;

	if (!stage || access(CHROMIUM, X_OK) < 0) {
		fprintf(stderr, "skipped: no " CHROMIUM "\n");
		skip();
	}
	start(stage, NULL, NULL);
	live(stage);
	asked = service_metric(stage->service, "graced_http_requests_total", "code=\"2xx\"");
	browse(stage, &result);
	/* Its own script ran, which the policy knows by its hash, and it renewed the page. */
	assert_non_null(strstr(result.out, "data-renews=\"true\""));
	assert_true(service_metric(stage->service, "graced_http_requests_total", "code=\"2xx\"") >=
		    asked + 3);
	assert_non_null(strstr(result.out, "<h1>graced on &lt;script&gt;document.title='ran'"));
	assert_non_null(strstr(result.out, "&lt;img src=x onerror="));
	/* No element came from a name, and no script of one ran. */
	assert_null(strstr(result.out, "<img"));
	assert_null(strstr(result.out, "<b>"));
	assert_null(strstr(result.out, "<title>ran"));
	assert_null(strstr(result.out, "id=\"lost\" class=\"bad\">"));
	run_done(&result);
}

#define PAGE_CLAIM(sentence, function)                \
	{                                             \
		sentence, function, NULL, clear, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAGE_CLAIM("on the status page no name is markup", a_name_is_no_markup),
		PAGE_CLAIM("who needs a password for the metrics needs it for the status page",
			   only_who_may_scrape_reads_it),
		PAGE_CLAIM("a browser runs no script but the page's own, and renews the page",
			   a_browser_runs_nothing_of_a_name),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
