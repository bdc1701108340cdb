// SPDX-License-Identifier: Apache-2.0
/* Drives kubelet/model/pod_worker from pod_worker.json: single decisions here, sequences next door.
 */

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "kubelet/vectors.h"
#include "kubelet/compare.h"
#include "kubelet/pods.h"

#define SECOND 1000000000LL

static void free_worker(struct podworker **pw)
{
	podworker_free(*pw);
}

#define _cleanup_worker_ _cleanup_(free_worker)

static int new_worker(struct podworker **ret)
{
	const struct podworker_config config = {};

	return podworker_new(&config, ret);
}

int vectors_pods_read_seconds(json_t *json, struct pod_seconds *ret)
{
	if (json && !json_is_null(json) && !json_is_integer(json))
		return -EINVAL;
	ret->set = json_is_integer(json);
	ret->s = json_integer_value(json);
	return 0;
}

static int read_phase(json_t *json, enum meta_phase *ret)
{
	static const char *const names[] = {
		[0] = "",
		[META_PHASE_PENDING] = "Pending",
		[META_PHASE_RUNNING] = "Running",
		[META_PHASE_SUCCEEDED] = "Succeeded",
		[META_PHASE_FAILED] = "Failed",
		[META_PHASE_UNKNOWN] = "Unknown",
	};
	const char *name = json ? json_string_value(json) : "";

	for (unsigned int i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0) {
			*ret = (enum meta_phase)i;
			return 0;
		}
	return -EINVAL;
}

int vectors_pods_read(json_t *json, struct podworker_pod *ret)
{
	json_t *deletion = json_object_get(json, "deletion");
	struct podworker_pod pod = {};
	int is_static = 0;

	if (json_unpack(json, "{s:s, s:s, s:s, s?b}", "uid", &pod.uid, "name", &pod.name,
			"namespace", &pod.namespace_, "static", &is_static) < 0)
		return -EINVAL;
	pod.is_static = is_static;
	pod.deleting = json_is_object(deletion);
	if (deletion && !json_is_null(deletion) && !pod.deleting)
		return -EINVAL;
	if (read_phase(json_object_get(json, "phase"), &pod.phase) < 0 ||
	    vectors_pods_read_seconds(json_object_get(deletion, "grace"), &pod.deletion_grace) <
		    0 ||
	    vectors_pods_read_seconds(json_object_get(json, "spec_grace"), &pod.spec_grace) < 0)
		return -EINVAL;
	*ret = pod;
	return 0;
}

int vectors_pods_read_running(json_t *json, struct podworker_running *ret)
{
	if (json_unpack(json, "{s:s, s:s, s:s}", "uid", &ret->uid, "name", &ret->name, "namespace",
			&ret->namespace_) < 0)
		return -EINVAL;
	return 0;
}

int vectors_pods_write_static(const struct podworker *pw, json_t *into)
{
	json_t *started = json_object(), *waiting = json_object();
	const struct podworker_name *name;

	TAILQ_FOREACH(name, &pw->all_names, all) {
		json_t *uids = json_array();

		for (size_t i = 0; i < name->n_waiting; i++)
			json_array_append_new(uids, json_string(name->waiting[i]));
		if (name->n_waiting > 0)
			json_object_set(waiting, name->fullname, uids);
		json_decref(uids);
		if (name->started[0])
			json_object_set_new(started, name->fullname, json_string(name->started));
	}
	if (json_object_set_new(into, "started_static", started) < 0 ||
	    json_object_set_new(into, "waiting_static", waiting) < 0)
		return -ENOMEM;
	return 0;
}

/* A record for which a case says the full name and not its parts. */
static int plant(struct podworker *pw, const char *uid, const char *fullname,
		 struct podworker_record **ret)
{
	char name[PODWORKER_FULLNAME_MAX];
	const char *end = strrchr(fullname, '_');

	if (!end || (size_t)(end - fullname) >= sizeof(name))
		end = fullname + strlen(fullname);
	snprintf(name, sizeof(name), "%.*s", (int)(end - fullname), fullname);
	return podworker_add(pw, uid, *end ? end + 1 : "", name, ret);
}

static int plant_state(struct podworker *pw, const char *uid, json_t *json)
{
	const char *fullname, *state;
	struct podworker_record *rec;
	int r;

	if (json_unpack(json, "{s:s, s:s!}", "fullname", &fullname, "state", &state) < 0)
		return -EINVAL;
	r = plant(pw, uid, fullname, &rec);
	if (r < 0)
		return r;
	if (strcmp(state, "sync") == 0)
		return 0;
	rec->status.terminating_ns = 1;
	if (strcmp(state, "terminating") == 0)
		return 0;
	rec->status.terminated_ns = 1;
	return strcmp(state, "terminated") == 0 ? 0 : -EINVAL;
}

static int plant_static(struct podworker *pw, json_t *started, json_t *waiting)
{
	const char *fullname;
	json_t *value, *uid;
	size_t i;
	int r = 0;

	json_object_foreach(started, fullname, value) {
		if (!json_is_string(value))
			return -EINVAL;
		r = podworker_name_start(pw, fullname, json_string_value(value));
		if (r < 0)
			return r;
	}
	json_object_foreach(waiting, fullname, value) {
		json_array_foreach(value, i, uid) {
			if (!json_is_string(uid))
				return -EINVAL;
			r = podworker_name_wait(pw, fullname, json_string_value(uid));
			if (r < 0)
				return r;
		}
	}
	return r;
}

static int run_allow_start(json_t *input, json_t **ret_got)
{
	_cleanup_worker_ struct podworker *pw = NULL;
	json_t *statuses, *started, *waiting, *status;
	enum podworker_may may;
	const char *uid, *own;
	int is_static, r;

	if (json_unpack(input, "{s:{s:s, s:b}, s:o, s:o, s:o!}", "pod", "uid", &own, "static",
			&is_static, "statuses", &statuses, "started_static", &started,
			"waiting_static", &waiting) < 0)
		return -EINVAL;
	r = new_worker(&pw);
	if (r < 0)
		return r;
	json_object_foreach(statuses, uid, status) {
		r = plant_state(pw, uid, status);
		if (r < 0)
			return r;
	}
	r = plant_static(pw, started, waiting);
	if (r < 0)
		return r;
	may = podworker_may_start(pw, own, is_static);
	*ret_got = json_pack("{s:b, s:b}", "can_start", may == PODWORKER_MAY_START,
			     "can_ever_start", may != PODWORKER_NEVER);
	return *ret_got ? vectors_pods_write_static(pw, *ret_got) : -ENOMEM;
}

static uint64_t time_in(json_t *json, const char *member)
{
	return (uint64_t)json_integer_value(json_object_get(json, member));
}

/* Start times that tell the two planted updates apart. */
enum { PLANTED_ACTIVE = 1, PLANTED_PENDING = 2 };

static int plant_worker(struct podworker *pw, json_t *json, struct podworker_record **ret)
{
	const char *fullname = json_string_value(json_object_get(json, "fullname"));
	const char *by = json_string_value(json_object_get(json, "started_by"));
	json_t *waiting = json_object_get(json, "waiting"), *uid;
	struct podworker_status *s;
	size_t i;
	int r = plant(pw, "pod-uid", fullname ? fullname : "name_", ret);

	if (r < 0)
		return r;
	s = &(*ret)->status;
	s->finished = json_is_true(json_object_get(json, "finished"));
	s->restart_requested = json_is_true(json_object_get(json, "restart_requested"));
	s->observed_runtime = json_is_true(json_object_get(json, "observed_runtime"));
	s->started_ns = time_in(json, "started");
	s->terminating_ns = time_in(json, "terminating");
	s->terminated_ns = time_in(json, "terminated");
	s->has_active = (*ret)->active.has_pod = json_object_get(json, "active_pod") != NULL;
	s->has_pending = (*ret)->pending.has_pod = json_object_get(json, "pending_pod") != NULL;
	(*ret)->active.start_ns = PLANTED_ACTIVE;
	(*ret)->pending.start_ns = PLANTED_PENDING;
	(*ret)->worker = !s->finished;
	json_array_foreach(waiting, i, uid)
		if (!json_is_string(uid) ||
		    podworker_name_wait(pw, (*ret)->fullname, json_string_value(uid)) < 0)
			return -EINVAL;
	return by ? podworker_name_start(pw, (*ret)->fullname, by) : 0;
}

/* The name that the input gives to the update that now waits; NULL: no update waits. */
static const char *waiting_pod(const struct podworker_record *rec, const json_t *status)
{
	const char *member =
		rec->pending.start_ns == PLANTED_PENDING ? "pending_pod" : "active_pod";

	if (!rec->status.has_pending || !rec->pending.has_pod)
		return NULL;
	return json_string_value(json_object_get(status, member));
}

static int run_remove_worker(json_t *input, json_t *expected, json_t **ret_got)
{
	_cleanup_worker_ struct podworker *pw = NULL;
	struct podworker_record *rec;
	json_t *status;
	int orphan, r;

	if (json_unpack(input, "{s:o, s:b!}", "status", &status, "orphan", &orphan) < 0)
		return -EINVAL;
	r = new_worker(&pw);
	if (r < 0)
		return r;
	r = plant_worker(pw, status, &rec);
	if (r < 0)
		return r;
	if (podworker_remove_terminated(pw, rec, orphan, 10)) {
		*ret_got = json_pack("{s:b}", "removed", true);
		return *ret_got ? 0 : -ENOMEM;
	}
	*ret_got = json_pack("{s:b, s:s?, s:b, s:I, s:b}", "removed", false, "pending_pod",
			     waiting_pod(rec, status), "deleted", rec->status.deleted, "grace",
			     (json_int_t)rec->status.grace_s, "termination_requested",
			     rec->status.terminating_ns != 0);
	if (*ret_got && (rec->status.working || json_object_get(expected, "working")))
		json_object_set_new(*ret_got, "working", json_boolean(rec->status.working));
	return *ret_got ? 0 : -ENOMEM;
}

#define MAX_ERRORS 16

static int read_errors(json_t *json, struct podworker_error errors[MAX_ERRORS], size_t *ret_n)
{
	json_t *error;
	size_t i;

	if (json_array_size(json) > MAX_ERRORS || (!json_is_array(json) && !json_is_null(json)))
		return -EINVAL;
	json_array_foreach(json, i, error) {
		json_t *until = json_object_get(error, "backoff_until_s");

		errors[i].text = json_string_value(json_object_get(error, "msg"));
		errors[i].backs_off = json_is_number(until);
		errors[i].until_ns = (int64_t)(json_number_value(until) * SECOND);
		if (!errors[i].text && !errors[i].backs_off)
			return -EINVAL;
	}
	*ret_n = json_array_size(json);
	return 0;
}

static double delay_s(const struct podworker_config *config, bool moved,
		      struct podworker_outcome *outcome, uint32_t jitter, uint64_t now_ns)
{
	outcome->jitter = jitter;
	return (double)podworker_requeue_ns(config, moved, outcome, now_ns) / SECOND;
}

static int run_requeue(json_t *input, json_t **ret_got)
{
	struct podworker_error errors[MAX_ERRORS] = {};
	struct podworker_outcome outcome = {.errors = errors};
	double resync, backoff, now;
	struct podworker_config config = {};
	uint64_t now_ns;
	json_t *error;
	int moved;

	if (json_unpack(input, "{s:b, s:o, s:F, s:F, s:F!}", "phase_transition", &moved, "error",
			&error, "resync_s", &resync, "backoff_s", &backoff, "now_s", &now) < 0 ||
	    read_errors(error, errors, &outcome.n_errors) < 0)
		return -EINVAL;
	config.resync_ns = (uint64_t)(resync * SECOND);
	config.backoff_ns = (uint64_t)(backoff * SECOND);
	now_ns = (uint64_t)(now * SECOND);
	outcome.result = outcome.n_errors > 0 ? PODWORKER_FAILED : PODWORKER_OK;
	*ret_got = json_pack("{s:f, s:f}", "delay_min_s",
			     delay_s(&config, moved, &outcome, 0, now_ns), "delay_max_s",
			     delay_s(&config, moved, &outcome, PODWORKER_JITTER_MAX, now_ns));
	return *ret_got ? 0 : -ENOMEM;
}

static int run_complete_work(json_t *input, json_t **ret_got)
{
	_cleanup_worker_ struct podworker *pw = NULL;
	struct podworker_record *rec;
	int pending, r;

	if (json_unpack(input, "{s:b!}", "pending", &pending) < 0)
		return -EINVAL;
	r = new_worker(&pw);
	if (r < 0)
		return r;
	r = podworker_add(pw, "uid", "", "", &rec);
	if (r < 0)
		return r;
	rec->worker = rec->status.working = true;
	rec->status.has_pending = pending;
	podworker_complete_work(pw, rec);
	*ret_got = json_pack("{s:b, s:b}", "working", rec->status.working, "signalled",
			     rec->signalled);
	return *ret_got ? 0 : -ENOMEM;
}

int vectors_run_pod_worker(json_t *vector, json_t **ret_got)
{
	const char *kind = json_string_value(json_object_get(vector, "kind"));
	json_t *input = json_object_get(vector, "input");

	if (!kind)
		return -ENOTSUP;
	if (strcmp(kind, "sequence") == 0)
		return vectors_pods_run_sequence(vector, ret_got);
	if (strcmp(kind, "allow_start") == 0)
		return run_allow_start(input, ret_got);
	if (strcmp(kind, "remove_worker") == 0)
		return run_remove_worker(input, json_object_get(vector, "expected"), ret_got);
	if (strcmp(kind, "requeue") == 0)
		return run_requeue(input, ret_got);
	if (strcmp(kind, "complete_work") == 0)
		return run_complete_work(input, ret_got);
	return -ENOTSUP;
}
