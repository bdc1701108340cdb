// SPDX-License-Identifier: Apache-2.0
/* What is noted of pods and their containers to the sequencer, by what the engine knows of them. */
#include "core/engine/shutdowns.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "core/engine/engine.h"
#include "core/engine/sandbox.h"

void shutdowns_note(struct shutdowns *s, const struct shutdown_event *event)
{
	s->unjudged |= shutdown_note(s->sequencer, event) > 0;
}

static struct seconds seconds_of(bool known, uint64_t ns)
{
	return (struct seconds){.set = known, .s = (int64_t)(ns / NS_PER_S)};
}

/* Whether some source provides the status of such a pod. */
static bool is_listed(const struct shutdowns *s, bool is_static)
{
	return s->names->sources >> meta_lister(s->names->sources, is_static) & 1;
}

/* --- pods ----------------------------------------------------------------------------------- */

static uint32_t group_of(const struct shutdowns *s, const char *uid, bool is_static)
{
	return (uint32_t)given_group(&s->plan, podtab_pod(&s->names->tab, uid), is_static);
}

/* It has no object, or none any more, or one that says that the pod is over and not Ready. Without
 * that condition it is not Ready either: a kubelet of 1.20 writes none for what it ends in a
 * shutdown. */
static bool has_ended(const struct shutdowns *s, const struct epod *p)
{
	if (!p->listed)
		return p->was_listed || pods_is_missing(s->pods, p);
	return meta_phase_is_terminal(p->reported.phase) && p->truth.ready != TRI_TRUE;
}

/* The kube-apiserver's own pod: once it stops, the API cannot be queried. */
static bool is_api_server(const struct shutdowns *s, const struct epod *p)
{
	const struct podtab_pod *meta = p->pod->meta;

	return p->is_static && meta && meta->namespace_ && meta->workload &&
	       strcmp(meta->namespace_, "kube-system") == 0 &&
	       strcmp(meta->workload, "kube-apiserver") == 0;
}

/* A pod's status has no entry for the sandbox. */
static bool counts_for_status(const struct shutdowns *s, const struct cgnode *node)
{
	return cgnode_is_container(node) && node->stop &&
	       sandbox_of(s->names, node) != SANDBOX_KNOWN;
}

/* The verdict on a container that has ended waits for a moment; records of one were lost. */
static void note_ends(const struct shutdowns *s, const struct epod *p, struct shutdown_pod *ret)
{
	const struct pod_cgroups *pod = cgmap_pod(s->map, p->uid);
	const struct cgnode *node;

	ret->lost = p->truth.lost;
	if (!pod)
		return;
	LIST_FOREACH(node, &pod->nodes, in_pod) {
		if (!counts_for_status(s, node))
			continue;
		ret->pending |= node->stop->state == STOP_EXITED;
		ret->lost |= stop_gaps(node->stop) >> GAP_EVENTS_LOST & 1;
	}
}

static bool is_named(const struct shutdowns *s, const struct epod *p)
{
	const struct podtab_pod *meta = p->pod->meta;

	return meta && meta->namespace_ && meta->name;
}

static void note_status(struct shutdowns *s, const struct epod *p)
{
	struct shutdown_event event = {
		.type = SHUTDOWN_EV_POD,
		.pod =
			{
				.uid = p->uid,
				.group = group_of(s, p->uid, p->is_static),
				.stopping = p->life.stage >= POD_STAGE_TERMINATING ||
					    (p->listed && p->reported.deleting),
				.ended = has_ended(s, p),
				.unlisted = !is_listed(s, p->is_static),
				.api_server = is_api_server(s, p),
				.is_static = p->is_static,
				.named = is_named(s, p),
				.seen = s->resuming && p->seen_in_shutdown,
			},
	};

	note_ends(s, p, &event.pod);
	shutdowns_note(s, &event);
}

/* --- containers ----------------------------------------------------------------------------- */

/* This program runs in it, or below it. */
static bool is_own(const struct shutdowns *s, const struct cgnode *node)
{
	const struct obs_attached *host = &s->out->host;
	size_t n = node->path ? strlen(node->path) : 0;

	if (host->self_container[0] && node->trust == CGTRUST_PODS &&
	    strcmp(node->ident.container_id, host->self_container) == 0)
		return true;
	if (host->self_pid && node->stop && node->stop->init.pid == host->self_pid)
		return true;
	return n > 0 && strncmp(host->self_cgroup, node->path, n) == 0 &&
	       (host->self_cgroup[n] == '/' || !host->self_cgroup[n]);
}

static enum shutdown_kind kind_of(const struct shutdowns *s, const struct cgnode *node)
{
	const struct podtab_container *meta = names_container(s->names, node);

	if (is_own(s, node))
		return SHUTDOWN_KIND_OWN;
	/* What is only guessed to be one may be a container, and the lock waits for it. */
	if (sandbox_of(s->names, node) == SANDBOX_KNOWN)
		return SHUTDOWN_KIND_SANDBOX;
	if ((meta && meta->kind == META_KIND_CONTAINER) || podtab_is_named(meta))
		return SHUTDOWN_KIND_CONTAINER;
	return SHUTDOWN_KIND_UNKNOWN;
}

static struct seconds spec_grace(const struct shutdowns *s, const struct cgnode *node)
{
	const struct podtab_pod *meta = names_pod(s->names, node);

	return meta ? seconds_of(meta->known & META_POD_GRACE, meta->grace_ns) : (struct seconds){};
}

/* How long the runtime waits at most between the stop signal and its SIGKILL: a pod may be deleted
 * before its group is ended or after. */
static bool timeout_of(const struct shutdowns *s, const struct cgnode *node, uint64_t *ret_ns)
{
	const struct podtab_pod *meta = names_pod(s->names, node);
	size_t group = given_group(&s->plan, meta, node->cgroups->is_static);
	bool deleting = meta && meta->known & META_POD_DELETING && meta->deleting;
	struct seconds deletion = {}, stop;

	if (deleting)
		deletion =
			seconds_of(meta->known & META_POD_DELETION_GRACE, meta->deletion_grace_ns);
	stop = shutplan_longest_stop_s(&s->plan, group, spec_grace(s, node), deletion);
	if (__builtin_mul_overflow((uint64_t)stop.s, NS_PER_S, ret_ns))
		*ret_ns = UINT64_MAX;
	/* It may not be ended early while it is not known what its deletion gave it. */
	return stop.set && deleting == deletion.set;
}

/* In mode manage graced asks itself where the runtime does not. A service's is systemd, and so is
 * that of a container that is a service. */
static bool asks(const struct cgnode *node, const struct sender *sender)
{
	return sender->kind == SENDER_RUNTIME || sender->kind == SENDER_KUBELET ||
	       sender->kind == SENDER_GRACED || (!node->pod && sender->kind == SENDER_SYSTEMD);
}

/* What its pod's spec says of the container, and of a hook the runtime, too. */
static void note_spec(const struct shutdowns *s, const struct cgnode *node,
		      struct shutdown_container *ret)
{
	const struct podtab_container *own = names_container(s->names, node);
	const struct podtab_container *spec = names_spec(s->names, node, own);

	ret->hook = (own && own->prestop) || (spec && spec->prestop);
	ret->sidecar = spec && spec->sidecar != META_EPHEMERAL ? spec->sidecar : 0;
}

/* A signal that a program of the kernel half was not run for may have reached a process. */
static uint64_t signalled_ns(const struct shutdowns *s, const struct stop *stop)
{
	return stop->signalled_ns > s->stops->missed_ns ? stop->signalled_ns : s->stops->missed_ns;
}

/* What the kernel half has seen of its stop. */
static struct shutdown_container observed(const struct shutdowns *s, const struct cgnode *node)
{
	const struct stop *stop = node->stop;
	struct shutdown_container c = {.id = node->id, .populated = node->populated};

	if (stop->request->seen && asks(node, &stop->request->sender)) {
		c.asked_ns = stop->request->at_ns;
		c.signal = stop->request->number;
		c.deaf = stop->deaf;
	}
	c.looked_ns = stop->looked_ns;
	c.signalled_ns = signalled_ns(s, stop);
	c.kill_ns = stop->kill->seen ? stop->kill->at_ns : 0;
	c.stop_signal = names_stop_signal(s->names, node);
	c.no_init = stop->init.pid == 0;
	return c;
}

static void note_container(struct shutdowns *s, struct cgnode *node, const struct epod *p)
{
	struct shutdown_event event = {
		.type = SHUTDOWN_EV_CONTAINER,
		.node = node,
		.container = observed(s, node),
	};
	struct shutdown_container *c = &event.container;

	c->pod_uid = node->pod->uid;
	c->kind = kind_of(s, node);
	c->unanswered = c->kind == SHUTDOWN_KIND_UNKNOWN && node->names == NAMES_QUERIED;
	note_spec(s, node, c);
	c->ending_ns = p ? p->terminating_ns : 0;
	c->timeout_known = timeout_of(s, node, &c->timeout_ns);
	c->grace = spec_grace(s, node);
	shutdowns_note(s, &event);
}

/* One of them may have been the pod of that uid, before the one that counts was there. */
static void forget_doubles(struct shutdowns *s, const struct pod_cgroups *pod)
{
	struct cgnode *node;

	for (pod = pod->next; pod; pod = pod->next)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			shutdowns_forget_container(s, node);
}

void shutdowns_note_pod(struct shutdowns *s, const char *uid)
{
	const struct epod *p = pods_find(s->pods, uid);
	const struct pod_cgroups *pod = cgmap_pod(s->map, uid);
	struct cgnode *node;

	if (p)
		note_status(s, p);
	else
		shutdowns_forget_pod(s, uid);
	if (!pod)
		return;
	/* One that is gone stays there until its verdict is reported. */
	LIST_FOREACH(node, &pod->nodes, in_pod)
		if (cgnode_is_container(node) && node->stop && !node->removed)
			note_container(s, node, p);
	forget_doubles(s, pod);
}

void shutdowns_note_evidence(struct shutdowns *s)
{
	struct shutdown_event event = {
		.type = SHUTDOWN_EV_EVIDENCE,
		.evidence = s->evidence,
	};

	snprintf(event.evidence.boot, sizeof(event.evidence.boot), "%s", s->out->host.boot_id);
	event.evidence.complete = s->out->attached;
	shutdowns_note(s, &event);
}

void shutdowns_note_all(struct shutdowns *s)
{
	const struct pod *pod;
	const struct epod *p;
	size_t pos = 0;

	TAILQ_FOREACH(p, &s->pods->all, all)
		shutdowns_note_pod(s, p->uid);
	while ((pod = podmap_next(&s->map->pods, &pos)))
		if (pod->cgroups && !pod->life)
			shutdowns_note_pod(s, pod->uid);
}

/* --- outside pods ---------------------------------------------------------------------------- */

/* Docker's, Podman's and nerdctl's. */
#define ENGINE_GRACE_S 10

/* A container whose place or name others than root chose is none, and neither is one that a source
 * places in a pod. */
static bool is_outside(const struct shutdowns *s, const struct cgnode *node)
{
	const struct podtab_container *meta = names_container(s->names, node);

	if (node->pod || !node->path || !node->stop || node->removed ||
	    node->trust != CGTRUST_PODS || (meta && meta->pod_uid[0]))
		return false;
	return node->kind == GRACED_WATCH_SERVICE
		       ? names_is_unit(node)
		       : node->kind == GRACED_WATCH_CONTAINER &&
				 node->ident.kind == CGPATH_CONTAINER_OUTSIDE;
}

static const struct managed_rule *rule_of(const struct shutdowns *s, const struct cgnode *node)
{
	const struct podtab_container *meta = names_container(s->names, node);
	const struct managed_subject subject = {
		.path = node->path,
		.is_service = node->kind == GRACED_WATCH_SERVICE,
		.runtime = podtab_runtime(meta, node->ident.runtime),
		.labels = meta ? meta->labels : 0,
	};

	return managed_find(s->rules, s->n_rules, &subject);
}

static uint32_t group_by(const struct shutdowns *s, const struct managed_rule *rule)
{
	return (uint32_t)shutplan_group_of(&s->plan, rule->priority, false);
}

/* A part of a second counts as a whole one. */
static struct seconds own_grace(const struct shutdowns *s, const struct cgnode *node)
{
	const struct podtab_container *meta = names_container(s->names, node);

	if (meta && meta->known & META_CTR_GRACE)
		return seconds_of(true, meta->grace_ns < UINT64_MAX - NS_PER_S
						? meta->grace_ns + NS_PER_S - 1
						: meta->grace_ns);
	return (struct seconds){.set = node->kind != GRACED_WATCH_SERVICE, .s = ENGINE_GRACE_S};
}

/* A rule wants labels that no source has provided: those of Docker's containers. */
static bool lacks_labels(const struct shutdowns *s, const struct cgnode *node)
{
	const struct podtab_container *meta = names_container(s->names, node);
	enum cgpath_runtime runtime = podtab_runtime(meta, node->ident.runtime);

	if (node->kind != GRACED_WATCH_CONTAINER || (meta && meta->known & META_CTR_LABELS) ||
	    (runtime != CGPATH_RT_DOCKER && runtime != CGPATH_RT_UNKNOWN))
		return false;
	for (size_t i = 0; i < s->n_rules; i++)
		if (s->rules[i].label[0])
			return true;
	return false;
}

void shutdowns_note_outside(struct shutdowns *s, struct cgnode *node)
{
	const struct managed_rule *rule;
	struct shutdown_event event = {.type = SHUTDOWN_EV_CONTAINER, .node = node};
	struct shutdown_container *c = &event.container;
	bool own;

	if (!s->managed || !s->n_rules || !node || !is_outside(s, node))
		return;
	own = is_own(s, node);
	rule = own ? NULL : rule_of(s, node);
	*c = observed(s, node);
	c->unanswered = !own && node->names == NAMES_QUERIED && lacks_labels(s, node);
	c->kind = rule ? SHUTDOWN_KIND_CONTAINER : SHUTDOWN_KIND_OUTSIDE;
	c->outside = true;
	c->group = rule ? group_by(s, rule) : 0;
	c->grace = own_grace(s, node);
	shutdowns_note(s, &event);
}

void shutdowns_note_all_outside(struct shutdowns *s)
{
	struct cgnode *node;
	size_t pos = 0;

	if (!s->managed || !s->n_rules)
		return;
	while ((node = map_next(&s->map->nodes, &pos))) {
		if (!is_outside(s, node))
			continue;
		if (lacks_labels(s, node)) {
			node->names = NAMES_UNASKED;
			names_query(s->names, node);
		}
		shutdowns_note_outside(s, node);
	}
}

/* --- how a pod ended ------------------------------------------------------------------------- */

/* As the API writes it before a container's id; "" where it is not known. */
static const char *runtime_of(const struct podtab_container *c)
{
	switch (podtab_runtime(c, c->exit.runtime)) {
	case CGPATH_RT_CONTAINERD:
		return "containerd";
	case CGPATH_RT_CRIO:
		return "cri-o";
	case CGPATH_RT_DOCKER:
		return "docker";
	default:
		return "";
	}
}

static int64_t started_wall_ns(const struct exit_seen *exit)
{
	return exit->start_ns && exit->start_ns < exit->at_ns
		       ? exit->wall_ns - (int64_t)(exit->at_ns - exit->start_ns)
		       : 0;
}

/* The kernel's word; what it has not seen is the runtime's. False: neither is there. */
static bool fill_exit(const struct podtab_container *c, struct podend_exit *ret)
{
	const struct exit_seen *exit = &c->exit;
	bool reported = c->known & META_CTR_EXIT && c->exit_from == META_CRI && !c->again;

	*ret = (struct podend_exit){
		.id = c->of->name.first,
		.runtime = runtime_of(c),
		.name = c->name ? c->name : "",
		.reason = "",
		.code = exit->seen ? discrepancy_code_of(exit->status) : c->exit_code,
		.oom = exit->seen && exit->oom_victim,
		.started_wall_ns = started_wall_ns(exit),
		.finished_wall_ns = exit->seen ? exit->wall_ns : c->finished_wall_ns,
	};
	if (reported && c->exit_code == ret->code)
		ret->reason = c->exit_reason;
	return exit->seen || reported;
}

bool shutdowns_get_ending(const struct shutdowns *s, const char *uid, struct kubelet_ending *ret)
{
	const struct podtab_pod *meta = podtab_pod(&s->names->tab, uid);
	const struct podtab_container *c;

	if (!meta || !meta->namespace_ || !meta->name)
		return false;
	ret->namespace_ = meta->namespace_;
	ret->name = meta->name;
	ret->now_wall_ns = (int64_t)(s->out->now_ns + (uint64_t)s->out->host.wall_offset_ns);
	ret->n_exits = 0;
	for (size_t i = 0; (c = podtab_next_container(&s->names->tab, &i));) {
		if (c->of->name.way != CONTAINER_BY_ID || !c->ended || strcmp(c->pod_uid, uid) != 0)
			continue;
		if (ret->n_exits == ENDING_EXITS_MAX)
			return false;
		ret->n_exits += fill_exit(c, &ret->exits[ret->n_exits]);
	}
	return true;
}

/* --- the plan by pod -------------------------------------------------------------------------- */

static struct engine_planned_pod planned_pod(const struct shutdowns *s, const struct epod *p)
{
	const struct podtab_pod *meta = p->pod->meta;
	struct engine_planned_pod pod = {
		.uid = p->uid,
		.group = group_of(s, p->uid, p->is_static),
	};
	int64_t given_s = s->plan.groups[pod.group].seconds;

	if (meta) {
		pod.namespace_ = meta->namespace_;
		pod.name = meta->name;
		pod.priority_known = meta->known & META_POD_PRIORITY;
		pod.grace_known = meta->known & META_POD_GRACE;
	}
	if (pod.grace_known) {
		struct seconds grace = seconds_of(true, meta->grace_ns);

		pod.grace_ns = meta->grace_ns;
		given_s = shutplan_override_s(given_s, grace);
		pod.cut_short = given_s < grace.s;
	}
	pod.given_ns = given_s > 0 ? (uint64_t)given_s * NS_PER_S : 0;
	return pod;
}

void shutdowns_each_planned(const struct shutdowns *s,
			    void (*fn)(void *userdata, const struct engine_planned_pod *pod),
			    void *userdata)
{
	const struct epod *p;

	if (!s->sequencer || !s->plan.n)
		return;
	TAILQ_FOREACH(p, &s->pods->all, all) {
		struct engine_planned_pod pod;

		if (has_ended(s, p))
			continue;
		pod = planned_pod(s, p);
		fn(userdata, &pod);
	}
}

static void count_cut_short(void *userdata, const struct engine_planned_pod *pod)
{
	size_t *n = userdata;

	*n += pod->cut_short;
}

size_t shutdowns_count_cut_short(const struct shutdowns *s)
{
	size_t n = 0;

	shutdowns_each_planned(s, count_cut_short, &n);
	return n;
}
