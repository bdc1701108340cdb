// SPDX-License-Identifier: Apache-2.0
/* Observations in one line each. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

/* Copies what fits and ends it, as the decoders do. */
static void set(char *ret, size_t size, const char *s)
{
	size_t n = strnlen(s, size - 1);

	memcpy(ret, s, n);
	ret[n] = '\0';
}

static void tell(struct world *w, const struct obs *obs)
{
	assert_int_equal(world_tell(w, obs), 0);
}

void world_attach(struct world *w, uint64_t at)
{
	struct obs obs = {
		.type = OBS_ATTACHED,
		.at_ns = at,
		.attached =
			{
				.boot_id = WORLD_BOOT,
				.node = "node-1",
				.hierarchy = "unified",
				.wall_offset_ns = WALL_ZERO,
				.self_pid = P_SELF.pid,
				.programs = 8,
			},
	};

	tell(w, &obs);
}

static void cgroup(struct world *w, enum obs_type type, uint64_t at, uint64_t id, uint64_t parent,
		   const char *path)
{
	struct obs obs = {.type = type, .at_ns = at};

	obs.cgroup.id = id;
	obs.cgroup.parent_id = parent;
	set(obs.cgroup.path, sizeof(obs.cgroup.path), path);
	tell(w, &obs);
}

void world_made(struct world *w, uint64_t at, uint64_t id, uint64_t parent, const char *name)
{
	cgroup(w, OBS_CGROUP_NEW, at, id, parent, name);
}

void world_found(struct world *w, uint64_t at, uint64_t id, const char *path)
{
	cgroup(w, OBS_CGROUP_FOUND, at, id, 0, path);
}

void world_kept(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		uint32_t rank, uint32_t keeper_pid)
{
	struct obs obs = {
		.type = OBS_INIT,
		.at_ns = at,
		.init = {.id = id, .rank = rank, .proc = *proc, .keeper_pid = keeper_pid},
	};

	tell(w, &obs);
}

void world_ranked(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		  uint32_t rank)
{
	world_kept(w, at, id, proc, rank, 0);
}

void world_init(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc)
{
	world_ranked(w, at, id, proc, GRACED_INIT_PID1);
}

void world_shot(struct world *w, uint64_t at, uint64_t id, const struct shot *shot)
{
	struct obs obs = {
		.type = OBS_SIGNAL,
		.at_ns = at,
		.signal =
			{
				.id = id,
				.lost = shot->lost,
				.suppressed = shot->suppressed,
				.sig = shot->sig,
				.result = shot->result,
				.code = shot->code,
				.flags = shot->flags | (shot->not_init ? 0 : GRACED_SIG_INIT),
				.target_pidns = 4026532000u + (uint32_t)id,
				.sender_pidns = 4026531836u,
			},
	};

	if (shot->to)
		obs.signal.target = *shot->to;
	if (shot->from)
		obs.signal.sender = *shot->from;
	for (int i = 0; i < GRACED_ANCESTORS && shot->parents[i]; i++)
		obs.signal.ancestors[i] = *shot->parents[i];
	tell(w, &obs);
}

void world_from(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *to,
		uint32_t sig, const struct graced_proc *from)
{
	world_shot(w, at, id, &(struct shot){.sig = sig, .from = from, .to = to});
}

void world_managed(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *to,
		   uint32_t sig)
{
	const struct shot shot = {
		.sig = sig,
		.from = &P_RUNC,
		.to = to,
		.flags = GRACED_SIG_GROUP,
		.parents = {&P_SHIM, &P_SYSTEMD},
	};

	world_shot(w, at, id, &shot);
}

void world_exit_counted(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
			uint32_t status, const struct graced_counts *counts)
{
	struct obs obs = {
		.type = OBS_EXIT,
		.at_ns = at,
		.exit =
			{
				.id = id,
				.status = status,
				.flags = GRACED_EXIT_INIT,
				.proc = *proc,
				.counts = *counts,
			},
	};

	tell(w, &obs);
}

void world_exit(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		uint32_t status)
{
	const struct graced_counts counts = {.exits = 1};

	world_exit_counted(w, at, id, proc, status, &counts);
}

static void ended(struct world *w, enum obs_type type, uint64_t at, uint64_t id,
		  const struct graced_counts *counts)
{
	struct obs obs = {.type = type, .at_ns = at, .empty = {.id = id}};

	if (counts)
		obs.empty.counts = *counts;
	else
		obs.empty.counts.exits = 1;
	tell(w, &obs);
}

void world_gone(struct world *w, uint64_t at, uint64_t id, const struct graced_counts *counts)
{
	ended(w, OBS_CGROUP_GONE, at, id, counts);
}

void world_empty(struct world *w, uint64_t at, uint64_t id)
{
	ended(w, OBS_CGROUP_EMPTY, at, id, NULL);
}

void world_empty_counted(struct world *w, uint64_t at, uint64_t id,
			 const struct graced_counts *counts)
{
	ended(w, OBS_CGROUP_EMPTY, at, id, counts);
}

void world_counts(struct world *w, uint64_t at, uint64_t id, bool populated,
		  const struct graced_counts *counts)
{
	struct obs obs = {
		.type = OBS_COUNTS,
		.at_ns = at,
		.counts = {.id = id, .populated = populated, .counts = *counts},
	};

	tell(w, &obs);
}

void world_look(struct world *w, uint64_t at, uint64_t id, bool populated,
		const struct graced_counts *counts)
{
	struct obs obs = {
		.type = OBS_COUNTS,
		.at_ns = at,
		.counts = {.id = id, .populated = populated, .looked = true, .counts = *counts},
	};

	tell(w, &obs);
}

void world_timer(struct world *w, uint64_t at)
{
	struct obs obs = {.type = OBS_TIMER, .at_ns = at};

	tell(w, &obs);
}

void world_names(struct world *w, uint64_t at, const char *uid, const char *id, const char *ns,
		 const char *pod, const char *container, bool found)
{
	struct obs obs = {.type = OBS_NAMES, .at_ns = at};

	obs.names.found = found;
	set(obs.names.pod_uid, sizeof(obs.names.pod_uid), uid);
	set(obs.names.container_id, sizeof(obs.names.container_id), id);
	set(obs.names.namespace_, sizeof(obs.names.namespace_), ns);
	set(obs.names.pod, sizeof(obs.names.pod), pod);
	set(obs.names.container, sizeof(obs.names.container), container);
	tell(w, &obs);
}
