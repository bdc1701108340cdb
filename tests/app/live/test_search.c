// SPDX-License-Identifier: Apache-2.0
/* Claims about app/live/scan: the search for inits where a part of it fails. A plain directory tree
 * stands for a hierarchy; the kernel half's maps and ring are played here (see --wrap in the
 * Makefile). */
#include "app/live/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/claim.h"

#define LONG_AGO_NS 20000000000ull
#define POD	    "/kubepods/pod01234567-89ab-cdef-0123-456789abcdef"
#define CONTAINER   POD "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct {
	bool written; /* a record is being written, so that the ring is not read to its end */
	uint32_t init;
	bool leaves; /* the init, once it was read */
	unsigned int pids_listed;
	unsigned int steps, failing_step; /* over the processes of a container; 0: none fails */
} half;

bool __wrap_ring_drain(struct ring *ring);
int __wrap_kern_init_get(const struct kern *kern, uint64_t id, struct graced_init *ret);
int __wrap_kern_init_add(struct kern *kern, uint64_t id, const struct graced_init *init);
int __wrap_kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret);

int __real_cgfs_pids(struct cgfs *cgfs, const char *path, cgfs_pid_fn fn, void *userdata);
int __wrap_cgfs_pids(struct cgfs *cgfs, const char *path, cgfs_pid_fn fn, void *userdata);
int __wrap_kern_watch_add(struct kern *kern, uint64_t id, const struct graced_watch *watch);
int __real_cgfs_members_step(struct cgfs_members *members, cgfs_batch_fn fn, void *userdata,
			     uint32_t *work);
int __wrap_cgfs_members_step(struct cgfs_members *members, cgfs_batch_fn fn, void *userdata,
			     uint32_t *work);

int __wrap_cgfs_members_step(struct cgfs_members *members, cgfs_batch_fn fn, void *userdata,
			     uint32_t *work)
{
	int r = __real_cgfs_members_step(members, fn, userdata, work);

	return ++half.steps == half.failing_step ? -ENOMEM : r;
}

int __wrap_cgfs_pids(struct cgfs *cgfs, const char *path, cgfs_pid_fn fn, void *userdata)
{
	if (half.leaves && half.pids_listed++)
		return 0;
	return __real_cgfs_pids(cgfs, path, fn, userdata);
}

int __wrap_kern_watch_add(struct kern *kern, uint64_t id, const struct graced_watch *watch)
{
	return 0;
}

bool __wrap_ring_drain(struct ring *ring)
{
	return !half.written;
}

int __wrap_kern_init_get(const struct kern *kern, uint64_t id, struct graced_init *ret)
{
	return -ENOENT;
}

int __wrap_kern_init_add(struct kern *kern, uint64_t id, const struct graced_init *init)
{
	half.init = init->pid;
	return 0;
}

int __wrap_kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret)
{
	return -ENOENT;
}

struct site {
	char dir[64], container[256];
	struct options options;
	struct cgfs *cgfs;
	struct feed *feed;
	struct scan *scan;
	pid_t pid; /* the container's process */
};

static void make(const char *path)
{
	assert_int_equal(mkdir(path, 0755), 0);
}

static pid_t start(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void fill(const struct site *t)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", t->container);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%d\n", t->pid);
	assert_int_equal(fclose(f), 0);
}

/* The engine has known it for long. */
static void found(struct site *t)
{
	struct stat st;
	struct obs obs;

	assert_int_equal(stat(t->container, &st), 0);
	feed_begin(&obs, OBS_CGROUP_FOUND);
	obs.at_ns -= LONG_AGO_NS;
	obs.cgroup.id = st.st_ino;
	obs.cgroup.kind = GRACED_WATCH_CONTAINER;
	strcpy(obs.cgroup.path, CONTAINER);
	feed_obs(t->feed, &obs);
}

static int setup(void **state)
{
	static struct site t;
	struct scan_parts parts = {.options = &t.options};
	const struct feed_sink sink = {};

	memset(&half, 0, sizeof(half));
	t = (struct site){.dir = "/tmp/graced-search-XXXXXX"};
	options_init(&t.options, "trace");
	if (!mkdtemp(t.dir) || cgfs_open(t.dir, false, &t.cgfs) < 0 ||
	    feed_new(&t.options.engine, &sink, &t.feed) < 0)
		return -1;
	parts.cgfs = t.cgfs;
	parts.feed = t.feed;
	if (scan_new(&parts, &t.scan) < 0)
		return -1;
	for (const char *end = CONTAINER; (end = strchr(end + 1, '/'));) {
		snprintf(t.container, sizeof(t.container), "%s%.*s", t.dir, (int)(end - CONTAINER),
			 CONTAINER);
		make(t.container);
	}
	snprintf(t.container, sizeof(t.container), "%s%s", t.dir, CONTAINER);
	make(t.container);
	t.pid = start();
	fill(&t);
	found(&t);
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	struct site *t = *state;
	char command[128];

	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	scan_free(t->scan);
	feed_free(t->feed);
	cgfs_free(t->cgfs);
	snprintf(command, sizeof(command), "rm -rf -- '%s'", t->dir);
	return system(command);
}

static void test_whole(void **state)
{
	struct site *t = *state;

	scan_find_inits(t->scan, true);
	assert_int_equal(half.init, t->pid);
}

static void test_part(void **state)
{
	struct site *t = *state;

	/* The first step reads what they are, the second whether they are still there. */
	for (unsigned int step = 1; step <= 2; step++) {
		half.steps = half.init = 0;
		half.failing_step = step;
		scan_find_inits(t->scan, true);
		assert_int_equal(half.steps, step);
		assert_int_equal(half.init, 0);
	}
	scan_find_inits(t->scan, true);
	assert_int_equal(half.init, t->pid);
}

static void test_attach(void **state)
{
	struct site *t = *state;

	half.leaves = true;
	assert_int_equal(scan_all(t->scan), 0);
	assert_int_equal(half.pids_listed, 2);
	assert_int_equal(half.init, 0);
	half.leaves = false;
	assert_int_equal(scan_all(t->scan), 0);
	assert_int_equal(half.init, t->pid);
}

static void test_written(void **state)
{
	struct site *t = *state;

	half.written = true;
	scan_find_inits(t->scan, true);
	assert_int_equal(half.init, 0);
	scan_find_inits(t->scan, false);
	assert_int_equal(half.init, 0);
	half.written = false;
	scan_find_inits(t->scan, false);
	assert_int_equal(half.init, t->pid);
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("an init is chosen among all processes of a container", test_whole),
		TEST("no init is chosen where a part of them could not be read", test_part),
		TEST("nor one at the start that has left since it was read", test_attach),
		TEST("a round that a record in the making puts off begins with the next chores",
		     test_written),
	};

	return cmocka_run_group_tests_name("app/live/scan", tests, NULL, NULL);
}
