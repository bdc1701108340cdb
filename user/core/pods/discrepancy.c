// SPDX-License-Identifier: Apache-2.0
#include "core/pods/discrepancy.h"

#include <string.h>

#include "core/names/meta.h"

uint64_t discrepancy_grace_ns(enum discrepancy kind)
{
	bool changes = kind == DISCREPANCY_OBJECT_GONE || kind == DISCREPANCY_TERMINAL_POPULATED;

	return changes ? DISCREPANCY_GRACE_NS : 0;
}

int32_t discrepancy_code_of(uint32_t status)
{
	return status & 0x7f ? 128 + (int32_t)(status & 0x7f) : (int32_t)(status >> 8 & 0xff);
}

/* A runtime reports OOMKilled if any process of the container was a victim, however its init left. */
static bool reason_differs(const struct exit_seen *exit, const char *reason)
{
	bool failed = discrepancy_code_of(exit->status) != 0;
	bool victim = exit->oom_victim && (exit->status & 0x7f) == 9;

	if (strcmp(reason, "OOMKilled") == 0)
		return exit->oom_sure && !exit->oom_victim && !exit->oom_beside;
	if (strcmp(reason, "Completed") == 0)
		return failed;
	return strcmp(reason, "Error") == 0 && (victim || !failed);
}

static bool time_differs(int64_t reported_ns, int64_t wall_ns)
{
	int64_t behind;

	if (!reported_ns || !wall_ns)
		return false;
	return __builtin_sub_overflow(reported_ns, wall_ns, &behind) ||
	       behind > DISCREPANCY_TIME_NS || behind < -DISCREPANCY_TIME_NS;
}

/* A runtime takes the time when it learns of the exit: on a slow node seconds later, and after a
 * restart of it longer; but before it reports that. */
static bool is_late(const struct discrepancy_reported *reported, int64_t wall_ns)
{
	return reported->finished_ns > wall_ns && reported->finished_ns <= reported->heard_ns;
}

uint32_t discrepancy_of_exit(const struct exit_seen *exit,
			     const struct discrepancy_reported *reported)
{
	uint32_t bits = 0;

	if (reported->code != discrepancy_code_of(exit->status))
		bits |= DISCREPANCY_BIT(DISCREPANCY_EXIT_CODE);
	if (reason_differs(exit, reported->reason))
		bits |= DISCREPANCY_BIT(DISCREPANCY_EXIT_REASON);
	if (time_differs(reported->finished_ns, exit->wall_ns))
		bits |= is_late(reported, exit->wall_ns) ? DISCREPANCY_BIT(DISCREPANCY_EXIT_LATE)
							 : DISCREPANCY_BIT(DISCREPANCY_EXIT_TIME);
	return bits;
}
