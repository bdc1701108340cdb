// SPDX-License-Identifier: Apache-2.0
/* Queries the sources of metadata, and feeds their answers. */
#include "app/live/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/log.h"
#include "base/map.h"
#include "io/proc/clock.h"
#include "io/sources/logs/logs.h"

/* A query that some source has yet to answer. */
struct pending {
	uint64_t id; /* cgroup */
	char pod_uid[37];
	char container_id[65];
};

struct lookup {
	const struct options *options;
	struct feed *feed;
	struct podsrc_logs *logs; /* NULL: no names are looked up */
	bool open;		  /* the sources are */
	struct sources sources;
	struct map pending;		  /* by hash of what was queried */
	enum shed shed;			  /* the budget's level, that of shed_of() */
	uint64_t logs_shed;		  /* look-ups that the log directories were spared */
	bool was_down[META_SOURCE_COUNT]; /* as it was logged last */
	struct credential_watch kubelet, api;
	char kubelet_where[256]; /* where it was queried last, as it was logged; "" */
};

static void feed_last(struct lookup *l, uint64_t id, const char *pod_uid, const char *container_id)
{
	struct obs obs;

	feed_begin(&obs, OBS_NAMES);
	obs.names.id = id;
	strcpy(obs.names.pod_uid, pod_uid);
	strcpy(obs.names.container_id, container_id);
	feed_obs(l->feed, &obs);
}

/* The query of key has its last answer. */
static void conclude(struct lookup *l, const char *key)
{
	struct pending *p = map_remove(&l->pending, map_key(key));

	if (p)
		feed_last(l, p->id, p->pod_uid, p->container_id);
	free(p);
}

/* False: out of memory, so that the query is over now. An earlier query of the same, for another
 * cgroup, is concluded. */
static bool expect(struct lookup *l, const char *key, const struct effect *effect)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->id = effect->id;
	strcpy(p->pod_uid, effect->pod_uid);
	strcpy(p->container_id, effect->container_id);
	conclude(l, key);
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
	feed_obs(l->feed, &obs);
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct lookup *l = userdata;
	struct obs obs;

	feed_begin(&obs, OBS_CONTAINER);
	obs.container = *container;
	feed_obs(l->feed, &obs);
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	conclude(userdata, key);
}

static void on_listed(void *userdata, enum meta_source source, uint64_t asked_ns)
{
	struct lookup *l = userdata;
	struct obs obs;

	feed_begin(&obs, OBS_LISTED);
	obs.listed.source = source;
	obs.listed.asked_ns = asked_ns;
	feed_obs(l->feed, &obs);
}

static void on_log_names(void *userdata, const struct obs_names *names)
{
	struct lookup *l = userdata;
	struct obs obs;

	feed_begin(&obs, OBS_NAMES);
	obs.names = *names;
	/* This answers no query: one that is pending still has its own answers. */
	obs.names.more = true;
	feed_obs(l->feed, &obs);
}

void lookup_feed_logs(struct lookup *l)
{
	if (l->logs)
		podsrc_logs_each(l->logs, on_log_names, l);
}

int lookup_new(const struct options *options, struct feed *feed, struct lookup **ret)
{
	struct lookup *l = calloc(1, sizeof(*l));
	int r = l ? 0 : -ENOMEM;

	if (r >= 0 && !options->no_names)
		r = podsrc_logs_new(options->log_dir, &l->logs);
	if (r < 0) {
		free(l);
		return r;
	}
	l->options = options;
	l->feed = feed;
	*ret = l;
	return 0;
}

int lookup_open(struct lookup *l, sd_event *event)
{
	const struct podsrc_sink sink = {l, on_pod, on_container, on_done, on_listed};

	if (l->options->no_names)
		return 0;
	l->open = true;
	return sources_open(event, l->options, &sink, &l->sources);
}

struct lookup *lookup_free(struct lookup *l)
{
	struct pending *p;
	size_t pos = 0;

	if (!l)
		return NULL;
	if (l->open)
		sources_close(&l->sources);
	while ((p = map_next(&l->pending, &pos)))
		free(p);
	map_done(&l->pending);
	podsrc_logs_free(l->logs);
	free(l);
	return NULL;
}

/* True: the unit's answer is to come. */
static bool query_unit(struct lookup *l, const struct effect *effect)
{
	const char *known = engine_cgroup_path(feed_engine(l->feed), effect->id);
	char path[CGPATH_MAX];

	if (!l->sources.units || !known)
		return false;
	snprintf(path, sizeof(path), "%s", known);
	if (!expect(l, path, effect))
		return false;
	podsrc_units_find(l->sources.units, path);
	return true;
}

static bool query_cri(struct lookup *l, const struct effect *effect)
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

static void query_files(struct lookup *l, const struct effect *effect)
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

/* What the log directories provide is fed at once. */
static void query_logs(struct lookup *l, const struct effect *effect)
{
	struct obs obs;

	if (!l->logs || !effect->pod_uid[0])
		return;
	feed_begin(&obs, OBS_NAMES);
	podsrc_logs_find(l->logs, effect->pod_uid, effect->container_id, &obs.names);
	obs.names.id = effect->id;
	obs.names.more = true;
	feed_obs(l->feed, &obs);
}

void lookup_set_shed(struct lookup *l, enum shed level)
{
	l->shed = level;
}

static bool names_are_shed(const struct lookup *l)
{
	return shed_of(l->shed, engine_in_shutdown(feed_engine(l->feed))) >= SHED_NAMES;
}

void lookup_names(struct lookup *l, const struct effect *effect)
{
	bool more = false;

	if (l->open && names_are_shed(l)) {
		l->logs_shed++;
	} else if (l->open) {
		query_logs(l, effect);
		query_files(l, effect);
		more = effect->kind == GRACED_WATCH_SERVICE ? query_unit(l, effect)
							    : query_cri(l, effect);
	}
	if (!more)
		feed_last(l, effect->id, effect->pod_uid, effect->container_id);
}

void lookup_pod(struct lookup *l, const struct effect *effect)
{
	struct podsrc_kubelet *source =
		l->open ? sources_of_pod(&l->sources, effect->pod_uid) : NULL;

	if (source && !names_are_shed(l) && expect(l, effect->pod_uid, effect))
		podsrc_kubelet_refresh(source, effect->pod_uid);
	else
		feed_last(l, effect->id, effect->pod_uid, "");
}

int lookup_stop(struct lookup *l, const struct podsrc_cri_stop *stop)
{
	return l->sources.cri ? podsrc_cri_stop(l->sources.cri, stop) : -ENOTCONN;
}

void lookup_hurry(struct lookup *l)
{
	if (l->sources.kubelet)
		podsrc_kubelet_hurry(l->sources.kubelet);
	if (l->sources.api)
		podsrc_kubelet_hurry(l->sources.api);
}

void lookup_exit(struct lookup *l, const struct effect *effect)
{
	if (l->sources.cri && !names_are_shed(l))
		podsrc_cri_exit(l->sources.cri, effect->container_id);
}

/*
 * The path is the engine's: the kernel reports a cgroup before it can be opened by its id
 * (kernel/cgroup/cgroup.c, cgroup_mkdir()), and it may be gone by now.
 */
static bool identify(struct lookup *l, uint64_t id, struct meta_container *ret)
{
	const char *path = l->open ? engine_cgroup_path(feed_engine(l->feed), id) : NULL;

	return path && podsrc_files_identify(l->sources.files, path, ret) == META_FOUND;
}

void lookup_identify(struct lookup *l, const struct effect *effect)
{
	struct meta_container container;
	bool found = identify(l, effect->id, &container);
	struct obs obs;

	if (!found && !effect->kind)
		return;
	feed_begin(&obs, OBS_IDENTITY);
	obs.identity.id = effect->id;
	if (found) {
		obs.identity.runtime = CGPATH_RT_CONTAINERD;
		strcpy(obs.identity.container_id, container.id);
	}
	feed_obs(l->feed, &obs);
	if (found)
		on_container(l, &container);
}

static void logs_state(const struct lookup *l, struct podsrc_state *ret)
{
	if (!l->logs)
		return;
	podsrc_logs_get_state(l->logs, ret);
	ret->lookups[META_SHED] += l->logs_shed;
}

void lookup_get_state(const struct lookup *l, enum meta_source source, struct podsrc_state *ret)
{
	*ret = (struct podsrc_state){};
	if (!l->open)
		return;
	if (source == META_LOGS)
		logs_state(l, ret);
	else
		sources_get_state(&l->sources, source, ret);
}

static void log_expiry(struct lookup *l, enum meta_source source,
		       const struct credential *credential)
{
	const struct sources_options *o = &l->options->sources;

	if (source == META_KUBELET)
		sources_log_expiry(&l->kubelet, source, &o->kubelet, credential);
	else if (source == META_API)
		sources_log_expiry(&l->api, source, &o->api, credential);
}

/* By its socket or by its URL. */
static void log_way(struct lookup *l, enum meta_source source, const struct podsrc_state *state)
{
	if (source != META_KUBELET || state->status != PODSRC_UP ||
	    strcmp(l->kubelet_where, state->where) == 0)
		return;
	strcpy(l->kubelet_where, state->where);
	log_info("%s: queried at %s: %s", meta_source_name(source), state->where, state->text);
}

static void log_change(struct lookup *l, enum meta_source source)
{
	struct podsrc_state state;
	bool *was_down = l->was_down + source;

	lookup_get_state(l, source, &state);
	log_expiry(l, source, &state.credential);
	log_way(l, source, &state);
	if (state.status == PODSRC_DOWN && !*was_down)
		log_warning("%s: %s: %s; it is queried again, names may be missing meanwhile",
			    meta_source_name(source), state.where, state.text);
	else if (state.status == PODSRC_UP && *was_down)
		log_info("%s: %s answers again", meta_source_name(source), state.where);
	else
		return;
	*was_down = state.status == PODSRC_DOWN;
}

void lookup_log_changes(struct lookup *l)
{
	for (int source = META_NONE + 1; l->open && source < META_SOURCE_COUNT; source++)
		log_change(l, (enum meta_source)source);
}
