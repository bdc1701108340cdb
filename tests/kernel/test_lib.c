// SPDX-License-Identifier: Apache-2.0
// The test containers themselves: they are what the kernel tests take them for.
#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/box/peek.h"
#include "lib/jrec.h"
#include "lib/run.h"
#include "lib/box/send.h"
#include "lib/kernel/tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define EXITED(code) ((code) << 8)
#define MIB	     (1024u * 1024u)

static struct box_tree *need_tree(void **state)
{
	if (!*state)
		skip();
	return *state;
}

static int setup(void **state)
{
	const char *why = box_unavailable();
	struct box_tree *tree;

	*state = NULL;
	if (why) {
		fprintf(stderr, "SKIP test containers: %s\n", why);
		return 0;
	}
	tree = calloc(1, sizeof(*tree));
	if (!tree || box_tree_open(tree, "lib"))
		return -1;
	*state = tree;
	return 0;
}

static int teardown(void **state)
{
	int r = box_tree_close(*state);

	free(*state);
	return r;
}

static void an_init_is_in_its_cgroup_and_pid_1_of_its_namespace(void **state)
{
	struct box_tree *tree = need_tree(state);
	char path[HIER_PATH_MAX], comm[16];
	struct box box;
	pid_t parent;

	for (int stages = 0; stages < 2; stages++) {
		struct box_spec spec = {.argv = BOX_ARGV("deaf"), .stages = stages};

		assert_int_equal(box_start(tree, &spec, &box), 0);
		assert_true(box.proc.ready);
		assert_int_equal(box.init_ns_pid, 1);
		assert_int_equal(hier_path_of(&tree->hier, box.init_pid, path, sizeof(path)), 0);
		assert_string_equal(path, box.path);
		assert_int_equal(peek_parent(box.init_pid, &parent, comm), 0);
		assert_int_equal(parent, getpid());
		assert_string_equal(comm, "workload");
		assert_true(box.start_ticks >= box.proc.before_clone_ns / 10000000);
		assert_true(box.start_ticks <= box.proc.after_clone_ns / 10000000);
		assert_int_equal(box_remove(&box), 0);
		assert_int_equal(access(box.pod_dir, F_OK), -1);
	}
}

static void a_box_can_share_a_pod_and_its_pid_namespace(void **state)
{
	struct box_tree *tree = need_tree(state);
	struct box sandbox, box;
	struct proc_end end;

	assert_int_equal(
		box_start(tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &sandbox), 0);
	assert_int_equal(box_start(tree,
				   &(struct box_spec){.argv = BOX_ARGV("deaf"),
						      .pod_of = &sandbox,
						      .pidns_of = &sandbox},
				   &box),
			 0);
	assert_string_equal(box.uid, sandbox.uid);
	assert_string_not_equal(box.id, sandbox.id);
	assert_int_not_equal(box.init_ns_pid, 1);
	assert_int_equal(kill(sandbox.init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(end.status, SIGKILL);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&sandbox), 0);
}

static void a_box_can_have_a_pid_of_choice(void **state)
{
	struct box_tree *tree = need_tree(state);
	struct box first, second;
	struct box_spec spec = {.argv = BOX_ARGV("deaf")};

	assert_int_equal(box_start(tree, &spec, &first), 0);
	assert_int_equal(box_remove(&first), 0);
	spec.want_pid = first.init_pid;
	assert_int_equal(box_start(tree, &spec, &second), 0);
	assert_int_equal(second.init_pid, first.init_pid);
	assert_int_equal(box_remove(&second), 0);
}

static void a_process_can_be_added_to_a_running_box(void **state)
{
	struct box_tree *tree = need_tree(state);
	char path[HIER_PATH_MAX];
	struct proc proc;
	struct box box;

	assert_int_equal(box_start(tree,
				   &(struct box_spec){.argv = BOX_ARGV("deaf"), .nested = "below"},
				   &box),
			 0);
	for (int in_pidns = 0; in_pidns < 2; in_pidns++) {
		assert_int_equal(
			box_exec(tree, &box, "workload", in_pidns, BOX_ARGV("deaf"), &proc), 0);
		assert_int_equal(proc.ns_pid == proc.pid, !in_pidns);
		assert_int_equal(hier_path_of(&tree->hier, proc.pid, path, sizeof(path)), 0);
		assert_non_null(strstr(path, box.id));
		proc_free(&proc);
	}
	assert_int_equal(box_remove(&box), 0);
}

static void every_sender_notes_its_own_clocks(void **state)
{
	static const enum send_from senders[] = {SEND_HERE, SEND_HOST, SEND_RUNTIME,
						 SEND_CONTAINER};
	static const char *const comms[] = {"test_lib", "sender", "runc", "sender"};
	struct box_tree *tree = need_tree(state);

	for (size_t i = 0; i < LEN(senders); i++) {
		uint64_t before = page_clock_ns();
		const struct note *heard;
		struct proc_end end;
		struct sent sent;
		struct box box;

		assert_int_equal(box_start(tree,
					   &(struct box_spec){.argv = BOX_ARGV("graceful", "3")},
					   &box),
				 0);
		assert_int_equal(send_signal(tree, senders[i], &box, box.init_pid, SIGTERM, &sent),
				 0);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		assert_int_equal(end.status, EXITED(3));
		assert_string_equal(sent.comm, comms[i]);
		heard = page_find(box.proc.page, NOTE_HEARD, 0);
		assert_non_null(heard);
		assert_int_equal(heard->number, SIGTERM);
		assert_true(before < sent.before_ns && sent.before_ns < sent.after_ns);
		assert_true(sent.before_ns < heard->before_ns && heard->before_ns < end.waited_ns);
		assert_int_equal(box_remove(&box), 0);
	}
}

/* How a box ends that is sent SIGTERM when it is ready, and may go on afterwards. */
static const struct {
	const char *name;
	const char *prog;
	const char *argv[8];
	bool host_pidns;
	bool term; /* send SIGTERM */
	bool kill; /* then SIGKILL */
	uint64_t memory;
	int status; /* wait status without the core bit */
} endings[] = {
	{"graceful", NULL, {"graceful", "7", "1"}, .term = true, .status = EXITED(7)},
	{"deaf as PID 1", NULL, {"deaf"}, .term = true, .kill = true, .status = SIGKILL},
	{"default elsewhere", NULL, {"deaf"}, true, .term = true, .status = SIGTERM},
	{"ignoring", NULL, {"sigign", "2"}, .term = true, .status = EXITED(2)},
	{"blocked as PID 1", NULL, {"blocked", "2"}, .term = true, .status = EXITED(2)},
	{"blocked elsewhere", NULL, {"blocked", "2"}, true, .term = true, .status = SIGTERM},
	{"sigwait, thread", NULL, {"sigwait", "2"}, .term = true, .status = EXITED(2)},
	{"sigwait, main", NULL, {"sigwait", "2", "main"}, .term = true, .status = EXITED(2)},
	{"signalfd", NULL, {"signalfd", "2"}, .term = true, .status = EXITED(2)},
	{"re-raised", NULL, {"reraise"}, true, .term = true, .status = SIGTERM},
	{"crash in handler", NULL, {"crash-in-handler"}, .term = true, .status = SIGSEGV},
	{"exit", NULL, {"exit", "143"}, .status = EXITED(143)},
	{"fault", "faults", {"segv"}, .status = SIGSEGV},
	{"abort", "faults", {"abort"}, true, .status = SIGABRT},
	{"own SIGKILL", "faults", {"raise", "9"}, true, .status = SIGKILL},
	{"own SIGKILL as PID 1", "faults", {"raise", "9", "4"}, .status = EXITED(4)},
	{"own SIGTERMs", "faults", {"selfkill", "1000", "15", "handle", "4"}, .status = EXITED(4)},
	{"seccomp", "faults", {"seccomp-strict"}, .status = SIGKILL},
	{"profiling timer", "faults", {"profile"}, true, .status = SIGPROF},
	{"processor time", "faults", {"rlimit-cpu"}, .status = SIGKILL},
	{"processor time, soft", "faults", {"rlimit-xcpu"}, true, .status = SIGXCPU},
	{"reboot", "faults", {"reboot", "restart"}, .status = SIGHUP},
	{"halt", "faults", {"reboot", "halt"}, .status = SIGINT},
	{"memory", NULL, {"oom"}, .memory = 16 * MIB, .status = SIGKILL},
	{"a child's memory", NULL, {"child-oom", "6"}, .memory = 16 * MIB, .status = EXITED(6)},
	{"big", NULL, {"big", "16", "1"}, .status = EXITED(1)},
	{"shell", NULL, {"shell", "3", "5"}, .term = true, .status = EXITED(5)},
	{"traced", "faults", {"exitkill"}, .status = SIGKILL},
	{"exec'd again", NULL, {"exec", "3", "exit", "8"}, .status = EXITED(8)},
	{"renamed", NULL, {"comm", "a\"\n\033[31m", "exit", "8"}, .status = EXITED(8)},
	{"goes on later", NULL, {"wait", "exit", "8"}, .status = EXITED(8)},
	{"threads, group", "crowd", {"threads", "9", "group", "3"}, .status = EXITED(3)},
	{"threads, kill", "crowd", {"threads", "9", "kill"}, true, .status = SIGKILL},
	{"leader gone", "crowd", {"leader-gone", "3"}, .term = true, .status = EXITED(3)},
	{"exec by a thread", "crowd", {"exec-nonleader", "exit", "3"}, .status = EXITED(3)},
	{"vfork", "crowd", {"vfork", "3", "exit", "1"}, .status = EXITED(3)},
	{"forks", "crowd", {"forks", "50", "3"}, .status = EXITED(3)},
	{"daemon", "crowd", {"daemon", "3"}, .status = EXITED(3)},
};

static void every_workload_ends_as_its_name_says(void **state)
{
	struct box_tree *tree = need_tree(state);

	for (size_t i = 0; i < LEN(endings); i++) {
		struct box_spec spec = {
			.prog = endings[i].prog,
			.argv = endings[i].argv,
			.host_pidns = endings[i].host_pidns,
			.memory = endings[i].memory,
		};
		struct proc_end end;
		struct box box;

		if (spec.memory && !tree->hier.memory)
			continue;
		assert_int_equal(box_start(tree, &spec, &box), 0);
		if (endings[i].term)
			kill(box.init_pid, SIGTERM);
		if (endings[i].kill)
			kill(box.init_pid, SIGKILL);
		for (uint32_t step = 1; step < 3; step++)
			page_go(box.proc.page, step);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		if ((end.status & ~0x80) != endings[i].status)
			fail_msg("%s: expected status %#x, got %#x", endings[i].name,
				 (unsigned int)endings[i].status, (unsigned int)end.status);
		assert_int_equal(box_remove(&box), 0);
	}
}

static void memory_runs_out_at_the_level_that_was_limited(void **state)
{
	struct box_tree *tree = need_tree(state);
	struct box_spec spec = {.argv = BOX_ARGV("oom"), .pod_memory = 16 * MIB};
	struct box_tree node;
	struct proc_end end;
	struct box box;

	if (!tree->hier.memory)
		skip();
	assert_int_equal(box_start(tree, &spec, &box), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(end.status, SIGKILL);
	assert_int_equal(box_remove(&box), 0);

	spec.pod_memory = 0;
	assert_int_equal(box_tree_open(&node, "lib-node"), 0);
	assert_int_equal(hier_limit_memory(&node.hier, node.root, 32 * MIB), 0);
	assert_int_equal(box_start(&node, &spec, &box), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(end.status, SIGKILL);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_tree_close(&node), 0);
}

static void cgroup_kill_ends_a_box(void **state)
{
	struct box_tree *tree = need_tree(state);
	struct proc_end end;
	struct sent sent;
	struct box box;

	if (!tree->hier.v2_mount[0])
		skip();
	assert_int_equal(box_start(tree,
				   &(struct box_spec){.argv = BOX_ARGV("shell", "2"), .twin = true},
				   &box),
			 0);
	assert_int_equal(send_cgroup_kill(&box, &sent), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(end.status, SIGKILL);
	assert_int_equal(box_remove(&box), 0);
}

static void closing_a_tree_ends_what_still_runs(void **state)
{
	struct box_tree tree;
	struct box box;

	need_tree(state);
	assert_int_equal(box_tree_open(&tree, "lib-left"), 0);
	assert_int_equal(box_start(&tree, &(struct box_spec){.argv = BOX_ARGV("shell", "4")}, &box),
			 0);
	assert_int_equal(box_tree_close(&tree), 0);
	assert_int_equal(access(box.dir, F_OK), -1);
	proc_free(&box.proc);
}

static void a_program_that_dies_leaves_no_box_behind(void **state)
{
	struct box_tree tree;
	int fds[2], status;
	char byte;
	pid_t pid;

	need_tree(state);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct box box;

		close(fds[0]);
		if (box_tree_open(&tree, "lib-dies") ||
		    box_start(&tree, &(struct box_spec){.argv = BOX_ARGV("shell", "2")}, &box) ||
		    write(fds[1], &tree, sizeof(tree)) != sizeof(tree))
			_exit(1);
		raise(SIGKILL);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &tree, sizeof(tree)), sizeof(tree));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, SIGKILL);
	/* The pipe's last writer is the guard, which leaves when it has removed everything. */
	assert_int_equal(read(fds[0], &byte, 1), 0);
	assert_int_equal(access(tree.root, F_OK), -1);
	assert_int_equal(access(tree.tmp, F_OK), -1);
	close(fds[0]);
}

/* A stand-in for the tracer: prints what the test wants to read, ends well when interrupted. */
static void write_script(const char *path)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs("#!/bin/sh\n"
	      "trap 'echo last; exit 7' INT\n"
	      "echo '{\"type\":\"attached\"}'\n"
	      "echo '{\"type\":\"stop\",\"container\":{\"id\":\"a\"},\"process\":{\"pid\":3}}'\n"
	      "echo '{\"type\":\"stop\",\"container\":{\"id\":\"b\"},\"process\":{\"pid\":4}}'\n"
	      "echo '{\"type\":\"signal\",\"target\":{\"pid\":4,\"container\":{\"id\":\"b\"}}}'\n"
	      "{ read line < \"$0.fifo\"; } 2>/dev/null\n",
	      out);
	fchmod(fileno(out), 0700);
	fclose(out);
}

static void a_tracer_s_records_are_waited_for(void **state)
{
	struct box_tree *tree = need_tree(state);
	char path[128], fifo[160], *graced = getenv("GRACED");
	struct tracer *tracer;

	graced = graced ? strdup(graced) : NULL;
	snprintf(path, sizeof(path), "%s/graced", tree->tmp);
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	write_script(path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	setenv("GRACED", path, 1);
	assert_int_equal(tracer_start(&(struct tracer_spec){0}, &tracer), 0);
	if (graced)
		setenv("GRACED", graced, 1);
	else
		unsetenv("GRACED");
	free(graced);

	assert_int_equal(jrec_int(tracer_await(tracer, &(struct tracer_want){.id = "b"}),
				  "process.pid", 0),
			 4);
	assert_string_equal(
		jrec_text(tracer_await(tracer, &(struct tracer_want){.id = "b", .nth = 1}), "type"),
		"signal");
	assert_non_null(tracer_await(tracer, &(struct tracer_want){.type = "signal", .pid = 4}));
	assert_int_equal(tracer_count(tracer, &(struct tracer_want){.type = "stop"}), 2);
	assert_int_equal(tracer_stop(tracer), 7);
	assert_null(tracer_await(tracer, &(struct tracer_want){.id = "c"}));
	assert_int_equal(tracer_records(tracer), 4);
	assert_int_equal(tracer_bad_lines(tracer), 1);
	tracer_free(tracer);
}

static void a_record_is_compared_by_the_members_named(void **state)
{
	static const struct {
		const char *expected;
		int differs;
	} table[] = {
		{"{'a':1}", 0},		{"{'a':2}", 1},		 {"{'b':{'c':'x'}}", 0},
		{"{'b':{'c':'y'}}", 1}, {"{'b':{'d':null}}", 0}, {"{'b':{'e':null}}", 1},
		{"{'l':[1,2]}", 0},	{"{'l':[1]}", 1},	 {"{'t':false}", 0},
		{"{'t':null}", 1},	{"{'b':{}}", 0},	 {"{'missing':1}", 1},
		{"{'a':1.0}", 0},	{"not JSON", 1},
	};
	json_t *rec = json_loads("{\"a\":1,\"b\":{\"c\":\"x\",\"d\":null},\"l\":[1,2],\"t\":false}",
				 0, NULL);
	char why[256];

	assert_non_null(rec);
	for (size_t i = 0; i < LEN(table); i++)
		if (jrec_match(rec, table[i].expected, why, sizeof(why)) != table[i].differs)
			fail_msg("%s", table[i].expected);
	assert_string_equal(jrec_text(rec, "b.c"), "x");
	assert_int_equal(jrec_int(rec, "a", 0), 1);
	assert_true(jrec_is_null(rec, "b.d"));
	assert_false(jrec_is_null(rec, "b.e"));
	assert_int_equal(jrec_parse_time("2001-09-09T01:46:40.000000007Z"), 1000000000000000007);
	assert_int_equal(jrec_parse_time("2001-09-09T01:46:40Z"), 0);
	json_decref(rec);
}

static void a_command_s_output_messages_and_status_are_kept(void **state)
{
	struct run_result result;

	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh",
						.args = BOX_ARGV("-c", "echo out; echo err >&2; "
								       "exit 3")},
			     &result),
			 0);
	assert_int_equal(result.status, 3);
	assert_string_equal(result.out, "out\n");
	assert_string_equal(result.err, "err\n");
	run_done(&result);
	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh",
						.args = BOX_ARGV("-c", "yes"),
						.read_max = 4},
			     &result),
			 0);
	assert_int_equal(result.status, 128 + SIGPIPE);
	run_done(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an init is in its cgroup and PID 1 of its namespace",
		      an_init_is_in_its_cgroup_and_pid_1_of_its_namespace),
		CLAIM("a box can share a pod and its pid namespace",
		      a_box_can_share_a_pod_and_its_pid_namespace),
		CLAIM("a box can have the pid of an earlier one", a_box_can_have_a_pid_of_choice),
		CLAIM("a process can be added to a running box",
		      a_process_can_be_added_to_a_running_box),
		CLAIM("every sender notes its own clocks", every_sender_notes_its_own_clocks),
		CLAIM("every workload ends as its name says", every_workload_ends_as_its_name_says),
		CLAIM("memory runs out at the level that was limited",
		      memory_runs_out_at_the_level_that_was_limited),
		CLAIM("cgroup.kill ends a box", cgroup_kill_ends_a_box),
		CLAIM("closing a tree ends what still runs", closing_a_tree_ends_what_still_runs),
		CLAIM("a program that dies leaves no box behind",
		      a_program_that_dies_leaves_no_box_behind),
		CLAIM("a tracer's records are waited for", a_tracer_s_records_are_waited_for),
		CLAIM("a record is compared by the members named",
		      a_record_is_compared_by_the_members_named),
		CLAIM("a command's output, messages and status are kept",
		      a_command_s_output_messages_and_status_are_kept),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
