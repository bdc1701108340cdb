// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that knows what sources say: whose word counts for a cgroup, and what follows
 * from it for the stop under way.
 */
#include "core/engine/priv.h"

#include <errno.h>
#include <string.h>

/* The kubelet's shortest period, which it gives what it evicts, and how late that may end. */
#define EVICTION_FROM_NS  1900000000ULL
#define EVICTION_UNTIL_NS 3000000000ULL

#define SIGTERM_NR  15
#define BIT_OF(sig) (1ULL << ((sig)-1))

const char *engine_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* What could be taken for a file of the kernel's has a "_" before it (cg_escape in systemd's
 * src/basic/cgroup-util.c). */
const char *engine_unit_name(const struct cgnode *node)
{
	const char *name = engine_base_name(node->path);

	return name && name[0] == '_' ? name + 1 : name;
}

/* What is below a unit is not the host's systemd's: a user's manager calls its units as it likes. */
bool engine_is_unit(const struct cgnode *node)
{
	return node->kind == GRACED_WATCH_SERVICE && node->path && !node->delegated_level &&
	       !strstr(node->path, ".service/") && !strstr(node->path, ".scope/");
}

struct podtab_pod *engine_pod_meta(const struct engine *e, const struct cgnode *node)
{
	const struct pod *pod = node ? cgmap_pod_of(&e->map, node) : NULL;

	return pod ? podtab_pod_keyed(&e->names, pod->uid, pod->key) : NULL;
}

/* A container is not described by who takes it for another pod's than its cgroup is in. */
static bool is_of(const struct engine *e, const struct podtab_container *c,
		  const struct cgnode *node)
{
	const struct pod *pod = cgmap_pod_of(&e->map, node);

	if (!c->pod_uid[0])
		return pod || !node->pod;
	return pod && strcmp(pod->uid, c->pod_uid) == 0;
}

struct podtab_container *engine_container_meta(const struct engine *e, const struct cgnode *node)
{
	struct podtab_container *c;

	if (!node || !node->path)
		return NULL;
	if (node->kind == GRACED_WATCH_SERVICE)
		return engine_is_unit(node) ? podtab_unit(&e->names, engine_unit_name(node)) : NULL;
	if (!node->ident.container_id[0] || node->trust != CGTRUST_PODS)
		return NULL;
	c = podtab_container_keyed(&e->names, node->ident.container_id, node->container_key);
	return c && is_of(e, c, node) ? c : NULL;
}

static const struct podtab_container *spec_meta(const struct engine *e, const struct cgnode *node,
						const struct podtab_container *own)
{
	if (!own || !own->name || !cgmap_pod_of(&e->map, node))
		return NULL;
	return podtab_spec_keyed(&e->names, node->pod->uid, node->pod->key, own->name);
}

/*
 * A source was asked since the kill how it is with the pod, and a node shutdown would have been
 * seen. What is left is a deletion whose period is longer than the spec's, which may have come
 * after the stop signal, and what the kubelet gives the pods it evicts: 2 s.
 */
static bool would_know(const struct engine *e, const struct stop *stop, const struct grace *grace)
{
	const struct podtab_pod *pod = engine_pod_meta(e, stop->node);
	uint64_t after_ns = stop->kill.at_ns - stop->request.at_ns;

	if (grace->from == GRACE_UNIT)
		return true;
	if (!pod || !stop->kill.seen || !(pod->known & META_POD_DELETING) || pod->gone ||
	    pod->state_ns < stop->kill.at_ns || !e->given.watched)
		return false;
	if (grace->from == GRACE_DELETION && pod->known & META_POD_GRACE &&
	    pod->deletion_grace_ns > pod->grace_ns)
		return false;
	if (pod->deleting && !(pod->known & META_POD_DELETION_GRACE))
		return false;
	return after_ns < EVICTION_FROM_NS || after_ns > EVICTION_UNTIL_NS;
}

static bool is_by_runtime(const struct stop_signal *signal)
{
	return signal->seen && signal->sender.kind == SENDER_RUNTIME;
}

/* By its spec it would have been killed before, and no source has said since whether it is being
 * deleted, and with what. */
static bool was_deleted_unseen(const struct engine *e, const struct stop *stop,
			       const struct grace *grace)
{
	const struct podtab_pod *pod = engine_pod_meta(e, stop->node);
	uint64_t end_ns = stop->kill.seen ? stop->kill.at_ns : stop->exit_ns;

	return grace->from == GRACE_SPEC && pod && pod->state_ns < stop->request.at_ns &&
	       end_ns > stop->request.at_ns &&
	       grace_is_outlived(grace, end_ns - stop->request.at_ns);
}

/* What came of the stop, where that contradicts its pod's spec or the container's own timeout. */
static struct grace observed(const struct engine *e, const struct stop *stop,
			     const struct grace *grace)
{
	uint64_t from_ns = stop->request.at_ns;

	if (!stop->request.seen)
		return *grace;
	if (was_deleted_unseen(e, stop, grace))
		return (struct grace){.from = GRACE_HIDDEN};
	if (is_by_runtime(&stop->request) && is_by_runtime(&stop->kill))
		return grace_observed(grace, stop->kill.at_ns - from_ns, true);
	if (stop->exit_seen && !stop->kill.seen)
		return grace_observed(grace, stop->exit_ns - from_ns, false);
	return *grace;
}

/* By what a node shutdown gives it. */
static void shorten(const struct stop *stop, struct grace *grace)
{
	if (grace->from != GRACE_SPEC && grace->from != GRACE_DELETION)
		return;
	if (stop->given_unknown)
		*grace = (struct grace){.from = GRACE_HIDDEN};
	else if (stop->given_ns && stop->given_ns < grace->ns)
		*grace = (struct grace){.from = GRACE_SHUTDOWN, .ns = stop->given_ns};
}

static struct grace grace_now(const struct engine *e, const struct stop *stop)
{
	const struct podtab_container *own = engine_container_meta(e, stop->node);
	struct grace grace;

	/* The runtime kills a sandbox without asking it first, or gives it a time of its own. */
	if (stop->node && stop->node->stop == stop &&
	    engine_sandbox_of(e, stop->node) != SANDBOX_NOT)
		return (struct grace){};
	grace = grace_of(engine_pod_meta(e, stop->node), own, spec_meta(e, stop->node, own),
			 e->config.assumed_grace_ns);
	shorten(stop, &grace);
	grace.sure = would_know(e, stop, &grace);
	return observed(e, stop, &grace);
}

void engine_take_grace(struct engine *e, struct stop *stop)
{
	if (given_note(&e->given, engine_pod_meta(e, stop->node), stop))
		output_changed(&e->out, stop->node);
	stop->grace = grace_now(e, stop);
}

/* Its request lapses by the period that is in force. */
void engine_renew_grace(struct engine *e, struct stop *stop)
{
	if (stop->state != STOP_REQUESTED && stop->state != STOP_KILLED)
		return;
	engine_take_grace(e, stop);
	if (stop->state == STOP_REQUESTED && !stop->probed)
		engine_wake(e, stop, stop_lapse_ns(stop));
}

void engine_renew_graces(struct engine *e)
{
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos)))
		if (node->stop)
			engine_renew_grace(e, node->stop);
}

static void renew_graces(struct engine *e, const char *uid)
{
	struct pod *pod = cgmap_pod(&e->map, uid);
	struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (node->stop)
				engine_renew_grace(e, node->stop);
}

bool engine_lacks_grace(const struct engine *e, const struct stop *stop)
{
	const struct podtab_pod *pod = engine_pod_meta(e, stop->node);

	return pod && stop->exit_seen && stop->kill.seen && pod->state_ns < stop->kill.at_ns &&
	       stop_gaps(stop) >> GAP_GRACE_UNCERTAIN & 1;
}

uint32_t engine_stop_signal(const struct engine *e, const struct cgnode *node)
{
	const struct podtab_container *own = engine_container_meta(e, node);

	return own ? own->stop_signal : 0;
}

uint64_t engine_stop_set(const struct engine *e, const struct cgnode *node, enum sender_kind from)
{
	uint32_t own = engine_stop_signal(e, node);

	if (!own)
		return ENGINE_STOP_SET;
	return BIT_OF(own) | (from == SENDER_SYSTEMD ? BIT_OF(SIGTERM_NR) : 0);
}

int engine_on_identity(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->identity.id);
	int r;

	if (!node || node->stop)
		return 0;
	if (!obs->identity.container_id[0]) {
		engine_set_watch(e, node);
		return 0;
	}
	r = cgmap_identify(&e->map, node, obs->identity.container_id,
			   (enum cgpath_runtime)obs->identity.runtime);
	e->stats.unexpected += r == -EINVAL;
	if (r < 0) {
		engine_set_watch(e, node);
		return r == -ENOMEM ? r : 0;
	}
	return engine_node_known(e, node, GRACED_WATCH_BRANCH);
}

/* The kernel half follows a stop by it, and records it even if it leaves it out by default. */
static void want_signal(struct engine *e, struct cgnode *node)
{
	uint32_t own = engine_stop_signal(e, node);

	if (!own || own == node->stop_signal)
		return;
	node->stop_signal = own;
	output_effect(&e->out,
		      &(struct effect){.type = EFFECT_SET_STOP, .id = node->id, .signal = own});
	if (node->stop)
		engine_stop_learnt(e, node->stop, own);
}

/* The unit says which process is the service, whatever was guessed. */
static void want_main(struct engine *e, const struct cgnode *node)
{
	const struct podtab_container *own = engine_container_meta(e, node);
	struct stop *stop = node->stop;

	if (node->kind != GRACED_WATCH_SERVICE || !own || !stop || !own->main_pid)
		return;
	if (stop->init.pid == own->main_pid && stop->state != STOP_TOLD) {
		stop->guessed = false;
		return;
	}
	output_effect(&e->out, &(struct effect){.type = EFFECT_SET_INIT,
						.id = node->id,
						.pid = own->main_pid});
}

void engine_described(struct engine *e, struct cgnode *node)
{
	want_signal(e, node);
	want_main(e, node);
}

struct cgnode *engine_unit_node(const struct engine *e, const char *unit)
{
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&e->map.nodes, &pos)))
		if (engine_is_unit(node) && (!node->stop || engine_stop_in(node)) &&
		    strcmp(engine_unit_name(node), unit) == 0)
			return node;
	return NULL;
}

/* Everything that lives is touched first, so that only what nobody is left of goes. */
static void age(struct engine *e)
{
	struct cgnode *node;
	size_t pos = 0;

	if (!podtab_is_due(&e->names, e->out.now_ns))
		return;
	while ((node = map_next(&e->map.nodes, &pos))) {
		struct podtab_container *c = engine_container_meta(e, node);
		struct podtab_pod *pod = engine_pod_meta(e, node);

		if (pod)
			pod->touched_ns = e->out.now_ns;
		if (c)
			c->touched_ns = e->out.now_ns;
		if (c && c->name && cgmap_pod_of(&e->map, node))
			c = podtab_spec(&e->names, node->pod->uid, c->name);
		if (c)
			c->touched_ns = e->out.now_ns;
	}
	podtab_age(&e->names, e->out.now_ns);
}

int engine_on_pod(struct engine *e, const struct obs *obs)
{
	int r = engine_take_pod(e, &obs->pod, obs->at_ns), followed;

	age(e);
	e->stats.unexpected += r == -EINVAL;
	renew_graces(e, obs->pod.uid);
	followed = engine_pods_described(e, &obs->pod);
	engine_pods_named(e, obs->pod.uid);
	return r == -ENOMEM ? r : followed;
}

int engine_on_container(struct engine *e, const struct obs *obs)
{
	const struct meta_container *meta = &obs->container;
	int r = engine_take_container(e, meta, obs->at_ns);
	struct cgnode *node = NULL;

	age(e);
	e->stats.unexpected += r == -EINVAL;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (meta->unit[0] && e->map.services)
		node = engine_unit_node(e, meta->unit);
	else if (meta->id[0])
		node = cgmap_by_container_id(&e->map, meta->id);
	if (node)
		engine_described(e, node);
	if (!meta->id[0])
		return 0;
	engine_compare_exit(e, meta->id);
	if (meta->known & META_CTR_EXIT)
		engine_truth_exit(e, meta->id, (enum meta_source)meta->source,
				  &(struct discrepancy_told){meta->exit_code, meta->exit_reason,
							     meta->finished_wall_ns});
	return 0;
}

/* A name in the answer itself is the log directories', the source of least trust. */
static int take_names(struct engine *e, const struct obs_names *n, uint64_t at_ns)
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
		r = engine_take_pod(e, &pod, at_ns);
	if (container.id[0] && r != -ENOMEM)
		r = engine_take_container(e, &container, at_ns);
	return r == -ENOMEM ? r : 0;
}

/* A pod that is not being deleted may be the next moment: what was told before counts for yes only.
 */
enum record_tri engine_pod_terminating(const struct engine *e, const struct stop *stop)
{
	const struct podtab_pod *meta = engine_pod_meta(e, stop->node);
	uint64_t since = engine_pod_since(stop);

	if (!meta || !(meta->known & META_POD_DELETING))
		return TRI_UNKNOWN;
	if (meta->deleting || meta->gone)
		return TRI_TRUE;
	return since && meta->state_ns >= since ? TRI_FALSE : TRI_UNKNOWN;
}

static void pod_answered(struct engine *e, const char *uid)
{
	struct pod *pod = cgmap_pod(&e->map, uid);
	struct cgnode *node;

	if (!pod)
		return;
	pod->asks -= pod->asks > 0;
	LIST_FOREACH(node, &pod->nodes, in_pod)
		if (node->stop)
			engine_stop_named(e, node->stop);
}

static void container_answered(struct engine *e, const struct obs_names *n)
{
	const struct podtab_container *c;
	struct cgnode *node;

	node = n->id ? cgmap_get(&e->map, n->id) : cgmap_by_container_id(&e->map, n->container_id);
	if (!cgnode_is_container(node))
		return;
	c = engine_container_meta(e, node);
	node->names = podtab_is_named(c) ? NAMES_KNOWN : NAMES_ABSENT;
	if (node->stop)
		engine_stop_named(e, node->stop);
	if (cgmap_pod_of(&e->map, node))
		engine_pods_named(e, node->pod->uid);
}

int engine_on_names(struct engine *e, const struct obs *obs)
{
	const struct obs_names *n = &obs->names;
	int r = n->found ? take_names(e, n, obs->at_ns) : 0;

	age(e);
	if (n->more)
		return r;
	/* Who asked about the pod may still wait for the container's name. */
	if (n->pod_uid[0] && !n->container_id[0])
		pod_answered(e, n->pod_uid);
	else
		container_answered(e, n);
	return r;
}
