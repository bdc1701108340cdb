// SPDX-License-Identifier: Apache-2.0
// SIGKILLs that nobody sends with kill(2): cgroup.kill, the end of a pid namespace, of a tracer or
// of a parent.
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
	return fixture_open(state, "kills", BOX_ARGV("--signals"));
}

static int setup_all(void **state)
{
	return fixture_open(state, "kills-all", BOX_ARGV("--scope", "all"));
}

/* --- cgroup.kill --- */

static const json_t *last_signal(struct fixture *f, const struct box *box, unsigned int nth)
{
	return tracer_await(f->tracer,
			    &(struct tracer_want){.type = "signal", .id = box->id, .nth = nth});
}

static void kill_by_cgroup(struct fixture *f, enum send_from by, const struct box *box,
			   struct sent *ret)
{
	struct proc sender;

	if (by == SEND_HERE) {
		assert_int_equal(send_cgroup_kill(box, ret), 0);
		return;
	}
	assert_int_equal(send_start(&f->tree, by, NULL, BOX_ARGV("cgkill", box->kill_dir), &sender),
			 0);
	assert_int_equal(send_collect(by, NULL, &sender, ret, 1), 1);
	assert_int_equal(ret->result, 0);
}

/* It came with Linux 5.14. */
static struct fixture *need_cgroup_kill(void **state)
{
	struct fixture *f = judge_need(state);
	const char *dir = f->tree.hier.unified ? f->tree.root : f->tree.twin_root;
	char path[HIER_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/cgroup.kill", dir);
	if (dir[0] && access(path, W_OK) == 0)
		return f;
	fprintf(stderr, "skipped: there is no cgroup.kill here\n");
	skip();
	return NULL;
}

static void the_writer_of_cgroup_kill_is_the_sender(void **state)
{
	static const struct {
		enum send_from by;
		bool asked; /* the same sender's SIGTERM went before */
		const char *cause;
	} table[] = {
		{SEND_HERE, false, "host"},	   {SEND_HERE, true, "grace-expired"},
		{SEND_RUNTIME, false, "no-grace"}, {SEND_RUNTIME, true, "grace-expired"},
		{SEND_HOST, false, "host"},
	};
	struct fixture *f = need_cgroup_kill(state);

	for (size_t i = 0; i < LEN(table); i++) {
		struct truth truth = {.outcome = "killed", .cause = table[i].cause};
		struct sent term, kill;
		struct box box;

		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf"), .twin = true}, &box);
		if (table[i].asked) {
			judge_send(f, table[i].by, &box, SIGTERM, &term);
			truth.stop = &term;
			truth.stop_result = "ignored";
			truth.deaf = true;
		}
		kill_by_cgroup(f, table[i].by, &box, &kill);
		truth.kill = &kill;
		judge_box(f, &box, truth);
		judge_match(
			last_signal(f, &box, table[i].asked),
			"{'signal':{'number':9,'result':'delivered','group':false,'si_code':0}}");
	}
}

static void cgroup_kill_ends_a_whole_container(void **state)
{
	struct fixture *f = need_cgroup_kill(state);
	const json_t *rec;
	struct proc_end end;
	struct sent kill;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("shell", "7"), .twin = true}, &box);
	kill_by_cgroup(f, SEND_HERE, &box, &kill);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	rec = tracer_await_stop(f->tracer, &box);
	assert_int_equal(box_remove(&box), 0);
	/* Who gets a child first, the writer or the dying init, is a matter of luck. */
	judge_match(rec, "{'outcome':'killed','cause':'host','evidence':{'complete':true}}");
	assert_in_range(jrec_int(rec, "collateral_kills", -1), 0, 7);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(judge_count(f, &box, "signal"), 1);
}

/* --- the end of a pid namespace --- */

static void a_shared_namespace_s_end_is_the_cause_even_after_a_request(void **state)
{
	static const char *const behaviours[] = {"deaf", "sigign"};
	struct fixture *f = judge_need(state);
	struct box sandbox, boxes[LEN(behaviours)];
	struct proc_end end, ends[LEN(behaviours)];
	struct sent asked, sent;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &sandbox);
	for (size_t i = 0; i < LEN(boxes); i++)
		judge_start(f,
			    &(struct box_spec){.argv = BOX_ARGV(behaviours[i]),
					       .pod_of = &sandbox,
					       .pidns_of = &sandbox},
			    &boxes[i]);
	judge_send(f, SEND_RUNTIME, &boxes[1], SIGTERM, &asked);
	judge_send(f, SEND_RUNTIME, &sandbox, SIGTERM, &sent);
	/* The sandbox cannot end before everybody in its namespace is reaped. */
	for (size_t i = 0; i < LEN(boxes); i++)
		assert_int_equal(proc_wait(&boxes[i].proc, &ends[i]), 0);
	assert_int_equal(proc_wait(&sandbox.proc, &end), 0);
	for (size_t i = 0; i < LEN(boxes); i++) {
		struct truth truth = {
			.box = &boxes[i],
			.end = &ends[i],
			.stop = i ? &asked : NULL,
			.stop_result = "ignored",
			.kernel_kill = true,
			.outcome = "killed",
			.cause = "pid-namespace",
			.exit_after_ns = sent.before_ns,
		};
		const json_t *rec = tracer_await_stop(f->tracer, &boxes[i]);

		assert_int_equal(box_remove(&boxes[i]), 0);
		judge_record(f, truth, rec);
		/* The dying init of the namespace is the one in whose context it happens. */
		assert_int_equal(jrec_int(rec, "kill_signal.sender.pid", 0), sandbox.init_pid);
	}
	judge_match(tracer_await_stop(f->tracer, &sandbox),
		    "{'outcome':'graceful','cause':'stop-signal','evidence':{'complete':true}}");
	assert_int_equal(box_remove(&sandbox), 0);
}

/* What an init leaves behind in its namespace, and how much of that its end kills. */
static void collateral_kills_count_the_processes_an_init_takes_along(void **state)
{
	static const struct {
		const char *what;
		const char *argv[6];
		int kills;
	} table[] = {
		{"nothing", {"family", "0", "1", "0", "3"}, 0},
		{"one child", {"family", "1", "1", "0", "3"}, 1},
		{"many children", {"family", "97", "1", "0", "3"}, 97},
		{"children of many threads", {"family", "7", "5", "0", "3"}, 7},
		{"children that are dead already", {"family", "2", "1", "11", "3"}, 2},
		{"nothing, after a namespace below lost three", {"nested", "3", "3"}, 0},
		{"a namespace below with six in it", {"inner", "6"}, 7},
		{"nothing, as the namespace below went before", {"inner", "6", "1"}, 0},
	};
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(table); i++) {
		struct truth truth = {
			.outcome = "graceful",
			.cause = "stop-signal",
			.collateral_kills = table[i].kills,
		};
		struct sent sent;
		struct box box;

		print_message("%s\n", table[i].what);
		judge_start(f, &(struct box_spec){.prog = "tenant", .argv = table[i].argv}, &box);
		assert_true(box.proc.ready);
		judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		truth.stop = &sent;
		judge_box(f, &box, truth);
	}
}

/* In a namespace that is shared each container's processes are those of the sandbox, too, and what
 * is in namespaces of their own dies with these. */
static void in_a_shared_namespace_the_sandbox_takes_all_along(void **state)
{
	struct fixture *f = judge_need(state);
	struct box sandbox, box;
	struct proc guest;
	struct proc_end end;
	const json_t *rec;
	struct sent sent;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &sandbox);
	judge_start(f,
		    &(struct box_spec){.prog = "tenant",
				       .argv = BOX_ARGV("inner", "15", "1"),
				       .pod_of = &sandbox,
				       .pidns_of = &sandbox},
		    &box);
	/* From the host, in no container. */
	assert_int_equal(box_exec(&f->tree, &sandbox, "workload", true, BOX_ARGV("deaf"), &guest),
			 0);
	assert_int_equal(cg_enter(f->tree.root, guest.pid), 0);
	/* A namespace of its own ends before it does, and none of its container's dies of that. */
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec,
		    "{'outcome':'graceful','collateral_kills':0,'evidence':{'complete':true}}");
	assert_int_equal(box_remove(&box), 0);
	judge_send(f, SEND_RUNTIME, &sandbox, SIGTERM, &sent);
	assert_int_equal(proc_wait(&guest, &end), 0);
	proc_free(&guest);
	assert_int_equal(proc_wait(&sandbox.proc, &end), 0);
	rec = tracer_await_stop(f->tracer, &sandbox);
	judge_match(rec,
		    "{'outcome':'graceful','collateral_kills':1,'evidence':{'complete':true}}");
	assert_int_equal(box_remove(&sandbox), 0);
}

/* --- reboot --- */

/* The kernel kills PID 1 in the name of who called it, and lets its parent see another signal. */
static void a_container_s_reboot_is_its_own(void **state)
{
	static const struct {
		const char *argv[4], *want;
		int sig;
	} table[] = {
		{{"reboots", "self", "go"}, "'killed','cause':'self'", SIGHUP},
		{{"reboots", "child", "go"}, "'killed','cause':'same-container'", SIGINT},
		{{"reboots", "self", "asked"}, "'graceful','cause':'stop-signal'", SIGHUP},
		{{"reboots", "child", "asked"}, "'graceful','cause':'stop-signal'", SIGINT},
	};
	struct fixture *f = judge_need(state);
	struct proc_end end;
	const json_t *rec;
	struct sent sent;
	struct box box;
	char want[192];

	for (size_t i = 0; i < LEN(table); i++) {
		judge_start(f, &(struct box_spec){.prog = "stopper", .argv = table[i].argv}, &box);
		if (!strcmp(table[i].argv[2], "asked"))
			judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		page_go(box.proc.page, 1);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		assert_int_equal(end.status, table[i].sig);
		rec = tracer_await_stop(f->tracer, &box);
		assert_int_equal(box_remove(&box), 0);
		snprintf(want, sizeof(want),
			 "{'outcome':%s,'exit':{'signal':%d},"
			 "'kill_signal':{'sender':{'kind':'pod'}},"
			 "'evidence':{'complete':true}}",
			 table[i].want, table[i].sig);
		judge_match(rec, want);
	}
}

/* --- ptrace --- */

static void a_tracer_s_exit_kill_is_the_kernel_s(void **state)
{
	const struct truth truth = {.kernel_kill = true, .outcome = "killed", .cause = "kernel"};
	struct fixture *f = judge_need(state);
	struct proc tracer;
	struct proc_end end;
	struct box box;
	char pid[16];

	for (int host = 0; host < 2; host++) {
		judge_start(f,
			    &(struct box_spec){.prog = "faults",
					       .argv = BOX_ARGV("exitkill"),
					       .host_pidns = host},
			    &box);
		judge_box(f, &box, truth);

		/* The tracer is outside. */
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf"), .host_pidns = host},
			    &box);
		snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
		assert_int_equal(send_start(&f->tree, SEND_RUNTIME, NULL, BOX_ARGV("exitkill", pid),
					    &tracer),
				 0);
		assert_int_equal(proc_wait(&tracer, &end), 0);
		assert_int_equal(end.status, 0);
		proc_free(&tracer);
		judge_box(f, &box, truth);
		judge_match(
			last_signal(f, &box, 0),
			"{'signal':{'number':9,'result':'delivered'},'sender':{'kind':'kernel'}}");
	}
}

/* --- the end of a parent --- */

static void what_is_sent_for_a_parent_s_death_is_not_that_parent_s(void **state)
{
	struct fixture *f = judge_need(state);
	struct tracer_want want = {.type = "stop"};
	struct proc_end ended;
	struct box box;

	judge_start(f,
		    &(struct box_spec){.prog = "wrapper",
				       .argv = BOX_ARGV("thread", "9", "1", "pause", "0"),
				       .host_pidns = true},
		    &box);
	want.pid = page_find(box.proc.page, NOTE_CHILD, 0)->pid;
	page_go(box.proc.page, 1);
	judge_match(tracer_await(f->tracer, &want),
		    "{'outcome':'killed','cause':'parent-death',"
		    "'kill_signal':{'sender':{'kind':'kernel'}},'evidence':{'complete':true}}");
	assert_int_equal(proc_wait(&box.proc, &ended), 0);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the writer of cgroup.kill is the sender",
		      the_writer_of_cgroup_kill_is_the_sender),
		CLAIM("cgroup.kill ends a whole container, reported once",
		      cgroup_kill_ends_a_whole_container),
		CLAIM("the end of a shared pid namespace is the cause, even after a request",
		      a_shared_namespace_s_end_is_the_cause_even_after_a_request),
		CLAIM("collateral_kills counts the processes that an init takes along",
		      collateral_kills_count_the_processes_an_init_takes_along),
		CLAIM("... in a namespace that is shared, and from the host, too",
		      in_a_shared_namespace_the_sandbox_takes_all_along),
		CLAIM("reboot(2) in a container is the container's own, and its parent's signal is seen",
		      a_container_s_reboot_is_its_own),
		CLAIM("the exit-kill of a tracer is the kernel's",
		      a_tracer_s_exit_kill_is_the_kernel_s),
	};
	const struct CMUnitTest of_all[] = {
		CLAIM("what the kernel sends for a parent's death is not that parent's",
		      what_is_sent_for_a_parent_s_death_is_not_that_parent_s),
	};
	int failed = cmocka_run_group_tests(tests, setup, fixture_close);

	return cmocka_run_group_tests_name("kills all", of_all, setup_all, fixture_close) || failed;
}
