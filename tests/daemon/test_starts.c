// SPDX-License-Identifier: Apache-2.0
/* Claims about what the daemon leaves behind after a hundred starts and stops: nothing. */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/kobjects.h"
#include "lib/kernel/tracer.h"
#include "lib/patience.h"

#define STARTS	100
#define AT_ONCE 4

/* *state is not NULL where it can run. */
static int setup(void **state)
{
	static char here;
	const char *why = tracer_unavailable();

	*state = why ? NULL : &here;
	if (why)
		fprintf(stderr, "skipped: %s\n", why);
	return 0;
}

static pid_t started[STARTS];
static unsigned int n_started;

static struct service *start(bool wait)
{
	const struct service_spec spec = {.no_wait = !wait};
	struct service *service = NULL;

	assert_int_equal(service_start(&spec, &service), 0);
	started[n_started++] = service_pid(service);
	return service;
}

static void stop(struct service *service)
{
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

static unsigned int n_left;

/* A pin or a cgroup that is named after us and one of our daemons: others have such, too. */
static int count_ours(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	const char *name = path + at->base, *pid = strrchr(name, '-');

	for (unsigned int i = 0; pid && strncmp(name, "graced", 6) == 0 && i < n_started; i++)
		if (atoi(pid + 1) == started[i]) {
			print_error("%s is there\n", path);
			n_left++;
		}
	return 0;
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
static void print_memory(const char *when)
{
	fprintf(stderr, "%s: Slab %ld kB, Percpu %ld kB\n", when,
		read_number("/proc/meminfo", "Slab:"), read_number("/proc/meminfo", "Percpu:"));
}

static void expect_nothing_left(const struct kobjects *before, const struct kobjects *ours)
{
	struct kobjects left = {};

	/* The kernel frees programs after a while. */
	for (int i = 0; i < PATIENCE_S * 10; i++) {
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
	struct service *service = start(true);

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
		services[i] = start(false);
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
	long stats;

	if (!*state)
		skip();
	assert_int_equal(kobjects_all(&before), 0);
	stats = read_number("/proc/sys/kernel/bpf_stats_enabled", "");
	learn_ours(&ours);
	print_memory("before");
	for (unsigned int done = 1; done < STARTS; done += AT_ONCE)
		live_and_die(STARTS - done < AT_ONCE ? STARTS - done : AT_ONCE);
	print_memory("after");
	expect_nothing_left(&before, &ours);
	nftw("/sys/fs/bpf", count_ours, 16, FTW_PHYS);
	nftw("/sys/fs/cgroup", count_ours, 16, FTW_PHYS);
	assert_int_equal(n_left, 0);
	assert_int_equal(read_number("/proc/sys/kernel/bpf_stats_enabled", ""), stats);
	kobjects_free(&before);
	kobjects_free(&ours);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a hundred starts and stops leave nothing in the kernel", test_starts),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
