// SPDX-License-Identifier: Apache-2.0
// A sender's ancestors are in one record, and again as soon as one of them is not what it was.
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sender and its parent. Each byte on a pipe has its reader do something, and answer. */
struct family {
	pid_t parent, sender;
	int to_parent, to_sender, answers;
};

static int setup(void **state)
{
	return kernhalf_open(state, "lineage");
}

static int setup_small(void **state)
{
	return kernhalf_open_ring(state, "lineage", 4096);
}

/* What a sender's ancestors were is kept by each CPU. */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		_exit(1);
}

static void be_sender(int in, int out, pid_t target)
{
	pid_t self = getpid();
	char byte;

	if (write(out, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	while (read(in, &byte, 1) == 1)
		if (kill(target, SIGTERM) < 0 || write(out, "", 1) != 1)
			_exit(1);
	_exit(0);
}

static void be_parent(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		if (byte == 'n' && prctl(PR_SET_NAME, "renamed") < 0)
			_exit(1);
		if (byte == 'u' && setuid(65534) < 0)
			_exit(1);
		if (write(out, "", 1) != 1)
			_exit(1);
		if (byte == 'e')
			execl("/bin/sleep", "renamed", "1000", (char *)NULL);
	}
	_exit(0);
}

static void family_start(struct family *f, pid_t target)
{
	int sender[2], parent[2], answers[2];

	assert_int_equal(pipe(sender) | pipe(parent) | pipe(answers), 0);
	f->parent = fork();
	assert_true(f->parent >= 0);
	if (f->parent == 0) {
		stay_on_one_cpu();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(sender[1]);
		close(parent[1]);
		if (fork() == 0)
			be_sender(sender[0], answers[1], target);
		close(sender[0]);
		be_parent(parent[0], answers[1]);
	}
	close(sender[0]);
	close(parent[0]);
	close(answers[1]);
	*f = (struct family){f->parent, 0, parent[1], sender[1], answers[0]};
	assert_int_equal(read(f->answers, &f->sender, sizeof(f->sender)), sizeof(f->sender));
}

/* The sender ends when its pipe does. */
static void family_end(struct family *f)
{
	close(f->to_sender);
	close(f->to_parent);
	close(f->answers);
	kill(f->parent, SIGKILL);
	waitpid(f->parent, NULL, 0);
}

static void tell(const struct family *f, int to, char what)
{
	char byte;

	assert_int_equal(write(to, &what, 1), 1);
	assert_int_equal(read(f->answers, &byte, 1), 1);
}

/* The record of the next signal. */
static struct graced_ev_signal next(struct kernhalf *k, const struct family *f)
{
	tell(f, f->to_sender, 's');
	kernhalf_drain(k);
	assert_int_equal(k->n_signals, 1);
	assert_int_equal(k->signals[0].sender.pid, f->sender);
	return k->signals[0];
}

/* The next one includes the ancestors, and the one behind it does not. */
static void expect_full(struct kernhalf *k, const struct family *f)
{
	struct graced_ev_signal first = next(k, f), second = next(k, f);

	assert_int_equal(first.full, 1);
	assert_int_equal(first.hdr.size, sizeof(struct graced_ev_signal_full));
	assert_int_equal(second.full, 0);
	assert_int_equal(second.turn, first.turn);
	assert_int_equal(second.lineage, first.lineage);
	assert_int_equal(second.hdr.size, sizeof(second));
}

static void move_to(const struct kernhalf *k, const char *name, pid_t pid)
{
	char path[HIER_PATH_MAX + 64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", k->tree.root, name);
	assert_int_equal(mkdir(path, 0755), 0);
	strncat(path, "/cgroup.procs", sizeof(path) - strlen(path) - 1);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d\n", pid);
	assert_int_equal(fclose(file), 0);
}

static void await_exec(pid_t pid)
{
	char path[64], exe[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	while (!strstr(exe, "sleep")) {
		ssize_t n = readlink(path, exe, sizeof(exe) - 1);

		assert_true(n >= 0);
		exe[n] = '\0';
		usleep(1000);
	}
}

static void test_included_again(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	struct family f;
	struct box box;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	family_start(&f, box.init_pid);
	expect_full(k, &f);
	tell(&f, f.to_parent, 'n');
	expect_full(k, &f);
	move_to(k, "elsewhere", f.parent);
	expect_full(k, &f);
	tell(&f, f.to_parent, 'u');
	expect_full(k, &f);
	tell(&f, f.to_parent, 'e');
	await_exec(f.parent);
	expect_full(k, &f);
	kill(f.parent, SIGKILL);
	waitpid(f.parent, NULL, 0);
	kernhalf_drain(k);
	expect_full(k, &f);
	f.parent = f.sender;
	family_end(&f);
	assert_int_equal(box_remove(&box), 0);
}

/* The parent's cgroup is the same, and becomes one that is watched. */
static void test_watched_meanwhile(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	struct family f;
	struct box box, other;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	family_start(&f, box.init_pid);
	expect_full(k, &f);
	assert_int_equal(box_start(&k->tree, &spec, &other), 0);
	expect_full(k, &f);
	family_end(&f);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&other), 0);
}

/* Only one that found room counts. */
static void test_lost(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	struct family f, full;
	struct box box;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	kernhalf_drain(k);
	family_start(&full, box.init_pid);
	family_start(&f, box.init_pid);
	for (int i = 0; i < 40; i++)
		tell(&full, full.to_sender, 's');
	tell(&f, f.to_sender, 's');
	kernhalf_drain(k);
	expect_full(k, &f);
	family_end(&f);
	family_end(&full);
	assert_int_equal(box_remove(&box), 0);
}

/* Its shell has unshared, and its child is PID 1 of a namespace below, which kills one of its own.
 */
static void test_below(void **state)
{
	static const char script[] =
		"sh -c 'sleep 1000 & kill -9 $!; wait; echo r >&4; exec 4>&-; sleep 1000'; true";
	const struct box_spec spec = {.prog = "stopper",
				      .argv = BOX_ARGV("run", "/usr/bin/unshare", "-p", "sh", "-c",
						       script)};
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_signal *ev = NULL;
	struct box box;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	assert_true(box.proc.ready);
	kernhalf_drain(k);
	for (unsigned int i = 0; i < k->n_signals; i++)
		if (k->signals[i].hdr.watch_id == kernhalf_id(box.dir) &&
		    k->signals[i].sig == SIGKILL)
			ev = &k->signals[i];
	assert_non_null(ev);
	assert_int_equal(ev->sender.ns_pid, 2);
	assert_int_equal(ev->target.ns_pid, 3);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	static const struct CMUnitTest again[] = {
		CLAIM("ancestors are included again when one of them has another name, cgroup, user, "
		      "program or is another process, and not else",
		      test_included_again),
	};
	static const struct CMUnitTest watched[] = {
		CLAIM("ancestors are included again when other cgroups are watched",
		      test_watched_meanwhile),
		CLAIM("sender and target in a namespace below have numbers of the container's",
		      test_below),
	};
	static const struct CMUnitTest lost[] = {
		CLAIM("ancestors whose record was lost are in the next", test_lost),
	};
	int failed = cmocka_run_group_tests_name("lineage", again, setup, kernhalf_close);

	failed += cmocka_run_group_tests_name("lineage, watched", watched, setup, kernhalf_close);
	return failed +
	       cmocka_run_group_tests_name("lineage, lost", lost, setup_small, kernhalf_close);
}
