// SPDX-License-Identifier: Apache-2.0
// What a container heard of a signal: blocked, ignored, left at its default, or a real-time one.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/audited.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum then {
	THEN_WAIT, /* it ends by itself */
	THEN_GO,   /* it ends when it may go on */
	THEN_KILL, /* the sender's SIGKILL follows */
};

/* A box is sent one signal when it is ready; what it is afterwards, and how the signal went. */
struct heard {
	const char *argv[5];
	bool host_pidns;
	int sig;	/* 0: SIGTERM */
	long in_call;	/* first wait until it is in this system call */
	bool unblocked; /* it unblocks the signal before the SIGKILL */
	enum then then;
	const char *result; /* NULL: "delivered" */
	bool deaf;
	bool dropped; /* it is deaf to it when it is to take it */
	const char *outcome, *cause;
	bool no_request; /* the signal asks for nothing */
};

static int setup(void **state)
{
	return fixture_open(state, "heard", BOX_ARGV("--signals"));
}

static void check_signal_record(struct fixture *f, const struct box *box, const struct heard *h)
{
	const json_t *rec =
		tracer_await(f->tracer, &(struct tracer_want){.type = "signal", .id = box->id});

	judge_match(rec, h->deaf ? "{'deaf':true}" : "{'deaf':false}");
	judge_match(rec, "{'signal':{'group':true,'si_code':0},'target':{'init':true}}");
	assert_string_equal(jrec_text(rec, "signal.result"), h->result ? h->result : "delivered");
	assert_int_equal(jrec_int(rec, "target.pid", 0), box->init_pid);
}

static void play(struct fixture *f, const struct heard *h)
{
	struct truth truth = {
		.stop_result = h->result,
		.deaf = h->deaf || h->dropped,
		.outcome = h->outcome,
		.cause = h->cause,
	};
	int sig = h->sig ? h->sig : SIGTERM;
	struct sent sent, kill;
	struct box box;

	print_message("%s\n", h->argv[0]);
	judge_start(f, &(struct box_spec){.argv = h->argv, .host_pidns = h->host_pidns}, &box);
	if (h->in_call)
		assert_int_equal(peek_await_syscall(box.init_pid, h->in_call), 0);
	judge_send(f, SEND_HERE, &box, sig, &sent);
	if (!h->no_request)
		truth.stop = &sent;
	if (h->unblocked || h->then == THEN_GO)
		page_go(box.proc.page, 1);
	if (h->unblocked)
		audited_await_taken(box.init_pid, sig);
	if (h->then == THEN_KILL) {
		judge_send(f, SEND_HERE, &box, SIGKILL, &kill);
		truth.kill = &kill;
	}
	judge_box(f, &box, truth);
	if (!h->no_request)
		check_signal_record(f, &box, h);
}

static void play_all(void **state, const struct heard *table, size_t n)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < n; i++)
		play(f, &table[i]);
}

#define HEARD	  .outcome = "graceful", .cause = "stop-signal"
#define UNHEARD	  .outcome = "graceful", .cause = "self"
#define ESCALATED .then = THEN_KILL, .outcome = "killed", .cause = "grace-expired"
#define DIED	  .outcome = "terminated", .cause = "stop-signal"
#define DEAF	  .result = "ignored", .deaf = true

static void a_blocked_signal_with_a_waiter_is_heard(void **state)
{
	static const struct heard table[] = {
		{{"sigwait", "2", "main"}, .in_call = SYS_rt_sigtimedwait, HEARD},
		{{"sigwait", "2", "thread"}, .in_call = SYS_rt_sigtimedwait, HEARD},
		{{"sigwait", "2", "thread"},
		 .in_call = SYS_rt_sigtimedwait,
		 .host_pidns = true,
		 HEARD},
		{{"signalfd", "3"}, .in_call = SYS_read, HEARD},
		{{"signalfd", "3"}, .in_call = SYS_read, .host_pidns = true, HEARD},
	};

	play_all(state, table, LEN(table));
}

static void a_blocked_signal_without_a_waiter_is_not_deaf(void **state)
{
	static const struct heard table[] = {
		{{"blocked"}, ESCALATED},
		{{"blocked"}, .host_pidns = true, ESCALATED},
		/* Unblocked by a shielded init, it is dropped at delivery. */
		{{"blocked"}, .unblocked = true, .dropped = true, ESCALATED},
		{{"blocked"}, .host_pidns = true, .then = THEN_GO, DIED},
	};

	play_all(state, table, LEN(table));
}

static void ignoring_is_deliberate_and_the_default_under_the_shield_is_deaf(void **state)
{
	static const struct heard table[] = {
		{{"sigign", "2"}, .then = THEN_GO, .result = "ignored", UNHEARD},
		{{"sigign", "2"}, .host_pidns = true, .then = THEN_GO, .result = "ignored", UNHEARD},
		{{"sigign"}, .result = "ignored", ESCALATED},
		{{"deaf"}, DEAF, ESCALATED},
		{{"deaf"}, .sig = SIGINT, DEAF, ESCALATED},
		{{"deaf"}, .sig = SIGQUIT, DEAF, ESCALATED},
		{{"deaf"}, .host_pidns = true, DIED},
		{{"exec", "1", "deaf"}, DEAF, ESCALATED},
	};

	play_all(state, table, LEN(table));
}

static void sigrtmin_3_asks_to_stop_and_other_real_time_signals_do_not(void **state)
{
	const struct heard table[] = {
		{{"graceful", "2"}, .sig = SIGRTMIN + 3, HEARD},
		{{"graceful", "2"}, .sig = SIGRTMIN + 3, .host_pidns = true, HEARD},
		{{"deaf"}, .sig = SIGRTMIN + 3, DEAF, ESCALATED},
		{{"deaf"}, .sig = SIGRTMIN + 3, .host_pidns = true, DIED},
		{{"deaf"},
		 .sig = SIGRTMIN + 4,
		 .host_pidns = true,
		 .no_request = true,
		 .outcome = "terminated",
		 .cause = "host"},
		{{"deaf"},
		 .sig = SIGRTMAX,
		 .host_pidns = true,
		 .no_request = true,
		 .outcome = "terminated",
		 .cause = "host"},
	};

	play_all(state, table, LEN(table));
}

/* Of its runc it is the mind, as of its own kill(2). */
static void who_asks_without_a_manager_gives_no_grace(void **state)
{
	struct fixture *f = judge_need(state);
	struct sent sent;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box);
	judge_send(f, SEND_HERE, &box, SIGTERM, &sent);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	judge_match(tracer_await_stop(f->tracer, &box),
		    "{'cause':'grace-expired','grace':null,"
		    "'stop_signal':{'sender':{'kind':'host'}},"
		    "'kill_signal':{'sender':{'kind':'runtime'}}}");
	assert_int_equal(proc_wait(&box.proc, &(struct proc_end){}), 0);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a blocked SIGTERM with a waiter is heard",
		      a_blocked_signal_with_a_waiter_is_heard),
		CLAIM("a blocked SIGTERM without a waiter is not deaf until it is dropped",
		      a_blocked_signal_without_a_waiter_is_not_deaf),
		CLAIM("SIG_IGN is deliberate, SIG_DFL under the shield is deaf",
		      ignoring_is_deliberate_and_the_default_under_the_shield_is_deaf),
		CLAIM("SIGRTMIN+3 asks to stop, other real-time signals do not",
		      sigrtmin_3_asks_to_stop_and_other_real_time_signals_do_not),
		CLAIM("who asks without a manager gives no grace period, whatever kills then",
		      who_asks_without_a_manager_gives_no_grace),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
