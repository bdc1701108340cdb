// SPDX-License-Identifier: Apache-2.0
/* Turns the properties of a service into what the engine wants to know of a container. */
#include "core/names/unit_facts.h"

#include <stdio.h>
#include <string.h>

#define SIGNAL_MAX 64
#define PID_MAX	   4194304 /* PID_MAX_LIMIT in include/linux/threads.h */
#define US	   1000ull

static bool is_known(const struct unitfacts *facts, uint32_t bits)
{
	return (facts->known & bits) == bits;
}

static bool is_its_cgroup(const struct unitfacts *facts, const char *cgroup)
{
	if (facts->cgroup[0])
		return strcmp(facts->cgroup, cgroup) == 0;
	return is_known(facts, UNITFACTS_STARTED) && facts->started_us != 0;
}

static void judge_signal(const struct unitfacts *facts, struct meta_container *ret)
{
	uint64_t us = facts->stop_timeout_us;

	if (!is_known(facts, UNITFACTS_KILL_MODE) || strcmp(facts->kill_mode, "none") == 0)
		return;
	if (is_known(facts, UNITFACTS_KILL_SIGNAL) && facts->kill_signal > 0 &&
	    facts->kill_signal <= SIGNAL_MAX)
		ret->stop_signal = (uint32_t)facts->kill_signal;
	if (!is_known(facts, UNITFACTS_STOP_TIMEOUT | UNITFACTS_SEND_SIGKILL) ||
	    !facts->send_sigkill)
		return;
	/* 0 is how "infinity" was written once. */
	if (us == 0 || us > UINT64_MAX / US)
		return;
	ret->grace_ns = us * US;
	ret->known |= META_CTR_GRACE;
}

enum meta_result unitfacts_judge(const struct unitfacts *facts, const char *unit,
				 const char *cgroup, struct meta_container *ret)
{
	if (!is_known(facts, UNITFACTS_CGROUP))
		return META_FAILED;
	if (!is_its_cgroup(facts, cgroup))
		return META_ABSENT;
	*ret = (struct meta_container){.source = META_SYSTEMD, .kind = META_KIND_CONTAINER};
	snprintf(ret->unit, sizeof(ret->unit), "%s", unit);
	snprintf(ret->name, sizeof(ret->name), "%s", unit);
	if (is_known(facts, UNITFACTS_MAIN_PID) && facts->cgroup[0] && facts->main_pid > 0 &&
	    facts->main_pid <= PID_MAX) {
		ret->main_pid = facts->main_pid;
		ret->known |= META_CTR_MAIN_PID;
	}
	judge_signal(facts, ret);
	return META_FOUND;
}
