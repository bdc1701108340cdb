// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what the daemon gathers in one long life: nothing; and the sanitizers of its other
 * build have nothing to say.
 */
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"

#define ROUNDS	   5 /* the first is for it to settle */
#define SCRAPES	   200
#define HANGUPS	   40
#define CONTAINERS 100
#define GROWTH	   (128 << 10) /* bytes; what is lost for good the sanitizers find to the byte */

#define ASAN_STARTS 20

struct stage {
	struct box_tree tree;
};

static int setup(void **state)
{
	static struct stage stage;
	int r = tracer_open_tree("life", NULL, &stage.tree);

	*state = r > 0 ? &stage : NULL;
	return r < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	return stage ? box_tree_close(&stage->tree) : 0;
}

static struct service *start(const struct stage *stage, const char *const *args)
{
	const struct service_spec spec = {.args = args, .tree = &stage->tree};
	struct service *service = NULL;

	assert_int_equal(service_start(&spec, &service), 0);
	return service;
}

static void stop(struct service *service)
{
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

/* --- one long life --- */

static unsigned int n_files;

static int count_file(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	n_files++;
	return 0;
}

static void run_container(struct stage *stage)
{
	struct proc_end end;
	struct box box;

	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
}

static void hang_up(struct service *service)
{
	unsigned int so_far = service_notified(service, "READY=1");

	assert_int_equal(kill(service_pid(service), SIGHUP), 0);
	assert_true(service_await(service, "READY=1", so_far + 1));
}

static void scrape(struct service *service)
{
	struct buf page = {};

	assert_int_equal(service_get(service, "/metrics", NULL, &page), 200);
	assert_true(service_sum(buf_str(&page), "process_open_fds", NULL) > 0);
	buf_free(&page);
}

static unsigned int count_fds(const struct service *service)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)service_pid(service));
	n_files = 0;
	assert_int_equal(nftw(path, count_file, 16, FTW_PHYS), 0);
	return n_files;
}

/* It has one more while it samples what the programs cost, for a tenth of each second. */
static unsigned int open_fds(const struct service *service)
{
	unsigned int least = count_fds(service);

	for (int i = 0; i < 4; i++) {
		unsigned int n;

		usleep(130000);
		n = count_fds(service);
		least = n < least ? n : least;
	}
	return least;
}

static long resident(const struct service *service)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)service_pid(service));
	file = fopen(path, "re");
	assert_non_null(file);
	while (kib < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, "RssAnon:", 8) == 0)
			kib = strtol(line + 8, NULL, 10);
	fclose(file);
	assert_true(kib > 0);
	return kib * 1024;
}

static void live(struct stage *stage, struct service *service)
{
	for (int i = 0; i < SCRAPES; i++) {
		scrape(service);
		if (i % (SCRAPES / HANGUPS) == 0)
			hang_up(service);
		if (i % (SCRAPES / CONTAINERS) == 0)
			run_container(stage);
	}
}

static void test_long_life(void **state)
{
	struct stage *stage = *state;
	struct service *service;
	unsigned int fds = 0;
	long bytes = 0;
	char path[96];

	if (!stage)
		skip();
	snprintf(path, sizeof(path), "%s/records", stage->tree.tmp);
	service = start(stage, BOX_ARGV("--sinks.file", path, "--budget.cpu", "off"));
	for (int round = 0; round < ROUNDS; round++) {
		live(stage, service);
		/* Others' containers on this host are counted, too. */
		assert_true(service_await_metric(service, "graced_container_stops_total", NULL,
						 (round + 1) * CONTAINERS) >=
			    (round + 1) * CONTAINERS);
		if (round == 0) {
			fds = open_fds(service);
			bytes = resident(service);
		}
		fprintf(stderr, "round %d: %u descriptors, %ld bytes\n", round, open_fds(service),
			resident(service));
	}
	assert_int_equal(open_fds(service), fds);
	assert_true(resident(service) <= bytes + GROWTH);
	stop(service);
	unlink(path);
}

/* --- the build with sanitizers --- */

/* It lies beside the program; NULL when it was not built. */
static const char *asan_program(char ret[PATH_MAX])
{
	const char *graced = getenv("GRACED"), *slash = graced ? strrchr(graced, '/') : NULL;

	if (!slash)
		return NULL;
	snprintf(ret, PATH_MAX, "%.*s/asan/graced", (int)(slash - graced), graced);
	return access(ret, X_OK) < 0 ? NULL : ret;
}

static void test_sanitizers(void **state)
{
	struct stage *stage = *state;
	char program[PATH_MAX], path[96], *plain;

	if (!stage || !asan_program(program)) {
		fprintf(stderr, "skipped: there is no build with sanitizers\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/records", stage->tree.tmp);
	plain = strdup(getenv("GRACED"));
	setenv("GRACED", program, 1);
	for (int i = 0; i < ASAN_STARTS; i++) {
		struct service *service =
			start(stage, BOX_ARGV("--sinks.file", path, "--sinks.signals=true"));

		scrape(service);
		run_container(stage);
		hang_up(service);
		assert_true(service_await_metric(service, "graced_container_stops_total", NULL,
						 1) >= 1);
		/* It says what is wrong by its exit status, too. */
		stop(service);
	}
	setenv("GRACED", plain, 1);
	free(plain);
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("scrapes, reloads and containers leave it no bigger than it was",
		      test_long_life),
		CLAIM("the sanitizers find nothing and no leak in whole lives of it",
		      test_sanitizers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
