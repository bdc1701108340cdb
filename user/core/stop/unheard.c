// SPDX-License-Identifier: Apache-2.0
/* The vocabulary, and the reasons that a signal's own record shows. */
#include "core/stop/unheard.h"

#include <linux/types.h>
#include <signal.h>
#include <stddef.h>

#include "graced/event.h"

/* sig_kernel_ignore() */
static bool default_is_nothing(uint32_t sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
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
	if (result == RESULT_IGNORED)
		return dropped(sig, flags, shell);
	return flags & GRACED_SIG_STOPPED ? UNHEARD_STOPPED : UNHEARD_NONE;
}
