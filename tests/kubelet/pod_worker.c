// SPDX-License-Identifier: Apache-2.0
/* Plays the kubelet's pod workers of pod_worker.json to core/pods/life: an update is what a source
 * says of a pod, and a worker that runs is what the kernel shows of its work: the last process, the
 * last cgroup. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/pods/life.h"
#include "kubelet/compare.h"
#include "kubelet/seconds.h"
#include "kubelet/vectors.h"

#define MAX_PODS 16

struct pod {
	const char *uid;
	char fullname[128];
	bool is_static, planted; /* planted: the case only says that it is there */
	bool held, has_work;
	struct podlife life;
	struct podlife_update last;
};

struct world {
	struct pod pods[MAX_PODS]; /* in the order in which they were first seen */
	size_t n;
	uint64_t now;
	json_t *caches; /* UID: what the runtime says of it at first sight */
	bool terminating_fails, terminated_fails;
};

static const char *text_in(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

static struct pod *find(struct world *w, const char *uid)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->pods[i].uid, uid) == 0)
			return &w->pods[i];
	return NULL;
}

/* NULL: there are too many. */
static struct pod *add(struct world *w, const char *uid, const char *fullname, bool is_static)
{
	struct pod *pod = &w->pods[w->n];

	if (w->n == MAX_PODS)
		return NULL;
	*pod = (struct pod){.uid = uid, .is_static = is_static};
	snprintf(pod->fullname, sizeof(pod->fullname), "%s", fullname);
	w->n++;
	return pod;
}

static bool is_name_held(const struct world *w, const struct pod *pod)
{
	for (const struct pod *other = w->pods; other < w->pods + w->n; other++)
		if (pod->is_static && other != pod && other->is_static &&
		    strcmp(other->fullname, pod->fullname) == 0 &&
		    podlife_holds_name(&other->life, other < pod))
			return true;
	return false;
}

/* A pod of which the runtime has never heard is quiet there. */
static int update_pod(struct world *w, json_t *json, const char *type)
{
	const json_t *deletion = json_object_get(json, "deletion");
	const char *uid, *name, *namespace_, *phase;
	struct podlife_update update = {
		.anew = strcmp(type, "create") == 0,
		.kill = strcmp(type, "kill") == 0,
		.deleting = json_is_object(deletion),
	};
	char fullname[sizeof(((struct pod *)NULL)->fullname)];
	struct pod *pod;
	int is_static;

	if (json_unpack(json, "{s:s, s:s, s:s, s:s, s:b}", "uid", &uid, "name", &name, "namespace",
			&namespace_, "phase", &phase, "static", &is_static) < 0 ||
	    vectors_read_seconds(json_object_get(deletion, "grace"), &update.deletion_grace) < 0 ||
	    vectors_read_seconds(json_object_get(json, "spec_grace"), &update.spec_grace) < 0)
		return -EINVAL;
	snprintf(fullname, sizeof(fullname), "%s_%s", name, namespace_);
	pod = find(w, uid);
	if (!pod && !(pod = add(w, uid, fullname, is_static)))
		return -ENOSPC;
	update.terminal = strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
	update.quiet = strcmp(text_in(w->caches, uid), "notfound") != 0;
	update.waits = pod->life.stage == POD_STAGE_NONE && is_name_held(w, pod);
	pod->last = update;
	pod->has_work = true;
	podlife_update(&pod->life, &update, w->now++);
	return 0;
}

/* What only the runtime knows of a pod says no more than that it is to end. */
static int update(struct world *w, const json_t *json)
{
	struct pod *pod = find(w, text_in(json_object_get(json, "running_pod"), "uid"));

	if (json_object_get(json, "pod"))
		return update_pod(w, json_object_get(json, "pod"), text_in(json, "type"));
	if (!pod || strcmp(text_in(json, "type"), "kill") != 0)
		return -EINVAL;
	podlife_update(&pod->life, &(struct podlife_update){.kill = true}, w->now++);
	return 0;
}

static void work(struct world *w, struct pod *pod)
{
	const enum pod_stage stage = pod->life.stage;

	w->now++;
	pod->has_work = false;
	if (stage == POD_STAGE_SYNC && !is_name_held(w, pod))
		podlife_start(&pod->life, w->now);
	if (stage == POD_STAGE_TERMINATING && !w->terminating_fails)
		pod->has_work = podlife_step(&pod->life, PODLIFE_STOPPED, NULL, w->now);
	if (stage == POD_STAGE_TERMINATED && !w->terminated_fails)
		podlife_step(&pod->life, PODLIFE_REMOVED, NULL, w->now);
}

static int drain(struct world *w)
{
	struct pod *next;

	do {
		next = NULL;
		for (struct pod *pod = w->pods; pod < w->pods + w->n; pod++)
			if (pod->has_work && !pod->held &&
			    (!next || strcmp(pod->uid, next->uid) < 0))
				next = pod;
		if (next)
			work(w, next);
	} while (next);
	return 0;
}

/* Whether the record of a pod that is not wanted, or wanted anew, is given up. Of one that never
 * started there is no process and no cgroup. */
static bool give_up(struct pod *pod, uint64_t now)
{
	podlife_step(&pod->life, PODLIFE_ORPHANED, &pod->last, now);
	if (!pod->life.started_ns) {
		podlife_step(&pod->life, PODLIFE_STOPPED, NULL, now);
		podlife_step(&pod->life, PODLIFE_REMOVED, NULL, now);
		podlife_step(&pod->life, PODLIFE_ORPHANED, NULL, now);
	}
	pod->has_work = true;
	return pod->life.stage == POD_STAGE_FORGOTTEN;
}

static int sync_known(struct world *w, const json_t *wanted)
{
	for (size_t i = w->n; i-- > 0;) {
		struct pod *pod = &w->pods[i];

		if (pod->planted ||
		    (vectors_has(wanted, pod->uid) && !podlife_is_done(&pod->life, true)) ||
		    !give_up(pod, w->now))
			continue;
		w->n--;
		memmove(pod, pod + 1, (w->n - i) * sizeof(*pod));
	}
	return 0;
}

/* What is wanted and was given up begins anew. */
static int housekeep(struct world *w, const json_t *config)
{
	json_auto_t *wanted = json_array();
	int r = 0;

	for (size_t i = 0; i < json_array_size(config); i++)
		json_array_append(wanted, json_object_get(json_array_get(config, i), "uid"));
	sync_known(w, wanted);
	for (size_t i = 0; i < json_array_size(config) && r == 0; i++)
		if (!find(w, text_in(json_array_get(config, i), "uid")))
			r = update_pod(w, json_array_get(config, i), "create");
	return r;
}

/* Which static pod of each full name has started. */
static json_t *write_started(const struct world *w)
{
	json_t *started = json_object();

	for (const struct pod *pod = w->pods; pod < w->pods + w->n; pod++)
		if (pod->is_static && podlife_holds_name(&pod->life, false))
			json_object_set_new(started, pod->fullname, json_string(pod->uid));
	return started;
}

static json_t *write_status(const struct podlife *l)
{
	bool ended = l->stage >= POD_STAGE_TERMINATED;

	return json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:I}", "state",
			 pod_stage_name(ended ? POD_STAGE_TERMINATED : l->stage), "started",
			 l->started_ns != 0, "termination_requested", l->terminating_ns != 0,
			 "terminated", l->terminated_ns != 0, "finished",
			 l->stage == POD_STAGE_FINISHED, "deleted", l->deleted, "restart_requested",
			 l->restart_requested, "grace", (json_int_t)l->grace_s);
}

/* -ERANGE: a life is none that a pod can have. */
static int check(struct world *w, const json_t *uids, json_t *into)
{
	json_t *status = json_object(), *tracked = json_array();

	json_object_set_new(into, "status", status);
	json_object_set_new(into, "tracked", tracked);
	json_object_set_new(into, "started_static", write_started(w));
	for (const struct pod *pod = w->pods; pod < w->pods + w->n; pod++) {
		if (!podlife_is_valid(&pod->life, pod->is_static))
			return -ERANGE;
		if (!pod->planted)
			json_array_append_new(tracked, json_string(pod->uid));
	}
	for (size_t i = 0; i < json_array_size(uids); i++) {
		const char *uid = json_string_value(json_array_get(uids, i));
		const struct pod *pod = uid ? find(w, uid) : NULL;

		json_object_set_new(status, uid, pod ? write_status(&pod->life) : json_null());
	}
	return 0;
}

static json_t *write_times(const struct world *w)
{
	json_t *times = json_object();

	for (const struct pod *pod = w->pods; pod < w->pods + w->n; pod++)
		json_object_set_new(times, pod->uid,
				    json_pack("{s:I, s:I, s:I}", "synced",
					      (json_int_t)pod->life.synced_ns, "terminating",
					      (json_int_t)pod->life.terminating_ns, "terminated",
					      (json_int_t)pod->life.terminated_ns));
	return times;
}

/* One of which a case says how far it is, and not how it came there. */
static struct pod *plant(struct world *w, const char *uid, const char *fullname, bool is_static,
			 enum pod_stage stage)
{
	struct pod *pod = add(w, uid, fullname, is_static);

	if (!pod)
		return NULL;
	pod->planted = true;
	pod->life.stage = stage;
	pod->life.synced_ns = 1;
	pod->life.started_ns = !is_static;
	pod->life.terminating_ns = stage >= POD_STAGE_TERMINATING;
	pod->life.terminated_ns = stage >= POD_STAGE_TERMINATED;
	return pod;
}

/* A step that says how those after it go. */
static int set(struct world *w, const json_t *step, const char *op)
{
	const char *uid = text_in(step, "uid");
	struct pod *pod = find(w, uid);

	if (strcmp(op, "terminating_error") == 0)
		w->terminating_fails = json_is_true(json_object_get(step, "value"));
	else if (strcmp(op, "terminated_error") == 0)
		w->terminated_fails = json_is_true(json_object_get(step, "value"));
	else if (strcmp(op, "runtime_cache") == 0)
		json_object_set(w->caches, uid, json_object_get(step, "value"));
	else if (pod && (strcmp(op, "hold") == 0 || strcmp(op, "release") == 0))
		pod->held = *op == 'h';
	else if (!pod && strcmp(op, "preset_started_static") == 0 &&
		 (pod = plant(w, uid, text_in(step, "fullname"), true, POD_STAGE_SYNC)))
		podlife_start(&pod->life, w->now);
	else
		return -EINVAL;
	return 0;
}

static int run_step(struct world *w, const json_t *step, json_t *checks)
{
	const char *op = text_in(step, "op");
	json_t *snapshot;

	if (strcmp(op, "update") == 0)
		return update(w, json_object_get(step, "update"));
	if (strcmp(op, "drain") == 0)
		return drain(w);
	if (strcmp(op, "sync_known") == 0)
		return sync_known(w, json_object_get(step, "desired"));
	if (strcmp(op, "housekeeping") == 0)
		return housekeep(w, json_object_get(step, "config_pods"));
	if (strcmp(op, "check") != 0)
		return set(w, step, op);
	snapshot = json_object();
	json_object_set_new(checks, text_in(step, "label"), snapshot);
	return check(w, json_object_get(step, "uids"), snapshot);
}

static int run_sequence(json_t *input, json_t **ret_got)
{
	json_auto_t *caches = json_object(), *checks = json_object();
	const json_t *steps = json_object_get(input, "steps");
	struct world w = {.now = 1, .caches = caches};
	int r = json_is_array(steps) ? 0 : -EINVAL;

	for (size_t i = 0; i < json_array_size(steps) && r == 0; i++)
		r = run_step(&w, json_array_get(steps, i), checks);
	if (r == 0)
		*ret_got = json_pack("{s:O, s:o}", "checks", checks, "times", write_times(&w));
	return r;
}

/* All but the pod of the case are static. Of what is only in the queue nothing is known. */
static int plant_status(struct world *w, const char *uid, const json_t *input)
{
	const json_t *status = json_object_get(json_object_get(input, "statuses"), uid);
	const json_t *pod = json_object_get(input, "pod");
	const char *fullname = text_in(status, "fullname");
	bool is_static = strcmp(text_in(pod, "uid"), uid) != 0 ||
			 json_is_true(json_object_get(pod, "static"));
	enum pod_stage stage = POD_STAGE_SYNC;
	struct pod *planted;

	if (!status || find(w, uid))
		return 0;
	while (stage < POD_STAGE_FINISHED &&
	       strcmp(pod_stage_name(stage), text_in(status, "state")) != 0)
		stage++;
	planted = plant(w, uid, fullname, is_static, stage);
	if (!planted)
		return -ENOSPC;
	if (strcmp(text_in(json_object_get(input, "started_static"), fullname), uid) == 0)
		podlife_start(&planted->life, 1);
	return 0;
}

static int run_allow_start(json_t *input, json_t **ret_got)
{
	json_t *value, *entry;
	struct world w = {};
	const char *key;
	struct pod *pod;
	bool may, may_ever;
	size_t i;
	int r = 0;

	json_object_foreach(json_object_get(input, "waiting_static"), key, value)
		json_array_foreach(value, i, entry)
			r = r < 0 ? r : plant_status(&w, json_string_value(entry) ?: "", input);
	json_object_foreach(json_object_get(input, "statuses"), key, value)
		r = r < 0 ? r : plant_status(&w, key, input);
	pod = find(&w, text_in(json_object_get(input, "pod"), "uid"));
	if (r < 0 || !pod)
		return r < 0 ? r : -EINVAL;
	may_ever = pod->life.started_ns || podlife_is_waiting(&pod->life);
	may = pod->life.started_ns || (!is_name_held(&w, pod) && podlife_start(&pod->life, 1));
	*ret_got = json_pack("{s:b, s:b, s:o}", "can_start", may, "can_ever_start", may_ever,
			     "started_static", write_started(&w));
	return *ret_got ? 0 : -ENOMEM;
}

int vectors_run_pod_worker(json_t *vector, json_t **ret_got)
{
	static const struct vectors_kind kinds[] = {
		{"sequence", run_sequence},
		{"allow_start", run_allow_start},
		{},
	};

	return vectors_run_kind(kinds, vector, ret_got);
}

/* Times count only where the input says how the clock goes. */
void vectors_rule_pod_worker(json_t *vector, json_t *expected, json_t *got)
{
	if (json_object_get(json_object_get(vector, "input"), "clock"))
		return;
	json_object_del(expected, "times");
	json_object_del(got, "times");
}
