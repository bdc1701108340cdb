// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that writes down what it knows, for one that comes after it.
 *
 * What changes is noted by the id of its cgroup or the uid of its pod, once until it is written; so
 * however much happens in a container, it costs one mark, and one writing each time somebody keeps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/pods_priv.h"
#include "core/stop/keep.h"

/* What nobody writes for so long is not worth a list: all is written next. */
#define NOTED_MAX 65536

struct keeper {
	struct engine *e;
	struct saver to;
};

int engine_ids_add(struct engine_ids *list, uint64_t id)
{
	size_t room = list->room ? 2 * list->room : 16;
	uint64_t *ids;

	if (list->n == list->room) {
		ids = reallocarray(list->ids, room, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		list->ids = ids;
		list->room = room;
	}
	list->ids[list->n++] = id;
	return 0;
}

void engine_changed_id(struct engine *e, uint64_t id)
{
	struct engine_keep *k = &e->keep;

	if (!k->on || k->all)
		return;
	if (k->cgroups.n >= NOTED_MAX || engine_ids_add(&k->cgroups, id) < 0)
		k->all = true;
}

static int add_uid(struct engine_keep *k, const char *uid)
{
	size_t room = k->room_uids ? 2 * k->room_uids : 16;
	void *uids;

	if (k->n_uids == k->room_uids) {
		uids = reallocarray(k->uids, room, sizeof(*k->uids));
		if (!uids)
			return -ENOMEM;
		k->uids = uids;
		k->room_uids = room;
	}
	memcpy(k->uids[k->n_uids++], uid, sizeof(*k->uids));
	return 0;
}

void engine_changed_pod(struct engine *e, struct epod *p)
{
	struct engine_keep *k = &e->keep;

	if (!k->on || p->changed)
		return;
	p->changed = true;
	if (!k->all && (k->n_uids >= NOTED_MAX || add_uid(k, p->uid) < 0))
		k->all = true;
}

void engine_changed_meta(struct engine *e, const char *uid)
{
	struct epod *p = engine_pods_find(e, uid);
	struct pod *pod = cgmap_pod(&e->map, uid);
	struct cgnode *node;

	if (p)
		engine_changed_pod(e, p);
	else if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (!node->removed)
				engine_changed(e, node);
}

static void changed(struct engine *e, struct cgnode *node)
{
	if (node->changed)
		return;
	node->changed = true;
	engine_changed_id(e, node->id);
}

void engine_changed(struct engine *e, struct cgnode *node)
{
	struct cgnode *other;
	struct epod *p;

	if (!e->keep.on || node->changed || node->kind == GRACED_WATCH_BRANCH)
		return;
	changed(e, node);
	if (!node->pod)
		return;
	/* The pod's own cgroup is populated as its containers are. */
	LIST_FOREACH(other, &node->pod->nodes, in_pod)
		if (other->kind == GRACED_WATCH_POD && !other->removed)
			changed(e, other);
	p = engine_pods_find(e, node->pod->uid);
	if (p)
		engine_changed_pod(e, p);
}

/* Each has the id first. What only polls or answers is told by who takes it. */
static const uint32_t touching = 1u << OBS_CGROUP_NEW | 1u << OBS_CGROUP_FOUND |
				 1u << OBS_CGROUP_EMPTY | 1u << OBS_INIT | 1u << OBS_SIGNAL |
				 1u << OBS_EXIT | 1u << OBS_OOM | 1u << OBS_SHED |
				 1u << OBS_REAPED | 1u << OBS_IDENTITY;

_Static_assert(offsetof(struct obs, cgroup.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, init.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, signal.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, exit.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, oom.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, shed.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, reaped.id) == offsetof(struct obs, empty.id) &&
		       offsetof(struct obs, identity.id) == offsetof(struct obs, empty.id),
	       "one look finds the cgroup of each");

void engine_changed_by(struct engine *e, const struct obs *obs)
{
	struct cgnode *node;

	if (!e->keep.on || (unsigned int)obs->type >= 32 || !(touching >> obs->type & 1))
		return;
	node = cgmap_get(&e->map, obs->empty.id);
	if (node)
		engine_changed(e, node);
}

void engine_keep_done(struct engine *e)
{
	free(e->keep.cgroups.ids);
	free(e->keep.uids);
	e->keep = (struct engine_keep){};
}

bool engine_has_changed(const struct engine *e)
{
	const struct engine_keep *k = &e->keep;

	return !k->on || k->all || k->cgroups.n || k->n_uids;
}

/* --- writing -------------------------------------------------------------------------------- */

static void emit(const struct keeper *k, struct obs *obs)
{
	obs->at_ns = k->to.at_ns;
	k->to.fn(k->to.userdata, obs);
}

/* Before it is settled what was taken up is written as it was. */
static bool is_resuming(const struct engine *e)
{
	return e->resume.phase == RESUME_FED || e->resume.phase == RESUME_SCANNING;
}

static void keep_head(const struct keeper *k, bool all)
{
	const struct engine *e = k->e;
	struct obs obs = {.type = OBS_KEPT, .kept = {.version = KEPT_VERSION, .all = all}};

	memcpy(obs.kept.boot_id, is_resuming(e) ? e->resume.boot_id : e->out.host.boot_id,
	       sizeof(obs.kept.boot_id));
	emit(k, &obs);
}

static void keep_cgroup(const struct keeper *k, const struct cgnode *node)
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
static void keep_sender(const struct keeper *k, const struct stop_signal *s)
{
	const struct cgnode *node = s->sender.node;
	const struct cgnode *known = node ? cgmap_get(&k->e->map, node->id) : NULL;

	if (node && node->path && (!known || (known == node && is_only_senders(node))))
		keep_cgroup(k, node);
}

static void keep_signal(const struct keeper *k, const struct stop *stop, enum stop_kept which)
{
	struct obs obs = {.type = OBS_KEPT_SIGNAL};

	if (!stop_keep_signal(stop, which, &obs.kept_signal))
		return;
	keep_sender(k, stop_kept_signal(stop, which));
	obs.kept_signal.id = stop->node->id;
	emit(k, &obs);
}

static void keep_stop(const struct keeper *k, const struct stop *stop)
{
	struct obs obs = {.type = OBS_KEPT_STOP};

	stop_keep(stop, &obs.kept_stop);
	obs.kept_stop.id = stop->node->id;
	emit(k, &obs);
	if (stop->state == STOP_IDLE || stop->state == STOP_TOLD)
		return;
	for (int which = 0; which < STOP_KEPT_COUNT; which++)
		keep_signal(k, stop, (enum stop_kept)which);
}

static void keep_node(const struct keeper *k, struct cgnode *node)
{
	node->changed = false;
	/* Of a pod that nobody follows yet. */
	if (node->pod && !engine_pods_find(k->e, node->pod->uid))
		names_save_pod(&k->e->names, node->pod->uid, &k->to);
	if (node->stop)
		names_save_container(&k->e->names, node, &k->to);
	keep_cgroup(k, node);
	if (node->stop)
		keep_stop(k, node->stop);
}

static void keep_over(const struct keeper *k, uint64_t id)
{
	struct obs obs = {.type = OBS_KEPT_STOP};

	obs.kept_stop.id = id;
	obs.kept_stop.over = true;
	emit(k, &obs);
}

/* The same id may have been noted for one cgroup and, after that was gone, for another. */
static void keep_id(const struct keeper *k, uint64_t id)
{
	struct cgnode *node = cgmap_get(&k->e->map, id);

	if (!node || is_only_senders(node))
		keep_over(k, id);
	else if (node->changed)
		keep_node(k, node);
}

static void keep_pod(const struct keeper *k, struct epod *p)
{
	struct obs obs = {.type = OBS_KEPT_POD};

	p->changed = false;
	names_save_pod(&k->e->names, p->uid, &k->to);
	engine_pods_keep(k->e, p, &obs.kept_pod);
	emit(k, &obs);
}

static void keep_uid(const struct keeper *k, const char *uid)
{
	struct epod *p = engine_pods_find(k->e, uid);
	struct obs obs = {.type = OBS_KEPT_POD};

	if (p && p->changed)
		keep_pod(k, p);
	if (p)
		return;
	strcpy(obs.kept_pod.uid, uid);
	obs.kept_pod.over = true;
	emit(k, &obs);
}

static void keep_all(const struct keeper *k)
{
	struct engine *e = k->e;
	struct cgnode *node;
	struct epod *p;
	size_t pos = 0;

	TAILQ_FOREACH(p, &e->pods.all, all)
		keep_pod(k, p);
	while ((node = map_next(&e->map.nodes, &pos)))
		if (!is_only_senders(node))
			keep_node(k, node);
}

void engine_keep(struct engine *e, bool all, engine_obs_fn fn, void *userdata)
{
	struct engine_keep *changed = &e->keep;
	const struct keeper k = {
		.e = e,
		.to = {is_resuming(e) ? e->resume.until_ns : e->out.now_ns, fn, userdata},
	};

	if (!all && !engine_has_changed(e))
		return;
	all |= !changed->on || changed->all;
	keep_head(&k, all);
	if (all) {
		keep_all(&k);
	} else {
		for (size_t i = 0; i < changed->n_uids; i++)
			keep_uid(&k, changed->uids[i]);
		for (size_t i = 0; i < changed->cgroups.n; i++)
			keep_id(&k, changed->cgroups.ids[i]);
	}
	changed->on = e->names.is_compared = true;
	changed->all = false;
	changed->n_uids = changed->cgroups.n = 0;
}
