// SPDX-License-Identifier: Apache-2.0
/* The engine's part that puts facts into records. */
#include "core/engine/priv.h"
#include "core/stop/audit.h"

#include <stdio.h>
#include <string.h>

#define begin(e, type, member, at_ns) \
	output_record(&e->out, type, sizeof((e)->out.record.member), at_ns)

static bool in_scope(const struct engine *e, const struct cgnode *node)
{
	return e->config.scope != SCOPE_PODS || (node && node->pod);
}

/* A process that is nobody's init is told with the cgroup it lived in. */
static void fill_process_container(const struct engine *e, struct record_container *ret,
				   const struct cgnode *node)
{
	subject_container(&e->names, node, ret);
	ret->known = true;
	ret->kind = CONTAINER_KIND_PROCESS;
	ret->cgroup = node ? node->path : NULL;
}

static void fill_sender(const struct engine *e, struct record_sender *ret, const struct sender *s)
{
	ret->kind = s->kind;
	ret->process = subject_process(&s->proc);
	for (int i = 0; i < GRACED_ANCESTORS && s->ancestors[i][0]; i++)
		ret->ancestors[i] = s->ancestors[i];
	subject_pod(&e->names, s->node, &ret->pod);
	/* With scope services a sender in a unit is one of the host's all the same. */
	if (s->node && s->node->kind == GRACED_WATCH_CONTAINER)
		subject_container(&e->names, s->node, &ret->container);
	ret->cgroup = s->node ? s->node->path : NULL;
}

static void fill_sigref(const struct engine *e, struct record_sigref *ret,
			const struct stop_signal *s)
{
	if (!s || !s->seen)
		return;
	ret->known = true;
	ret->number = s->number;
	ret->result = s->result;
	ret->at_ns = s->at_ns;
	fill_sender(e, &ret->sender, &s->sender);
}

static void fill_id(const struct engine *e, const struct stop *stop, char *ret, size_t size)
{
	const struct cgnode *node = stop->node;
	/* Of an init that was not seen only the end is known. */
	unsigned long long start = stop->init.pid ? stop->init.start_ns : stop->since_ns;

	if (stop->told_unnamed)
		node = NULL; /* an `empty` record has the id of its stop */
	if (cgnode_is_container(node) && node->ident.container_id[0] && node->stop == stop)
		snprintf(ret, size, "%s/%s/%llu", e->out.host.boot_id, node->ident.container_id,
			 start);
	else if (cgnode_is_container(node) && node->path && node->stop == stop)
		snprintf(ret, size, "%s/%.64s/%llu", e->out.host.boot_id,
			 names_base_name(node->path), start);
	else
		snprintf(ret, size, "%s/%u/%llu", e->out.host.boot_id, stop->init.pid, start);
}

static void fill_subject(const struct engine *e, const struct stop *stop, struct record_pod *pod,
			 struct record_container *container)
{
	subject_pod(&e->names, stop->node, pod);
	if (stop->node && stop->node->stop == stop)
		subject_container(&e->names, stop->node, container);
	else
		fill_process_container(e, container, stop->node);
}

/* Counts are the kernel half's, and their order is not to be trusted. */
static uint64_t since(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

static void fill_forward(struct record_forward *ret, const struct stop *stop)
{
	const struct stop_forward *f = &stop->forward;

	if (!f->count || !stop->request.seen || f->at_ns < stop->request.at_ns)
		return;
	*ret = (struct record_forward){
		.count = f->count,
		.number = f->number,
		.result = f->result,
		.to = subject_process(&f->to),
		.after_ns = f->at_ns - stop->request.at_ns,
	};
}

/* An exit that went unseen is known by the runtime's word alone. */
static void fill_told(const struct engine *e, const struct stop *stop, struct record_exit *ret)
{
	const struct podtab_container *c = names_container(&e->names, stop->node);

	if (ret->known || !c || !(c->known & META_CTR_EXIT))
		return;
	ret->told = true;
	ret->code = c->exit_code;
}

static void fill_stop(const struct engine *e, const struct stop *stop, struct record_stop *r)
{
	fill_id(e, stop, r->id, sizeof(r->id));
	fill_subject(e, stop, &r->pod, &r->container);
	r->process = subject_process(&stop->init);
	if (!stop->init.pid)
		r->process.comm = NULL;
	fill_sigref(e, &r->stop_signal, stop_signal_of(stop));
	fill_sigref(e, &r->kill_signal, &stop->kill);
	r->deaf = stop->deaf;
	r->reason = stop_unheard(stop);
	r->exit.known = stop->exit_seen;
	r->exit.status = stop->status;
	r->exit.at_ns = stop->exit_ns;
	fill_told(e, stop, &r->exit);
	r->latency_known = stop->request.seen && stop->exit_seen;
	if (r->latency_known && stop->exit_ns > stop->request.at_ns)
		r->latency_ns = stop->exit_ns - stop->request.at_ns;
	r->grace = stop->grace;
	r->deliver_ns = stop->deliver_ns;
	r->reap_ns = stop->reap_ns;
	r->pod_terminating = engine_pod_terminating(e, stop);
	fill_forward(&r->forward, stop);
	r->collateral_kills = since(stop->counts.collateral, stop->base.collateral);
	r->oom_kills = since(stop->counts.oom_kills, stop->base.oom_kills);
	r->empty_ns = stop->empty_ns;
}

/* Of an exit that went unseen nothing else is believed. */
static bool told_oom(const struct engine *e, const struct stop *stop)
{
	const struct podtab_container *c = names_container(&e->names, stop->node);

	return !stop->exit_seen && c && c->known & META_CTR_EXIT &&
	       strcmp(c->exit_reason, "OOMKilled") == 0;
}

void engine_report_stop(struct engine *e, const struct stop *stop, uint32_t gaps)
{
	struct outcome_facts facts;
	struct outcome_verdict verdict;
	struct record *rec;

	if (!in_scope(e, stop->node))
		return;
	rec = begin(e, RECORD_STOP, stop, stop->exit_seen ? stop->exit_ns : e->out.now_ns);
	stop_facts(stop, gaps, &facts);
	verdict = outcome_decide(&facts);
	if (told_oom(e, stop))
		verdict = (struct outcome_verdict){OUTCOME_OOM_KILLED, CAUSE_OOM_UNKNOWN, 5};
	fill_stop(e, stop, &rec->stop);
	rec->stop.outcome = verdict.outcome;
	rec->stop.cause = verdict.cause;
	rec->stop.gaps = gaps;
	if (gaps >> GAP_SANDBOX_GUESSED & 1)
		rec->stop.container.kind = CONTAINER_KIND_SANDBOX;
	output_report(&e->out);
}

static void report_runtime_exit(struct engine *e, const char *id, const struct podtab_container *c)
{
	struct record *rec = begin(e, RECORD_RUNTIME_EXIT, runtime_exit, e->out.now_ns);
	struct record_runtime_exit *r = &rec->runtime_exit;

	snprintf(r->id, sizeof(r->id), "%s/%s/%llu", e->out.host.boot_id, id,
		 (unsigned long long)c->exit.start_ns);
	subject_ended(&e->names, id, c, &r->pod, &r->container);
	r->exit_code = c->exit_code;
	r->reason = c->exit_reason;
	r->finished_wall_ns = c->finished_wall_ns;
	r->kernel = (struct record_exit){
		.known = c->exit.seen, .status = c->exit.status, .at_ns = c->exit.at_ns};
	r->kernel_wall_ns = c->exit.wall_ns;
	if (c->exit.seen)
		r->agrees =
			c->exit_code == discrepancy_code_of(c->exit.status) ? TRI_TRUE : TRI_FALSE;
	output_report(&e->out);
}

void engine_compare_exit(struct engine *e, const char *container_id)
{
	struct podtab_container *c = podtab_container(&e->names.tab, container_id);

	/* A sandbox's exit nobody tells, and the kubelet repeats with whole seconds what it is
	 * told. */
	if (!c || c->compared || !c->exit.noted || c->exit_from != META_CRI)
		return;
	c->compared = true;
	report_runtime_exit(e, container_id, c);
}

void engine_report_empty(struct engine *e, const struct stop *stop)
{
	struct record *rec;

	if (!in_scope(e, stop->node))
		return;
	rec = begin(e, RECORD_EMPTY, empty, stop->empty_ns);
	fill_id(e, stop, rec->empty.id, sizeof(rec->empty.id));
	fill_subject(e, stop, &rec->empty.pod, &rec->empty.container);
	rec->empty.empty_ns = stop->empty_ns;
	output_report(&e->out);
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
	rec->signal.reason = unheard_by(sig->sig, sig->result, sig->flags,
					audit_is_shell(sig->target.exe, sig->target.comm));
	rec->signal.target = subject_process(&sig->target);
	rec->signal.target_init = sig->flags & GRACED_SIG_INIT && target && target->stop;
	fill_sender(e, &rec->signal.sender, sender);
	subject_pod(&e->names, target, &rec->signal.pod);
	subject_container(&e->names, target, &rec->signal.container);
	output_report(&e->out);
}

void engine_report_oom(struct engine *e, const struct obs *obs, const struct cgnode *node,
		       enum oom_level level)
{
	struct record *rec;

	if (!in_scope(e, node))
		return;
	rec = begin(e, RECORD_OOM, oom, obs->at_ns);
	subject_pod(&e->names, node, &rec->oom.pod);
	subject_container(&e->names, node, &rec->oom.container);
	rec->oom.victim = subject_process(&obs->oom.victim);
	rec->oom.init = obs->oom.flags & GRACED_OOM_INIT;
	rec->oom.level = level;
	output_report(&e->out);
}

void engine_report_attached(struct engine *e, uint64_t at_ns)
{
	struct record *rec = begin(e, RECORD_ATTACHED, attached, at_ns);

	rec->attached.hierarchy = e->out.host.hierarchy;
	rec->attached.programs = e->out.host.programs;
	rec->attached.containers = e->containers_found;
	output_report(&e->out);
}

void engine_report_lost(struct engine *e, uint64_t at_ns, const struct obs_lost *lost)
{
	struct record *rec = begin(e, RECORD_LOST, lost, at_ns);

	memcpy(rec->lost.totals, lost->totals, sizeof(rec->lost.totals));
	rec->lost.recursion_misses = lost->recursion_misses;
	output_report(&e->out);
}

void engine_each_without_init(const struct engine *e, uint64_t now_ns, engine_id_fn fn,
			      void *userdata)
{
	const struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos))) {
		const struct stop *stop = stop_in(node);

		if (!stop || node->kind != GRACED_WATCH_CONTAINER || !node->path ||
		    stop->state != STOP_IDLE || stop->init_unseen)
			continue;
		if (stop->idle_ns + ENGINE_INIT_NS <= now_ns)
			fn(userdata, node->id);
	}
}

void engine_each_container(const struct engine *e, engine_container_fn fn, void *userdata)
{
	const struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos))) {
		struct engine_running running = {.id = node->id, .kind = node->kind};

		if (!node->stop || !stop_is_running(node->stop) || !in_scope(e, node))
			continue;
		running.start_ns = node->stop->init.start_ns;
		running.asking = names_is_asking(&e->names, node);
		running.unnamed = node->names == NAMES_ABSENT;
		subject_pod(&e->names, node, &running.pod);
		subject_container(&e->names, node, &running.container);
		fn(userdata, &running);
	}
}
