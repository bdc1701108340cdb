// SPDX-License-Identifier: Apache-2.0
// An init that only says how its application ended: what ended that ended the container. What looks
// like it and is not. And the other processes of a stop.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/patience.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1024UL * 1024)

enum by { BY_ITSELF, BY_THE_HOST, BY_A_RUNTIME, BY_ITS_CONTAINER };

static int setup(void **state)
{
	return fixture_open(state, "processes", BOX_ARGV("--assume-grace", "2s"));
}

/* The host's pid of the process that its box calls ns_pid. */
static pid_t pid_in(const struct box *box, pid_t ns_pid)
{
	pid_t pids[64];
	int n = cg_pids(box->dir, pids, LEN(pids));

	for (int i = 0; i < n && i < (int)LEN(pids); i++)
		if (peek_ns_pid(pids[i]) == ns_pid)
			return pids[i];
	fail_msg("pid %d is not in %s", ns_pid, box->path);
	return 0;
}

static pid_t app_of(const struct box *box)
{
	const struct note *note = page_find(box->proc.page, NOTE_CHILD, 0);

	assert_non_null(note);
	return pid_in(box, note->pid);
}

static void shoot(struct fixture *f, const struct box *box, enum by by, pid_t pid, int sig)
{
	static const enum send_from from[] = {
		[BY_THE_HOST] = SEND_HOST,
		[BY_A_RUNTIME] = SEND_RUNTIME,
		[BY_ITS_CONTAINER] = SEND_CONTAINER,
	};
	struct sent sent;

	if (by == BY_ITSELF)
		return;
	assert_int_equal(send_signal(&f->tree, from[by], by == BY_ITS_CONTAINER ? box : NULL, pid,
				     sig, &sent),
			 0);
}

/* The record of a box's stop; the box is removed. */
static const json_t *end(struct fixture *f, struct box *box)
{
	struct proc_end ended;
	const json_t *rec;

	assert_int_equal(proc_wait(&box->proc, &ended), 0);
	rec = tracer_await_stop(f->tracer, box);
	assert_int_equal(box_remove(box), 0);
	return rec;
}

/* The member of processes[] with that pid; NULL: there is none. */
static const json_t *member(const json_t *rec, pid_t pid)
{
	const json_t *all = jrec_get(rec, "processes");

	for (size_t i = 0; i < json_array_size(all); i++)
		if (jrec_int(json_array_get(all, i), "pid", 0) == pid)
			return json_array_get(all, i);
	return NULL;
}

/* --- an application's end that is passed on, or is not --- */

struct row {
	const char *what;
	const char *argv[6];
	enum by by;
	int sig;
	bool host_pidns;
	uint64_t memory;
	const char *verdict; /* members of the record */
	const char *how;     /* it was passed on; NULL: it was not */
	const char *by_whom; /* ended_by of the application; NULL: it is not looked for */
};

static const struct row rows[] = {
	{"killed by the host",
	 {"pass", "0", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .verdict = "{'outcome':'killed','cause':'host','exit':{'code':137},"
		    "'kill_signal':{'number':9,'sender':{'kind':'host'}},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "host"},
	{"killed by a runtime",
	 {"pass", "0", "1", "pause", "0"},
	 BY_A_RUNTIME,
	 SIGKILL,
	 .verdict = "{'outcome':'killed','cause':'no-grace','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "runtime"},
	{"killed by another process of the container",
	 {"pass", "0", "1", "pause", "0"},
	 BY_ITS_CONTAINER,
	 SIGKILL,
	 .verdict = "{'outcome':'killed','cause':'same-container','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "container"},
	{"ended by the host's SIGTERM",
	 {"pass", "0", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGTERM,
	 .verdict = "{'outcome':'terminated','cause':'host','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "host"},
	{"killed by itself",
	 {"pass", "0", "1", "kill", "0"},
	 .verdict = "{'outcome':'killed','cause':'self','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "itself"},
	{"a segfault",
	 {"pass", "0", "1", "segv", "0"},
	 .verdict = "{'outcome':'crashed','cause':'self','exit':{'code':139},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "itself"},
	{"an abort",
	 {"pass", "0", "1", "abort", "0"},
	 .verdict = "{'outcome':'crashed','cause':'self','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "itself"},
	{"its own code",
	 {"pass", "0", "1", "exit", "3"},
	 .verdict = "{'outcome':'failed','cause':'self','exit':{'code':3},"
		    "'kill_signal':null,'evidence':{'complete':true}}",
	 .how = "inferred",
	 .by_whom = "itself"},
	{"killed by the kernel, as the thread that started it has ended",
	 {"thread", "9", "1", "pause", "0"},
	 .verdict = "{'outcome':'killed','cause':'parent-death','exit':{'code':137},"
		    "'kill_signal':{'sender':{'kind':'kernel'}},'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "parent-death"},
	{"... by SIGUSR1",
	 {"thread", "10", "1", "pause", "0"},
	 .verdict = "{'outcome':'terminated','cause':'parent-death','exit':{'code':138},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "parent-death"},
	{"out of memory",
	 {"pass", "0", "1", "oom", "0"},
	 .memory = 32 * MIB,
	 .verdict = "{'outcome':'oom-killed','cause':'oom-container','exit':{'code':137},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "oom"},
	{"killed, two levels below",
	 {"pass", "0", "2", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .verdict = "{'outcome':'killed','cause':'host','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "host"},
	{"out of memory, three levels below",
	 {"pass", "0", "3", "oom", "0"},
	 .memory = 32 * MIB,
	 .verdict = "{'outcome':'oom-killed','cause':'oom-container',"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "oom"},
	/* Without a stop, a grandchild's code is no record: the child is named. */
	{"its own code, two levels below",
	 {"pass", "0", "2", "exit", "7"},
	 .verdict = "{'outcome':'failed','cause':'self','exit':{'code':7},"
		    "'evidence':{'complete':true}}",
	 .how = "inferred"},
	{"killed, with an orphan that was killed just before",
	 {"orphan", "0", "1", "kill", "0"},
	 .verdict = "{'outcome':'killed','exit':{'code':137},"
		    "'evidence':{'complete':false,'gaps':['child-uncertain']}}",
	 .how = "inferred"},
	{"its own code, with an orphan that was killed just before",
	 {"orphan", "0", "1", "exit", "4"},
	 .verdict = "{'outcome':'failed','cause':'self','exit':{'code':4},"
		    "'evidence':{'complete':true}}",
	 .how = "inferred",
	 .by_whom = "itself"},
	{"killed, and the init exits with another code",
	 {"code", "4", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .verdict = "{'outcome':'failed','cause':'self','exit':{'code':4},"
		    "'kill_signal':null,'evidence':{'complete':true}}",
	 .by_whom = "host"},
	{"killed, and the init exits with the code of another signal",
	 {"code", "143", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .verdict = "{'outcome':'failed','cause':'self','exit':{'code':143},"
		    "'kill_signal':null,'evidence':{'complete':true}}",
	 .by_whom = "host"},
	{"killed, and the init, which had it so, exits with 0",
	 {"code", "0", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .verdict = "{'outcome':'completed','exit':{'code':0},'evidence':{'complete':true}}",
	 .by_whom = "host"},
	{"killed, 1.5 s before the init exits with 137",
	 {"late", "1500", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .verdict = "{'outcome':'killed','cause':'host','exit':{'code':137},"
		    "'evidence':{'gaps':['child-uncertain']}}",
	 .how = "inferred",
	 .by_whom = "host"},
	{"killed, without a pid namespace",
	 {"pass", "0", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .host_pidns = true,
	 .verdict = "{'outcome':'killed','cause':'host','evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "host"},
	{"a segfault that an init without a pid namespace repeats",
	 {"raise", "0", "1", "segv", "0"},
	 .host_pidns = true,
	 .verdict = "{'outcome':'crashed','cause':'self','exit':{'signal':11},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "itself"},
	{"a SIGTERM that an init without a pid namespace repeats",
	 {"raise", "0", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGTERM,
	 .host_pidns = true,
	 .verdict = "{'outcome':'terminated','cause':'host','exit':{'signal':15},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "host"},
	{"a SIGKILL that an init without a pid namespace repeats",
	 {"raise", "0", "1", "pause", "0"},
	 BY_THE_HOST,
	 SIGKILL,
	 .host_pidns = true,
	 .verdict = "{'outcome':'killed','cause':'host','exit':{'signal':9},"
		    "'evidence':{'complete':true}}",
	 .how = "status-passed-on",
	 .by_whom = "host"},
	{"a SIGKILL that nobody sent, by seccomp, and that such an init repeats",
	 {"raise", "0", "1", "strict", "0"},
	 .host_pidns = true,
	 .verdict = "{'outcome':'killed','cause':'unknown','exit':{'signal':9},'kill_signal':null,"
		    "'evidence':{'complete':false}}",
	 .how = "status-passed-on"},
};

static void judge_row(const struct row *row, const json_t *rec, pid_t app)
{
	const json_t *listed = member(rec, app);

	judge_match(rec, row->verdict);
	if (row->how)
		assert_string_equal(jrec_text(rec, "via.how"), row->how);
	else
		assert_true(jrec_is_null(rec, "via"));
	if (!row->by_whom)
		return;
	if (row->how)
		assert_int_equal(jrec_int(rec, "via.pid", 0), app);
	assert_non_null(listed);
	assert_string_equal(jrec_text(listed, "ended_by"), row->by_whom);
	assert_int_equal(jrec_int(rec, "cut", -1), 0);
}

static void an_application_s_end_is_its_container_s_if_init_passes_it_on(void **state)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct box box;
		pid_t app;

		if (row->memory && !f->tree.hier.memory)
			continue;
		print_message("%s\n", row->what);
		judge_start(f,
			    &(struct box_spec){.prog = "wrapper",
					       .argv = row->argv,
					       .host_pidns = row->host_pidns,
					       .memory = row->memory},
			    &box);
		app = app_of(&box);
		page_go(box.proc.page, 1);
		shoot(f, &box, row->by, app, row->sig);
		judge_row(row, end(f, &box), app);
	}
}

/* --- what is no application's end -------------------------------------------------------------- */

static void an_init_s_own_137_is_its_own(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	judge_start(f,
		    &(struct box_spec){.prog = "wrapper",
				       .argv = BOX_ARGV("handler", "137", "0", "exit", "0")},
		    &box);
	shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
	rec = end(f, &box);
	judge_match(rec, "{'exit':{'code':137},'via':null,'kill_signal':null,'cut':0,"
			 "'evidence':{'complete':true}}");
	assert_string_not_equal(jrec_text(rec, "outcome"), "killed");
}

static void what_ended_long_before_is_not_listed(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;
	pid_t app;

	judge_start(f,
		    &(struct box_spec){.prog = "wrapper",
				       .argv = BOX_ARGV("late", "1500", "1", "exit", "3")},
		    &box);
	app = app_of(&box);
	page_go(box.proc.page, 1);
	rec = end(f, &box);
	assert_null(member(rec, app));
	assert_true(jrec_is_null(rec, "via"));
}

static void a_fault_of_pid_1_is_its_own(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	judge_start(f,
		    &(struct box_spec){.prog = "wrapper",
				       .argv = BOX_ARGV("fault", "0", "1", "segv", "0")},
		    &box);
	page_go(box.proc.page, 1);
	rec = end(f, &box);
	judge_match(rec, "{'outcome':'crashed','cause':'self','exit':{'signal':11},'via':null,"
			 "'abort_ns':null,'evidence':{'complete':true}}");
}

/* Which fault it ends by is the processor's. */
static void a_fault_of_pid_1_after_its_sigabrt_is_an_abort(void **state)
{
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;

	judge_start(f, &(struct box_spec){.prog = "faults", .argv = BOX_ARGV("abort")}, &box);
	rec = end(f, &box);
	judge_match(rec, "{'outcome':'crashed','cause':'self','via':null,"
			 "'evidence':{'complete':true}}");
	assert_true(jrec_int(rec, "abort_ns", 0) > 0);
}

/* --- real programs ------------------------------------------------------------------------------ */

struct shell {
	const char *what, *script;
	enum by by;
	int sig;    /* to its child */
	bool asked; /* the init is asked to stop */
	const char *verdict;
	const char *by_whom; /* ended_by of its child */
	bool via, cut;
};

/* The first process so many levels below the init, which runs its program. */
static pid_t await_below(const struct box *box, int levels)
{
	char comm[16] = "";
	pid_t child = 0, parent;

	for (int ms = 0; ms < PATIENCE_MS && strcmp(comm, "sleep") != 0; ms++) {
		usleep(1000);
		child = box->init_pid;
		for (int i = 0; i < levels && child; i++)
			child = peek_first_child(child);
		if (!child || peek_parent(child, &parent, comm))
			comm[0] = '\0';
	}
	assert_true(child > 0);
	return child;
}

static pid_t await_child(const struct box *box)
{
	return await_below(box, 1);
}

static void real_shells_say_how_their_children_ended(void **state)
{
	static const struct shell table[] = {
		{"a child of sh that is killed", "sleep 1000 & echo r >&4; wait $!; exit $?",
		 BY_THE_HOST, SIGKILL, false,
		 "{'outcome':'killed','cause':'host','exit':{'code':137},"
		 "'evidence':{'complete':true}}",
		 "host", true, false},
		{"sh goes on after that", "sleep 1000 & echo r >&4; wait $!; exit 3", BY_THE_HOST,
		 SIGKILL, false,
		 "{'outcome':'failed','cause':'self','exit':{'code':3},"
		 "'evidence':{'complete':true}}",
		 "host", false, false},
		{"sh leaves its child behind", "trap 'exit 0' TERM; sleep 1000 & echo r >&4; wait",
		 BY_ITSELF, 0, true,
		 "{'outcome':'graceful','cause':'stop-signal','cut':1,"
		 "'evidence':{'complete':true}}",
		 "pid-namespace", false, true},
		{"sh passes its stop on",
		 "trap 'kill $c; wait $c; exit $?' TERM; sleep 1000 & c=$!; echo r >&4; wait",
		 BY_ITSELF, 0, true,
		 "{'outcome':'graceful','cause':'stop-signal','exit':{'code':143},'cut':0,"
		 "'evidence':{'complete':true}}",
		 "container", false, false},
		{"sh kills its child",
		 "trap 'kill -9 $c; wait $c; exit 0' TERM; sleep 1000 & c=$!; echo r >&4; wait",
		 BY_ITSELF, 0, true,
		 "{'outcome':'graceful','cause':'stop-signal','cut':1,"
		 "'evidence':{'complete':true}}",
		 "container", false, true},
		{"timeout kills its child",
		 "echo r >&4; exec 4>&-; exec timeout -s KILL 1 sleep 1000", BY_ITSELF, 0, false,
		 "{'outcome':'killed','cause':'supervisor','exit':{'code':137},"
		 "'evidence':{'complete':true}}",
		 "container", true, false},
		{"timeout ends its child", "echo r >&4; exec 4>&-; exec timeout 1 sleep 1000",
		 BY_ITSELF, 0, false,
		 "{'outcome':'terminated','cause':'supervisor','exit':{'code':124},"
		 "'evidence':{'complete':true}}",
		 "container", true, false},
		{"timeout -k, whose child ignores SIGTERM",
		 "echo r >&4; exec 4>&-; exec timeout -k .1 1 sh -c 'trap \"\" TERM; exec sleep 1000'",
		 BY_ITSELF, 0, false,
		 "{'outcome':'killed','cause':'supervisor','exit':{'code':137},"
		 "'evidence':{'complete':true}}",
		 "container", true, false},
		{"timeout below sh", "echo r >&4; exec 4>&-; timeout 1 sleep 1000; exit $?",
		 BY_ITSELF, 0, false,
		 "{'outcome':'terminated','cause':'supervisor','exit':{'code':124},"
		 "'evidence':{'complete':true}}",
		 "container", true, false},
		{"a host's SIGTERM to the child of timeout",
		 "echo r >&4; exec 4>&-; exec timeout 1000 sleep 1000", BY_THE_HOST, SIGTERM, false,
		 "{'outcome':'terminated','cause':'host','exit':{'code':143},"
		 "'evidence':{'complete':true}}",
		 "host", true, false},
		{"sh ends its child as timeout does, and by another code",
		 "sleep 1000 & echo r >&4; sleep .3; kill $!; wait; exit 3", BY_ITSELF, 0, false,
		 "{'outcome':'failed','cause':'self','exit':{'code':3},"
		 "'evidence':{'complete':true}}",
		 "container", false, false},
	};
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(table); i++) {
		const struct shell *row = &table[i];
		const json_t *rec, *listed;
		struct box box;
		pid_t child;

		print_message("%s\n", row->what);
		judge_start(
			f,
			&(struct box_spec){.prog = "stopper",
					   .argv = BOX_ARGV("run", "/bin/sh", "-c", row->script)},
			&box);
		child = row->sig || row->asked ? await_child(&box) : 0;
		if (row->sig)
			shoot(f, &box, row->by, child, row->sig);
		if (row->asked)
			shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
		rec = end(f, &box);
		judge_match(rec, row->verdict);
		assert_string_equal(jrec_text(rec, "via.how"), row->via ? "status-passed-on" : "");
		listed = json_array_get(jrec_get(rec, "processes"), 1);
		judge_match(listed, row->cut ? "{'cut':true}" : "{'cut':false}");
		/* timeout may end it before it is sleep. */
		if (child)
			judge_match(listed, "{'comm':'sleep'}");
		assert_string_equal(jrec_text(listed, "ended_by"), row->by_whom);
	}
}

static const struct {
	const char *what, *script;
	enum by by;
	int sig; /* to the init */
	const char *verdict, *by_whom;
} without_pidns[] = {
	{"sh ends its child, and then itself",
	 "sleep 1000 & echo r >&4; kill $!; wait $!; kill $$; sleep 9", BY_ITSELF, 0,
	 "{'outcome':'crashed','cause':'self','via':null,'exit':{'signal':15},"
	 "'evidence':{'gaps':['child-uncertain']}}",
	 "container"},
	{"sh kills its child, and then itself",
	 "sleep 1000 & echo r >&4; kill -9 $!; wait $!; kill -9 $$; sleep 9", BY_ITSELF, 0,
	 "{'outcome':'killed','cause':'self','via':null,"
	 "'evidence':{'gaps':['child-uncertain']}}",
	 "container"},
	{"sh passes its stop on, and repeats it",
	 "trap 'kill $c; wait $c; trap - TERM; kill $$' TERM; sleep 1000 & c=$!; echo r >&4; wait",
	 BY_A_RUNTIME, SIGTERM,
	 "{'outcome':'terminated','cause':'stop-signal','via':{'how':'status-passed-on'},"
	 "'evidence':{'complete':true}}",
	 "container"},
	{"sh is killed, and its child has a signal for that",
	 "setpriv --pdeathsig TERM sleep 1000 & echo r >&4; wait", BY_THE_HOST, SIGKILL,
	 "{'outcome':'killed','cause':'host','via':null,'evidence':{'complete':true}}",
	 "parent-death"},
};

static void an_init_that_is_no_pid_1_may_end_itself(void **state)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(without_pidns); i++) {
		const char *script = without_pidns[i].script;
		struct box box;
		const json_t *rec, *listed;

		print_message("%s\n", without_pidns[i].what);
		judge_start(f,
			    &(struct box_spec){.prog = "stopper",
					       .argv = BOX_ARGV("run", "/bin/sh", "-c", script),
					       .host_pidns = true},
			    &box);
		if (without_pidns[i].sig)
			await_child(&box);
		shoot(f, &box, without_pidns[i].by, box.init_pid, without_pidns[i].sig);
		rec = end(f, &box);
		judge_match(rec, without_pidns[i].verdict);
		listed = json_array_get(jrec_get(rec, "processes"), 1);
		assert_string_equal(jrec_text(listed, "ended_by"), without_pidns[i].by_whom);
	}
}

/* Without a pid namespace its parent is outside then. */
static void a_process_left_behind_was_not_brought_in(void **state)
{
	static const char script[] = "trap 'exit 0' TERM; sleep 1000 & echo r >&4; wait";
	struct fixture *f = judge_need(state);
	const json_t *rec;
	struct box box;
	pid_t child;

	judge_start(f,
		    &(struct box_spec){.prog = "stopper",
				       .host_pidns = true,
				       .argv = BOX_ARGV("run", "/bin/sh", "-c", script)},
		    &box);
	child = await_child(&box);
	assert_int_equal(peek_ns_pid(child), child);
	shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
	assert_int_equal(waitid(P_PIDFD, (id_t)box.proc.pidfd, &(siginfo_t){}, WEXITED | WNOWAIT),
			 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	rec = end(f, &box);
	judge_match(rec, "{'outcome':'graceful'}");
	/* Where the machine is slow, the record is made before. */
	if (member(rec, child))
		judge_match(member(rec, child), "{'entered':false,'cut':true,'ended_by':'host'}");
}

/* It is PID 1 of its own. */
static void a_process_of_a_namespace_below_has_the_container_s_number(void **state)
{
	static const char script[] =
		"trap 'exit 0' TERM; unshare -pf sleep 1000 & echo r >&4; wait";
	struct fixture *f = judge_need(state);
	const struct tracer_spec spec = {.args = BOX_ARGV("--assume-grace", "2s"),
					 .tree = &f->tree};
	struct tracer *late;
	const json_t *rec;
	struct box box;
	pid_t sleeper;

	judge_start(f,
		    &(struct box_spec){.prog = "stopper",
				       .argv = BOX_ARGV("run", "/bin/sh", "-c", script)},
		    &box);
	sleeper = await_below(&box, 2);
	assert_int_equal(peek_ns_pid(sleeper), 1);
	assert_int_equal(tracer_start(&spec, &late), 0);
	shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
	rec = end(f, &box);
	judge_match(rec, "{'outcome':'graceful','process':{'ns_pid':1},'cut':2}");
	judge_match(member(rec, sleeper), "{'ns_pid':3,'cut':true}");
	judge_match(member(tracer_await_stop(late, &box), sleeper), "{'ns_pid':3,'cut':true}");
	assert_int_equal(tracer_stop(late), 0);
	tracer_free(late);
}

/* As deep as the container's, and beside it. Its first child is its PID 1. */
static void enter_beside(const struct box *box, int report)
{
	pid_t child;

	if (cg_enter(box->dir, getpid()) || unshare(CLONE_NEWPID))
		_exit(1);
	child = fork();
	if (child && (write(report, &child, sizeof(child)) < 0 || waitpid(child, NULL, 0) < 0))
		_exit(1);
	for (;;)
		pause();
}

static void a_process_of_a_namespace_beside_has_no_number(void **state)
{
	static const char script[] = "trap 'sleep .5; exit 0' TERM; sleep 1000 & echo r >&4; wait";
	struct fixture *f = judge_need(state);
	pid_t outer, inner = 0;
	const json_t *rec;
	struct box box;
	int report[2];

	judge_start(f,
		    &(struct box_spec){.prog = "stopper",
				       .argv = BOX_ARGV("run", "/bin/sh", "-c", script)},
		    &box);
	assert_int_equal(pipe(report), 0);
	outer = fork();
	if (!outer)
		enter_beside(&box, report[1]);
	assert_int_equal(read(report[0], &inner, sizeof(inner)), sizeof(inner));
	assert_int_equal(peek_ns_pid(inner), 1);
	shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
	assert_int_equal(proc_wait(&box.proc, &(struct proc_end){}), 0);
	rec = tracer_await_stop(f->tracer, &box);
	assert_int_equal(kill(inner, SIGKILL) | kill(outer, SIGKILL), 0);
	assert_int_equal(waitpid(outer, NULL, 0), outer);
	assert_int_equal(box_remove(&box), 0);
	judge_match(rec, "{'process':{'ns_pid':1}}");
	judge_match(member(rec, inner), "{'ns_pid':null}");
	close(report[0]);
	close(report[1]);
}

/* Its end is not seen there. */
static void a_process_that_leaves_in_a_stop_is_a_gap(void **state)
{
	static const char script[] = "trap 'sleep .5; exit 0' TERM; sleep 1000 & echo r >&4; wait";
	struct fixture *f = judge_need(state);
	char dir[HIER_PATH_MAX];
	const json_t *rec;
	struct box box;
	pid_t child;

	judge_start(f,
		    &(struct box_spec){.prog = "stopper",
				       .argv = BOX_ARGV("run", "/bin/sh", "-c", script)},
		    &box);
	child = await_child(&box);
	shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
	usleep(200000);
	snprintf(dir, sizeof(dir), "%s", box.dir);
	*strrchr(dir, '/') = '\0';
	assert_int_equal(cg_enter(dir, child), 0);
	rec = end(f, &box);
	judge_match(rec, "{'outcome':'graceful','cut':0,'processes_gaps':['left']}");
	judge_match(member(rec, child), "{'exit':{'code':null,'signal':null},'cut':false}");
}

/* --- storms ------------------------------------------------------------------------------------- */

#define NEIGHBOURS 20

/* A neighbour's application is killed while the storm rages. */
static void judge_neighbour(struct fixture *f)
{
	const struct row *row = &rows[0];
	struct box box;
	pid_t app;

	judge_start(f, &(struct box_spec){.prog = "wrapper", .argv = row->argv}, &box);
	app = app_of(&box);
	shoot(f, &box, row->by, app, row->sig);
	judge_row(row, end(f, &box), app);
}

static int64_t lost(struct fixture *f)
{
	int64_t n = 0;

	for (size_t i = 0; i < tracer_records(f->tracer); i++) {
		const json_t *rec = tracer_record(f->tracer, i);
		const char *type;
		json_t *count;

		if (!strcmp(jrec_text(rec, "type"), "lost"))
			json_object_foreach((json_t *)(uintptr_t)jrec_get(rec, "lost"), type, count)
				n += (int64_t)json_integer_value(count);
	}
	return n;
}

static void a_storm_in_a_stop_takes_nothing_from_others(void **state)
{
	static const char *const kinds[] = {"fork", "signal", "exec"};
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(kinds); i++) {
		const json_t *rec;
		struct box box;

		print_message("%s\n", kinds[i]);
		judge_start(f, &(struct box_spec){.prog = "storm", .argv = BOX_ARGV(kinds[i])},
			    &box);
		shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGTERM);
		page_go(box.proc.page, 1);
		for (int n = 0; n < NEIGHBOURS; n++)
			judge_neighbour(f);
		shoot(f, &box, BY_A_RUNTIME, box.init_pid, SIGKILL);
		rec = end(f, &box);
		judge_match(rec, "{'outcome':'killed','stop_signal':{'number':15}}");
		assert_true(json_array_size(jrec_get(rec, "processes")) <= 16);
	}
	assert_int_equal(lost(f), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an application's end is its container's if init passes it on, and only then",
		      an_application_s_end_is_its_container_s_if_init_passes_it_on),
		CLAIM("an init's own 137 is its own", an_init_s_own_137_is_its_own),
		CLAIM("what ended long before the container did is not listed",
		      what_ended_long_before_is_not_listed),
		CLAIM("a fault of PID 1 is its own, even after its child's",
		      a_fault_of_pid_1_is_its_own),
		CLAIM("a fault of PID 1 right after a SIGABRT in vain is its abort()",
		      a_fault_of_pid_1_after_its_sigabrt_is_an_abort),
		CLAIM("real shells say how their children ended",
		      real_shells_say_how_their_children_ended),
		CLAIM("an init that is no PID 1 and ended its child may end itself",
		      an_init_that_is_no_pid_1_may_end_itself),
		CLAIM("a process that is left behind was not brought in",
		      a_process_left_behind_was_not_brought_in),
		CLAIM("a process of a pid namespace below has its number of the container's",
		      a_process_of_a_namespace_below_has_the_container_s_number),
		CLAIM("a process of a pid namespace beside the container's has no number in it",
		      a_process_of_a_namespace_beside_has_no_number),
		CLAIM("a process that leaves the container's cgroup in a stop is a gap of the list",
		      a_process_that_leaves_in_a_stop_is_a_gap),
		CLAIM("a storm in a container that is being stopped takes nothing from others",
		      a_storm_in_a_stop_takes_nothing_from_others),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
