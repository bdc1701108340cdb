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
