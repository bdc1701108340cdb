// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that writes down what sources said of pods and containers: of each source its
 * own words, so that whoever reads them weighs them as if the sources spoke.
 */
#include <stdio.h>
#include <string.h>

#include "core/engine/priv.h"

#define POD_STATE \
	(META_POD_DELETING | META_POD_DELETION_GRACE | META_POD_READY | META_POD_CONTAINERS)

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

struct words {
	uint64_t at_ns;
	engine_obs_fn fn;
	void *userdata;
};

static struct words words_of(const struct engine *e, engine_obs_fn fn, void *userdata)
{
	bool resuming = e->resume.phase == RESUME_FED || e->resume.phase == RESUME_SCANNING;

	return (struct words){resuming ? e->resume.until_ns : e->out.now_ns, fn, userdata};
}

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
		any = true;
	}
	return any;
}

/* Whether source told the fact of that bit. */
static bool told(uint32_t known, uint32_t bit, uint8_t from, uint32_t source, uint32_t *ret_known)
{
	if (!(known & bit) || from != source)
		return false;
	*ret_known |= bit;
	return true;
}

static bool fill_spec(const struct podtab_pod *pod, uint32_t source, struct meta_pod *ret)
{
	if (told(pod->known, META_POD_GRACE, pod->grace_from, source, &ret->known))
		ret->grace_ns = pod->grace_ns;
	if (told(pod->known, META_POD_SIDECARS, pod->sidecars_from, source, &ret->known))
		ret->sidecars = pod->sidecars;
	if (told(pod->known, META_POD_STATIC, pod->static_from, source, &ret->known))
		ret->is_static = pod->is_static;
	if (told(pod->known, META_POD_PRIORITY, pod->priority_from, source, &ret->known))
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

static void say_pod(const struct words *w, const struct podtab_pod *pod, uint32_t source, bool gone)
{
	struct obs obs = {.type = OBS_POD, .at_ns = w->at_ns};
	struct meta_pod *meta = &obs.pod;
	bool any = gone;

	meta->source = source;
	meta->gone = gone;
	strcpy(meta->uid, pod->uid);
	if (!gone) {
		any |= fill_names(pod, source, meta);
		any |= fill_spec(pod, source, meta);
		any |= fill_state(pod, source, meta);
	}
	if (any)
		w->fn(w->userdata, &obs);
}

void engine_keep_pod_meta(const struct engine *e, const char *uid, engine_obs_fn fn, void *userdata)
{
	const struct words w = words_of(e, fn, userdata);
	const struct podtab_pod *pod = podtab_pod(&e->names, uid);

	if (!pod)
		return;
	for (uint32_t source = META_NONE + 1; source < META_SOURCE_COUNT; source++)
		say_pod(&w, pod, source, false);
	/* Only what is known can be gone. */
	if (pod->gone)
		say_pod(&w, pod, pod->state_from ? pod->state_from : META_KUBELET, true);
}

static bool fill_facts(const struct podtab_container *c, uint32_t source,
		       struct meta_container *ret)
{
	bool any = false;

	if (c->kind && c->kind_from == source)
		ret->kind = c->kind;
	if (c->stop_signal && c->signal_from == source)
		ret->stop_signal = c->stop_signal;
	if (told(c->known, META_CTR_GRACE, c->grace_from, source, &ret->known))
		ret->grace_ns = c->grace_ns;
	if (told(c->known, META_CTR_PRESTOP, c->prestop_from, source, &ret->known))
		ret->prestop = c->prestop;
	if (told(c->known, META_CTR_PROBE_GRACE, c->probe_from, source, &ret->known))
		ret->probe_grace = c->probe_grace;
	if (told(c->known, META_CTR_EXIT, c->exit_from, source, &ret->known)) {
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
	return any || ret->known || ret->kind || ret->stop_signal;
}

/* How often it was restarted and which process it is anybody may tell. */
static void fill_anybodys(const struct podtab_container *c, struct meta_container *ret)
{
	ret->known |= c->known & (META_CTR_ATTEMPT | META_CTR_MAIN_PID);
	ret->attempt = c->attempt;
	ret->main_pid = c->main_pid;
}

/* about: by what it is found. */
static void say_container(const struct words *w, const struct podtab_container *c,
			  const struct meta_container *about)
{
	bool first = true;

	for (uint32_t source = META_NONE + 1; source < META_SOURCE_COUNT; source++) {
		struct obs obs = {.type = OBS_CONTAINER, .at_ns = w->at_ns};

		obs.container = *about;
		obs.container.source = source;
		if (!fill_facts(c, source, &obs.container))
			continue;
		if (first)
			fill_anybodys(c, &obs.container);
		first = false;
		w->fn(w->userdata, &obs);
	}
}

/* What the spec says of a container is found by its pod and its name. */
static void say_of_spec(const struct engine *e, const struct words *w, const struct cgnode *node,
			const struct podtab_container *own)
{
	const struct podtab_container *spec;
	struct meta_container about = {};

	if (!own->name || !cgmap_pod_of(&e->map, node))
		return;
	spec = podtab_spec(&e->names, node->pod->uid, own->name);
	if (!spec)
		return;
	COPY(about.pod_uid, node->pod->uid);
	COPY(about.name, own->name);
	say_container(w, spec, &about);
}

void engine_keep_container_meta(const struct engine *e, const struct cgnode *node, engine_obs_fn fn,
				void *userdata)
{
	const struct words w = words_of(e, fn, userdata);
	const struct podtab_container *c = engine_container_meta(e, node);
	struct meta_container about = {};

	if (!c)
		return;
	if (node->kind == GRACED_WATCH_SERVICE)
		COPY(about.unit, engine_unit_name(node));
	else
		COPY(about.id, node->ident.container_id);
	say_container(&w, c, &about);
	say_of_spec(e, &w, node, c);
}
