// SPDX-License-Identifier: Apache-2.0
// Senders that are hard to know: in cgroups far below their container, in cgroups that are not
// watched, and signals that have no sender at all. Each is played with the tracer attached before
// and after, on the hierarchies that this host has.
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"
#include "lib/kernel/kernhalf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEEPEST	    120
#define WATCH_MAX   64	/* no cgroup below this level is watched of its own */
#define POD_ENTRIES 512 /* so many cgroups are watched in a pod */

static int setup(void **state)
{
	return attach_open(state, "senders");
}

/* A cgroup that many levels below dir, which is made. */
static void make_deep(struct fixture *f, const char *dir, int levels, char ret[HIER_PATH_MAX])
{
	size_t used = (size_t)snprintf(ret, HIER_PATH_MAX, "%s", dir);

	for (int i = 0; i < levels; i++) {
		assert_true(used + 2 < HIER_PATH_MAX);
		used += (size_t)snprintf(ret + used, HIER_PATH_MAX - used, "/d");
		assert_int_equal(hier_make(&f->tree.hier, ret, false), 0);
	}
}

/* Removes what make_deep() made. */
static void remove_deep(char deep[HIER_PATH_MAX], int levels)
{
	for (int i = 0; i < levels; i++) {
		assert_int_equal(cg_remove(deep), 0);
		*strrchr(deep, '/') = '\0';
	}
}

/* A process of this name in that cgroup sends one signal and is gone. */
static void send_from_dir(struct fixture *f, const char *name, const char *dir,
			  const struct box *via, pid_t target, int sig, struct sent *ret)
{
	char exe[HIER_PATH_MAX + 32], pid[16], number[16];
	struct proc_spec spec = {.exe = exe,
				 .argv = BOX_ARGV("kill", pid, number),
				 .cwd = f->tree.tmp,
				 .no_wait = true,
				 .cgroups = {dir}};
	struct proc sender;

	snprintf(exe, sizeof(exe), "%s/%s", strcmp(name, "runc") ? f->tree.helpers : f->tree.tmp,
		 name);
	snprintf(pid, sizeof(pid), "%d", (int)target);
	snprintf(number, sizeof(number), "%d", sig);
	assert_int_equal(proc_start(&spec, &sender), 0);
	assert_int_equal(send_collect(SEND_CONTAINER, via, &sender, ret, 1), 1);
	assert_int_equal(ret->result, 0);
	snprintf(ret->comm, sizeof(ret->comm), "%s", name);
}

/* --- a sender far below its container --- */

struct deep {
	const char *sender; /* named runc it looks like a manager */
	int levels;	    /* below its container */
	bool inside;	    /* the target's own container; else another pod's */
	const char *behaviour;
	int sig;
	const char *outcome, *cause;
};

static const struct deep deeps[] = {
	{"sender", 4, false, "graceful", SIGTERM, "graceful", "stop-signal"},
	{"sender", 64, false, "graceful", SIGTERM, "graceful", "stop-signal"},
	{"runc", 65, false, "graceful", SIGTERM, "graceful", "stop-signal"},
	{"sender", 66, false, "deaf", SIGKILL, "killed", "other-pod"},
	{"runc", DEEPEST, false, "deaf", SIGKILL, "killed", "other-pod"},
	{"sender", 65, true, "graceful", SIGTERM, "completed", "same-container"},
	{"runc", DEEPEST, true, "deaf", SIGKILL, "killed", "same-container"},
};

static void play_deep(struct fixture *f, enum attach when, const struct deep *d)
{
	struct truth truth = {.outcome = d->outcome,
			      .cause = d->cause,
			      .gaps = when == AFTER ? "['attached-late']" : NULL};
	const char *const argv[] = {d->behaviour, NULL};
	char deep[HIER_PATH_MAX];
	struct box box, other;
	const struct box *via = d->inside ? &box : &other;
	struct sent sent;

	print_message("%s, %d levels below %s container, attached %s\n", d->sender, d->levels,
		      d->inside ? "the same" : "another", when == AFTER ? "after" : "before");
	attach_if(f, when, BEFORE);
	judge_start(f, &(struct box_spec){.argv = argv}, &box);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
	make_deep(f, via->dir, d->levels, deep);
	attach_if(f, when, AFTER);
	send_from_dir(f, d->sender, deep, via, box.init_pid, d->sig, &sent);
	if (d->sig == SIGKILL)
		truth.kill = &sent;
	else
		truth.stop = &sent;
	remove_deep(deep, d->levels);
	judge_box(f, &box, truth);
	assert_int_equal(box_remove(&other), 0);
	attach_end(f);
}

static void a_sender_is_found_at_any_depth(void **state)
{
	struct fixture *f = judge_need(state);

	for (int when = BEFORE; when <= AFTER; when++)
		for (size_t i = 0; i < LEN(deeps); i++)
			play_deep(f, when, &deeps[i]);
}

/* Where its init moves to does not matter. */
static void an_init_is_found_at_any_depth(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	char deep[HIER_PATH_MAX];
	struct sent sent;
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	make_deep(f, box.dir, DEEPEST, deep);
	assert_int_equal(cg_enter(deep, box.init_pid), 0);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	truth.stop = &sent;
	remove_deep(deep, DEEPEST);
	judge_box(f, &box, truth);
	attach_end(f);
}

/* --- a sender that may be in a container, which one is not known --- */

struct unplaced {
	const char *where;
	const char *name; /* of the sender; runc is no manager there */
	const char *behaviour;
	int sig;
	const char *outcome, *cause;
};

static const struct unplaced unplaceds[] = {
	{"below too many branches", "sender", "graceful", SIGTERM, "graceful", "stop-signal"},
	{"below too many branches", "runc", "graceful", SIGTERM, "graceful", "stop-signal"},
	{"below too many branches", "sender", "deaf", SIGKILL, "killed", "unknown"},
	{"below too many branches", "runc", "deaf", SIGKILL, "killed", "unknown"},
};

/* The stop record of a box that an unplaced process signalled, and the record of that signal. */
static void judge_unplaced(struct fixture *f, enum attach when, struct box *box,
			   const struct unplaced *u, const struct sent *sent)
{
	const char *which = u->sig == SIGKILL ? "kill" : "stop";
	char sender[256], want[1024];
	const json_t *rec;
	struct proc_end end;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	rec = tracer_await_stop(f->tracer, box);
	snprintf(sender, sizeof(sender),
		 "'sender':{'pid':%d,'comm':'%s','pod':null,'container':null,'kind':null}",
		 (int)sent->sender, u->name);
	snprintf(want, sizeof(want),
		 "{'outcome':'%s','cause':'%s','%s_signal':{'number':%d,%s},"
		 "'evidence':{'complete':false,'gaps':[%s'sender-unknown']}}",
		 u->outcome, u->cause, which, u->sig, sender,
		 when == AFTER ? "'attached-late'," : "");
	judge_match(rec, want);
	snprintf(want, sizeof(want), "{%s}", sender);
	judge_match(tracer_await(f->tracer,
				 &(struct tracer_want){.type = "signal", .pid = box->init_pid}),
		    want);
	assert_int_equal(box_remove(box), 0);
}

static void play_unplaced(struct fixture *f, enum attach when, const char *dir,
			  const struct unplaced *u)
{
	const char *const argv[] = {u->behaviour, NULL};
	struct sent sent;
	struct box box;

	print_message("%s by %s %s, attached %s\n", u->outcome, u->name, u->where,
		      when == AFTER ? "after" : "before");
	judge_start(f, &(struct box_spec){.argv = argv}, &box);
	attach_if(f, when, AFTER);
	send_from_dir(f, u->name, dir, NULL, box.init_pid, u->sig, &sent);
	judge_unplaced(f, when, &box, u, &sent);
}

static void a_sender_below_too_many_branches_is_no_manager(void **state)
{
	struct fixture *f = judge_need(state);
	char deep[HIER_PATH_MAX];

	for (int when = BEFORE; when <= AFTER; when++)
		for (size_t i = 0; i < LEN(unplaceds); i++) {
			attach_if(f, when, BEFORE);
			make_deep(f, f->tree.root, WATCH_MAX + 1, deep);
			play_unplaced(f, when, deep, &unplaceds[i]);
			remove_deep(deep, WATCH_MAX + 1);
			attach_end(f);
		}
}

/* More cgroups in a pod than are watched of one; when attached later, all are. */
static void fill_pod(struct fixture *f, const struct box *box, bool make, char last[HIER_PATH_MAX])
{
	for (int i = 0; i <= POD_ENTRIES; i++) {
		assert_true(snprintf(last, HIER_PATH_MAX, "%s/%d", box->pod_dir, i) <
			    HIER_PATH_MAX);
		if (make)
			assert_int_equal(hier_make(&f->tree.hier, last, false), 0);
		else
			assert_int_equal(cg_remove(last), 0);
	}
}

static void a_sender_beyond_the_quota_of_its_pod_is_no_manager(void **state)
{
	static const struct unplaced table[] = {
		{"beyond its pod's quota", "runc", "graceful", SIGTERM, "graceful", "stop-signal"},
		{"beyond its pod's quota", "sender", "deaf", SIGKILL, "killed", "unknown"},
	};
	struct fixture *f = judge_need(state);
	char last[HIER_PATH_MAX];
	struct box other;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
	fill_pod(f, &other, true, last);
	for (size_t i = 0; i < LEN(table); i++)
		play_unplaced(f, BEFORE, last, &table[i]);
	fill_pod(f, &other, false, last);
	assert_int_equal(box_remove(&other), 0);
	attach_end(f);
}

/* --- a thread in another cgroup than its process --- */

static void a_thread_is_where_its_process_is(void **state)
{
	static const struct {
		bool inside; /* the process is in a container, and its thread is not */
		const char *cause;
	} table[] = {{true, "other-pod"}, {false, "host"}};
	struct fixture *f = judge_need(state);
	char pid[16];

	if (f->tree.hier.unified)
		skip();
	for (size_t i = 0; i < LEN(table); i++) {
		struct truth truth = {.outcome = "killed", .cause = table[i].cause};
		struct box box, other;
		struct proc sender;
		struct sent sent;

		attach_begin(f);
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
		snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
		assert_int_equal(send_start(&f->tree, table[i].inside ? SEND_CONTAINER : SEND_HOST,
					    table[i].inside ? &other : NULL,
					    BOX_ARGV("astray", pid, "9",
						     table[i].inside ? f->tree.root : other.dir),
					    &sender),
				 0);
		assert_int_equal(send_collect(table[i].inside ? SEND_CONTAINER : SEND_HOST,
					      table[i].inside ? &other : NULL, &sender, &sent, 1),
				 1);
		truth.kill = &sent;
		judge_box(f, &box, truth);
		assert_int_equal(box_remove(&other), 0);
		attach_end(f);
	}
}

/* --- a sender in a pod, and in no container of it --- */

/* As a monitor of CRI-O's, or what a person has put there. */
static void a_sender_in_the_pod_itself_is_of_the_pod(void **state)
{
	static const struct {
		bool own;   /* the target's pod */
		bool below; /* in a cgroup of the pod that is no container's */
		const char *name, *cause;
	} table[] = {
		{true, false, "sender", "same-pod"},  {true, true, "sender", "same-pod"},
		{true, true, "runc", "no-grace"},     {false, false, "sender", "other-pod"},
		{false, true, "sender", "other-pod"},
	};
	struct fixture *f = judge_need(state);

	if (f->tree.hier.unified)
		skip(); /* a cgroup with controllers for others has no processes */
	for (size_t i = 0; i < LEN(table); i++) {
		struct box box, other;
		const struct box *from = table[i].own ? &box : &other;
		char dir[HIER_PATH_MAX], want[512];
		struct proc_end end;
		struct sent sent;

		attach_begin(f);
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
		print_message("%s in a pod's cgroup: %s\n", table[i].name, table[i].cause);
		make_deep(f, from->pod_dir, table[i].below, dir);
		send_from_dir(f, table[i].name, dir, from, box.init_pid, SIGKILL, &sent);
		remove_deep(dir, table[i].below);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		snprintf(want, sizeof(want),
			 "{'outcome':'killed','cause':'%s','kill_signal':{'number':9,'sender':"
			 "{'pid':%d,'comm':'%s','pod':{'uid':'%s'},'container':null}},"
			 "'evidence':{'complete':true,'gaps':[]}}",
			 table[i].cause, (int)sent.sender, table[i].name, from->uid);
		judge_match(tracer_await_stop(f->tracer, &box), want);
		assert_int_equal(box_remove(&box), 0);
		assert_int_equal(box_remove(&other), 0);
		attach_end(f);
	}
}

/* --- a runtime under another name --- */

static struct {
	const char *name;
	char pid[16], number[4];
} copied;

/* Copies kill(1) and executes the copy, as runc and crun do with themselves (CVE-2019-5736). */
static void run_copied(struct page *page)
{
	static char bytes[65536];
	char *const argv[] = {"runc", copied.number, copied.pid, NULL}, *const env[] = {NULL};
	int in = open("/bin/kill", O_RDONLY | O_CLOEXEC), out = memfd_create(copied.name, 0);
	ssize_t n;

	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			_exit(125);
	fexecve(out, argv, env);
	_exit(126);
}

static void a_runtime_is_one_as_its_own_copy(void **state)
{
	static const struct {
		const char *name, *outcome, *cause, *kind;
	} table[] = {
		{"runc_cloned:/proc/self/exe", "killed", "no-grace", "'runtime'"},
		{"crun_cloned", "killed", "no-grace", "'runtime'"},
		{"runc.amd64", "killed", "no-grace", "'runtime'"},
		{".runc-wrapped", "killed", "no-grace", "'runtime'"},
		{"runcible", "killed", "host", "'host'"},
		{"crunch_cloned", "killed", "host", "'host'"},
	};
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(table); i++) {
		struct proc_spec spec = {.exe = "/bin/kill", .run = run_copied, .no_wait = true};
		struct proc_end end;
		struct proc sender;
		char want[512];
		struct box box;

		print_message("%s\n", table[i].name);
		attach_begin(f);
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
		copied.name = table[i].name;
		snprintf(copied.pid, sizeof(copied.pid), "%d", (int)box.init_pid);
		strcpy(copied.number, "-9");
		assert_int_equal(proc_start(&spec, &sender), 0);
		snprintf(want, sizeof(want),
			 "{'outcome':'%s','cause':'%s','kill_signal':{'number':9,'sender':"
			 "{'pid':%d,'kind':%s}},'evidence':{'complete':true,'gaps':[]}}",
			 table[i].outcome, table[i].cause, (int)sender.pid, table[i].kind);
		assert_int_equal(proc_wait(&sender, &end), 0);
		assert_int_equal(end.status, 0);
		proc_free(&sender);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		judge_match(tracer_await_stop(f->tracer, &box), want);
		assert_int_equal(box_remove(&box), 0);
		attach_end(f);
	}
}

/* --- signals without a sender --- */

/* How an init answers, and what its verdict is then. */
static const struct answer {
	const char *name; /* of tests/kernel/helpers/raiser.c */
	bool dies;	  /* by the default action, which PID 1 of a pid namespace is spared */
	bool killed;	  /* by a runtime, afterwards */
	const char *outcome, *cause;
} exits = {"exit", false, false, "completed", "self"},
  dies = {"die", true, false, "crashed", "unknown"},
  lives = {"live", false, true, "killed", "no-grace"};

struct raised {
	const char *manner; /* of tests/kernel/helpers/raiser.c */
	const struct answer *answer;
	int code;	   /* si_code */
	enum send_from by; /* with the manner "none": who queues a signal with that code */
};

static const struct raised raiseds[] = {
	{"timer", &exits, SI_TIMER, SEND_HERE},	   {"mesgq", &exits, SI_MESGQ, SEND_HERE},
	{"aio", &exits, SI_ASYNCIO, SEND_HERE},	   {"sigio", &exits, POLL_IN, SEND_HERE},
	{"queue:-5", &exits, SI_SIGIO, SEND_HERE}, {"timer", &dies, SI_TIMER, SEND_HERE},
	{"mesgq", &dies, SI_MESGQ, SEND_HERE},	   {"aio", &dies, SI_ASYNCIO, SEND_HERE},
	{"sigio", &dies, POLL_IN, SEND_HERE},	   {"queue:-2", &dies, SI_TIMER, SEND_HERE},
	{"queue:-5", &dies, SI_SIGIO, SEND_HERE},  {"none", &exits, SI_TIMER, SEND_HOST},
	{"none", &exits, SI_MESGQ, SEND_RUNTIME},  {"none", &dies, SI_ASYNCIO, SEND_RUNTIME},
	{"none", &dies, SI_SIGIO, SEND_CONTAINER}, {"timer", &lives, SI_TIMER, SEND_HERE},
	{"none", &lives, SI_TIMER, SEND_RUNTIME},  {"child", &dies, POLL_IN, SEND_HERE},
	{"beyond", &dies, POLL_IN, SEND_HERE},
};

static void forge(struct fixture *f, const struct raised *r, const struct box *box,
		  const struct box *other)
{
	const struct box *via = r->by == SEND_CONTAINER ? other : NULL;
	char pid[16], code[16];
	struct proc sender;
	struct sent sent;

	snprintf(pid, sizeof(pid), "%d", (int)box->init_pid);
	snprintf(code, sizeof(code), "%d", r->code);
	assert_int_equal(
		send_start(&f->tree, r->by, via, BOX_ARGV("forge", pid, "15", code), &sender), 0);
	assert_int_equal(send_collect(r->by, via, &sender, &sent, 1), 1);
	assert_int_equal(sent.result, 0);
}

static const char *gaps_of(const struct raised *r, enum attach when)
{
	if (when == BEFORE)
		return "['sender-unknown']";
	return r->answer->dies ? "['attached-late','init-guessed','sender-unknown']"
			       : "['attached-late','sender-unknown']";
}

/* The record of the signal itself: no sender at all. */
static void judge_raised(struct fixture *f, const struct raised *r, const struct box *box)
{
	const json_t *rec = tracer_await(f->tracer, &(struct tracer_want){.type = "signal",
									  .pid = box->init_pid});

	judge_match(rec, "{'sender':null,'signal':{'number':15}}");
	assert_int_equal(jrec_int(rec, "signal.si_code", 0), r->code);
}

static void play_raised(struct fixture *f, enum attach when, const struct raised *r,
			const struct box *other)
{
	const struct answer *answer = r->answer;
	const char *const argv[] = {r->manner, answer->name, NULL};
	const struct box_spec spec = {.prog = "raiser", .argv = argv, .host_pidns = answer->dies};
	struct truth truth = {
		.outcome = answer->outcome, .cause = answer->cause, .gaps = gaps_of(r, when)};
	struct sent kill;
	struct box box;

	print_message("%s, si_code %d by %d, %s, attached %s\n", r->manner, r->code, r->by,
		      answer->name, when == AFTER ? "after" : "before");
	attach_if(f, when, BEFORE);
	judge_start(f, &spec, &box);
	attach_if(f, when, AFTER);
	page_go(box.proc.page, 1);
	if (r->by != SEND_HERE)
		forge(f, r, &box, other);
	if (answer->killed) {
		kernhalf_await_note(&box, NOTE_HEARD, 0);
		judge_send(f, SEND_RUNTIME, &box, SIGKILL, &kill);
		truth.kill = &kill;
	}
	judge_box(f, &box, truth);
	judge_raised(f, r, &box);
	attach_end(f);
}

static void what_the_kernel_may_have_raised_has_no_sender(void **state)
{
	struct fixture *f = judge_need(state);
	struct box other;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
	for (int when = BEFORE; when <= AFTER; when++)
		for (size_t i = 0; i < LEN(raiseds); i++)
			play_raised(f, when, &raiseds[i], &other);
	assert_int_equal(box_remove(&other), 0);
}

/* Who asked is known, whatever was raised before. */
static void a_request_is_one_beside_a_timer(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {.outcome = "killed", .cause = "grace-expired"};
	struct sent stop, kill;
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.prog = "raiser", .argv = BOX_ARGV("timer", "live")},
		    &box);
	page_go(box.proc.page, 1);
	kernhalf_await_note(&box, NOTE_HEARD, 0);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &stop);
	kernhalf_await_note(&box, NOTE_HEARD, 1);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &kill);
	truth.stop = &stop;
	truth.kill = &kill;
	judge_box(f, &box, truth);
	attach_end(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the container of a sender is found at any depth",
		      a_sender_is_found_at_any_depth),
		CLAIM("... and that of an init", an_init_is_found_at_any_depth),
		CLAIM("a sender below too many branches is a gap, and no manager",
		      a_sender_below_too_many_branches_is_no_manager),
		CLAIM("... and so is one beyond the quota of its pod",
		      a_sender_beyond_the_quota_of_its_pod_is_no_manager),
		CLAIM("a thread in another cgroup is where its process is",
		      a_thread_is_where_its_process_is),
		CLAIM("a sender in a pod and in no container of it is of that pod",
		      a_sender_in_the_pod_itself_is_of_the_pod),
		CLAIM("a runtime that executes a copy of itself is one; a name that begins alike is none",
		      a_runtime_is_one_as_its_own_copy),
		CLAIM("what the kernel may have raised has no sender and is no request",
		      what_the_kernel_may_have_raised_has_no_sender),
		CLAIM("a request after a timer's signal is complete",
		      a_request_is_one_beside_a_timer),
	};

	return attach_run(tests, setup);
}
