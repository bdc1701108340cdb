// SPDX-License-Identifier: Apache-2.0
/* What changed since the checkpoint was written last. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/engine/pods.h"

/* Beyond so many marks no list is worth it: all is written next. */
#define NOTED_MAX 65536

int id_list_add(struct id_list *list, uint64_t id)
{
	if (!ROOM_FOR_ONE(list->ids, list->n, list->room, 16))
		return -ENOMEM;
	list->ids[list->n++] = id;
	return 0;
}

void marks_id(struct marks *m, uint64_t id)
{
	if (!m->on || m->all)
		return;
	if (m->cgroups.n >= NOTED_MAX || id_list_add(&m->cgroups, id) < 0)
		m->all = true;
}

static int add_uid(struct marks *m, const char *uid)
{
	if (!ROOM_FOR_ONE(m->uids, m->n_uids, m->room_uids, 16))
		return -ENOMEM;
	memcpy(m->uids[m->n_uids++], uid, sizeof(*m->uids));
	return 0;
}

void marks_pod(struct marks *m, struct epod *p)
{
	if (!m->on || p->changed)
		return;
	p->changed = true;
	if (!m->all && (m->n_uids >= NOTED_MAX || add_uid(m, p->uid) < 0))
		m->all = true;
}

void marks_names(struct marks *m, const char *uid)
{
	struct epod *p = pods_find(m->pods, uid);
	struct pod_cgroups *pod = cgmap_pod(m->map, uid);
	struct cgnode *node;

	if (p)
		marks_pod(m, p);
	else if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (!node->removed)
				marks_cgroup(m, node);
}

static void changed(struct marks *m, struct cgnode *node)
{
	if (node->changed)
		return;
	node->changed = true;
	marks_id(m, node->id);
}

void marks_cgroup(struct marks *m, struct cgnode *node)
{
	struct cgnode *other;
	struct epod *p;

	if (!m->on || node->changed || node->kind == GRACED_WATCH_BRANCH)
		return;
	changed(m, node);
	if (!node->pod)
		return;
	/* The pod's own cgroup is populated as its containers are. */
	LIST_FOREACH(other, &node->cgroups->nodes, in_pod)
		if (other->kind == GRACED_WATCH_POD && !other->removed)
			changed(m, other);
	p = pods_find(m->pods, node->pod->uid);
	if (p)
		marks_pod(m, p);
}

bool marks_any(const struct marks *m)
{
	return m->all || m->run || m->cgroups.n || m->n_uids;
}

void marks_clear(struct marks *m)
{
	m->on = true;
	m->all = m->run = false;
	m->n_uids = m->cgroups.n = 0;
}

void marks_done(struct marks *m)
{
	free(m->cgroups.ids);
	free(m->uids);
	*m = (struct marks){};
}
