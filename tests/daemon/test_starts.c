// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what the daemon leaves behind and what it gathers: nothing, after a thousand starts
 * and stops or in one long life; and the sanitizers of its other build have nothing to say.
 */
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/box.h"
#include "lib/claim.h"
#include "lib/kobjects.h"
#include "lib/service.h"
#include "lib/tracer.h"

#define STARTS	 1000
#define AT_ONCE	 4
#define PATIENCE 300 /* tenths of a second: the kernel frees programs after a while */

#define ROUNDS	   5 /* of a long life; the first is for it to settle */
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
	const char *why = tracer_unavailable();

	*state = NULL;
	if (!why)
		why = box_unavailable();
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	if (box_tree_open(&stage.tree, "starts") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	return stage ? box_tree_close(&stage->tree) : 0;
}

static struct service *start(const char *const *args, bool wait)
{
	const struct service_spec spec = {.args = args, .no_wait = !wait};
	struct service *service = NULL;

	assert_int_equal(service_start(&spec, &service), 0);
	return service;
}

static void stop(struct service *service)
{
	int status = service_stop(service);

	if (status) {
		char *log = service_log(service);

		print_error("%s\n", log);
		free(log);
	}
	assert_int_equal(status, 0);
	service_free(service);
}

/* --- a thousand lives --- */

static unsigned int n_files;

static int count_file(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)path;
	(void)st;
	(void)flag;
	(void)at;
	n_files++;
	return 0;
}

static unsigned int count_pins(void)
{
	n_files = 0;
	nftw("/sys/fs/bpf", count_file, 16, FTW_PHYS);
	return n_files;
}

/* A cgroup named after us: others' tests have such, too, but with the pid of a living process. */
static int find_cgroup(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	const char *name = path + at->base, *pid = strrchr(name, '-');
	char proc[32];

	(void)st;
	if (flag != FTW_D || strncmp(name, "graced", 6) != 0)
		return 0;
	snprintf(proc, sizeof(proc), "/proc/%.10s", pid ? pid + 1 : "-");
	if (access(proc, F_OK) < 0)
		print_error("%s is there\n", path);
	n_files += access(proc, F_OK) < 0;
	return 0;
}

static unsigned int count_cgroups(void)
{
	n_files = 0;
	nftw("/sys/fs/cgroup", find_cgroup, 16, FTW_PHYS);
	return n_files;
}

static long read_number(const char *path, const char *after)
{
	FILE *file = fopen(path, "re");
	char line[256];
	long number = -1;

	while (file && number < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, after, strlen(after)) == 0)
			number = strtol(line + strlen(after), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* For people: what the kernel holds is everybody's. */
static void tell_memory(const char *when)
{
	fprintf(stderr, "%s: Slab %ld kB, Percpu %ld kB\n", when,
		read_number("/proc/meminfo", "Slab:"), read_number("/proc/meminfo", "Percpu:"));
}

static void expect_nothing_left(const struct kobjects *before, const struct kobjects *ours)
{
	struct kobjects left = {};

	for (int i = 0; i < PATIENCE; i++) {
		kobjects_free(&left);
		assert_int_equal(kobjects_left(before, ours, &left), 0);
		if (!left.n)
			break;
		usleep(100000);
	}
	for (size_t i = 0; i < left.n && i < 20; i++)
		print_error("type %d id %u name '%s' is left\n", (int)left.list[i].type,
			    left.list[i].id, left.list[i].name);
	assert_int_equal(left.n, 0);
}

/* What one daemon has in the kernel, so that the search below knows what to look for. */
static void learn_ours(struct kobjects *ret)
{
	struct service *service = start(NULL, true);

	assert_int_equal(kobjects_of(service_pid(service), ret), 0);
	assert_true(kobjects_count(ret, KOBJECT_PROGRAM) >= 6);
	assert_true(kobjects_count(ret, KOBJECT_LINK) >= 6);
	assert_true(kobjects_count(ret, KOBJECT_MAP) >= 6);
	assert_true(kobjects_count(ret, KOBJECT_BTF) >= 1);
	stop(service);
}

static void live_and_die(unsigned int n)
{
	struct service *services[AT_ONCE];

	for (unsigned int i = 0; i < n; i++)
		services[i] = start(NULL, false);
	for (unsigned int i = 0; i < n; i++)
		assert_true(service_await(services[i], "READY=1", 1));
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(kill(service_pid(services[i]), SIGTERM), 0);
	for (unsigned int i = 0; i < n; i++)
		stop(services[i]);
}

static void test_starts(void **state)
{
	struct kobjects before = {}, ours = {};
	unsigned int pins, cgroups;
	long stats;

	if (!*state)
		skip();
	assert_int_equal(kobjects_all(&before), 0);
	pins = count_pins();
	cgroups = count_cgroups();
	stats = read_number("/proc/sys/kernel/bpf_stats_enabled", "");
	learn_ours(&ours);
	tell_memory("before");
	for (unsigned int done = 1; done < STARTS; done += AT_ONCE)
		live_and_die(STARTS - done < AT_ONCE ? STARTS - done : AT_ONCE);
	tell_memory("after");
	expect_nothing_left(&before, &ours);
	assert_int_equal(count_pins(), pins);
	assert_int_equal(count_cgroups(), cgroups);
	assert_int_equal(read_number("/proc/sys/kernel/bpf_stats_enabled", ""), stats);
	kobjects_free(&before);
	kobjects_free(&ours);
}

/* --- one long life --- */

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
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)service_pid(service));
	return read_number(path, "RssAnon:") * 1024;
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
	service = start(BOX_ARGV("--sinks.file", path, "--budget.cpu", "off"), true);
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
			start(BOX_ARGV("--sinks.file", path, "--sinks.signals=true"), true);

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
		CLAIM("a thousand starts and stops leave nothing in the kernel", test_starts),
		CLAIM("scrapes, reloads and containers leave it no bigger than it was",
		      test_long_life),
		CLAIM("the sanitizers find nothing and no leak in whole lives of it",
		      test_sanitizers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
