// SPDX-License-Identifier: Apache-2.0
/* Answers whether an init runs, or exits and is held by what is left in its pid namespace. */
#include "app/live/probe.h"

#include <string.h>

#include "app/log/log.h"
#include "io/proc/held.h"
#include "io/proc/proc.h"
#include "io/proc/self.h"

static void log_holder(struct feed *feed, const struct effect *effect, const struct held *held)
{
	const char *path = engine_cgroup_path(feed_engine(feed), effect->id);

	log_warning(
		"%s: PID 1 (%u) has exited and is held by process %u (%s) of its pid namespace, "
		"which %u (%s) has not waited for: until it does, or ends, the runtime sees no "
		"exit",
		path ? path : "a container", effect->pid, held->pid, held->comm, held->parent_pid,
		held->parent_comm);
}

static void find_holder(struct feed *feed, const struct effect *effect, struct obs_probe *ret)
{
	struct held held;

	if (held_find(effect->pid, &held) < 0)
		return;
	log_holder(feed, effect, &held);
	ret->holder.pid = held.pid;
	ret->holder_parent.pid = held.parent_pid;
	memcpy(ret->holder.comm, held.comm, sizeof(held.comm));
	memcpy(ret->holder_parent.comm, held.parent_comm, sizeof(held.parent_comm));
}

void probe_init(struct feed *feed, const struct effect *effect)
{
	struct obs obs;

	feed_begin(&obs, OBS_PROBE);
	obs.probe.id = effect->id;
	obs.probe.pid = effect->pid;
	obs.probe.start_ns = effect->start_ns;
	/* Where pids are not the host's, no process is known to be gone, and none to be held. */
	obs.probe.alive =
		!host_in_initial_pidns() || procfs_alive((pid_t)effect->pid, effect->start_ns);
	obs.probe.held = !obs.probe.alive && held_is(effect->pid, effect->start_ns);
	if (obs.probe.held && effect->holder)
		find_holder(feed, effect, &obs.probe);
	feed_obs(feed, &obs);
}
