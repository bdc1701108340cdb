// SPDX-License-Identifier: Apache-2.0
// A signal is sent to the process that was seen in a container, and to no other that has its number.
#include "io/cgroup/fs.h"
#include "lib/box/box.h"
#include "lib/claim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define TICK_NS 10000000ull

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
	if (box_tree_open(&tree, "signal") < 0)
		return -1;
	usable = true;
	return cgfs_open(tree.hier.mount, tree.hier.unified, &cgfs);
}

static int close_tree(void **state)
{
	cgfs_free(cgfs);
	return usable ? box_tree_close(&tree) : 0;
}

static void start(const char *nested, pid_t want_pid, struct box *box)
{
	const struct box_spec spec = {
		.argv = BOX_ARGV("graceful"), .nested = nested, .want_pid = want_pid};

	if (!usable)
		skip();
	assert_int_equal(box_start(&tree, &spec, box), 0);
	assert_true(box->start_ticks > 0);
}

static struct cgfs_process seen(const struct box *box)
{
	return (struct cgfs_process){box->init_pid, box->start_ticks * TICK_NS + 1234567};
}

static int send_to(const struct box *in, const struct cgfs_process *process, int signal)
{
	const char *controller = tree.hier.unified ? NULL : tree.hier.name;
	uint64_t id;

	assert_int_equal(cgfs_id_of(cgfs, in->path, &id), 0);
	return cgfs_signal(cgfs, controller, id, process, signal);
}

static void expect_graceful(struct box *box)
{
	struct proc_end end;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_true(WIFEXITED(end.status));
}

static void the_init_receives_it(void **state)
{
	struct cgfs_process process;
	struct box box;

	for (int nested = 0; nested < 2; nested++) {
		start(nested ? "init.scope" : NULL, 0, &box);
		process = seen(&box);
		assert_int_equal(send_to(&box, &process, SIGTERM), 0);
		expect_graceful(&box);
		/* It was reaped. */
		assert_int_equal(send_to(&box, &process, SIGTERM), -ESRCH);
		assert_int_equal(box_remove(&box), 0);
	}
}

/* Each of the two checks alone keeps the signal from a process that has the number by now. */
static void another_with_its_number_does_not(void **state)
{
	struct cgfs_process process, wrong;
	struct box old, new;
	struct proc_end end;

	start(NULL, 0, &old);
	process = seen(&old);
	assert_int_equal(kill(old.init_pid, SIGKILL), 0);
	assert_int_equal(proc_wait(&old.proc, &end), 0);
	/* The new one begins in another clock tick. */
	nanosleep(&(struct timespec){.tv_nsec = 2 * (long)TICK_NS}, NULL);
	start(NULL, old.init_pid, &new);
	assert_int_equal(new.init_pid, old.init_pid);
	assert_int_equal(send_to(&old, &process, SIGKILL), -ESRCH);
	/* In the right cgroup, but not the process that was seen. */
	assert_int_equal(send_to(&new, &process, SIGKILL), -ESRCH);
	/* The right process, but of another container. */
	wrong = seen(&new);
	assert_int_equal(send_to(&old, &wrong, SIGKILL), -ESRCH);
	assert_int_equal(kill(new.init_pid, 0), 0);
	assert_int_equal(send_to(&new, &wrong, SIGTERM), 0);
	expect_graceful(&new);
	assert_int_equal(box_remove(&new), 0);
	assert_int_equal(box_remove(&old), 0);
}

static void what_makes_no_sense_is_refused(void **state)
{
	const char *controller;
	struct cgfs_process process, none;
	struct box box;
	uint64_t root, id;

	start(NULL, 0, &box);
	controller = tree.hier.unified ? NULL : tree.hier.name;
	process = none = seen(&box);
	assert_int_equal(send_to(&box, &process, 0), -EINVAL);
	assert_int_equal(send_to(&box, &process, 65), -EINVAL);
	none.pid = 0;
	assert_int_equal(send_to(&box, &none, SIGTERM), -EINVAL);
	assert_int_equal(cgfs_id_of(cgfs, "/", &root), 0);
	assert_int_equal(cgfs_signal(cgfs, controller, root, &process, SIGTERM), -EPERM);
	assert_int_equal(cgfs_id_of(cgfs, box.path, &id), 0);
	assert_int_equal(send_to(&box, &process, SIGTERM), 0);
	expect_graceful(&box);
	assert_int_equal(box_remove(&box), 0);
	start(NULL, 0, &box);
	process = seen(&box);
	assert_int_equal(cgfs_signal(cgfs, controller, id, &process, SIGKILL), -ENOENT);
	assert_int_equal(kill(box.init_pid, 0), 0);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a container's init receives it, also in a cgroup below the container's",
		      the_init_receives_it),
		CLAIM("another process that has the init's number does not",
		      another_with_its_number_does_not),
		CLAIM("the root, a removed cgroup and an invalid signal are refused",
		      what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, open_tree, close_tree);
}
