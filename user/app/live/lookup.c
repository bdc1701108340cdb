// SPDX-License-Identifier: Apache-2.0
/* Queries the sources of metadata, and feeds their answers. */
#include "app/live/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/log.h"
#include "base/map.h"
#include "core/cgroup/map.h"
#include "io/sources/logs/logs.h"

/* Look-ups that are made up for at once. */
#define OWED_MAX 32

/* A query that some source has yet to answer. */
struct pending {
	uint64_t id; /* cgroup */
	char pod_uid[37];
	char container_id[65];
	bool again; /* the engine does not wait for it */
};

struct lookup {
	const struct options *options;
	struct feed *feed;
	struct source_logs *logs; /* NULL: no names are looked up */
	bool open;		  /* the sources are */
	struct sources sources;
	struct map pending;		  /* by hash of what was queried */
	enum shed shed;			  /* the budget's level, that of shed_of() */
	bool owes;			  /* a look-up was shed, and may have to be made up for */
	uint64_t logs_shed;		  /* look-ups that the log directories were spared */
	bool was_down[META_SOURCE_COUNT]; /* as it was logged last */
	struct credential_watch kubelet, api;
	char kubelet_where[256]; /* where it was queried last, as it was logged; "" */
};

/* result: META_ABSENT where no source was there to query, too. */
static void feed_last(struct lookup *l, const struct pending *query, enum meta_result result)
{
	struct obs obs;

	feed_begin(&obs, OBS_NAMES);
	obs.names.id = query->id;
	strcpy(obs.names.pod_uid, query->pod_uid);
	strcpy(obs.names.container_id, query->container_id);
	obs.names.failed = result == META_FAILED;
	obs.names.shed = result == META_SHED;
	l->owes |= obs.names.shed;
	feed_obs(l->feed, &obs);
}

static void feed_end(struct lookup *l, const struct effect *effect, enum meta_result result)
{
	struct pending query = {.id = effect->id};

	strcpy(query.pod_uid, effect->pod_uid);
	strcpy(query.container_id, effect->container_id);
	feed_last(l, &query, result);
}

/* The query of key has its last answer. */
static void conclude(struct lookup *l, const char *key, enum meta_result result)
{
	struct pending *p = map_remove(&l->pending, map_key(key));

	if (p)
		feed_last(l, p, result);
	free(p);
}

/* An earlier query of the same, for another cgroup, is concluded, and what it would have found is
 * unknown; one that only repeated another is forgotten. */
static void supersede(struct lookup *l, const char *key)
{
	const struct pending *p = map_get(&l->pending, map_key(key));

	if (p && p->again)
		free(map_remove(&l->pending, map_key(key)));
	else
		conclude(l, key, META_FAILED);
}

/* False: out of memory, so that the query is over now. */
static bool expect(struct lookup *l, const char *key, const struct effect *effect, bool again)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->again = again;
	p->id = effect->id;
	strcpy(p->pod_uid, effect->pod_uid);
	strcpy(p->container_id, effect->container_id);
	supersede(l, key);
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
	conclude(userdata, key, result);
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
		source_logs_each(l->logs, on_log_names, l);
}

int lookup_new(const struct options *options, struct feed *feed, struct lookup **ret)
{
	struct lookup *l = calloc(1, sizeof(*l));
	int r = l ? 0 : -ENOMEM;

	if (r >= 0 && !options->no_names)
		r = source_logs_new(options->log_dir, &l->logs);
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
	const struct source_sink sink = {l, on_pod, on_container, on_done, on_listed};

	if (l->options->no_names)
		return 0;
	l->open = true;
	return sources_open(event, l->options, &sink, false, &l->sources);
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
	source_logs_free(l->logs);
	free(l);
	return NULL;
}

/* True: the unit's answer is to come. */
static bool query_unit(struct lookup *l, const struct effect *effect, bool again)
{
	const char *known = engine_cgroup_path(feed_engine(l->feed), effect->id);
	char path[CGPATH_MAX];

	if (!l->sources.units || !known)
		return false;
	snprintf(path, sizeof(path), "%s", known);
	if (!expect(l, path, effect, again))
		return false;
	source_units_find(l->sources.units, path);
	return true;
}

static bool query_cri(struct lookup *l, const struct effect *effect, bool again)
{
	if (!l->sources.cri || !effect->pod_uid[0] ||
	    !expect(l, effect->container_id, effect, again))
		return false;
	source_cri_find(l->sources.cri, effect->container_id);
	return true;
}

/* A user's engine alone means that user's container. True: the answer is to come. */
static bool query_home(struct lookup *l, const struct effect *effect, bool again)
{
	char key[SOURCE_HOMES_KEY_SIZE];

	source_homes_key(effect->user, effect->container_id, key);
	if (!expect(l, key, effect, again))
		return false;
	source_homes_find(l->sources.homes, effect->user, effect->container_id,
			  (enum cgpath_runtime)effect->runtime);
	return true;
}

/* It knows more of what is in a pod than any file. */
static bool cri_answers(const struct lookup *l)
{
	struct source_state state;

	sources_get_state(&l->sources, META_CRI, &state);
	return state.status == SOURCE_UP;
}

static enum meta_result query_files(struct lookup *l, const struct effect *effect)
{
	enum cgpath_runtime runtime = (enum cgpath_runtime)effect->runtime;
	struct meta_container container;
	enum meta_result result;

	if (!effect->pod_uid[0])
		result = source_files_find(l->sources.files, effect->container_id, runtime,
					   &container);
	else if (cri_answers(l))
		return META_ABSENT;
	else
		result = source_files_find_in_pod(l->sources.files, effect->container_id, runtime,
						  effect->pod_uid, &container);
	if (result == META_FOUND)
		on_container(l, &container);
	return result;
}

/* What the log directories provide is fed at once. */
static void query_logs(struct lookup *l, const struct effect *effect)
{
	struct obs obs;

	if (!l->logs || !effect->pod_uid[0])
		return;
	feed_begin(&obs, OBS_NAMES);
	source_logs_find(l->logs, effect->pod_uid, effect->container_id, &obs.names);
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

/* META_FAILED for a wanted runtime or kubelet that cannot be queried without libcurl. */
static enum meta_result without(const struct lookup *l, enum meta_source source)
{
	bool wanted = sources_asked(l->options) >> source & 1;

	return wanted && l->sources.lacks.text[0] ? META_FAILED : META_ABSENT;
}

static void query(struct lookup *l, const struct effect *effect, bool again)
{
	bool more, of_pod = effect->pod_uid[0], is_unit = effect->kind == GRACED_WATCH_SERVICE;
	enum meta_result result;

	if (effect->user) {
		if (!query_home(l, effect, again))
			feed_end(l, effect, META_FAILED);
		return;
	}
	query_logs(l, effect);
	result = query_files(l, effect);
	more = is_unit ? query_unit(l, effect, again) : query_cri(l, effect, again);
	if (!more && of_pod && result != META_FOUND && l->sources.cri)
		result = META_FAILED; /* there is no memory to wait for it */
	else if (!more && of_pod && result != META_FAILED)
		result = without(l, META_CRI);
	if (!more)
		feed_end(l, effect, result);
}

void lookup_names(struct lookup *l, const struct effect *effect)
{
	if (l->open && !names_are_shed(l)) {
		query(l, effect, false);
		return;
	}
	l->logs_shed += l->open;
	feed_end(l, effect, l->open ? META_SHED : META_ABSENT);
}

static void query_pod(struct lookup *l, const struct effect *effect, bool again)
{
	struct source_kubelet *source = sources_of_pod(&l->sources, effect->pod_uid);

	if (!source)
		feed_end(l, effect, without(l, META_KUBELET));
	else if (names_are_shed(l))
		feed_end(l, effect, META_SHED);
	else if (expect(l, effect->pod_uid, effect, again))
		source_kubelet_refresh(source, effect->pod_uid);
	else
		feed_end(l, effect, META_FAILED);
}

void lookup_pod(struct lookup *l, const struct effect *effect)
{
	if (l->open)
		query_pod(l, effect, false);
	else
		feed_end(l, effect, META_ABSENT);
}

/* What a query of its names is pending by; it may be written to buf. */
static const char *key_of(const struct lookup *l, const struct effect *effect,
			  char buf[static SOURCE_HOMES_KEY_SIZE])
{
	if (effect->user) {
		source_homes_key(effect->user, effect->container_id, buf);
		return buf;
	}
	if (effect->kind != GRACED_WATCH_SERVICE)
		return effect->container_id;
	return engine_cgroup_path(feed_engine(l->feed), effect->id) ?: "";
}

/* Whether the engine waits for it. */
static bool is_awaited(const struct lookup *l, const char *key)
{
	const struct pending *p = map_get(&l->pending, map_key(key));

	return p && !p->again;
}

void lookup_again(struct lookup *l, const struct effect *effect)
{
	struct effect of_pod = {.type = EFFECT_FIND_POD};
	char buf[SOURCE_HOMES_KEY_SIZE];

	if (!l->open || names_are_shed(l))
		return;
	if (!is_awaited(l, key_of(l, effect, buf)))
		query(l, effect, true);
	strcpy(of_pod.pod_uid, effect->pod_uid);
	if (of_pod.pod_uid[0] && sources_of_pod(&l->sources, of_pod.pod_uid) &&
	    !is_awaited(l, of_pod.pod_uid))
		query_pod(l, &of_pod, true);
}

void lookup_effect_of(const struct engine_running *running, struct effect *ret)
{
	*ret = (struct effect){.type = EFFECT_FIND_NAMES,
			       .id = running->id,
			       .kind = running->kind,
			       .runtime = running->container.runtime,
			       .user = running->container.user};
	if (running->pod.uid)
		strncpy(ret->pod_uid, running->pod.uid, sizeof(ret->pod_uid) - 1);
	if (running->container.id)
		strncpy(ret->container_id, running->container.id, sizeof(ret->container_id) - 1);
}

struct owed {
	struct effect query[OWED_MAX];
	size_t n;
};

static void add_owed(void *userdata, const struct engine_running *running)
{
	struct owed *owed = userdata;

	if (running->lapse & LAPSE_SHED && owed->n < OWED_MAX)
		lookup_effect_of(running, &owed->query[owed->n++]);
}

void lookup_make_up(struct lookup *l)
{
	struct owed owed = {};

	if (!l->owes || !l->open || names_are_shed(l))
		return;
	engine_each_container(feed_engine(l->feed), add_owed, &owed);
	l->owes = owed.n == OWED_MAX;
	for (size_t i = 0; i < owed.n; i++)
		lookup_again(l, &owed.query[i]);
}

int lookup_stop(struct lookup *l, const struct source_cri_stop *stop)
{
	return l->sources.cri ? source_cri_stop(l->sources.cri, stop) : -ENOTCONN;
}

void lookup_hurry(struct lookup *l)
{
	if (l->sources.kubelet)
		source_kubelet_hurry(l->sources.kubelet);
	if (l->sources.api)
		source_kubelet_hurry(l->sources.api);
}

void lookup_exit(struct lookup *l, const struct effect *effect)
{
	if (l->sources.cri && !names_are_shed(l))
		source_cri_exit(l->sources.cri, effect->container_id);
}

/*
 * The path is the engine's: the kernel reports a cgroup before it can be opened by its id
 * (kernel/cgroup/cgroup.c, cgroup_mkdir()), and it may be gone by now.
 */
static bool identify(struct lookup *l, uint64_t id, struct meta_container *ret)
{
	const char *path = l->open ? engine_cgroup_path(feed_engine(l->feed), id) : NULL;

	return path && source_files_identify(l->sources.files, path, ret) == META_FOUND;
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

static void logs_state(const struct lookup *l, struct source_state *ret)
{
	if (!l->logs)
		return;
	source_logs_get_state(l->logs, ret);
	ret->lookups[META_SHED] += l->logs_shed;
}

void lookup_get_state(const struct lookup *l, enum meta_source source, struct source_state *ret)
{
	*ret = (struct source_state){};
	if (!l->open)
		return;
	if (source == META_LOGS)
		logs_state(l, ret);
	else
		sources_get_state(&l->sources, source, ret);
}

bool lookup_is_settled(const struct lookup *l)
{
	return !l->open || sources_settled(&l->sources);
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
static void log_way(struct lookup *l, enum meta_source source, const struct source_state *state)
{
	if (source != META_KUBELET || state->status != SOURCE_UP ||
	    strcmp(l->kubelet_where, state->where) == 0)
		return;
	strcpy(l->kubelet_where, state->where);
	log_info("%s: queried at %s: %s", meta_source_name(source), state->where, state->text);
}

static void log_change(struct lookup *l, enum meta_source source)
{
	struct source_state state;
	bool *was_down = l->was_down + source;

	lookup_get_state(l, source, &state);
	log_expiry(l, source, &state.credential);
	log_way(l, source, &state);
	if (state.status == SOURCE_DOWN && !*was_down)
		log_warning("%s: %s: %s; it is queried again, names may be missing meanwhile",
			    meta_source_name(source), state.where, state.text);
	else if (state.status == SOURCE_UP && *was_down)
		log_info("%s: %s answers again", meta_source_name(source), state.where);
	else
		return;
	*was_down = state.status == SOURCE_DOWN;
}

void lookup_log_changes(struct lookup *l)
{
	for (int source = META_NONE + 1; l->open && source < META_SOURCE_COUNT; source++)
		log_change(l, (enum meta_source)source);
}
