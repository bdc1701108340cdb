// SPDX-License-Identifier: Apache-2.0
/*
 * What an init makes of its stop signals: the kernel decides when one is queued, and again when it
 * is taken from the queue. Real inits, and what the records say of them.
 */
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/judge.h"
#include "lib/kernel/kernhalf.h"
#include "lib/patience.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
	return fixture_open(state, "taken", BOX_ARGV("--signals"));
}

static void begin(struct fixture *f, struct box *box, const char *const *argv)
{
	judge_start(f, &(struct box_spec){.prog = "stopper", .argv = argv}, box);
}

static void ask(struct fixture *f, const struct box *box, enum send_from by, int sig)
{
	struct sent sent;

	judge_send(f, by, box, sig, &sent);
}

/* It has done what it was to do about its signal. */
static void await_done(const struct box *box)
{
	kernhalf_await_note(box, NOTE_HEARD, 0);
}

static const json_t *stop_of(struct fixture *f, struct box *box)
{
	const json_t *rec;

	assert_int_equal(proc_wait(&box->proc, &(struct proc_end){}), 0);
	assert_int_equal(box_remove(box), 0);
	rec = tracer_await_stop(f->tracer, box);
	assert_non_null(rec);
	return rec;
}

static const json_t *killed(struct fixture *f, struct box *box)
{
	ask(f, box, SEND_RUNTIME, SIGKILL);
	return stop_of(f, box);
}

static const json_t *request_of(const json_t *rec, size_t i)
{
	const json_t *request = json_array_get(jrec_get(rec, "requests"), i);

	assert_non_null(request);
	return request;
}

static void is_dropped(const json_t *request, const char *reason)
{
	assert_string_equal(jrec_text(request, "reason"), reason);
	assert_string_equal(jrec_text(request, "result"), "delivered");
	assert_true(jrec_is_null(request, "taken_boot_ns"));
	assert_true(jrec_int(request, "dropped_boot_ns", 0) >=
		    jrec_int(request, "at_boot_ns", INT64_MAX));
}

static void is_taken(const json_t *request)
{
	assert_true(jrec_is_null(request, "reason"));
	assert_true(jrec_is_null(request, "dropped_boot_ns"));
	assert_true(jrec_int(request, "taken_boot_ns", 0) >=
		    jrec_int(request, "at_boot_ns", INT64_MAX));
}

static void dropped_by_default(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	begin(f, &box, BOX_ARGV("unblocks", "default"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	await_done(&box);
	rec = killed(f, &box);
	judge_match(rec, "{'outcome':'killed','deaf':true,'reason':'no-handler',"
			 "'evidence':{'complete':true}}");
	is_dropped(request_of(rec, 0), "no-handler");

	begin(f, &box, BOX_ARGV("unblocks", "default"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	await_done(&box);
	page_go(box.proc.page, 1);
	judge_match(stop_of(f, &box), "{'outcome':'graceful','cause':'self','deaf':true,"
				      "'reason':'no-handler','evidence':{'complete':true}}");
}

/* SIG_IGN flushes what is pending, which no tracepoint shows. */
static void flushed(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	begin(f, &box, BOX_ARGV("unblocks", "ignore"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	await_done(&box);
	page_go(box.proc.page, 1);
	judge_match(stop_of(f, &box), "{'outcome':'graceful','deaf':false,'reason':null,"
				      "'evidence':{'complete':false,'gaps':['take-unseen']}}");
}

static void late_handler(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	begin(f, &box, BOX_ARGV("unblocks", "handler"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	rec = stop_of(f, &box);
	judge_match(rec, "{'outcome':'graceful','cause':'stop-signal','deaf':false,'reason':null,"
			 "'requests_total':1,'evidence':{'complete':true}}");
	is_taken(request_of(rec, 0));
	assert_false(jrec_is_null(rec, "stages.deliver_ns"));
}

/* The second is what it acted on. */
static void second_heard(void **state)
{
	static const char *const manners[] = {"deafens", "learns"};
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	for (size_t i = 0; i < 2; i++) {
		begin(f, &box, BOX_ARGV(manners[i]));
		ask(f, &box, SEND_RUNTIME, SIGTERM);
		page_go(box.proc.page, 1);
		await_done(&box);
		ask(f, &box, SEND_RUNTIME, SIGTERM);
		rec = stop_of(f, &box);
		judge_match(rec, "{'outcome':'graceful','cause':'stop-signal','deaf':false,"
				 "'reason':null,'requests_total':2,'evidence':{'complete':true}}");
		if (i == 0)
			is_dropped(request_of(rec, 0), "before-handler");
		else
			judge_match(request_of(rec, 0),
				    "{'result':'ignored','reason':'before-handler',"
				    "'taken_boot_ns':null}");
		is_taken(request_of(rec, 1));
		assert_int_equal(jrec_int(rec, "stop_signal.at_boot_ns", 0),
				 jrec_int(request_of(rec, 1), "at_boot_ns", 1));
	}
}

/* The look at what the container holds, when it was asked, came before. */
static void before_handler(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	for (int others = 0; others < 2; others++) {
		begin(f, &box, BOX_ARGV("learns"));
		ask(f, &box, SEND_RUNTIME, SIGTERM);
		if (others)
			ask(f, &box, SEND_RUNTIME, SIGINT);
		usleep(200000);
		page_go(box.proc.page, 1);
		await_done(&box);
		rec = killed(f, &box);
		judge_match(rec, "{'deaf':false,'reason':'before-handler','looks':0,"
				 "'stop_signal':{'name':'SIGTERM'},'evidence':{'complete':true}}");
		judge_match(request_of(rec, 0), "{'reason':'before-handler'}");
	}
}

static void reraised(void **state)
{
	static const char *const ways[] = {"inside", "unblocked", "after", "waited", "other"};
	struct fixture *f = judge_need(state);
	struct tracer_want again;
	const json_t *rec;
	struct box box;

	for (size_t i = 0; i < LEN(ways); i++) {
		begin(f, &box, BOX_ARGV("reraises", ways[i]));
		ask(f, &box, SEND_RUNTIME, SIGTERM);
		await_done(&box);
		again = (struct tracer_want){.type = "signal", .id = box.id, .nth = 1};
		judge_match(tracer_await(f->tracer, &again), "{'deaf':false}");
		if (!strcmp(ways[i], "other"))
			judge_match(tracer_await(f->tracer, &again),
				    "{'signal':{'name':'SIGINT'},'reason':'reraised'}");
		rec = killed(f, &box);
		judge_match(rec, "{'outcome':'killed','deaf':false,'reason':'reraised',"
				 "'requests_total':1,'evidence':{'complete':true}}");
	}
}

static void raised_behind_a_forward(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	begin(f, &box, BOX_ARGV("reraises", "passed"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	await_done(&box);
	judge_match(killed(f, &box), "{'outcome':'killed','deaf':false,'reason':'child-ignored',"
				     "'evidence':{'complete':true}}");
}

static void not_all_block(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	begin(f, &box, BOX_ARGV("held-open"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	judge_match(killed(f, &box), "{'outcome':'killed','deaf':false,'reason':null}");
}

static void waited_then_raised(void **state)
{
	static const char *const ways[] = {"raise", "queue"};
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	for (size_t i = 0; i < 2; i++) {
		begin(f, &box, BOX_ARGV("waits-raises", ways[i]));
		ask(f, &box, SEND_RUNTIME, SIGTERM);
		page_go(box.proc.page, 1);
		rec = stop_of(f, &box);
		judge_match(rec, "{'outcome':'graceful','cause':'stop-signal',"
				 "'stages':{'deliver_ns':null},'evidence':{'complete':true}}");
		judge_match(request_of(rec, 0), "{'taken_boot_ns':null,'dropped_boot_ns':null}");
	}
}

/* SI_QUEUE of a process of the same pid namespace with the init's own pid in it. */
static void forged(void **state)
{
	const struct box_spec spec = {
		.prog = "stopper", .argv = BOX_ARGV("unblocks", "handler"), .host_pidns = true};
	struct fixture *f = judge_need(state);
	struct proc sender;
	const json_t *rec;
	struct sent sent;
	struct box box;
	char pid[16];

	judge_start(f, &spec, &box);
	snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
	assert_int_equal(send_start(&f->tree, SEND_RUNTIME, NULL,
				    BOX_ARGV("forge", pid, "15", "-1", pid), &sender),
			 0);
	assert_int_equal(send_collect(SEND_RUNTIME, NULL, &sender, &sent, 1), 1);
	rec = stop_of(f, &box);
	judge_match(rec, "{'outcome':'graceful','cause':'stop-signal','requests_total':1,"
			 "'evidence':{'complete':true}}");
	is_taken(request_of(rec, 0));
	assert_false(jrec_is_null(rec, "stages.deliver_ns"));
}

static void strays(struct fixture *f, const char *action, const char *leader, struct box *ret)
{
	begin(f, ret, BOX_ARGV("strays", f->tree.root, action, leader));
}

/* A thread of it that is in another cgroup, as cgroup v1 has it. */
static void taken_elsewhere(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	if (f->tree.hier.unified)
		skip();
	strays(f, "default", "stays", &box);
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	await_done(&box);
	page_go(box.proc.page, 1);
	rec = stop_of(f, &box);
	judge_match(rec, "{'outcome':'graceful','cause':'self','deaf':true,'reason':'no-handler',"
			 "'exit':{'code':7},'evidence':{'complete':true}}");
	is_dropped(request_of(rec, 0), "no-handler");

	strays(f, "handler", "leaves", &box);
	assert_int_equal(peek_await_leader_gone(box.init_pid), 0);
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	await_done(&box);
	page_go(box.proc.page, 1);
	rec = stop_of(f, &box);
	judge_match(rec, "{'outcome':'graceful','cause':'stop-signal','deaf':false,'reason':null,"
			 "'exit':{'code':7},'evidence':{'complete':true}}");
	is_taken(request_of(rec, 0));
}

/* The thread of a process that is not its first one. */
static void other_thread(pid_t pid, char ret[16])
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid)
			snprintf(ret, 16, "%.15s", entry->d_name);
	closedir(dir);
}

/* By tgkill(2). */
static void sent_elsewhere(void **state)
{
	struct fixture *f = judge_need(state);
	char pid[16], tid[16] = "";
	struct proc sender;
	const json_t *rec;
	struct sent sent;
	struct box box;

	if (f->tree.hier.unified)
		skip();
	strays(f, "handler", "stays", &box);
	snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
	other_thread(box.init_pid, tid);
	assert_int_equal(send_start(&f->tree, SEND_RUNTIME, NULL,
				    BOX_ARGV("thread", pid, tid, "15"), &sender),
			 0);
	assert_int_equal(send_collect(SEND_RUNTIME, NULL, &sender, &sent, 1), 1);
	await_done(&box);
	page_go(box.proc.page, 1);
	rec = stop_of(f, &box);
	judge_match(rec, "{'outcome':'graceful','cause':'stop-signal','requests_total':1,"
			 "'exit':{'code':7},'evidence':{'complete':true}}");
	is_taken(request_of(rec, 0));
}

static void hook_then_runtime(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec, *first;
	struct sent sent;
	struct box box;

	begin(f, &box, BOX_ARGV("dumps"));
	assert_int_equal(send_signal(&f->tree, SEND_CONTAINER, &box, box.init_pid, SIGQUIT, &sent),
			 0);
	await_done(&box);
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	rec = stop_of(f, &box);
	judge_match(rec, "{'outcome':'graceful','cause':'stop-signal','requests_total':2,"
			 "'stop_signal':{'name':'SIGTERM'}}");
	first = request_of(rec, 0);
	judge_match(first, "{'name':'SIGQUIT','sender':{'inside':true}}");
	is_taken(first);
	judge_match(request_of(rec, 1), "{'name':'SIGTERM','sender':{'inside':false}}");
	assert_int_equal(jrec_int(rec, "latency_ns", -1),
			 jrec_int(rec, "exit.at_boot_ns", 0) - jrec_int(first, "at_boot_ns", 0));
}

/* What an entry point's shell does not hear, and whether the program behind it would have. */
static void before_exec(void **state)
{
	static const struct {
		const char *before, *program, *want;
	} rows[] = {
		{"default", "go", "{'deaf':false,'reason':'before-exec'}"},
		{"ignore", "go", "{'deaf':false,'reason':'before-exec'}"},
		{"ignore", "python", "{'deaf':false,'reason':'ignored'}"},
		{"default", "python", "{'deaf':true,'reason':'no-handler'}"},
		{"default", "signalfd-other", "{'deaf':false,'reason':'before-exec'}"},
		{"ignore", "signalfd-other", "{'deaf':false,'reason':'before-exec'}"},
	};
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	for (size_t i = 0; i < LEN(rows); i++) {
		begin(f, &box, BOX_ARGV("execs", rows[i].program, rows[i].before));
		ask(f, &box, SEND_RUNTIME, SIGTERM);
		page_go(box.proc.page, 1);
		assert_int_equal(peek_await_syscall(box.init_pid,
						    strcmp(rows[i].program, "signalfd-other")
							    ? PEEK_PAUSE
							    : SYS_read),
				 0);
		rec = killed(f, &box);
		judge_match(rec, "{'outcome':'killed','evidence':{'complete':true}}");
		judge_match(rec, rows[i].want);
		judge_match(request_of(rec, 0), "{'target_comm':'entrypoint'}");
		assert_string_equal(jrec_text(request_of(rec, 0), "reason"),
				    jrec_text(rec, "reason"));
	}
}

/* The last program would have heard both. */
static void before_exec_by_two(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	begin(f, &box, BOX_ARGV("execs", "go", "default"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	ask(f, &box, SEND_RUNTIME, SIGINT);
	page_go(box.proc.page, 1);
	assert_int_equal(peek_await_syscall(box.init_pid, PEEK_PAUSE), 0);
	rec = killed(f, &box);
	judge_match(rec, "{'outcome':'killed','deaf':false,'reason':'before-exec',"
			 "'stop_signal':{'name':'SIGTERM'},'evidence':{'complete':true}}");
	judge_match(request_of(rec, 0), "{'reason':'before-exec'}");
}

/* What comes when it dies says nothing of its program. */
static void before_exec_and_dying(void **state)
{
	struct fixture *f = judge_need(state);
	siginfo_t info;
	struct box box;

	begin(f, &box, BOX_ARGV("execs", "go", "default"));
	ask(f, &box, SEND_RUNTIME, SIGTERM);
	page_go(box.proc.page, 1);
	assert_int_equal(peek_await_syscall(box.init_pid, PEEK_PAUSE), 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, box.init_pid, NULL, PTRACE_O_TRACEEXIT), 0);
	ask(f, &box, SEND_RUNTIME, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)box.init_pid, &info, WSTOPPED), 0);
	assert_int_equal(info.si_status, SIGTRAP | PTRACE_EVENT_EXIT << 8);
	ask(f, &box, SEND_RUNTIME, SIGINT);
	assert_int_equal(ptrace(PTRACE_DETACH, box.init_pid, NULL, NULL), 0);
	judge_match(stop_of(f, &box), "{'outcome':'killed','deaf':false,'reason':'before-exec'}");
}

static void inferred(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	begin(f, &box, BOX_ARGV("python"));
	ask(f, &box, SEND_RUNTIME, SIGUSR1);
	judge_match(killed(f, &box),
		    "{'outcome':'killed','stop_signal':{'name':'SIGUSR1','inferred':true},"
		    "'evidence':{'complete':false,'gaps':['stop-signal-unknown']}}");
}

static void kill_from_inside(void **state)
{
	struct tracer_want kill = {.type = "signal"};
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	begin(f, &box, BOX_ARGV("kills"));
	kill.id = box.id;
	rec = tracer_await(f->tracer, &kill);
	judge_match(rec, "{'signal':{'name':'SIGKILL','result':'ignored'},'target':{'init':true}}");
	assert_int_equal(jrec_int(rec, "sender.pid", 0), box.init_pid);
	killed(f, &box);
}

struct orphan {
	struct fixture *f;
	const char *signal;
	struct box box;
};

/* The thread that made it is its parent. */
static void *start_orphan(void *userdata)
{
	struct orphan *o = userdata;

	begin(o->f, &o->box, BOX_ARGV("orphaned", o->signal));
	return NULL;
}

static void parent_death(void **state)
{
	static const char *const expected[] = {
		"{'outcome':'graceful','cause':'parent-death','stop_signal':{'name':'SIGTERM'}}",
		"{'outcome':'killed','cause':'parent-death','kill_signal':{'name':'SIGKILL'}}",
	};
	struct orphan o = {.f = judge_need(state)};
	const json_t *rec, *sender;
	pthread_t thread;

	for (size_t i = 0; i < 2; i++) {
		o.signal = i ? "9" : "15";
		assert_int_equal(pthread_create(&thread, NULL, start_orphan, &o), 0);
		pthread_join(thread, NULL);
		rec = stop_of(o.f, &o.box);
		judge_match(rec, expected[i]);
		sender = jrec_get(rec, i ? "kill_signal.sender" : "stop_signal.sender");
		judge_match(sender, "{'kind':'kernel'}");
		assert_int_equal(jrec_int(sender, "pid", 0), getpid());
	}
}

/* Without the shield of PID 1 it dies of what the kernel sends for its child, or its terminal. */
static void by_child_or_terminal(void **state)
{
	static const struct {
		const char *argv[3], *expected;
	} rows[] = {
		{{"exit-signal", "15"},
		 "{'outcome':'terminated','cause':'same-container','exit':{'signal':15}}"},
		{{"exit-signal", "9"},
		 "{'outcome':'killed','cause':'same-container',"
		 "'kill_signal':{'sender':{'kind':'pod'}},'exit':{'signal':9}}"},
		{{"terminal", "\3"}, "{'outcome':'terminated','cause':'host','exit':{'signal':2}}"},
		{{"terminal", "\34"},
		 "{'outcome':'terminated','cause':'host','exit':{'signal':3}}"},
		{{"terminal", ""}, "{'outcome':'crashed','cause':'self','exit':{'signal':1}}"},
	};
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	for (size_t i = 0; i < LEN(rows); i++) {
		judge_start(f,
			    &(struct box_spec){
				    .prog = "stopper", .argv = rows[i].argv, .host_pidns = true},
			    &box);
		page_go(box.proc.page, 1);
		rec = stop_of(f, &box);
		judge_match(rec, rows[i].expected);
		judge_match(rec, "{'evidence':{'complete':true}}");
		if (!strcmp(rows[i].argv[0], "terminal"))
			judge_match(rec, "{'stop_signal':null}");
	}
}

/* A process outside has the other end. */
static void by_terminal_of_host(void **state)
{
	static const struct {
		const char *key, *expected;
	} rows[] = {
		{"\3", "{'outcome':'terminated','cause':'host','exit':{'signal':2}}"},
		{"", "{'outcome':'terminated','cause':'host','exit':{'signal':1}}"},
	};
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	for (size_t i = 0; i < LEN(rows); i++) {
		int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

		assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
		judge_start(f,
			    &(struct box_spec){.prog = "stopper",
					       .argv = BOX_ARGV("seated", ptsname(master)),
					       .host_pidns = true},
			    &box);
		assert_int_equal(write(master, rows[i].key, strlen(rows[i].key)),
				 strlen(rows[i].key));
		if (!*rows[i].key)
			close(master);
		rec = stop_of(f, &box);
		judge_match(rec, rows[i].expected);
		judge_match(rec, "{'evidence':{'complete':true}}");
		if (*rows[i].key)
			close(master);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a signal that is dropped when it is taken was not heard",
		      dropped_by_default),
		CLAIM("one that is flushed leaves the evidence incomplete", flushed),
		CLAIM("one that is blocked until there is a handler was heard", late_handler),
		CLAIM("one that came before its handler is known by the handler at its end",
		      before_handler),
		CLAIM("a stop is judged by the request that was heard", second_heard),
		CLAIM("a signal that is raised again in vain is no deafness", reraised),
		CLAIM("... nor the reason, where it is another one and the child ignored the first",
		      raised_behind_a_forward),
		CLAIM("blocked is what every thread blocks", not_all_block),
		CLAIM("what is raised after a wait is no delivery", waited_then_raised),
		CLAIM("requests are listed in order, and counted from the first one taken",
		      hook_then_runtime),
		CLAIM("a signal's sender is who queued it, whatever its siginfo says", forged),
		CLAIM("a thread in another cgroup takes a signal for its process", taken_elsewhere),
		CLAIM("... and gets one for its process", sent_elsewhere),
		CLAIM("a signal before the last exec is marked if the program then hears it",
		      before_exec),
		CLAIM("... likewise where signals of two numbers were dropped", before_exec_by_two),
		CLAIM("... and is of what one that dies was sent before", before_exec_and_dying),
		CLAIM("a signal by which a runtime may ask is inferred from its SIGKILL", inferred),
		CLAIM("a SIGKILL that PID 1 ignores from inside has a record", kill_from_inside),
		CLAIM("its child's exit signal and its own hang-up are of its container, ^C is not",
		      by_child_or_terminal),
		CLAIM("... and one that a process of the host has is the host's",
		      by_terminal_of_host),
		CLAIM("the death of its parent is the sender of PR_SET_PDEATHSIG", parent_death),
	};

	return cmocka_run_group_tests_name("taken", tests, setup, fixture_close);
}
