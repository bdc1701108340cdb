// SPDX-License-Identifier: Apache-2.0
/*
 * Compares what is reported of pods and of exits with what the kernel says.
 *
 * A list is as old as the question it answers, and a kubelet acts a moment after a request: what
 * may be due to that is reported once it has held for longer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/engine/pods_priv.h"

/* How often a kubelet is asked about a pod that is stopped and Ready, and for how long: answers
 * that are further apart than RECORD_ANSWERS_NS give no time. An API server serves every node and
 * is left to its interval. */
#define READY_AGAIN_NS (RECORD_ANSWERS_NS / 2)
#define READY_FOR_NS   120000000000ULL

static struct epod *pod_of_due(struct deadline *due)
{
	return (struct epod *)((char *)due - offsetof(struct epod, doubt));
}

/* --- Ready while it is being stopped -------------------------------------------------------- */

/* When its end began to be asked of its containers; 0: that was not seen, or not yet. */
static uint64_t stop_ns(const struct epod *p)
{
	if (p->life.stage < POD_STAGE_TERMINATING || p->truth.stop_ns < p->terminating_ns)
		return 0;
	return p->truth.stop_ns;
}

uint64_t truth_ready_since(const struct epod *p)
{
	return p->truth.ready == TRI_TRUE ? stop_ns(p) : 0;
}

bool truth_is_timed(const struct pods *pods, uint64_t before_ns)
{
	return before_ns && before_ns <= pods->out->now_ns &&
	       pods->out->now_ns - before_ns <= RECORD_ANSWERS_NS;
}

/* A first stop signal may have come before signals were seen. */
static bool began_before(const struct pods *pods, const struct epod *p, uint64_t at_ns)
{
	uint64_t deletion_ns = pods_deletion_ns(pods, p);

	return p->truth.stop_ns >= at_ns &&
	       (p->terminating_ns < at_ns || (deletion_ns && deletion_ns < at_ns));
}

/* One of them may have been an earlier stop signal. */
static bool has_lost(const struct pods *pods, const struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (node->stop && stop_gaps(node->stop) >> GAP_EVENTS_LOST & 1 &&
			    !pods_is_sandbox(pods, node))
				return true;
	return p->truth.lost;
}

/* Between the last answer that had it as Ready and the first that did not lies what is reported. */
static uint32_t ready_gaps(const struct pods *pods, const struct epod *p)
{
	uint32_t gaps = 0;

	if (!p->truth.ready_ns || p->truth.heard_ns < p->truth.ready_ns ||
	    p->truth.heard_ns - p->truth.ready_ns > RECORD_ANSWERS_NS)
		gaps |= 1u << GAP_TIME_UNCERTAIN;
	if (p->truth.ready_ns < pods->out->attached_ns)
		gaps |= 1u << GAP_DAEMON_DOWN;
	if (began_before(pods, p, pods->out->attached_ns))
		gaps |= 1u << GAP_ATTACHED_LATE;
	if (has_lost(pods, p))
		gaps |= 1u << GAP_EVENTS_LOST;
	return gaps;
}

static void report_ready(struct pods *pods, struct epod *p)
{
	struct record *rec =
		output_record(pods->out, RECORD_POD_READY, sizeof(pods->out->record.pod_ready),
			      p->truth.unready_ns);
	struct record_pod_ready *r = &rec->pod_ready;

	output_id(pods->out, p->uid, "ready", p->truth.stop_ns, r->id);
	r->pod = subject_of(pods_meta(p), p->uid, p->qos, p->is_static);
	r->stop_ns = p->truth.stop_ns;
	r->last_ns = p->truth.ready_ns;
	r->until_ns = p->truth.unready_ns;
	r->heard_ns = p->truth.heard_ns;
	r->gone = p->truth.gone_ns != 0;
	r->gaps = ready_gaps(pods, p);
	pods_note_lapse(pods, p);
	if (r->gaps >> GAP_TIME_UNCERTAIN & 1)
		r->gaps |= names_gaps(p->spec_lapse & ~LAPSE_LATE);
	output_report(pods->out);
}

/* A pod that was not Ready when its stop began is not reported. */
static void measure(struct pods *pods, struct epod *p)
{
	if (p->truth.measured || !stop_ns(p) || !p->truth.unready_ns)
		return;
	p->truth.measured = true;
	output_changed_pod(pods->out, p);
	if (p->truth.unready_ns > p->truth.stop_ns ||
	    (p->truth.heard_ns > p->truth.stop_ns && ready_gaps(pods, p)))
		report_ready(pods, p);
}

void truth_signalled(struct pods *pods, struct epod *p, const struct cgnode *node, uint64_t at_ns)
{
	uint64_t end_ns = p->life.stage <= POD_STAGE_SYNC ? p->stop_ns : p->terminating_ns;

	if (p->truth.stop_ns < end_ns && !pods_is_sandbox(pods, node))
		p->truth.stop_ns = at_ns;
}

void truth_lost(struct pods *pods, struct epod *p)
{
	if (p->truth.lost)
		return;
	p->truth.lost = true;
	output_changed_pod(pods->out, p);
}

/* --- what a list says ----------------------------------------------------------------------- */

static enum record_tri ready_of(const struct meta_pod *meta)
{
	if (!(meta->known & META_POD_READY))
		return TRI_UNKNOWN;
	return meta->ready ? TRI_TRUE : TRI_FALSE;
}

void truth_reported(struct pods *pods, struct epod *p, const struct meta_pod *meta, uint64_t at_ns)
{
	enum record_tri ready = meta->gone ? TRI_UNKNOWN : ready_of(meta);

	/* An answer that was overtaken. */
	if (at_ns < p->list_ns)
		return;
	if (ready != p->truth.ready || meta->gone != (p->truth.gone_ns != 0) ||
	    (ready == TRI_TRUE && p->truth.stop_ns))
		output_changed_pod(pods->out, p);
	p->list_ns = at_ns;
	p->truth.gone_ns = meta->gone ? at_ns : 0;
	if (ready == TRI_TRUE) {
		p->truth.ready_ns = at_ns;
		p->truth.unready_ns = p->truth.heard_ns = 0;
	} else if (p->truth.ready == TRI_TRUE) {
		p->truth.unready_ns = at_ns;
		p->truth.heard_ns = pods->out->now_ns;
	}
	p->truth.ready = ready;
}

/* --- pods ----------------------------------------------------------------------------------- */

static bool is_terminal(const struct epod *p)
{
	return p->listed && meta_phase_is_terminal(p->reported.phase);
}

/* A container that no source describes may be the sandbox. */
static bool is_container(const struct pods *pods, const struct cgnode *node)
{
	const struct podtab_container *c = names_container(pods->names, node);

	return c && (c->name || c->kind) && !pods_is_sandbox(pods, node);
}

/* A process is left in a container that had an init, the sandbox apart. */
static bool has_container_left(const struct pods *pods, const struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (node->populated && !node->removed && node->stop &&
			    node->stop->init.start_ns && is_container(pods, node))
				return true;
	return false;
}

static bool holds(const struct pods *pods, const struct epod *p, enum discrepancy kind)
{
	switch (kind) {
	case DISCREPANCY_READY_WHILE_TERMINAL:
		return is_terminal(p) && p->truth.ready == TRI_TRUE;
	case DISCREPANCY_OBJECT_GONE:
		return !p->listed && (p->was_listed || p->is_orphan) && !pods_is_empty(pods, p);
	case DISCREPANCY_TERMINAL_POPULATED:
		return is_terminal(p) && has_container_left(pods, p);
	default:
		return false;
	}
}

static struct record_discrepancy *report_begin(struct pods *pods, enum discrepancy kind,
					       enum meta_source source, uint64_t since_ns)
{
	struct record *rec =
		output_record(pods->out, RECORD_DISCREPANCY, sizeof(pods->out->record.discrepancy),
			      pods->out->now_ns);
	struct record_discrepancy *r = &rec->discrepancy;

	pods->stats.discrepancies[kind]++;
	r->kind = kind;
	r->since_ns = since_ns;
	r->reported.source = source;
	return r;
}

static void report_state(struct pods *pods, const struct epod *p, enum discrepancy kind)
{
	uint64_t since_ns = p->truth.since_ns[kind];
	enum meta_source source = meta_lister(pods->names->sources, p->is_static);
	struct record_discrepancy *r = report_begin(pods, kind, source, since_ns);

	output_id(pods->out, p->uid, discrepancy_name(kind), since_ns, r->id);
	r->pod = subject_of(pods_meta(p), p->uid, p->qos, p->is_static);
	r->reported.listed = p->listed;
	if (p->listed) {
		r->reported.phase = (enum meta_phase)p->reported.phase;
		r->reported.ready = p->truth.ready;
	}
	r->kernel.populated = !pods_is_empty(pods, p);
	r->kernel.running = pods_running(pods, p);
	output_report(pods->out);
}

/* A pod that comes back under its uid, as static ones do, is listed again meanwhile: that it is
 * still gone is for another list to say. */
static bool is_confirmed(struct pods *pods, const struct epod *p, enum discrepancy kind,
			 uint64_t due_ns)
{
	enum meta_source source = meta_lister(pods->names->sources, p->is_static);

	if (kind != DISCREPANCY_OBJECT_GONE || pods->list_ns[source] >= due_ns)
		return true;
	names_query_pod(pods->names, pods_cgroups(p), due_ns);
	return false;
}

/* When to look at it again; 0: when something changes. */
static uint64_t weigh(struct pods *pods, struct epod *p, enum discrepancy kind, uint64_t at_ns)
{
	const uint32_t bit = DISCREPANCY_BIT(kind);
	uint64_t due_ns;

	if (!holds(pods, p, kind)) {
		if (p->truth.since_ns[kind])
			output_changed_pod(pods->out, p);
		p->truth.since_ns[kind] = 0;
		p->truth.open &= ~bit;
		return 0;
	}
	if (!p->truth.since_ns[kind]) {
		p->truth.since_ns[kind] = at_ns > p->first_ns ? at_ns : p->first_ns;
		output_changed_pod(pods->out, p);
	}
	if (p->truth.open & bit)
		return 0;
	due_ns = p->truth.since_ns[kind] + discrepancy_grace_ns(kind);
	if (pods->out->now_ns < due_ns)
		return due_ns;
	if (!is_confirmed(pods, p, kind, due_ns))
		return 0;
	p->truth.open |= bit;
	output_changed_pod(pods->out, p);
	report_state(pods, p, kind);
	return 0;
}

/* Asks until when it is Ready. When to do so again; 0: not. */
static uint64_t follow_ready(struct pods *pods, struct epod *p)
{
	uint64_t stop_ns = truth_ready_since(p);
	struct pod_cgroups *pod = pods_cgroups(p);

	if (!stop_ns || !pod || pods->out->now_ns >= stop_ns + READY_FOR_NS ||
	    !(pods->names->sources >> META_KUBELET & 1) ||
	    meta_lister(pods->names->sources, p->is_static) != META_KUBELET)
		return 0;
	if (pods->out->now_ns < p->list_ns + READY_AGAIN_NS)
		return p->list_ns + READY_AGAIN_NS;
	names_query_pod(pods->names, pod, 0);
	return pods->out->now_ns + READY_AGAIN_NS;
}

void truth_check(struct pods *pods, struct epod *p, uint64_t at_ns)
{
	uint64_t next_ns;

	measure(pods, p);
	next_ns = follow_ready(pods, p);
	for (int kind = 0; kind < DISCREPANCY_STATES; kind++) {
		uint64_t due_ns = weigh(pods, p, (enum discrepancy)kind, at_ns);

		if (due_ns && (!next_ns || due_ns < next_ns))
			next_ns = due_ns;
	}
	/* Without memory for a deadline it is looked at with the next list. */
	deadline_set(&pods->checks, &p->doubt, next_ns);
}

void truth_ended(struct pods *pods, const struct epod *p)
{
	if (truth_ready_since(p))
		names_query_pod(pods->names, pods_cgroups(p), pods->out->now_ns);
}

void truth_leave(struct pods *pods, struct epod *p)
{
	measure(pods, p);
	deadline_set(&pods->checks, &p->doubt, 0);
}

void truth_expire(struct pods *pods, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&pods->checks)) && first->at_ns <= now_ns)
		truth_check(pods, pod_of_due(first), now_ns);
}

/* --- exits ---------------------------------------------------------------------------------- */

static void report_exit(struct pods *pods, const struct podtab_container *c, enum discrepancy kind,
			enum meta_source source, const struct discrepancy_reported *reported)
{
	const struct exit_seen *exit = &c->exit;
	struct record_discrepancy *r = report_begin(pods, kind, source, exit->at_ns);

	snprintf(r->id, sizeof(r->id), "%s/%s/%llu/%s", pods->out->host.boot_id, c->of->name.first,
		 (unsigned long long)exit->start_ns, discrepancy_name(kind));
	subject_ended(pods->names, c, &r->pod, &r->container);
	r->reported.exit_code = reported->code;
	r->reported.reason = reported->reason;
	r->reported.finished_wall_ns = reported->finished_ns;
	r->kernel.exit =
		(struct record_exit){.known = true, .status = exit->status, .at_ns = exit->at_ns};
	r->kernel.exit_wall_ns = exit->wall_ns;
	if (exit->oom_victim || exit->oom_beside)
		r->kernel.oom = TRI_TRUE;
	else if (exit->oom_sure)
		r->kernel.oom = TRI_FALSE;
	output_report(pods->out);
}

static uint32_t compare(const struct pods *pods, const struct exit_seen *exit,
			const struct discrepancy_reported *as)
{
	struct discrepancy_reported reported = *as;

	reported.heard_ns = (int64_t)(pods->out->now_ns + (uint64_t)pods->out->host.wall_offset_ns);
	return discrepancy_of_exit(exit, &reported);
}

void pods_exit_reported(struct pods *pods, struct podtab_container *c, enum meta_source source,
			const struct discrepancy_reported *reported)
{
	struct epod *p;
	uint32_t bits;

	if (!c->ended || !c->exit.seen || c->again ||
	    (source != META_CRI && source != META_KUBELET && source != META_API))
		return;
	bits = compare(pods, &c->exit, reported) & ~c->differs;
	if (c->differs & DISCREPANCY_TIMES)
		bits &= ~(uint32_t)DISCREPANCY_TIMES;
	c->differs |= bits;
	for (int kind = DISCREPANCY_STATES; kind < DISCREPANCY_COUNT; kind++)
		if (bits & DISCREPANCY_BIT(kind))
			report_exit(pods, c, (enum discrepancy)kind, source, reported);
	p = pods_find(pods, c->pod_uid);
	if (!p || !(bits & ~p->truth.open))
		return;
	p->truth.open |= bits;
	output_changed_pod(pods->out, p);
}

void pods_exit_noted(struct pods *pods, struct podtab_container *c)
{
	if (c->known & META_CTR_EXIT)
		pods_exit_reported(pods, c, (enum meta_source)c->exit_from,
				   &(struct discrepancy_reported){.code = c->exit_code,
								  .reason = c->exit_reason,
								  .finished_ns =
									  c->finished_wall_ns});
}
