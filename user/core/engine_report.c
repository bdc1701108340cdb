// SPDX-License-Identifier: Apache-2.0
/* The engine's part that puts facts into records. */
#include "core/engine_priv.h"

#include <stdio.h>
#include <string.h>

/* size is that of the type's member: what is not of the type is not cleared. */
static struct record *begin_sized(struct engine *e, enum record_type type, size_t size,
				  uint64_t at_ns)
{
	memset(&e->record, 0, offsetof(struct record, stop) + size);
	e->record.type = type;
	e->record.at_ns = at_ns;
	e->record.wall_ns = (int64_t)(at_ns + (uint64_t)e->host.wall_offset_ns);
	e->record.node = e->host.node[0] ? e->host.node : NULL;
	return &e->record;
}

#define begin(e, type, member, at_ns) begin_sized(e, type, sizeof((e)->record.member), at_ns)

static void end(struct engine *e)
{
	engine_effect(e, &(struct effect){.type = EFFECT_REPORT, .record = &e->record});
}

static bool in_scope(const struct engine *e, const struct cgnode *node)
{
	return e->config.scope != SCOPE_PODS || (node && node->pod);
}

static void fill_pod(struct record_pod *ret, const struct cgnode *node)
{
	const struct pod *pod = node ? node->pod : NULL;

	if (!pod)
		return;
	*ret = (struct record_pod){
		.known = true,
		.namespace_ = pod->namespace_,
		.name = pod->name,
		.uid = pod->uid,
		.qos = pod->qos,
		.is_static = pod->is_static,
	};
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void fill_container(struct record_container *ret, const struct cgnode *node)
{
	if (!cgnode_is_container(node))
		return;
	*ret = (struct record_container){
		.known = true,
		.name = node->container_name,
		.id = node->ident.container_id[0] ? node->ident.container_id : NULL,
		.runtime = node->ident.runtime,
		.kind = node->kind == GRACED_WATCH_SERVICE
				? CONTAINER_KIND_SERVICE
				: record_container_kind_of(&node->ident, node->container_name),
		.cgroup = node->path,
	};
	if (ret->kind == CONTAINER_KIND_SERVICE)
		ret->name = base_name(node->path);
}

/* A process that is nobody's init is told with the cgroup it lived in. */
static void fill_process_container(struct record_container *ret, const struct cgnode *node)
{
	fill_container(ret, node);
	ret->known = true;
	ret->kind = CONTAINER_KIND_PROCESS;
	ret->cgroup = node ? node->path : NULL;
}

static struct record_process process_of(const struct graced_proc *p)
{
	return (struct record_process){
		.pid = p->pid,
		.ns_pid = p->ns_pid,
		.comm = p->comm,
		.start_ns = p->start_ns,
	};
}

static void fill_sender(struct record_sender *ret, const struct sender *s)
{
	ret->kind = s->kind;
	ret->process = process_of(&s->proc);
	for (int i = 0; i < GRACED_ANCESTORS && s->ancestors[i][0]; i++)
		ret->ancestors[i] = s->ancestors[i];
	fill_pod(&ret->pod, s->node);
	/* With scope services a sender in a unit is one of the host's all the same. */
	if (s->node && s->node->kind == GRACED_WATCH_CONTAINER)
		fill_container(&ret->container, s->node);
	ret->cgroup = s->node ? s->node->path : NULL;
}

static void fill_sigref(struct record_sigref *ret, const struct stop_signal *s)
{
	if (!s->seen)
		return;
	ret->known = true;
	ret->number = s->number;
	ret->result = s->result;
	ret->at_ns = s->at_ns;
	fill_sender(&ret->sender, &s->sender);
}

static void fill_id(const struct engine *e, const struct stop *stop, char *ret, size_t size)
{
	const struct cgnode *node = stop->node;
	unsigned long long start = stop->init.start_ns;

	if (stop->told_unnamed)
		node = NULL; /* an `empty` record has the id of its stop */
	if (cgnode_is_container(node) && node->ident.container_id[0] && node->stop == stop)
		snprintf(ret, size, "%s/%s/%llu", e->host.boot_id, node->ident.container_id, start);
	else if (cgnode_is_container(node) && node->path && node->stop == stop)
		snprintf(ret, size, "%s/%.64s/%llu", e->host.boot_id, base_name(node->path), start);
	else
		snprintf(ret, size, "%s/%u/%llu", e->host.boot_id, stop->init.pid, start);
}

static void fill_subject(const struct stop *stop, struct record_pod *pod,
			 struct record_container *container)
{
	fill_pod(pod, stop->node);
	if (stop->node && stop->node->stop == stop)
		fill_container(container, stop->node);
	else
		fill_process_container(container, stop->node);
}

/* Counts are the kernel half's, and their order is not to be trusted. */
static uint64_t since(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

static void fill_stop(const struct engine *e, const struct stop *stop, struct record_stop *r)
{
	fill_id(e, stop, r->id, sizeof(r->id));
	fill_subject(stop, &r->pod, &r->container);
	r->process = process_of(&stop->init);
	fill_sigref(&r->stop_signal, &stop->request);
	fill_sigref(&r->kill_signal, &stop->kill);
	r->deaf = stop->deaf;
	r->exit.known = stop->exit_seen;
	r->exit.status = stop->status;
	r->exit.at_ns = stop->exit_ns;
	r->latency_known = stop->request.seen && stop->exit_seen;
	if (r->latency_known && stop->exit_ns > stop->request.at_ns)
		r->latency_ns = stop->exit_ns - stop->request.at_ns;
	r->grace_known = stop->grace_ns != 0;
	r->grace_ns = stop->grace_ns;
	r->collateral_kills = since(stop->counts.collateral, stop->base.collateral);
	r->oom_kills = since(stop->counts.oom_kills, stop->base.oom_kills);
	r->empty_ns = stop->empty_ns;
}

void engine_report_stop(struct engine *e, const struct stop *stop, uint32_t gaps)
{
	struct outcome_facts facts;
	struct outcome_verdict verdict;
	struct record *rec;

	if (!in_scope(e, stop->node))
		return;
	rec = begin(e, RECORD_STOP, stop, stop->exit_seen ? stop->exit_ns : e->now_ns);
	stop_facts(stop, gaps, &facts);
	verdict = outcome_decide(&facts);
	fill_stop(e, stop, &rec->stop);
	rec->stop.outcome = verdict.outcome;
	rec->stop.cause = verdict.cause;
	rec->stop.gaps = gaps;
	end(e);
}

void engine_report_empty(struct engine *e, const struct stop *stop)
{
	struct record *rec;

	if (!in_scope(e, stop->node))
		return;
	rec = begin(e, RECORD_EMPTY, empty, stop->empty_ns);
	fill_id(e, stop, rec->empty.id, sizeof(rec->empty.id));
	fill_subject(stop, &rec->empty.pod, &rec->empty.container);
	rec->empty.empty_ns = stop->empty_ns;
	end(e);
}

void engine_report_signal(struct engine *e, const struct obs *obs, const struct cgnode *target,
			  const struct sender *sender)
{
	const struct obs_signal *sig = &obs->signal;
	struct record *rec;

	if (!in_scope(e, target))
		return;
	rec = begin(e, RECORD_SIGNAL, signal, obs->at_ns);
	rec->signal.number = sig->sig;
	rec->signal.result = sig->result;
	rec->signal.group = sig->flags & GRACED_SIG_GROUP;
	rec->signal.code = sig->code;
	rec->signal.blocked = sig->flags & GRACED_SIG_BLOCKED;
	rec->signal.deaf = sig->sig != 9 && stop_signal_deaf(sig);
	rec->signal.target = process_of(&sig->target);
	rec->signal.target_init = sig->flags & GRACED_SIG_INIT;
	fill_sender(&rec->signal.sender, sender);
	fill_pod(&rec->signal.pod, target);
	fill_container(&rec->signal.container, target);
	end(e);
}

void engine_report_oom(struct engine *e, const struct obs *obs, const struct cgnode *node,
		       enum oom_level level)
{
	struct record *rec;

	if (!in_scope(e, node))
		return;
	rec = begin(e, RECORD_OOM, oom, obs->at_ns);
	fill_pod(&rec->oom.pod, node);
	fill_container(&rec->oom.container, node);
	rec->oom.victim = process_of(&obs->oom.victim);
	rec->oom.init = obs->oom.flags & GRACED_OOM_INIT;
	rec->oom.level = level;
	end(e);
}

void engine_report_attached(struct engine *e, uint64_t at_ns)
{
	struct record *rec = begin(e, RECORD_ATTACHED, attached, at_ns);

	rec->attached.hierarchy = e->host.hierarchy;
	rec->attached.programs = e->host.programs;
	rec->attached.containers = e->containers_found;
	end(e);
}

void engine_report_lost(struct engine *e, uint64_t at_ns, const struct obs_lost *lost)
{
	struct record *rec = begin(e, RECORD_LOST, lost, at_ns);

	memcpy(rec->lost.totals, lost->totals, sizeof(rec->lost.totals));
	rec->lost.recursion_misses = lost->recursion_misses;
	end(e);
}

void engine_each_container(const struct engine *e, engine_container_fn fn, void *userdata)
{
	const struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos))) {
		struct record_container container = {};
		struct record_pod pod = {};

		if (!node->stop || !stop_is_running(node->stop) || !in_scope(e, node))
			continue;
		fill_pod(&pod, node);
		fill_container(&container, node);
		fn(userdata, &pod, &container);
	}
}
