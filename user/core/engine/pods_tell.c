// SPDX-License-Identifier: Apache-2.0
/* Reports the transitions of pods; shows and counts them. */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "core/engine/pods_priv.h"

/* The kubelet takes 1 s where nothing is known, which would be no truth about the pod. */
static struct grace grace_of_pod(const struct epod *p)
{
	const int64_t grace_s = p->life.grace_s;
	bool deletion = p->word.known & META_POD_DELETION_GRACE;
	struct grace grace = {};

	if (grace_s <= 0 || !(deletion || p->word.known & META_POD_GRACE))
		return grace;
	grace.ns = (uint64_t)grace_s * NS_PER_S;
	grace.from = deletion && p->word.deletion_grace_ns / NS_PER_S <= (uint64_t)grace_s
			     ? GRACE_DELETION
			     : GRACE_SPEC;
	return grace;
}

static uint64_t deadline_of(const struct epod *p, const struct grace *grace)
{
	uint64_t at_ns;

	if (!grace_known(grace) || !p->terminating_ns ||
	    __builtin_add_overflow(p->terminating_ns, grace->ns, &at_ns))
		return 0;
	return at_ns;
}

void pods_fill(const struct pods *pods, const struct epod *p, struct record_pod *ret)
{
	const struct podtab_pod *meta = podtab_pod(&pods->names->tab, p->uid);

	*ret = (struct record_pod){
		.known = true,
		.namespace_ = meta ? meta->namespace_ : NULL,
		.name = meta ? meta->name : NULL,
		.workload = meta ? meta->workload : NULL,
		.uid = p->uid,
		.qos = p->qos,
		.is_static = p->is_static,
	};
}

/* What is not known between two answers is left out. */
static void fill_end(const struct epod *p, struct record_pod_state *r)
{
	r->grace = grace_of_pod(p);
	if (p->terminating_between) {
		r->gaps |= 1u << GAP_TIME_UNCERTAIN;
	} else {
		r->deadline_ns = deadline_of(p, &r->grace);
		r->terminating_ns = p->terminating_ns;
	}
	r->exit_ns = p->exit_ns;
	if (r->state >= POD_STAGE_TERMINATED && p->empty_seen)
		r->empty_ns = p->empty_ns;
	if (r->state >= POD_STAGE_FINISHED)
		r->removed_ns = p->removed_ns;
}

/* What at_boot_ns lacks to be when it happened. */
static uint32_t state_gaps(const struct pods *pods, const struct epod *p, enum pod_stage state,
			   enum pod_trigger trigger)
{
	if (trigger == POD_RESTART)
		return 1u << GAP_DAEMON_DOWN;
	if (trigger == POD_STARTED && state == POD_STAGE_SYNC)
		return p->first_ns < pods->out->attached_ns ? 1u << GAP_ATTACHED_LATE : 0;
	return p->between ? 1u << GAP_TIME_UNCERTAIN : 0;
}

static void report(struct pods *pods, const struct epod *p, enum pod_stage state,
		   enum pod_trigger trigger, uint64_t at_ns)
{
	struct record *rec =
		output_record(pods->out, RECORD_POD, sizeof(pods->out->record.pod_state), at_ns);
	struct record_pod_state *r = &rec->pod_state;

	snprintf(r->id, sizeof(r->id), "%s/%s/%s/%llu", pods->out->host.boot_id, p->uid,
		 pod_stage_name(state), (unsigned long long)at_ns);
	pods_fill(pods, p, &r->pod);
	r->state = state;
	r->previous = p->told;
	r->trigger = trigger;
	r->at_ns = at_ns;
	r->gaps = state_gaps(pods, p, state, trigger);
	if (state >= POD_STAGE_TERMINATING)
		fill_end(p, r);
	pods->stats.states[state]++;
	output_report(pods->out);
}

/* Whether somebody was asked what it is called, and has yet to answer. */
static bool awaits_name(const struct pods *pods, const struct epod *p)
{
	const struct podtab_pod *meta = podtab_pod(&pods->names->tab, p->uid);
	const struct pod *pod = pods_cgroups(pods, p);
	const struct cgnode *node;

	if (!pod || (meta && meta->name))
		return false;
	LIST_FOREACH(node, &pod->nodes, in_pod)
		if (node->names == NAMES_ASKED)
			return true;
	return false;
}

void pods_release(struct pods *pods, struct epod *p, bool now)
{
	if (!p->held || (!now && (!pods->out->attached || awaits_name(pods, p))))
		return;
	p->held = false;
	output_changed_pod(pods->out, p);
	report(pods, p, POD_STAGE_SYNC, POD_STARTED, p->first_ns);
	p->told = POD_STAGE_SYNC;
}

void pods_named(struct pods *pods, const char *uid)
{
	struct epod *p = pods_find(pods, uid);

	if (p)
		pods_release(pods, p, false);
}

void pods_release_held(struct pods *pods, bool all)
{
	struct epod *p;

	TAILQ_FOREACH(p, &pods->all, all)
		pods_release(pods, p, all);
}

void pods_report_held(struct pods *pods)
{
	pods_release_held(pods, false);
}

void pods_arrived(struct pods *pods, struct epod *p)
{
	const enum pod_stage stage = p->life.stage;

	p->since_ns = p->trigger_ns;
	output_changed_pod(pods->out, p);
	/* When what ended during a restart began to do so nobody knows. */
	if (stage >= POD_STAGE_TERMINATING && !p->terminating_ns && p->trigger != POD_RESTART) {
		p->terminating_ns = p->trigger_ns;
		p->terminating_between = p->between;
	}
	/* The end of a life that was no end was told when it was concluded. */
	if (p->reborn && p->by_kernel)
		return;
	if (p->held && stage == POD_STAGE_SYNC) {
		pods_release(pods, p, false);
		return;
	}
	pods_release(pods, p, true);
	report(pods, p, stage, p->trigger, p->trigger_ns);
	p->told = stage;
	if (stage >= POD_STAGE_TERMINATED)
		truth_ended(pods, p);
}

static void count_containers(const struct pods *pods, const struct epod *p, struct podview *ret)
{
	const struct pod *pod = pods_cgroups(pods, p);
	const struct cgnode *node;

	if (!pod)
		return;
	LIST_FOREACH(node, &pod->nodes, in_pod) {
		bool runs = node->stop && stop_is_running(node->stop);

		if (node->kind != GRACED_WATCH_CONTAINER || node->removed)
			continue;
		if (pods_is_sandbox(pods, node)) {
			ret->sandbox_running |= runs;
			continue;
		}
		ret->containers++;
		ret->running += runs;
	}
}

static void view(const struct pods *pods, const struct epod *p, struct podview *ret)
{
	const struct podtab_pod *meta = podtab_pod(&pods->names->tab, p->uid);
	struct grace grace = {};

	if (p->life.stage >= POD_STAGE_TERMINATING)
		grace = grace_of_pod(p);
	*ret = (struct podview){
		.uid = p->uid,
		.namespace_ = meta ? meta->namespace_ : NULL,
		.name = meta ? meta->name : NULL,
		.workload = meta ? meta->workload : NULL,
		.qos = p->qos,
		.stage = p->life.stage,
		.first_ns = p->first_ns,
		.since_ns = p->since_ns,
		.grace_ns = grace.ns,
		.deadline_ns = deadline_of(p, &grace),
		.desired = p->listed,
		.is_static = p->is_static,
		.deleting = p->word.deleting,
		.ready_known = p->truth.ready != TRI_UNKNOWN,
		.ready = p->truth.ready == TRI_TRUE,
		.ready_stop_ns = truth_ready_since(p),
		.discrepancies = p->truth.open,
	};
	count_containers(pods, p, ret);
}

void pods_each(const struct pods *pods, void (*fn)(void *userdata, const struct podview *pod),
	       void *userdata)
{
	const struct epod *p;
	struct podview one;

	TAILQ_FOREACH(p, &pods->all, all) {
		view(pods, p, &one);
		fn(userdata, &one);
	}
}

void pods_count(const struct pods *pods, struct pod_counts *ret)
{
	const struct epod *p;

	*ret = (struct pod_counts){
		.restarted = {pods->restarted[0], pods->restarted[1]},
		.orphaned = pods->orphaned,
	};
	TAILQ_FOREACH(p, &pods->all, all) {
		enum pod_stage stage =
			p->life.stage < POD_STAGE_TERMINATED ? p->life.stage : POD_STAGE_TERMINATED;
		enum pod_config config = POD_ORPHAN;

		if (p->listed) {
			config = POD_DESIRED;
			ret->desired[p->is_static]++;
			ret->active[p->is_static] += p->life.stage < POD_STAGE_TERMINATED;
		} else if (!p->was_listed) {
			config = POD_RUNTIME_ONLY;
		}
		ret->working[stage][config][p->is_static && config != POD_RUNTIME_ONLY]++;
	}
}
