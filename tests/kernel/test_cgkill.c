// SPDX-License-Identifier: Apache-2.0
// Processes are found and killed one by one, as on a v1 hierarchy, wherever in their container's
// cgroups they are and while they fork; no step of it does more than it may.
#include "app/daemon/stopper.h"
#include "io/cgroup/fs.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/patience.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FORKS	   300
#define FORKS_TEXT "300"
#define HOPS	   20

static struct box_tree tree;
static struct cgfs *cgfs;
static bool usable;

static int open_tree(void **state)
{
	const char *why = box_unavailable();

	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	if (box_tree_open(&tree, "cgkill") < 0)
		return -1;
	usable = true;
	/* Not as a unified one, whose kernel would do it all. */
	return cgfs_open(tree.hier.mount, false, &cgfs);
}

static int close_tree(void **state)
{
	cgfs_free(cgfs);
	return usable ? box_tree_close(&tree) : 0;
}

static void start(struct box *box, const char *prog, const char *const *argv)
{
	const struct box_spec spec = {.prog = prog, .argv = argv, .host_pidns = true};

	if (!usable)
		skip();
	assert_int_equal(box_start(&tree, &spec, box), 0);
}

struct steps {
	unsigned int n;
	uint32_t most;
};

static int kill_box(const struct box *box, struct steps *ret)
{
	struct cgfs_kill *k;
	uint64_t id;
	int r;

	*ret = (struct steps){};
	assert_int_equal(cgfs_id_of(cgfs, box->path, &id), 0);
	assert_int_equal(cgfs_kill_begin(cgfs, id, &k), 1);
	do {
		uint32_t work = KILLER_WORK;

		r = cgfs_kill_step(k, &work);
		ret->n++;
		if (KILLER_WORK - work > ret->most)
			ret->most = KILLER_WORK - work;
	} while (r > 0);
	cgfs_kill_free(k);
	return r;
}

static void await_empty(const struct box *box)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;

	while (cgfs_populated(cgfs, box->path)) {
		assert_true(clock_boot_ns() < until);
		usleep(1000);
	}
}

/* A cgroup so many levels below the box's, in which a child sleeps. */
static pid_t put_below(const struct box *box, unsigned int levels)
{
	int dir = open(box->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), procs;
	pid_t parent = getpid(), pid;
	char text[16];

	for (unsigned int i = 0; i < levels; i++) {
		int below;

		assert_true(mkdirat(dir, "d", 0755) == 0 || i < 70);
		below = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		close(dir);
		dir = below;
	}
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			pause();
		_exit(1);
	}
	snprintf(text, sizeof(text), "%d", pid);
	procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(procs, text, strlen(text)), strlen(text));
	close(procs);
	close(dir);
	return pid;
}

static void expect_killed(pid_t pid)
{
	int status;

	/* The end of this test, should it not have been found. */
	alarm(PATIENCE_NS / 1000000000);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	alarm(0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* Each is the only process left when it is looked for. */
static void no_depth_hides_a_process(void **state)
{
	static const unsigned int levels[] = {70, 300};
	struct steps steps;
	struct box box;

	start(&box, NULL, BOX_ARGV("graceful"));
	proc_free(&box.proc);
	await_empty(&box);
	for (size_t i = 0; i < LEN(levels); i++) {
		pid_t pid = put_below(&box, levels[i]);

		assert_true(cgfs_populated(cgfs, box.path));
		assert_int_equal(kill_box(&box, &steps), 0);
		expect_killed(pid);
		assert_false(cgfs_populated(cgfs, box.path));
	}
	assert_int_equal(cg_sweep(box.dir), 0);
	box_remove(&box);
}

static unsigned int count(const struct box *box)
{
	return (unsigned int)cg_pids(box->dir, NULL, 0);
}

static void forking_does_not_outrun_it(void **state)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	struct steps steps;
	struct box box;
	int r;

	start(&box, "forker", BOX_ARGV(FORKS_TEXT));
	while (count(&box) < FORKS) {
		assert_true(clock_boot_ns() < until);
		usleep(1000);
	}
	r = kill_box(&box, &steps);
	print_message("# %u steps, of %u at most\n", steps.n, steps.most);
	assert_int_equal(r, 0);
	assert_true(steps.most <= KILLER_WORK);
	await_empty(&box);
	assert_int_equal(box_remove(&box), 0);
}

/* A process that makes another and leaves, which makes another and leaves ... */
static void hop(const char *dir, const volatile bool *end)
{
	if (cg_enter(dir, getpid()) < 0)
		_exit(1);
	while (!*end) {
		pid_t pid = fork();

		if (pid)
			_exit(pid < 0);
	}
	_exit(0);
}

/* Its first process. Those that have left are not waited for, and make room at once. */
static pid_t start_hopping(const struct box *box, const volatile bool *end)
{
	pid_t pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		hop(box->dir, end);
	return pid;
}

static void await_next(const struct box *box, pid_t first)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	pid_t pid = first;

	while (pid == first || cg_pids(box->dir, &pid, 1) < 1) {
		assert_true(clock_boot_ns() < until);
		if (cg_pids(box->dir, &pid, 1) < 1)
			pid = first;
	}
}

static void leaving_does_not_outrun_it(void **state)
{
	volatile bool *end =
		mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct steps steps;
	struct box box;

	assert_true(end != MAP_FAILED);
	start(&box, NULL, BOX_ARGV("graceful"));
	proc_free(&box.proc);
	for (int i = 0; i < HOPS; i++) {
		uint64_t until = clock_boot_ns() + PATIENCE_NS;
		int r;

		await_empty(&box);
		await_next(&box, start_hopping(&box, end));
		r = kill_box(&box, &steps);
		assert_true(steps.most <= KILLER_WORK);
		while (r == 0 && cgfs_populated(cgfs, box.path) && clock_boot_ns() < until)
			usleep(1000);
		*end = cgfs_populated(cgfs, box.path);
		assert_int_equal(r, 0);
		assert_false(*end);
	}
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	assert_int_equal(box_remove(&box), 0);
	munmap((void *)end, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a process 70 or 300 levels below its container is found and killed",
		      no_depth_hides_a_process),
		CLAIM("processes that fork are killed to the last, in bounded steps",
		      forking_does_not_outrun_it),
		CLAIM("a process that leaves as soon as it has made another is killed",
		      leaving_does_not_outrun_it),
	};

	return cmocka_run_group_tests(tests, open_tree, close_tree);
}
