// SPDX-License-Identifier: Apache-2.0
// A PID 1 that was killed and cannot end: a process that joined its pid namespace from outside has
// ended, and its parent does not wait for it. On the hierarchies that this host has.
#include "lib/box/hier.h"
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"
#include "lib/patience.h"
#include "lib/run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
	return attach_open(state, "held");
}

static struct run_result wait_empty(const struct fixture *f, const char *timeout)
{
	const char *const args[] = {"wait",
				    "--empty",
				    "--cri.endpoint",
				    "none",
				    "--hierarchy",
				    f->tree.hier.name,
				    "--container-roots",
				    box_tree_relative(&f->tree, f->tree.root),
				    "--timeout",
				    timeout,
				    NULL};
	struct run_result result;

	assert_int_equal(run(&(struct run_spec){.args = args}, &result), 0);
	return result;
}

/* rec says which process holds its PID 1, and that this one does not wait for it. */
static void is_held_by(const json_t *rec, const struct proc *holder)
{
	char want[160];

	snprintf(want, sizeof(want),
		 "{'held_by':{'pid':%d,'comm':'workload','parent':{'pid':%d}},"
		 "'evidence':{'gaps':['not-reaped']}}",
		 holder->pid, getpid());
	judge_match(rec, want);
}

/* When what held it is gone, a record of the stop's id says so. seen: by the kernel half, maybe. */
static void is_let_go(struct fixture *f, const json_t *stop, const struct box *box, bool seen)
{
	const struct tracer_want want = {.type = "reaped", .cgroup = box->path};
	const json_t *rec = tracer_await(f->tracer, &want);
	int64_t exit_ns = jrec_int(stop, "exit.at_boot_ns", 0), held_ns;

	assert_non_null(rec);
	held_ns = jrec_int(rec, "held_ns", 0);
	assert_string_equal(jrec_text(rec, "id"), jrec_text(stop, "id"));
	assert_true(json_equal(jrec_get(rec, "exit"), jrec_get(stop, "exit")));
	assert_true(held_ns > 0);
	assert_int_equal(jrec_int(rec, "boot_ns", 0), exit_ns + held_ns);
	if (!jrec_is_null(rec, "reaped_boot_ns")) {
		assert_true(seen);
		assert_int_equal(jrec_int(rec, "reaped_boot_ns", 0), exit_ns + held_ns);
	}
	assert_int_equal(tracer_count(f->tracer, &want), 1);
}

static const struct box_spec alone = {.argv = BOX_ARGV("graceful")};
/* The first thread has ended, as a zombie, before the one that the end is asked of. */
static const struct box_spec leader_gone = {.prog = "crowd", .argv = BOX_ARGV("leader-gone")};
/* It ends before the others, with them. */
static const struct box_spec threads = {.prog = "stopper", .argv = BOX_ARGV("go")};

/* reaped: the parent of what joined waits for it at once. */
static void kill_one(struct fixture *f, const struct box_spec *spec, int sig, bool reaped)
{
	struct truth truth = {.outcome = sig == SIGKILL ? "killed" : "graceful",
			      .cause = sig == SIGKILL ? "no-grace" : "stop-signal",
			      .collateral_kills = 1,
			      .gaps = reaped ? NULL : "['not-reaped']"};
	struct proc joined;
	struct proc_end end;
	const json_t *rec;
	struct sent sent;
	struct box box;

	attach_begin(f);
	judge_start(f, spec, &box);
	if (spec == &leader_gone)
		assert_int_equal(peek_await_leader_gone(box.init_pid), 0);
	assert_int_equal(box_exec(&f->tree, &box, "workload", true, BOX_ARGV("deaf"), &joined), 0);
	judge_send(f, SEND_RUNTIME, &box, sig, &sent);
	if (sig == SIGKILL)
		truth.kill = &sent;
	else
		truth.stop = &sent;
	if (reaped)
		assert_int_equal(proc_wait(&joined, &end), 0);
	rec = tracer_await_stop(f->tracer, &box);
	if (!reaped) {
		struct run_result result = wait_empty(f, "1s");
		char pid[32];

		snprintf(pid, sizeof(pid), "%d (workload)", joined.pid);
		assert_int_not_equal(result.status, 0);
		assert_non_null(strstr(result.err, pid));
		run_done(&result);
		is_held_by(rec, &joined);
		assert_int_equal(judge_count(f, &box, "reaped"), 0);
	}
	proc_free(&joined);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	if (!reaped)
		is_let_go(f, rec, &box, true);
	truth.box = &box;
	truth.end = &end;
	truth.loose_empty = true;
	assert_int_equal(box_remove(&box), 0);
	judge_record(f, truth, rec);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(judge_count(f, &box, "reaped"), !reaped);
	attach_end(f);
}

/* systemd removes a scope as soon as it is empty. late: when it was reported. */
static void remove_one(struct fixture *f, bool late)
{
	struct proc joined;
	struct proc_end end;
	const json_t *rec;
	struct sent sent;
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	assert_int_equal(box_exec(&f->tree, &box, "workload", true, BOX_ARGV("deaf"), &joined), 0);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	if (late)
		tracer_await_stop(f->tracer, &box);
	assert_int_equal(cg_remove(box.dir), 0);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'outcome':'killed','cause':'no-grace','exit':{'signal':9}}");
	is_held_by(rec, &joined);
	proc_free(&joined);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	is_let_go(f, rec, &box, false);
	box_remove(&box);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	attach_end(f);
}

static void its_cgroup_may_be_removed(void **state)
{
	struct fixture *f = judge_need(state);

	remove_one(f, false);
	remove_one(f, true);
}

static void it_is_said_that_it_is_not_reaped(void **state)
{
	struct fixture *f = judge_need(state);

	kill_one(f, &alone, SIGKILL, false);
	kill_one(f, &alone, SIGTERM, false);
}

static void one_whose_namespace_empties_is_complete(void **state)
{
	struct fixture *f = judge_need(state);

	kill_one(f, &alone, SIGKILL, true);
	kill_one(f, &alone, SIGTERM, true);
	kill_one(f, &leader_gone, SIGKILL, true);
}

static void so_is_one_whose_leader_ended_first(void **state)
{
	struct fixture *f = judge_need(state);

	kill_one(f, &leader_gone, SIGKILL, false);
	kill_one(f, &leader_gone, SIGTERM, false);
	kill_one(f, &threads, SIGKILL, false);
	kill_one(f, &threads, SIGTERM, false);
}

static pid_t await_child(pid_t pid)
{
	pid_t child = 0;

	for (int i = 0; i < PATIENCE_S * 100 && !child; i++) {
		child = peek_first_child(pid);
		usleep(10000);
	}
	assert_true(child > 0);
	return child;
}

/* PID 1 waits for that of a namespace below, and that one for what joined it. */
static void what_holds_it_may_be_below(void **state)
{
	static const char script[] = "unshare -pf sleep 1000 & echo r >&4; exec 4>&-; wait";
	struct fixture *f = judge_need(state);
	struct proc joined;
	struct box box, below;
	struct sent sent;

	attach_begin(f);
	judge_start(f,
		    &(struct box_spec){.prog = "stopper",
				       .argv = BOX_ARGV("run", "/bin/sh", "-c", script)},
		    &box);
	below = box;
	below.proc.pid = await_child(await_child(box.init_pid));
	assert_int_equal(box_exec(&f->tree, &below, "workload", true, BOX_ARGV("deaf"), &joined),
			 0);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	is_held_by(tracer_await_stop(f->tracer, &box), &joined);
	proc_free(&joined);
	assert_int_equal(proc_wait(&box.proc, &(struct proc_end){}), 0);
	assert_int_equal(box_remove(&box), 0);
	attach_end(f);
}

/* A zombie: its own parent takes its time, and its pid namespace is empty. */
static void a_slow_parent_is_no_such_thing(void **state)
{
	struct fixture *f = judge_need(state);
	struct run_result result;
	struct proc_end end;
	const json_t *rec;
	struct sent sent;
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("leave-child", "0")}, &box);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'evidence':{'complete':true}}");
	result = wait_empty(f, "30s");
	assert_int_equal(result.status, 0);
	run_done(&result);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
	attach_end(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a PID 1 that what joined its pid namespace holds is not reaped, and the node "
		      "is not empty",
		      it_is_said_that_it_is_not_reaped),
		CLAIM("so is one whose first thread ended before the last",
		      so_is_one_whose_leader_ended_first),
		CLAIM("what holds it is found in a pid namespace below, too",
		      what_holds_it_may_be_below),
		CLAIM("so it is where its cgroup is removed before that is seen, or after",
		      its_cgroup_may_be_removed),
		CLAIM("one whose pid namespace empties is complete",
		      one_whose_namespace_empties_is_complete),
		CLAIM("a parent that takes its time leaves the record complete",
		      a_slow_parent_is_no_such_thing),
	};

	return attach_run(tests, setup);
}
