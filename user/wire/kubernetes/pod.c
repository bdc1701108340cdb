// SPDX-License-Identifier: Apache-2.0
/* Reads one pod, and a Job's rules for failed pods; writes a pod's status. */
#include "wire/kubernetes/pod.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/kubelet/controller.h"
#include "core/names/workload.h"
#include "wire/json/walk.h"
#include "wire/json/writer.h"

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

int podread_pod(const json_t *json, struct arena *arena, struct podobj_pod *ret,
		struct podread_error *ret_error)
{
	struct podread r = {.arena = arena, .error = ret_error};
	struct podobj_pod pod = {};
	int e;

	if (!json_is_object(json))
		return podread_fail(&r, NULL, "is not an object");
	if (!podrows_is_pod(json))
		return podread_fail(&r, "kind",
				    "is not Pod; of a Deployment or its like, pass the pods");
	apirows_init(podrows, &pod);
	e = apirows_read(&r, json, podrows, &pod);
	if (e < 0)
		return e;
	podrows_conclude(&pod);
	*ret = pod;
	return 0;
}

/* One Job; the items of a JobList need carry no kind. */
static int read_job(struct podread *r, const json_t *json, bool kind_known, struct jobpolicy *job)
{
	static const char *const failed[] = {"Failed", NULL};
	struct podrows_kind is = {};
	int e;

	if (!json_is_object(json))
		return podread_fail(r, NULL, "is not an object");
	apirows_init(podrows_kind, &is);
	e = apirows_read(r, json, podrows_kind, &is);
	if (e < 0)
		return e;
	if ((is.has_kind || !kind_known) && strcmp(is.kind, "Job") != 0)
		return podread_fail(r, "kind", "is not Job");
	if (!workload_kind_is("Job", is.api, "Job", "batch"))
		return podread_fail(r, "apiVersion", "is not of the group batch");
	apirows_init(podrows_job, job);
	job->backoff_limit = 6;
	job->waits_for_the_failed =
		apijson_word(apijson_get(apijson_get(json, "spec"), "podReplacementPolicy"),
			     failed) != 0;
	return apirows_read(r, json, podrows_job, job);
}

static int read_job_list(struct podread *r, const json_t *json, bool of_jobs, struct jobpolicy *job)
{
	const json_t *items = apijson_get(json, "items");
	int e;

	if (items && !json_is_array(items))
		return podread_fail(r, "items", "is not a list");
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
	struct jobpolicy job = {};
	uint32_t list = apijson_word(apijson_get(json, "kind"), lists);
	int e = list ? read_job_list(&r, json, list == JOB_LIST, &job)
		     : read_job(&r, json, false, &job);

	if (e == 0)
		*ret = job;
	return e;
}

void podwrite_status(struct buf *out, const char *key, const struct podobj_pod_status *status)
{
	jsonw_object(out, key);
	apirows_write(out, podrows_status, status);
	jsonw_object_end(out);
}

/* --- the rows --------------------------------------------------------------------------------- */

/* A table's struct is T. Whether a member is given cannot stand first in it: the offset 0 is none,
 * which is a division by 0 here. */
#define P(member)	   offsetof(T, member)
#define FLAG(member)	   (P(member) / (P(member) > 0))
#define GIVEN(member)	   .given = FLAG(member)
#define ABSENT(member)	   .absent = FLAG(member)
#define UNREADABLE(member) .unreadable = FLAG(member)

#define ROW(name, which, how) \
	.key = (name), .len = sizeof(name) - 1, .type = (which), .flags = (how)
#define ROW_AT(name, type, how, member) ROW(name, type, how), .at = P(member)

#define PICKED(name, how, ...)	      ROW(name, API_PICKED, how), ##__VA_ARGS__
#define NUMBER(name, how, ...)	      ROW(name, API_NUMBER, how), ##__VA_ARGS__
#define BOOL(name, member, how)	      ROW_AT(name, API_BOOL, how, member)
#define TRI(name, member, how)	      ROW_AT(name, API_TRI, how, member)
#define INT32(name, member, how, ...) ROW_AT(name, API_INT32, how, member), ##__VA_ARGS__
#define INT64(name, member, how, ...) ROW_AT(name, API_INT64, how, member), ##__VA_ARGS__
#define TIME(name, member, how, ...)  ROW_AT(name, API_TIME, how, member), ##__VA_ARGS__
#define TEXT(name, member, how, ...) \
	ROW_AT(name, API_TEXT, how, member), .max = PODREAD_NAME_MAX, ##__VA_ARGS__
#define LONG_TEXT(name, member, how) ROW_AT(name, API_TEXT, how, member), .max = PODREAD_MESSAGE_MAX
#define WORD(name, member, how, list, ...) \
	ROW_AT(name, API_WORD, how, member), .words = (list), ##__VA_ARGS__
/* One whose members are in the same struct, and one with its own. */
#define PART(name, table, how, ...)	 ROW(name, API_OBJECT, how), .rows = (table), ##__VA_ARGS__
#define OBJECT(name, member, table, how) ROW_AT(name, API_OBJECT, how, member), .rows = (table)
#define LIST(name, items, count, table, most, how, ...)                                    \
	ROW_AT(name, API_LIST, how, items), .n = P(count), .rows = (table), .max = (most), \
					    .size = sizeof(*((T *)0)->items), ##__VA_ARGS__
#define TEXTS(name, items, count, how) \
	ROW_AT(name, API_TEXTS, how, items), .n = P(count), .max = PODREAD_ITEMS_MAX
#define INT32S(name, items, count, how) \
	ROW_AT(name, API_INT32S, how, items), .n = P(count), .max = PODREAD_ITEMS_MAX

#define ONE	 API_ONE
#define MANY	 API_MANY
#define BOTH	 (API_ONE | API_MANY)
#define REQUIRED API_REQUIRED
#define WRITTEN	 API_WRITTEN
#define ALWAYS	 (API_WRITTEN | API_ALWAYS)

#define INT32_ONLY   .min = INT32_MIN, .limit = INT32_MAX
#define NOT_NEGATIVE .min = 0, .limit = INT32_MAX

static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};
static const char *const operators[] = {"In", "NotIn", NULL};

#define POLICY(member)                                            \
	WORD("restartPolicy", member, BOTH, policies, .first = 1, \
	     .problem = "is none of Always, OnFailure, Never")

/* --- metadata --------------------------------------------------------------------------------- */

#define T struct podobj_owner
static const struct apirow owner[] = {
	{BOOL("controller", controller, BOTH)},
	{TEXT("kind", kind, BOTH)},
	{TEXT("apiVersion", api, BOTH)},
	{TEXT("uid", uid, ONE)},
	{TEXT("name", name, BOTH)},
	{},
};
#undef T

#define T struct podobj_pod
static const struct apirow labels[] = {
	{TEXT("pod-template-hash", template_hash, MANY)},
	{TEXT("statefulset.kubernetes.io/pod-name", statefulset_pod, MANY)},
	{TEXT("controller-revision-hash", revision_hash, MANY)},
	{TEXT("batch.kubernetes.io/job-name", job, MANY)},
	{TEXT("job-name", old_job, MANY)},
	{},
};

static const struct apirow annotations[] = {
	{TEXT("kubernetes.io/config.source", source, BOTH, .fallback = "api",
	      UNREADABLE(source_unreadable))},
	{PICKED("kubernetes.io/config.mirror", BOTH, GIVEN(mirror))},
	{TEXT("kubernetes.io/config.hash", static_uid, BOTH)},
	{TIME("kubernetes.io/config.seen", seen_wall_ns, MANY)},
	{},
};

static const struct apirow metadata[] = {
	{TEXT("namespace", namespace_, BOTH)},
	{TEXT("name", name, BOTH)},
	{TEXT("uid", uid, BOTH)},
	{TIME("deletionTimestamp", deleted_wall_ns, BOTH, GIVEN(deleting),
	      UNREADABLE(deleted_unreadable))},
	{INT64("deletionGracePeriodSeconds", deletion_grace.s, BOTH, GIVEN(deletion_grace.set))},
	{TEXTS("finalizers", finalizers, n_finalizers, ONE)},
	{PART("labels", labels, MANY)},
	{PART("annotations", annotations, BOTH, UNREADABLE(source_unreadable))},
	{LIST("ownerReferences", owners, n_owners, owner, PODREAD_ITEMS_MAX, BOTH)},
	{},
};
#undef T

/* --- spec ------------------------------------------------------------------------------------- */

#define T struct podobj_rule
static const char *const rule_actions[] = {"Restart", "RestartAllContainers", NULL};

static const struct apirow exit_codes[] = {
	{WORD("operator", op, ONE, operators, .first = 1)},
	{INT32S("values", codes, n_codes, ONE)},
	{},
};

static const struct apirow restart_rule[] = {
	{WORD("action", action, ONE, rule_actions, .first = 1)},
	{PART("exitCodes", exit_codes, ONE)},
	{},
};
#undef T

#define T struct podobj_container
static const struct apirow lifecycle[] = {
	{PART("preStop", NULL, MANY, GIVEN(prestop), UNREADABLE(prestop_unreadable))},
	{TEXT("stopSignal", stop_signal, MANY)},
	{},
};

static const struct apirow probe[] = {
	{NUMBER("terminationGracePeriodSeconds", MANY, GIVEN(probe_grace),
		UNREADABLE(probes_unreadable))},
	{},
};

static const struct apirow container[] = {
	{TEXT("name", name, BOTH)},
	{LONG_TEXT("image", image, BOTH)},
	{POLICY(restart_policy)},
	{LIST("restartPolicyRules", rules, n_rules, restart_rule, PODREAD_ITEMS_MAX, ONE)},
	{PART("lifecycle", lifecycle, MANY, UNREADABLE(prestop_unreadable))},
	{PART("livenessProbe", probe, MANY, GIVEN(probe), UNREADABLE(probes_unreadable))},
	{PART("startupProbe", probe, MANY, GIVEN(probe), UNREADABLE(probes_unreadable))},
	{},
};
#undef T

#define T struct podobj_toleration
static const struct apirow toleration[] = {
	{TEXT("key", key, ONE)},
	{TEXT("operator", op, ONE)},
	{TEXT("value", value, ONE)},
	{TEXT("effect", effect, ONE)},
	{INT64("tolerationSeconds", seconds.s, ONE, GIVEN(seconds.set))},
	{},
};
#undef T

#define T struct podobj_volume
static const struct apirow host_path[] = {{LONG_TEXT("path", host_path, ONE)}, {}};
static const struct apirow csi[] = {{TEXT("driver", csi_driver, ONE)}, {}};

static const struct apirow volume[] = {
	{PART("hostPath", host_path, ONE, GIVEN(is_host_path))},
	{PART("csi", csi, ONE)},
	{PICKED("emptyDir", ONE, GIVEN(is_empty_dir))},
	{PICKED("persistentVolumeClaim", ONE, GIVEN(is_claim))},
	{PICKED("ephemeral", ONE, GIVEN(is_claim))},
	{},
};
#undef T

/* A gate is its condition's type alone. */
static const struct apirow gate[] = {
	{ROW("conditionType", API_TEXT, ONE), .max = PODREAD_NAME_MAX},
	{},
};

#define T struct podobj_pod
#define CONTAINERS(name, member, ...) \
	LIST(name, member.items, member.n, container, PODREAD_CONTAINERS_MAX, BOTH, ##__VA_ARGS__)

static const struct apirow spec[] = {
	{POLICY(restart_policy)},
	{TEXT("nodeName", node, BOTH)},
	{INT64("activeDeadlineSeconds", deadline.s, ONE, GIVEN(deadline.set))},
	{INT64("terminationGracePeriodSeconds", grace.s, BOTH, GIVEN(grace.set))},
	{INT64("priority", priority, BOTH, GIVEN(has_priority), INT32_ONLY)},
	{BOOL("hostNetwork", host_network, ONE)},
	{CONTAINERS("initContainers", inits, UNREADABLE(inits_unreadable))},
	{CONTAINERS("containers", containers)},
	{CONTAINERS("ephemeralContainers", ephemerals)},
	{LIST("readinessGates", gates, n_gates, gate, PODREAD_ITEMS_MAX, ONE)},
	{LIST("tolerations", tolerations, n_tolerations, toleration, PODREAD_ITEMS_MAX, ONE)},
	{LIST("volumes", volume_list, n_volume_list, volume, PODREAD_ITEMS_MAX, ONE)},
	{},
};
#undef T

/* --- status ----------------------------------------------------------------------------------- */

#define T struct podobj_container_state
static const struct apirow running[] = {{TIME("startedAt", started_wall_ns, ONE | WRITTEN)}, {}};

static const struct apirow terminated[] = {
	{INT32("exitCode", exit_code, BOTH | ALWAYS, GIVEN(has_exit_code))},
	{INT32("signal", signal, ONE | WRITTEN)},
	{TEXT("reason", reason, BOTH | WRITTEN)},
	{LONG_TEXT("message", message, ONE | WRITTEN)},
	{TIME("startedAt", started_wall_ns, ONE | WRITTEN)},
	{TIME("finishedAt", finished_wall_ns, BOTH | WRITTEN, GIVEN(has_finished))},
	{TEXT("containerID", id, BOTH | WRITTEN)},
	{},
};

static const struct apirow waiting[] = {
	{TEXT("reason", reason, ONE | WRITTEN)},
	{LONG_TEXT("message", message, ONE | WRITTEN)},
	{},
};

/* One of them at most; of several the kubelet itself looks at running first, then terminated. */
#define STATE(name, table, which, how) \
	PART(name, table, (how) | API_ALONE | WRITTEN, .state = (which), .state_at = P(kind))

static const struct apirow state[] = {
	{STATE("running", running, PODOBJ_RUNNING, ONE)},
	{STATE("terminated", terminated, PODOBJ_TERMINATED, BOTH)},
	{STATE("waiting", waiting, PODOBJ_WAITING, ONE)},
	{},
};
#undef T

#define T struct podobj_status
static const struct apirow container_status[] = {
	{TEXT("name", name, BOTH | ALWAYS)},
	{OBJECT("state", state, state, BOTH | WRITTEN)},
	{OBJECT("lastState", last, state, BOTH | WRITTEN)},
	{BOOL("ready", ready, ONE | WRITTEN)},
	{INT64("restartCount", restarts, BOTH | ALWAYS, GIVEN(has_restarts), INT32_ONLY)},
	{LONG_TEXT("image", image, BOTH | ALWAYS)},
	{LONG_TEXT("imageID", image_id, ONE | ALWAYS)},
	{TEXT("containerID", id, BOTH | WRITTEN, UNREADABLE(id_unreadable))},
	{TRI("started", started, ONE | WRITTEN)},
	{TEXT("stopSignal", stop_signal, MANY)},
	{},
};
#undef T

#define T struct podobj_condition
static const struct apirow condition[] = {
	{TEXT("type", type, BOTH | ALWAYS)},
	{TEXT("status", status, BOTH | ALWAYS)},
	{TIME("lastTransitionTime", transition_wall_ns, ONE | WRITTEN)},
	{TEXT("reason", reason, ONE | WRITTEN)},
	{LONG_TEXT("message", message, ONE | WRITTEN)},
	{},
};
#undef T

#define T struct podobj_pod_status
#define STATUSES(name, member)                                                       \
	LIST(name, member.items, member.n, container_status, PODREAD_CONTAINERS_MAX, \
	     BOTH | WRITTEN, ABSENT(member.absent))

const struct apirow podrows_status[] = {
	{TEXT("phase", phase, BOTH | WRITTEN)},
	{LIST("conditions", conditions.items, conditions.n, condition, PODREAD_ITEMS_MAX,
	      BOTH | WRITTEN)},
	{LONG_TEXT("message", message, ONE | WRITTEN)},
	{TEXT("reason", reason, BOTH | WRITTEN)},
	{STATUSES("initContainerStatuses", inits)},
	{STATUSES("containerStatuses", containers)},
	{STATUSES("ephemeralContainerStatuses", ephemerals)},
	{TEXT("qosClass", qos, MANY)},
	{},
};
#undef T

#define T struct podobj_pod
static const struct apirow start[] = {{TIME("startTime", start_wall_ns, ONE)}, {}};

const struct apirow podrows[] = {
	{PICKED("kind", MANY)},
	{PART("metadata", metadata, BOTH | REQUIRED, GIVEN(has_metadata))},
	{PART("spec", spec, BOTH | REQUIRED, GIVEN(has_spec))},
	{PART("status", start, ONE)},
	{OBJECT("status", status, podrows_status, BOTH)},
	{},
};
#undef T

bool podrows_is_pod(const json_t *json)
{
	static const char *const kinds[] = {"Pod", NULL};
	const json_t *kind = apijson_get(json, "kind");

	return !kind || apijson_word(kind, kinds);
}

/* The first owner that is the controller counts. A static pod's object at the API is its mirror;
 * the kubelet itself lists it without (pkg/kubelet/types/pod_update.go). */
void podrows_conclude(struct podobj_pod *pod)
{
	pod->owner = (struct podobj_owner){.kind = "", .api = "", .name = "", .uid = ""};
	for (size_t i = pod->n_owners; i > 0; i--)
		if (pod->owners[i - 1].controller)
			pod->owner = pod->owners[i - 1];
	pod->is_static = pod->mirror || strcmp(pod->source, "api") != 0;
	if (!pod->mirror)
		pod->static_uid = "";
	for (size_t i = 0; i < pod->n_volume_list; i++) {
		const struct podobj_volume *v = &pod->volume_list[i];

		pod->volumes |= (v->is_empty_dir ? PODOBJ_VOLUME_EMPTY_DIR : 0u) |
				(v->is_host_path ? PODOBJ_VOLUME_HOST_PATH : 0u) |
				(v->is_claim ? PODOBJ_VOLUME_CLAIM : 0u);
	}
}

/* --- Jobs ------------------------------------------------------------------------------------- */

#define T struct jobpolicy_rule
static const char *const job_actions[] = {"Count", "FailJob", "FailIndex", "Ignore", NULL};

static const struct apirow codes[] = {
	{TEXT("containerName", container, ONE)},
	{WORD("operator", op, ONE | REQUIRED, operators, .first = 1,
	      .problem = "is none of In, NotIn")},
	{INT32S("values", codes, n_codes, ONE)},
	{},
};
#undef T

#define T struct podobj_condition
static const struct apirow pattern[] = {
	{TEXT("type", type, ONE)},
	{TEXT("status", status, ONE, .fallback = "True")},
	{},
};
#undef T

#define T struct jobpolicy_rule
static const struct apirow failure_rule[] = {
	{WORD("action", action, ONE | REQUIRED, job_actions,
	      .problem = "is none of Count, FailJob, FailIndex, Ignore")},
	{PART("onExitCodes", codes, ONE | API_ALONE, GIVEN(by_codes))},
	{LIST("onPodConditions", conditions, n_conditions, pattern, PODREAD_ITEMS_MAX, ONE)},
	{},
};
#undef T

#define T struct jobpolicy
static const struct apirow job_metadata[] = {
	{TEXT("namespace", namespace_, ONE)},
	{TEXT("name", name, ONE)},
	{TEXT("uid", uid, ONE)},
	{},
};

static const struct apirow failure_policy[] = {
	{LIST("rules", rules, n_rules, failure_rule, PODREAD_ITEMS_MAX, ONE)},
	{},
};

static const struct apirow job_spec[] = {
	{INT64("backoffLimit", backoff_limit, ONE, NOT_NEGATIVE)},
	{PART("podFailurePolicy", failure_policy, ONE)},
	{},
};

static const struct apirow job_status[] = {{INT64("failed", failed, ONE, NOT_NEGATIVE)}, {}};

const struct apirow podrows_job[] = {
	{PART("metadata", job_metadata, ONE)},
	{PART("spec", job_spec, ONE)},
	{PART("status", job_status, ONE)},
	{},
};
#undef T

#define T struct podrows_kind
const struct apirow podrows_kind[] = {
	{TEXT("kind", kind, ONE, GIVEN(has_kind))},
	{TEXT("apiVersion", api, ONE)},
	{},
};
#undef T
