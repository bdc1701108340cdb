// SPDX-License-Identifier: Apache-2.0
// containerd's own tasks, which nothing but its files tells from a branch: what happens in one is
// known from its first process on, however late the daemon gets to look at it.
#include "lib/box/page.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct fixture fixture;
	char state[128]; /* where containerd keeps its tasks */
	char old[HIER_PATH_MAX], old_child[HIER_PATH_MAX + 16];
	struct proc init; /* of a task that is older than the tracer, in a cgroup below its own */
} stage;

/* The namespace is what the tree is called. */
static int make_task(const char *id)
{
	const char *namespace_ = box_tree_relative(&stage.fixture.tree, stage.fixture.tree.root);
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "mkdir -p %s/io.containerd.runtime.v2.task%s/%s", stage.state,
		 namespace_, id);
	if (system(path))
		return -1;
	snprintf(path, sizeof(path), "%s/io.containerd.runtime.v2.task%s/%s/config.json",
		 stage.state, namespace_, id);
	out = fopen(path, "we");
	if (!out)
		return -1;
	fprintf(out, "{\"ociVersion\":\"1\",\"linux\":{\"cgroupsPath\":\"%s/%s\"}}", namespace_,
		id);
	return fclose(out);
}

static int start_old(struct box_tree *tree)
{
	struct proc_spec spec = {.argv = BOX_ARGV("graceful"), .new_pidns = true};
	char exe[HIER_PATH_MAX + 16];

	snprintf(stage.old, sizeof(stage.old), "%.400s/web0", tree->root);
	snprintf(stage.old_child, sizeof(stage.old_child), "%s/init.scope", stage.old);
	snprintf(exe, sizeof(exe), "%s/workload", tree->helpers);
	spec.exe = exe;
	spec.cgroups[0] = stage.old_child;
	return make_task("web0") || hier_make(&tree->hier, stage.old, true) ||
	       hier_make(&tree->hier, stage.old_child, false) || proc_start(&spec, &stage.init);
}

static int close_tree(void)
{
	char command[160];

	proc_free(&stage.init);
	if (cg_remove(stage.old_child) || cg_remove(stage.old))
		return -1;
	snprintf(command, sizeof(command), "rm -rf --one-file-system %s", stage.state);
	return system(command) ? -1 : box_tree_close(&stage.fixture.tree);
}

static int setup(void **state)
{
	const char *why = box_unavailable();
	struct fixture *f = &stage.fixture;
	int r;

	*state = NULL;
	why = why ? why : tracer_unavailable();
	if (why) {
		fprintf(stderr, "SKIP tasks: %s\n", why);
		return 0;
	}
	if (box_tree_open(&f->tree, "tasks"))
		return -1;
	snprintf(stage.state, sizeof(stage.state), "%s/containerd", f->tree.tmp);
	r = mkdir(stage.state, 0755) || make_task("web1") || make_task("web2") ||
	    start_old(&f->tree);
	if (!r)
		r = tracer_start(&(struct tracer_spec){.args = BOX_ARGV("--names.containerd-state",
									stage.state)},
				 &f->tracer);
	if (r) {
		close_tree();
		return -1;
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int status;

	if (!f)
		return 0;
	status = tracer_stop(f->tracer);
	tracer_free(f->tracer);
	return close_tree() || status ? -1 : 0;
}

/* Lives in a cgroup of the tree until it is sent the signals, and the cgroup is removed; the tracer
 * sees nothing before. */
static void live_unseen(struct fixture *f, const char *name, const char *behaviour,
			const int *signals, char *ret_dir)
{
	struct proc_spec spec = {.argv = BOX_ARGV(behaviour), .new_pidns = true};
	char exe[HIER_PATH_MAX + 16];
	struct proc_end end;
	struct proc proc;
	siginfo_t info;

	snprintf(ret_dir, HIER_PATH_MAX, "%.400s/%s", f->tree.root, name);
	snprintf(exe, sizeof(exe), "%s/workload", f->tree.helpers);
	spec.exe = exe;
	spec.cgroups[0] = ret_dir;
	assert_int_equal(kill(tracer_pid(f->tracer), SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)tracer_pid(f->tracer), &info, WSTOPPED), 0);
	assert_int_equal(hier_make(&f->tree.hier, ret_dir, false), 0);
	assert_int_equal(proc_start(&spec, &proc), 0);
	assert_true(proc.ready);
	for (; *signals; signals++)
		assert_int_equal(kill(proc.pid, *signals), 0);
	assert_int_equal(proc_wait(&proc, &end), 0);
	proc_free(&proc);
	assert_int_equal(cg_remove(ret_dir), 0);
	assert_int_equal(kill(tracer_pid(f->tracer), SIGCONT), 0);
}

static const json_t *stop_of(struct fixture *f, const char *dir)
{
	return tracer_await(f->tracer,
			    &(struct tracer_want){.type = "stop",
						  .cgroup = box_tree_relative(&f->tree, dir)});
}

static void one_that_is_older_is_known_with_all_below_it(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_end end;

	assert_int_equal(kill(stage.init.pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&stage.init, &end), 0);
	judge_match(stop_of(f, stage.old),
		    "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
		    "'container':{'id':'web0','name':'web0','runtime':'containerd'},"
		    "'stop_signal':{'number':15,'result':'delivered'}}");
}

static void a_stop_before_the_daemon_knows_is_whole(void **state)
{
	static const struct {
		const char *task, *behaviour;
		int signals[3];
		const char *expected;
	} rows[] = {
		{"web1",
		 "graceful",
		 {SIGTERM},
		 "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
		 "'container':{'id':'web1','name':'web1','runtime':'containerd'},"
		 "'stop_signal':{'number':15,'result':'delivered'},'kill_signal':null,"
		 "'evidence':{'complete':true}}"},
		{"web2",
		 "deaf",
		 {SIGTERM, SIGKILL},
		 "{'outcome':'killed','cause':'grace-expired','deaf':true,"
		 "'container':{'id':'web2','name':'web2','runtime':'containerd'},"
		 "'stop_signal':{'number':15,'result':'ignored'},'kill_signal':{'number':9},"
		 "'evidence':{'complete':true}}"},
	};
	struct fixture *f = judge_need(state);
	char dir[HIER_PATH_MAX];

	for (size_t i = 0; i < LEN(rows); i++) {
		live_unseen(f, rows[i].task, rows[i].behaviour, rows[i].signals, dir);
		judge_match(stop_of(f, dir), rows[i].expected);
	}
}

/* What comes behind it in the ring is what the other's stop is. */
static void what_is_no_task_has_no_stop(void **state)
{
	struct fixture *f = judge_need(state);
	char dir[HIER_PATH_MAX], task[HIER_PATH_MAX];

	live_unseen(f, "job1", "graceful", (const int[]){SIGTERM, 0}, dir);
	assert_int_equal(make_task("web3"), 0);
	live_unseen(f, "web3", "graceful", (const int[]){SIGTERM, 0}, task);
	assert_non_null(stop_of(f, task));
	assert_int_equal(tracer_count(f->tracer, &(struct tracer_want){.type = "stop",
								       .cgroup = box_tree_relative(
									       &f->tree, dir)}),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a task that is older than the tracer is known with all below it",
		      one_that_is_older_is_known_with_all_below_it),
		CLAIM("a task that is gone before the daemon looks has its whole record",
		      a_stop_before_the_daemon_knows_is_whole),
		CLAIM("what looks like one and is none has no record", what_is_no_task_has_no_stop),
	};

	return cmocka_run_group_tests_name("tasks", tests, setup, teardown);
}
