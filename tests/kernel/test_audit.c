// SPDX-License-Identifier: Apache-2.0
// What graced audit says of real inits, and then the truth: each is sent the signal.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/audited.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define HANDLER "'verdict':'hears','reason':'handler','disposition':'handler','waiters':0"
#define PLAIN	"'shell':null,'warnings':[]"

static void who_waits_or_handles_hears(void **state)
{
	static const struct audited_role roles[] = {
		{{"tini"},
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{'verdict':'hears','reason':'waiter','shielded':true,'disposition':"
			 "'default','blocked':true,'waiters':1," PLAIN "}"},
		{{"go"},
		 .in_call = PEEK_PAUSE,
		 .says = "{" HANDLER ",'shielded':true,'blocked':false," PLAIN "}"},
		{{"java"}, .says = "{" HANDLER ",'shielded':true,'blocked':false," PLAIN "}"},
		{{"graceful"}, "workload", .says = "{" HANDLER ",'blocked':false," PLAIN "}"},
		{{"sigwait", "0", "main"},
		 "workload",
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{'verdict':'hears','reason':'waiter','blocked':true,'waiters':1}"},
		{{"sigwait", "0", "thread"},
		 "workload",
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{'verdict':'hears','reason':'waiter','blocked':true,'waiters':1}"},
		{{"threads", "waiting", "blocked", "ignore"},
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{'verdict':'hears','reason':'waiter','disposition':'ignore'}"},
		{{"threads", "waiting", "blocked", "default"},
		 .in_call = SYS_rt_sigtimedwait,
		 .host_pidns = true,
		 .says = "{'verdict':'hears','reason':'waiter','shielded':false}"},
		{{"signalfd"},
		 "workload",
		 .in_call = SYS_read,
		 .says = "{'verdict':'hears','reason':'signalfd','blocked':true,'waiters':0}"},
	};

	audited_play(state, roles, LEN(roles));
}

static void one_thread_that_does_not_block_it_runs_the_handler(void **state)
{
	static const struct audited_role roles[] = {
		{{"threads", "blocked", "open", "handler"},
		 .in_call = PEEK_PAUSE,
		 .says = "{" HANDLER ",'blocked':false}"},
		{{"threads", "open", "blocked", "handler"},
		 .in_call = PEEK_PAUSE,
		 .says = "{" HANDLER ",'blocked':false}"},
		{{"leader-gone"}, "crowd", .says = "{" HANDLER "}", .then = AUDITED_LEAVES},
	};

	audited_play(state, roles, LEN(roles));
}

#define SHIELD "'verdict':'deaf','reason':'no-handler','shielded':true,'disposition':'default'"

static void the_default_under_the_shield_is_deaf(void **state)
{
	static const struct audited_role roles[] = {
		{{"deaf"},
		 "workload",
		 .says = "{" SHIELD ",'blocked':false," PLAIN "}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"python"}, .says = "{" SHIELD "}", .status = 1, .then = AUDITED_STAYS},
		{{"wait-other", "open"},
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{" SHIELD ",'waiters':0}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"leader-gone", "deaf"},
		 "crowd",
		 .says = "{" SHIELD ",'waiters':0}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		/* The first thread decides when it is sent, whoever else waits. */
		{{"threads", "open", "waiting", "default"},
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{" SHIELD ",'waiters':1}",
		 .status = 1,
		 .then = AUDITED_STAYS},
	};

	audited_play(state, roles, LEN(roles));
}

static void a_thread_that_does_not_block_it_may_end_a_shielded_init(void **state)
{
	static const struct audited_role roles[] = {
		{{"threads", "blocked", "open", "default"},
		 .in_call = PEEK_PAUSE,
		 .says = "{'verdict':'unknown','reason':'threads-differ','shielded':true,"
			 "'disposition':'default','blocked':false}",
		 .then = AUDITED_EITHER},
	};

	audited_play(state, roles, LEN(roles));
}

static void without_the_shield_the_default_is_death(void **state)
{
	static const struct audited_role roles[] = {
		{{"deaf"},
		 "workload",
		 .host_pidns = true,
		 .says = "{'verdict':'dies','reason':'default','shielded':false,'warnings':"
			 "['init-guessed']}",
		 .then = AUDITED_DIES},
		{{"threads", "blocked", "open", "default"},
		 .in_call = PEEK_PAUSE,
		 .host_pidns = true,
		 .says = "{'verdict':'dies','reason':'default'}",
		 .then = AUDITED_DIES},
	};

	audited_play(state, roles, LEN(roles));
}

static void who_ignores_or_blocks_it_for_nobody_does_not_hear(void **state)
{
	static const struct audited_role roles[] = {
		{{"sigign"},
		 "workload",
		 .says = "{'verdict':'ignores','reason':'ignored','disposition':'ignore'}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"sigign"},
		 "workload",
		 .host_pidns = true,
		 .says = "{'verdict':'ignores','reason':'ignored','shielded':false}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"blocked"},
		 "workload",
		 .says = "{'verdict':'deaf','reason':'blocked','blocked':true,'waiters':0}",
		 .status = 1,
		 .then = AUDITED_KEEPS},
		{{"blocked"},
		 "workload",
		 .host_pidns = true,
		 .says = "{'verdict':'deaf','reason':'blocked','shielded':false}",
		 .status = 1,
		 .then = AUDITED_KEEPS},
		{{"threads", "blocked", "blocked", "default"},
		 .in_call = PEEK_PAUSE,
		 .says = "{'verdict':'deaf','reason':'blocked','disposition':'default'}",
		 .status = 1,
		 .then = AUDITED_KEEPS},
		{{"leader-gone", "deaf", "blocked"},
		 "crowd",
		 .host_pidns = true,
		 .says = "{'verdict':'deaf','reason':'blocked','shielded':false}",
		 .status = 1,
		 .then = AUDITED_KEEPS},
		{{"wait-other", "blocked"},
		 .in_call = SYS_rt_sigtimedwait,
		 .says = "{'verdict':'deaf','reason':'blocked'}",
		 .status = 1,
		 .then = AUDITED_KEEPS},
		{{"signalfd-other"},
		 .in_call = SYS_read,
		 .says = "{'verdict':'deaf','reason':'blocked'}",
		 .status = 1,
		 .then = AUDITED_KEEPS},
	};

	audited_play(state, roles, LEN(roles));
}

#define BUSY "{'verdict':'unknown','reason':'busy','blocked':true}"

static void who_looks_for_it_at_times_may_hear(void **state)
{
	static const struct audited_role roles[] = {
		{{"polls", "sigtimedwait", "handler"}, .says = BUSY, .then = AUDITED_ENDS},
		{{"polls", "sigtimedwait"}, .says = BUSY, .then = AUDITED_ENDS},
		{{"polls", "sigpending"}, .says = BUSY, .then = AUDITED_ENDS},
		{{"polls", "pselect", "handler"}, .says = BUSY, .then = AUDITED_ENDS},
		{{"leader-gone", "0", "blocked"}, "crowd", .says = BUSY, .then = AUDITED_KEEPS},
		{{"threads", "blocked", "blocked", "handler"},
		 .in_call = PEEK_PAUSE,
		 .says = BUSY,
		 .then = AUDITED_KEEPS},
	};

	audited_play(state, roles, LEN(roles));
}

#define READY "echo r >&4; exec 4>&-; "
#define QUEUE "mkfifo q; exec 5<>q; rm q; "

static void a_shell_in_front_is_reported_with_what_is_behind_it(void **state)
{
	static const struct audited_role roles[] = {
		{{"run", "/bin/sh", "-c", READY "sleep 1000; true"},
		 .in_call = SYS_wait4,
		 .sleeps = true,
		 .says = "{'verdict':'deaf','reason':'shell','warnings':[],"
			 "'shell':{'waits':true,'app':{'comm':'sleep','ns_pid':2}}}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		/* Its child is PID 1 of a namespace below. */
		{{"run", "/bin/sh", "-c", "exec unshare -p bash -c '" READY "sleep 1000; true'"},
		 .in_call = SYS_wait4,
		 .sleeps = true,
		 .says = "{'verdict':'deaf','reason':'shell',"
			 "'shell':{'name':'bash','app':{'comm':'sleep','ns_pid':2}}}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"run", "/bin/bash", "-c", READY "sh -c 'sleep 1000; true'; true"},
		 .in_call = SYS_wait4,
		 .sleeps = true,
		 .says = "{'verdict':'deaf','reason':'shell','shell':{'name':'bash',"
			 "'app':{'comm':'sleep','ns_pid':3}}}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		/* Nothing in front of anything: a shell that waits for input. */
		{{"run", "/bin/sh", "-c", QUEUE READY "read line <&5"},
		 .in_call = SYS_read,
		 .says = "{'verdict':'deaf','reason':'no-handler','shell':{'app':null}}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"run", "/bin/sh", "-c", READY "sleep 1000; true"},
		 .in_call = SYS_wait4,
		 .sleeps = true,
		 .host_pidns = true,
		 .says = "{'verdict':'dies','reason':'default','warnings':['child-unsignalled',"
			 "'init-guessed'],'shell':{'app':{'comm':'sleep'}}}",
		 .then = AUDITED_DIES},
		{{"run", "/bin/bash", "-c", READY "trap 'exit 0' TERM; sleep 1000 & wait"},
		 .in_call = SYS_wait4,
		 .sleeps = true,
		 .says = "{" HANDLER ",'warnings':[],'shell':{'app':{'comm':'sleep'}}}",
		 .then = AUDITED_LEAVES},
	};

	audited_play(state, roles, LEN(roles));
}

#define WORKER "sh -c 'sleep 1000; true' & "

static void what_keeps_a_container_is_not_its_app(void **state)
{
	static const struct audited_role roles[] = {
		{{"run", "/bin/sh", "-c", WORKER READY "exec sleep 1000"},
		 .in_call = SYS_clock_nanosleep,
		 .says = "{'verdict':'deaf','reason':'placeholder','shell':null,"
			 "'worker':{'comm':'sh','ns_pid':2}}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		/* Behind what started it. */
		{{"run", "/bin/sh", "-c",
		  "sh -c 'sh -c \"timeout 1000 sleep 1000; true\"; true' & " READY
		  "exec sleep 1000"},
		 .in_call = SYS_clock_nanosleep,
		 .says = "{'verdict':'deaf','reason':'placeholder','worker':{'comm':'timeout'}}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		{{"run", "/bin/sh", "-c", WORKER WORKER READY "exec sleep 1000"},
		 .in_call = SYS_clock_nanosleep,
		 .says = "{'verdict':'deaf','reason':'placeholder','worker':null}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		/* The worker was left to PID 1, as a daemon is. */
		{{"run", "/bin/sh", "-c", "(" WORKER ") ; " READY "tail -f /dev/null; true"},
		 .in_call = SYS_wait4,
		 .sleeps = true,
		 .says = "{'verdict':'deaf','reason':'shell','worker':null}",
		 .status = 1,
		 .then = AUDITED_STAYS},
		/* Alone it is no more than an app without a handler. */
		{{"run", "/bin/sh", "-c", READY "exec sleep 1000"},
		 .in_call = SYS_clock_nanosleep,
		 .says = "{'verdict':'deaf','reason':'no-handler','worker':null}",
		 .status = 1,
		 .then = AUDITED_STAYS},
	};

	audited_play(state, roles, LEN(roles));
}

/* The signal is taken, and nothing comes of it until the child has ended. */
static void a_trap_waits_for_the_child_in_front(void **state)
{
	static const char *const shells[] = {"/bin/sh", "/bin/bash"};
	struct fixture *f = judge_need(state);
	struct proc_end end;
	struct sent sent;
	struct box box;
	json_t *rec;

	for (size_t i = 0; i < LEN(shells); i++) {
		const struct audited_role role = {{"run", shells[i], "-c",
						   "trap 'exit 0' TERM; " READY "sleep 1000; true"},
						  .in_call = SYS_wait4,
						  .sleeps = true};

		audited_start(f, &role, &box);
		rec = audited(&box, 0);
		judge_match(rec, "{" HANDLER ",'warnings':['shell-waits'],'shell':{'waits':true}}");
		judge_send(f, SEND_HOST, &box, SIGTERM, &sent);
		audited_await_taken(box.init_pid, SIGTERM);
		assert_int_equal(peek_await_syscall(box.init_pid, SYS_wait4), 0);
		assert_int_equal(kill((pid_t)jrec_int(rec, "shell.app.pid", 0), SIGKILL), 0);
		json_decref(rec);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		assert_int_equal(end.status, 0);
		assert_int_equal(box_remove(&box), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("who waits for it or handles it hears it", who_waits_or_handles_hears),
		CLAIM("one thread that does not block it is enough to run the handler",
		      one_thread_that_does_not_block_it_runs_the_handler),
		CLAIM("the default under the shield is deaf", the_default_under_the_shield_is_deaf),
		CLAIM("a default that the first thread blocks and another does not is the kernel's to "
		      "judge",
		      a_thread_that_does_not_block_it_may_end_a_shielded_init),
		CLAIM("without the shield the default is death",
		      without_the_shield_the_default_is_death),
		CLAIM("who ignores it, or blocks it for nobody, does not hear it",
		      who_ignores_or_blocks_it_for_nobody_does_not_hear),
		CLAIM("who may look for it at times, or has a handler, is not said to block it for good",
		      who_looks_for_it_at_times_may_hear),
		CLAIM("a shell in front is reported with the app behind it",
		      a_shell_in_front_is_reported_with_what_is_behind_it),
		CLAIM("an init that only keeps the container there is distinguished from the one process that "
		      "works beside it",
		      what_keeps_a_container_is_not_its_app),
		CLAIM("a shell's trap waits for the child in front",
		      a_trap_waits_for_the_child_in_front),
	};

	return cmocka_run_group_tests(tests, audited_setup, audited_teardown);
}
