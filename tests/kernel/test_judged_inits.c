// SPDX-License-Identifier: Apache-2.0
// Whose stop it is: which process is a container's init, however it came to be one, and which is
// not. Played twice: as this kernel tells of exits, and as kernels without group_dead do.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define EXITED(code) ((code) << 8)

static const struct truth asked = {.outcome = "graceful", .cause = "stop-signal"};

static int setup(void **state)
{
	return fixture_open(state, "inits", BOX_ARGV("--signals"));
}

static int setup_no_group_dead(void **state)
{
	return fixture_open(state, "inits", BOX_ARGV("--signals", "--no-group-dead"));
}

/* SIGTERM to the init, which leaves gracefully. */
static void stop_gracefully(struct fixture *f, struct box *box, struct truth truth)
{
	struct sent sent;

	judge_send(f, SEND_RUNTIME, box, SIGTERM, &sent);
	truth.outcome = asked.outcome;
	truth.cause = asked.cause;
	truth.stop = &sent;
	judge_box(f, box, truth);
}

static void a_vforked_child_is_not_the_init(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {
		.stop_result = "ignored",
		.deaf = true,
		.outcome = "killed",
		.cause = "grace-expired",
		.collateral_kills = 1,
	};
	struct sent term, kill;
	struct box box;

	judge_start(
		f, &(struct box_spec){.prog = "crowd", .argv = BOX_ARGV("vfork", "3", "exit", "1")},
		&box);
	judge_box(f, &box, (struct truth){.outcome = "failed", .cause = "self"});
	assert_int_equal(judge_count(f, &box, "stop"), 1);

	judge_start(f, &(struct box_spec){.prog = "crowd", .argv = BOX_ARGV("vfork", "3", "deaf")},
		    &box);
	judge_send(f, SEND_HERE, &box, SIGTERM, &term);
	judge_send(f, SEND_HERE, &box, SIGKILL, &kill);
	truth.stop = &term;
	truth.kill = &kill;
	judge_box(f, &box, truth);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
}

/* Run a helper that works on the box's cgroup from outside of it. */
static void start_outside(struct fixture *f, const char *const *argv, struct proc *ret)
{
	char exe[HIER_PATH_MAX + 16];
	struct proc_spec spec = {.exe = exe, .argv = argv, .cwd = f->tree.tmp};

	snprintf(exe, sizeof(exe), "%s/tenant", f->tree.helpers);
	assert_int_equal(proc_start(&spec, ret), 0);
}

static void first_life(struct fixture *f, struct box *box)
{
	struct truth truth = asked;
	struct proc_end end;
	struct sent sent;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful"), .host_pidns = true}, box);
	judge_send(f, SEND_RUNTIME, box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	truth.box = box;
	truth.end = &end;
	truth.stop = &sent;
	judge_record(f, truth, tracer_await_stop(f->tracer, box));
}

/* A cgroup is entered three times: by an init, by forks without exec, by a vforked init. Which of
 * the forks was the init is a guess. */
static void each_life_of_a_cgroup_has_its_init(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = asked;
	struct proc_end end;
	struct proc outside;
	struct sent sent;
	struct box box;

	first_life(f, &box);
	start_outside(f, BOX_ARGV("visit", box.dir), &outside);
	assert_int_equal(proc_wait(&outside, &end), 0);
	assert_int_equal(end.status, 0);
	proc_free(&outside);
	judge_match(tracer_await(f->tracer,
				 &(struct tracer_want){.type = "stop", .id = box.id, .nth = 1}),
		    "{'outcome':'completed','cause':'self','evidence':{'gaps':['init-guessed']}}");

	start_outside(f, BOX_ARGV("vfork", box.dir, "graceful", "4"), &outside);
	assert_true(outside.ready);
	box.proc.before_clone_ns = outside.before_clone_ns;
	box.proc.after_clone_ns = page_clock_ns();
	box.init_pid = box.init_ns_pid = page_find(outside.page, NOTE_READY, 0)->pid;
	box.start_ticks = peek_start_ticks(box.init_pid);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&outside, &end), 0);
	assert_int_equal(end.status, EXITED(4));
	truth.box = &box;
	truth.end = &end;
	truth.stop = &sent;
	judge_record(f, truth,
		     tracer_await(f->tracer,
				  &(struct tracer_want){.type = "stop", .id = box.id, .nth = 2}));
	proc_free(&outside);
	assert_int_equal(box_remove(&box), 0);
}

static void an_exec_by_another_thread_keeps_the_init(void **state)
{
	struct fixture *f = judge_need(state);

	for (int host = 0; host < 2; host++) {
		struct box_spec spec = {
			.prog = "crowd",
			.argv = BOX_ARGV("exec-nonleader", "graceful", "3"),
			.host_pidns = host,
		};
		struct box box;

		judge_start(f, &spec, &box);
		stop_gracefully(f, &box, (struct truth){.comm = "workload"});
		assert_int_equal(judge_count(f, &box, "stop"), 1);
	}
}

static void a_reused_pid_is_another_process(void **state)
{
	struct fixture *f = judge_need(state);
	struct box_spec spec = {.argv = BOX_ARGV("graceful", "5")};
	struct truth truth = asked;
	struct proc_end end;
	struct box old, new;
	struct sent sent;

	judge_start(f, &spec, &old);
	judge_send(f, SEND_HOST, &old, SIGTERM, &sent);
	assert_int_equal(proc_wait(&old.proc, &end), 0);
	truth.box = &old;
	truth.end = &end;
	truth.stop = &sent;

	/* The old cgroup is still there, and its verdict may not even be out. */
	spec.want_pid = old.init_pid;
	judge_start(f, &spec, &new);
	assert_int_equal(new.init_pid, old.init_pid);
	judge_record(f, truth, tracer_await_stop(f->tracer, &old));
	stop_gracefully(f, &new, (struct truth){0});
	assert_int_equal(judge_count(f, &old, "stop"), 1);
	assert_int_equal(judge_count(f, &old, "signal"), 1);
	assert_int_equal(box_remove(&old), 0);
}

/* Less than a tick of its start time apart, in one cgroup. */
static void lives_with_one_pid_are_one_each(void **state)
{
	enum { LIVES = 20 };
	struct fixture *f = judge_need(state);
	struct proc_spec spec = {.exe = "/bin/true", .new_pidns = true, .no_wait = true};
	struct proc_end end;
	struct proc life;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "5")}, &box);
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	spec.cgroups[0] = box.dir;
	spec.want_pid = box.init_pid;
	for (int i = 0; i < LIVES; i++) {
		assert_int_equal(proc_start(&spec, &life), 0);
		assert_int_equal(life.pid, box.init_pid);
		assert_int_equal(proc_wait(&life, &end), 0);
		proc_free(&life);
	}
	assert_int_equal(box_remove(&box), 0);
	assert_non_null(tracer_await(
		f->tracer, &(struct tracer_want){.type = "stop", .id = box.id, .nth = LIVES}));
	assert_int_equal(judge_count(f, &box, "stop"), 1 + LIVES);
}

/* In the very cgroup where the dead init's child lives on. */
static void a_stranger_with_the_dead_init_s_pid_is_not_the_init(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {
		.outcome = "failed", .cause = "self", .gaps = "['not-empty']", .loose_empty = true};
	struct proc_spec spec = {.argv = BOX_ARGV("deaf")};
	char exe[HIER_PATH_MAX + 16];
	struct proc_end end, gone;
	struct proc stranger;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("leave-child", "3"), .host_pidns = true},
		    &box);
	page_go(box.proc.page, 1);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	snprintf(exe, sizeof(exe), "%s/workload", f->tree.helpers);
	spec.exe = exe;
	spec.cgroups[0] = box.dir;
	spec.want_pid = box.init_pid;
	assert_int_equal(proc_start(&spec, &stranger), 0);
	assert_int_equal(kill(stranger.pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&stranger, &gone), 0);
	assert_int_equal(gone.status, SIGTERM);
	proc_free(&stranger);

	truth.box = &box;
	truth.end = &end;
	judge_record(f, truth, tracer_await_stop(f->tracer, &box));
	page_go(box.proc.page, 2);
	assert_non_null(
		tracer_await(f->tracer, &(struct tracer_want){.type = "empty", .id = box.id}));
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(judge_count(f, &box, "signal"), 0);
	assert_int_equal(box_remove(&box), 0);
}

static void an_init_needs_no_pid_namespace(void **state)
{
	struct fixture *f = judge_need(state);
	struct sent sent;
	struct box box;

	for (int stages = 0; stages < 2; stages++) {
		struct box_spec spec = {
			.argv = BOX_ARGV("graceful", "2"), .host_pidns = true, .stages = stages};

		judge_start(f, &spec, &box);
		assert_int_equal(box.init_pid, box.init_ns_pid);
		stop_gracefully(f, &box, (struct truth){0});
		assert_int_equal(judge_count(f, &box, "stop"), 1);

		/* Nothing shields it, so it is never deaf. */
		spec.argv = BOX_ARGV("deaf");
		judge_start(f, &spec, &box);
		judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		judge_box(f, &box,
			  (struct truth){
				  .outcome = "terminated", .cause = "stop-signal", .stop = &sent});
	}
}

/* Add a process to the box and end it, by a signal or (0) as it pleases. */
static void add_and_end(struct fixture *f, const struct box *box, bool in_pidns,
			const char *const *argv, int sig)
{
	struct proc_end end;
	struct proc proc;

	assert_int_equal(box_exec(&f->tree, box, "workload", in_pidns, argv, &proc), 0);
	if (sig)
		assert_int_equal(kill(proc.pid, sig), 0);
	assert_int_equal(proc_wait(&proc, &end), 0);
	proc_free(&proc);
}

static void processes_added_later_are_no_init(void **state)
{
	struct fixture *f = judge_need(state);

	for (int host = 0; host < 2; host++) {
		struct box_spec spec = {.argv = BOX_ARGV("graceful", "6"), .host_pidns = host};
		struct truth truth = asked;
		struct proc_end end;
		struct proc left;
		struct sent sent;
		struct box box;

		judge_start(f, &spec, &box);
		for (int in_pidns = 0; in_pidns < 2; in_pidns++) {
			add_and_end(f, &box, in_pidns, BOX_ARGV("graceful"), SIGTERM);
			add_and_end(f, &box, in_pidns, BOX_ARGV("exec", "2", "deaf"), SIGKILL);
			add_and_end(f, &box, in_pidns, BOX_ARGV("exit", "1"), 0);
		}
		/* One more stays: the init takes it along where it has a pid namespace. */
		assert_int_equal(
			box_exec(&f->tree, &box, "workload", !host, BOX_ARGV("sigign"), &left), 0);
		if (host)
			proc_free(&left);
		judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		/* A namespace's init cannot end before everybody in it is reaped. */
		if (!host)
			assert_int_equal(proc_wait(&left, &end), 0);
		proc_free(&left);
		truth.stop = &sent;
		truth.collateral_kills = !host;
		judge_box(f, &box, truth);
		assert_int_equal(judge_count(f, &box, "stop"), 1);
		assert_int_equal(judge_count(f, &box, "signal"), 1);
	}
}

static void forks_without_exec_are_no_init(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	for (int host = 0; host < 2; host++) {
		struct box_spec spec = {
			.prog = "crowd", .argv = BOX_ARGV("forks", "211", "3"), .host_pidns = host};

		judge_start(f, &spec, &box);
		judge_box(f, &box, (struct truth){.outcome = "failed", .cause = "self"});
		assert_int_equal(judge_count(f, &box, "stop"), 1);
	}
}

static void below_a_container_is_the_container(void **state)
{
	struct fixture *f = judge_need(state);
	struct box_spec spec = {.argv = BOX_ARGV("graceful", "7"), .nested = "below"};
	struct sent sent;
	struct box box, other;
	struct proc sender;
	char pid[16];

	/* From below one container into below another. */
	judge_start(f, &spec, &other);
	judge_start(f, &spec, &box);
	snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
	assert_int_equal(box_exec(&f->tree, &other, "sender", false, BOX_ARGV("kill", pid, "15"),
				  &sender),
			 0);
	assert_int_equal(send_collect(SEND_CONTAINER, &other, &sender, &sent, 1), 1);
	judge_box(f, &box,
		  (struct truth){.outcome = "graceful", .cause = "stop-signal", .stop = &sent});

	/* An init that moves on into a cgroup below. */
	spec.nested = NULL;
	judge_start(f, &spec, &box);
	assert_true(snprintf(box.nested_dir, sizeof(box.nested_dir), "%s/init", box.dir) <
		    (int)sizeof(box.nested_dir));
	assert_int_equal(hier_make(&f->tree.hier, box.nested_dir, false), 0);
	assert_int_equal(cg_enter(box.nested_dir, box.init_pid), 0);
	stop_gracefully(f, &box, (struct truth){0});
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	stop_gracefully(f, &other, (struct truth){0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a vforked child is not the init", a_vforked_child_is_not_the_init),
		CLAIM("each life of a cgroup has its init, exec'd, forked or vforked",
		      each_life_of_a_cgroup_has_its_init),
		CLAIM("an exec by a thread that is not the leader keeps the init",
		      an_exec_by_another_thread_keeps_the_init),
		CLAIM("a reused pid is another process", a_reused_pid_is_another_process),
		CLAIM("... and each life with the same pid in one cgroup has a record",
		      lives_with_one_pid_are_one_each),
		CLAIM("a stranger with the dead init's pid is not the init",
		      a_stranger_with_the_dead_init_s_pid_is_not_the_init),
		CLAIM("an init needs no pid namespace", an_init_needs_no_pid_namespace),
		CLAIM("processes added to a running container are no init",
		      processes_added_later_are_no_init),
		CLAIM("forks without exec are no init", forks_without_exec_are_no_init),
		CLAIM("what runs in a cgroup below a container is the container",
		      below_a_container_is_the_container),
	};
	int failed = cmocka_run_group_tests_name("group_dead known", tests, setup, fixture_close);

	return failed + cmocka_run_group_tests_name("group_dead unknown", tests,
						    setup_no_group_dead, fixture_close);
}
