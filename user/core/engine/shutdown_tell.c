// SPDX-License-Identifier: Apache-2.0
/* The engine's part that turns what it knows of pods and containers into the facts that the
 * sequencer of a shutdown decides by, and what that tells into records. */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "core/engine/shutdown_priv.h"

/* What it refuses it has counted. */
void engine_shutdown_note(struct engine *e, const struct shutdown_event *event)
{
	e->shutdown->unjudged |= shutdown_note(e->shutdown->sequencer, event) > 0;
}

static struct pod_seconds seconds_of(bool known, uint64_t ns)
{
	return (struct pod_seconds){.set = known, .s = (int64_t)(ns / NS_PER_S)};
}

/* Whether some source provides the status of such a pod. */
static bool is_listed(const struct engine *e, bool is_static)
{
	return e->names.sources >> meta_lister(e->names.sources, is_static) & 1;
}

/* --- pods ----------------------------------------------------------------------------------- */

static uint32_t group_of(const struct engine *e, const char *uid, bool is_static)
{
	struct shutplan_pod pod = given_pod(podtab_pod(&e->names.tab, uid), is_static);

	return e->shutdown->plan.n ? (uint32_t)shutplan_group_of(&e->shutdown->plan, &pod) : 0;
}

/* It has no object, or none any more, or one that says that the pod is over and not Ready. Without
 * that condition it is not Ready either: a kubelet of 1.20 writes none for what it ends in a
 * shutdown. */
static bool has_ended(const struct engine *e, const struct epod *p)
{
	if (!p->listed)
		return p->was_listed || engine_pods_is_missing(e, p);
	return (p->word.phase == META_PHASE_SUCCEEDED || p->word.phase == META_PHASE_FAILED) &&
	       p->truth.ready != TRI_TRUE;
}

/* Of a node that serves the API itself: with that pod nobody is left to ask. */
static bool is_api_server(const struct engine *e, const struct epod *p)
{
	const struct podtab_pod *meta = podtab_pod(&e->names.tab, p->uid);

	return p->is_static && meta && meta->namespace_ && meta->workload &&
	       strcmp(meta->namespace_, "kube-system") == 0 &&
	       strcmp(meta->workload, "kube-apiserver") == 0;
}

static void tell_status(struct engine *e, const struct epod *p)
{
	const struct shutdown_event event = {
		.type = SHUTDOWN_EV_POD,
		.pod =
			{
				.uid = p->uid,
				.group = group_of(e, p->uid, p->is_static),
				.stopping = p->life.stage >= POD_STAGE_TERMINATING ||
					    (p->listed && p->word.deleting),
				.ended = has_ended(e, p),
				.unlisted = !is_listed(e, p->is_static),
				.api_server = is_api_server(e, p),
				.is_static = p->is_static,
			},
	};

	engine_shutdown_note(e, &event);
}

size_t engine_count_cut_short(const struct engine *e)
{
	const struct epod *p;
	size_t n = 0;

	if (!e->shutdown || !e->shutdown->plan.n)
		return 0;
	TAILQ_FOREACH(p, &e->pods.all, all) {
		const struct podtab_pod *meta = podtab_pod(&e->names.tab, p->uid);
		const struct shutplan_group *group =
			&e->shutdown->plan.groups[group_of(e, p->uid, p->is_static)];
		struct pod_seconds grace;

		if (!meta || !(meta->known & META_POD_GRACE) || has_ended(e, p))
			continue;
		grace = seconds_of(true, meta->grace_ns);
		n += shutplan_override_s(group->seconds, grace) < grace.s;
	}
	return n;
}

/* --- containers ----------------------------------------------------------------------------- */

static bool is_own(const struct engine *e, const struct cgnode *node)
{
	const char *own = e->out.host.self_container;

	return *own && strcmp(node->ident.container_id, own) == 0;
}

static enum shutdown_kind kind_of(const struct engine *e, const struct cgnode *node)
{
	const struct podtab_container *meta = names_container(&e->names, node);

	if (is_own(e, node))
		return SHUTDOWN_KIND_OWN;
	/* What is only guessed to be one may be a container, and the lock waits for it. */
	if (sandbox_of(&e->names, node) == SANDBOX_KNOWN)
		return SHUTDOWN_KIND_SANDBOX;
	if ((meta && meta->kind == META_KIND_CONTAINER) || podtab_is_named(meta))
		return SHUTDOWN_KIND_CONTAINER;
	return SHUTDOWN_KIND_UNKNOWN;
}

/* How long the runtime waits at most between the stop signal and its SIGKILL: a pod may be deleted
 * before its group is ended or after. */
static bool timeout_of(const struct engine *e, const struct cgnode *node, uint64_t *ret_ns)
{
	const struct podtab_pod *meta = names_pod(&e->names, node);
	struct shutplan_pod pod = given_pod(meta, node->pod->is_static);
	bool deleting = meta && meta->known & META_POD_DELETING && meta->deleting;
	struct pod_seconds deletion = {}, stop;

	if (meta)
		pod.grace = seconds_of(meta->known & META_POD_GRACE, meta->grace_ns);
	if (deleting)
		deletion =
			seconds_of(meta->known & META_POD_DELETION_GRACE, meta->deletion_grace_ns);
	stop = shutplan_longest_stop_s(&e->shutdown->plan, &pod, deletion);
	if (__builtin_mul_overflow((uint64_t)stop.s, NS_PER_S, ret_ns))
		*ret_ns = UINT64_MAX;
	/* Nobody may end it early who does not know what its deletion gave it. */
	return stop.set && deleting == deletion.set;
}

static bool is_runtime(const struct sender *sender)
{
	return sender->kind == SENDER_RUNTIME || sender->kind == SENDER_KUBELET;
}

/* By the runtime's word or its pod's spec. */
static bool has_hook(const struct engine *e, const struct cgnode *node)
{
	const struct podtab_container *own = names_container(&e->names, node);
	const struct podtab_container *spec =
		own && own->name && cgmap_pod_of(&e->map, node)
			? podtab_spec(&e->names.tab, node->pod->uid, own->name)
			: NULL;

	return (own && own->prestop) || (spec && spec->prestop);
}

/* A signal that a program of the kernel half was not run for may have told somebody. */
static uint64_t told_ns(const struct engine *e, const struct stop *stop)
{
	return stop->told_ns > e->stops.missed_ns ? stop->told_ns : e->stops.missed_ns;
}

static void tell_container(struct engine *e, const struct cgnode *node, const struct epod *p)
{
	const struct stop *stop = node->stop;
	struct shutdown_event event = {
		.type = SHUTDOWN_EV_CONTAINER,
		.container =
			{
				.id = node->id,
				.pod_uid = node->pod->uid,
				.kind = kind_of(e, node),
				.populated = node->populated,
			},
	};
	struct shutdown_container *c = &event.container;

	if (stop->request.seen && is_runtime(&stop->request.sender)) {
		c->asked_ns = stop->request.at_ns;
		c->signal = stop->request.number;
		c->deaf = stop->deaf;
		c->hook = has_hook(e, node);
	}
	c->ending_ns = p ? p->terminating_ns : 0;
	c->looked_ns = stop->looked_ns;
	c->told_ns = told_ns(e, stop);
	c->kill_ns = stop->kill.seen ? stop->kill.at_ns : 0;
	c->timeout_known = timeout_of(e, node, &c->timeout_ns);
	engine_shutdown_note(e, &event);
}

/* One of them may have been the pod of that uid, before the one that counts was there. */
static void forget_doubles(struct engine *e, const struct pod *pod)
{
	const struct cgnode *node;

	for (pod = pod->next; pod; pod = pod->next)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			engine_shutdown_note(
				e, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE,
							    .id = node->id});
}

void engine_shutdown_tell_pod(struct engine *e, const char *uid)
{
	const struct epod *p = engine_pods_find(e, uid);
	const struct pod *pod = cgmap_pod(&e->map, uid);
	const struct cgnode *node;

	if (p)
		tell_status(e, p);
	else
		engine_shutdown_note(e, &(struct shutdown_event){.type = SHUTDOWN_EV_POD_GONE,
								 .uid = uid});
	if (!pod)
		return;
	/* One that is gone stays there until its verdict is told. */
	LIST_FOREACH(node, &pod->nodes, in_pod)
		if (cgnode_is_container(node) && node->stop && !node->removed)
			tell_container(e, node, p);
	forget_doubles(e, pod);
}

void engine_shutdown_tell_all(struct engine *e)
{
	const struct pod *pod;
	const struct epod *p;
	size_t pos = 0;

	TAILQ_FOREACH(p, &e->pods.all, all)
		engine_shutdown_tell_pod(e, p->uid);
	while ((pod = map_next(&e->map.pods, &pos)))
		if (!engine_pods_find(e, pod->uid))
			engine_shutdown_tell_pod(e, pod->uid);
}

/* --- records -------------------------------------------------------------------------------- */

static bool is_of_container(enum shutdown_told told)
{
	return told == SHUTDOWN_TOLD_OVERDUE || told == SHUTDOWN_TOLD_KILLED ||
	       told == SHUTDOWN_TOLD_SURVIVES;
}

static void name_it(const struct engine *e, const struct shutdown_record *from, char *ret, size_t n)
{
	const char *boot = e->out.host.boot_id, *told = shutdown_told_name(from->told);
	unsigned long long announced = from->announced_ns;

	if (is_of_container(from->told))
		snprintf(ret, n, "%s/shutdown/%llu/%s/%llu", boot, announced, told,
			 (unsigned long long)from->container.id);
	else if (from->told == SHUTDOWN_TOLD_GROUP_STARTED ||
		 from->told == SHUTDOWN_TOLD_GROUP_DONE)
		snprintf(ret, n, "%s/shutdown/%llu/%s/%u", boot, announced, told, from->group);
	else
		snprintf(ret, n, "%s/shutdown/%llu/%s/%llu", boot, announced, told,
			 (unsigned long long)from->at_ns);
}

static void fill_group(const struct engine *e, struct record_shutdown *r)
{
	const struct shutplan *plan = &e->shutdown->plan;

	if (r->told.group >= plan->n)
		return;
	r->group_known = true;
	r->group_priority = plan->groups[r->told.group].priority;
}

void engine_shutdown_report(struct engine *e, const struct shutdown_record *from)
{
	struct record *rec = output_record(&e->out, RECORD_SHUTDOWN, sizeof(e->out.record.shutdown),
					   from->at_ns);
	struct record_shutdown *r = &rec->shutdown;
	const struct cgnode *node;

	r->told = *from;
	name_it(e, from, r->id, sizeof(r->id));
	fill_group(e, r);
	node = is_of_container(from->told) ? cgmap_get(&e->map, from->container.id) : NULL;
	if (node) {
		subject_pod(&e->names, node, &r->pod);
		subject_container(&e->names, node, &r->container);
	}
	output_report(&e->out);
}
