// SPDX-License-Identifier: Apache-2.0
/* The engine's part that hands on what a source says, and notes for whom that was new. */
#include <string.h>

#include "core/engine/priv.h"

/* Polls that tell what is known already change nothing. */
int engine_take_pod(struct engine *e, const struct meta_pod *meta, uint64_t at_ns)
{
	const struct podtab_pod *pod = podtab_pod(&e->names, meta->uid);
	struct podtab_pod before;
	int r;

	if (!e->keep.on)
		return podtab_take_pod(&e->names, meta, at_ns);
	memset(&before, 0, sizeof(before));
	if (pod)
		memcpy(&before, pod, sizeof(before));
	r = podtab_take_pod(&e->names, meta, at_ns);
	pod = podtab_pod(&e->names, meta->uid);
	if (pod && podtab_pod_differs(&before, pod))
		output_change(&e->out,
			      &(struct change){.type = CHANGE_POD_NAMES, .uid = meta->uid});
	return r;
}

static void changed_container(struct engine *e, const struct meta_container *meta)
{
	struct cgnode *node = NULL;
	struct pod *pod;

	if (meta->unit[0] && e->map.services)
		node = engine_unit_node(e, meta->unit);
	else if (meta->id[0])
		node = cgmap_by_container_id(&e->map, meta->id);
	if (node)
		output_changed(&e->out, node);
	/* What the spec says may be about several. */
	pod = !meta->id[0] && meta->pod_uid[0] ? cgmap_pod(&e->map, meta->pod_uid) : NULL;
	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			output_changed(&e->out, node);
}

static const struct podtab_container *entry_of(const struct engine *e,
					       const struct meta_container *meta)
{
	if (meta->id[0])
		return podtab_container(&e->names, meta->id);
	if (meta->unit[0])
		return podtab_unit(&e->names, meta->unit);
	return podtab_spec(&e->names, meta->pod_uid, meta->name);
}

int engine_take_container(struct engine *e, const struct meta_container *meta, uint64_t at_ns)
{
	struct podtab_container before;
	const struct podtab_container *c;
	int r;

	if (!e->keep.on)
		return podtab_take_container(&e->names, meta, at_ns);
	c = entry_of(e, meta);
	memset(&before, 0, sizeof(before));
	if (c)
		memcpy(&before, c, sizeof(before));
	r = podtab_take_container(&e->names, meta, at_ns);
	c = entry_of(e, meta);
	if (c && podtab_container_differs(&before, c))
		changed_container(e, meta);
	return r;
}
