// SPDX-License-Identifier: Apache-2.0
/* The engine's part that asks sources: what, when, and how long an answer is awaited. */
#include "core/engine/priv.h"

#include <string.h>

/* Longer than anybody waits: a question without an answer by then may be asked again. */
#define ASK_NS 60000000000ULL

static bool answers(const struct engine *e, enum meta_source source)
{
	return e->config.sources >> source & 1;
}

/* Whether anybody could name it: what is in a pod everybody knows, the rest each its own. */
static bool has_source(const struct engine *e, const struct cgnode *node)
{
	if (node->kind == GRACED_WATCH_SERVICE)
		return answers(e, META_SYSTEMD) && engine_is_unit(node);
	/* Sources are root's: they mean no other container, nor another pod, of the same id. */
	if (!node->ident.container_id[0] || node->trust != CGTRUST_PODS)
		return false;
	if (node->pod)
		return cgmap_pod_of(&e->map, node);
	return answers(e, META_CRI) || answers(e, META_DOCKER);
}

static bool is_asking(const struct engine *e, const struct cgnode *node)
{
	return node->names == NAMES_ASKED && e->out.now_ns < node->asked_ns + ASK_NS;
}

bool engine_is_asking(const struct engine *e, const struct cgnode *node)
{
	const struct pod *pod = node->pod;

	return is_asking(e, node) || (pod && pod->asks && e->out.now_ns < pod->asked_ns + ASK_NS);
}

/* Nobody knows better. */
static bool is_settled(const struct podtab_container *c)
{
	uint8_t from = c && c->name ? c->name_from : c ? c->kind_from : META_NONE;

	return podtab_is_named(c) && from == META_CRI;
}

void engine_ask_names(struct engine *e, struct cgnode *node)
{
	struct effect ask = {.type = EFFECT_FIND_NAMES, .id = node->id, .kind = node->kind};
	const struct podtab_pod *pod;

	if (node->names == NAMES_KNOWN || is_asking(e, node) || !has_source(e, node))
		return;
	if (is_settled(engine_container_meta(e, node))) {
		node->names = NAMES_KNOWN;
		return;
	}
	node->names = NAMES_ASKED;
	node->asked_ns = e->out.now_ns;
	ask.runtime = node->ident.runtime;
	if (node->pod)
		strcpy(ask.pod_uid, node->pod->uid);
	strcpy(ask.container_id, node->ident.container_id);
	output_effect(&e->out, &ask);
	pod = engine_pod_meta(e, node);
	if (!pod || !(pod->known & META_POD_GRACE))
		engine_ask_pod(e, node->pod, e->out.now_ns);
}

void engine_ask_beside(struct engine *e, const struct cgnode *node)
{
	struct cgnode *other;

	if (!cgmap_pod_of(&e->map, node) || !answers(e, META_CRI))
		return;
	LIST_FOREACH(other, &node->pod->nodes, in_pod)
		if (other->names == NAMES_ABSENT && !other->removed && cgnode_is_container(other))
			engine_ask_names(e, other);
}

void engine_ask_unit(struct engine *e, struct cgnode *node)
{
	if (node->kind != GRACED_WATCH_SERVICE || is_asking(e, node))
		return;
	node->names = NAMES_UNASKED;
	engine_ask_names(e, node);
}

uint64_t engine_pod_since(const struct stop *stop)
{
	return stop->request.seen ? stop->request.at_ns : stop->exit_ns;
}

void engine_ask_pod(struct engine *e, struct pod *pod, uint64_t since_ns)
{
	struct effect ask = {.type = EFFECT_FIND_POD};

	if (!pod || !answers(e, meta_lister(e->config.sources, pod->is_static)))
		return;
	if (e->out.now_ns >= pod->asked_ns + ASK_NS)
		pod->asks = 0;
	/* An answer to an older question does not tell how the pod was then. */
	if (pod->asks && pod->asked_ns >= since_ns)
		return;
	pod->asks++;
	pod->asked_ns = e->out.now_ns;
	strcpy(ask.pod_uid, pod->uid);
	output_effect(&e->out, &ask);
}

bool engine_ask_status(struct engine *e, const char *uid, enum meta_source source)
{
	struct effect ask = {.type = EFFECT_FIND_POD};
	struct pod *pod = cgmap_pod(&e->map, uid);

	if (!answers(e, source))
		return false;
	if (pod) {
		pod->asks++;
		pod->asked_ns = e->out.now_ns;
	}
	strcpy(ask.pod_uid, uid);
	output_effect(&e->out, &ask);
	return true;
}

static bool tells_exit(const struct engine *e, const struct cgnode *node)
{
	return node && cgmap_pod_of(&e->map, node) && node->ident.container_id[0] &&
	       answers(e, META_CRI);
}

bool engine_ask_exit(struct engine *e, const struct cgnode *node)
{
	struct effect ask = {.type = EFFECT_FIND_EXIT};

	if (!tells_exit(e, node))
		return false;
	ask.id = node->id;
	strcpy(ask.container_id, node->ident.container_id);
	output_effect(&e->out, &ask);
	return true;
}

/* Of whom nobody has told anything, and nobody is about to, nobody tells an exit either. */
static struct podtab_container *exit_entry(struct engine *e, const struct cgnode *node)
{
	if (node->names == NAMES_ASKED)
		return podtab_want_container(&e->names, node->ident.container_id, e->out.now_ns);
	return podtab_container(&e->names, node->ident.container_id);
}

static bool keeps_exit(const struct engine *e, const struct cgnode *node)
{
	return node && node->pod && node->ident.container_id[0] &&
	       (answers(e, META_CRI) || answers(e, META_KUBELET) || answers(e, META_API));
}

void engine_note_exit(struct engine *e, const struct stop *stop)
{
	const struct cgnode *node = stop->node;
	struct podtab_container *c;

	/* What dies beside the init is nobody's exit. */
	if (!keeps_exit(e, node) || node->stop != stop)
		return;
	c = exit_entry(e, node);
	if (!c || c->kind == META_KIND_SANDBOX)
		return;
	c->again = c->exit.noted;
	c->exit = (struct podtab_exit){
		.noted = true,
		.seen = stop->exit_seen,
		.status = stop->status,
		.at_ns = stop->exit_ns,
		.wall_ns = (int64_t)(stop->exit_ns + (uint64_t)e->out.host.wall_offset_ns),
		.start_ns = stop->init.start_ns,
		.oom_victim = stop->oom_victim,
		.oom_beside = stop->counts.oom_kills > stop->base.oom_kills,
		.oom_sure = stop_gaps(stop) == 0,
		.runtime = node->ident.runtime,
		.qos = node->pod->qos,
		.is_static = node->pod->is_static,
	};
	if (c->known & META_CTR_EXIT)
		engine_truth_exit(e, node->ident.container_id, (enum meta_source)c->exit_from,
				  &(struct discrepancy_told){c->exit_code, c->exit_reason,
							     c->finished_wall_ns});
	if (c->known & META_CTR_EXIT && c->exit_from == META_CRI)
		engine_compare_exit(e, node->ident.container_id);
	else
		engine_ask_exit(e, node);
}

void engine_compare_exit(struct engine *e, const char *container_id)
{
	struct podtab_container *c = podtab_container(&e->names, container_id);

	/* A sandbox's exit nobody tells, and the kubelet repeats with whole seconds what it is
	 * told. */
	if (!c || c->compared || !c->exit.noted || c->exit_from != META_CRI)
		return;
	c->compared = true;
	engine_report_runtime_exit(e, container_id, c);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/*
 * containerd's own tasks are called as their owner likes, in cgroups /<namespace>/<task> or scopes
 * of any slice: only the runtime's files tell them from any other cgroup. A session's scope is
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

bool engine_ask_identity(struct engine *e, const struct cgnode *node, uint32_t taken_for)
{
	struct effect ask = {.type = EFFECT_IDENTIFY, .id = node->id, .kind = taken_for};

	if (!answers(e, META_CONTAINERD) || !node->path || node->kind != GRACED_WATCH_BRANCH ||
	    node->trust != CGTRUST_PODS || node->ident.kind != CGPATH_NONE ||
	    !may_be_task(node->path))
		return false;
	output_effect(&e->out, &ask);
	return true;
}
