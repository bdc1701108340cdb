// SPDX-License-Identifier: Apache-2.0
/* Claims about io/cgroup/fs, on a plain directory tree that stands for a hierarchy. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/cgroup/priv.h"
#include "lib/claim.h"

struct tree {
	char dir[64];
	struct cgfs *cgfs;
	char seen[4096];     /* paths in the order of the visits, one a line */
	const char *stop_at; /* not below this one */
	uint64_t parent[16], id[16];
	size_t n;
};

static int setup(void **state)
{
	static struct tree t;

	memset(&t, 0, sizeof(t));
	strcpy(t.dir, "/tmp/graced-cgfs-XXXXXX");
	if (!mkdtemp(t.dir) || cgfs_open(t.dir, false, &t.cgfs) < 0)
		return -1;
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char command[128];

	cgfs_free(t->cgfs);
	snprintf(command, sizeof(command), "rm -rf -- '%s'", t->dir);
	return system(command);
}

static void make(const struct tree *t, const char *path)
{
	char full[8192];

	snprintf(full, sizeof(full), "%s%s", t->dir, path);
	assert_int_equal(mkdir(full, 0755), 0);
}

static void put(const struct tree *t, const char *path, const char *text)
{
	char full[8192];
	int fd;

	snprintf(full, sizeof(full), "%s%s", t->dir, path);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int visit(void *userdata, const struct cgfs_dir *dir)
{
	struct tree *t = userdata;

	snprintf(t->seen + strlen(t->seen), sizeof(t->seen) - strlen(t->seen), "%s\n", dir->path);
	assert_true(cgfs_dir_exists(dir) || dir->parent_fd < 0);
	t->parent[t->n] = dir->parent_id;
	t->id[t->n++] = dir->id;
	return !t->stop_at || strcmp(dir->path, t->stop_at) != 0;
}

static void test_scan(void **state)
{
	struct tree *t = *state;
	struct cgfs_scan counts;
	char link[128];

	make(t, "/a");
	make(t, "/a/b");
	make(t, "/a/b/.c d\te");
	put(t, "/a/file", "");
	snprintf(link, sizeof(link), "%s/a/b/up", t->dir);
	assert_int_equal(symlink("../..", link), 0);
	assert_int_equal(cgfs_scan(t->cgfs, "/", visit, t, &counts), 0);
	assert_string_equal(t->seen, "/\n/a\n/a/b\n/a/b/.c d\te\n");
	assert_int_equal(counts.visited, 4);
	assert_int_equal(counts.skipped, 0);
	assert_int_equal(t->parent[0], 0);
	for (size_t i = 1; i < t->n; i++)
		assert_int_equal(t->parent[i], t->id[i - 1]);
	t->stop_at = "/a";
	t->seen[0] = 0;
	t->n = 0;
	assert_int_equal(cgfs_scan(t->cgfs, "/", visit, t, NULL), 0);
	assert_string_equal(t->seen, "/\n/a\n");
}

static void test_scan_from(void **state)
{
	struct tree *t = *state;
	uint64_t id;

	make(t, "/a");
	make(t, "/a/b");
	make(t, "/a/b/c");
	make(t, "/other");
	assert_int_equal(cgfs_scan(t->cgfs, "/a/b", visit, t, NULL), 0);
	assert_string_equal(t->seen, "/a/b\n/a/b/c\n");
	assert_int_equal(cgfs_id_of(t->cgfs, "/a/b/c", &id), 0);
	assert_int_equal(id, t->id[1]);
	assert_int_equal(cgfs_scan(t->cgfs, "/gone", visit, t, NULL), -ENOENT);
	assert_int_equal(cgfs_id_of(t->cgfs, "/gone", &id), -ENOENT);
}

static int vanish(void *userdata, const struct cgfs_dir *dir)
{
	struct tree *t = userdata;
	char full[256];

	if (dir->level) {
		snprintf(full, sizeof(full), "%s%s", t->dir, dir->path);
		assert_int_equal(rmdir(full), 0);
		assert_false(cgfs_dir_exists(dir));
		assert_int_equal(mkdir(full, 0755), 0);
	}
	return 1;
}

static void test_vanish(void **state)
{
	struct tree *t = *state;

	make(t, "/a");
	make(t, "/b");
	assert_int_equal(cgfs_scan(t->cgfs, "/", vanish, t, NULL), 0);
}

static int count_level(void *userdata, const struct cgfs_dir *dir)
{
	uint32_t *deepest = userdata;

	if (dir->level > *deepest)
		*deepest = dir->level;
	return 1;
}

static void test_deep(void **state)
{
	struct tree *t = *state;
	struct cgfs_scan counts;
	char path[1024] = "";
	uint32_t deepest = 0;

	for (int i = 0; i < 100; i++) {
		strcat(path, "/d");
		make(t, path);
	}
	assert_int_equal(cgfs_scan(t->cgfs, "/", count_level, &deepest, &counts), 0);
	assert_int_equal(deepest, 64);
	assert_int_equal(counts.skipped, 1);
}

static void test_path_of(void **state)
{
	struct tree *t = *state;
	char path[64];
	uint32_t level;

	make(t, "/a");
	make(t, "/a/b (deleted)");
	assert_int_equal(cgfs_scan(t->cgfs, "/", visit, t, NULL), 0);
	for (size_t i = 0; i < t->n; i++) {
		assert_int_equal(cgfs_path_of(t->cgfs, t->id[i], path, sizeof(path), &level), 0);
		assert_int_equal(level, i);
	}
	assert_string_equal(path, "/a/b (deleted)");
	assert_int_equal(cgfs_path_of(t->cgfs, 1, path, sizeof(path), &level), -ENOENT);
	assert_int_equal(cgfs_path_of(t->cgfs, t->id[2], path, 5, &level), -ENAMETOOLONG);
}

/* A cgroup is absent only when each directory was looked into. */
static void test_path_of_without_descriptors(void **state)
{
	struct tree *t = *state;
	struct rlimit old, few;
	char path[64];
	uint32_t level;
	int fd = dup(0), r[4];

	close(fd);
	make(t, "/a");
	make(t, "/a/b");
	assert_int_equal(cgfs_scan(t->cgfs, "/", visit, t, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	for (size_t i = 0; i < LEN(r); i++) {
		few.rlim_cur = (rlim_t)fd + i;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r[i] = cgfs_path_of(t->cgfs, t->id[2], path, sizeof(path), &level);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(r[0], -EMFILE);
	assert_int_equal(r[1], -E2BIG);
	assert_int_equal(r[2], -E2BIG);
	assert_int_equal(r[3], 0);
}

static int sum(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	uint64_t *total = userdata;

	assert_int_not_equal(cgroup_id, 0);
	*total += (uint64_t)pid;
	return 0;
}

static void test_pids(void **state)
{
	struct tree *t = *state;
	uint64_t total = 0;

	make(t, "/a");
	make(t, "/a/b");
	make(t, "/a/e");
	put(t, "/cgroup.procs", "5\n");
	put(t, "/a/cgroup.procs", "0\n10\n\nx\n99999999999\n-3\n20");
	put(t, "/a/b/cgroup.procs", "300\n");
	put(t, "/a/e/cgroup.procs", "");
	assert_int_equal(cgfs_pids(t->cgfs, "/a", sum, &total), 0);
	assert_int_equal(total, 330);
	assert_int_equal(cgfs_pids(t->cgfs, "/", sum, &total), 0);
	assert_int_equal(total, 665);
	assert_true(cgfs_populated(t->cgfs, "/a"));
	assert_false(cgfs_populated(t->cgfs, "/a/e"));
	assert_false(cgfs_populated(t->cgfs, "/nowhere"));
}

#define MANY 300 /* more than are handled at once */

struct steps {
	unsigned int n;
	uint32_t most; /* work of one */
};

/* In steps of that much work. */
static int kill_in_steps(struct cgfs *cgfs, uint64_t id, uint32_t work, struct steps *ret)
{
	struct cgfs_kill *k;
	int r = cgfs_kill_begin(cgfs, id, &k);

	*ret = (struct steps){};
	if (r <= 0)
		return r;
	do {
		uint32_t left = work;

		r = cgfs_kill_step(k, &left);
		ret->n++;
		ret->most = work - left > ret->most ? work - left : ret->most;
	} while (r > 0);
	cgfs_kill_free(k);
	return r;
}

static int kill_all(struct cgfs *cgfs, uint64_t id)
{
	struct steps steps;

	return kill_in_steps(cgfs, id, 100000, &steps);
}

#define DEEP	  300
#define NAME_LEN  200 /* so that the path is much longer than PATH_MAX */
#define WIDE	  600
#define CROWD_PID 4194304

/* A chain of directories, made from within each other. The last one, open. */
static int dig(const struct tree *t, unsigned int levels, const char *name, const char *procs)
{
	int dir = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), file;

	for (unsigned int i = 0; i < levels; i++) {
		int below;

		assert_int_equal(mkdirat(dir, name, 0755), 0);
		below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		close(dir);
		dir = below;
	}
	file = openat(dir, "cgroup.procs", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(file, procs, strlen(procs)), strlen(procs));
	close(file);
	return dir;
}

static void test_deep_members(void **state)
{
	struct tree *t = *state;
	char name[NAME_LEN + 1] = {};
	uint64_t total = 0;

	memset(name, 'd', NAME_LEN);
	close(dig(t, 70, "c", "70\n"));
	assert_true(cgfs_populated(t->cgfs, "/"));
	assert_int_equal(cgfs_pids(t->cgfs, "/", sum, &total), 0);
	assert_int_equal(total, 70);
	close(dig(t, DEEP, name, "300\n"));
	total = 0;
	assert_int_equal(cgfs_pids(t->cgfs, "/", sum, &total), 0);
	assert_int_equal(total, 370);
}

/* Each directory on the way up has others below it that are still to be visited. */
static void test_wide_members(void **state)
{
	struct tree *t = *state;
	struct rlimit old, few;
	uint64_t total = 0, expected = 0;
	int fd = dup(0);

	for (int i = 0; i < WIDE; i++) {
		char path[64], procs[16];

		snprintf(path, sizeof(path), "/%d", i % 10);
		if (i < 10)
			make(t, path);
		snprintf(path, sizeof(path), "/%d/c%d", i % 10, i);
		make(t, path);
		strcat(path, "/cgroup.procs");
		snprintf(procs, sizeof(procs), "%d\n", i + 1);
		put(t, path, procs);
		expected += (uint64_t)i + 1;
	}
	/* None of it takes a descriptor for each. */
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)fd + 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(cgfs_pids(t->cgfs, "/", sum, &total), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(total, expected);
}

static void put_crowd(const struct tree *t, const char *path, unsigned int n)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", t->dir, path);
	f = fopen(full, "we");
	assert_non_null(f);
	for (unsigned int i = 0; i < n; i++)
		fprintf(f, "%u\n", CROWD_PID + i);
	assert_int_equal(fclose(f), 0);
}

static int count_pid(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	unsigned int *n = userdata;

	assert_int_equal(pid, CROWD_PID + *n);
	++*n;
	return 0;
}

/* 65,536 of them, and the walk ends. */
static void test_crowd(void **state)
{
	struct tree *t = *state;
	unsigned int n = 0;

	make(t, "/a");
	put_crowd(t, "/a/cgroup.procs", 200000);
	assert_true(cgfs_populated(t->cgfs, "/a"));
	assert_int_equal(cgfs_pids(t->cgfs, "/a", count_pid, &n), 0);
	assert_int_equal(n, 65536);
}

static int find_a(void *userdata, const struct cgfs_dir *dir)
{
	struct tree *t = userdata;

	t->id[0] = dir->id;
	return 0;
}

/* No step does more than it may, but for the batch that it is at. */
static void test_steps(void **state)
{
	struct tree *t = *state;
	struct steps steps;

	make(t, "/a");
	make(t, "/a/b");
	for (int i = 0; i < WIDE; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/a/b/%d", i);
		make(t, path);
	}
	put_crowd(t, "/a/cgroup.procs", 5000);
	assert_int_equal(cgfs_scan(t->cgfs, "/a", find_a, t, NULL), 0);
	assert_int_equal(kill_in_steps(t->cgfs, t->id[0], 512, &steps), 0);
	print_message("# %u steps, of %u at most\n", steps.n, steps.most);
	assert_true(steps.n >= (5000 + 2 * WIDE) / (512 + CGFS_BATCH));
	assert_int_equal(steps.most, 512);
}

#define CROWD 20000

/* A list is read again for each batch, up to the last of the batch: that is work, too. */
static void test_steps_of_one_list(void **state)
{
	struct tree *t = *state;
	struct steps steps;

	make(t, "/a");
	put_crowd(t, "/a/cgroup.procs", CROWD);
	assert_int_equal(cgfs_scan(t->cgfs, "/a", find_a, t, NULL), 0);
	assert_int_equal(kill_in_steps(t->cgfs, t->id[0], 2048, &steps), 0);
	print_message("# %u steps\n", steps.n);
	assert_true(steps.n >= CROWD / CGFS_BATCH);
}

/* What could not be looked at is not taken for empty. */
static void test_not_visited(void **state)
{
	struct tree *t = *state;
	struct rlimit old, few;
	struct steps steps;
	int fd = dup(0), r;
	bool populated;

	close(fd);
	make(t, "/a");
	make(t, "/a/b");
	assert_int_equal(cgfs_scan(t->cgfs, "/a", find_a, t, NULL), 0);
	assert_false(cgfs_populated(t->cgfs, "/a"));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	populated = cgfs_populated(t->cgfs, "/a");
	/* One more, to find the cgroup. */
	few.rlim_cur++;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = kill_in_steps(t->cgfs, t->id[0], 512, &steps);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_true(populated);
	assert_int_equal(r, -EMFILE);
}

static void test_unified(void **state)
{
	struct tree *t = *state;
	struct cgfs *cgfs;
	uint64_t oom = 9, below = 9;

	assert_int_equal(cgfs_open(t->dir, true, &cgfs), 0);
	make(t, "/a");
	make(t, "/b");
	put(t, "/a/cgroup.procs", "");
	put(t, "/a/cgroup.events", "populated 1\nfrozen 0\n");
	put(t, "/a/memory.events.local", "low 0\noom_kill 7\noom 3\n");
	put(t, "/a/memory.events", "low 0\noom_kill 9\noom 5\n");
	put(t, "/b/cgroup.events", "populated 0\n");
	put(t, "/b/cgroup.procs", "44\n");
	put(t, "/b/memory.events.local", "oom 1\n");
	assert_true(cgfs_populated(cgfs, "/a"));
	assert_false(cgfs_populated(cgfs, "/b"));
	assert_int_equal(cgfs_oom_events(cgfs, "/a", &oom, &below), 0);
	assert_int_equal(oom, 3);
	assert_int_equal(below, 2);
	assert_int_equal(cgfs_oom_events(cgfs, "/b", &oom, &below), -ENOENT);
	assert_int_equal(cgfs_oom_events(t->cgfs, "/a", &oom, &below), -ENOENT);
	assert_int_equal(oom, 3);
	cgfs_free(cgfs);
}

/* A plain directory lists them for ever, as one does that is slow to let the dead go. */
static void test_kill(void **state)
{
	struct tree *t = *state;
	char procs[MANY * 12] = "";
	struct steps steps;
	pid_t pids[MANY];
	int status;

	for (size_t i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		assert_true(pids[i] > 0);
		sprintf(procs + strlen(procs), "%d\n", pids[i]);
	}
	make(t, "/a");
	put(t, "/a/cgroup.procs", procs);
	assert_int_equal(cgfs_scan(t->cgfs, "/", visit, t, NULL), 0);
	assert_int_equal(kill_in_steps(t->cgfs, t->id[1], 1, &steps), 0);
	/* Two rounds of two batches each. */
	assert_true(steps.n >= 4);
	for (size_t i = 0; i < MANY; i++) {
		kill(pids[i], SIGTERM);
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
	assert_int_equal(kill_all(t->cgfs, t->id[0]), -EPERM);
	assert_int_equal(kill_all(t->cgfs, 1), -ENOENT);
}

/* What is listed has gone before it can be sent anything, and has left another behind. */
static void test_kill_left_behind(void **state)
{
	struct tree *t = *state;
	struct cgfs_kill *k;
	char procs[16];
	uint32_t work = 1;
	int status, r;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	make(t, "/a");
	put_crowd(t, "/a/cgroup.procs", 1);
	assert_int_equal(cgfs_scan(t->cgfs, "/a", find_a, t, NULL), 0);
	assert_int_equal(cgfs_kill_begin(t->cgfs, t->id[0], &k), 1);
	/* So much reads the list. */
	assert_int_equal(cgfs_kill_step(k, &work), 1);
	sprintf(procs, "%d\n", pid);
	put(t, "/a/cgroup.procs", procs);
	do {
		work = 1;
		r = cgfs_kill_step(k, &work);
	} while (r > 0);
	cgfs_kill_free(k);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(r, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

#define FEW 8

/* A process that could not be signalled must not count as done. */
static void test_kill_without_descriptors(void **state)
{
	struct tree *t = *state;
	char procs[FEW * 12] = "";
	struct rlimit old, few;
	pid_t pids[FEW];
	int r, fd = dup(0);

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < FEW; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		assert_true(pids[i] > 0);
		sprintf(procs + strlen(procs), "%d\n", pids[i]);
	}
	make(t, "/a");
	put(t, "/a/cgroup.procs", procs);
	assert_int_equal(cgfs_scan(t->cgfs, "/", visit, t, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)fd + FEW;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = kill_all(t->cgfs, t->id[1]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(r, -EMFILE);
	for (size_t i = 0; i < FEW; i++) {
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	r = kill_all(t->cgfs, t->id[1]);
	assert_int_equal(r, 0);
}

/* Directories that have who may make cgroups in them in their names. */
static const struct {
	const char *path;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint32_t level; /* that its own name counts for */
} lent[] = {
	{"/a", 0755, 0, 0, 0},	     {"/a/b", 0755, 65534, 0, 0}, {"/a/b/c", 0755, 0, 0, 3},
	{"/a/b/c/d", 0755, 0, 0, 3}, {"/a/g", 0775, 0, 65534, 0}, {"/a/g/c", 0755, 0, 0, 3},
	{"/a/o", 0757, 0, 0, 0},     {"/a/o/c", 0755, 0, 0, 3},	  {"/a/r", 0775, 0, 65534, 0},
	{"/a/w", 0775, 0, 0, 0},     {"/a/w/c", 0755, 1, 1, 0},	  {"/a/u", 0755, 0, 65534, 0},
	{"/a/u/c", 0755, 0, 0, 0},
};

static int check_lent(void *userdata, const struct cgfs_dir *dir)
{
	size_t *seen = userdata;

	for (size_t i = 0; i < LEN(lent); i++) {
		if (strcmp(lent[i].path, dir->path) != 0)
			continue;
		(*seen)++;
		if (dir->delegated_level != lent[i].level)
			fail_msg("%s: %u", dir->path, dir->delegated_level);
	}
	return 1;
}

static void test_delegated(void **state)
{
	struct tree *t = *state;
	size_t seen = 0;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < LEN(lent); i++) {
		char full[256];

		make(t, lent[i].path);
		snprintf(full, sizeof(full), "%s%s", t->dir, lent[i].path);
		assert_int_equal(chown(full, lent[i].uid, lent[i].gid), 0);
		assert_int_equal(chmod(full, lent[i].mode), 0);
	}
	for (size_t i = 0; i < LEN(lent); i++)
		if (cgfs_delegated_level(t->cgfs, lent[i].path) != lent[i].level)
			fail_msg("%s: %u", lent[i].path,
				 cgfs_delegated_level(t->cgfs, lent[i].path));
	assert_int_equal(cgfs_delegated_level(t->cgfs, "/"), 0);
	assert_int_equal(cgfs_delegated_level(t->cgfs, "/a/b/gone/c"), 3);
	/* What is not there may have been anybody's. */
	assert_int_equal(cgfs_delegated_level(t->cgfs, "/a/gone/c"), 3);
	assert_int_equal(cgfs_scan(t->cgfs, "/", check_lent, &seen, NULL), 0);
	assert_int_equal(cgfs_scan(t->cgfs, "/a/b/c", check_lent, &seen, NULL), 0);
	assert_int_equal(seen, LEN(lent) + 2);
	assert_int_equal(chmod(t->dir, 0757), 0);
	assert_int_equal(cgfs_delegated_level(t->cgfs, "/a/b/c"), 1);
}

static void test_open_dir(void **state)
{
	struct tree *t = *state;
	uint64_t id;
	int dir;

	make(t, "/a");
	make(t, "/b");
	assert_int_equal(cgfs_id_of(t->cgfs, "/a", &id), 0);
	dir = cgfs_open_dir(t->cgfs, "/a", id);
	assert_true(dir >= 0);
	close(dir);
	assert_int_equal(cgfs_open_dir(t->cgfs, "/b", id), -ENOENT);
	assert_int_equal(cgfs_open_dir(t->cgfs, "/c", id), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"a scan visits parents first, directories only, and follows no link", test_scan,
		 setup, teardown, NULL},
		{"a scan may begin anywhere", test_scan_from, setup, teardown, NULL},
		{"one that was removed and made anew is not the one visited", test_vanish, setup,
		 teardown, NULL},
		{"a scan ends at its bound of depth and says so", test_deep, setup, teardown, NULL},
		{"a cgroup's path is found by its id", test_path_of, setup, teardown, NULL},
		{"a cgroup is not absent for lack of descriptors", test_path_of_without_descriptors,
		 setup, teardown, NULL},
		{"the processes at and below a cgroup are read, odd lines are not", test_pids,
		 setup, teardown, NULL},
		{"processes are found at any depth, also beyond the longest path",
		 test_deep_members, setup, teardown, NULL},
		{"a walk over thousands of cgroups takes three descriptors", test_wide_members,
		 setup, teardown, NULL},
		{"a list of processes is read however long it is, up to the bound of a look",
		 test_crowd, setup, teardown, NULL},
		{"a step of a kill is bounded by its work", test_steps, setup, teardown, NULL},
		{"what a step reads of one long list is its work", test_steps_of_one_list, setup,
		 teardown, NULL},
		{"what cannot be looked at is neither empty nor killed", test_not_visited, setup,
		 teardown, NULL},
		{"everybody in a cgroup is killed in turn, however slow they are to leave",
		 test_kill, setup, teardown, NULL},
		{"what was left behind by those that had gone is killed, too",
		 test_kill_left_behind, setup, teardown, NULL},
		{"a process not reached for want of a descriptor is not taken for gone",
		 test_kill_without_descriptors, setup, teardown, NULL},
		{"a path where another cgroup is by now does not lead to it", test_open_dir, setup,
		 teardown, NULL},
		{"what somebody else than root could name is known by the directory above it",
		 test_delegated, setup, teardown, NULL},
		{"a unified hierarchy is asked by its own files", test_unified, setup, teardown,
		 NULL},
	};

	return cmocka_run_group_tests_name("io/cgroup/fs", tests, NULL, NULL);
}
