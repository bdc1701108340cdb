// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/audit: who hears a stop signal, by the kernel's rules, and how well that
 * is known. */
#include <signal.h>
#include <string.h>

#include "core/stop/audit.h"
#include "lib/claim.h"

struct row {
	const char *what;
	struct audit_facts facts; /* signal 0: SIGTERM */
	const char *verdict, *reason;
	uint32_t warnings;
};

static void judge(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct audit_facts facts = rows[i].facts;
		struct audit a;

		print_message("# %s\n", rows[i].what);
		if (!facts.signal)
			facts.signal = SIGTERM;
		a = audit_judge(&facts);
		assert_string_equal(audit_verdict_name(a.verdict), rows[i].verdict);
		assert_string_equal(audit_reason_name(a.reason), rows[i].reason);
		assert_int_equal(a.warnings, rows[i].warnings);
		assert_int_equal(audit_is_deaf(&a), !strcmp(rows[i].verdict, "deaf") ||
							    !strcmp(rows[i].verdict, "ignores"));
	}
}

/* How many threads are open, blocked, waiting, unsure. */
#define THREADS(o, b, w, u) \
	.threads = {[AUDIT_OPEN] = o, [AUDIT_BLOCKS] = b, [AUDIT_WAITS] = w, [AUDIT_UNSURE] = u}
#define OPEN	.leader = AUDIT_OPEN
#define BLOCKS	.leader = AUDIT_BLOCKS
#define WAITS	.leader = AUDIT_WAITS
#define UNSURE	.leader = AUDIT_UNSURE
#define HANDLED .disposition = AUDIT_SIG_HANDLED
#define IGNORED .disposition = AUDIT_SIG_IGNORED
#define INIT	.shielded = true

static void what_threads_that_were_not_read_may_change_is_unknown(void **state)
{
	static const struct row rows[] = {
		{"a handler, and an open thread",
		 {HANDLED, BLOCKS, THREADS(1, 9, 0, 0), .threads_unread = true},
		 "hears",
		 "handler",
		 0},
		{"a handler, and none so far",
		 {HANDLED, BLOCKS, THREADS(0, 9, 0, 0), .threads_unread = true},
		 "unknown",
		 "no-access",
		 0},
		{"a wait",
		 {HANDLED, BLOCKS, THREADS(0, 9, 1, 0), .threads_unread = true},
		 "hears",
		 "waiter",
		 0},
		{"no handler, and a leader that blocks it",
		 {INIT, BLOCKS, THREADS(0, 9, 1, 0), .threads_unread = true},
		 "unknown",
		 "no-access",
		 0},
		{"no handler, and a leader that does not block it",
		 {INIT, OPEN, THREADS(1, 9, 0, 0), .threads_unread = true},
		 "deaf",
		 "no-handler",
		 0},
	};

	judge(rows, LEN(rows));
}

static void a_handler_hears_where_a_thread_can_run_it(void **state)
{
	static const struct row rows[] = {
		{"one thread", {INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0)}, "hears", "handler", 0},
		{"no shield", {HANDLED, OPEN, THREADS(1, 0, 0, 0)}, "hears", "handler", 0},
		{"a single open one of many",
		 {INIT, HANDLED, BLOCKS, THREADS(1, 9, 0, 0)},
		 "hears",
		 "handler",
		 0},
		{"another thread waits for it",
		 {INIT, HANDLED, BLOCKS, THREADS(1, 0, 1, 0)},
		 "hears",
		 "handler",
		 0},
		{"only that one would get it",
		 {INIT, HANDLED, BLOCKS, THREADS(0, 1, 1, 0)},
		 "hears",
		 "waiter",
		 0},
		{"a thread that runs it or waits",
		 {INIT, HANDLED, UNSURE, THREADS(0, 0, 0, 1)},
		 "hears",
		 "handler",
		 0},
		{"blocked, and a signalfd",
		 {INIT, HANDLED, BLOCKS, THREADS(0, 1, 0, 0), .signalfds = 1},
		 "hears",
		 "signalfd",
		 0},
		{"blocked for nobody",
		 {INIT, HANDLED, BLOCKS, THREADS(0, 4, 0, 0)},
		 "deaf",
		 "blocked",
		 0},
		{"blocked, files not seen",
		 {INIT, HANDLED, BLOCKS, THREADS(0, 4, 0, 0), .signalfds_unread = true},
		 "unknown",
		 "no-access",
		 0},
	};

	judge(rows, LEN(rows));
}

static void the_default_is_deaf_under_the_shield_and_death_without(void **state)
{
	static const struct row rows[] = {
		{"init", {INIT, OPEN, THREADS(1, 0, 0, 0)}, "deaf", "no-handler", 0},
		{"not an init", {OPEN, THREADS(1, 0, 0, 0)}, "dies", "default", 0},
		{"woken, perhaps in a wait for it",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), .waking = true},
		 "unknown",
		 "busy",
		 0},
		{"woken, not an init",
		 {OPEN, THREADS(1, 0, 0, 0), .waking = true},
		 "unknown",
		 "busy",
		 0},
		{"guessed",
		 {OPEN, THREADS(1, 0, 0, 0), .guessed = true},
		 "dies",
		 "default",
		 1u << AUDIT_GUESSED},
		{"another thread waits, but the first decides",
		 {INIT, OPEN, THREADS(1, 0, 1, 0)},
		 "deaf",
		 "no-handler",
		 0},
		{"the first blocks it, another does not",
		 {INIT, BLOCKS, THREADS(1, 1, 0, 0)},
		 "unknown",
		 "threads-differ",
		 0},
		{"the same without a shield",
		 {BLOCKS, THREADS(1, 1, 0, 0), .signalfds = 1},
		 "dies",
		 "default",
		 0},
		{"the same, and it is woken, perhaps in a wait for it",
		 {BLOCKS, THREADS(1, 1, 0, 0), .waking_others = 1},
		 "unknown",
		 "busy",
		 0},
		{"the first waits", {INIT, WAITS, THREADS(3, 0, 1, 0)}, "hears", "waiter", 0},
		{"the first waits, no shield", {WAITS, THREADS(3, 0, 1, 0)}, "hears", "waiter", 0},
		{"blocked, one waits", {INIT, BLOCKS, THREADS(0, 3, 1, 0)}, "hears", "waiter", 0},
		{"one waits, one would drop it",
		 {INIT, BLOCKS, THREADS(1, 1, 1, 0)},
		 "unknown",
		 "threads-differ",
		 0},
		{"one waits, one would die of it",
		 {BLOCKS, THREADS(1, 1, 1, 0)},
		 "unknown",
		 "threads-differ",
		 0},
		{"a signalfd, and one that would drop it",
		 {INIT, BLOCKS, THREADS(1, 1, 0, 0), .signalfds = 1},
		 "unknown",
		 "threads-differ",
		 0},
		{"one that would drop it before files not seen",
		 {INIT, BLOCKS, THREADS(1, 1, 0, 0), .signalfds_unread = true},
		 "unknown",
		 "no-access",
		 0},
		{"the first may wait",
		 {INIT, UNSURE, THREADS(0, 0, 0, 1)},
		 "unknown",
		 "no-access",
		 0},
		{"another may wait", {INIT, BLOCKS, THREADS(0, 1, 0, 1)}, "unknown", "no-access", 0},
		{"a signalfd nobody has to block for",
		 {INIT, BLOCKS, THREADS(0, 2, 0, 0), .signalfds = 2},
		 "hears",
		 "signalfd",
		 0},
		{"the first has left its threads",
		 {INIT, BLOCKS, THREADS(0, 1, 0, 0)},
		 "deaf",
		 "blocked",
		 0},
	};

	judge(rows, LEN(rows));
}

static void what_is_ignored_is_heard_only_by_who_blocks_it_first(void **state)
{
	static const struct row rows[] = {
		{"init", {INIT, IGNORED, OPEN, THREADS(1, 0, 0, 0)}, "ignores", "ignored", 0},
		{"no init", {IGNORED, OPEN, THREADS(1, 0, 0, 0)}, "ignores", "ignored", 0},
		{"what only keeps a container there",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), .workers = 1},
		 "deaf",
		 "placeholder",
		 0},
		{"the same without a shield",
		 {OPEN, THREADS(1, 0, 0, 0), .workers = 1},
		 "dies",
		 "default",
		 0},
		{"a shell that only waits",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), .shell = {.is_shell = true, .in_front = true},
		  .workers = 2},
		 "deaf",
		 "placeholder",
		 0},
		{"the same in which nothing else runs",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), .shell = {.is_shell = true, .in_front = true}},
		 "deaf",
		 "shell",
		 0},
		{"what only keeps a container there, with a handler",
		 {INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0), .workers = 1},
		 "hears",
		 "handler",
		 0},
		{"a shell in a terminal",
		 {INIT, IGNORED, OPEN, THREADS(1, 0, 0, 0), .shell.is_shell = true,
		  .keeps_terminal = true},
		 "ignores",
		 "terminal",
		 0},
		{"a script that ignores it",
		 {INIT, IGNORED, OPEN, THREADS(1, 0, 0, 0), .shell.is_shell = true},
		 "ignores",
		 "ignored",
		 0},
		{"an editor in a terminal",
		 {INIT, IGNORED, OPEN, THREADS(1, 0, 0, 0), .keeps_terminal = true},
		 "ignores",
		 "ignored",
		 0},
		{"one blocks it, one drops it",
		 {IGNORED, BLOCKS, THREADS(1, 1, 0, 0)},
		 "ignores",
		 "ignored",
		 0},
		{"blocked", {IGNORED, BLOCKS, THREADS(0, 1, 0, 0)}, "deaf", "blocked", 0},
		{"blocked and waited for",
		 {IGNORED, BLOCKS, THREADS(0, 1, 1, 0)},
		 "hears",
		 "waiter",
		 0},
		{"a signalfd",
		 {IGNORED, BLOCKS, THREADS(0, 1, 0, 0), .signalfds = 1},
		 "hears",
		 "signalfd",
		 0},
		{"a signalfd that nobody blocks for",
		 {IGNORED, OPEN, THREADS(1, 0, 0, 0), .signalfds = 1},
		 "ignores",
		 "ignored",
		 0},
	};

	judge(rows, LEN(rows));
}

static void a_signal_is_judged_by_what_it_does(void **state)
{
	static const struct row rows[] = {
		{"SIGKILL to an init",
		 {.signal = SIGKILL, INIT, OPEN, THREADS(1, 0, 0, 0)},
		 "dies",
		 "default",
		 0},
		{"SIGSTOP", {.signal = SIGSTOP, OPEN, THREADS(1, 0, 0, 0)}, "deaf", "suspends", 0},
		{"SIGTSTP", {.signal = SIGTSTP, OPEN, THREADS(1, 0, 0, 0)}, "deaf", "suspends", 0},
		{"SIGTSTP to an init",
		 {.signal = SIGTSTP, INIT, OPEN, THREADS(1, 0, 0, 0)},
		 "deaf",
		 "suspends",
		 0},
		{"SIGWINCH",
		 {.signal = SIGWINCH, INIT, OPEN, THREADS(1, 0, 0, 0)},
		 "ignores",
		 "default-ignore",
		 0},
		{"SIGWINCH, handled",
		 {.signal = SIGWINCH, INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0)},
		 "hears",
		 "handler",
		 0},
		{"SIGRTMIN+3", {.signal = 37, OPEN, THREADS(1, 0, 0, 0)}, "dies", "default", 0},
		{"an invalid number",
		 {.signal = 65, OPEN, THREADS(1, 0, 0, 0)},
		 "dies",
		 "default",
		 0},
	};

	judge(rows, LEN(rows));
}

#define SHELL(...) .shell = {.is_shell = true, __VA_ARGS__}

static void a_shell_is_distinguished_from_the_app_behind_it(void **state)
{
	static const struct row rows[] = {
		{"a shell alone",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), SHELL(.waits = true)},
		 "deaf",
		 "no-handler",
		 0},
		{"a shell in front",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), SHELL(.in_front = true, .waits = true)},
		 "deaf",
		 "shell",
		 0},
		{"no shell, but a child",
		 {INIT, OPEN, THREADS(1, 0, 0, 0), .shell = {.in_front = true, .waits = true}},
		 "deaf",
		 "no-handler",
		 0},
		{"without a shield",
		 {OPEN, THREADS(1, 0, 0, 0), SHELL(.in_front = true)},
		 "dies",
		 "default",
		 1u << AUDIT_CHILD_UNSIGNALLED},
		{"a trap, and a child in the foreground",
		 {INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0), SHELL(.in_front = true, .waits = true)},
		 "hears",
		 "handler",
		 1u << AUDIT_SHELL_WAITS},
		{"a trap, and a child in the background",
		 {INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0),
		  SHELL(.in_front = true, .waits = true, .behind = true)},
		 "hears",
		 "handler",
		 0},
		{"a trap, and busy itself",
		 {INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0), SHELL(.in_front = true)},
		 "hears",
		 "handler",
		 0},
		{"ignored by the shell",
		 {INIT, IGNORED, OPEN, THREADS(1, 0, 0, 0), SHELL(.in_front = true)},
		 "ignores",
		 "ignored",
		 0},
	};

	judge(rows, LEN(rows));
}

static void warnings_do_not_change_the_verdict(void **state)
{
	static const struct row rows[] = {
		{"stopped",
		 {HANDLED, OPEN, THREADS(1, 0, 0, 0), .stopped = true},
		 "hears",
		 "handler",
		 1u << AUDIT_STOPPED},
		{"frozen",
		 {HANDLED, OPEN, THREADS(1, 0, 0, 0), .frozen = true},
		 "hears",
		 "handler",
		 1u << AUDIT_FROZEN},
		{"its child ignores it",
		 {HANDLED, OPEN, THREADS(1, 0, 0, 0), .child_ignores = true},
		 "hears",
		 "handler",
		 1u << AUDIT_CHILD_IGNORES},
		{"its handler may be its runtime's",
		 {INIT, HANDLED, OPEN, THREADS(1, 0, 0, 0), .reraises = true},
		 "hears",
		 "handler",
		 1u << AUDIT_RERAISES},
		{"... which ends who has no shield",
		 {HANDLED, OPEN, THREADS(1, 0, 0, 0), .reraises = true},
		 "hears",
		 "handler",
		 0},
		{"it does not hear it itself",
		 {INIT, BLOCKS, THREADS(0, 1, 0, 0), .child_ignores = true},
		 "deaf",
		 "blocked",
		 0},
		{"asked before",
		 {INIT, BLOCKS, THREADS(0, 1, 0, 0), .pending = true},
		 "deaf",
		 "blocked",
		 1u << AUDIT_PENDING},
	};

	judge(rows, LEN(rows));
}

#define BIT(n) (1ull << ((n)-1))

static void a_wait_hides_what_it_waits_for_from_the_mask(void **state)
{
	static const struct {
		const char *what;
		uint64_t blocked;
		enum audit_call call;
		uint64_t awaited;
		enum audit_thread is;
	} rows[] = {
		{"plain", 0, AUDIT_CALL_OTHER, 0, AUDIT_OPEN},
		{"blocked", BIT(SIGTERM), AUDIT_CALL_OTHER, 0, AUDIT_BLOCKS},
		{"another is blocked", BIT(SIGINT), AUDIT_CALL_OTHER, 0, AUDIT_OPEN},
		{"waited for", BIT(SIGINT), AUDIT_CALL_WAIT, BIT(SIGTERM), AUDIT_WAITS},
		{"another is waited for", 0, AUDIT_CALL_WAIT, BIT(SIGINT), AUDIT_OPEN},
		{"blocked in a wait for another", BIT(SIGTERM), AUDIT_CALL_WAIT_ON, 0,
		 AUDIT_BLOCKS},
		{"a wait for who knows what", 0, AUDIT_CALL_WAIT_ON, 0, AUDIT_UNSURE},
		{"who knows", 0, AUDIT_CALL_UNREAD, 0, AUDIT_UNSURE},
		{"blocked, who knows where", BIT(SIGTERM), AUDIT_CALL_UNREAD, 0, AUDIT_BLOCKS},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("# %s\n", rows[i].what);
		assert_int_equal(audit_thread_of(SIGTERM, rows[i].blocked, rows[i].call,
						 rows[i].awaited),
				 rows[i].is);
	}
	assert_int_equal(audit_thread_of(64, BIT(64), AUDIT_CALL_OTHER, 0), AUDIT_BLOCKS);
	assert_int_equal(audit_disposition_of(64, BIT(64), 0), AUDIT_SIG_HANDLED);
	assert_int_equal(audit_disposition_of(1, 0, BIT(1)), AUDIT_SIG_IGNORED);
	assert_int_equal(audit_disposition_of(2, BIT(1), BIT(3)), AUDIT_SIG_DFL);
}

static void what_blocks_in_passing_is_not_said_to_block(void **state)
{
	static const struct row rows[] = {
		{"one of two",
		 {INIT, BLOCKS, THREADS(0, 2, 0, 0), .passing = 1},
		 "unknown",
		 "busy",
		 0},
		{"under a handler",
		 {INIT, HANDLED, BLOCKS, THREADS(0, 1, 0, 0), .passing = 1},
		 "unknown",
		 "busy",
		 0},
		{"what it does may not be read",
		 {INIT, BLOCKS, THREADS(0, 1, 0, 0), .passing = 1, .calls_unread = true},
		 "unknown",
		 "no-access",
		 0},
		{"a signalfd takes it all the same",
		 {INIT, BLOCKS, THREADS(0, 1, 0, 0), .passing = 1, .signalfds = 1},
		 "hears",
		 "signalfd",
		 0},
		{"another runs the handler",
		 {INIT, HANDLED, BLOCKS, THREADS(1, 1, 0, 0), .passing = 1},
		 "hears",
		 "handler",
		 0},
		{"each sleeps", {INIT, BLOCKS, THREADS(0, 2, 0, 0)}, "deaf", "blocked", 0},
	};

	judge(rows, LEN(rows));
}

static void a_stage_is_known_by_its_program_and_is_young(void **state)
{
	static const char memfd[] = "/memfd:runc_cloned:/proc/self/exe (deleted)";
	static const struct {
		const char *comm, *link;
		bool in_memory;
		uint64_t age_ns;
		bool is;
	} rows[] = {
		{"runc:[2:INIT]", memfd, true, 0, true},
		{"runc:[2:INIT]", "/", false, 0, true},
		{"runc:[1:CHILD]", "/", false, AUDIT_STAGE_NS - 1, true},
		{"crun", "/", false, 0, true},
		{"3", "/memfd:crun_cloned:/proc/self/exe (deleted)", true, 0, true},
		/* What a process calls itself is no proof. */
		{"runc:[2:INIT]", "/usr/bin/app", true, 0, false},
		{"runc:[2:INIT]", "/usr/bin/app (deleted)", false, 0, false},
		{"runc:[2:INIT]", "/memfd:app (deleted)", false, 0, false},
		{"runc:[2:INIT]", "", false, 0, false},
		{"app", "/", false, 0, false},
		{"crunch", "/", false, 0, false},
		{"crun", "/usr/bin/crun", false, 0, false},
		{"x", memfd, false, 0, false},
		/* It does not take that long. */
		{"runc:[2:INIT]", memfd, true, AUDIT_STAGE_NS, false},
		{"runc:[2:INIT]", "/", false, UINT64_MAX, false},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		if (audit_is_starting(rows[i].comm, rows[i].link, rows[i].in_memory,
				      rows[i].age_ns) != rows[i].is)
			fail_msg("row %zu: %s %s", i, rows[i].comm, rows[i].link);
}

static void shells_are_known_by_their_program(void **state)
{
	static const struct {
		const char *exe, *comm;
		bool is;
	} rows[] = {
		{"dash", "sh", true},	     {"bash", "entrypoint.sh", true},
		{"busybox", "sh", true},     {"busybox", "ash", true},
		{"busybox", "sleep", false}, {"", "sh", true},
		{"", "nginx", false},	     {"nginx", "sh", false},
		{"bashful", "bash", false},  {"", "", false},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(audit_is_shell(rows[i].exe, rows[i].comm), rows[i].is);
}

static void a_runtime_with_a_handler_of_its_own_is_known(void **state)
{
	assert_true(audit_reraises("node", SIGTERM));
	assert_true(audit_reraises("nodejs", SIGINT));
	assert_false(audit_reraises("node", SIGQUIT));
	assert_false(audit_reraises("nodeos", SIGTERM));
	assert_false(audit_reraises("", SIGTERM));
}

static void every_name_is_there_and_no_other(void **state)
{
	for (unsigned int i = 0; i <= AUDIT_REASON_COUNT; i++) {
		assert_int_equal(!audit_verdict_name(i), i >= AUDIT_VERDICT_COUNT);
		assert_int_equal(!audit_reason_name(i), i >= AUDIT_REASON_COUNT);
		assert_int_equal(!audit_warning_name(i), i >= AUDIT_WARNING_COUNT);
		assert_int_equal(!audit_disposition_name(i), i >= AUDIT_DISPOSITION_COUNT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what threads that were not read may change is unknown",
		      what_threads_that_were_not_read_may_change_is_unknown),
		CLAIM("a handler hears where a thread can run it",
		      a_handler_hears_where_a_thread_can_run_it),
		CLAIM("the default is deaf under the shield, and death without",
		      the_default_is_deaf_under_the_shield_and_death_without),
		CLAIM("what is ignored is heard only by who blocks it first",
		      what_is_ignored_is_heard_only_by_who_blocks_it_first),
		CLAIM("a signal is judged by what it does", a_signal_is_judged_by_what_it_does),
		CLAIM("a shell is distinguished from the app behind it",
		      a_shell_is_distinguished_from_the_app_behind_it),
		CLAIM("warnings do not change the verdict", warnings_do_not_change_the_verdict),
		CLAIM("a wait hides what it waits for from the mask",
		      a_wait_hides_what_it_waits_for_from_the_mask),
		CLAIM("a thread that blocks in passing is not reported as blocked",
		      what_blocks_in_passing_is_not_said_to_block),
		CLAIM("a stage of a runtime is known by its program, and is young",
		      a_stage_is_known_by_its_program_and_is_young),
		CLAIM("shells are known by their program", shells_are_known_by_their_program),
		CLAIM("a runtime with a handler of its own is known by its program",
		      a_runtime_with_a_handler_of_its_own_is_known),
		CLAIM("every name is there, and no other", every_name_is_there_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
