// SPDX-License-Identifier: Apache-2.0
/* What a pod's JSON says of the pod itself. */
#include <string.h>

#include "base/time.h"
#include "core/cgroup/part.h"
#include "core/names/workload.h"
#include "wire/kubernetes/pods_priv.h"

static void read_uid(const json_t *value, char ret[static META_UID_MAX])
{
	if (json_is_string(value))
		meta_uid_take(json_string_value(value), json_string_length(value), ret);
}

/*
 * The uid a pod's cgroup has: its own, but for a mirror, whose annotations tell the static pod's
 * (pkg/kubelet/types/pod_update.go). That must be a hash, so that whoever annotates a pod cannot
 * claim to be one that the API made.
 */
static void read_identity(const json_t *metadata, struct podjson_pod *pod)
{
	const json_t *annotations = podjson_get(metadata, "annotations");
	const json_t *source = podjson_get(annotations, "kubernetes.io/config.source");
	struct meta_pod *meta = &pod->meta;

	pod->mirror = podjson_get(annotations, "kubernetes.io/config.mirror") != NULL;
	if (pod->mirror) {
		read_uid(podjson_get(annotations, "kubernetes.io/config.hash"), meta->uid);
		if (strlen(meta->uid) != CGPART_HASH_UID_LEN)
			meta->uid[0] = '\0';
	} else {
		read_uid(podjson_get(metadata, "uid"), meta->uid);
	}
	podjson_time(podjson_get(annotations, "kubernetes.io/config.seen"), &pod->seen_wall_ns);
	podjson_copy(podjson_get(metadata, "namespace"), meta->namespace_,
		     sizeof(meta->namespace_));
	podjson_copy(podjson_get(metadata, "name"), meta->name, sizeof(meta->name));
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

	if (!podjson_integer(value, &seconds) || seconds < 0)
		return false;
	if (seconds > PODJSON_GRACE_MAX)
		seconds = PODJSON_GRACE_MAX;
	*ret_ns = (uint64_t)seconds * NS_PER_S;
	return true;
}

static void read_deletion(const json_t *metadata, struct meta_pod *meta)
{
	const json_t *stamp = podjson_get(metadata, "deletionTimestamp");

	meta->deleting = podjson_time(stamp, &meta->deleted_wall_ns);
	if (meta->deleting || !stamp)
		meta->known |= META_POD_DELETING;
	if (read_grace(podjson_get(metadata, "deletionGracePeriodSeconds"),
		       &meta->deletion_grace_ns))
		meta->known |= META_POD_DELETION_GRACE;
}

/* Whether any init container is restarted always; false, with *ret as it was, when the list makes
 * no sense. */
static bool read_sidecars(const json_t *spec, bool *ret)
{
	static const char *const always[] = {"Always", NULL};
	const json_t *inits = podjson_get(spec, "initContainers");
	bool any = false;

	if (!json_is_object(spec) || (inits && !json_is_array(inits)))
		return false;
	for (size_t i = 0; i < json_array_size(inits); i++) {
		const json_t *init = json_array_get(inits, i);

		any |= podjson_word(podjson_get(init, "restartPolicy"), always) != 0;
	}
	*ret = any;
	return true;
}

static void read_spec(const json_t *spec, struct meta_pod *meta)
{
	static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};

	if (read_grace(podjson_get(spec, "terminationGracePeriodSeconds"), &meta->grace_ns))
		meta->known |= META_POD_GRACE;
	if (podjson_integer(podjson_get(spec, "priority"), &meta->priority))
		meta->known |= META_POD_PRIORITY;
	if (read_sidecars(spec, &meta->sidecars))
		meta->known |= META_POD_SIDECARS;
	meta->restart_policy = podjson_word(podjson_get(spec, "restartPolicy"), policies);
}

static void read_ready(const json_t *status, struct meta_pod *meta)
{
	static const char *const ready[] = {"Ready", NULL};
	static const char *const states[] = {"True", "False", "Unknown", NULL};
	const json_t *conditions = podjson_get(status, "conditions");

	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *condition = json_array_get(conditions, i);
		uint32_t state = podjson_word(podjson_get(condition, "status"), states);

		if (!podjson_word(podjson_get(condition, "type"), ready) || state == 0)
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

	return ends[podjson_word(podjson_get(status, "reason"), reasons)];
}

static void read_status(const json_t *status, struct meta_pod *meta)
{
	static const char *const classes[] = {"Guaranteed", "Burstable", "BestEffort", NULL};
	static const char *const phases[] = {"Pending", "Running", "Succeeded",
					     "Failed",	"Unknown", NULL};

	meta->qos = podjson_word(podjson_get(status, "qosClass"), classes);
	meta->phase = podjson_word(podjson_get(status, "phase"), phases);
	if (meta->phase == META_PHASE_FAILED)
		meta->end = read_end(status);
	read_ready(status, meta);
}

/* The member's text, for as long as the JSON lives; NULL when it could be no name. */
static const char *name_at(const json_t *object, const char *key)
{
	const json_t *value = podjson_get(object, key);

	return json_string_length(value) < META_NAME_MAX ? json_string_value(value) : NULL;
}

const json_t *podjson_controller(const json_t *metadata)
{
	const json_t *owners = podjson_get(metadata, "ownerReferences");

	for (size_t i = 0; i < json_array_size(owners); i++) {
		const json_t *owner = json_array_get(owners, i);

		if (json_is_true(podjson_get(owner, "controller")))
			return owner;
	}
	return NULL;
}

static void read_workload(const json_t *metadata, const json_t *spec, struct meta_pod *meta)
{
	const json_t *labels = podjson_get(metadata, "labels");
	const json_t *owner = podjson_controller(metadata);
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
}

bool podjson_pod_tell(const json_t *json, const struct podjson_sink *sink)
{
	static const char *const kinds[] = {"Pod", NULL};
	const json_t *kind = podjson_get(json, "kind"), *spec = podjson_get(json, "spec");
	const json_t *metadata = podjson_get(json, "metadata");
	struct podjson_pod pod = {.meta.source = META_KUBELET};

	/* The items of a PodList carry no kind. */
	if (!json_is_object(metadata) || (kind && !podjson_word(kind, kinds)))
		return false;
	read_identity(metadata, &pod);
	if (!pod.meta.uid[0])
		return false;
	read_deletion(metadata, &pod.meta);
	read_spec(spec, &pod.meta);
	read_status(podjson_get(json, "status"), &pod.meta);
	read_workload(metadata, spec, &pod.meta);
	if (podjson_containers_complete(json))
		pod.meta.known |= META_POD_CONTAINERS;
	sink->pod(sink->userdata, &pod);
	podjson_containers_tell(json, pod.meta.uid, sink);
	return true;
}
