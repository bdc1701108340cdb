/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a stop signal was not acted on: one vocabulary for records, tables, metrics and the audit.
 * A reason is given only where it was observed; where the signal was acted on, or nothing is known,
 * there is none.
 */
#ifndef CORE_STOP_UNHEARD_H
#define CORE_STOP_UNHEARD_H

#include <stdbool.h>
#include <stdint.h>

enum unheard {
	UNHEARD_NONE,		/* no word: null */
	UNHEARD_NO_HANDLER,	/* "no-handler": SIG_DFL under the shield of PID 1, which is deaf */
	UNHEARD_IGNORED,	/* "ignored": SIG_IGN */
	UNHEARD_BLOCKED,	/* "blocked": by every thread, and no thread waits for it */
	UNHEARD_STOPPED,	/* "stopped": frozen, or stopped by a signal or a tracer */
	UNHEARD_DEFAULT_IGNORE, /* "default-ignore": SIG_DFL of SIGWINCH and its like */
	UNHEARD_SHELL,		/* "shell": no-handler, of a shell in front of the application */
	UNHEARD_TRAP,		/* "trap": a shell runs its trap when its child has ended */
	UNHEARD_CHILD_IGNORED,	/* "child-ignored": init forwarded it, the child ignored it */
	UNHEARD_RERAISED,	/* "reraised": init took it, and sent it to itself in vain */
	UNHEARD_BEFORE_EXEC,	/* "before-exec": dropped before init exec'd its program */
	UNHEARD_COUNT,
};

/* The word in quotes; NULL for UNHEARD_NONE and for a number that is no member. */
const char *unheard_name(enum unheard reason);

/*
 * By what the kernel did with a signal when it was generated: its result (enum of
 * include/trace/events/signal.h) and enum graced_signal_flags. shell: the target is one. A target
 * that is stopped may take the signal later.
 */
enum unheard unheard_by(uint32_t sig, int32_t result, uint32_t flags, bool shell);

#endif
