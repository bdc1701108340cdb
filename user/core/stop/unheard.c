// SPDX-License-Identifier: Apache-2.0
/* The vocabulary, and what a signal's own record shows: whether its target is deaf to it, and why. */
#include "core/stop/unheard.h"

#include <linux/types.h>
#include <signal.h>
#include <stddef.h>

#include "core/stop/stop.h"
#include "graced/event.h"

bool stop_signal_deaf(const struct obs_signal *sig)
{
	return sig->result == RESULT_IGNORED && (sig->flags & STOP_SHIELD) == STOP_SHIELD &&
	       !(sig->flags & (GRACED_SIG_GROUP_EXIT | GRACED_SIG_TARGET_ZOMBIE));
}

bool stop_signal_unheard(const struct stop_signal *s)
{
	return s->result == RESULT_IGNORED || s->dropped_ns;
}

bool stop_deaf_to(const struct stop_signal *s)
{
	return stop_signal_unheard(s) && (s->flags & STOP_SHIELD) == STOP_SHIELD &&
	       !(s->flags & (GRACED_SIG_GROUP_EXIT | GRACED_SIG_TARGET_ZOMBIE));
}

/* sig_kernel_ignore() */
static bool default_is_nothing(uint32_t sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

/* sig_kernel_stop(); the first cannot be handled. */
static bool only_suspends(uint32_t sig, uint32_t flags)
{
	return sig == SIGSTOP || ((sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) &&
				  flags & GRACED_SIG_DFL && !(flags & GRACED_SIG_BLOCKED));
}

static enum unheard dropped(uint32_t sig, uint32_t flags, bool shell)
{
	if (flags & GRACED_SIG_IGN)
		return UNHEARD_IGNORED;
	if (!(flags & GRACED_SIG_DFL))
		return UNHEARD_NONE;
	if (default_is_nothing(sig))
		return UNHEARD_DEFAULT_IGNORE;
	if (!(flags & GRACED_SIG_SHIELDED))
		return UNHEARD_NONE;
	return shell && flags & GRACED_SIG_CHILDREN ? UNHEARD_SHELL : UNHEARD_NO_HANDLER;
}

/* prepare_signal() ignores every signal to a process that is dying already. */
enum unheard unheard_by(uint32_t sig, int32_t result, uint32_t flags, bool shell)
{
	if (sig == SIGKILL || result == RESULT_OVERFLOW ||
	    flags & (GRACED_SIG_GROUP_EXIT | GRACED_SIG_TARGET_ZOMBIE))
		return UNHEARD_NONE;
	if (only_suspends(sig, flags))
		return UNHEARD_SUSPENDS;
	if (result == RESULT_IGNORED)
		return dropped(sig, flags, shell);
	return flags & GRACED_SIG_STOPPED ? UNHEARD_STOPPED : UNHEARD_NONE;
}

static const struct {
	const char *of_init, *remark;
} words[UNHEARD_COUNT] = {
	[UNHEARD_NONE] = {"never heard $", "no reason was seen"},
	[UNHEARD_NO_HANDLER] = {"has no handler for $ and never heard it", "it has no handler"},
	[UNHEARD_IGNORED] = {"ignores $", "it ignores that"},
	[UNHEARD_BLOCKED] = {"blocks $ in every thread", "every thread blocks it"},
	[UNHEARD_STOPPED] = {"was frozen or stopped when $ came", "it was frozen or stopped"},
	[UNHEARD_DEFAULT_IGNORE] = {"has no handler for $, whose default is to do nothing",
				    "the default is to do nothing"},
	[UNHEARD_SUSPENDS] = {"does not end by $, which only suspends processes",
			      "it only suspends processes"},
	[UNHEARD_SHELL] = {"is a shell that never heard $ and passes nothing on",
			   "a shell without a handler"},
	[UNHEARD_TRAP] = {"is a shell whose trap for $ waits for its child",
			  "its trap waits for its child"},
	[UNHEARD_CHILD_IGNORED] = {"passed $ on to its child, which ignores it",
				   "its child ignores it"},
	[UNHEARD_RERAISED] = {"took $ and raised it again, which does not end PID 1",
			      "it raised it again, which does not end PID 1"},
	[UNHEARD_BEFORE_EXEC] = {"was sent $ before it had executed its program",
				 "it had not executed its program yet"},
	[UNHEARD_BEFORE_HANDLER] = {"was sent $ before it had installed its handler",
				    "it had not installed its handler yet"},
};

const char *unheard_of_init(enum unheard reason)
{
	return words[(unsigned int)reason < UNHEARD_COUNT ? reason : UNHEARD_NONE].of_init;
}

const char *unheard_remark(enum unheard reason)
{
	return words[(unsigned int)reason < UNHEARD_COUNT ? reason : UNHEARD_NONE].remark;
}
