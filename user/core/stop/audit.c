// SPDX-License-Identifier: Apache-2.0
/* Judges by the kernel's rules of signals whether an init would hear one. */
#include "core/stop/audit.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static uint64_t bit_of(uint32_t signal)
{
	return signal >= 1 && signal <= 64 ? 1ull << (signal - 1) : 0;
}

enum audit_thread audit_thread_of(uint32_t signal, uint64_t blocked, enum audit_call call,
				  uint64_t awaited)
{
	/* A wait takes what it waits for out of the mask as long as it sleeps. */
	if (blocked & bit_of(signal))
		return AUDIT_BLOCKS;
	switch (call) {
	case AUDIT_CALL_WAIT:
		return awaited & bit_of(signal) ? AUDIT_WAITS : AUDIT_OPEN;
	case AUDIT_CALL_WAIT_ON:
	case AUDIT_CALL_UNREAD:
		return AUDIT_UNSURE;
	default:
		return AUDIT_OPEN;
	}
}

enum audit_disposition audit_disposition_of(uint32_t signal, uint64_t caught, uint64_t ignored)
{
	if (caught & bit_of(signal))
		return AUDIT_SIG_HANDLED;
	return ignored & bit_of(signal) ? AUDIT_SIG_IGNORED : AUDIT_SIG_DFL;
}

/* What SIG_DFL does, signal(7). */
enum action {
	ACTION_END,
	ACTION_NOTHING,
	ACTION_SUSPEND,
};

static enum action action_of(uint32_t signal)
{
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
		return ACTION_NOTHING;
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return ACTION_SUSPEND;
	default:
		return ACTION_END;
	}
}

static struct audit verdict(enum audit_verdict verdict, enum audit_reason reason)
{
	return (struct audit){.verdict = verdict, .reason = reason};
}

static struct audit unheard(const struct audit_facts *f)
{
	if (f->disposition == AUDIT_SIG_IGNORED)
		return verdict(AUDIT_IGNORES, f->shell.is_shell && f->keeps_terminal
						      ? AUDIT_TERMINAL
						      : AUDIT_SIG_IGN);
	if (action_of(f->signal) == ACTION_NOTHING)
		return verdict(AUDIT_IGNORES, AUDIT_DEFAULT_IGNORE);
	/* Without the shield it would not end, either. */
	if (action_of(f->signal) == ACTION_SUSPEND)
		return verdict(AUDIT_DEAF, AUDIT_SUSPENDS);
	if (f->workers)
		return verdict(AUDIT_DEAF, AUDIT_PLACEHOLDER);
	return verdict(AUDIT_DEAF,
		       f->shell.is_shell && f->shell.in_front ? AUDIT_SHELL : AUDIT_SHIELD);
}

/* What becomes of the signal in a thread that does not block it, when there is no handler. */
static bool is_dropped(const struct audit_facts *f)
{
	return f->disposition == AUDIT_SIG_IGNORED || f->shielded ||
	       action_of(f->signal) == ACTION_NOTHING;
}

/* But for a shield. */
static bool would_die(const struct audit_facts *f)
{
	return f->disposition == AUDIT_SIG_DFL && action_of(f->signal) != ACTION_NOTHING &&
	       action_of(f->signal) != ACTION_SUSPEND;
}

static struct audit taken_by_default(const struct audit_facts *f)
{
	if (is_dropped(f))
		return unheard(f);
	if (action_of(f->signal) == ACTION_SUSPEND)
		return verdict(AUDIT_DEAF, AUDIT_SUSPENDS);
	return verdict(AUDIT_DIES, AUDIT_DEFAULT);
}

static struct audit judge_all_blocked(const struct audit_facts *f)
{
	if (f->signalfds)
		return verdict(AUDIT_HEARS, AUDIT_SIGNALFD);
	if (f->signalfds_unread || f->calls_unread)
		return verdict(AUDIT_UNKNOWN, AUDIT_ACCESS);
	/* A shell, and posix_spawn(3), block everything for a moment. Who has a handler opens the
	 * mask at times, as an event loop does in ppoll(2). */
	return f->passing || f->disposition == AUDIT_SIG_HANDLED
		       ? verdict(AUDIT_UNKNOWN, AUDIT_BUSY)
		       : verdict(AUDIT_DEAF, AUDIT_BLOCKED);
}

static struct audit judge_handled(const struct audit_facts *f)
{
	/* Those not sure run the handler, or take it by their wait: it is heard either way. */
	if (f->threads[AUDIT_OPEN] > f->spawning || f->threads[AUDIT_UNSURE])
		return verdict(AUDIT_HEARS, AUDIT_HANDLER);
	if (f->threads[AUDIT_WAITS])
		return verdict(AUDIT_HEARS, AUDIT_WAITER);
	if (f->spawning)
		return verdict(AUDIT_UNKNOWN, AUDIT_BUSY);
	return f->threads_unread ? verdict(AUDIT_UNKNOWN, AUDIT_ACCESS) : judge_all_blocked(f);
}

/* The leader blocks it, or has left: it is queued, for which thread is not known. */
static struct audit judge_queued(const struct audit_facts *f)
{
	bool open = f->threads[AUDIT_OPEN], waits = f->threads[AUDIT_WAITS];

	if (f->threads[AUDIT_UNSURE] || f->threads_unread)
		return verdict(AUDIT_UNKNOWN, AUDIT_ACCESS);
	/* One that was just woken may have waited for this signal. */
	if (f->waking_others)
		return verdict(AUDIT_UNKNOWN, AUDIT_BUSY);
	if (!open)
		return waits ? verdict(AUDIT_HEARS, AUDIT_WAITER) : judge_all_blocked(f);
	/* A thread that drops it may come before the one that would read it. */
	if (waits || (is_dropped(f) && f->signalfds))
		return verdict(AUDIT_UNKNOWN, AUDIT_THREADS);
	if (is_dropped(f) && f->signalfds_unread)
		return verdict(AUDIT_UNKNOWN, AUDIT_ACCESS);
	/* Kernels differ: one ends the whole group once it has found a thread that does not block it
	 * (complete_signal()), another leaves it to that thread, under the shield, to drop it. */
	if (would_die(f) && f->shielded)
		return verdict(AUDIT_UNKNOWN, AUDIT_THREADS);
	return taken_by_default(f);
}

static struct audit judge_unhandled(const struct audit_facts *f)
{
	switch (f->leader) {
	case AUDIT_OPEN:
		/* Another thread is chosen (complete_signal()). */
		if (!is_dropped(f) && f->left)
			return judge_queued(f);
		return f->waking ? verdict(AUDIT_UNKNOWN, AUDIT_BUSY) : taken_by_default(f);
	case AUDIT_WAITS:
		/* A leader that can take a signal is preferred. */
		return verdict(AUDIT_HEARS, AUDIT_WAITER);
	case AUDIT_BLOCKS:
		return judge_queued(f);
	default:
		return verdict(AUDIT_UNKNOWN, AUDIT_ACCESS);
	}
}

static struct audit judge(const struct audit_facts *f)
{
	/* These two cannot be handled, ignored or blocked, and come from outside the namespace. */
	if (f->signal == SIGKILL)
		return verdict(AUDIT_DIES, AUDIT_DEFAULT);
	if (f->signal == SIGSTOP)
		return verdict(AUDIT_DEAF, AUDIT_SUSPENDS);
	return f->disposition == AUDIT_SIG_HANDLED ? judge_handled(f) : judge_unhandled(f);
}

static bool trap_waits(const struct audit_facts *f, const struct audit *a)
{
	return a->verdict == AUDIT_HEARS && a->reason == AUDIT_HANDLER && f->shell.is_shell &&
	       f->shell.in_front && f->shell.waits && !f->shell.behind;
}

struct audit audit_judge(const struct audit_facts *f)
{
	struct audit a = judge(f);
	bool child_ignores = a.verdict == AUDIT_HEARS && f->child_ignores;
	bool reraises =
		a.verdict == AUDIT_HEARS && a.reason == AUDIT_HANDLER && f->shielded && f->reraises;
	bool unsignalled = a.verdict == AUDIT_DIES && f->shell.is_shell && f->shell.in_front;

	a.warnings = (uint32_t)f->stopped << AUDIT_STOPPED | (uint32_t)f->frozen << AUDIT_FROZEN |
		     (uint32_t)trap_waits(f, &a) << AUDIT_SHELL_WAITS |
		     (uint32_t)unsignalled << AUDIT_CHILD_UNSIGNALLED |
		     (uint32_t)child_ignores << AUDIT_CHILD_IGNORES |
		     (uint32_t)reraises << AUDIT_RERAISES | (uint32_t)f->pending << AUDIT_PENDING |
		     (uint32_t)f->guessed << AUDIT_GUESSED;
	return a;
}

bool audit_is_deaf(const struct audit *a)
{
	return a->verdict == AUDIT_DEAF || a->verdict == AUDIT_IGNORES;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Runtimes run a copy of themselves that a container cannot write to: in memory, or a mount of the
 * file alone, which is under no root and whose path is "/". runc names its stages "runc:[2:INIT]".
 */
bool audit_is_starting(const char *comm, const char *link, bool in_memory, uint64_t age_ns)
{
	if (age_ns >= AUDIT_STAGE_NS)
		return false;
	if (begins(link, "/memfd:runc") || begins(link, "/memfd:crun"))
		return in_memory;
	return strcmp(link, "/") == 0 && (begins(comm, "runc:[") || strcmp(comm, "crun") == 0);
}

static bool is_shell_name(const char *name)
{
	static const char *const shells[] = {"sh",  "dash", "bash",  "ash",  "ksh", "ksh93",
					     "zsh", "mksh", "rbash", "rksh", "yash"};

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (strcmp(name, shells[i]) == 0)
			return true;
	return false;
}

const char *audit_program_name(const char *exe, const char *comm)
{
	static const char *const many[] = {"", "busybox", "toybox", "coreutils"};

	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		if (strcmp(exe, many[i]) == 0)
			return comm;
	return exe;
}

bool audit_is_shell(const char *exe, const char *comm)
{
	return is_shell_name(audit_program_name(exe, comm));
}

bool audit_is_placeholder(const char *exe, const char *comm)
{
	static const char *const names[] = {"tail", "sleep", "cat"};
	const char *name = audit_program_name(exe, comm);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool audit_reraises(const char *exe, uint32_t signal)
{
	return (signal == SIGINT || signal == SIGTERM) &&
	       (strcmp(exe, "node") == 0 || strcmp(exe, "nodejs") == 0);
}
