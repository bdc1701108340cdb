// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/unheard: why a signal was not acted on, by what the kernel did with it. */
#include "core/stop/unheard.h"

#include <linux/types.h>
#include <signal.h>

#include "graced/event.h"
#include "lib/claim.h"

#define DFL	 GRACED_SIG_DFL
#define IGN	 GRACED_SIG_IGN
#define SHIELDED GRACED_SIG_SHIELDED
#define DYING	 GRACED_SIG_GROUP_EXIT
#define CHILDREN GRACED_SIG_CHILDREN
#define STOPPED	 GRACED_SIG_STOPPED
#define ZOMBIE	 GRACED_SIG_TARGET_ZOMBIE

static void a_reason_is_given_only_for_what_the_kernel_dropped(void **state)
{
	static const struct {
		uint32_t sig;
		int32_t result;
		uint32_t flags;
		enum unheard reason;
		bool shell;
	} rows[] = {
		{SIGTERM, 1, DFL | SHIELDED, UNHEARD_NO_HANDLER, false},
		{37, 1, DFL | SHIELDED, UNHEARD_NO_HANDLER, false},
		{SIGTSTP, 1, DFL | SHIELDED, UNHEARD_SUSPENDS, false},
		{SIGTTIN, 1, DFL | SHIELDED | CHILDREN, UNHEARD_SUSPENDS, true},
		{SIGTTOU, 0, DFL, UNHEARD_SUSPENDS, false},
		{SIGTSTP, 0, DFL | GRACED_SIG_BLOCKED, UNHEARD_NONE, false},
		{SIGTSTP, 0, 0, UNHEARD_NONE, false},
		{SIGSTOP, 0, DFL | SHIELDED, UNHEARD_SUSPENDS, true},
		{SIGSTOP, 0, DFL | DYING, UNHEARD_NONE, false},
		{SIGTERM, 1, IGN | SHIELDED, UNHEARD_IGNORED, false},
		{SIGTERM, 1, IGN, UNHEARD_IGNORED, false},
		{SIGWINCH, 1, IGN, UNHEARD_IGNORED, false},
		{SIGWINCH, 1, DFL, UNHEARD_DEFAULT_IGNORE, false},
		{SIGWINCH, 1, DFL | SHIELDED, UNHEARD_DEFAULT_IGNORE, false},
		{SIGCHLD, 1, DFL, UNHEARD_DEFAULT_IGNORE, false},
		{SIGURG, 1, DFL, UNHEARD_DEFAULT_IGNORE, false},
		{SIGTERM, 1, DFL | SHIELDED, UNHEARD_NO_HANDLER, true},
		{SIGTERM, 1, DFL | SHIELDED | CHILDREN, UNHEARD_NO_HANDLER, false},
		{SIGTERM, 1, DFL | SHIELDED | CHILDREN, UNHEARD_SHELL, true},
		{SIGTERM, 1, IGN | SHIELDED | CHILDREN, UNHEARD_IGNORED, true},
		{SIGTERM, 0, STOPPED, UNHEARD_STOPPED, false},
		{SIGTERM, 2, STOPPED, UNHEARD_STOPPED, false},
		{SIGTERM, 3, STOPPED, UNHEARD_NONE, false},
		{SIGTERM, 0, STOPPED | DYING, UNHEARD_NONE, false},
		{SIGTERM, 1, DFL | SHIELDED | STOPPED, UNHEARD_NO_HANDLER, false},
		/* Queued, or not sent: nothing is known yet. */
		{SIGTERM, 0, DFL | SHIELDED, UNHEARD_NONE, false},
		{SIGTERM, 0, GRACED_SIG_BLOCKED, UNHEARD_NONE, false},
		{SIGTERM, 2, 0, UNHEARD_NONE, false},
		{SIGTERM, 3, 0, UNHEARD_NONE, false},
		{SIGTERM, -1, IGN, UNHEARD_NONE, false},
		/* A dying process ignores everything. */
		{SIGTERM, 1, DFL | SHIELDED | DYING, UNHEARD_NONE, false},
		{SIGTERM, 1, IGN | ZOMBIE, UNHEARD_NONE, false},
		{SIGTERM, 1, 0, UNHEARD_NONE, false},
		/* Without a shield a default that ends is not ignored. */
		{SIGTERM, 1, DFL, UNHEARD_NONE, false},
		{SIGKILL, 1, DFL | SHIELDED, UNHEARD_NONE, false},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		enum unheard got =
			unheard_by(rows[i].sig, rows[i].result, rows[i].flags, rows[i].shell);

		if (got != rows[i].reason)
			fail_msg("row %zu: reason %d", i, got);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a reason is given only for what the kernel dropped, or a stopped process has",
		      a_reason_is_given_only_for_what_the_kernel_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
