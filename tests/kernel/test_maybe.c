// SPDX-License-Identifier: Apache-2.0
// What the kernel half takes a new cgroup for, and that it records what may be a container until
// the kind is set.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEX_ID	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ECS_TASK "0123456789abcdef0123456789abcdef"

static int setup(void **state)
{
	return kernhalf_open(state, "maybe");
}

static struct graced_watch watch_of(const struct kernhalf *k, const char *dir)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, kernhalf_id(dir), &watch), 0);
	return watch;
}

static void make(struct kernhalf *k, const char *path, char *ret)
{
	snprintf(ret, HIER_PATH_MAX, "%.300s/%s", k->tree.root, path);
	assert_int_equal(hier_make(&k->tree.hier, ret, false), 0);
}

/* The tree is at level 1 to the kernel half. */
static void a_kind_is_guessed_by_name_and_level(void **state)
{
	static const struct {
		const char *path;
		uint32_t kind;
	} rows[] = {
		{"web1", GRACED_WATCH_MAYBE},
		{"web1.service", GRACED_WATCH_MAYBE},
		{"web1/below", GRACED_WATCH_BRANCH},
		{"web1/" HEX_ID, GRACED_WATCH_CONTAINER},
		{"web1/any-web2.scope", GRACED_WATCH_MAYBE},
		{HEX_ID, GRACED_WATCH_CONTAINER},
		{"pod01234567-89ab-cdef-0123-456789abcdef", GRACED_WATCH_POD},
		{"web1/docker-" HEX_ID ".scope", GRACED_WATCH_CONTAINER},
		{"web1/0" HEX_ID, GRACED_WATCH_BRANCH},
		{"web1/g" HEX_ID, GRACED_WATCH_CONTAINER},
		{"web1/" ECS_TASK "-1234567890", GRACED_WATCH_CONTAINER},
		{"web1/0" ECS_TASK "-1234567890", GRACED_WATCH_BRANCH},
		{"web1/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice", GRACED_WATCH_POD},
		{"web1/kubepods-pod01234567_89ab_cdef_0123_456789abcde.slice", GRACED_WATCH_BRANCH},
	};
	struct kernhalf *k = kernhalf_need(state);
	char dirs[LEN(rows)][HIER_PATH_MAX];

	for (size_t i = 0; i < LEN(rows); i++) {
		make(k, rows[i].path, dirs[i]);
		assert_int_equal(watch_of(k, dirs[i]).kind, rows[i].kind);
	}
	for (size_t i = LEN(rows); i > 0; i--)
		assert_int_equal(cg_remove(dirs[i - 1]), 0);
}

/* Here the slice is at level 1. */
static void nothing_of_a_unit_is_guessed_to_be_a_task(void **state)
{
	const struct graced_watch top = {.kind = GRACED_WATCH_BRANCH, .level = 1};
	struct kernhalf *k = kernhalf_need(state);
	char slice[HIER_PATH_MAX], mount[HIER_PATH_MAX], scope[HIER_PATH_MAX];

	make(k, "some.slice", slice);
	assert_int_equal(kern_watch_delete(k->kern, kernhalf_id(slice)), 0);
	assert_int_equal(kern_watch_add(k->kern, kernhalf_id(slice), &top), 0);
	make(k, "some.slice/tmp.mount", mount);
	make(k, "some.slice/ns-web1.scope", scope);
	assert_int_equal(watch_of(k, mount).kind, GRACED_WATCH_BRANCH);
	assert_int_equal(watch_of(k, scope).kind, GRACED_WATCH_MAYBE);
	assert_int_equal(cg_remove(mount), 0);
	assert_int_equal(cg_remove(scope), 0);
	assert_int_equal(cg_remove(slice), 0);
}

/* A process that comes in from outside, execs and is killed. */
static pid_t live(const char *dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (cg_enter(dir, getpid()) == 0)
			execlp("sh", "sh", "-c", "kill -STOP $$", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void what_may_be_a_container_is_recorded_until_it_is_known(void **state)
{
	static const struct {
		uint32_t becomes; /* 0: nobody has said yet */
		unsigned int signals, exits;
	} rows[] = {
		{0, 2, 1},
		{GRACED_WATCH_CONTAINER, 2, 1},
		{GRACED_WATCH_BRANCH, 0, 0},
	};
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX];

	for (size_t i = 0; i < LEN(rows); i++) {
		pid_t pid;

		make(k, "web1", dir);
		if (rows[i].becomes)
			assert_int_equal(
				kern_watch_set_kind(k->kern, kernhalf_id(dir), rows[i].becomes), 0);
		kernhalf_drain(k);
		pid = live(dir);
		kernhalf_drain(k);
		assert_int_equal(k->n_signals, rows[i].signals);
		assert_int_equal(k->n_exits, rows[i].exits);
		if (rows[i].exits) {
			assert_int_equal(k->signals[0].sig, SIGTERM);
			assert_true(k->signals[0].flags & GRACED_SIG_INIT);
			assert_true(k->exits[0].flags & GRACED_EXIT_INIT);
			assert_int_equal(k->exits[0].proc.pid, pid);
		}
		assert_int_equal(cg_remove(dir), 0);
	}
}

/* Signals to a branch's processes go unseen; those to what may be a container do not. */
static void nothing_was_missed_of_what_becomes_a_container(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX];

	make(k, "web1", dir);
	assert_int_equal(kern_watch_set_kind(k->kern, kernhalf_id(dir), GRACED_WATCH_CONTAINER), 0);
	assert_int_equal(watch_of(k, dir).told_at_ns, 0);
	assert_int_equal(cg_remove(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a new cgroup's name and level say what it may be",
		      a_kind_is_guessed_by_name_and_level),
		CLAIM("what is a unit's is no task, unless it is a scope",
		      nothing_of_a_unit_is_guessed_to_be_a_task),
		CLAIM("what may be a container is recorded until the daemon has said that it is none",
		      what_may_be_a_container_is_recorded_until_it_is_known),
		CLAIM("of what becomes a container nothing was missed",
		      nothing_was_missed_of_what_becomes_a_container),
	};

	return cmocka_run_group_tests_name("maybe", tests, setup, kernhalf_close);
}
