// SPDX-License-Identifier: Apache-2.0
/* Asks the sources of metadata, and tells the engine what they say. */
#include "app/live/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/live/expiry.h"
#include "app/live/feed.h"
#include "app/live/manager.h"
#include "app/log/log.h"
#include "base/map.h"
#include "io/proc/clock.h"

/* A question that some source has yet to answer. */
struct pending {
	uint64_t id; /* cgroup */
	char pod_uid[37];
	char container_id[65];
};

struct lookup {
	struct manager *m;
	struct sources sources;
	struct map pending;		  /* by hash of what was asked for */
	uint64_t logs_shed;		  /* look-ups that the log directories were spared */
	bool was_down[META_SOURCE_COUNT]; /* as it was told last */
	struct credential_watch kubelet, api;
};

static void feed_last(struct manager *m, uint64_t id, const char *pod_uid, const char *container_id)
{
	struct obs obs;

	feed_begin(&obs, OBS_NAMES);
	obs.names.id = id;
	strcpy(obs.names.pod_uid, pod_uid);
	strcpy(obs.names.container_id, container_id);
	feed(m, &obs);
}

/* The question of key is over, for whoever asked it last. */
static void over(struct lookup *l, const char *key)
{
	struct pending *p = map_remove(&l->pending, map_key(key));

	if (p)
		feed_last(l->m, p->id, p->pod_uid, p->container_id);
	free(p);
}

/* False: nobody is told when the answer comes, so the question is over now. Who asked the same
 * before, of another cgroup, waits no longer. */
static bool expect(struct lookup *l, const char *key, const struct effect *effect)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->id = effect->id;
	strcpy(p->pod_uid, effect->pod_uid);
	strcpy(p->container_id, effect->container_id);
	over(l, key);
	if (map_put(&l->pending, map_key(key), p) == 0)
		return true;
	free(p);
	return false;
}

static void on_pod(void *userdata, const struct meta_pod *pod)
{
	struct lookup *l = userdata;
	struct obs obs;

	feed_begin(&obs, OBS_POD);
	obs.pod = *pod;
	feed(l->m, &obs);
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct lookup *l = userdata;
	struct obs obs;

	feed_begin(&obs, OBS_CONTAINER);
	obs.container = *container;
	feed(l->m, &obs);
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	over(userdata, key);
}

static void on_listed(void *userdata, enum meta_source source, uint64_t asked_ns)
{
	struct lookup *l = userdata;
	struct obs obs;

	feed_begin(&obs, OBS_LISTED);
	obs.listed.source = source;
	obs.listed.asked_ns = asked_ns;
	feed(l->m, &obs);
}

int lookup_open(struct manager *m, struct lookup **ret)
{
	struct lookup *l = calloc(1, sizeof(*l));
	struct podsrc_sink sink;
	int r;

	if (!l)
		return -ENOMEM;
	l->m = m;
	sink = (struct podsrc_sink){l, on_pod, on_container, on_done, on_listed};
	r = sources_open(m->event, m->options, &sink, &l->sources);
	if (r < 0) {
		lookup_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct lookup *lookup_free(struct lookup *l)
{
	struct pending *p;
	size_t pos = 0;

	if (!l)
		return NULL;
	sources_close(&l->sources);
	while ((p = map_next(&l->pending, &pos)))
		free(p);
	map_done(&l->pending);
	free(l);
	return NULL;
}

/* True: the unit's answer is to come. */
static bool ask_unit(struct lookup *l, const struct effect *effect)
{
	const char *known = engine_cgroup_path(l->m->engine, effect->id);
	char path[CGPATH_MAX];

	if (!l->sources.units || !known)
		return false;
	snprintf(path, sizeof(path), "%s", known);
	if (!expect(l, path, effect))
		return false;
	podsrc_units_find(l->sources.units, path);
	return true;
}

static bool ask_cri(struct lookup *l, const struct effect *effect)
{
	if (!l->sources.cri || !effect->pod_uid[0] || !expect(l, effect->container_id, effect))
		return false;
	podsrc_cri_find(l->sources.cri, effect->container_id);
	return true;
}

/* It knows more of what is in a pod than any file. */
static bool cri_answers(const struct lookup *l)
{
	struct podsrc_state state;

	sources_get_state(&l->sources, META_CRI, &state);
	return state.status == PODSRC_UP;
}

static void ask_files(struct lookup *l, const struct effect *effect)
{
	enum cgpath_runtime runtime = (enum cgpath_runtime)effect->runtime;
	struct meta_container container;
	enum meta_result result;

	if (!effect->pod_uid[0])
		result = podsrc_files_find(l->sources.files, effect->container_id, runtime,
					   &container);
	else if (cri_answers(l))
		return;
	else
		result = podsrc_files_find_in_pod(l->sources.files, effect->container_id, runtime,
						  effect->pod_uid, &container);
	if (result == META_FOUND)
		on_container(l, &container);
}

/* The log directories' word is fed at once, and whether there is more to come. */
static void ask_logs(struct lookup *l, const struct effect *effect)
{
	struct manager *m = l->m;
	struct obs obs;

	if (!m->logs || !effect->pod_uid[0])
		return;
	feed_begin(&obs, OBS_NAMES);
	podsrc_logs_find(m->logs, effect->pod_uid, effect->container_id, &obs.names);
	obs.names.id = effect->id;
	obs.names.more = true;
	feed(m, &obs);
}

static bool names_are_shed(const struct manager *m)
{
	return shed_of(m->shed, engine_in_shutdown(m->engine)) >= SHED_NAMES;
}

void lookup_names(struct manager *m, const struct effect *effect)
{
	struct lookup *l = m->lookup;
	bool more = false;

	if (l && names_are_shed(m)) {
		l->logs_shed++;
	} else if (l) {
		ask_logs(l, effect);
		ask_files(l, effect);
		more = effect->kind == GRACED_WATCH_SERVICE ? ask_unit(l, effect)
							    : ask_cri(l, effect);
	}
	if (!more)
		feed_last(m, effect->id, effect->pod_uid, effect->container_id);
}

void lookup_pod(struct manager *m, const struct effect *effect)
{
	struct lookup *l = m->lookup;
	struct podsrc_kubelet *source = l ? sources_of_pod(&l->sources, effect->pod_uid) : NULL;

	if (source && !names_are_shed(m) && expect(l, effect->pod_uid, effect))
		podsrc_kubelet_refresh(source, effect->pod_uid);
	else
		feed_last(m, effect->id, effect->pod_uid, "");
}

void lookup_hurry(struct manager *m)
{
	const struct lookup *l = m->lookup;

	if (l && l->sources.kubelet)
		podsrc_kubelet_hurry(l->sources.kubelet);
	if (l && l->sources.api)
		podsrc_kubelet_hurry(l->sources.api);
}

void lookup_exit(struct manager *m, const struct effect *effect)
{
	struct lookup *l = m->lookup;

	if (l && l->sources.cri && !names_are_shed(m))
		podsrc_cri_exit(l->sources.cri, effect->container_id);
}

/*
 * The path is the engine's: the kernel tells of a cgroup before anybody can open it by its id
 * (kernel/cgroup/cgroup.c, cgroup_mkdir()), and it may be gone by now.
 */
static bool identify(struct lookup *l, uint64_t id, struct meta_container *ret)
{
	const char *path = l ? engine_cgroup_path(l->m->engine, id) : NULL;

	return path && podsrc_files_identify(l->sources.files, path, ret) == META_FOUND;
}

void lookup_identify(struct manager *m, const struct effect *effect)
{
	struct meta_container container;
	bool found = identify(m->lookup, effect->id, &container);
	struct obs obs;

	if (!found && !effect->kind)
		return;
	feed_begin(&obs, OBS_IDENTITY);
	obs.identity.id = effect->id;
	if (found) {
		obs.identity.runtime = CGPATH_RT_CONTAINERD;
		strcpy(obs.identity.container_id, container.id);
	}
	feed(m, &obs);
	if (found)
		on_container(m->lookup, &container);
}

static void logs_state(const struct manager *m, struct podsrc_state *ret)
{
	if (!m->logs)
		return;
	podsrc_logs_get_state(m->logs, ret);
	ret->lookups[META_SHED] += m->lookup->logs_shed;
}

void lookup_get_state(const struct manager *m, enum meta_source source, struct podsrc_state *ret)
{
	const struct lookup *l = m->lookup;

	*ret = (struct podsrc_state){};
	if (!l)
		return;
	if (source == META_LOGS)
		logs_state(m, ret);
	else
		sources_get_state(&l->sources, source, ret);
}

static void log_expiry(struct lookup *l, enum meta_source source,
		       const struct credential *credential)
{
	const struct sources_options *o = &l->m->options->sources;

	if (source == META_KUBELET)
		expiry_log(&l->kubelet, source, &o->kubelet, credential);
	else if (source == META_API)
		expiry_log(&l->api, source, &o->api, credential);
}

static void tell_change(struct lookup *l, enum meta_source source)
{
	struct podsrc_state state;
	bool *was_down = l->was_down + source;

	lookup_get_state(l->m, source, &state);
	log_expiry(l, source, &state.credential);
	if (state.status == PODSRC_DOWN && !*was_down)
		log_warning("%s: %s: %s; it is asked again, names may be missing meanwhile",
			    meta_source_name(source), state.where, state.text);
	else if (state.status == PODSRC_UP && *was_down)
		log_info("%s: %s answers again", meta_source_name(source), state.where);
	else
		return;
	*was_down = state.status == PODSRC_DOWN;
}

void lookup_tell_changes(struct manager *m)
{
	for (int source = META_NONE + 1; m->lookup && source < META_SOURCE_COUNT; source++)
		tell_change(m->lookup, (enum meta_source)source);
}
