// SPDX-License-Identifier: Apache-2.0
// Why a stop signal was not acted on: real inits, in each hierarchy, attached before and after.
#include "lib/box/peek.h"
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/kernel/audited.h"
#include "lib/patience.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY "echo r >&4; exec 4>&-; "

enum held {
	HELD_NOT,
	HELD_STOPPED, /* by SIGSTOP */
	HELD_FROZEN,  /* by cgroup.freeze */
	HELD_FREEZER, /* by the v1 freezer */
};

struct role {
	const char *argv[5];
	const char *prog; /* NULL: workload */
	const char *stop; /* the reason in the stop record; NULL: none */
	const char *sent; /* ... in the signal's record */
	long in_call;	  /* first wait until it is in this system call */
	enum held held;
	bool let_go;	 /* before it is killed */
	bool taken;	 /* wait until the signal is not pending any more */
	bool again;	 /* a second one */
	bool next_child; /* wait until its first child is another */
	bool ends;	 /* by itself, nobody kills it */
	bool host_pidns;
};

/* Each says why, or nothing where it heard the signal or nobody can tell. */
static const struct role roles[] = {
	{{"deaf"}, .stop = "no-handler", .sent = "no-handler"},
	{{"sigign"}, .stop = "ignored", .sent = "ignored"},
	{{"sigign"}, .stop = "ignored", .sent = "ignored", .host_pidns = true},
	{{"blocked"}, .stop = "blocked"},
	{{"blocked"}, .stop = "blocked", .host_pidns = true},
	{{"blocked"}, .stop = "blocked", .again = true},
	{{"threads", "blocked", "blocked", "handler"}, "stopper", "blocked", .in_call = PEEK_PAUSE},
	{{"signalfd-other"}, "stopper", "blocked", .in_call = SYS_read},
	{{"wait-other", "blocked"}, "stopper", "blocked", .in_call = SYS_rt_sigtimedwait},
	/* As in posix_spawn(), whose child has yet to exec. */
	{{"vforks", "blocked"}, "stopper", .stop = NULL},
	{{"vforks", "handler"}, "stopper", .stop = NULL},
	/* The first thread has ended, and did not block it. */
	{{"leader-gone", "0", "blocked"}, "crowd", .stop = "blocked"},
	{{"leader-gone", "deaf", "blocked"}, "crowd", .stop = "blocked", .host_pidns = true},
	{{"leader-gone", "deaf", "blocked"}, "crowd", .stop = "no-handler", .sent = "no-handler"},
	/* It was heard, and was not enough. */
	{{"graceful", "0", "600000"}, .taken = true},
	{{"takes", "sigwait"}, "stopper", .in_call = SYS_rt_sigtimedwait, .taken = true},
	{{"takes", "signalfd"}, "stopper", .in_call = SYS_read, .taken = true},
	{{"takes", "sigwait"},
	 "stopper",
	 .in_call = SYS_rt_sigtimedwait,
	 .taken = true,
	 .again = true},
	/* Inits of containers that wait for it with everything blocked. */
	{{"tini"}, "stopper", .in_call = SYS_rt_sigtimedwait, .ends = true},
	{{"sigwait", "0", "thread"}, .in_call = SYS_rt_sigtimedwait, .ends = true},
	{{"signalfd", "0"}, .in_call = SYS_read, .ends = true},
	{{"threads", "blocked", "open", "handler"}, "stopper", .in_call = PEEK_PAUSE, .ends = true},
	/* Held until it is killed, or not so long. */
	{{"graceful"}, .stop = "stopped", .sent = "stopped", .held = HELD_STOPPED},
	{{"graceful"}, .stop = "stopped", .sent = "stopped", .held = HELD_FROZEN},
	{{"graceful"}, .stop = "stopped", .sent = "stopped", .held = HELD_FREEZER},
	{{"tini"},
	 "stopper",
	 "stopped",
	 "stopped",
	 .in_call = SYS_rt_sigtimedwait,
	 .held = HELD_FROZEN},
	{{"deaf"}, .stop = "no-handler", .sent = "no-handler", .held = HELD_STOPPED},
	{{"graceful"}, .sent = "stopped", .held = HELD_STOPPED, .let_go = true, .ends = true},
	{{"graceful"}, .sent = "stopped", .held = HELD_FROZEN, .let_go = true, .ends = true},
	/* Shells. */
	{{"run", "/bin/sh", "-c", READY "sleep 1000; true"},
	 "stopper",
	 "shell",
	 "shell",
	 .in_call = SYS_wait4},
	{{"run", "/bin/bash", "-c", READY "sleep 1000; true"},
	 "stopper",
	 "shell",
	 "shell",
	 .in_call = SYS_wait4},
	{{"run", "/bin/sh", "-c", "mkfifo q; exec 5<>q; rm q; " READY "read line <&5"},
	 "stopper",
	 "no-handler",
	 "no-handler",
	 .in_call = SYS_read},
	{{"run", "/bin/sh", "-c", "trap 'exit 0' TERM; " READY "sleep 1000; true"},
	 "stopper",
	 "trap",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c", "trap 'exit 0' TERM; " READY "sleep 1000; true"},
	 "stopper",
	 "trap",
	 .in_call = SYS_wait4,
	 .taken = true},
	/* The trap ran, once the child that it waited for had ended. */
	{{"run", "/bin/sh", "-c", "trap : TERM; " READY "while :; do sleep 0.3; done"},
	 "stopper",
	 .taken = true,
	 .next_child = true},
	{{"run", "/bin/bash", "-c", "trap : TERM; " READY "while :; do sleep 0.3; done"},
	 "stopper",
	 .taken = true,
	 .next_child = true},
	/* It ran at once: none of these is what the shell waits for, whatever it does with keys. */
	{{"run", "/bin/bash", "-c",
	  "set -m; trap : TERM; sleep 1000 & " READY "while :; do wait; done"},
	 "stopper",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c",
	  "trap : TERM; env --default-signal=INT sleep 1000 & " READY "while :; do wait; done"},
	 "stopper",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c",
	  "trap : TERM; env --default-signal=QUIT sleep 1000 & " READY "while :; do wait; done"},
	 "stopper",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c",
	  "mkfifo q; exec 5<>q; rm q; trap : TERM; env --default-signal=INT,QUIT sleep 1000 & " READY
	  "while :; do read line <&5; done"},
	 "stopper",
	 .in_call = SYS_read,
	 .taken = true},
	/* It waits, but a child that has not exec'd may not be in the background yet. */
	{{"run", "/bin/sh", "-c",
	  "mkfifo q; exec 5<>q; rm q; trap : TERM; " READY "(read line <&5); true"},
	 "stopper",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c", "trap : TERM; sleep 1000 & " READY "while :; do wait; done"},
	 "stopper",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c",
	  "trap 'kill -TERM $c' TERM; (trap '' TERM; " READY "exec sleep 1000) & c=$!; "
	  "while :; do wait; done"},
	 "stopper",
	 "child-ignored",
	 .in_call = SYS_wait4,
	 .taken = true},
	{{"run", "/bin/bash", "-c",
	  "trap 'kill -TERM $c' TERM; sleep 1000 & c=$!; sleep 1000 & " READY
	  "while :; do wait; done"},
	 "stopper",
	 .in_call = SYS_wait4,
	 .taken = true},
};

static int setup(void **state)
{
	return fixture_open(state, "unheard", BOX_ARGV("--signals", "--assume-grace", "2s"));
}

static int setup_unified(void **state)
{
	setenv("GRACED_TEST_HIERARCHY", "unified", 1);
	return setup(state);
}

static void freeze(const struct box *box, const char *how)
{
	char path[2 * HIER_PATH_MAX], line[64] = "";
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.freeze", box->kill_dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0 && write(fd, how, 1) == 1);
	close(fd);
	snprintf(path, sizeof(path), "%s/cgroup.events", box->kill_dir);
	while (!strstr(line, *how == '1' ? "frozen 1" : "frozen 0")) {
		FILE *in = fopen(path, "re");

		assert_non_null(in);
		assert_true(page_clock_ns() < until);
		line[fread(line, 1, sizeof(line) - 1, in)] = 0;
		fclose(in);
	}
}

static void hold(struct fixture *f, const struct box *box, enum held held)
{
	struct sent sent;

	if (held == HELD_STOPPED) {
		judge_send(f, SEND_HOST, box, SIGSTOP, &sent);
		assert_int_equal(waitpid(box->init_pid, NULL, WUNTRACED), box->init_pid);
	} else if (held == HELD_FROZEN) {
		freeze(box, "1");
	} else if (held == HELD_FREEZER) {
		assert_int_equal(v1freezer_hold(box->dir), 0);
	}
}

static void let_go(struct fixture *f, const struct box *box, enum held held)
{
	struct sent sent;

	if (held == HELD_STOPPED)
		judge_send(f, SEND_HOST, box, SIGCONT, &sent);
	else if (held == HELD_FROZEN)
		freeze(box, "0");
	else if (held == HELD_FREEZER)
		assert_int_equal(v1freezer_let_out(getpid()), 0);
}

/* How many processes of a box have exec'd sleep. */
static unsigned int sleepers(const struct box *box)
{
	char path[2 * HIER_PATH_MAX], comm[16];
	unsigned int n = 0;
	FILE *procs;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", box->dir);
	procs = fopen(path, "re");
	assert_non_null(procs);
	while (fscanf(procs, "%d", &pid) == 1) {
		FILE *in;

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		in = fopen(path, "re");
		n += in && fgets(comm, sizeof(comm), in) && !strcmp(comm, "sleep\n");
		if (in)
			fclose(in);
	}
	fclose(procs);
	return n;
}

/* A shell's children are what they are once they have exec'd. */
static void await_sleepers(const struct role *role, const struct box *box)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	unsigned int want = 0;

	if (strcmp(role->argv[0], "run") != 0)
		return;
	for (const char *at = role->argv[3]; (at = strstr(at, "sleep ")); at++)
		want++;
	while (sleepers(box) < want)
		assert_true(page_clock_ns() < until);
}

static void start(struct fixture *f, const struct role *role, struct box *ret)
{
	const struct box_spec spec = {
		.prog = role->prog,
		.argv = role->argv,
		.host_pidns = role->host_pidns,
		.twin = role->held == HELD_FROZEN,
	};

	judge_start(f, &spec, ret);
	await_sleepers(role, ret);
	if (!strcmp(role->argv[0], "leader-gone"))
		assert_int_equal(peek_await_leader_gone(ret->init_pid), 0);
	if (role->in_call)
		assert_int_equal(peek_await_syscall(ret->init_pid, role->in_call), 0);
}

static void await_next_child(const struct box *box)
{
	pid_t child = peek_first_child(box->init_pid), now = child;
	uint64_t until = page_clock_ns() + PATIENCE_NS;

	while (!now || now == child) {
		assert_true(page_clock_ns() < until);
		now = peek_first_child(box->init_pid);
	}
}

static void stop(struct fixture *f, const struct role *role, struct box *box)
{
	struct proc_end end;
	struct sent sent;

	hold(f, box, role->held);
	judge_send(f, SEND_HOST, box, SIGTERM, &sent);
	if (role->let_go)
		let_go(f, box, role->held);
	if (role->taken) {
		audited_await_taken(box->init_pid, SIGTERM);
		if (role->in_call == SYS_wait4)
			assert_int_equal(peek_await_syscall(box->init_pid, SYS_wait4), 0);
	}
	if (role->next_child)
		await_next_child(box);
	if (role->again)
		judge_send(f, SEND_HOST, box, SIGTERM, &sent);
	if (!role->ends)
		judge_send(f, SEND_HOST, box, SIGKILL, &sent);
	if (role->held == HELD_FREEZER)
		let_go(f, box, role->held);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_int_equal(box_remove(box), 0);
}

static bool is_reason(const json_t *rec, const char *want)
{
	return want ? !jrec_is_null(rec, "reason") && !strcmp(jrec_text(rec, "reason"), want)
		    : jrec_is_null(rec, "reason");
}

static unsigned int compare(struct tracer *tracer, const struct role *role, const struct box *box)
{
	const json_t *rec = tracer_await_stop(tracer, box),
		     *sent = tracer_await(tracer,
					  &(struct tracer_want){.type = "signal", .id = box->id});
	bool right = rec && sent && is_reason(sent, role->sent) && is_reason(rec, role->stop);

	if (!right)
		print_message("%s %s %s, held %d: stop %s, signal %s\n", role->argv[0],
			      role->argv[1] ? role->argv[1] : "",
			      role->argv[1] && role->argv[2] && role->argv[3] ? role->argv[3] : "",
			      role->held,
			      rec ? json_string_value(json_object_get(rec, "reason")) : "missing",
			      sent ? json_string_value(json_object_get(sent, "reason"))
				   : "missing");
	return !right;
}

static bool can_be_held(const struct fixture *f, enum held held)
{
	if (held == HELD_FROZEN)
		return f->tree.hier.v2_mount[0];
	return held != HELD_FREEZER || v1freezer_is_here(&f->tree.hier);
}

static void what_was_observed_is_the_reason(void **state)
{
	struct fixture *f = judge_need(state);
	unsigned int wrong = 0;
	struct box box;

	for (size_t i = 0; i < LEN(roles); i++) {
		if (!can_be_held(f, roles[i].held))
			continue;
		start(f, &roles[i], &box);
		stop(f, &roles[i], &box);
		wrong += compare(f->tracer, &roles[i], &box);
	}
	assert_int_equal(wrong, 0);
}

static void who_was_there_before_has_the_same_reason(void **state)
{
	struct fixture *f = judge_need(state);
	const struct tracer_spec spec = {.args = BOX_ARGV("--signals", "--assume-grace", "2s"),
					 .tree = &f->tree};
	struct box *boxes = calloc(LEN(roles), sizeof(*boxes));
	struct tracer *late;
	unsigned int wrong = 0;

	assert_non_null(boxes);
	for (size_t i = 0; i < LEN(roles); i++)
		if (can_be_held(f, roles[i].held))
			start(f, &roles[i], &boxes[i]);
	assert_int_equal(tracer_start(&spec, &late), 0);
	for (size_t i = 0; i < LEN(roles); i++) {
		if (!can_be_held(f, roles[i].held))
			continue;
		stop(f, &roles[i], &boxes[i]);
		wrong += compare(late, &roles[i], &boxes[i]);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(tracer_stop(late), 0);
	tracer_free(late);
	free(boxes);
}

/* What is held there cannot even be killed: it is let out, however the test has ended. */
static int let_out(void **state)
{
	return v1freezer_let_out(getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"why a stop signal was not acted on is what was observed",
		 what_was_observed_is_the_reason, NULL, let_out, NULL},
		{"attached late, it is the same", who_was_there_before_has_the_same_reason, NULL,
		 let_out, NULL},
	};
	int failed = cmocka_run_group_tests_name("unheard", tests, setup, fixture_close);

	return failed +
	       cmocka_run_group_tests_name("unheard, unified", tests, setup_unified, fixture_close);
}
