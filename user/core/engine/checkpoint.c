// SPDX-License-Identifier: Apache-2.0
#include "core/engine/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/stop/keep.h"

struct writer {
	struct checkpoint *c;
	struct saver to;
};

/* Each has the id first. What only polls or answers is marked where it is taken. */
static const uint32_t touching = 1u << OBS_CGROUP_NEW | 1u << OBS_CGROUP_FOUND |
				 1u << OBS_CGROUP_EMPTY | 1u << OBS_INIT | 1u << OBS_SIGNAL |
				 1u << OBS_EXIT | 1u << OBS_OOM | 1u << OBS_SHED |
				 1u << OBS_REAPED | 1u << OBS_TAKEN | 1u << OBS_IDENTITY;

_Static_assert(offsetof(struct obs, cgroup.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, init.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, signal.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, exit.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, oom.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, shed.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, reaped.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, taken.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, identity.id) == offsetof(struct obs, empty.id),
	       "one look finds the cgroup of each");

void checkpoint_mark_by(struct checkpoint *c, const struct obs *obs)
{
	struct cgnode *node;

	if (!c->out->marks.on || (unsigned int)obs->type >= 32 || !(touching >> obs->type & 1))
		return;
	node = cgmap_get(c->map, obs->empty.id);
	if (node)
		marks_cgroup(&c->out->marks, node);
}

void checkpoint_done(struct checkpoint *c)
{
	resume_done(c);
}

bool checkpoint_has_changed(const struct checkpoint *c)
{
	return !c->out->marks.on || marks_any(&c->out->marks);
}

/* --- writing -------------------------------------------------------------------------------- */

static void emit(const struct writer *k, struct obs *obs)
{
	obs->at_ns = k->to.at_ns;
	k->to.fn(k->to.userdata, obs);
}

/* Before it is settled what was restored is written as it was. */
static bool is_resuming(const struct checkpoint *c)
{
	return c->resume.phase == RESUME_FED || c->resume.phase == RESUME_SCANNING;
}

static void save_head(const struct writer *k, bool all)
{
	const struct checkpoint *c = k->c;
	struct obs obs = {.type = OBS_KEPT, .kept = {.version = KEPT_VERSION, .all = all}};

	memcpy(obs.kept.boot_id, is_resuming(c) ? c->resume.boot_id : c->out->host.boot_id,
	       sizeof(obs.kept.boot_id));
	emit(k, &obs);
}

static void save_cgroup(const struct writer *k, const struct cgnode *node)
{
	struct obs obs = {.type = OBS_KEPT_CGROUP};
	struct kept_cgroup *cg = &obs.kept_cgroup;

	cg->id = node->id;
	cg->populated = node->populated;
	cg->entered = node->entered;
	cg->delegated_level = node->delegated_level;
	if (node->kind == GRACED_WATCH_CONTAINER) {
		cg->runtime = node->ident.runtime;
		strcpy(cg->container_id, node->ident.container_id);
	}
	if (node->path)
		strcpy(cg->path, node->path);
	emit(k, &obs);
}

/* A branch, or where a sender was of whose cgroup nothing else is known. */
static bool is_only_senders(const struct cgnode *node)
{
	return node->kind == GRACED_WATCH_BRANCH || (cgnode_is_container(node) && !node->stop);
}

/* The sender's cgroup says who it is. */
static void save_sender(const struct writer *k, const struct stop_signal *s)
{
	const struct cgnode *node = s->sender.node;
	const struct cgnode *known = node ? cgmap_get(k->c->map, node->id) : NULL;

	if (node && node->path && (!known || (known == node && is_only_senders(node))))
		save_cgroup(k, node);
}

static void save_signal(const struct writer *k, const struct stop *stop, enum stop_kept which)
{
	struct obs obs = {.type = OBS_KEPT_SIGNAL};

	if (!stop_keep_signal(stop, which, &obs.kept_signal))
		return;
	save_sender(k, stop_kept_signal(stop, which));
	obs.kept_signal.id = stop->node->id;
	emit(k, &obs);
}

static void save_stop(const struct writer *k, const struct stop *stop)
{
	struct obs obs = {.type = OBS_KEPT_STOP};

	stop_keep(stop, &obs.kept_stop);
	obs.kept_stop.id = stop->node->id;
	emit(k, &obs);
	if (stop->state == STOP_IDLE || stop->state == STOP_REPORTED)
		return;
	for (int which = 0; which < STOP_KEPT_COUNT; which++)
		save_signal(k, stop, (enum stop_kept)which);
}

static void save_run(const struct writer *k, bool all)
{
	struct obs obs = {.type = OBS_KEPT_RUN};

	if (shutdowns_save_run(k->c->shutdowns, &obs.kept_run) || (!all && k->c->out->marks.run))
		emit(k, &obs);
}

static void save_turn(const struct writer *k, uint64_t id)
{
	struct obs obs = {.type = OBS_KEPT_TURN};

	if (shutdowns_save_turn(k->c->shutdowns, id, &obs.kept_turn))
		emit(k, &obs);
}

static void save_node(const struct writer *k, struct cgnode *node)
{
	node->changed = false;
	/* A pod that is not followed yet. */
	if (node->pod && !pods_find(k->c->pods, node->pod->uid))
		names_save_pod(k->c->names, node->pod->uid, &k->to);
	if (node->stop)
		names_save_container(k->c->names, node, &k->to);
	save_cgroup(k, node);
	if (node->stop)
		save_stop(k, node->stop);
	save_turn(k, node->id);
}

static void save_over(const struct writer *k, uint64_t id)
{
	struct obs obs = {.type = OBS_KEPT_STOP};

	obs.kept_stop.id = id;
	obs.kept_stop.over = true;
	emit(k, &obs);
}

/* The same id may have been noted for one cgroup and, after that was gone, for another. */
static void save_id(const struct writer *k, uint64_t id)
{
	struct cgnode *node = cgmap_get(k->c->map, id);

	if (!node || is_only_senders(node))
		save_over(k, id);
	else if (node->changed)
		save_node(k, node);
}

static void save_pod(const struct writer *k, struct epod *p)
{
	struct obs obs = {.type = OBS_KEPT_POD};

	p->changed = false;
	names_save_pod(k->c->names, p->uid, &k->to);
	pods_save(k->c->pods, p, &obs.kept_pod);
	obs.kept_pod.seen_in_shutdown = shutdowns_save_seen(k->c->shutdowns, p);
	emit(k, &obs);
}

/* Their cgroups may be gone, and their pods' status is not written yet. */
static void save_exits(const struct writer *k, bool all)
{
	const struct podtab_container *c;
	const struct epod *p;

	if (!shutdowns_want_exits(k->c->shutdowns))
		return;
	for (size_t i = 0; (c = podtab_next_container(&k->c->names->tab, &i));) {
		p = c->of->name.way == CONTAINER_BY_ID && c->ended
			    ? pods_find(k->c->pods, c->pod_uid)
			    : NULL;
		if (p && (all || p->changed))
			names_save_exit(c, &k->to);
	}
}

static void save_uid(const struct writer *k, const char *uid)
{
	struct epod *p = pods_find(k->c->pods, uid);
	struct obs obs = {.type = OBS_KEPT_POD};

	if (p && p->changed)
		save_pod(k, p);
	if (p)
		return;
	strcpy(obs.kept_pod.uid, uid);
	obs.kept_pod.over = true;
	emit(k, &obs);
}

static void save_all(const struct writer *k)
{
	struct checkpoint *c = k->c;
	struct cgnode *node;
	struct epod *p;
	size_t pos = 0;

	TAILQ_FOREACH(p, &c->pods->all, all)
		save_pod(k, p);
	while ((node = map_next(&c->map->nodes, &pos)))
		if (!is_only_senders(node))
			save_node(k, node);
}

void checkpoint_write(struct checkpoint *c, bool all,
		      void (*fn)(void *userdata, const struct obs *obs), void *userdata)
{
	struct marks *changed = &c->out->marks;
	const struct writer k = {
		.c = c,
		.to = {is_resuming(c) ? c->resume.until_ns : c->out->now_ns, fn, userdata},
	};

	if (!all && !checkpoint_has_changed(c))
		return;
	all |= !changed->on || changed->all;
	save_head(&k, all);
	if (all || changed->run)
		save_run(&k, all);
	save_exits(&k, all);
	if (all) {
		save_all(&k);
	} else {
		for (size_t i = 0; i < changed->n_uids; i++)
			save_uid(&k, changed->uids[i]);
		for (size_t i = 0; i < changed->cgroups.n; i++)
			save_id(&k, changed->cgroups.ids[i]);
	}
	marks_clear(changed);
}
