/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation of the kubelet's kill phase: when each group starts and ends, where it is known when
 * each pod does. */
#ifndef TESTS_LIB_SHUTDOWN_SHUTPLAY_H
#define TESTS_LIB_SHUTDOWN_SHUTPLAY_H

#include "core/shutdown/plan.h"

#define SHUTPLAN_UNMOUNT_NS 123000000000ULL /* how long volumes are waited for at most */

struct shutplan_player {
	int32_t priority;
	bool is_static;
	struct seconds grace;
	uint64_t kill_ns, unmount_ns; /* since its group's start: kill call and volumes are done */
};

size_t shutplay_group_of(const struct shutplan *plan, const struct shutplan_player *pod);

/* How a group came to its end. */
enum shutplan_outcome {
	SHUTPLAN_DONE,		  /* "done" */
	SHUTPLAN_TIMEOUT,	  /* "timeout": kill calls had not returned */
	SHUTPLAN_UNMOUNT_TIMEOUT, /* "unmount_timeout": volumes were still mounted */
	SHUTPLAN_OUTCOME_COUNT,
};

const char *shutplan_outcome_name(enum shutplan_outcome outcome);

/* Since the announcement. */
struct shutplan_run {
	bool has_pods; /* without any it is passed over */
	uint64_t start_ns, end_ns;
	enum shutplan_outcome outcome;
};

/* Simulates the kill phase (docs/kubelet-rules.md, "Kill phase") with each pod's given end: a run
 * for each group of the plan. Returns when it is over and the kubelet releases its lock, the last
 * thing that it does. */
uint64_t shutplan_play(const struct shutplan *plan, const struct shutplan_player *pods, size_t n,
		       struct shutplan_run *ret_runs);

#endif
