// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/audit: who hears a stop signal, by the kernel's rules, and how well that
 * is known. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/stop/audit.h"
#include "lib/claim.h"

struct row {
	const char *what;
	const char *is; /* the verdict and its reason */
	uint32_t warnings;
	struct audit_facts facts; /* signal 0: SIGTERM */
};

#define ROW(name, verdict, ...)                                       \
	{                                                             \
		.what = name, .is = verdict, .facts = { __VA_ARGS__ } \
	}
#define WARNED(warning, name, verdict, ...)                                                \
	{                                                                                  \
		.what = name, .is = verdict, .warnings = 1u << AUDIT_##warning, .facts = { \
			__VA_ARGS__                                                        \
		}                                                                          \
	}

static void judge(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct audit_facts facts = rows[i].facts;
		struct audit a;
		char is[64];

		print_message("# %s\n", rows[i].what);
		if (!facts.signal)
			facts.signal = SIGTERM;
		a = audit_judge(&facts);
		snprintf(is, sizeof(is), "%s %s", audit_verdict_name(a.verdict),
			 audit_reason_name(a.reason));
		assert_string_equal(is, rows[i].is);
		assert_int_equal(a.warnings, rows[i].warnings);
		assert_int_equal(audit_is_deaf(&a),
				 !strncmp(is, "deaf ", 5) || !strncmp(is, "ignores ", 8));
	}
}

/* How many threads are open, blocked, waiting, unsure. */
#define THREADS(o, b, w, u) \
	.threads = {[AUDIT_OPEN] = o, [AUDIT_BLOCKS] = b, [AUDIT_WAITS] = w, [AUDIT_UNSURE] = u}
#define OPEN	.leader = AUDIT_OPEN
#define BLOCKS	.leader = AUDIT_BLOCKS
#define WAITS	.leader = AUDIT_WAITS
#define UNSURE	.leader = AUDIT_UNSURE
#define ALONE	OPEN, THREADS(1, 0, 0, 0)
#define HANDLED .disposition = AUDIT_SIG_HANDLED
#define IGNORED .disposition = AUDIT_SIG_IGNORED
#define INIT	.shielded = true

static void what_threads_that_were_not_read_may_change_is_unknown(void **state)
{
	static const struct row rows[] = {
		ROW("a handler, and an open thread", "hears handler", HANDLED, BLOCKS,
		    THREADS(1, 9, 0, 0), .threads_unread = true),
		ROW("a handler, and none so far", "unknown no-access", HANDLED, BLOCKS,
		    THREADS(0, 9, 0, 0), .threads_unread = true),
		ROW("a wait", "hears waiter", HANDLED, BLOCKS, THREADS(0, 9, 1, 0),
		    .threads_unread = true),
		ROW("no handler, and a leader that blocks it", "unknown no-access", INIT, BLOCKS,
		    THREADS(0, 9, 1, 0), .threads_unread = true),
		ROW("no handler, and a leader that does not block it", "deaf no-handler", INIT,
		    OPEN, THREADS(1, 9, 0, 0), .threads_unread = true),
	};

	judge(rows, LEN(rows));
}

static void a_handler_hears_where_a_thread_can_run_it(void **state)
{
	static const struct row rows[] = {
		ROW("one thread", "hears handler", INIT, HANDLED, ALONE),
		ROW("no shield", "hears handler", HANDLED, ALONE),
		ROW("a single open one of many", "hears handler", INIT, HANDLED, BLOCKS,
		    THREADS(1, 9, 0, 0)),
		ROW("another thread waits for it", "hears handler", INIT, HANDLED, BLOCKS,
		    THREADS(1, 0, 1, 0)),
		ROW("only that one would get it", "hears waiter", INIT, HANDLED, BLOCKS,
		    THREADS(0, 1, 1, 0)),
		ROW("a thread that runs it or waits", "hears handler", INIT, HANDLED, UNSURE,
		    THREADS(0, 0, 0, 1)),
		ROW("blocked, and a signalfd", "hears signalfd", INIT, HANDLED, BLOCKS,
		    THREADS(0, 1, 0, 0), .signalfds = 1),
		ROW("blocked, perhaps for a time", "unknown busy", INIT, HANDLED, BLOCKS,
		    THREADS(0, 4, 0, 0)),
		ROW("blocked, files not seen", "unknown no-access", INIT, HANDLED, BLOCKS,
		    THREADS(0, 4, 0, 0), .signalfds_unread = true),
	};

	judge(rows, LEN(rows));
}

static void the_default_is_deaf_under_the_shield_and_death_without(void **state)
{
	static const struct row rows[] = {
		ROW("init", "deaf no-handler", INIT, ALONE),
		ROW("not an init", "dies default", ALONE),
		ROW("woken, perhaps in a wait for it", "unknown busy", INIT, ALONE, .waking = true),
		ROW("woken, not an init", "unknown busy", ALONE, .waking = true),
		WARNED(GUESSED, "guessed", "dies default", ALONE, .guessed = true),
		ROW("another thread waits, but the first decides", "deaf no-handler", INIT, OPEN,
		    THREADS(1, 0, 1, 0)),
		ROW("the first blocks it, another does not", "unknown threads-differ", INIT, BLOCKS,
		    THREADS(1, 1, 0, 0)),
		ROW("the same without a shield", "dies default", BLOCKS, THREADS(1, 1, 0, 0),
		    .signalfds = 1),
		ROW("the same, and it is woken, perhaps in a wait for it", "unknown busy", BLOCKS,
		    THREADS(1, 1, 0, 0), .waking_others = 1),
		ROW("the first waits", "hears waiter", INIT, WAITS, THREADS(3, 0, 1, 0)),
		ROW("the first waits, no shield", "hears waiter", WAITS, THREADS(3, 0, 1, 0)),
		ROW("blocked, one waits", "hears waiter", INIT, BLOCKS, THREADS(0, 3, 1, 0)),
		ROW("one waits, one would drop it", "unknown threads-differ", INIT, BLOCKS,
		    THREADS(1, 1, 1, 0)),
		ROW("one waits, one would die of it", "unknown threads-differ", BLOCKS,
		    THREADS(1, 1, 1, 0)),
		ROW("a signalfd, and one that would drop it", "unknown threads-differ", INIT,
		    BLOCKS, THREADS(1, 1, 0, 0), .signalfds = 1),
		ROW("one that would drop it before files not seen", "unknown no-access", INIT,
		    BLOCKS, THREADS(1, 1, 0, 0), .signalfds_unread = true),
		ROW("the first may wait", "unknown no-access", INIT, UNSURE, THREADS(0, 0, 0, 1)),
		ROW("another may wait", "unknown no-access", INIT, BLOCKS, THREADS(0, 1, 0, 1)),
		ROW("a signalfd nobody has to block for", "hears signalfd", INIT, BLOCKS,
		    THREADS(0, 2, 0, 0), .signalfds = 2),
		ROW("the first has left its threads", "deaf blocked", INIT, BLOCKS,
		    THREADS(0, 1, 0, 0)),
		ROW("... and did not block it", "deaf no-handler", INIT, OPEN, THREADS(0, 1, 0, 0),
		    .left = true),
		ROW("... without a shield", "deaf blocked", OPEN, THREADS(0, 1, 0, 0),
		    .left = true),
		ROW("... one of which waits, and one would die of it", "unknown threads-differ",
		    OPEN, THREADS(1, 0, 1, 0), .left = true),
	};

	judge(rows, LEN(rows));
}

static void what_is_ignored_is_heard_only_by_who_blocks_it_first(void **state)
{
	static const struct row rows[] = {
		ROW("init", "ignores ignored", INIT, IGNORED, ALONE),
		ROW("no init", "ignores ignored", IGNORED, ALONE),
		ROW("what only keeps a container there", "deaf placeholder", INIT, ALONE,
		    .workers = 1),
		ROW("the same without a shield", "dies default", ALONE, .workers = 1),
		ROW("a shell that only waits", "deaf placeholder", INIT, ALONE,
		    .shell = {.is_shell = true, .in_front = true}, .workers = 2),
		ROW("the same in which nothing else runs", "deaf shell", INIT, ALONE,
		    .shell = {.is_shell = true, .in_front = true}),
		ROW("what only keeps a container there, with a handler", "hears handler", INIT,
		    HANDLED, ALONE, .workers = 1),
		ROW("a shell in a terminal", "ignores terminal", INIT, IGNORED, ALONE,
		    .shell.is_shell = true, .keeps_terminal = true),
		ROW("a script that ignores it", "ignores ignored", INIT, IGNORED, ALONE,
		    .shell.is_shell = true),
		ROW("an editor in a terminal", "ignores ignored", INIT, IGNORED, ALONE,
		    .keeps_terminal = true),
		ROW("one blocks it, one drops it", "ignores ignored", IGNORED, BLOCKS,
		    THREADS(1, 1, 0, 0)),
		ROW("blocked", "deaf blocked", IGNORED, BLOCKS, THREADS(0, 1, 0, 0)),
		ROW("blocked and waited for", "hears waiter", IGNORED, BLOCKS, THREADS(0, 1, 1, 0)),
		ROW("a signalfd", "hears signalfd", IGNORED, BLOCKS, THREADS(0, 1, 0, 0),
		    .signalfds = 1),
		ROW("a signalfd that nobody blocks for", "ignores ignored", IGNORED, ALONE,
		    .signalfds = 1),
	};

	judge(rows, LEN(rows));
}

static void a_signal_is_judged_by_what_it_does(void **state)
{
	static const struct row rows[] = {
		ROW("SIGKILL to an init", "dies default", .signal = SIGKILL, INIT, ALONE),
		ROW("SIGSTOP", "deaf suspends", .signal = SIGSTOP, ALONE),
		ROW("SIGTSTP", "deaf suspends", .signal = SIGTSTP, ALONE),
		ROW("SIGTSTP to an init", "deaf suspends", .signal = SIGTSTP, INIT, ALONE),
		ROW("SIGWINCH", "ignores default-ignore", .signal = SIGWINCH, INIT, ALONE),
		ROW("SIGWINCH, handled", "hears handler", .signal = SIGWINCH, INIT, HANDLED, ALONE),
		ROW("SIGRTMIN+3", "dies default", .signal = 37, ALONE),
		ROW("an invalid number", "dies default", .signal = 65, ALONE),
	};

	judge(rows, LEN(rows));
}

#define SHELL(...) .shell = {.is_shell = true, __VA_ARGS__}

static void a_shell_is_distinguished_from_the_app_behind_it(void **state)
{
	static const struct row rows[] = {
		ROW("a shell alone", "deaf no-handler", INIT, ALONE, SHELL(.waits = true)),
		ROW("a shell in front", "deaf shell", INIT, ALONE,
		    SHELL(.in_front = true, .waits = true)),
		ROW("no shell, but a child", "deaf no-handler", INIT, ALONE,
		    .shell = {.in_front = true, .waits = true}),
		WARNED(CHILD_UNSIGNALLED, "without a shield", "dies default", ALONE,
		       SHELL(.in_front = true)),
		WARNED(SHELL_WAITS, "a trap, and a child in the foreground", "hears handler", INIT,
		       HANDLED, ALONE, SHELL(.in_front = true, .waits = true)),
		ROW("a trap, and a child in the background", "hears handler", INIT, HANDLED, ALONE,
		    SHELL(.in_front = true, .waits = true, .behind = true)),
		ROW("a trap, and busy itself", "hears handler", INIT, HANDLED, ALONE,
		    SHELL(.in_front = true)),
		ROW("ignored by the shell", "ignores ignored", INIT, IGNORED, ALONE,
		    SHELL(.in_front = true)),
	};

	judge(rows, LEN(rows));
}

static void warnings_do_not_change_the_verdict(void **state)
{
	static const struct row rows[] = {
		WARNED(STOPPED, "stopped", "hears handler", HANDLED, ALONE, .stopped = true),
		WARNED(FROZEN, "frozen", "hears handler", HANDLED, ALONE, .frozen = true),
		WARNED(CHILD_IGNORES, "its child ignores it", "hears handler", HANDLED, ALONE,
		       .child_ignores = true),
		WARNED(RERAISES, "its handler may be its runtime's", "hears handler", INIT, HANDLED,
		       ALONE, .reraises = true),
		ROW("... which ends who has no shield", "hears handler", HANDLED, ALONE,
		    .reraises = true),
		ROW("it does not hear it itself", "deaf blocked", INIT, BLOCKS, THREADS(0, 1, 0, 0),
		    .child_ignores = true),
		WARNED(PENDING, "asked before", "deaf blocked", INIT, BLOCKS, THREADS(0, 1, 0, 0),
		       .pending = true),
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
		ROW("one of two", "unknown busy", INIT, BLOCKS, THREADS(0, 2, 0, 0), .passing = 1),
		ROW("under a handler", "unknown busy", INIT, HANDLED, BLOCKS, THREADS(0, 1, 0, 0),
		    .passing = 1),
		ROW("what it does may not be read", "unknown no-access", INIT, BLOCKS,
		    THREADS(0, 1, 0, 0), .passing = 1, .calls_unread = true),
		ROW("a signalfd takes it all the same", "hears signalfd", INIT, BLOCKS,
		    THREADS(0, 1, 0, 0), .passing = 1, .signalfds = 1),
		ROW("another runs the handler", "hears handler", INIT, HANDLED, BLOCKS,
		    THREADS(1, 1, 0, 0), .passing = 1),
		ROW("a handler, and in vfork", "unknown busy", INIT, HANDLED, ALONE, .spawning = 1),
		ROW("... beside another", "hears handler", INIT, HANDLED, OPEN, THREADS(2, 0, 0, 0),
		    .spawning = 1),
		ROW("... where one waits for it", "hears waiter", INIT, HANDLED, OPEN,
		    THREADS(1, 0, 1, 0), .spawning = 1),
		ROW("no handler, and in vfork", "deaf no-handler", INIT, ALONE, .spawning = 1),
		ROW("each sleeps", "deaf blocked", INIT, BLOCKS, THREADS(0, 2, 0, 0)),
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
