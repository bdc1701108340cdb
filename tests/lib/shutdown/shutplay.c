// SPDX-License-Identifier: Apache-2.0
/* Adds up what each group waits for. */
#include "lib/shutdown/shutplay.h"

const char *shutplan_outcome_name(enum shutplan_outcome outcome)
{
	static const char *const names[SHUTPLAN_OUTCOME_COUNT] = {
		[SHUTPLAN_DONE] = "done",
		[SHUTPLAN_TIMEOUT] = "timeout",
		[SHUTPLAN_UNMOUNT_TIMEOUT] = "unmount_timeout",
	};

	return (unsigned int)outcome < SHUTPLAN_OUTCOME_COUNT ? names[outcome] : NULL;
}

size_t shutplay_group_of(const struct shutplan *plan, const struct shutplan_player *pod)
{
	return shutplan_group_of(plan, pod->priority, pod->is_static);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t ns;

	return __builtin_add_overflow(a, b, &ns) ? UINT64_MAX : ns;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The last of a group's pods. */
struct last {
	bool any;
	uint64_t kill_ns, unmount_ns;
};

static struct last last_of(const struct shutplan *plan, size_t group,
			   const struct shutplan_player *pods, size_t n)
{
	struct last last = {};

	for (size_t i = 0; i < n; i++) {
		if (shutplay_group_of(plan, &pods[i]) != group)
			continue;
		last.any = true;
		last.kill_ns = later(last.kill_ns, pods[i].kill_ns);
		last.unmount_ns = later(last.unmount_ns, pods[i].unmount_ns);
	}
	return last;
}

/* Volumes are waited for once all kill calls have returned. */
static struct shutplan_run play_group(const struct last *last, uint64_t start_ns, uint64_t ns)
{
	uint64_t done_ns = later(last->kill_ns, last->unmount_ns);
	uint64_t given_up_ns = sum(last->kill_ns, SHUTPLAN_UNMOUNT_NS);
	enum shutplan_outcome outcome = SHUTPLAN_DONE;

	if (done_ns > given_up_ns) {
		done_ns = given_up_ns;
		outcome = SHUTPLAN_UNMOUNT_TIMEOUT;
	}
	if (last->kill_ns >= ns)
		outcome = SHUTPLAN_TIMEOUT;
	else if (done_ns >= ns)
		outcome = SHUTPLAN_UNMOUNT_TIMEOUT;
	return (struct shutplan_run){
		.has_pods = true,
		.start_ns = start_ns,
		.end_ns = sum(start_ns, done_ns < ns ? done_ns : ns),
		.outcome = outcome,
	};
}

/* docs/kubelet-rules.md, "Two-phase shutdown": critical pods wait for their time in any case, and
 * one timer bounds it all. */
static uint64_t play_two_phases(const struct shutplan *plan, const struct shutplan_player *pods,
				size_t n, struct shutplan_run *ret_runs)
{
	uint64_t total_ns = shutplan_requested_ns(plan), start_ns = 0, end_ns = 0;

	for (size_t i = 0; i < plan->n; i++) {
		struct last last = last_of(plan, i, pods, n);

		last.unmount_ns = 0;
		ret_runs[i] = (struct shutplan_run){};
		if (last.any)
			ret_runs[i] = play_group(&last, start_ns, total_ns - start_ns);
		end_ns = later(end_ns, ret_runs[i].end_ns);
		start_ns = sum(start_ns, plan->groups[i].ns);
	}
	return end_ns;
}

uint64_t shutplan_play(const struct shutplan *plan, const struct shutplan_player *pods, size_t n,
		       struct shutplan_run *ret_runs)
{
	uint64_t now_ns = 0;

	if (plan->rules == SHUTPLAN_TWO_PHASES)
		return play_two_phases(plan, pods, n, ret_runs);
	for (size_t i = 0; i < plan->n; i++) {
		struct last last = last_of(plan, i, pods, n);

		ret_runs[i] = (struct shutplan_run){};
		if (!last.any)
			continue;
		ret_runs[i] = play_group(&last, now_ns, plan->groups[i].ns);
		now_ns = ret_runs[i].end_ns;
	}
	return now_ns;
}
