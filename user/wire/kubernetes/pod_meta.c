// SPDX-License-Identifier: Apache-2.0
/* Reads the pod itself, and its containers by the names of the spec and the names and ids of the
 * status. */
#include "wire/kubernetes/pod_meta.h"

#include <string.h>

#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/cgroup/part.h"
#include "core/names/workload.h"
#include "wire/kubernetes/value.h"

/* The parts of a pod that hold containers of one kind, and the same by their names: an author may
 * write thousands of them. */
struct lists {
	const json_t *specs, *statuses;
	json_t *spec_of, *status_of;
	const char *uid;
	bool inits; /* of the init containers */
	bool ephemerals;
	const struct podjson_sink *sink;
};

/* As much of the text as fits, up to the end of a character. jansson lets only UTF-8 through. */
static void read_image(const json_t *value, char ret[static META_IMAGE_MAX])
{
	size_t len = json_string_length(value);
	const char *text = json_string_value(value);

	if (len == 0)
		return;
	len = utf8_fit(text, len, META_IMAGE_MAX - 1);
	memcpy(ret, text, len);
	ret[len] = '\0';
}

static bool is_id(const char *id)
{
	size_t len = strlen(id);

	return len > 0 && len < META_ID_MAX &&
	       strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-") ==
		       len;
}

/* "containerd://<id>": the id, for as long as the JSON lives; NULL for anything else. */
static const char *id_of(const json_t *value)
{
	const char *text = json_string_value(value);
	const char *id = text ? strstr(text, "://") : NULL;

	return id && is_id(id + 3) ? id + 3 : NULL;
}

/* The first element of each name; without memory for it there is none. */
static json_t *by_name(const json_t *list)
{
	json_t *names = json_object();

	for (size_t i = 0; names && i < json_array_size(list); i++) {
		json_t *element = json_array_get(list, i);
		const char *name = json_string_value(apijson_get(element, "name"));

		if (name && !json_object_get(names, name))
			json_object_set(names, name, element);
	}
	return names;
}

static const json_t *find(const json_t *names, const json_t *element)
{
	const char *name = json_string_value(apijson_get(element, "name"));

	return name ? json_object_get(names, name) : NULL;
}

/* Whether an optional member is there as an object; false, with *ret as it was, for what is
 * neither absent nor one. */
static bool read_presence(const json_t *object, const char *key, bool *ret)
{
	const json_t *value = apijson_get(object, key);

	if (value && !json_is_object(value))
		return false;
	*ret = value != NULL;
	return true;
}

static void read_prestop(const json_t *spec, struct meta_container *c)
{
	bool any = false;

	if (!read_presence(spec, "lifecycle", &any))
		return;
	if (any && !read_presence(apijson_get(spec, "lifecycle"), "preStop", &any))
		return;
	c->prestop = any;
	c->known |= META_CTR_PRESTOP;
}

static void read_probes(const json_t *spec, struct meta_container *c)
{
	static const char *const probes[] = {"livenessProbe", "startupProbe"};
	bool grace = false, probe = false;

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		const json_t *own;
		bool any;

		if (!read_presence(spec, probes[i], &any))
			return;
		probe |= any;
		own = apijson_get(apijson_get(spec, probes[i]), "terminationGracePeriodSeconds");
		if (own && !json_is_number(own))
			return;
		grace |= own != NULL;
	}
	c->probe_grace = grace;
	c->probe = probe;
	c->known |= META_CTR_PROBE_GRACE | META_CTR_PROBE;
}

static uint32_t read_signal(const json_t *value)
{
	const char *text = json_string_value(value);
	uint32_t number;

	return text && signame_parse(text, &number) == 0 ? number : 0;
}

static void read_container_spec(const json_t *spec, struct meta_container *c)
{
	if (!json_is_object(spec))
		return;
	read_image(apijson_get(spec, "image"), c->image);
	read_prestop(spec, c);
	read_probes(spec, c);
	c->stop_signal = read_signal(apijson_get(apijson_get(spec, "lifecycle"), "stopSignal"));
}

/*
 * How a container ended, as its runtime reported to the kubelet. What the kubelet makes up for one
 * that the runtime has lost (pkg/kubelet/kubelet_pods.go) is no report: it has no time, or this
 * reason.
 */
static void read_exit(const json_t *terminated, struct meta_container *c)
{
	static const char *const lost[] = {"ContainerStatusUnknown", NULL};
	const json_t *reason = apijson_get(terminated, "reason");
	int64_t code, finished;

	if (!apijson_integer(apijson_get(terminated, "exitCode"), &code) || code < INT32_MIN ||
	    code > INT32_MAX || apijson_word(reason, lost) ||
	    !apijson_time(apijson_get(terminated, "finishedAt"), &finished))
		return;
	c->exit_code = (int32_t)code;
	c->finished_wall_ns = finished;
	apijson_copy(reason, c->exit_reason, sizeof(c->exit_reason));
	c->known |= META_CTR_EXIT;
}

static const json_t *terminated_of(const json_t *status, const char *state)
{
	return apijson_get(apijson_get(status, state), "terminated");
}

static void report(const struct lists *lists, const struct meta_container *c)
{
	lists->sink->container(lists->sink->userdata, c);
}

/* The container that the present one came after, if the status knows it: c as far as it is the
 * same. */
static void report_former(const struct lists *lists, const struct meta_container *c,
			  const json_t *last)
{
	const char *id = id_of(apijson_get(last, "containerID"));
	struct meta_container former = *c;

	if (!id || strcmp(id, c->id) == 0)
		return;
	strcpy(former.id, id);
	former.known &= ~(uint32_t)(META_CTR_ATTEMPT | META_CTR_EXIT);
	former.exit_code = 0;
	former.finished_wall_ns = 0;
	former.exit_reason[0] = '\0';
	former.attempt = 0;
	if ((c->known & META_CTR_ATTEMPT) && c->attempt > 0) {
		former.attempt = c->attempt - 1;
		former.known |= META_CTR_ATTEMPT;
	}
	read_exit(last, &former);
	report(lists, &former);
}

/* The status is of the container with the id it gives, or of none yet. While a container waits to
 * be restarted that is still the one that ended, whose end is in lastState then. */
static void read_container_status(const json_t *status, struct meta_container *c)
{
	static const char *const states[] = {"state", "lastState"};
	uint32_t in_spec = c->stop_signal;
	const char *id = id_of(apijson_get(status, "containerID"));
	int64_t restarts;

	if (id)
		strcpy(c->id, id);
	if (apijson_integer(apijson_get(status, "restartCount"), &restarts) && restarts >= 0 &&
	    restarts <= UINT32_MAX) {
		c->attempt = (uint32_t)restarts;
		c->known |= META_CTR_ATTEMPT;
	}
	if (!c->image[0])
		read_image(apijson_get(status, "image"), c->image);
	c->stop_signal = read_signal(apijson_get(status, "stopSignal")) ?: in_spec;
	for (size_t i = 0; id && i < 2 && !(c->known & META_CTR_EXIT); i++) {
		const json_t *end = terminated_of(status, states[i]);
		const char *ended = id_of(apijson_get(end, "containerID"));

		if (ended && strcmp(ended, id) == 0)
			read_exit(end, c);
	}
}

/* sidecar: as struct meta_container has it. spec or status may be NULL. */
static void report_container(const struct lists *lists, const json_t *spec, uint32_t sidecar,
			     const json_t *status)
{
	struct meta_container c = {.source = META_KUBELET, .kind = META_KIND_CONTAINER};

	apijson_copy(apijson_get(spec ?: status, "name"), c.name, sizeof(c.name));
	if (!c.name[0])
		return;
	strcpy(c.pod_uid, lists->uid);
	read_container_spec(spec, &c);
	if (json_is_object(spec)) {
		c.sidecar = sidecar;
		c.known |= META_CTR_SIDECAR;
	}
	if (!json_is_object(status)) {
		report(lists, &c);
		return;
	}
	read_container_status(status, &c);
	report(lists, &c);
	report_former(lists, &c, terminated_of(status, "lastState"));
}

/* An init container that is restarted always runs beside the others until they end. */
static bool is_sidecar(const json_t *init)
{
	static const char *const always[] = {"Always", NULL};

	return apijson_word(apijson_get(init, "restartPolicy"), always) != 0;
}

static void report_lists(const struct lists *lists)
{
	uint32_t sidecars = 0;

	for (size_t i = 0; i < json_array_size(lists->specs); i++) {
		const json_t *spec = json_array_get(lists->specs, i);

		bool sidecar = lists->inits && is_sidecar(spec);
		uint32_t none = lists->ephemerals ? META_EPHEMERAL : 0;

		sidecars += sidecar;
		report_container(lists, spec, sidecar ? sidecars : none,
				 find(lists->status_of, spec));
	}
	for (size_t i = 0; i < json_array_size(lists->statuses); i++) {
		const json_t *status = json_array_get(lists->statuses, i);

		if (!find(lists->spec_of, status))
			report_container(lists, NULL, 0, status);
	}
}

static const char *const container_kinds[][2] = {
	{"initContainers", "initContainerStatuses"},
	{"containers", "containerStatuses"},
	{"ephemeralContainers", "ephemeralContainerStatuses"},
};

/*
 * Made, and reported with its id, or never made. One that the runtime has lost has no id, but ended
 * (convertToAPIContainerStatuses() in pkg/kubelet/kubelet_pods.go), and its process may live.
 */
static bool is_accounted_for(const json_t *status)
{
	const json_t *id = apijson_get(status, "containerID");
	int64_t restarts = 0;

	if (!json_is_object(status))
		return false;
	if (id && !(json_is_string(id) && json_string_length(id) == 0))
		return id_of(id) != NULL;
	apijson_integer(apijson_get(status, "restartCount"), &restarts);
	return restarts == 0 && !terminated_of(status, "state") &&
	       !terminated_of(status, "lastState");
}

/* Whether the status has the ids of all containers of the spec that were ever made. */
static bool has_all_containers(const json_t *pod)
{
	const json_t *spec = apijson_get(pod, "spec"), *status = apijson_get(pod, "status");
	bool complete = json_array_size(apijson_get(spec, "containers")) > 0;

	for (size_t i = 0; complete && i < sizeof(container_kinds) / sizeof(container_kinds[0]);
	     i++) {
		const json_t *specs = apijson_get(spec, container_kinds[i][0]);
		json_t *status_of = by_name(apijson_get(status, container_kinds[i][1]));

		for (size_t j = 0; complete && j < json_array_size(specs); j++)
			complete = is_accounted_for(find(status_of, json_array_get(specs, j)));
		json_decref(status_of);
	}
	return complete;
}

static void report_containers(const json_t *pod, const char *uid, const struct podjson_sink *sink)
{
	const json_t *spec = apijson_get(pod, "spec"), *status = apijson_get(pod, "status");

	for (size_t i = 0; i < sizeof(container_kinds) / sizeof(container_kinds[0]); i++) {
		struct lists lists = {
			.specs = apijson_get(spec, container_kinds[i][0]),
			.statuses = apijson_get(status, container_kinds[i][1]),
			.uid = uid,
			.inits = i == 0,
			.ephemerals = i == 2,
			.sink = sink,
		};

		lists.spec_of = by_name(lists.specs);
		lists.status_of = by_name(lists.statuses);
		report_lists(&lists);
		json_decref(lists.spec_of);
		json_decref(lists.status_of);
	}
}

/* What a pod's JSON says of the pod itself. */

static void read_uid(const json_t *value, char ret[static META_UID_MAX])
{
	if (json_is_string(value))
		meta_uid_take(json_string_value(value), json_string_length(value), ret);
}

/*
 * The uid a pod's cgroup has: its own, but for a mirror, whose annotations have the static pod's
 * (pkg/kubelet/types/pod_update.go). That must be a hash, so that one who annotates a pod cannot
 * claim to be one that the API made.
 */
static void read_identity(const json_t *metadata, struct podjson_pod *pod)
{
	const json_t *annotations = apijson_get(metadata, "annotations");
	const json_t *source = apijson_get(annotations, "kubernetes.io/config.source");
	struct meta_pod *meta = &pod->meta;

	pod->mirror = apijson_get(annotations, "kubernetes.io/config.mirror") != NULL;
	if (pod->mirror) {
		read_uid(apijson_get(annotations, "kubernetes.io/config.hash"), meta->uid);
		if (strlen(meta->uid) != CGPART_HASH_UID_LEN)
			meta->uid[0] = '\0';
	} else {
		read_uid(apijson_get(metadata, "uid"), meta->uid);
	}
	apijson_time(apijson_get(annotations, "kubernetes.io/config.seen"), &pod->seen_wall_ns);
	apijson_copy(apijson_get(metadata, "namespace"), meta->namespace_,
		     sizeof(meta->namespace_));
	apijson_copy(apijson_get(metadata, "name"), meta->name, sizeof(meta->name));
	if (annotations && !json_is_object(annotations))
		return;
	if (source && !json_is_string(source) && !pod->mirror)
		return;
	meta->known |= META_POD_STATIC;
	meta->is_static = pod->mirror || (source && strcmp(json_string_value(source), "api") != 0);
}

static bool read_grace(const json_t *value, uint64_t *ret_ns)
{
	int64_t seconds;

	if (!apijson_integer(value, &seconds) || seconds < 0)
		return false;
	if (seconds > PODJSON_GRACE_MAX)
		seconds = PODJSON_GRACE_MAX;
	*ret_ns = (uint64_t)seconds * NS_PER_S;
	return true;
}

static void read_deletion(const json_t *metadata, struct meta_pod *meta)
{
	const json_t *stamp = apijson_get(metadata, "deletionTimestamp");

	meta->deleting = apijson_time(stamp, &meta->deleted_wall_ns);
	if (meta->deleting || !stamp)
		meta->known |= META_POD_DELETING;
	if (read_grace(apijson_get(metadata, "deletionGracePeriodSeconds"),
		       &meta->deletion_grace_ns))
		meta->known |= META_POD_DELETION_GRACE;
}

/* Whether any init container is restarted always; false, with *ret as it was, when the list makes
 * no sense. */
static bool read_sidecars(const json_t *spec, bool *ret)
{
	const json_t *inits = apijson_get(spec, "initContainers");
	bool any = false;

	if (!json_is_object(spec) || (inits && !json_is_array(inits)))
		return false;
	for (size_t i = 0; i < json_array_size(inits); i++)
		any |= is_sidecar(json_array_get(inits, i));
	*ret = any;
	return true;
}

static void read_spec(const json_t *spec, struct meta_pod *meta)
{
	static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};

	if (read_grace(apijson_get(spec, "terminationGracePeriodSeconds"), &meta->grace_ns))
		meta->known |= META_POD_GRACE;
	if (apijson_integer(apijson_get(spec, "priority"), &meta->priority))
		meta->known |= META_POD_PRIORITY;
	if (read_sidecars(spec, &meta->sidecars))
		meta->known |= META_POD_SIDECARS;
	meta->restart_policy = apijson_word(apijson_get(spec, "restartPolicy"), policies);
}

static void read_ready(const json_t *status, struct meta_pod *meta)
{
	static const char *const ready[] = {"Ready", NULL};
	static const char *const states[] = {"True", "False", "Unknown", NULL};
	const json_t *conditions = apijson_get(status, "conditions");

	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *condition = json_array_get(conditions, i);
		uint32_t state = apijson_word(apijson_get(condition, "status"), states);

		if (!apijson_word(apijson_get(condition, "type"), ready) || state == 0)
			continue;
		meta->known |= META_POD_READY;
		meta->ready = state == 1;
		return;
	}
}

static uint32_t read_end(const json_t *status)
{
	static const char *const reasons[] = {"Evicted",  "Preempting",	  "Terminated",
					      "Shutdown", "NodeShutdown", "DeadlineExceeded",
					      NULL};
	static const uint32_t ends[] = {0,
					META_END_EVICTED,
					META_END_PREEMPTED,
					META_END_SHUTDOWN,
					META_END_SHUTDOWN,
					META_END_SHUTDOWN,
					META_END_DEADLINE};

	return ends[apijson_word(apijson_get(status, "reason"), reasons)];
}

static void read_status(const json_t *status, struct meta_pod *meta)
{
	static const char *const classes[] = {"Guaranteed", "Burstable", "BestEffort", NULL};
	static const char *const phases[] = {"Pending", "Running", "Succeeded",
					     "Failed",	"Unknown", NULL};

	meta->qos = apijson_word(apijson_get(status, "qosClass"), classes);
	meta->phase = apijson_word(apijson_get(status, "phase"), phases);
	if (meta->phase == META_PHASE_FAILED)
		meta->end = read_end(status);
	read_ready(status, meta);
}

/* The member's text, for as long as the JSON lives; NULL when it could be no name. */
static const char *name_at(const json_t *object, const char *key)
{
	const json_t *value = apijson_get(object, key);

	return json_string_length(value) < META_NAME_MAX ? json_string_value(value) : NULL;
}

static void read_workload(const json_t *metadata, const json_t *spec, struct meta_pod *meta)
{
	const json_t *labels = apijson_get(metadata, "labels");
	const json_t *owner = apijson_controller(metadata);
	struct workload_facts facts = {
		.pod = meta->name,
		.node = name_at(spec, "nodeName"),
		.owner_kind = name_at(owner, "kind"),
		.owner_api = name_at(owner, "apiVersion"),
		.owner = name_at(owner, "name"),
		.is_static = meta->is_static,
		.template_hash = name_at(labels, "pod-template-hash"),
		.statefulset_pod = name_at(labels, "statefulset.kubernetes.io/pod-name"),
		.revision_hash = name_at(labels, "controller-revision-hash"),
		.job = name_at(labels, "batch.kubernetes.io/job-name"),
	};

	if (!facts.job)
		facts.job = name_at(labels, "job-name");
	workload_name(&facts, meta->workload);
	workload_kind(&facts, meta->workload_kind);
}

bool podmeta_read(const json_t *json, const struct podjson_sink *sink)
{
	static const char *const kinds[] = {"Pod", NULL};
	const json_t *kind = apijson_get(json, "kind"), *spec = apijson_get(json, "spec");
	const json_t *metadata = apijson_get(json, "metadata");
	struct podjson_pod pod = {.meta.source = META_KUBELET};

	/* The items of a PodList carry no kind. */
	if (!json_is_object(metadata) || (kind && !apijson_word(kind, kinds)))
		return false;
	read_identity(metadata, &pod);
	if (!pod.meta.uid[0])
		return false;
	read_deletion(metadata, &pod.meta);
	read_spec(spec, &pod.meta);
	read_status(apijson_get(json, "status"), &pod.meta);
	read_workload(metadata, spec, &pod.meta);
	if (has_all_containers(json))
		pod.meta.known |= META_POD_CONTAINERS;
	sink->pod(sink->userdata, &pod);
	report_containers(json, pod.meta.uid, sink);
	return true;
}
