// SPDX-License-Identifier: Apache-2.0
/* Writes kubelet/model/pod_worker down as pod_worker.json has it: snapshots, times, the figures of
 * housekeeping; and says how a sequence's answer is compared. */

#include <stdio.h>
#include <string.h>

#include "kubelet/vectors.h"
#include "kubelet/compare.h"
#include "kubelet/pods.h"

static json_t *status_of(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	if (!s)
		return json_null();
	return json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:I, s:b, s:b}",
			 "state", podworker_state_name(podworker_state(s)), "started",
			 s->started_ns != 0, "termination_requested", s->terminating_ns != 0,
			 "termination_started", s->started_terminating, "terminated",
			 s->terminated_ns != 0, "finished", s->finished, "deleted", s->deleted,
			 "evicted", s->evicted, "restart_requested", s->restart_requested,
			 "observed_runtime", s->observed_runtime, "working", s->working, "grace",
			 (json_int_t)s->grace_s, "has_pending", s->has_pending, "has_active",
			 s->has_active);
}

static json_t *queries_of(const struct podworker *pw, const char *uid)
{
	static const struct {
		const char *name;
		bool (*ask)(const struct podworker *pw, const char *uid);
	} queries[] = {
		{"IsPodKnownTerminated", podworker_is_known_terminated},
		{"CouldHaveRunningContainers", podworker_could_have_running_containers},
		{"ShouldPodBeFinished", podworker_should_be_finished},
		{"IsPodTerminationRequested", podworker_is_termination_requested},
		{"ShouldPodContainersBeTerminating", podworker_should_containers_be_terminating},
		{"ShouldPodRuntimeBeRemoved", podworker_should_runtime_be_removed},
		{"ShouldPodContentBeRemoved", podworker_should_content_be_removed},
	};
	json_t *answers = json_object();

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		json_object_set_new(answers, queries[i].name,
				    json_boolean(queries[i].ask(pw, uid)));
	return answers;
}

static void insert_sorted(json_t *list, const char *text)
{
	size_t i = 0;

	while (i < json_array_size(list) &&
	       strcmp(json_string_value(json_array_get(list, i)), text) < 0)
		i++;
	json_array_insert_new(list, i, json_string(text));
}

json_t *vectors_pods_snapshot(const struct vectors_pods_world *w, json_t *uids)
{
	json_t *status = json_object(), *calls = json_object(), *queries = json_object();
	json_t *open = json_array(), *tracked = json_array(), *snapshot, *uid;
	const struct podworker_record *rec;
	size_t i;

	json_array_foreach(uids, i, uid) {
		const char *text = json_string_value(uid);
		json_t *made = json_object_get(w->calls, text);

		json_object_set_new(status, text, status_of(w->pw, text));
		json_object_set_new(queries, text, queries_of(w->pw, text));
		json_object_set_new(calls, text, made ? json_deep_copy(made) : json_array());
	}
	TAILQ_FOREACH(rec, &w->pw->all, all) {
		insert_sorted(tracked, rec->uid);
		if (rec->worker)
			insert_sorted(open, rec->uid);
	}
	snapshot = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "status", status, "calls", calls,
			     "queries", queries, "open_workers", open, "tracked", tracked,
			     "completed_notifications", json_copy(w->completed));
	if (snapshot && vectors_pods_write_static(w->pw, snapshot) < 0)
		return NULL;
	return snapshot;
}

json_t *vectors_pods_times(const struct vectors_pods_world *w)
{
	json_t *times = json_object();
	const struct podworker_record *rec;

	TAILQ_FOREACH(rec, &w->pw->all, all) {
		const struct podworker_status *s = &rec->status;

		json_object_set_new(times, rec->uid,
				    json_pack("{s:I, s:I, s:I, s:I}", "synced",
					      (json_int_t)s->synced_ns, "started",
					      (json_int_t)s->started_ns, "terminating",
					      (json_int_t)s->terminating_ns, "terminated",
					      (json_int_t)s->terminated_ns));
	}
	return times;
}

static json_t *by_static(const uint64_t counts[2])
{
	return json_pack("{s:I, s:I}", "", (json_int_t)counts[0], "true", (json_int_t)counts[1]);
}

static void count_working(json_t *into, enum podworker_state state,
			  enum podworker_config_state config, int is_static, uint64_t n)
{
	static const char *const configs[] = {"desired", "orphan", "runtime_only"};
	const char *label = config == PODWORKER_RUNTIME_ONLY ? "unknown" : is_static ? "true" : "";
	char key[128];

	snprintf(key, sizeof(key), "lifecycle=%s,config=%s,static=%s", podworker_state_name(state),
		 configs[config], label);
	if (n > 0)
		json_object_set_new(into, key, json_integer((json_int_t)n));
}

json_t *vectors_pods_metrics(const struct podworker_house *house)
{
	json_t *working = json_object();

	for (int s = 0; s < PODWORKER_STATE_COUNT; s++)
		for (int c = 0; c < PODWORKER_CONFIG_COUNT; c++)
			for (int i = 0; i < 2; i++)
				count_working(working, s, c, i, house->working[s][c][i]);
	return json_pack("{s:o, s:o, s:o, s:I, s:o}", "desired_pods", by_static(house->desired),
			 "active_pods", by_static(house->active), "restarted_pods_total_increment",
			 by_static(house->restarted), "orphaned_runtime_pods_total_increment",
			 (json_int_t)house->orphaned, "working_pods_nonzero", working);
}

/* What has not come to pass has no time, whichever way that is written. */
static void drop_no_times(json_t *sides)
{
	json_t *pod, *time;
	const char *uid, *key;
	void *next;

	json_object_foreach(sides, uid, pod)
		json_object_foreach_safe(pod, next, key, time)
			if (json_is_null(time) ||
			    (json_is_number(time) && json_number_value(time) == 0))
				json_object_del(pod, key);
}

/* No calls are none, of whatever pods. */
static void drop_no_calls(json_t *side)
{
	json_t *check, *calls, *made;
	const char *label, *uid;
	void *next;

	json_object_foreach(json_object_get(side, "checks"), label, check) {
		calls = json_object_get(check, "calls");
		json_object_foreach_safe(calls, next, uid, made)
			if (json_is_array(made) && json_array_size(made) == 0)
				json_object_del(calls, uid);
		if (json_is_object(calls) && json_object_size(calls) == 0)
			json_object_del(check, "calls");
	}
}

/* Times count only where the input says how the clock goes. */
void vectors_rule_pod_worker(json_t *vector, json_t *expected, json_t *got)
{
	json_t *input = json_object_get(vector, "input");

	if (!json_object_get(input, "clock") || !json_object_get(expected, "times")) {
		json_object_del(expected, "times");
		json_object_del(got, "times");
	}
	drop_no_times(json_object_get(expected, "times"));
	drop_no_times(json_object_get(got, "times"));
	drop_no_calls(expected);
	drop_no_calls(got);
}
