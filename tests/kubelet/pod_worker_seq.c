// SPDX-License-Identifier: Apache-2.0
/* Drives kubelet/model/pod_worker step by step, kind sequence of pod_worker.json: the workers run
 * when a step says so, and their calls end as the steps before said. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kubelet/vectors.h"
#include "kubelet/pods.h"

/* More than any case takes: a worker that never comes to rest fails. */
#define MAX_CALLS 100000

struct step {
	const char *op;
	int (*run)(struct vectors_pods_world *w, json_t *step);
};

static void noted(void *userdata, const struct podworker_effect *effect)
{
	struct vectors_pods_world *w = userdata;

	if (effect->type == PODWORKER_CANCEL)
		json_array_append_new(w->cancels, json_string(effect->uid));
	else if (effect->type == PODWORKER_STOPPED)
		json_array_append(w->completed,
				  json_array_get(w->words, (size_t)effect->waiter - 1));
}

static int read_word(struct vectors_pods_world *w, json_t *word, uint64_t *ret)
{
	if (!word || json_is_null(word))
		return 0;
	if (!json_is_string(word) || json_array_append(w->words, word) < 0)
		return -EINVAL;
	*ret = json_array_size(w->words);
	return 0;
}

static int read_kill(struct vectors_pods_world *w, json_t *json, struct podworker_kill *ret)
{
	*ret = (struct podworker_kill){.evict = json_is_true(json_object_get(json, "evict"))};
	if (vectors_pods_read_seconds(json_object_get(json, "grace"), &ret->grace) < 0 ||
	    read_word(w, json_object_get(json, "notify"), &ret->waiter) < 0 ||
	    read_word(w, json_object_get(json, "status_fn"), &ret->status_fn) < 0)
		return -EINVAL;
	return 0;
}

static int read_type(const char *name, enum podworker_type *ret)
{
	for (unsigned int i = 0; podworker_type_name(i); i++)
		if (strcmp(podworker_type_name(i), name) == 0) {
			*ret = (enum podworker_type)i;
			return 0;
		}
	return -EINVAL;
}

/* A pod that the runtime has never heard of is quiet there. */
static void read_cache(const struct vectors_pods_world *w, struct podworker_pod *pod)
{
	const char *cache = json_string_value(json_object_get(w->caches, pod->uid));

	if (!cache || strcmp(cache, "terminal") == 0)
		pod->runtime = PODWORKER_RUNTIME_QUIET;
	else if (strcmp(cache, "notfound") == 0)
		pod->runtime = PODWORKER_RUNTIME_ERROR;
	else
		pod->runtime = PODWORKER_RUNTIME_RUNS;
}

static int op_update(struct vectors_pods_world *w, json_t *step)
{
	json_t *json, *pod_json = NULL, *running_json = NULL, *kill_json = NULL;
	struct podworker_pod pod;
	struct podworker_running running;
	struct podworker_kill kill;
	struct podworker_update update = {};
	const char *type;
	int r;

	if (json_unpack(step, "{s:o}", "update", &json) < 0 ||
	    json_unpack(json, "{s:s, s?o, s?o, s?o}", "type", &type, "pod", &pod_json,
			"running_pod", &running_json, "kill", &kill_json) < 0 ||
	    read_type(type, &update.type) < 0)
		return -EINVAL;
	if (json_is_object(pod_json)) {
		if (vectors_pods_read(pod_json, &pod) < 0)
			return -EINVAL;
		read_cache(w, &pod);
		update.pod = &pod;
	}
	if (json_is_object(running_json)) {
		if (vectors_pods_read_running(running_json, &running) < 0)
			return -EINVAL;
		update.running = &running;
	}
	if (json_is_object(kill_json)) {
		if (read_kill(w, kill_json, &kill) < 0)
			return -EINVAL;
		update.kill = &kill;
	}
	r = podworker_update(w->pw, &update, w->now);
	w->now++;
	return r < 0 ? r : 0;
}

static int note_call(struct vectors_pods_world *w, const struct podworker_call *call)
{
	json_t *calls = json_object_get(w->calls, call->uid);
	json_t *json = json_pack("{s:s}", "call", podworker_call_name(call->kind));

	if (call->kind == PODWORKER_CALL_SYNC_POD)
		json_object_set_new(json, "type", json_string(podworker_type_name(call->type)));
	if (call->kind == PODWORKER_CALL_TERMINATING_POD)
		json_object_set_new(json, "grace",
				    call->grace.set ? json_integer(call->grace.s) : json_null());
	if (call->status_fn)
		json_object_set(json, "status_fn",
				json_array_get(w->words, (size_t)call->status_fn - 1));
	if (calls)
		return json_array_append_new(calls, json);
	return json_object_set_new(w->calls, call->uid, json_pack("[o]", json));
}

static enum podworker_result result_of(struct vectors_pods_world *w,
				       const struct podworker_call *call)
{
	switch (call->kind) {
	case PODWORKER_CALL_SYNC_POD:
		if (json_object_del(w->ends_next, call->uid) == 0)
			return PODWORKER_TERMINAL;
		return PODWORKER_OK;
	case PODWORKER_CALL_TERMINATED_POD:
		return w->terminated_fails ? PODWORKER_FAILED : PODWORKER_OK;
	default:
		return w->terminating_fails ? PODWORKER_FAILED : PODWORKER_OK;
	}
}

/* The lowest UID whose worker can run and may. */
static const char *runnable(const struct vectors_pods_world *w)
{
	const struct podworker_record *rec;
	const char *lowest = NULL;

	TAILQ_FOREACH(rec, &w->pw->ready, ready) {
		if (json_object_get(w->held, rec->uid))
			continue;
		if (!lowest || strcmp(rec->uid, lowest) < 0)
			lowest = rec->uid;
	}
	return lowest;
}

static int op_drain(struct vectors_pods_world *w, json_t *step)
{
	struct podworker_outcome outcome = {};
	struct podworker_call call;
	const char *uid;

	for (int i = 0; (uid = runnable(w)); i++) {
		if (i >= MAX_CALLS)
			return -ELOOP;
		w->now++;
		if (podworker_start(w->pw, uid, w->now, 0, &call) <= 0)
			continue;
		if (note_call(w, &call) < 0)
			return -ENOMEM;
		outcome.result = result_of(w, &call);
		podworker_done(w->pw, call.uid, &outcome, w->now);
	}
	return 0;
}

static const char *uid_in(json_t *step)
{
	return json_string_value(json_object_get(step, "uid"));
}

static int op_hold(struct vectors_pods_world *w, json_t *step)
{
	return uid_in(step) ? json_object_set_new(w->held, uid_in(step), json_true()) : -EINVAL;
}

static int op_release(struct vectors_pods_world *w, json_t *step)
{
	if (!uid_in(step))
		return -EINVAL;
	json_object_del(w->held, uid_in(step));
	return 0;
}

static int op_runtime_cache(struct vectors_pods_world *w, json_t *step)
{
	if (!uid_in(step) || !json_is_string(json_object_get(step, "value")))
		return -EINVAL;
	return json_object_set(w->caches, uid_in(step), json_object_get(step, "value"));
}

static int op_next_sync(struct vectors_pods_world *w, json_t *step)
{
	return uid_in(step) ? json_object_set_new(w->ends_next, uid_in(step), json_true())
			    : -EINVAL;
}

static int op_terminating_error(struct vectors_pods_world *w, json_t *step)
{
	w->terminating_fails = json_is_true(json_object_get(step, "value"));
	return json_is_boolean(json_object_get(step, "value")) ? 0 : -EINVAL;
}

static int op_terminated_error(struct vectors_pods_world *w, json_t *step)
{
	w->terminated_fails = json_is_true(json_object_get(step, "value"));
	return json_is_boolean(json_object_get(step, "value")) ? 0 : -EINVAL;
}

static int op_preset(struct vectors_pods_world *w, json_t *step)
{
	const char *fullname = json_string_value(json_object_get(step, "fullname"));

	if (!fullname || !uid_in(step))
		return -EINVAL;
	return podworker_name_start(w->pw, fullname, uid_in(step));
}

static void note_known(void *userdata, const struct podworker_known *known)
{
	json_object_set_new(userdata, known->uid,
			    json_pack("{s:s, s:b, s:b, s:b}", "state",
				      podworker_state_name(known->state), "orphan", known->orphan,
				      "has_config", known->has_config, "static", known->is_static));
}

static int op_sync_known(struct vectors_pods_world *w, json_t *step)
{
	json_t *desired = json_object_get(step, "desired"), *result = json_object();
	size_t n = json_array_size(desired);
	_cleanup_(cleanup_free) const char **uids = calloc(n + 1, sizeof(*uids));

	if (!uids || !result || !json_is_array(desired)) {
		json_decref(result);
		return -EINVAL;
	}
	for (size_t i = 0; i < n; i++)
		uids[i] = json_string_value(json_array_get(desired, i));
	podworker_sync_known(w->pw, uids, n, w->now, note_known, result);
	return json_array_append_new(w->results, json_pack("{s:o}", "sync_known", result));
}

static bool has_string(json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_string(json_array_get(list, i)) &&
		    strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return true;
	return false;
}

static int op_housekeeping(struct vectors_pods_world *w, json_t *step)
{
	json_t *config = json_object_get(step, "config_pods");
	json_t *runtime = json_object_get(step, "runtime_pods");
	json_t *rejected = json_object_get(step, "rejected_uids");
	size_t n = json_array_size(config), m = json_array_size(runtime);
	_cleanup_(cleanup_free) struct podworker_pod *pods = calloc(n + 1, sizeof(*pods));
	_cleanup_(cleanup_free) struct podworker_running *running = calloc(m + 1, sizeof(*running));
	struct podworker_house house;
	int r;

	if (!pods || !running)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (vectors_pods_read(json_array_get(config, i), &pods[i]) < 0)
			return -EINVAL;
		read_cache(w, &pods[i]);
		pods[i].ended_here = has_string(rejected, pods[i].uid);
	}
	for (size_t i = 0; i < m; i++)
		if (vectors_pods_read_running(json_array_get(runtime, i), &running[i]) < 0)
			return -EINVAL;
	r = podworker_housekeep(w->pw, pods, n, running, m, w->now, &house);
	if (r < 0)
		return r;
	return json_array_append_new(w->results, json_pack("{s:o}", "housekeeping_metrics",
							   vectors_pods_metrics(&house)));
}

static const struct step ops[] = {
	{"update", op_update},
	{"drain", op_drain},
	{"hold", op_hold},
	{"release", op_release},
	{"runtime_cache", op_runtime_cache},
	{"next_sync_returns_terminal", op_next_sync},
	{"terminating_error", op_terminating_error},
	{"terminated_error", op_terminated_error},
	{"preset_started_static", op_preset},
	{"sync_known", op_sync_known},
	{"housekeeping", op_housekeeping},
};

static int run_step(struct vectors_pods_world *w, json_t *step, json_t *checks)
{
	const char *op = json_string_value(json_object_get(step, "op"));
	const char *label = json_string_value(json_object_get(step, "label"));
	json_t *uids = json_object_get(step, "uids");

	if (op && strcmp(op, "check") == 0) {
		if (!label || !json_is_array(uids))
			return -EINVAL;
		return json_object_set_new(checks, label, vectors_pods_snapshot(w, uids));
	}
	for (size_t i = 0; op && i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(ops[i].op, op) == 0)
			return ops[i].run(w, step);
	return -EINVAL;
}

static void world_done(struct vectors_pods_world *w)
{
	podworker_free(w->pw);
	json_decref(w->calls);
	json_decref(w->cancels);
	json_decref(w->completed);
	json_decref(w->results);
	json_decref(w->words);
	json_decref(w->caches);
	json_decref(w->held);
	json_decref(w->ends_next);
}

int vectors_pods_run_sequence(json_t *vector, json_t **ret_got)
{
	_cleanup_(world_done) struct vectors_pods_world w = {
		.now = 1,
		.calls = json_object(),
		.cancels = json_array(),
		.completed = json_array(),
		.results = json_array(),
		.words = json_array(),
		.caches = json_object(),
		.held = json_object(),
		.ends_next = json_object(),
	};
	const struct podworker_config config = {.effect = noted, .userdata = &w};
	json_t *steps = json_object_get(json_object_get(vector, "input"), "steps"), *step;
	json_auto_t *checks = json_object();
	size_t i;
	int r = podworker_new(&config, &w.pw);

	if (r < 0)
		return r;
	if (!json_is_array(steps))
		return -EINVAL;
	json_array_foreach(steps, i, step) {
		r = run_step(&w, step, checks);
		if (r < 0)
			return r;
	}
	*ret_got = json_pack("{s:O, s:O, s:O, s:o}", "checks", checks, "results", w.results,
			     "context_cancels", w.cancels, "times", vectors_pods_times(&w));
	return *ret_got ? 0 : -ENOMEM;
}
