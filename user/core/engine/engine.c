// SPDX-License-Identifier: Apache-2.0
/* The engine: passes each observation to the rooms. */
#include "core/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/checkpoint.h"
#include "core/engine/pods.h"
#include "core/engine/sandbox.h"
#include "core/engine/shutdowns.h"
#include "core/engine/stops.h"
#include "core/engine/subject.h"

#define KIND_GUESSED UINT32_MAX /* no kind: what was found out is reported in any case */

struct engine {
	struct engine_config config;
	struct output out;
	struct cgmap map;
	struct names names;
	struct stops stops;
	struct pods pods;
	struct shutdowns shutdowns;
	struct checkpoint checkpoint;
	struct engine_stats stats;
	uint64_t wake_ns; /* last EFFECT_WAKE_AT */

	struct obs_lost lost;
	uint64_t containers_found;
};

int engine_new(const struct engine_config *config, struct engine **ret)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->config = *config;
	e->out.marks.map = &e->map;
	e->out.marks.pods = &e->pods;
	e->map.max_nodes = config->max_containers;
	e->map.nested_nodes = config->nested_nodes;
	e->map.roots = config->container_roots;
	e->map.services = config->scope >= SCOPE_SERVICES;
	e->names.map = &e->map;
	e->names.tab.pods = &e->map.pods;
	e->names.tab.containers = &e->map.containers;
	e->names.out = &e->out;
	e->names.sources = config->sources;
	e->stops = (struct stops){
		.map = &e->map,
		.names = &e->names,
		.pods = &e->pods,
		.out = &e->out,
		.given = &e->shutdowns.given,
		.pods_only = config->scope == SCOPE_PODS,
		.all_processes = config->scope == SCOPE_ALL,
		.assumed_grace_ns = config->assumed_grace_ns,
		.helpers = config->helpers,
		.name_wait_ns = config->name_wait_ns,
	};
	e->shutdowns = (struct shutdowns){
		.map = &e->map,
		.names = &e->names,
		.stops = &e->stops,
		.pods = &e->pods,
		.out = &e->out,
	};
	e->checkpoint = (struct checkpoint){
		.map = &e->map,
		.names = &e->names,
		.stops = &e->stops,
		.pods = &e->pods,
		.shutdowns = &e->shutdowns,
		.out = &e->out,
	};
	pods_init(&e->pods, &e->map, &e->names, &e->out);
	*ret = e;
	return 0;
}

struct engine *engine_free(struct engine *e)
{
	if (!e)
		return NULL;
	pods_done(&e->pods);
	checkpoint_done(&e->checkpoint);
	marks_done(&e->out.marks);
	shutdowns_done(&e->shutdowns);
	stops_done(&e->stops);
	podtab_done(&e->names.tab);
	cgmap_done(&e->map);
	free(e);
	return NULL;
}

/* Below a container, no room (counted there), or an id that cannot be. */
static int refused(struct engine *e, int r)
{
	e->stats.unexpected += r == -EINVAL;
	return r == -ENOMEM ? r : 0;
}

/* The id is another cgroup's now. */
static void leave_id(struct engine *e, uint64_t id)
{
	struct cgnode *node = cgmap_get(&e->map, id);

	if (node && node->stop && !stop_in(node))
		stops_leave_id(&e->stops, node);
}

static struct cgmap_new new_of(const struct obs_cgroup *cg)
{
	return (struct cgmap_new){.id = cg->id,
				  .parent_id = cg->parent_id,
				  .delegated_level = cg->delegated_level,
				  .name = cg->path};
}

static int on_cgroup_new(struct engine *e, const struct obs *obs)
{
	const struct obs_cgroup *cg = &obs->cgroup;
	const struct cgmap_new made = new_of(cg);
	struct cgnode *node;
	int r;

	leave_id(e, cg->id);
	resume_leave(&e->checkpoint, cg, false);
	r = cgmap_add_child(&e->map, &made, &node);
	if (r == -ENOENT) {
		/* The parent's record was lost; the path is asked for by id. */
		output_find_cgroup(&e->out, cg->id);
		return 0;
	}
	if (r < 0)
		return refused(e, r);
	/* The runtime puts a process into it at once, and before that has an init. */
	node->populated |= !node->stop && node->kind == GRACED_WATCH_CONTAINER;
	return stops_cgroup_known(&e->stops, node, cg->kind);
}

static int on_cgroup_found(struct engine *e, const struct obs *obs)
{
	const struct obs_cgroup *cg = &obs->cgroup;
	const struct cgmap_new found = new_of(cg);
	struct cgnode *node;
	bool is_new;
	int r;

	leave_id(e, cg->id);
	resume_leave(&e->checkpoint, cg, true);
	r = cgmap_add_path(&e->map, &found, &node);
	if (r < 0)
		return refused(e, r);
	if (node->kept) {
		node->kept = false;
		e->containers_found += node->kind == GRACED_WATCH_CONTAINER;
	}
	is_new = node->kind == GRACED_WATCH_CONTAINER && !node->stop;
	if (is_new) {
		e->containers_found += !e->out.attached;
		node->populated |= e->out.attached;
	}
	/* A look-up: the kernel half had to guess without the name. */
	r = stops_cgroup_known(&e->stops, node, e->out.attached ? KIND_GUESSED : cg->kind);
	/* All of its records may have been lost, up to its end. */
	if (is_new && e->out.attached && node->stop)
		output_read_counts(&e->out, node->id);
	return r;
}

/* A container all of whose records were lost: left are its counts, and what the kernel half took it
 * for by its name. *ret stays as it is where that is not sure, or where nothing ran in it. */
static int add_lost(struct engine *e, const struct obs_empty *gone, struct cgnode **ret)
{
	struct cgnode *node;
	int r;

	if (!cgmap_trusts_name(&e->map, gone->kind) || !gone->counts.exits || !gone->counts.lost)
		return 0;
	r = cgmap_add_unknown(&e->map, gone->id, &node);
	if (r < 0)
		return refused(e, r);
	node->kind = gone->kind;
	cgmap_join_pod(node, cgmap_get(&e->map, gone->owner_id));
	r = stops_cgroup_known(&e->stops, node, 0);
	if (r < 0)
		cgmap_remove(&e->map, gone->id);
	else
		*ret = node;
	return r;
}

static int on_cgroup_gone(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->empty.id);
	int r = node ? 0 : add_lost(e, &obs->empty, &node);

	if (r < 0 || !node)
		return r;
	sandbox_settle(&e->names, node);
	if (node->stop) {
		/* In an older recording a removal whose record was lost has no counts. */
		if (node->stop->before.exits + obs->empty.counts.exits >= node->stop->counts.exits)
			stop_count(node->stop, &obs->empty.counts);
		if (!stops_gone(&e->stops, node->stop)) {
			pods_removed(&e->pods, node, obs->at_ns);
			shutdowns_forget_container(&e->shutdowns, node);
			return 0;
		}
		node->stop = stop_free(&e->map, &e->stops.deadlines, node->stop);
	}
	pods_removed(&e->pods, node, obs->at_ns);
	output_changed(&e->out, node);
	shutdowns_forget_container(&e->shutdowns, node);
	cgmap_remove(&e->map, obs->empty.id);
	return 0;
}

static int on_cgroup_empty(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->empty.id);

	if (!node)
		return 0;
	if (stop_in(node)) {
		stop_count(node->stop, &obs->empty.counts);
		stops_left(&e->stops, node->stop, obs->empty.left_pid, obs->at_ns);
	}
	pods_emptied(&e->pods, node, obs->at_ns, true);
	return 0;
}

static void report_attached(struct engine *e, uint64_t at_ns)
{
	struct record *rec =
		output_record(&e->out, RECORD_ATTACHED, sizeof(e->out.record.attached), at_ns);

	rec->attached.hierarchy = e->out.host.hierarchy;
	rec->attached.programs = e->out.host.programs;
	rec->attached.containers = e->containers_found;
	rec->attached.pods = e->map.n_pods > 0;
	output_report(&e->out);
}

static int on_attached(struct engine *e, const struct obs *obs)
{
	e->out.host = obs->attached;
	e->out.attached_ns = obs->at_ns;
	report_attached(e, obs->at_ns);
	resume_settle(&e->checkpoint);
	e->out.attached = true;
	/* Whatever is kept from now on is of this boot. */
	e->out.marks.all = e->out.marks.on;
	pods_report_held(&e->pods);
	return 0;
}

static int on_clock(struct engine *e, const struct obs *obs)
{
	e->out.host.wall_offset_ns = obs->clock.wall_offset_ns;
	return 0;
}

static void report_lost(struct engine *e, uint64_t at_ns, const struct obs_lost *lost)
{
	struct record *rec = output_record(&e->out, RECORD_LOST, sizeof(e->out.record.lost), at_ns);

	memcpy(rec->lost.totals, lost->totals, sizeof(rec->lost.totals));
	rec->lost.recursion_misses = lost->recursion_misses;
	output_report(&e->out);
}

static int on_lost(struct engine *e, const struct obs *obs)
{
	if (memcmp(&e->lost, &obs->lost, sizeof(e->lost)) == 0)
		return 0;
	if (obs->lost.recursion_misses > e->lost.recursion_misses) {
		stops_missed(&e->stops, obs->at_ns);
	}
	e->lost = obs->lost;
	shutdowns_lost(&e->shutdowns, &obs->lost);
	report_lost(e, obs->at_ns, &obs->lost);
	return 0;
}

static void forget_pods(struct engine *e)
{
	const struct epod *p;

	TAILQ_FOREACH(p, &e->pods.forgotten, all)
		shutdowns_forget_pod(&e->shutdowns, p->uid);
	pods_bury(&e->pods);
}

static int on_timer(struct engine *e, const struct obs *obs)
{
	stops_expire(&e->stops, obs->at_ns);
	pods_expire(&e->pods, obs->at_ns);
	forget_pods(e);
	shutdowns_expire(&e->shutdowns, obs->at_ns);
	return 0;
}

static int on_end(struct engine *e, const struct obs *obs)
{
	stops_end(&e->stops, obs->at_ns);
	pods_end(&e->pods);
	return 0;
}

static int on_identity(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->identity.id);
	int r;

	if (!node || node->stop)
		return 0;
	if (!obs->identity.container_id[0]) {
		output_set_watch(&e->out, node);
		return 0;
	}
	r = cgmap_identify(&e->map, node, obs->identity.container_id,
			   (enum cgpath_runtime)obs->identity.runtime);
	e->stats.unexpected += r == -EINVAL;
	if (r < 0) {
		output_set_watch(&e->out, node);
		return r == -ENOMEM ? r : 0;
	}
	return stops_cgroup_known(&e->stops, node, GRACED_WATCH_BRANCH);
}

static int on_pod(struct engine *e, const struct obs *obs)
{
	int r = names_take_pod(&e->names, &obs->pod, obs->at_ns);

	names_age(&e->names);
	e->stats.unexpected += r == -EINVAL;
	stops_renew_pod(&e->stops, obs->pod.uid);
	pods_described(&e->pods, &obs->pod);
	pods_named(&e->pods, obs->pod.uid);
	return r == -ENOMEM ? r : 0;
}

static int on_container(struct engine *e, const struct obs *obs)
{
	const struct meta_container *meta = &obs->container;
	int r = names_take_container(&e->names, meta, obs->at_ns);
	struct podtab_container *c;
	struct cgnode *node;

	names_age(&e->names);
	e->stats.unexpected += r == -EINVAL;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	node = names_described(&e->names, meta);
	if (node)
		stops_described(&e->stops, node);
	/* What a user's engine says is not about a pod's container of that id. */
	if (!meta->id[0] || meta->user)
		return 0;
	c = podtab_container(&e->names.tab, meta->id);
	if (!c)
		return 0;
	stops_compare_exit(&e->stops, c);
	stops_compare_restart(&e->stops, c);
	if (meta->known & META_CTR_EXIT)
		pods_exit_reported(&e->pods, c, (enum meta_source)meta->source,
				   &(struct discrepancy_reported){.code = meta->exit_code,
								  .reason = meta->exit_reason,
								  .finished_ns =
									  meta->finished_wall_ns});
	return 0;
}

static void pod_answered(struct engine *e, const struct obs_names *n)
{
	struct pod_cgroups *pod = cgmap_pod(&e->map, n->pod_uid);
	struct cgnode *node;

	if (!pod)
		return;
	pod->queries -= pod->queries > 0;
	/* A question that is overtaken by a newer one ends without an answer. */
	if (!pod->queries) {
		pod->lapse = names_lapse_of(n);
		pod->answered = true;
	}
	LIST_FOREACH(node, &pod->nodes, in_pod)
		if (node->stop)
			stops_named(&e->stops, node->stop);
}

static void container_answered(struct engine *e, const struct obs_names *n)
{
	const struct podtab_container *c;
	struct cgnode *node;

	node = n->id ? cgmap_get(&e->map, n->id) : cgmap_by_container_id(&e->map, n->container_id);
	if (!cgnode_is_container(node))
		return;
	c = names_container(&e->names, node);
	node->names = podtab_is_named(c) ? NAMES_KNOWN : NAMES_ABSENT;
	node->lapse = names_lapse_of(n);
	if (node->pod)
		node->cgroups->names_lapse = node->lapse;
	if (node->stop)
		stops_named(&e->stops, node->stop);
	if (cgmap_pod_of(&e->map, node))
		pods_named(&e->pods, node->pod->uid);
}

static int on_listed(struct engine *e, const struct obs *obs)
{
	const struct obs_listed *l = &obs->listed;
	int r = pods_on_listed(&e->pods, obs);

	names_listed(&e->names, (enum meta_source)l->source, l->asked_ns);
	return r;
}

static int on_names(struct engine *e, const struct obs *obs)
{
	const struct obs_names *n = &obs->names;
	int r = n->found ? names_take_answer(&e->names, n, obs->at_ns) : 0;

	names_age(&e->names);
	if (n->more)
		return r;
	/* Who asked about the pod may still wait for the container's name. */
	if (n->pod_uid[0] && !n->container_id[0])
		pod_answered(e, n);
	else
		container_answered(e, n);
	return r;
}

/* Passes it to the one room that takes it. */
static int hand_on(struct engine *e, const struct obs *obs)
{
	switch (obs->type) {
	case OBS_INIT:
		return stops_on_init(&e->stops, obs);
	case OBS_NO_INIT:
		return stops_on_no_init(&e->stops, obs);
	case OBS_SIGNAL:
		return stops_on_signal(&e->stops, obs);
	case OBS_EXIT:
		return stops_on_exit(&e->stops, obs);
	case OBS_OOM:
		return stops_on_oom(&e->stops, obs);
	case OBS_COUNTS:
		return stops_on_counts(&e->stops, obs);
	case OBS_PROBE:
		return stops_on_probe(&e->stops, obs);
	case OBS_LOOK:
		return stops_on_look(&e->stops, obs);
	case OBS_LOOKED:
		return stops_on_looked(&e->stops, obs);
	case OBS_REAPED:
		return stops_on_reaped(&e->stops, obs);
	case OBS_TAKEN:
		return stops_on_taken(&e->stops, obs);
	case OBS_SHED:
		return stops_on_shed(&e->stops, obs);
	case OBS_SHUTDOWN_PLAN:
		return shutdowns_on_plan(&e->shutdowns, obs);
	case OBS_SHUTDOWN:
		return shutdowns_on_event(&e->shutdowns, obs);
	case OBS_VOLUME:
		return shutdowns_on_volume(&e->shutdowns, obs);
	case OBS_SHUTDOWN_RULE:
		shutdowns_on_rule(&e->shutdowns, obs);
		return 0;
	default:
		e->stats.unexpected++;
		return 0;
	}
}

/* What concerns several rooms. */
static int (*const handlers[OBS_TYPE_COUNT])(struct engine *e, const struct obs *obs) = {
	[OBS_ATTACHED] = on_attached,
	[OBS_CGROUP_NEW] = on_cgroup_new,
	[OBS_CGROUP_FOUND] = on_cgroup_found,
	[OBS_CGROUP_GONE] = on_cgroup_gone,
	[OBS_CGROUP_EMPTY] = on_cgroup_empty,
	[OBS_NAMES] = on_names,
	[OBS_LOST] = on_lost,
	[OBS_CLOCK] = on_clock,
	[OBS_TIMER] = on_timer,
	[OBS_END] = on_end,
	[OBS_POD] = on_pod,
	[OBS_CONTAINER] = on_container,
	[OBS_IDENTITY] = on_identity,
	[OBS_LISTED] = on_listed,
};

/* 0 is never. */
static uint64_t sooner(uint64_t at_ns, uint64_t other_ns)
{
	return !at_ns || (other_ns && other_ns < at_ns) ? other_ns : at_ns;
}

static void emit_wake(struct engine *e)
{
	uint64_t at = deadline_first_ns(&e->stops.deadlines);

	at = sooner(at, deadline_first_ns(&e->pods.checks));
	at = sooner(at, deadline_first_ns(&e->pods.unexplained));
	at = sooner(at, e->shutdowns.wake_ns);
	if (at == e->wake_ns)
		return;
	e->wake_ns = at;
	output_effect(&e->out, &(struct effect){.type = EFFECT_WAKE_AT, .at_ns = at});
}

int engine_step(struct engine *e, const struct obs *obs, effect_fn fn, void *userdata)
{
	int r;

	e->stats.observations++;
	e->out.now_ns = obs->at_ns;
	e->out.fn = fn;
	e->out.userdata = userdata;
	if ((unsigned)obs->type >= OBS_TYPE_COUNT)
		r = hand_on(e, obs);
	else if (resume_is_done(&e->checkpoint) || !resume_takes(&e->checkpoint, obs, &r))
		r = handlers[obs->type] ? handlers[obs->type](e, obs) : hand_on(e, obs);
	checkpoint_mark_by(&e->checkpoint, obs);
	forget_pods(e);
	shutdowns_saw(&e->shutdowns, obs);
	stops_bury(&e->stops);
	emit_wake(e);
	return r;
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
		if (stop->idle_ns + STOPS_INIT_NS <= now_ns)
			fn(userdata, node->id);
	}
}

void engine_each_container(const struct engine *e, engine_container_fn fn, void *userdata)
{
	const struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos))) {
		struct engine_running running = {.id = node->id, .kind = node->kind};

		if (!node->stop || !stop_is_running(node->stop) ||
		    (e->stops.pods_only && !node->pod))
			continue;
		running.start_ns = node->stop->init.start_ns;
		running.pid = node->stop->init.pid;
		running.ns_pid = node->stop->init.ns_pid;
		running.guessed = node->stop->guessed;
		running.stopping = node->stop->state != STOP_RUNNING;
		running.stop_signal = names_stop_signal(&e->names, node);
		running.unanswered = names_is_querying(&e->names, node);
		running.unnamed = node->names == NAMES_ABSENT;
		subject_pod(&e->names, node, &running.pod);
		subject_container(&e->names, node, &running.container);
		running.lapse = names_lapse(&e->names, node,
					    running.container.kind == CONTAINER_KIND_SANDBOX);
		fn(userdata, &running);
	}
}

void engine_each_stopping(struct engine *e, engine_stop_fn fn, void *userdata)
{
	const struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos))) {
		const struct stop *stop = node->stop;
		struct record_stop record = {};

		if (!stop || (stop->state != STOP_REQUESTED && stop->state != STOP_KILLED) ||
		    (e->stops.pods_only && !node->pod))
			continue;
		stops_fill(&e->stops, stop, &record);
		stops_fill_members(&e->stops, stop, true, &record);
		fn(userdata, &record);
	}
}

bool engine_get_cgroup(const struct engine *e, uint64_t id, struct engine_cgroup *ret)
{
	const struct cgnode *node = cgmap_get(&e->map, id);

	if (!node)
		return false;
	*ret = (struct engine_cgroup){.is_container = cgnode_is_container(node)};
	if (!ret->is_container)
		return true;
	ret->is_known_pod = cgmap_pod_of(&e->map, node);
	ret->is_sandbox = sandbox_of(&e->names, node) == SANDBOX_KNOWN;
	subject_pod(&e->names, node, &ret->pod);
	subject_container(&e->names, node, &ret->container);
	return true;
}

const char *engine_cgroup_path(const struct engine *e, uint64_t id)
{
	const struct cgnode *node = cgmap_get(&e->map, id);

	return node ? node->path : NULL;
}

void engine_pods_each(const struct engine *e, engine_pod_fn fn, void *userdata)
{
	pods_each(&e->pods, fn, userdata);
}

void engine_pods_count(const struct engine *e, struct pod_counts *ret)
{
	pods_count(&e->pods, ret);
}

void engine_get_stats(const struct engine *e, struct engine_stats *ret)
{
	*ret = e->stats;
	ret->kept_refused = e->checkpoint.resume.refused;
	ret->unexpected += e->stops.stats.unexpected + e->shutdowns.unexpected;
	ret->stops = e->stops.stats.stops;
	ret->inits_not_found = e->stops.stats.inits_not_found;
	ret->procs_forgotten = e->stops.stats.procs_forgotten;
	ret->cgroups = e->map.nodes.count;
	ret->cgroups_refused = e->map.refused;
	ret->pods = e->map.n_pods;
	ret->pods_refused = e->pods.stats.refused;
	memcpy(ret->pod_states, e->pods.stats.states, sizeof(ret->pod_states));
	memcpy(ret->discrepancies, e->pods.stats.discrepancies, sizeof(ret->discrepancies));
	ret->pods_described = e->names.tab.n_pods;
	ret->containers_described = e->names.tab.n_containers;
	ret->names_refused = e->names.tab.refused;
}

bool engine_has_changed(const struct engine *e)
{
	return checkpoint_has_changed(&e->checkpoint);
}

void engine_keep(struct engine *e, bool all, engine_obs_fn fn, void *userdata)
{
	checkpoint_write(&e->checkpoint, all, fn, userdata);
}

bool engine_in_shutdown(const struct engine *e)
{
	return e->shutdowns.going;
}

bool engine_get_shutdown(const struct engine *e, struct shutdown_status *ret,
			 struct shutdown_stats *ret_stats)
{
	return shutdowns_get(&e->shutdowns, ret, ret_stats);
}

size_t engine_get_shutdown_groups(const struct engine *e, struct engine_shutdown_group *ret,
				  size_t max)
{
	return shutdowns_get_groups(&e->shutdowns, ret, max);
}

bool engine_get_ending(const struct engine *e, const char *pod_uid, struct kubelet_ending *ret)
{
	return shutdowns_get_ending(&e->shutdowns, pod_uid, ret);
}

void engine_each_planned(const struct engine *e, engine_planned_fn fn, void *userdata)
{
	shutdowns_each_planned(&e->shutdowns, fn, userdata);
}

size_t engine_count_cut_short(const struct engine *e)
{
	return shutdowns_count_cut_short(&e->shutdowns);
}

void engine_get_evidence(const struct engine *e, struct engine_evidence *ret)
{
	const struct cgnode *node;

	*ret = (struct engine_evidence){
		.complete = e->out.attached,
		.lost = e->shutdowns.evidence.lost || e->map.refused > 0,
	};
	for (size_t i = 0; (node = map_next(&e->map.nodes, &i));)
		ret->pods += node->pod && !node->removed;
}
