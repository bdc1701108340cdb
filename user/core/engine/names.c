// SPDX-License-Identifier: Apache-2.0
#include "core/engine/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names/unit.h"
#include "core/stop/stop.h"

/* Longer than any question is awaited: one without an answer by then may be asked again. */
#define ASK_NS 60000000000ULL

#define POD_STATE \
	(META_POD_DELETING | META_POD_DELETION_GRACE | META_POD_READY | META_POD_CONTAINERS)

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

/* --- what is known -------------------------------------------------------------------------- */

const char *names_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* The name of a unit that could be taken for a file of the kernel's has a "_" before it (cg_escape
 * in systemd's src/basic/cgroup-util.c). */
const char *names_unit_name(const struct cgnode *node)
{
	const char *name = names_base_name(node->path);

	return name && name[0] == '_' ? name + 1 : name;
}

/* Units below another one are not the host's systemd's: a user's manager names its own freely. */
bool names_is_unit(const struct cgnode *node)
{
	return node->kind == GRACED_WATCH_SERVICE && node->path && !node->delegated_level &&
	       !strstr(node->path, ".service/") && !strstr(node->path, ".scope/");
}

struct podtab_pod *names_pod(const struct names *names, const struct cgnode *node)
{
	const struct pod_cgroups *cgroups = node ? cgmap_pod_of(names->map, node) : NULL;

	return cgroups ? cgroups->pod->meta : NULL;
}

/* A source that places the container in another pod than its cgroup describes another one. */
static bool is_of(const struct names *names, const struct podtab_container *c,
		  const struct cgnode *node)
{
	const struct pod_cgroups *pod = cgmap_pod_of(names->map, node);

	if (!c->pod_uid[0])
		return pod || !node->pod;
	return pod && strcmp(pod->pod->uid, c->pod_uid) == 0;
}

struct podtab_container *names_container(const struct names *names, const struct cgnode *node)
{
	struct podtab_container *c;

	if (!node || !node->path)
		return NULL;
	if (node->kind == GRACED_WATCH_SERVICE)
		return names_is_unit(node) ? podtab_unit(&names->tab, names_unit_name(node)) : NULL;
	if (!node->container || !(node->trust == CGTRUST_PODS || node->user))
		return NULL;
	c = node->container->meta;
	return c && is_of(names, c, node) ? c : NULL;
}

struct podtab_container *names_spec(const struct names *names, const struct cgnode *node,
				    const struct podtab_container *own)
{
	if (!own || !own->name || !cgmap_pod_of(names->map, node))
		return NULL;
	return podtab_spec(&names->tab, node->pod->uid, own->name);
}

uint32_t names_stop_signal(const struct names *names, const struct cgnode *node)
{
	const struct podtab_container *own = names_container(names, node);

	return own ? own->stop_signal : 0;
}

struct cgnode *names_unit_node(const struct names *names, const char *unit)
{
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&names->map->nodes, &pos)))
		if (names_is_unit(node) && (!node->stop || stop_in(node)) &&
		    strcmp(names_unit_name(node), unit) == 0)
			return node;
	return NULL;
}

/* --- questions ------------------------------------------------------------------------------ */

/* Whether a source could name it: all of them know pods, each knows its own other containers. */
static bool can_name(const struct names *names, const struct cgnode *node)
{
	if (node->kind == GRACED_WATCH_SERVICE)
		return names_has_source(names, META_SYSTEMD) && names_is_unit(node);
	/* Sources are root's: they mean no other container, nor another pod, of the same id. A
	 * user's own engine names that user's. */
	if (!node->ident.container_id[0] || !(node->trust == CGTRUST_PODS || node->user))
		return false;
	if (node->pod)
		return cgmap_pod_of(names->map, node);
	return names_has_source(names, META_CRI) || names_has_source(names, META_DOCKER);
}

static bool is_querying(const struct names *names, const struct cgnode *node)
{
	return node->names == NAMES_QUERIED && names->out->now_ns < node->asked_ns + ASK_NS;
}

bool names_is_querying(const struct names *names, const struct cgnode *node)
{
	const struct pod_cgroups *pod = node->cgroups;

	return is_querying(names, node) ||
	       (pod && pod->queries && names->out->now_ns < pod->asked_ns + ASK_NS);
}

static uint32_t lapse_of(const struct cgnode *node)
{
	return node->lapse | (node->names == NAMES_QUERIED ? LAPSE_LATE : 0u);
}

uint32_t names_lapse_of_spec(const struct pod_cgroups *pod)
{
	return pod->lapse | (pod->queries && !pod->answered ? LAPSE_LATE : 0u);
}

uint8_t names_lapse_of(const struct obs_names *answer)
{
	return (uint8_t)((answer->failed ? LAPSE_FAILED : 0) | (answer->shed ? LAPSE_SHED : 0));
}

uint32_t names_lapse_of_pod(const struct pod_cgroups *pod)
{
	uint32_t lapse = names_lapse_of_spec(pod) | pod->names_lapse;
	const struct cgnode *node;

	LIST_FOREACH(node, &pod->nodes, in_pod)
		lapse |= node->names == NAMES_QUERIED ? LAPSE_LATE : 0u;
	return lapse;
}

uint32_t names_lapse(const struct names *names, const struct cgnode *node, bool is_sandbox)
{
	const struct pod_cgroups *pod = node ? cgmap_pod_of(names->map, node) : NULL;
	const struct podtab_pod *meta = names_pod(names, node);
	uint32_t of_pod = pod ? names_lapse_of_spec(pod) : 0, lapse = 0;

	if (!node)
		return 0;
	if ((!is_sandbox && !podtab_is_named(names_container(names, node))) ||
	    (pod && !(meta && meta->name)))
		lapse |= lapse_of(node) | of_pod;
	if (!is_sandbox && !(meta && meta->known & META_POD_GRACE))
		lapse |= of_pod;
	return lapse;
}

uint32_t names_gaps(uint32_t lapse)
{
	return (lapse & LAPSE_FAILED ? 1u << GAP_SOURCE_FAILED : 0) |
	       (lapse & LAPSE_SHED ? 1u << GAP_SHED : 0) |
	       (lapse & LAPSE_LATE ? 1u << GAP_NAME_LATE : 0);
}

void names_listed(struct names *names, enum meta_source source, uint64_t asked_ns)
{
	struct pod *pod;
	size_t pos = 0;

	while ((pod = podmap_next(&names->map->pods, &pos))) {
		struct pod_cgroups *cgroups = pod->cgroups;

		if (cgroups && meta_lister(names->sources, cgroups->is_static) == source &&
		    (!asked_ns || cgroups->asked_ns <= asked_ns))
			cgroups->lapse = 0;
	}
}

/* No source knows better. */
static bool is_settled(const struct podtab_container *c)
{
	uint8_t from = c && c->name ? c->name_from : c ? c->kind_from : META_NONE;

	return podtab_is_named(c) && from == META_CRI;
}

/* What a quadlet's container belongs to is in its path. No memory: one name less is known. */
static void take_split(struct names *names, const struct cgnode *node)
{
	struct meta_container meta = {.source = META_PODMAN};

	if (node->pod || node->ident.runtime != CGPATH_RT_PODMAN ||
	    !unitname_of_split(node->path, meta.workload))
		return;
	COPY(meta.id, node->ident.container_id);
	meta.user = node->user;
	names_take_container(names, &meta, names->out->now_ns);
}

void names_query(struct names *names, struct cgnode *node)
{
	struct effect query = {.type = EFFECT_FIND_NAMES, .id = node->id, .kind = node->kind};
	const struct podtab_pod *pod;

	if (node->names == NAMES_KNOWN || is_querying(names, node) || !can_name(names, node))
		return;
	if (is_settled(names_container(names, node))) {
		node->names = NAMES_KNOWN;
		return;
	}
	take_split(names, node);
	node->names = NAMES_QUERIED;
	node->asked_ns = names->out->now_ns;
	query.runtime = node->ident.runtime;
	query.user = node->user;
	if (node->pod)
		strcpy(query.pod_uid, node->pod->uid);
	strcpy(query.container_id, node->ident.container_id);
	output_effect(names->out, &query);
	pod = names_pod(names, node);
	if (!pod || !(pod->known & META_POD_GRACE))
		names_query_pod(names, node->cgroups, names->out->now_ns);
}

void names_query_beside(struct names *names, const struct cgnode *node)
{
	struct cgnode *other;

	if (!cgmap_pod_of(names->map, node) || !names_has_source(names, META_CRI))
		return;
	LIST_FOREACH(other, &node->cgroups->nodes, in_pod)
		if (other->names == NAMES_ABSENT && !other->removed && cgnode_is_container(other))
			names_query(names, other);
}

void names_query_unit(struct names *names, struct cgnode *node)
{
	if (node->kind != GRACED_WATCH_SERVICE || is_querying(names, node))
		return;
	node->names = NAMES_UNASKED;
	names_query(names, node);
}

void names_query_pod(struct names *names, struct pod_cgroups *pod, uint64_t since_ns)
{
	struct effect query = {.type = EFFECT_FIND_POD};

	if (!pod || !names_has_source(names, meta_lister(names->sources, pod->is_static)))
		return;
	if (names->out->now_ns >= pod->asked_ns + ASK_NS)
		pod->queries = 0;
	/* An answer to an older question does not say how the pod was then. */
	if (pod->queries && pod->asked_ns >= since_ns)
		return;
	pod->queries++;
	pod->asked_ns = names->out->now_ns;
	strcpy(query.pod_uid, pod->pod->uid);
	output_effect(names->out, &query);
}

bool names_query_status(struct names *names, const char *uid, enum meta_source source)
{
	struct effect query = {.type = EFFECT_FIND_POD};
	struct pod_cgroups *pod = cgmap_pod(names->map, uid);

	if (!names_has_source(names, source))
		return false;
	if (pod) {
		pod->queries++;
		pod->asked_ns = names->out->now_ns;
	}
	strcpy(query.pod_uid, uid);
	output_effect(names->out, &query);
	return true;
}

static bool has_exit(const struct names *names, const struct cgnode *node)
{
	return node && cgmap_pod_of(names->map, node) && node->ident.container_id[0] &&
	       names_has_source(names, META_CRI);
}

bool names_query_exit(struct names *names, const struct cgnode *node)
{
	struct effect query = {.type = EFFECT_FIND_EXIT};

	if (!has_exit(names, node))
		return false;
	query.id = node->id;
	strcpy(query.container_id, node->ident.container_id);
	output_effect(names->out, &query);
	return true;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/*
 * containerd's own tasks are named freely by their owner, in cgroups /<namespace>/<task> or scopes
 * of any slice: only the runtime's files distinguish them from other cgroups. A session's scope is
 * below user.slice.
 */
static bool may_be_task(const char *path)
{
	const char *slash = path[0] == '/' ? strchr(path + 1, '/') : NULL;

	if (!slash || strncmp(path, "/user.slice/", strlen("/user.slice/")) == 0)
		return false;
	if (ends_with(path, ".scope"))
		return true;
	return !strchr(slash + 1, '/') && !memchr(path, '.', (size_t)(slash - path));
}

bool names_query_identity(struct names *names, const struct cgnode *node, uint32_t taken_for)
{
	struct effect query = {.type = EFFECT_IDENTIFY, .id = node->id, .kind = taken_for};

	if (!names_has_source(names, META_CONTAINERD) || !node->path ||
	    node->kind != GRACED_WATCH_BRANCH || node->trust != CGTRUST_PODS ||
	    node->ident.kind != CGPATH_NONE || !may_be_task(node->path))
		return false;
	output_effect(names->out, &query);
	return true;
}

/* --- answers -------------------------------------------------------------------------------- */

/* Answers that repeat what is known already change nothing. */
int names_take_pod(struct names *names, const struct meta_pod *meta, uint64_t at_ns)
{
	const struct podtab_pod *pod = podtab_pod(&names->tab, meta->uid);
	struct podtab_pod before;
	int r;

	if (!names->out->marks.on)
		return podtab_take_pod(&names->tab, meta, at_ns);
	memset(&before, 0, sizeof(before));
	if (pod)
		memcpy(&before, pod, sizeof(before));
	r = podtab_take_pod(&names->tab, meta, at_ns);
	pod = podtab_pod(&names->tab, meta->uid);
	if (pod && podtab_pod_differs(&before, pod))
		marks_names(&names->out->marks, meta->uid);
	return r;
}

struct cgnode *names_described(const struct names *names, const struct meta_container *meta)
{
	if (meta->unit[0] && names->map->services)
		return names_unit_node(names, meta->unit);
	return meta->id[0] ? cgmap_user_container(names->map, meta->id, meta->user) : NULL;
}

static void changed_container(struct names *names, const struct meta_container *meta)
{
	struct cgnode *node = names_described(names, meta);
	struct pod_cgroups *pod;

	if (node)
		output_changed(names->out, node);
	/* What the spec says may be about several containers. */
	pod = !meta->id[0] && meta->pod_uid[0] ? cgmap_pod(names->map, meta->pod_uid) : NULL;
	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			output_changed(names->out, node);
}

static const struct podtab_container *entry_of(const struct names *names,
					       const struct meta_container *meta)
{
	if (meta->id[0])
		return podtab_user_container(&names->tab, meta->id, meta->user);
	if (meta->unit[0])
		return podtab_unit(&names->tab, meta->unit);
	return podtab_spec(&names->tab, meta->pod_uid, meta->name);
}

int names_take_container(struct names *names, const struct meta_container *meta, uint64_t at_ns)
{
	struct podtab_container before;
	const struct podtab_container *c;
	int r;

	if (!names->out->marks.on)
		return podtab_take_container(&names->tab, meta, at_ns);
	c = entry_of(names, meta);
	memset(&before, 0, sizeof(before));
	if (c)
		memcpy(&before, c, sizeof(before));
	r = podtab_take_container(&names->tab, meta, at_ns);
	c = entry_of(names, meta);
	if (c && podtab_container_differs(&before, c))
		changed_container(names, meta);
	return r;
}

/* A name in the answer itself is that of the log directories, the least trusted source. */
int names_take_answer(struct names *names, const struct obs_names *n, uint64_t at_ns)
{
	struct meta_container container = {.source = META_LOGS};
	struct meta_pod pod = {.source = META_LOGS};
	int r = 0;

	strcpy(pod.uid, n->pod_uid);
	strcpy(pod.namespace_, n->namespace_);
	strcpy(pod.name, n->pod);
	strcpy(container.pod_uid, n->pod_uid);
	strcpy(container.id, n->container_id);
	strcpy(container.name, n->container);
	if (pod.uid[0])
		r = names_take_pod(names, &pod, at_ns);
	if (container.id[0] && r != -ENOMEM)
		r = names_take_container(names, &container, at_ns);
	return r == -ENOMEM ? r : 0;
}

/* Everything that lives is touched first, so that only entries without a cgroup are dropped. */
void names_age(struct names *names)
{
	struct cgnode *node;
	size_t pos = 0;

	if (!podtab_is_due(&names->tab, names->out->now_ns))
		return;
	while ((node = map_next(&names->map->nodes, &pos))) {
		struct podtab_container *c = names_container(names, node);
		struct podtab_pod *pod = names_pod(names, node);

		if (pod)
			pod->touched_ns = names->out->now_ns;
		if (c)
			c->touched_ns = names->out->now_ns;
		c = names_spec(names, node, c);
		if (c)
			c->touched_ns = names->out->now_ns;
	}
	podtab_age(&names->tab, names->out->now_ns);
}

/* --- the checkpoint ------------------------------------------------------------------------- */

static bool fill_names(const struct podtab_pod *pod, uint32_t source, struct meta_pod *ret)
{
	bool any = false;

	if (pod->name && pod->namespace_ && pod->name_from == source) {
		COPY(ret->namespace_, pod->namespace_);
		COPY(ret->name, pod->name);
		any = true;
	}
	if (pod->workload && pod->workload_from == source) {
		COPY(ret->workload, pod->workload);
		COPY(ret->workload_kind, pod->workload_kind ? pod->workload_kind : "");
		any = true;
	}
	return any;
}

/* Whether source provided the fact of that bit. */
static bool is_by(uint32_t known, uint32_t bit, uint8_t from, uint32_t source, uint32_t *ret_known)
{
	if (!(known & bit) || from != source)
		return false;
	*ret_known |= bit;
	return true;
}

static bool fill_spec(const struct podtab_pod *pod, uint32_t source, struct meta_pod *ret)
{
	if (is_by(pod->known, META_POD_GRACE, pod->grace_from, source, &ret->known))
		ret->grace_ns = pod->grace_ns;
	if (is_by(pod->known, META_POD_SIDECARS, pod->sidecars_from, source, &ret->known))
		ret->sidecars = pod->sidecars;
	if (is_by(pod->known, META_POD_STATIC, pod->static_from, source, &ret->known))
		ret->is_static = pod->is_static;
	if (is_by(pod->known, META_POD_PRIORITY, pod->priority_from, source, &ret->known))
		ret->priority = pod->priority;
	if (pod->qos && pod->qos_from == source)
		ret->qos = pod->qos;
	if (pod->restart_policy && pod->restart_from == source)
		ret->restart_policy = pod->restart_policy;
	return ret->known || ret->qos || ret->restart_policy;
}

static bool fill_state(const struct podtab_pod *pod, uint32_t source, struct meta_pod *ret)
{
	if (!(pod->known & POD_STATE) || pod->state_from != source)
		return false;
	ret->known |= pod->known & POD_STATE;
	ret->deleting = pod->deleting;
	ret->deletion_grace_ns = pod->deletion_grace_ns;
	ret->deleted_wall_ns = pod->deleted_wall_ns;
	ret->ready = pod->ready;
	ret->phase = pod->phase;
	ret->asked_ns = pod->state_ns;
	return true;
}

static void save_pod_of(const struct saver *to, const char *uid, const struct podtab_pod *pod,
			uint32_t source, bool gone)
{
	struct obs obs = {.type = OBS_POD, .at_ns = to->at_ns};
	struct meta_pod *meta = &obs.pod;
	bool any = gone;

	meta->source = source;
	meta->gone = gone;
	strcpy(meta->uid, uid);
	if (!gone) {
		any |= fill_names(pod, source, meta);
		any |= fill_spec(pod, source, meta);
		any |= fill_state(pod, source, meta);
	}
	if (any)
		to->fn(to->userdata, &obs);
}

void names_save_pod(const struct names *names, const char *uid, const struct saver *to)
{
	const struct podtab_pod *pod = podtab_pod(&names->tab, uid);

	if (!pod)
		return;
	for (uint32_t source = META_NONE + 1; source < META_SOURCE_COUNT; source++)
		save_pod_of(to, uid, pod, source, false);
	/* Only what is known can be gone. */
	if (pod->gone)
		save_pod_of(to, uid, pod, pod->state_from ? pod->state_from : META_KUBELET, true);
}

static bool fill_facts(const struct podtab_container *c, uint32_t source,
		       struct meta_container *ret)
{
	bool any = false;

	if (c->kind && c->kind_from == source)
		ret->kind = c->kind;
	if (c->stop_signal && c->signal_from == source)
		ret->stop_signal = c->stop_signal;
	if (is_by(c->known, META_CTR_GRACE, c->grace_from, source, &ret->known))
		ret->grace_ns = c->grace_ns;
	if (is_by(c->known, META_CTR_PRESTOP, c->prestop_from, source, &ret->known))
		ret->prestop = c->prestop;
	if (is_by(c->known, META_CTR_PROBE_GRACE, c->probe_from, source, &ret->known))
		ret->probe_grace = c->probe_grace;
	if (is_by(c->known, META_CTR_PROBE, c->probe_from, source, &ret->known))
		ret->probe = c->probe;
	if (is_by(c->known, META_CTR_SIDECAR, c->sidecar_from, source, &ret->known))
		ret->sidecar = c->sidecar;
	if (is_by(c->known, META_CTR_EXIT, c->exit_from, source, &ret->known)) {
		ret->exit_code = c->exit_code;
		ret->finished_wall_ns = c->finished_wall_ns;
		COPY(ret->exit_reason, c->exit_reason);
	}
	if (c->name && c->name_from == source) {
		COPY(ret->name, c->name);
		COPY(ret->pod_uid, c->pod_uid);
		any = true;
	}
	if (c->image && c->image_from == source) {
		COPY(ret->image, c->image);
		any = true;
	}
	if ((c->namespace_ || c->workload) && c->group_from == source) {
		COPY(ret->namespace_, c->namespace_ ? c->namespace_ : "");
		COPY(ret->workload, c->workload ? c->workload : "");
		any = true;
	}
	return any || ret->known || ret->kind || ret->stop_signal;
}

/* Any source may provide how often it was restarted and which process it is. */
static void fill_common(const struct podtab_container *c, struct meta_container *ret)
{
	ret->known |= c->known & (META_CTR_ATTEMPT | META_CTR_MAIN_PID);
	ret->attempt = c->attempt;
	ret->main_pid = c->main_pid;
}

/* about: what it is found by. */
static void save_container(const struct saver *to, const struct podtab_container *c,
			   const struct meta_container *about)
{
	bool first = true;

	for (uint32_t source = META_NONE + 1; source < META_SOURCE_COUNT; source++) {
		struct obs obs = {.type = OBS_CONTAINER, .at_ns = to->at_ns};

		obs.container = *about;
		obs.container.source = source;
		if (!fill_facts(c, source, &obs.container))
			continue;
		if (first)
			fill_common(c, &obs.container);
		first = false;
		to->fn(to->userdata, &obs);
	}
}

/* What the spec says about a container is found by its pod and its name. */
static void save_spec(const struct names *names, const struct saver *to, const struct cgnode *node,
		      const struct podtab_container *own)
{
	const struct podtab_container *spec = names_spec(names, node, own);
	struct meta_container about = {};

	if (!spec)
		return;
	COPY(about.pod_uid, node->pod->uid);
	COPY(about.name, own->name);
	save_container(to, spec, &about);
}

void names_save_container(const struct names *names, const struct cgnode *node,
			  const struct saver *to)
{
	const struct podtab_container *c = names_container(names, node);
	struct meta_container about = {};

	if (!c)
		return;
	if (node->kind == GRACED_WATCH_SERVICE)
		COPY(about.unit, names_unit_name(node));
	else
		COPY(about.id, node->ident.container_id);
	about.user = node->user;
	save_container(to, c, &about);
	save_spec(names, to, node, c);
}

void names_save_exit(const struct podtab_container *c, const struct saver *to)
{
	struct obs obs = {.type = OBS_KEPT_EXIT, .at_ns = to->at_ns};
	struct kept_exit *kept = &obs.kept_exit;
	struct meta_container about = {};

	COPY(about.id, c->of->name.first);
	save_container(to, c, &about);
	kept->as = c->exit;
	kept->compared = c->compared;
	kept->again = c->again;
	kept->differs = c->differs;
	COPY(kept->id, c->of->name.first);
	COPY(kept->pod_uid, c->pod_uid);
	to->fn(to->userdata, &obs);
}

int names_load_exit(struct names *names, const struct kept_exit *exit, uint64_t at_ns)
{
	struct podtab_container *c;

	if (!exit->id[0] || !exit->pod_uid[0] || exit->runtime > CGPATH_RT_ECS ||
	    exit->qos > CGPATH_QOS_BESTEFFORT || exit->differs >> DISCREPANCY_COUNT)
		return -EINVAL;
	c = podtab_want_container(&names->tab, exit->id, at_ns);
	if (!c)
		return -ENOSPC;
	COPY(c->pod_uid, exit->pod_uid);
	c->compared = exit->compared;
	c->again = exit->again;
	c->differs = exit->differs;
	c->exit = exit->as;
	c->ended = true;
	return 0;
}
