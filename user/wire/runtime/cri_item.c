// SPDX-License-Identifier: Apache-2.0
/* Turns a runtime's messages about sandboxes and containers into items of metadata. */
#include <string.h>

#include "core/names/workload.h"
#include "wire/runtime/cri_priv.h"

/* What the kubelet writes into labels and annotations (pkg/kubelet/kuberuntime/labels.go,
 * pkg/kubelet/types/{labels,pod_update}.go). */
#define POD_NAME       "io.kubernetes.pod.name"
#define POD_NAMESPACE  "io.kubernetes.pod.namespace"
#define POD_UID	       "io.kubernetes.pod.uid"
#define POD_GRACE      "io.kubernetes.pod.terminationGracePeriod"
#define CONTAINER_NAME "io.kubernetes.container.name"
#define CONTAINER_HASH "io.kubernetes.container.hash"
#define PRE_STOP       "io.kubernetes.container.preStopHandler"
#define CONFIG_SOURCE  "kubernetes.io/config.source"

/* A sandbox in a list, and one in an event. */
struct sandbox_view {
	ProtobufCBinaryData id;
	const Cri__PodSandboxMetadata *metadata;
	uint32_t state;
	struct cri_map labels;
	struct cri_map annotations;
};

/* A container in a list, and one whose status was asked. */
struct container_view {
	ProtobufCBinaryData id;
	ProtobufCBinaryData sandbox_id;
	const Cri__ContainerMetadata *metadata;
	const Cri__ImageSpec *image;
	ProtobufCBinaryData image_ref;
	ProtobufCBinaryData image_id;
	uint32_t state;
	struct cri_map labels;
	struct cri_map annotations;
};

/* --- texts ----------------------------------------------------------------------------------- */

static void take(struct cri_item *item, ProtobufCBinaryData text, char *ret, size_t size)
{
	if (!cri_text_take(text, ret, size))
		item->refused++;
}

/* The first of two that says something that may be said. */
static void take_either(struct cri_item *item, ProtobufCBinaryData first,
			ProtobufCBinaryData second, char *ret, size_t size)
{
	take(item, first, ret, size);
	if (!ret[0])
		take(item, second, ret, size);
}

static void take_uid(struct cri_item *item, ProtobufCBinaryData text)
{
	if (!item->pod.uid[0] && !cri_uid_take(text, item->pod.uid))
		item->refused++;
}

static bool is(ProtobufCBinaryData text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

/* --- pods ------------------------------------------------------------------------------------ */

/* A pod by its metadata, NULL where there is none, and its labels. */
static void fill_pod(struct cri_item *item, const Cri__PodSandboxMetadata *metadata,
		     struct cri_map labels)
{
	static const Cri__PodSandboxMetadata none = CRI__POD_SANDBOX_METADATA__INIT;
	struct meta_pod *pod = &item->pod;

	if (!metadata)
		metadata = &none;
	take_uid(item, metadata->uid);
	take_uid(item, cri_map_find(labels, POD_UID, NULL));
	if (!pod->uid[0])
		return;
	take_either(item, metadata->namespace_, cri_map_find(labels, POD_NAMESPACE, NULL),
		    pod->namespace_, sizeof(pod->namespace_));
	take_either(item, metadata->name, cri_map_find(labels, POD_NAME, NULL), pod->name,
		    sizeof(pod->name));
	memcpy(item->container.pod_uid, pod->uid, sizeof(pod->uid));
}

/* The kubelet says of every pod where it has it from: the API, a file, a URL; where a runtime does
 * not pass that on, a UID that is a hash tells. */
static void fill_static(struct meta_pod *pod, struct cri_map annotations)
{
	ProtobufCBinaryData source = cri_map_find(annotations, CONFIG_SOURCE, NULL);

	if (source.len == 0 && strlen(pod->uid) != 32)
		return;
	pod->known |= META_POD_STATIC;
	pod->is_static = !is(source, "api");
}

static void fill_workload(struct cri_item *item, struct cri_map labels, const char *node)
{
	char hash[META_NAME_MAX], set[META_NAME_MAX], revision[META_NAME_MAX], job[META_NAME_MAX];
	struct workload_facts facts = {.pod = item->pod.name,
				       .node = node,
				       .is_static = item->pod.is_static,
				       .template_hash = hash,
				       .statefulset_pod = set,
				       .revision_hash = revision,
				       .job = job};

	take(item, cri_map_find(labels, "pod-template-hash", NULL), hash, sizeof(hash));
	take(item, cri_map_find(labels, "statefulset.kubernetes.io/pod-name", NULL), set,
	     sizeof(set));
	take(item, cri_map_find(labels, "controller-revision-hash", NULL), revision,
	     sizeof(revision));
	take_either(item, cri_map_find(labels, "batch.kubernetes.io/job-name", NULL),
		    cri_map_find(labels, "job-name", NULL), job, sizeof(job));
	workload_name(&facts, item->pod.workload);
}

/* Whole seconds, decimal; false for what is none, or more than nanoseconds can count. */
static bool parse_grace(ProtobufCBinaryData text, uint64_t *ret_ns)
{
	const uint64_t most = INT64_MAX / 1000000000;
	uint64_t seconds = 0;

	if (text.len == 0)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		seconds = seconds * 10 + (text.data[i] - '0');
		if (seconds > most)
			return false;
	}
	*ret_ns = seconds * 1000000000;
	return true;
}

/* --- sandboxes ------------------------------------------------------------------------------- */

static bool fill_sandbox(const struct sandbox_view *view, const char *node, struct cri_item *ret)
{
	char id[META_ID_MAX];

	if (!cri_id_take(view->id, id))
		return false;
	*ret = (struct cri_item){.pod.source = META_CRI,
				 .container.source = META_CRI,
				 .container.kind = META_KIND_SANDBOX};
	memcpy(ret->container.id, id, sizeof(id));
	memcpy(ret->sandbox_id, id, sizeof(id));
	ret->state = view->state == 0	? CRI_STATE_RUNNING
		     : view->state == 1 ? CRI_STATE_EXITED
					: CRI_STATE_UNKNOWN;
	if (view->metadata) {
		ret->container.known |= META_CTR_ATTEMPT;
		ret->container.attempt = view->metadata->attempt;
	}
	fill_pod(ret, view->metadata, view->labels);
	if (ret->pod.uid[0]) {
		fill_static(&ret->pod, view->annotations);
		fill_workload(ret, view->labels, node);
	}
	return true;
}

bool cri_item_sandbox(const Cri__PodSandbox *sandbox, const char *node, struct cri_item *ret)
{
	struct sandbox_view view = {
		.id = sandbox->id,
		.metadata = sandbox->metadata,
		.state = sandbox->state,
		.labels = {sandbox->n_labels, sandbox->labels},
		.annotations = {sandbox->n_annotations, sandbox->annotations},
	};

	return fill_sandbox(&view, node, ret);
}

bool cri_item_sandbox_status(const Cri__PodSandboxStatus *status, const char *node,
			     struct cri_item *ret)
{
	struct sandbox_view view = {
		.id = status->id,
		.metadata = status->metadata,
		.state = status->state,
		.labels = {status->n_labels, status->labels},
		.annotations = {status->n_annotations, status->annotations},
	};

	return fill_sandbox(&view, node, ret);
}

/* --- containers ------------------------------------------------------------------------------ */

static bool is_digest(ProtobufCBinaryData text)
{
	return meta_is_digest((const char *)text.data, text.len);
}

/* The name that the pod's author wrote, else the first that is more than a digest, else that. The
 * kubelet creates containers by the digest that it pulled, and tells the name beside it from 1.29
 * on; a status has a tag of the image instead. */
static void fill_image(struct cri_item *item, const struct container_view *view)
{
	static const Cri__ImageSpec none = CRI__IMAGE_SPEC__INIT;
	const Cri__ImageSpec *image = view->image ? view->image : &none;
	const ProtobufCBinaryData names[] = {image->user_specified_image, image->image,
					     view->image_ref};
	const ProtobufCBinaryData keys[] = {view->image_id, view->image_ref, image->image};
	ProtobufCBinaryData best = {};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].len == 0 ||
		    (best.len > 0 && (!is_digest(best) || is_digest(names[i]))))
			continue;
		best = names[i];
	}
	if (!cri_text_cut(best, item->container.image, sizeof(item->container.image)))
		item->refused++;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !item->image_key[0]; i++)
		take(item, keys[i], item->image_key, sizeof(item->image_key));
}

static bool fill_container(const struct container_view *view, struct cri_item *ret)
{
	ProtobufCBinaryData name = {};
	char id[META_ID_MAX];
	bool by_kubelet;

	if (!cri_id_take(view->id, id))
		return false;
	*ret = (struct cri_item){.pod.source = META_CRI,
				 .container.source = META_CRI,
				 .container.kind = META_KIND_CONTAINER};
	memcpy(ret->container.id, id, sizeof(id));
	ret->state =
		view->state < CRI_STATE_UNKNOWN ? (enum cri_state)view->state : CRI_STATE_UNKNOWN;
	if (view->sandbox_id.len > 0 && !cri_id_take(view->sandbox_id, ret->sandbox_id))
		ret->refused++;
	if (view->metadata) {
		name = view->metadata->name;
		ret->container.known |= META_CTR_ATTEMPT;
		ret->container.attempt = view->metadata->attempt;
	}
	take_either(ret, name, cri_map_find(view->labels, CONTAINER_NAME, NULL),
		    ret->container.name, sizeof(ret->container.name));
	fill_image(ret, view);
	fill_pod(ret, NULL, view->labels);
	if (ret->pod.uid[0] &&
	    parse_grace(cri_map_find(view->annotations, POD_GRACE, NULL), &ret->pod.grace_ns))
		ret->pod.known |= META_POD_GRACE;
	cri_map_find(view->annotations, CONTAINER_HASH, &by_kubelet);
	cri_map_find(view->annotations, PRE_STOP, &ret->container.prestop);
	if (by_kubelet || ret->container.prestop)
		ret->container.known |= META_CTR_PRESTOP;
	return true;
}

bool cri_item_container(const Cri__Container *container, struct cri_item *ret)
{
	struct container_view view = {
		.id = container->id,
		.sandbox_id = container->pod_sandbox_id,
		.metadata = container->metadata,
		.image = container->image,
		.image_ref = container->image_ref,
		.image_id = container->image_id,
		.state = container->state,
		.labels = {container->n_labels, container->labels},
		.annotations = {container->n_annotations, container->annotations},
	};

	return fill_container(&view, ret);
}

bool cri_item_status(const Cri__ContainerStatus *status, struct cri_item *ret)
{
	struct container_view view = {
		.id = status->id,
		.metadata = status->metadata,
		.image = status->image,
		.image_ref = status->image_ref,
		.image_id = status->image_id,
		.state = status->state,
		.labels = {status->n_labels, status->labels},
		.annotations = {status->n_annotations, status->annotations},
	};

	if (!fill_container(&view, ret))
		return false;
	ret->container.stop_signal = cri_signal(status->stop_signal);
	if (ret->state != CRI_STATE_EXITED)
		return true;
	ret->container.known |= META_CTR_EXIT;
	ret->container.exit_code = status->exit_code;
	/* Runtimes write Go's zero time, which is before 1970, for none. */
	ret->container.finished_wall_ns = status->finished_at > 0 ? status->finished_at : 0;
	take(ret, status->reason, ret->container.exit_reason, sizeof(ret->container.exit_reason));
	return true;
}
