// SPDX-License-Identifier: Apache-2.0
/* Follows cgroups and inits through observations. */
#include "lib/engine/relay_node.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

static struct relay_cgroup *find(const struct relay_node *node, uint64_t id)
{
	for (size_t i = 0; i < node->n; i++)
		if (node->cgroups[i].id == id)
			return (struct relay_cgroup *)&node->cgroups[i];
	return NULL;
}

static struct relay_cgroup *want(struct relay_node *node, uint64_t id)
{
	struct relay_cgroup *cg = find(node, id);

	if (cg)
		return cg;
	assert_true(node->n < RELAY_CGROUPS);
	cg = &node->cgroups[node->n++];
	*cg = (struct relay_cgroup){.id = id};
	return cg;
}

static void made(struct relay_node *node, const struct obs_cgroup *obs)
{
	const struct relay_cgroup *parent = find(node, obs->parent_id);
	struct relay_cgroup *cg = want(node, obs->id);

	cg->there = true;
	if (!obs->parent_id || !parent)
		snprintf(cg->path, sizeof(cg->path), "%.500s", obs->path);
	else
		snprintf(cg->path, sizeof(cg->path), "%.250s/%.250s", parent->path, obs->path);
}

static void exited(struct relay_node *node, const struct obs_exit *exit)
{
	struct relay_cgroup *cg = want(node, exit->id);

	cg->alive &= cg->init.pid != exit->proc.pid;
	cg->counts = exit->counts;
}

/* PID 1 adopts what the keeper had. */
static void orphaned(struct relay_node *node, uint32_t keeper_pid)
{
	for (size_t i = 0; i < node->n; i++)
		if (node->cgroups[i].keeper_pid == keeper_pid)
			node->cgroups[i].keeper_pid = 1;
}

void relay_node_take(struct relay_node *node, const struct obs *obs)
{
	struct relay_cgroup *cg;

	switch (obs->type) {
	case OBS_CGROUP_NEW:
	case OBS_CGROUP_FOUND:
		made(node, &obs->cgroup);
		break;
	case OBS_CGROUP_GONE:
	case OBS_CGROUP_EMPTY:
		cg = want(node, obs->empty.id);
		cg->there &= obs->type == OBS_CGROUP_EMPTY;
		cg->alive = false;
		cg->counts = obs->empty.counts;
		break;
	case OBS_INIT:
		cg = want(node, obs->init.id);
		cg->alive = true;
		cg->init = obs->init.proc;
		cg->rank = obs->init.rank;
		cg->keeper_pid = obs->init.keeper_pid;
		break;
	case OBS_EXIT:
		exited(node, &obs->exit);
		break;
	case OBS_COUNTS:
		want(node, obs->counts.id)->counts = obs->counts.counts;
		break;
	case OBS_SIGNAL:
		if (obs->signal.flags & GRACED_SIG_TO_KEEPER)
			orphaned(node, obs->signal.target.pid);
		break;
	default:
		break;
	}
}

void relay_node_scan(const struct relay_node *node, struct world *w, uint64_t at)
{
	for (size_t i = 0; i < node->n; i++) {
		const struct relay_cgroup *cg = &node->cgroups[i];
		struct graced_proc init = cg->init;

		if (!cg->there)
			continue;
		world_found(w, at, cg->id, cg->path);
		init.start_ns -= init.start_ns % MSEC(10);
		if (cg->alive)
			world_kept(w, at, cg->id, &init, cg->rank, cg->keeper_pid);
	}
}

static uint64_t less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void recount(const struct relay_node *node, uint64_t id, struct graced_counts *counts)
{
	const struct relay_cgroup *cg = find(node, id);

	if (!cg)
		return;
	counts->exits = less(counts->exits, cg->counts.exits);
	counts->kills = less(counts->kills, cg->counts.kills);
	counts->collateral = less(counts->collateral, cg->counts.collateral);
	counts->oom_kills = less(counts->oom_kills, cg->counts.oom_kills);
	counts->lost = less(counts->lost, cg->counts.lost);
	counts->suppressed = less(counts->suppressed, cg->counts.suppressed);
}

void relay_node_recount(const struct relay_node *node, struct obs *obs)
{
	switch (obs->type) {
	case OBS_CGROUP_GONE:
	case OBS_CGROUP_EMPTY:
		recount(node, obs->empty.id, &obs->empty.counts);
		break;
	case OBS_EXIT:
		recount(node, obs->exit.id, &obs->exit.counts);
		break;
	case OBS_COUNTS:
		recount(node, obs->counts.id, &obs->counts.counts);
		break;
	default:
		break;
	}
}
