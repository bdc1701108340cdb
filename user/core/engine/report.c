// SPDX-License-Identifier: Apache-2.0
/* The engine's part that puts facts into records. */
#include "core/engine/stops.h"
#include "base/time.h"
#include "core/engine/subject.h"
#include "core/stop/audit.h"
#include "core/stop/processes.h"

#include <stdio.h>
#include <string.h>

#define begin(stops, type, member, at_ns) \
	output_record((stops)->out, type, sizeof((stops)->out->record.member), at_ns)

static bool in_scope(const struct stops *stops, const struct cgnode *node)
{
	return !stops->pods_only || (node && node->pod);
}

/* A process that is no init is reported with the cgroup it lived in. */
static void fill_process_container(const struct stops *stops, struct record_container *ret,
				   const struct cgnode *node)
{
	subject_container(stops->names, node, ret);
	ret->known = true;
	ret->kind = CONTAINER_KIND_PROCESS;
	ret->cgroup = node ? node->path : NULL;
}

static void fill_sender(const struct stops *stops, struct record_sender *ret,
			const struct sender *s)
{
	ret->kind = s->kind;
	ret->process = subject_sender(s);
	for (int i = 0; i < GRACED_ANCESTORS && s->ancestors[i][0]; i++)
		ret->ancestors[i] = s->ancestors[i];
	subject_pod(stops->names, s->node, &ret->pod);
	/* With scope services a sender in a unit is one of the host's all the same. */
	if (s->node && s->node->kind == GRACED_WATCH_CONTAINER)
		subject_container(stops->names, s->node, &ret->container);
	ret->cgroup = s->node ? s->node->path : NULL;
}

static void fill_sigref(const struct stops *stops, struct record_sigref *ret,
			const struct stop_signal *s)
{
	if (!s || !s->seen)
		return;
	ret->known = true;
	ret->number = s->number;
	ret->result = s->result;
	ret->at_ns = s->at_ns;
	fill_sender(stops, &ret->sender, &s->sender);
}

/* What became of a request, when it was queued and when it was taken. */
static void fill_request(struct record_request *ret, const struct stop *stop,
			 const struct stop_signal *s)
{
	*ret = (struct record_request){
		.asked = stops_asked(s),
		.taken_ns = s->taken_ns,
		.dropped_ns = s->dropped_ns,
		.reason = stop_signal_reason(stop, s),
		.target_comm = s->target_comm,
	};
}

static void fill_requests(struct record_stop *r, const struct stop *stop)
{
	const struct stop_signal *list[STOP_REQUESTS];
	size_t n = stop_requests(stop, list, &r->n_requests);

	for (size_t i = 0; i < n; i++)
		fill_request(r->requests + i, stop, list[i]);
	r->inferred = stop->request->inferred;
}

static void fill_id(const struct stops *stops, const struct stop *stop,
		    char ret[static RECORD_ID_SIZE])
{
	const struct cgnode *node = stop->node;
	char other[CGPATH_ID_LEN + 1];
	const char *of = other;

	if (stop->reported_unnamed)
		node = NULL; /* an `empty` record has the id of its stop */
	if (cgnode_is_container(node) && node->ident.container_id[0] && node->stop == stop)
		of = node->ident.container_id;
	else if (cgnode_is_container(node) && node->path && node->stop == stop)
		snprintf(other, sizeof(other), "%s", names_base_name(node->path));
	else
		snprintf(other, sizeof(other), "%u", stop->init.pid);
	output_id(stops->out, of, NULL, stop_life_ns(stop), ret);
}

static void fill_subject(const struct stops *stops, const struct stop *stop, struct record_pod *pod,
			 struct record_container *container)
{
	subject_pod(stops->names, stop->node, pod);
	if (stop->node && stop->node->stop == stop)
		subject_container(stops->names, stop->node, container);
	else
		fill_process_container(stops, container, stop->node);
}

static void fill_forward(struct record_forward *ret, const struct stop *stop)
{
	const struct stop_forward *f = &stop->forward;

	if (!f->count || !stop->request->seen || f->at_ns < stop->request->at_ns)
		return;
	*ret = (struct record_forward){
		.count = f->count,
		.number = f->number,
		.result = f->result,
		.to = subject_process(&f->to),
		.after_ns = f->at_ns - stop->request->at_ns,
	};
}

static void fill_holder(struct record_holder *ret, const struct stop *stop)
{
	const struct stop_aside *aside = stop_aside_of(stop);

	if (stop->held != STOP_HELD || !aside->holder.pid)
		return;
	ret->process = subject_process(&aside->holder);
	ret->parent = subject_process(&aside->holder_parent);
}

/* An exit that went unseen is known by the runtime's word alone. */
static void fill_reported_exit(const struct stops *stops, const struct stop *stop,
			       struct record_exit *ret)
{
	const struct podtab_container *c = names_container(stops->names, stop->node);

	if (ret->known || !c || !(c->known & META_CTR_EXIT))
		return;
	ret->reported = true;
	ret->code = c->exit_code;
}

void stops_fill(const struct stops *stops, const struct stop *stop, struct record_stop *r)
{
	const struct stop_signal *asked = stop_signal_of(stop);

	fill_id(stops, stop, r->id);
	fill_subject(stops, stop, &r->pod, &r->container);
	r->process = subject_process(&stop->init);
	if (!stop->init.pid)
		r->process.comm = NULL;
	fill_sigref(stops, &r->stop_signal, asked);
	fill_sigref(stops, &r->kill_signal, stop->kill);
	r->deaf = stop_is_deaf(stop);
	r->reason = stop_unheard(stop);
	r->exit.known = stop->exit_seen;
	r->exit.status = stop->status;
	r->exit.at_ns = stop->exit_ns;
	fill_reported_exit(stops, stop, &r->exit);
	r->abort_ns = stop_aborted_ns(stop);
	r->latency_known = stop->request->seen && stop->exit_seen;
	if (r->latency_known && stop->exit_ns > stop_asked_ns(stop))
		r->latency_ns = stop->exit_ns - stop_asked_ns(stop);
	fill_requests(r, stop);
	/* A manager's period does not begin with what another sender asked for. */
	if (!asked || stop_has_grace(asked))
		r->grace = stop->grace;
	r->seen = stop->seen;
	r->pod_terminating = stops_pod_terminating(stops, stop);
	fill_forward(&r->forward, stop);
	fill_holder(&r->held_by, stop);
	/* Counts are the kernel half's, and their order is not to be trusted. */
	r->collateral_kills = beyond(stop->counts.collateral, stop->base.collateral);
	r->oom_kills = beyond(stop->counts.oom_kills, stop->base.oom_kills);
	r->oom_kills_unknown = stop->unseen_lapsed;
}

/* For an unseen exit only the runtime's OOMKilled is trusted. */
static bool runtime_reports_oom(const struct stops *stops, const struct stop *stop)
{
	const struct podtab_container *c = names_container(stops->names, stop->node);

	return !stop->exit_seen && c && c->known & META_CTR_EXIT &&
	       strcmp(c->exit_reason, "OOMKilled") == 0;
}

/* Where init passed a child's end on, that ended the container, and not what init sent itself then.
 */
static void fill_kill_of_child(const struct stops *stops, const struct stop *stop,
			       struct record_sigref *ret)
{
	bool sure;
	const struct process *child = processes_via(stop, &sure);

	if (!child || (child->status & 0x7f) != 9)
		return;
	*ret = (struct record_sigref){};
	fill_sigref(stops, ret, process_fatal(child));
}

void stops_report_verdict(struct stops *stops, const struct stop *stop, uint32_t gaps)
{
	struct outcome_facts facts;
	struct outcome_verdict verdict;
	struct record *rec;

	if (!in_scope(stops, stop->node))
		return;
	rec = begin(stops, RECORD_STOP, stop, stop->exit_seen ? stop->exit_ns : stops->out->now_ns);
	/* Names that are missing hide no signal. */
	stop_facts(stop, stop_gaps(stop), &facts);
	verdict = outcome_decide(&facts);
	if (runtime_reports_oom(stops, stop))
		outcome_row(OUTCOME_ROW_5, &verdict);
	stops_fill(stops, stop, &rec->stop);
	rec->stop.outcome = verdict.outcome;
	rec->stop.cause = verdict.cause;
	if (verdict.cause == CAUSE_RUNTIME_LOST)
		fill_sigref(stops, &rec->stop.keeper_signal, &stop_aside_of(stop)->keeper);
	rec->stop.gaps = gaps;
	stops_fill_members(stops, stop, gaps >> GAP_NOT_EMPTY & 1, &rec->stop);
	fill_kill_of_child(stops, stop, &rec->stop.kill_signal);
	if (gaps >> GAP_SANDBOX_GUESSED & 1)
		rec->stop.container.kind = CONTAINER_KIND_SANDBOX;
	output_report(stops->out);
}

static void report_runtime_exit(struct stops *stops, const struct podtab_container *c)
{
	struct record *rec = begin(stops, RECORD_RUNTIME_EXIT, runtime_exit, stops->out->now_ns);
	struct record_runtime_exit *r = &rec->runtime_exit;

	snprintf(r->id, sizeof(r->id), "%s/%s/%llu", stops->out->host.boot_id, c->of->name.first,
		 (unsigned long long)c->exit.start_ns);
	subject_ended(stops->names, c, &r->pod, &r->container);
	r->exit_code = c->exit_code;
	r->reason = c->exit_reason;
	r->finished_wall_ns = c->finished_wall_ns;
	r->kernel = (struct record_exit){
		.known = c->exit.seen, .status = c->exit.status, .at_ns = c->exit.at_ns};
	r->kernel_wall_ns = c->exit.wall_ns;
	if (c->exit.seen)
		r->agrees =
			c->exit_code == discrepancy_code_of(c->exit.status) ? TRI_TRUE : TRI_FALSE;
	output_report(stops->out);
}

void stops_compare_exit(struct stops *stops, struct podtab_container *c)
{
	/* No source reports a sandbox's exit, and the kubelet only repeats the runtime, in whole
	 * seconds. */
	if (c->compared || !c->ended || c->exit_from != META_CRI)
		return;
	c->compared = true;
	report_runtime_exit(stops, c);
}

static enum record_tri has_probe(const struct stops *stops, const struct podtab_container *next)
{
	const struct podtab_container *spec =
		podtab_spec(&stops->names->tab, next->pod_uid, next->name);

	if (!spec || !(spec->known & META_CTR_PROBE))
		return TRI_UNKNOWN;
	return spec->probe ? TRI_TRUE : TRI_FALSE;
}

static void report_restart(struct stops *stops, struct podtab_container *former,
			   const struct podtab_container *next)
{
	struct record *rec = begin(stops, RECORD_RESTART, restart, stops->out->now_ns);
	struct record_restart *r = &rec->restart;

	former->asked = false;
	snprintf(r->id, sizeof(r->id), "%s/%s/%llu", stops->out->host.boot_id,
		 former->of->name.first, (unsigned long long)former->exit.start_ns);
	subject_ended(stops->names, former, &r->pod, &r->container);
	r->next_id = next->of->name.first;
	r->next_attempt = next->attempt;
	r->probe = has_probe(stops, next);
	r->exit = (struct record_exit){.known = former->exit.seen,
				       .status = former->exit.status,
				       .at_ns = former->exit.at_ns};
	output_report(stops->out);
}

static bool is_named_in_pod(const struct podtab_container *c)
{
	return c->of->name.way == CONTAINER_BY_ID && c->name && c->pod_uid[0] &&
	       c->known & META_CTR_ATTEMPT && c->kind != META_KIND_SANDBOX;
}

/* A kubelet makes a container in the place of another only while its pod is to run on. */
static bool replaces(const struct podtab_container *next, const struct podtab_container *former)
{
	return is_named_in_pod(next) && is_named_in_pod(former) && former->asked &&
	       next->attempt > former->attempt && next->attempt - former->attempt == 1 &&
	       strcmp(next->pod_uid, former->pod_uid) == 0 && strcmp(next->name, former->name) == 0;
}

/* The exit may be noted before or after a source describes the container in its place. The table is
 * walked once for each, and not each time that sources repeat themselves. */
void stops_compare_restart(struct stops *stops, struct podtab_container *c)
{
	struct podtab_container *other;
	size_t pos = 0;

	if (c->sought || !is_named_in_pod(c) || !(c->asked || c->attempt))
		return;
	c->sought = true;
	while ((other = podtab_next_container(&stops->names->tab, &pos))) {
		if (replaces(other, c))
			report_restart(stops, c, other);
		else if (replaces(c, other))
			report_restart(stops, other, c);
	}
}

void stops_report_empty(struct stops *stops, const struct stop *stop)
{
	struct record *rec;

	if (!in_scope(stops, stop->node))
		return;
	rec = begin(stops, RECORD_EMPTY, empty, stop->empty_ns);
	fill_id(stops, stop, rec->empty.id);
	fill_subject(stops, stop, &rec->empty.pod, &rec->empty.container);
	rec->empty.empty_ns = stop->empty_ns;
	output_report(stops->out);
}

void stops_report_reaped(struct stops *stops, const struct stop *stop, uint64_t at_ns)
{
	struct record *rec;

	if (!in_scope(stops, stop->node))
		return;
	rec = begin(stops, RECORD_REAPED, reaped, at_ns);
	fill_id(stops, stop, rec->reaped.id);
	fill_subject(stops, stop, &rec->reaped.pod, &rec->reaped.container);
	rec->reaped.exit.known = stop->exit_seen;
	rec->reaped.exit.status = stop->status;
	rec->reaped.exit.at_ns = stop->exit_ns;
	rec->reaped.reap_ns = stop->reap_ns;
	output_report(stops->out);
}

/* A program that has run its handler, and would now die of its signal, is not deaf. */
static bool is_again(const struct stop *stop, const struct obs_signal *sig,
		     const struct sender *sender)
{
	return sender->relation == RELATION_SELF && sender->kind != SENDER_KERNEL &&
	       sig->result != 0 && stop_reraised(stop, sig->sig, sig->flags);
}

void stops_report_signal(struct stops *stops, const struct obs *obs, const struct stop *stop,
			 const struct sender *sender)
{
	const struct obs_signal *sig = &obs->signal;
	const struct cgnode *target = stop->node;
	bool again = is_again(stop, sig, sender);
	struct record *rec;

	if (!in_scope(stops, target))
		return;
	rec = begin(stops, RECORD_SIGNAL, signal, obs->at_ns);
	rec->signal.number = sig->sig;
	rec->signal.result = sig->result;
	rec->signal.group = sig->flags & GRACED_SIG_GROUP;
	rec->signal.code = sig->code;
	rec->signal.blocked = sig->flags & GRACED_SIG_BLOCKED;
	rec->signal.deaf = sig->sig != 9 && stop_signal_deaf(sig) && !again;
	rec->signal.reason = unheard_by(sig->sig, sig->result, sig->flags,
					audit_is_shell(sig->target.exe, sig->target.comm));
	if (again)
		rec->signal.reason = UNHEARD_RERAISED;
	rec->signal.target = subject_process(&sig->target);
	rec->signal.target_init = sig->flags & GRACED_SIG_INIT && target && target->stop;
	fill_sender(stops, &rec->signal.sender, sender);
	subject_pod(stops->names, target, &rec->signal.pod);
	subject_container(stops->names, target, &rec->signal.container);
	output_report(stops->out);
}

void stops_report_oom(struct stops *stops, const struct obs *obs, const struct cgnode *node,
		      enum oom_level level)
{
	struct record *rec;

	if (!in_scope(stops, node))
		return;
	rec = begin(stops, RECORD_OOM, oom, obs->at_ns);
	subject_pod(stops->names, node, &rec->oom.pod);
	subject_container(stops->names, node, &rec->oom.container);
	rec->oom.victim = subject_process(&obs->oom.victim);
	rec->oom.init = obs->oom.flags & GRACED_OOM_INIT;
	rec->oom.level = level;
	rec->oom.limit = obs->oom.limit;
	rec->oom.level_limit = obs->oom.level_limit;
	output_report(stops->out);
}
