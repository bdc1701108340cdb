// SPDX-License-Identifier: Apache-2.0
/* Carries out the sequencer's effects: writes records, queries sources, and adds to actions which
 * container or pod each is about. */
#include <stdio.h>
#include <string.h>

#include "core/engine/sandbox.h"
#include "core/engine/shutdowns.h"
#include "core/engine/subject.h"

/* Longer than a source takes to answer or to give up: the question was lost. */
#define LOST_NS 15000000000ULL

/* --- records -------------------------------------------------------------------------------- */

static bool is_of_container(enum shutdown_report what)
{
	return what == SHUTDOWN_REPORT_LATE || what == SHUTDOWN_REPORT_OVERDUE ||
	       what == SHUTDOWN_REPORT_KILLED || what == SHUTDOWN_REPORT_SURVIVES;
}

static void name_it(const struct shutdowns *s, const struct shutdown_record *from, char *ret,
		    size_t n)
{
	const char *boot = s->out->host.boot_id, *what = shutdown_report_name(from->what);
	unsigned long long announced = from->announced_ns;

	if (is_of_container(from->what))
		snprintf(ret, n, "%s/shutdown/%llu/%s/%llu", boot, announced, what,
			 (unsigned long long)from->container.id);
	else if (from->what == SHUTDOWN_REPORT_GROUP_STARTED ||
		 from->what == SHUTDOWN_REPORT_GROUP_DONE)
		snprintf(ret, n, "%s/shutdown/%llu/%s/%u", boot, announced, what, from->group);
	else
		snprintf(ret, n, "%s/shutdown/%llu/%s/%llu", boot, announced, what,
			 (unsigned long long)from->at_ns);
}

static void fill_group(const struct shutdowns *s, struct record_shutdown *r)
{
	const struct shutplan *plan = &s->plan;

	if (r->step.group >= plan->n)
		return;
	r->group_known = true;
	r->group_priority = plan->groups[r->step.group].priority;
}

/* Its pod's names, if a source knows them. */
static void name_volume(const struct shutdowns *s, const struct shutdown_volume *volume,
			struct record_volume *ret)
{
	const struct podtab_pod *meta =
		*volume->pod_uid ? podtab_pod(&s->names->tab, volume->pod_uid) : NULL;

	*ret = (struct record_volume){
		.uid = volume->pod_uid,
		.namespace_ = meta ? meta->namespace_ : NULL,
		.pod = meta ? meta->name : NULL,
		.plugin = volume->plugin,
		.driver = volume->driver,
		.name = volume->name,
	};
}

static void report(struct shutdowns *s, const struct shutdown_record *from)
{
	struct record *rec = output_record(s->out, RECORD_SHUTDOWN, sizeof(s->out->record.shutdown),
					   from->at_ns);
	struct record_shutdown *r = &rec->shutdown;
	const struct cgnode *node;

	r->step = *from;
	name_it(s, from, r->id, sizeof(r->id));
	fill_group(s, r);
	for (size_t i = 0; i < from->n_volumes_listed; i++)
		name_volume(s, &from->volumes[i], &r->volumes[i]);
	node = is_of_container(from->what) ? cgmap_get(s->map, from->container.id) : NULL;
	if (node) {
		subject_pod(s->names, node, &r->pod);
		subject_container(s->names, node, &r->container);
	}
	output_report(s->out);
}

/* --- statuses of pods ------------------------------------------------------------------------ */

static enum meta_source source_of(const struct shutdowns *s, const char *uid)
{
	const struct epod *p = pods_find(s->pods, uid);

	return meta_lister(s->names->sources, p ? p->is_static : meta_is_static_uid(uid));
}

static void query_status(struct shutdowns *s, const char *uid)
{
	enum meta_source source = source_of(s, uid);
	struct shutdowns_question *q = &s->questions[source];

	if (strlen(uid) >= sizeof(q->uid) || (q->uid[0] && s->out->now_ns < q->at_ns + LOST_NS))
		return;
	if (!names_query_status(s->names, uid, source))
		return;
	strcpy(q->uid, uid);
	q->at_ns = s->out->now_ns;
}

/* --- actions --------------------------------------------------------------------------------- */

static void name_container(const struct shutdowns *s, const struct cgnode *node, struct effect *e)
{
	snprintf(e->container_id, sizeof(e->container_id), "%s", node->ident.container_id);
	e->runtime = podtab_runtime(names_container(s->names, node), node->ident.runtime);
}

/* What an edge needs to find the container besides its cgroup. */
static void act(struct shutdowns *s, const struct effect *wanted)
{
	struct cgnode *node = wanted->id ? cgmap_get(s->map, wanted->id) : NULL;
	struct stop *stop = node ? stop_in(node) : NULL;
	struct effect effect = *wanted;

	if (node && (effect.type == EFFECT_STOP || effect.type == EFFECT_SIGNAL)) {
		name_container(s, node, &effect);
		strcpy(effect.pod_uid, node->pod ? node->pod->uid : "");
		effect.pid = stop ? stop->init.pid : 0;
		effect.start_ns = stop ? stop->init.start_ns : 0;
	}
	if (stop && effect.deaf)
		stop->hearing |= STOP_DEAF_GRACE;
	if (node)
		output_changed(s->out, node);
	output_effect(s->out, &effect);
}

/* CRI-O may run a sandbox without a process. */
static bool is_sandbox(const struct shutdowns *s, const struct cgnode *node)
{
	return !node->removed &&
	       (node->ident.kind == CGPATH_SANDBOX || sandbox_of(s->names, node) == SANDBOX_KNOWN);
}

static void stop_sandbox(struct shutdowns *s, const struct effect *wanted)
{
	const struct pod_cgroups *pod = cgmap_pod(s->map, wanted->pod_uid);
	const struct cgnode *node, *sandbox = NULL;
	struct effect effect = *wanted;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (is_sandbox(s, node) && (!sandbox || node->populated))
				sandbox = node;
	if (sandbox) {
		effect.id = sandbox->id;
		name_container(s, sandbox, &effect);
	}
	output_effect(s->out, &effect);
}

void shutdowns_take_effect(void *userdata, const struct effect *effect)
{
	struct shutdowns *s = userdata;

	if (effect->type == EFFECT_WAKE_AT)
		s->wake_ns = effect->at_ns;
	else if (effect->type == EFFECT_REPORT)
		report(s, effect->step);
	else if (effect->type == EFFECT_FIND_POD)
		query_status(s, effect->pod_uid);
	else if (effect->type == EFFECT_STOP_SANDBOX)
		stop_sandbox(s, effect);
	else
		act(s, effect);
}
