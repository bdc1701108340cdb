// SPDX-License-Identifier: Apache-2.0
/* Claims about graced_container_hears and graced_kills_total: real containers that run, and what
 * the daemon finds of them before they are stopped. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/patience.h"

#define METRIC	 "graced_container_hears"
#define SPACE	 "hears-shop"
#define PATIENCE (PATIENCE_S * 10) /* tenths of a second */

static struct box_tree tree;
static struct lognames names;

static int setup(void **state)
{
	const char *why = tracer_unavailable();

	*state = NULL;
	if (!why)
		why = box_unavailable();
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	if (lognames_open(&names) < 0 || box_tree_open(&tree, "hears") < 0)
		return -1;
	*state = &tree;
	return 0;
}

static int teardown(void **state)
{
	lognames_close(&names);
	return *state ? box_tree_close(*state) : 0;
}

static void start(const char *pod, const char *container, const char *behaviour, struct box *box)
{
	struct lognames_of of = {&names, SPACE, pod, container};
	const struct box_spec spec = {
		.argv = BOX_ARGV(behaviour, "0"), .named = lognames_of, .userdata = &of};

	assert_int_equal(box_start(&tree, &spec, box), 0);
}

/* Who hears its stop signal leaves by itself. */
static void stop(struct box *box, bool hears)
{
	struct proc_end end;
	struct sent sent;

	assert_int_equal(send_signal(&tree, SEND_RUNTIME, NULL, box->init_pid, SIGTERM, &sent), 0);
	if (!hears)
		send_signal(&tree, SEND_RUNTIME, NULL, box->init_pid, SIGKILL, &sent);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_int_equal(box_remove(box), 0);
}

/* -1: there is no such series. */
static double value_of(const struct service *service, const char *container, const char *reason)
{
	char label[128];

	snprintf(label, sizeof(label), "container=\"%s\",reason=\"%s\"", container, reason);
	return service_metric(service, METRIC, label);
}

static bool becomes(const struct service *service, const char *container, const char *reason,
		    double value)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (value_of(service, container, reason) == value)
			return true;
		usleep(100000);
	}
	return false;
}

static double count_of(const struct service *service, const char *container)
{
	char label[128];

	snprintf(label, sizeof(label), "container=\"%s\"", container);
	return service_metric(service, METRIC, label);
}

static bool page_has(const struct service *service, const char *text)
{
	_cleanup_(buf_free) struct buf page = {};

	assert_int_equal(service_get(service, "/", NULL, &page), 200);
	return strstr(buf_str(&page), text) != NULL;
}

/* A page may be a moment old. */
static bool page_becomes(const struct service *service, const char *text, bool there)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (page_has(service, text) == there)
			return true;
		usleep(100000);
	}
	return false;
}

static void test_hears(void **state)
{
	const char *const args[] = {"--names.log-directory", names.dir, NULL};
	struct service *service = NULL;
	struct box deaf, twin, ignores, graceful;

	if (!*state)
		skip();
	assert_int_equal(
		service_start(&(struct service_spec){.args = args, .tree = &tree}, &service), 0);
	start("web-1", "web", "deaf", &deaf);
	start("web-2", "web", "graceful", &twin);
	start("job", "job", "sigign", &ignores);
	start("shop", "shop", "graceful", &graceful);
	assert_true(becomes(service, "shop", "handler", 1));
	assert_true(becomes(service, "web", "no-handler", 0));
	assert_true(becomes(service, "job", "ignored", 0));
	assert_true(page_becomes(service,
				 ">hears-shop/web-1/web</td><td class=\"bad\" "
				 "data-h=\"why\">no-handler</td>",
				 true));
	assert_false(page_has(service, ">hears-shop/web-2/web<"));
	/* The worst of two containers of one name counts. */
	assert_true(value_of(service, "web", "handler") == -1);
	assert_true(service_metric(service, "graced_container_deaf_stops_total", NULL) == 0);
	stop(&deaf, false);
	assert_true(becomes(service, "web", "handler", 1));
	assert_true(value_of(service, "web", "no-handler") == -1);
	assert_true(page_becomes(service, "data-h=\"why\">no-handler</td></tr>", false));
	stop(&ignores, false);
	stop(&twin, true);
	stop(&graceful, true);
	assert_true(service_await_metric(service, "graced_container_stops_total", NULL, 4) == 4);
	assert_true(service_metric(service, "graced_kills_total", "sender=\"runtime\"") == 2);
	assert_true(service_metric(service, "graced_kills_total", NULL) == 2);
	assert_true(count_of(service, "web") == -1);
	assert_true(count_of(service, "shop") == -1);
	assert_true(count_of(service, "job") == -1);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("metric and page show a deaf container before it is stopped, and not after",
		      test_hears),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
