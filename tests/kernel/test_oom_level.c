// SPDX-License-Identifier: Apache-2.0
// At which level memory ran out, as the kernel half records it: the container, a cgroup of its own
// below it, or one above that is not watched.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB	  (1024 * 1024)
/* More than there is; the kernel rounds it to its highest. */
#define NO_LIMIT  INT64_MAX
#define SANDBOX	  (4 * MIB)
#define CONTAINER "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int setup(void **state)
{
	return kernhalf_open(state, "oom-level");
}
#define OTHER "/fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

struct scene {
	struct kernhalf *k;
	char container[HIER_PATH_MAX], below[HIER_PATH_MAX];
};

static void make(struct kernhalf *k, struct scene *s)
{
	s->k = k;
	snprintf(s->container, sizeof(s->container), "%.400s" CONTAINER, k->tree.root);
	snprintf(s->below, sizeof(s->below), "%.500s/below", s->container);
	assert_int_equal(hier_make(&k->tree.hier, s->container, true), 0);
	assert_int_equal(hier_make(&k->tree.hier, s->below, false), 0);
}

/* A process in the cgroup below the container takes more than any limit. */
static void run_out(const char *dir)
{
	const size_t size = 96 * MIB;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		void *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		if (all == MAP_FAILED || cg_enter(dir, getpid()))
			_exit(1);
		memset(all, 1, size);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void expect_level_in(const struct scene *s, const char *dir, uint32_t flags, uint64_t level)
{
	run_out(dir);
	kernhalf_drain(s->k);
	assert_int_equal(s->k->n_ooms, 1);
	assert_int_equal(s->k->ooms[0].hdr.watch_id, kernhalf_id(s->container));
	/* What comes in first is taken for the init. */
	assert_int_equal(s->k->ooms[0].flags & ~(uint32_t)GRACED_OOM_INIT, flags);
	assert_int_equal(s->k->ooms[0].level_id, level);
}

static void expect_level(const struct scene *s, uint32_t flags, uint64_t level)
{
	expect_level_in(s, s->below, flags, level);
}

static void limit(const struct scene *s, const char *dir, uint64_t bytes)
{
	assert_int_equal(hier_limit_memory(&s->k->tree.hier, dir, bytes), 0);
}

static void the_level_is_that_of_the_limit(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct scene s;

	if (!k->tree.hier.memory)
		skip();
	make(k, &s);
	/* Nothing above it is watched. */
	assert_int_equal(kern_watch_delete(k->kern, kernhalf_id(k->tree.root)), 0);
	limit(&s, k->tree.root, 48 * MIB);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN, 0);
	limit(&s, s.container, 32 * MIB);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN, kernhalf_id(s.container));
	limit(&s, s.below, 16 * MIB);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN | GRACED_OOM_BELOW, 0);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN | GRACED_OOM_BELOW, 0);
	/* What was counted below before is no reason to take the next for one of there. */
	limit(&s, s.below, NO_LIMIT);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN, kernhalf_id(s.container));
	limit(&s, s.container, NO_LIMIT);
	expect_level(&s, k->tree.hier.unified ? GRACED_OOM_LEVEL_KNOWN : 0, 0);
	assert_int_equal(cg_sweep(s.container), 0);
}

/* A sandbox beside the container, whose memory is the pod's, too. */
static pid_t start_sandbox(const struct scene *s, const char *dir)
{
	const size_t size = SANDBOX;
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(hier_make(&s->k->tree.hier, dir, false), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		void *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		if (all == MAP_FAILED || cg_enter(dir, getpid()))
			_exit(1);
		memset(all, 1, size);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* The first number in a cgroup's file that follows the word, or the first if that is NULL. */
static uint64_t number_in(const char *dir, const char *name, const char *after)
{
	char path[HIER_PATH_MAX + 64], word[64] = "";
	unsigned long long number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%.500s/%s", dir, name);
	file = fopen(path, "re");
	assert_non_null(file);
	while (after && strcmp(word, after) != 0)
		assert_int_equal(fscanf(file, "%63s", word), 1);
	assert_int_equal(fscanf(file, "%llu", &number), 1);
	fclose(file);
	return number;
}

/* Whether the limit of a cgroup itself was hit: v2 counts that, v1 has the peak, which is less than
 * the sandbox's memory below the limit then. */
static bool was_hit(const struct scene *s, const char *dir)
{
	if (s->k->tree.hier.unified)
		return number_in(dir, "memory.events.local", "max") > 0;
	return number_in(dir, "memory.max_usage_in_bytes", NULL) > 32 * MIB - SANDBOX / 2;
}

/* A limit that is the container's and the pod's: the sandbox's memory counts to the pod's alone. */
static void an_equal_limit_of_the_pod_is_reached_first(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const char *pod = k->tree.root;
	char sandbox[HIER_PATH_MAX];
	struct scene s;
	pid_t pid;

	if (!k->tree.hier.memory)
		skip();
	make(k, &s);
	snprintf(sandbox, sizeof(sandbox), "%.400s/sandbox", pod);
	pid = start_sandbox(&s, sandbox);
	limit(&s, pod, 32 * MIB);
	limit(&s, s.container, 32 * MIB);
	if (!k->tree.hier.unified)
		assert_int_equal(cg_write(pod, "memory.max_usage_in_bytes", "0"), 0);
	assert_false(was_hit(&s, pod));
	run_out(s.below);
	kernhalf_drain(k);
	assert_true(was_hit(&s, pod));
	assert_false(was_hit(&s, s.container));
	assert_int_equal(k->n_ooms, 1);
	assert_int_equal(k->ooms[0].level_id, kernhalf_id(pod));
	assert_true(k->ooms[0].flags & GRACED_OOM_LEVEL_KNOWN);
	assert_int_equal(k->ooms[0].limit, 32 * MIB);
	assert_int_equal(k->ooms[0].level_limit, 32 * MIB);

	/* A larger one of the pod is not, and what has no limit has none. */
	limit(&s, pod, 64 * MIB);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN, kernhalf_id(s.container));
	assert_int_equal(k->ooms[0].level_limit, 32 * MIB);
	assert_true(was_hit(&s, s.container));
	limit(&s, s.container, NO_LIMIT);
	expect_level(&s, GRACED_OOM_LEVEL_KNOWN, kernhalf_id(pod));
	assert_int_equal(k->ooms[0].limit, 0);
	assert_int_equal(k->ooms[0].level_limit, 64 * MIB);

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(cg_sweep(sandbox), 0);
	assert_int_equal(cg_sweep(s.container), 0);
	limit(&s, pod, NO_LIMIT);
	kernhalf_drain(k);
}

static int share(void *arg)
{
	while (pause())
		;
	return 0;
}

/* In the container: another process has the same memory, and is moved elsewhere by the test. */
static pid_t start_sharing(const struct scene *s, int go, pid_t *ret_child)
{
	static char stack[MIB] __attribute__((aligned(16)));
	int told[2];
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const size_t size = 96 * MIB;
		void *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
		pid_t child;
		char byte;

		if (all == MAP_FAILED || cg_enter(s->container, getpid()))
			_exit(1);
		child = clone(share, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		(void)!write(told[1], &child, sizeof(child));
		(void)!read(go, &byte, 1);
		memset(all, 1, size);
		_exit(0);
	}
	assert_int_equal(read(told[0], ret_child, sizeof(*ret_child)), sizeof(*ret_child));
	close(told[0]);
	close(told[1]);
	return pid;
}

static const struct graced_ev_oom *oom_in(const struct kernhalf *k, const char *dir)
{
	for (size_t i = 0; i < k->n_ooms; i++)
		if (k->ooms[i].hdr.watch_id == kernhalf_id(dir))
			return &k->ooms[i];
	return NULL;
}

/* The memory of one container runs out, and what shares the victim's is in another. */
static void what_is_elsewhere_has_no_level(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_oom *oom;
	char other[HIER_PATH_MAX];
	int go[2], status;
	struct scene s;
	pid_t pid, child;

	if (!k->tree.hier.memory)
		skip();
	make(k, &s);
	snprintf(other, sizeof(other), "%.400s" OTHER, k->tree.root);
	assert_int_equal(hier_make(&k->tree.hier, other, true), 0);
	limit(&s, s.container, 32 * MIB);
	assert_int_equal(pipe(go), 0);
	pid = start_sharing(&s, go[0], &child);
	assert_int_equal(cg_enter(other, child), 0);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(go[0]);
	close(go[1]);
	assert_int_equal(cg_sweep(other), 0);
	kernhalf_drain(k);
	assert_int_equal(k->n_ooms, 2);
	oom = oom_in(k, s.container);
	assert_non_null(oom);
	assert_true(oom->flags & GRACED_OOM_LEVEL_KNOWN);
	assert_int_equal(oom->level_id, kernhalf_id(s.container));
	for (size_t i = 0; i < k->n_ooms; i++) {
		if (oom == &k->ooms[i])
			continue;
		assert_int_equal(k->ooms[i].victim.pid, child);
		assert_int_equal(k->ooms[i].flags & ~(uint32_t)GRACED_OOM_INIT, 0);
		assert_int_equal(k->ooms[i].level_id, 0);
		assert_int_equal(k->ooms[i].level_limit, 0);
	}
	assert_int_equal(cg_sweep(s.container), 0);
}

/* What runs in a container may make cgroups as deep as it likes. */
static void the_level_is_found_from_any_depth(void **state)
{
	static const int depths[] = {23, 24, 25, 100};
	struct kernhalf *k = kernhalf_need(state);
	struct scene s;

	if (!k->tree.hier.memory)
		skip();
	for (size_t i = 0; i < LEN(depths); i++) {
		char deep[2 * HIER_PATH_MAX];
		size_t used;

		print_message("%d levels\n", depths[i]);
		make(k, &s);
		limit(&s, s.container, 32 * MIB);
		used = (size_t)snprintf(deep, sizeof(deep), "%s", s.below);
		for (int level = 1; level < depths[i]; level++) {
			used += (size_t)snprintf(deep + used, sizeof(deep) - used, "/d");
			assert_int_equal(hier_make(&k->tree.hier, deep, false), 0);
		}
		expect_level_in(&s, deep, GRACED_OOM_LEVEL_KNOWN, kernhalf_id(s.container));
		limit(&s, s.below, 16 * MIB);
		expect_level_in(&s, deep, GRACED_OOM_LEVEL_KNOWN | GRACED_OOM_BELOW, 0);
		assert_int_equal(cg_sweep(s.container), 0);
		kernhalf_drain(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("where memory ran out is found however far below the container the victim is",
		      the_level_is_found_from_any_depth),
		CLAIM("a pod's limit that equals its container's is reached first, and both are "
		      "recorded",
		      an_equal_limit_of_the_pod_is_reached_first),
		CLAIM("of what is killed for a victim of another container, the level is unknown",
		      what_is_elsewhere_has_no_level),
		/* Leaves nothing watched. */
		CLAIM("where memory ran out is the level of the limit, below and above a container, too",
		      the_level_is_that_of_the_limit),
	};

	return cmocka_run_group_tests_name("oom_level", tests, setup, kernhalf_close);
}
