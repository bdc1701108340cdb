// SPDX-License-Identifier: Apache-2.0
// Start containers that end at random moments, and note when the last process of each did.
#include "lib/box/ends.h"

#include "lib/box/page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MS	 1000000ULL
#define PODS	 50  /* containers share them */
#define GAP_MS	 20  /* without a process, of one that gets another */
#define AFTER_MS 200 /* by which one outlasts all but the refilled and the late ones */

enum way { PLAIN, FORKS, REMOVED, MOVES, REFILLED, LATE };

struct ends_life {
	char dir[HIER_PATH_MAX];
	enum way way;
	uint64_t end_ms;   /* of the first process; of one that is made late, when it is made */
	uint64_t later_ms; /* of the last one, where that is another */
	uint64_t last_ns;  /* read by the last process before it exits; 0: not yet */
	pid_t pid;
};

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = {.tv_sec = (time_t)(at_ns / 1000000000u),
			      .tv_nsec = (long)(at_ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* The last thing that a container does. */
static void finish(struct ends_life *life) __attribute__((noreturn));
static void finish(struct ends_life *life)
{
	__atomic_store_n(&life->last_ns, page_clock_ns(), __ATOMIC_RELEASE);
	_exit(0);
}

static void check(int r)
{
	if (r < 0)
		_exit(1);
}

/* Leaves its end to a child, which is in the container from its first moment. */
static void pass_on(struct ends_life *life, uint64_t go_ns) __attribute__((noreturn));
static void pass_on(struct ends_life *life, uint64_t go_ns)
{
	pid_t pid = fork();

	check(pid);
	if (pid > 0)
		_exit(0);
	sleep_until(go_ns + life->later_ms * MS);
	finish(life);
}

/* Between two cgroups below the container's, whose own is empty. */
static void move_about(struct ends_life *life, uint64_t go_ns)
{
	char dirs[2][HIER_PATH_MAX + 4];

	for (int i = 0; i < 2; i++) {
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%c", life->dir, 'a' + i);
		check(mkdir(dirs[i], 0755));
	}
	for (unsigned int i = 0; page_clock_ns() < go_ns + life->end_ms * MS; i++) {
		check(cg_enter(dirs[i % 2], getpid()));
		usleep(300);
	}
}

static void await_go(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

/* The container's first process. */
static void live(struct ends_life *life, const uint64_t *go_ns, int fd) __attribute__((noreturn));
static void live(struct ends_life *life, const uint64_t *go_ns, int fd)
{
	check(cg_enter(life->dir, getpid()));
	await_go(fd);
	if (life->way == MOVES)
		move_about(life, *go_ns);
	else
		sleep_until(*go_ns + life->end_ms * MS);
	if (life->way == FORKS)
		pass_on(life, *go_ns);
	if (life->way == REFILLED)
		_exit(0);
	finish(life);
}

/* A child of a process outside, which reaps it. */
static void live_outside(struct ends_life *life, const uint64_t *go_ns, int fd, bool second)
{
	pid_t pid = fork();

	check(pid);
	if (pid == 0 && second) {
		check(cg_enter(life->dir, getpid()));
		sleep_until(*go_ns + life->later_ms * MS);
		finish(life);
	}
	if (pid == 0)
		live(life, go_ns, fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* A runtime that works on its container from outside of it. */
static void drive(struct ends_life *life, const uint64_t *go_ns, int fd) __attribute__((noreturn));
static void drive(struct ends_life *life, const uint64_t *go_ns, int fd)
{
	if (life->way == LATE) {
		await_go(fd);
		sleep_until(*go_ns + life->end_ms * MS);
		check(mkdir(life->dir, 0755));
		live_outside(life, go_ns, fd, true);
		_exit(0);
	}
	live_outside(life, go_ns, fd, false);
	if (life->way == REFILLED) {
		usleep(GAP_MS * 1000);
		live_outside(life, go_ns, fd, true);
	}
	if (life->way == REMOVED)
		check(cg_remove(life->dir));
	_exit(0);
}

static int begin(struct ends *ends, size_t i, int fd)
{
	struct ends_life *life = &ends->lives[i];
	bool driven = life->way == LATE || life->way == REFILLED || life->way == REMOVED;

	life->pid = fork();
	if (life->pid < 0)
		return -errno;
	if (life->pid > 0)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(ends->hold_fd);
	if (driven)
		drive(life, ends->go_ns, fd);
	live(life, ends->go_ns, fd);
}

/* Number 0 is there until all but those are gone that outlast it. */
static void plan(struct box_tree *tree, struct ends_life *life, size_t i, uint64_t within_ms)
{
	static const enum way ways[] = {PLAIN, FORKS, REMOVED, MOVES, PLAIN, PLAIN, PLAIN, PLAIN};
	uint64_t random = box_tree_random(tree);

	life->way = i == 1 ? REFILLED : i == 2 ? LATE : i ? ways[i % 8] : PLAIN;
	life->end_ms = random % within_ms;
	life->later_ms = life->end_ms + 1 + (random >> 32) % GAP_MS;
	if (i == 0)
		life->end_ms = within_ms + AFTER_MS / 2;
	if (i == 1 || i == 2) {
		life->end_ms /= 2;
		life->later_ms = within_ms + AFTER_MS + random % AFTER_MS;
	}
}

static int make(struct box_tree *tree, struct ends_life *life, size_t i)
{
	char pod[HIER_PATH_MAX];
	int n, r;

	n = snprintf(pod, sizeof(pod), "%s/kubepods/burstable/pod%08x-0000-4000-8000-%012zx",
		     tree->root, (unsigned int)getpid(), i % PODS);
	r = n < (int)sizeof(pod) ? hier_make(&tree->hier, pod, true) : -ENAMETOOLONG;
	if (r)
		return r;
	n = snprintf(life->dir, sizeof(life->dir), "%s/%016llx%016llx%016llx%016zx", pod,
		     (unsigned long long)box_tree_random(tree),
		     (unsigned long long)box_tree_random(tree),
		     (unsigned long long)box_tree_random(tree), i);
	if (n >= (int)sizeof(life->dir))
		return -ENAMETOOLONG;
	return life->way == LATE ? 0 : hier_make(&tree->hier, life->dir, false);
}

/* Whether its first process is where it is to be. */
static bool has_begun(const struct ends_life *life)
{
	return life->way == LATE || cg_pids(life->dir, NULL, 0) > 0;
}

static int await_begun(const struct ends *ends)
{
	for (size_t i = 0; i < ends->n; i++)
		for (int tries = 0; !has_begun(&ends->lives[i]); tries++) {
			if (tries == 30000)
				return -ETIMEDOUT;
			usleep(1000);
		}
	return 0;
}

int ends_start(struct box_tree *tree, size_t n, uint64_t within_ms, struct ends *ret)
{
	size_t bytes = sizeof(*ret->go_ns) + n * sizeof(*ret->lives);
	int fds[2], r = 0;

	*ret = (struct ends){.n = n, .hold_fd = -1};
	ret->go_ns = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ret->go_ns == MAP_FAILED) {
		ret->go_ns = NULL;
		return -ENOMEM;
	}
	ret->lives = (struct ends_life *)(ret->go_ns + 1);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	ret->hold_fd = fds[1];
	for (size_t i = 0; i < n && r == 0; i++) {
		plan(tree, &ret->lives[i], i, within_ms);
		r = make(tree, &ret->lives[i], i);
		if (r == 0)
			r = begin(ret, i, fds[0]);
	}
	close(fds[0]);
	return r ? r : await_begun(ret);
}

void ends_go(struct ends *ends, uint64_t lead_ms)
{
	*ends->go_ns = page_clock_ns() + lead_ms * MS;
	close(ends->hold_fd);
	ends->hold_fd = -1;
}

uint64_t ends_last_ns(const struct ends *ends, size_t *ret_running)
{
	uint64_t last_ns = 0;

	*ret_running = 0;
	for (size_t i = 0; i < ends->n; i++) {
		uint64_t ns = __atomic_load_n(&ends->lives[i].last_ns, __ATOMIC_ACQUIRE);

		*ret_running += ns == 0;
		if (ns > last_ns)
			last_ns = ns;
	}
	return last_ns;
}

void ends_free(struct ends *ends)
{
	if (!ends->go_ns)
		return;
	if (ends->hold_fd >= 0)
		close(ends->hold_fd);
	for (size_t i = 0; i < ends->n; i++) {
		struct ends_life *life = &ends->lives[i];

		if (life->pid <= 0)
			continue;
		/* What drives one that has ended only removes it. */
		if (!life->last_ns)
			kill(life->pid, SIGKILL);
		waitpid(life->pid, NULL, 0);
	}
	munmap(ends->go_ns, sizeof(*ends->go_ns) + ends->n * sizeof(*ends->lives));
	*ends = (struct ends){.hold_fd = -1};
}
