// SPDX-License-Identifier: Apache-2.0
/* Reads one pod, and a Job's rules for failed pods; writes a pod's status. */
#include "wire/kubernetes/pod.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/rfc3339.h"
#include "core/names/workload.h"
#include "wire/json/walk.h"
#include "wire/json/writer.h"
#include "wire/kubernetes/value.h"

static int read_policy(struct podread *r, const json_t *object, enum meta_restart_policy *ret)
{
	static const char *const words[] = {"Always", "OnFailure", "Never", NULL};
	const json_t *value = apijson_get(object, "restartPolicy");
	uint32_t word = apijson_word(value, words);

	if (value && !word && json_string_length(value) > 0)
		return podread_fail(r, "restartPolicy", "is none of Always, OnFailure, Never");
	if (value && !json_is_string(value))
		return podread_fail(r, "restartPolicy", "is not a string");
	*ret = word;
	return 0;
}

static int read_restart_rule(struct podread *r, const json_t *json, void *ret)
{
	static const char *const actions[] = {"Restart", "RestartAllContainers", NULL};
	static const char *const ops[] = {"In", "NotIn", NULL};
	struct podobj_rule *rule = ret;
	const json_t *codes;
	int e = podread_object(r, json, "exitCodes", &codes);

	rule->action = apijson_word(apijson_get(json, "action"), actions);
	if (e < 0 || !codes)
		return e;
	rule->op = apijson_word(apijson_get(codes, "operator"), ops);
	podread_enter(r, "exitCodes", 0);
	e = podread_int32s(r, codes, "values", &rule->codes, &rule->n_codes);
	podread_leave(r);
	return e;
}

static int read_container(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_container *container = ret;
	int e;

	container->name = container->image = "";
	if ((e = podread_text(r, json, "name", PODREAD_NAME_MAX, &container->name)) < 0 ||
	    (e = podread_text(r, json, "image", PODREAD_MESSAGE_MAX, &container->image)) < 0 ||
	    (e = read_policy(r, json, &container->restart_policy)) < 0)
		return e;
	return podread_items(r, json, "restartPolicyRules", PODREAD_ITEMS_MAX, read_restart_rule,
			     sizeof(*container->rules), &container->rules, &container->n_rules);
}

static int read_containers(struct podread *r, const json_t *spec, const char *key,
			   struct podobj_containers *ret)
{
	return podread_items(r, spec, key, PODREAD_CONTAINERS_MAX, read_container,
			     sizeof(*ret->items), &ret->items, &ret->n);
}

static int read_gate(struct podread *r, const json_t *json, void *ret)
{
	const char **gate = ret;

	*gate = "";
	return podread_text(r, json, "conditionType", PODREAD_NAME_MAX, gate);
}

static int read_toleration(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_toleration *t = ret;
	int e;

	t->key = t->op = t->value = t->effect = "";
	t->has_seconds = apijson_get(json, "tolerationSeconds") != NULL;
	if ((e = podread_text(r, json, "key", PODREAD_NAME_MAX, &t->key)) < 0 ||
	    (e = podread_text(r, json, "operator", PODREAD_NAME_MAX, &t->op)) < 0 ||
	    (e = podread_text(r, json, "value", PODREAD_NAME_MAX, &t->value)) < 0 ||
	    (e = podread_text(r, json, "effect", PODREAD_NAME_MAX, &t->effect)) < 0)
		return e;
	return podread_integer(r, json, "tolerationSeconds", INT64_MIN, INT64_MAX, &t->seconds);
}

static int read_volume(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_volume *v = ret;
	const json_t *host = NULL, *csi = NULL;
	int e;

	v->host_path = v->csi_driver = "";
	if ((e = podread_object(r, json, "hostPath", &host)) < 0 ||
	    (e = podread_object(r, json, "csi", &csi)) < 0)
		return e;
	if (host)
		e = podread_text(r, host, "path", PODREAD_MESSAGE_MAX, &v->host_path);
	if (e == 0 && csi)
		e = podread_text(r, csi, "driver", PODREAD_NAME_MAX, &v->csi_driver);
	return e;
}

static int read_volumes(struct podread *r, const json_t *spec, uint32_t *ret)
{
	static const struct {
		const char *key;
		uint32_t bit;
	} kinds[] = {
		{"emptyDir", PODOBJ_VOLUME_EMPTY_DIR},
		{"hostPath", PODOBJ_VOLUME_HOST_PATH},
		{"persistentVolumeClaim", PODOBJ_VOLUME_CLAIM},
		{"ephemeral", PODOBJ_VOLUME_CLAIM},
	};
	const json_t *list;
	int e = podread_list(r, spec, "volumes", PODREAD_ITEMS_MAX, &list);

	for (size_t i = 0; e == 0 && i < json_array_size(list); i++) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			if (apijson_get(json_array_get(list, i), kinds[k].key))
				*ret |= kinds[k].bit;
		}
	}
	return e;
}

static int read_numbers(struct podread *r, const json_t *spec, struct podobj_pod *pod)
{
	int e;

	pod->has_deadline = apijson_get(spec, "activeDeadlineSeconds") != NULL;
	pod->has_grace = apijson_get(spec, "terminationGracePeriodSeconds") != NULL;
	pod->has_priority = apijson_get(spec, "priority") != NULL;
	if ((e = podread_integer(r, spec, "activeDeadlineSeconds", INT64_MIN, INT64_MAX,
				 &pod->deadline_s)) < 0 ||
	    (e = podread_integer(r, spec, "terminationGracePeriodSeconds", INT64_MIN, INT64_MAX,
				 &pod->grace_s)) < 0 ||
	    (e = podread_integer(r, spec, "priority", INT32_MIN, INT32_MAX, &pod->priority)) < 0)
		return e;
	return podread_bool(r, spec, "hostNetwork", &pod->host_network);
}

static int read_spec(struct podread *r, const json_t *spec, struct podobj_pod *pod)
{
	int e;

	if ((e = read_policy(r, spec, &pod->restart_policy)) < 0 ||
	    (e = podread_text(r, spec, "nodeName", PODREAD_NAME_MAX, &pod->node)) < 0 ||
	    (e = read_numbers(r, spec, pod)) < 0 ||
	    (e = read_containers(r, spec, "initContainers", &pod->inits)) < 0 ||
	    (e = read_containers(r, spec, "containers", &pod->containers)) < 0 ||
	    (e = read_containers(r, spec, "ephemeralContainers", &pod->ephemerals)) < 0 ||
	    (e = podread_items(r, spec, "readinessGates", PODREAD_ITEMS_MAX, read_gate,
			       sizeof(*pod->gates), &pod->gates, &pod->n_gates)) < 0 ||
	    (e = podread_items(r, spec, "tolerations", PODREAD_ITEMS_MAX, read_toleration,
			       sizeof(*pod->tolerations), &pod->tolerations, &pod->n_tolerations)) <
		    0 ||
	    (e = podread_items(r, spec, "volumes", PODREAD_ITEMS_MAX, read_volume,
			       sizeof(*pod->volume_list), &pod->volume_list, &pod->n_volume_list)) <
		    0)
		return e;
	return read_volumes(r, spec, &pod->volumes);
}

/* What a pod's status says, of the pod and of its containers. */

static int read_words(struct podread *r, const json_t *json, const char **reason,
		      const char **message)
{
	int e = podread_text(r, json, "reason", PODREAD_NAME_MAX, reason);

	return e < 0 ? e : podread_text(r, json, "message", PODREAD_MESSAGE_MAX, message);
}

static int read_terminated(struct podread *r, const json_t *json,
			   struct podobj_container_state *state)
{
	int e;

	state->kind = PODOBJ_TERMINATED;
	if ((e = podread_int32(r, json, "exitCode", &state->exit_code)) < 0 ||
	    (e = podread_int32(r, json, "signal", &state->signal)) < 0 ||
	    (e = read_words(r, json, &state->reason, &state->message)) < 0 ||
	    (e = podread_time(r, json, "startedAt", &state->started_wall_ns)) < 0 ||
	    (e = podread_time(r, json, "finishedAt", &state->finished_wall_ns)) < 0)
		return e;
	return podread_text(r, json, "containerID", PODREAD_NAME_MAX, &state->id);
}

static int read_running(struct podread *r, const json_t *json, struct podobj_container_state *state)
{
	state->kind = PODOBJ_RUNNING;
	return podread_time(r, json, "startedAt", &state->started_wall_ns);
}

static int read_waiting(struct podread *r, const json_t *json, struct podobj_container_state *state)
{
	state->kind = PODOBJ_WAITING;
	return read_words(r, json, &state->reason, &state->message);
}

/* One of them at most; of several the kubelet itself looks at running first, then terminated. */
static int read_one_of(struct podread *r, const json_t *json, struct podobj_container_state *state)
{
	static const struct {
		const char *key;
		int (*read)(struct podread *r, const json_t *json,
			    struct podobj_container_state *state);
	} kinds[] = {
		{"running", read_running},
		{"terminated", read_terminated},
		{"waiting", read_waiting},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *kind;
		int e = podread_object(r, json, kinds[i].key, &kind);

		if (e == 0 && !kind)
			continue;
		if (e == 0) {
			podread_enter(r, kinds[i].key, 0);
			e = kinds[i].read(r, kind, state);
			podread_leave(r);
		}
		return e;
	}
	return 0;
}

static int read_state(struct podread *r, const json_t *status, const char *key,
		      struct podobj_container_state *state)
{
	const json_t *json;
	int e = podread_object(r, status, key, &json);

	if (e < 0 || !json)
		return e;
	podread_enter(r, key, 0);
	e = read_one_of(r, json, state);
	podread_leave(r);
	return e;
}

static int read_started(struct podread *r, const json_t *json, enum podobj_started *ret)
{
	bool started = false;
	int e = podread_bool(r, json, "started", &started);

	if (e == 0 && apijson_get(json, "started"))
		*ret = started ? PODOBJ_STARTED_YES : PODOBJ_STARTED_NO;
	return e;
}

static int read_container_status(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_status *status = ret;
	int e;

	*status = podobj_no_status("");
	if ((e = podread_text(r, json, "name", PODREAD_NAME_MAX, &status->name)) < 0 ||
	    (e = podread_text(r, json, "image", PODREAD_MESSAGE_MAX, &status->image)) < 0 ||
	    (e = podread_text(r, json, "imageID", PODREAD_MESSAGE_MAX, &status->image_id)) < 0 ||
	    (e = podread_text(r, json, "containerID", PODREAD_NAME_MAX, &status->id)) < 0 ||
	    (e = podread_int32(r, json, "restartCount", &status->restarts)) < 0 ||
	    (e = podread_bool(r, json, "ready", &status->ready)) < 0 ||
	    (e = read_started(r, json, &status->started)) < 0 ||
	    (e = read_state(r, json, "state", &status->state)) < 0)
		return e;
	return read_state(r, json, "lastState", &status->last);
}

static int read_condition(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_condition *c = ret;
	int e;

	c->type = c->status = c->reason = c->message = "";
	if ((e = podread_text(r, json, "type", PODREAD_NAME_MAX, &c->type)) < 0 ||
	    (e = podread_text(r, json, "status", PODREAD_NAME_MAX, &c->status)) < 0 ||
	    (e = read_words(r, json, &c->reason, &c->message)) < 0)
		return e;
	return podread_time(r, json, "lastTransitionTime", &c->transition_wall_ns);
}

static int read_statuses(struct podread *r, const json_t *status, const char *key,
			 struct podobj_statuses *ret)
{
	ret->absent = apijson_get(status, key) == NULL;
	return podread_items(r, status, key, PODREAD_CONTAINERS_MAX, read_container_status,
			     sizeof(*ret->items), &ret->items, &ret->n);
}

static int read_status(struct podread *r, const json_t *status, struct podobj_pod_status *ret)
{
	int e;

	*ret = (struct podobj_pod_status){.phase = "", .reason = "", .message = ""};
	if ((e = podread_text(r, status, "phase", PODREAD_NAME_MAX, &ret->phase)) < 0 ||
	    (e = read_words(r, status, &ret->reason, &ret->message)) < 0 ||
	    (e = podread_items(r, status, "conditions", PODREAD_ITEMS_MAX, read_condition,
			       sizeof(*ret->conditions.items), &ret->conditions.items,
			       &ret->conditions.n)) < 0 ||
	    (e = read_statuses(r, status, "initContainerStatuses", &ret->inits)) < 0 ||
	    (e = read_statuses(r, status, "containerStatuses", &ret->containers)) < 0)
		return e;
	return read_statuses(r, status, "ephemeralContainerStatuses", &ret->ephemerals);
}

/* A pod's JSON from its text on, and what is said of the pod itself. */

static const char *problem_of(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_duplicate_key:
		return "is there twice";
	case json_error_numeric_overflow:
		return "a number is too large";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text has a NUL in it";
	case json_error_stack_overflow:
		return "it is nested too deep";
	default:
		return "it is no JSON";
	}
}

/* Jansson has the name at the end of its own words, `... near '"kind"'`. */
static void name_twice(const json_error_t *error, struct podread_error *ret)
{
	const char *near = strstr(error->text, " near '");
	size_t n;

	near = near ? near + strlen(" near '") : "a name";
	n = strlen(near);
	if (n > 0 && near[n - 1] == '\'')
		n--;
	snprintf(ret->member, sizeof(ret->member), "%.*s", (int)n, near);
}

static bool is_blank(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && strchr(" \t\r\n", text[n]) && text[n])
		n++;
	return n == size;
}

int podread_parse(const char *text, size_t size, json_t **ret, struct podread_error *ret_error)
{
	json_error_t error;
	json_t *json;

	*ret_error = (struct podread_error){.problem = "is longer than a pod can be"};
	if (size > PODREAD_TEXT_MAX)
		return -E2BIG;
	ret_error->problem = "it is empty";
	if (is_blank(text, size))
		return -EBADMSG;
	ret_error->problem = "it has more values than a pod can have";
	if (jsonwalk_count(text, size) > PODREAD_VALUES_MAX)
		return -EBADMSG;
	json = json_loadb(text, size,
			  JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
			  &error);
	if (!json) {
		ret_error->problem = problem_of(&error);
		ret_error->line = error.line;
		ret_error->column = error.column;
		if (json_error_code(&error) == json_error_duplicate_key)
			name_twice(&error, ret_error);
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	}
	*ret = json;
	return 0;
}

/* A static pod's object at the API is its mirror; the kubelet itself lists it without
 * (pkg/kubelet/types/pod_update.go). */
static int read_annotations(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	const json_t *annotations;
	const char *source = "api";
	int e = podread_object(r, metadata, "annotations", &annotations);

	if (e < 0 || !annotations)
		return e;
	podread_enter(r, "annotations", 0);
	e = podread_text(r, annotations, "kubernetes.io/config.source", PODREAD_NAME_MAX, &source);
	pod->mirror = apijson_get(annotations, "kubernetes.io/config.mirror") != NULL;
	if (e == 0 && pod->mirror)
		e = podread_text(r, annotations, "kubernetes.io/config.hash", PODREAD_NAME_MAX,
				 &pod->static_uid);
	podread_leave(r);
	pod->is_static = pod->mirror || strcmp(source, "api") != 0;
	return e;
}

static int read_owner(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	const json_t *owner, *list;
	int e = podread_list(r, metadata, "ownerReferences", PODREAD_ITEMS_MAX, &list);

	if (e < 0)
		return e;
	owner = apijson_controller(metadata);
	podread_enter(r, "ownerReferences", 0);
	(void)((e = podread_text(r, owner, "kind", PODREAD_NAME_MAX, &pod->owner_kind)) < 0 ||
	       (e = podread_text(r, owner, "apiVersion", PODREAD_NAME_MAX, &pod->owner_api)) < 0 ||
	       (e = podread_text(r, owner, "uid", PODREAD_NAME_MAX, &pod->owner_uid)) < 0 ||
	       (e = podread_text(r, owner, "name", PODREAD_NAME_MAX, &pod->owner)) < 0);
	podread_leave(r);
	return e;
}

static int read_finalizers(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	const json_t *list;
	const char **items;
	int e = podread_list(r, metadata, "finalizers", PODREAD_ITEMS_MAX, &list);
	size_t n = json_array_size(list);

	if (e < 0 || n == 0)
		return e;
	items = arena_array(r->arena, n, sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_string(item))
			return podread_fail(r, "finalizers", "is not a list of strings");
		items[i] =
			arena_strndup(r->arena, json_string_value(item), json_string_length(item));
		if (!items[i])
			return -ENOMEM;
	}
	pod->finalizers = items;
	pod->n_finalizers = n;
	return 0;
}

static int read_metadata(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	int e;

	pod->deleting = apijson_get(metadata, "deletionTimestamp") != NULL;
	pod->has_deletion_grace = apijson_get(metadata, "deletionGracePeriodSeconds") != NULL;
	if ((e = podread_text(r, metadata, "namespace", PODREAD_NAME_MAX, &pod->namespace_)) < 0 ||
	    (e = podread_text(r, metadata, "name", PODREAD_NAME_MAX, &pod->name)) < 0 ||
	    (e = podread_text(r, metadata, "uid", PODREAD_NAME_MAX, &pod->uid)) < 0 ||
	    (e = podread_time(r, metadata, "deletionTimestamp", &pod->deleted_wall_ns)) < 0 ||
	    (e = podread_integer(r, metadata, "deletionGracePeriodSeconds", INT64_MIN, INT64_MAX,
				 &pod->deletion_grace_s)) < 0 ||
	    (e = read_finalizers(r, metadata, pod)) < 0 ||
	    (e = read_annotations(r, metadata, pod)) < 0)
		return e;
	return read_owner(r, metadata, pod);
}

static int read_pod_status(struct podread *r, const json_t *status, struct podobj_pod *pod)
{
	int e = podread_time(r, status, "startTime", &pod->start_wall_ns);

	return e < 0 ? e : read_status(r, status, &pod->status);
}

int podread_pod(const json_t *json, struct arena *arena, struct podobj_pod *ret,
		struct podread_error *ret_error)
{
	static const struct {
		const char *key;
		int (*read)(struct podread *r, const json_t *json, struct podobj_pod *pod);
	} parts[] = {
		{"metadata", read_metadata},
		{"spec", read_spec},
		{"status", read_pod_status},
	};
	static const char *const kinds[] = {"Pod", NULL};
	struct podread r = {.arena = arena, .error = ret_error};
	const json_t *kind = apijson_get(json, "kind");
	struct podobj_pod pod;

	podobj_init(&pod);
	if (!json_is_object(json))
		return podread_fail(&r, NULL, "is not an object");
	if (kind && !apijson_word(kind, kinds))
		return podread_fail(&r, "kind",
				    "is not Pod; of a Deployment or its like, pass the pods");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *part;
		int e = podread_object(&r, json, parts[i].key, &part);

		if (e == 0 && !part && i < 2)
			return podread_fail(&r, parts[i].key, "is missing");
		podread_enter(&r, parts[i].key, 0);
		if (e == 0)
			e = parts[i].read(&r, part, &pod);
		podread_leave(&r);
		if (e < 0)
			return e;
	}
	*ret = pod;
	return 0;
}

/* Reads a Job's rules for failed pods. */

static int read_codes(struct podread *r, const json_t *json, struct jobpolicy_rule *rule)
{
	static const char *const ops[] = {"In", "NotIn", NULL};
	int e = podread_text(r, json, "containerName", PODREAD_NAME_MAX, &rule->container);

	rule->by_codes = true;
	rule->op = apijson_word(apijson_get(json, "operator"), ops);
	if (e == 0 && rule->op == PODOBJ_OP_OTHER)
		return podread_fail(r, "operator", "is none of In, NotIn");
	return e < 0 ? e : podread_int32s(r, json, "values", &rule->codes, &rule->n_codes);
}

/* The status of a pattern is True unless it is given. */
static int read_pattern(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_condition *pattern = ret;
	int e;

	*pattern = (struct podobj_condition){
		.type = "", .status = "True", .reason = "", .message = ""};
	e = podread_text(r, json, "type", PODREAD_NAME_MAX, &pattern->type);
	return e < 0 ? e : podread_text(r, json, "status", PODREAD_NAME_MAX, &pattern->status);
}

static int read_failure_rule(struct podread *r, const json_t *json, void *ret)
{
	static const char *const actions[] = {"Count", "FailJob", "FailIndex", "Ignore", NULL};
	struct jobpolicy_rule *rule = ret;
	uint32_t action = apijson_word(apijson_get(json, "action"), actions);
	const json_t *codes;
	int e = podread_object(r, json, "onExitCodes", &codes);

	rule->container = "";
	if (e < 0)
		return e;
	if (!action)
		return podread_fail(r, "action", "is none of Count, FailJob, FailIndex, Ignore");
	rule->action = action - 1;
	if (!codes)
		return podread_items(r, json, "onPodConditions", PODREAD_ITEMS_MAX, read_pattern,
				     sizeof(*rule->conditions), &rule->conditions,
				     &rule->n_conditions);
	podread_enter(r, "onExitCodes", 0);
	e = read_codes(r, codes, rule);
	podread_leave(r);
	return e;
}

static int read_job_spec(struct podread *r, const json_t *spec, struct jobpolicy *job)
{
	static const char *const failed[] = {"Failed", NULL};
	const json_t *policy;
	int e = podread_integer(r, spec, "backoffLimit", 0, INT32_MAX, &job->backoff_limit);

	job->waits_for_the_failed =
		apijson_word(apijson_get(spec, "podReplacementPolicy"), failed) != 0;
	if (e == 0)
		e = podread_object(r, spec, "podFailurePolicy", &policy);
	if (e < 0 || !policy)
		return e;
	podread_enter(r, "podFailurePolicy", 0);
	e = podread_items(r, policy, "rules", PODREAD_ITEMS_MAX, read_failure_rule,
			  sizeof(*job->rules), &job->rules, &job->n_rules);
	podread_leave(r);
	return e;
}

static int read_job_metadata(struct podread *r, const json_t *metadata, struct jobpolicy *job)
{
	int e = podread_text(r, metadata, "namespace", PODREAD_NAME_MAX, &job->namespace_);

	if (e == 0)
		e = podread_text(r, metadata, "name", PODREAD_NAME_MAX, &job->name);
	return e < 0 ? e : podread_text(r, metadata, "uid", PODREAD_NAME_MAX, &job->uid);
}

static int read_job_status(struct podread *r, const json_t *status, struct jobpolicy *job)
{
	return podread_integer(r, status, "failed", 0, INT32_MAX, &job->failed);
}

/* One Job; the items of a JobList need carry no kind. */
static int read_job(struct podread *r, const json_t *json, bool kind_known, struct jobpolicy *job)
{
	static const struct {
		const char *key;
		int (*read)(struct podread *r, const json_t *json, struct jobpolicy *job);
	} parts[] = {{"metadata", read_job_metadata},
		     {"spec", read_job_spec},
		     {"status", read_job_status}};
	const char *kind = kind_known ? "Job" : "", *api = "";
	int e;

	if (!json_is_object(json))
		return podread_fail(r, NULL, "is not an object");
	if ((e = podread_text(r, json, "kind", PODREAD_NAME_MAX, &kind)) < 0 ||
	    (e = podread_text(r, json, "apiVersion", PODREAD_NAME_MAX, &api)) < 0)
		return e;
	if (strcmp(kind, "Job") != 0)
		return podread_fail(r, "kind", "is not Job");
	if (!workload_kind_is(kind, api, "Job", "batch"))
		return podread_fail(r, "apiVersion", "is not of the group batch");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *part;

		e = podread_object(r, json, parts[i].key, &part);
		podread_enter(r, parts[i].key, 0);
		if (e == 0)
			e = parts[i].read(r, part, job);
		podread_leave(r);
		if (e < 0)
			return e;
	}
	return 0;
}

static int read_job_list(struct podread *r, const json_t *json, bool of_jobs, struct jobpolicy *job)
{
	const json_t *items;
	int e = podread_list(r, json, "items", PODREAD_ITEMS_MAX, &items);

	if (e < 0)
		return e;
	if (json_array_size(items) != 1)
		return podread_fail(r, "items", "does not hold one Job alone");
	podread_enter(r, "items", 0);
	podread_enter(r, NULL, 0);
	e = read_job(r, json_array_get(items, 0), of_jobs, job);
	podread_leave(r);
	podread_leave(r);
	return e;
}

int podread_job(const json_t *json, struct arena *arena, struct jobpolicy *ret,
		struct podread_error *ret_error)
{
	enum { JOB_LIST = 2 };
	static const char *const lists[] = {"List", "JobList", NULL};
	struct podread r = {.arena = arena, .error = ret_error};
	struct jobpolicy job = {.namespace_ = "", .name = "", .uid = "", .backoff_limit = 6};
	uint32_t list = apijson_word(apijson_get(json, "kind"), lists);
	int e = list ? read_job_list(&r, json, list == JOB_LIST, &job)
		     : read_job(&r, json, false, &job);

	if (e == 0)
		*ret = job;
	return e;
}

/* Writes a pod's status, member by member. */

static void add_words(struct buf *out, const char *key, const char *text)
{
	if (*text)
		jsonw_str(out, key, text);
}

static void add_second(struct buf *out, const char *key, int64_t wall_ns)
{
	char text[RFC3339_SIZE];
	char *fraction;

	if (wall_ns == 0)
		return;
	rfc3339_format(wall_ns, text);
	fraction = strchr(text, '.');
	if (fraction)
		memcpy(fraction, "Z", 2);
	jsonw_str(out, key, text);
}

static void add_condition(struct buf *out, const char *key,
			  const struct podobj_condition *condition)
{
	jsonw_object(out, key);
	jsonw_str(out, "type", condition->type);
	jsonw_str(out, "status", condition->status);
	add_second(out, "lastTransitionTime", condition->transition_wall_ns);
	add_words(out, "reason", condition->reason);
	add_words(out, "message", condition->message);
	jsonw_object_end(out);
}

static void add_terminated(struct buf *out, const struct podobj_container_state *state)
{
	jsonw_object(out, "terminated");
	jsonw_i64(out, "exitCode", state->exit_code);
	if (state->signal)
		jsonw_i64(out, "signal", state->signal);
	add_words(out, "reason", state->reason);
	add_words(out, "message", state->message);
	add_second(out, "startedAt", state->started_wall_ns);
	add_second(out, "finishedAt", state->finished_wall_ns);
	add_words(out, "containerID", state->id);
	jsonw_object_end(out);
}

static void add_state(struct buf *out, const char *key, const struct podobj_container_state *state)
{
	jsonw_object(out, key);
	switch (state->kind) {
	case PODOBJ_WAITING:
		jsonw_object(out, "waiting");
		add_words(out, "reason", state->reason);
		add_words(out, "message", state->message);
		jsonw_object_end(out);
		break;
	case PODOBJ_RUNNING:
		jsonw_object(out, "running");
		add_second(out, "startedAt", state->started_wall_ns);
		jsonw_object_end(out);
		break;
	case PODOBJ_TERMINATED:
		add_terminated(out, state);
		break;
	case PODOBJ_NONE:
		break;
	}
	jsonw_object_end(out);
}

static void add_container(struct buf *out, const struct podobj_status *status)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "name", status->name);
	add_state(out, "state", &status->state);
	add_state(out, "lastState", &status->last);
	jsonw_bool(out, "ready", status->ready);
	jsonw_i64(out, "restartCount", status->restarts);
	jsonw_str(out, "image", status->image);
	jsonw_str(out, "imageID", status->image_id);
	add_words(out, "containerID", status->id);
	if (status->started != PODOBJ_STARTED_UNKNOWN)
		jsonw_bool(out, "started", podobj_is_started(status));
	jsonw_object_end(out);
}

static void add_containers(struct buf *out, const char *key, const struct podobj_statuses *statuses)
{
	if (statuses->n == 0)
		return;
	jsonw_array(out, key);
	for (size_t i = 0; i < statuses->n; i++)
		add_container(out, &statuses->items[i]);
	jsonw_array_end(out);
}

void podwrite_status(struct buf *out, const char *key, const struct podobj_pod_status *status)
{
	jsonw_object(out, key);
	add_words(out, "phase", status->phase);
	if (status->conditions.n > 0) {
		jsonw_array(out, "conditions");
		for (size_t i = 0; i < status->conditions.n; i++)
			add_condition(out, NULL, &status->conditions.items[i]);
		jsonw_array_end(out);
	}
	add_words(out, "message", status->message);
	add_words(out, "reason", status->reason);
	add_containers(out, "initContainerStatuses", &status->inits);
	add_containers(out, "containerStatuses", &status->containers);
	add_containers(out, "ephemeralContainerStatuses", &status->ephemerals);
	jsonw_object_end(out);
}
