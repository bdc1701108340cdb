// SPDX-License-Identifier: Apache-2.0
/* What becomes of the pods of a walk and their containers. */
#include "lib/shutdown/shutwalk_priv.h"

#define MS (SHUTWALK_S / 1000)

/* A pod without a container and without a fact is unknown. */
static void forget_unused(struct shutwalk *w, size_t pod)
{
	if (pod >= SHUTWALK_PODS || w->pods[pod].known)
		return;
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (w->containers[i].known && w->containers[i].pod == pod)
			return;
	w->pods[pod] = (struct shutwalk_pod){};
}

void shutwalk_tell_container(struct shutwalk *w, struct shutwalk_container *c)
{
	c->known = true;
	c->facts.pod_uid = c->pod < SHUTWALK_PODS ? shutwalk_uids[c->pod] : NULL;
	if (!c->facts.populated)
		c->killed = false;
	shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER,
						  .container = c->facts});
}

static struct shutwalk_container *any(struct shutwalk *w)
{
	return &w->containers[shutwalk_roll(w, SHUTWALK_CONTAINERS)];
}

void shutwalk_create(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);
	uint64_t id = (uint64_t)(c - w->containers) + 1;

	if (c->known)
		return;
	*c = (struct shutwalk_container){
		.pod = (unsigned int)shutwalk_roll(w, SHUTWALK_PODS + 1),
		.facts = {.id = id,
			  .kind = shutwalk_chance(w, 3) ? (enum shutdown_kind)shutwalk_roll(w, 4)
							: SHUTDOWN_KIND_CONTAINER,
			  .populated = true,
			  .timeout_known = !shutwalk_chance(w, 6),
			  .timeout_ns = shutwalk_roll(w, 8) * 2 * SHUTWALK_S},
	};
	shutwalk_tell_container(w, c);
}

void shutwalk_remove(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);

	if (!c->known)
		return;
	c->known = c->killed = false;
	forget_unused(w, c->pod);
	shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE,
						  .id = c->facts.id});
}

void shutwalk_stop(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);

	if (!c->known || !c->facts.populated || c->facts.asked_ns)
		return;
	c->facts.asked_ns = w->now_ns - (shutwalk_chance(w, 4) ? 300 * MS : 0);
	c->facts.signal = 15;
	c->facts.deaf = shutwalk_chance(w, 2);
	if (shutwalk_chance(w, 3))
		c->others_ns = w->now_ns - (shutwalk_chance(w, 2) ? 10 * SHUTWALK_S : 0);
	if (shutwalk_chance(w, 4))
		c->facts.ending_ns = c->facts.asked_ns - shutwalk_roll(w, 20) * SHUTWALK_S;
	c->stalled_ns = w->stalled_ns;
	shutwalk_tell_container(w, c);
}

void shutwalk_change(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);

	if (!c->known)
		return;
	if (shutwalk_chance(w, 2))
		c->facts.populated = false;
	else if (shutwalk_chance(w, 2))
		c->facts.kill_ns = w->now_ns;
	else if (shutwalk_chance(w, 2))
		c->others_ns = w->now_ns;
	else
		c->facts.kind = (enum shutdown_kind)shutwalk_roll(w, 4);
	shutwalk_tell_container(w, c);
}

void shutwalk_change_pod(struct shutwalk *w)
{
	size_t i = shutwalk_roll(w, SHUTWALK_PODS);
	struct shutwalk_pod *pod = &w->pods[i];

	if (pod->known && shutwalk_chance(w, 6)) {
		pod->known = pod->facts.stopping = false;
		pod->facts.ended = true;
		forget_unused(w, i);
		shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_POD_GONE,
							  .uid = shutwalk_uids[i]});
		return;
	}
	/* The order of pods is the plan's, and stays. */
	if (!w->on)
		pod->facts.group = (uint32_t)shutwalk_roll(w, SHUTWALK_GROUPS + 1);
	pod->known = true;
	pod->facts.uid = shutwalk_uids[i];
	pod->facts.stopping = shutwalk_chance(w, 3);
	pod->facts.ended = shutwalk_chance(w, 3);
	pod->facts.api_server = i == 2 && shutwalk_chance(w, 2);
	pod->facts.unlisted = shutwalk_chance(w, 6);
	pod->facts.is_static = shutwalk_chance(w, 4);
	shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = pod->facts});
}
