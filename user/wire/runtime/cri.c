// SPDX-License-Identifier: Apache-2.0
/* Turns a runtime's answers into items of metadata, each in bounded memory. */
#include "wire/runtime/cri.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signame.h"
#include "base/utf8.h"
#include "core/names/workload.h"
#include "cri.pb-c.h"
#include "wire/grpc/message.h"
#include "wire/json/walk.h"

/* A map as it is on the wire: of two pairs with one key the last counts. */
struct pairs {
	size_t n;
	Cri__Pair *const *pairs;
};

/* How many of the bytes are whole characters of UTF-8 other than NUL, up to max bytes. */
static size_t text_span(ProtobufCBinaryData text, size_t max, bool *ret_bad)
{
	const char *bytes = (const char *)text.data;
	size_t at = 0, n;
	uint32_t code;

	*ret_bad = false;
	while (at < text.len) {
		n = utf8_decode(bytes + at, text.len - at, &code);
		if (n == 0 || code == 0) {
			*ret_bad = true;
			break;
		}
		if (n > max - at)
			break;
		at += n;
	}
	return at;
}

static bool cut_text(ProtobufCBinaryData text, char *ret, size_t size)
{
	bool bad;
	size_t len = text_span(text, size - 1, &bad);

	if (bad)
		len = 0;
	if (len > 0)
		memcpy(ret, text.data, len);
	ret[len] = '\0';
	return !bad;
}

static bool take_text(ProtobufCBinaryData text, char *ret, size_t size)
{
	if (text.len >= size) {
		ret[0] = '\0';
		return false;
	}
	return cut_text(text, ret, size);
}

static bool is_id_byte(uint8_t c)
{
	uint8_t lower = c | 0x20;

	return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z') || c == '_' || c == '.' ||
	       c == '-';
}

static bool take_id(ProtobufCBinaryData text, char ret[static META_ID_MAX])
{
	ret[0] = '\0';
	if (text.len == 0 || text.len >= META_ID_MAX)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (!is_id_byte(text.data[i]))
			return false;
	}
	memcpy(ret, text.data, text.len);
	ret[text.len] = '\0';
	return true;
}

/* "" and true for no text at all. */
static bool take_pod_uid(ProtobufCBinaryData text, char ret[static POD_UID_MAX])
{
	ret[0] = '\0';
	return text.len == 0 || meta_uid_take((const char *)text.data, text.len, ret);
}

/* The value, or no bytes; *ret_found, which may be NULL, is true for an empty value. */
static ProtobufCBinaryData map_find(struct pairs map, const char *key, bool *ret_found)
{
	size_t len = strlen(key);

	for (size_t i = map.n; i-- > 0;) {
		const Cri__Pair *pair = map.pairs[i];

		if (pair->key.len != len || memcmp(pair->key.data, key, len) != 0)
			continue;
		if (ret_found)
			*ret_found = true;
		return pair->value;
	}
	if (ret_found)
		*ret_found = false;
	return (ProtobufCBinaryData){};
}

#define RT_FIRST 35 /* SIGRTMIN; from here on every member is one signal further */
#define RT_LAST	 65
#define RT_MIN	 34 /* as base/signame has it */

/* The number on Linux of runtime.v1.Signal, whose members are in order of name; 0 for none. */
static uint32_t signal_of(uint32_t member)
{
	static const uint8_t
		numbers[RT_FIRST] =
			{
				[1] = SIGABRT,	SIGALRM,       SIGBUS,	     SIGCHLD,
				SIGCHLD,	SIGCONT,       SIGFPE,	     [8] = SIGHUP,
				SIGILL,		SIGINT,	       SIGIO,	     SIGABRT,
				SIGKILL,	SIGPIPE,       [15] = SIGIO, SIGPROF,
				SIGPWR,		SIGQUIT,       SIGSEGV,	     SIGSTKFLT,
				SIGSTOP,	[22] = SIGSYS, SIGTERM,	     SIGTRAP,
				SIGTSTP,	SIGTTIN,       SIGTTOU,	     SIGURG,
				[29] = SIGUSR1, SIGUSR2,       SIGVTALRM,    SIGWINCH,
				SIGXCPU,	SIGXFSZ,
			};

	if (member < RT_FIRST)
		return numbers[member];
	return member <= RT_LAST ? member - RT_FIRST + RT_MIN : 0;
}

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
	struct pairs labels;
	struct pairs annotations;
};

/* A view of either message: their members have the same names and other numbers. */
#define SANDBOX_VIEW(m)                                                \
	(&(const struct sandbox_view){                                 \
		.id = (m)->id,                                         \
		.metadata = (m)->metadata,                             \
		.state = (m)->state,                                   \
		.labels = {(m)->n_labels, (m)->labels},                \
		.annotations = {(m)->n_annotations, (m)->annotations}, \
	})

/* A container in a list, and one whose status was asked. */
struct container_view {
	ProtobufCBinaryData id;
	ProtobufCBinaryData sandbox_id;
	const Cri__ContainerMetadata *metadata;
	const Cri__ImageSpec *image;
	ProtobufCBinaryData image_ref;
	ProtobufCBinaryData image_id;
	uint32_t state;
	struct pairs labels;
	struct pairs annotations;
};

/* The id of its sandbox is in a list alone. */
#define CONTAINER_VIEW(m, ...)                                                                 \
	(&(const struct container_view){.id = (m)->id,                                         \
					.metadata = (m)->metadata,                             \
					.image = (m)->image,                                   \
					.image_ref = (m)->image_ref,                           \
					.image_id = (m)->image_id,                             \
					.state = (m)->state,                                   \
					.labels = {(m)->n_labels, (m)->labels},                \
					.annotations = {(m)->n_annotations, (m)->annotations}, \
					__VA_ARGS__})

static void take(struct cri_item *item, ProtobufCBinaryData text, char *ret, size_t size)
{
	if (!take_text(text, ret, size))
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
	if (!item->pod.uid[0] && !take_pod_uid(text, item->pod.uid))
		item->refused++;
}

static bool is(ProtobufCBinaryData text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

/* A pod by its metadata, NULL where there is none, and its labels. */
static void fill_pod(struct cri_item *item, const Cri__PodSandboxMetadata *metadata,
		     struct pairs labels)
{
	static const Cri__PodSandboxMetadata none = CRI__POD_SANDBOX_METADATA__INIT;
	struct meta_pod *pod = &item->pod;

	if (!metadata)
		metadata = &none;
	take_uid(item, metadata->uid);
	take_uid(item, map_find(labels, POD_UID, NULL));
	if (!pod->uid[0])
		return;
	take_either(item, metadata->namespace_, map_find(labels, POD_NAMESPACE, NULL),
		    pod->namespace_, sizeof(pod->namespace_));
	take_either(item, metadata->name, map_find(labels, POD_NAME, NULL), pod->name,
		    sizeof(pod->name));
	memcpy(item->container.pod_uid, pod->uid, sizeof(pod->uid));
}

/* The kubelet says of every pod where it has it from: the API, a file, a URL; where a runtime does
 * not pass that on, a UID that is a hash shows it. */
static void fill_static(struct meta_pod *pod, struct pairs annotations)
{
	ProtobufCBinaryData source = map_find(annotations, CONFIG_SOURCE, NULL);

	if (source.len == 0 && strlen(pod->uid) != 32)
		return;
	pod->known |= META_POD_STATIC;
	pod->is_static = !is(source, "api");
}

static void fill_workload(struct cri_item *item, struct pairs labels, const char *node)
{
	char hash[META_NAME_MAX], set[META_NAME_MAX], revision[META_NAME_MAX], job[META_NAME_MAX];
	struct workload_facts facts = {.pod = item->pod.name,
				       .node = node,
				       .is_static = item->pod.is_static,
				       .template_hash = hash,
				       .statefulset_pod = set,
				       .revision_hash = revision,
				       .job = job};

	take(item, map_find(labels, "pod-template-hash", NULL), hash, sizeof(hash));
	take(item, map_find(labels, "statefulset.kubernetes.io/pod-name", NULL), set, sizeof(set));
	take(item, map_find(labels, "controller-revision-hash", NULL), revision, sizeof(revision));
	take_either(item, map_find(labels, "batch.kubernetes.io/job-name", NULL),
		    map_find(labels, "job-name", NULL), job, sizeof(job));
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

static bool fill_sandbox(const struct sandbox_view *view, const char *node, struct cri_item *ret)
{
	char id[META_ID_MAX];

	if (!take_id(view->id, id))
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

static bool is_digest(ProtobufCBinaryData text)
{
	return meta_is_digest((const char *)text.data, text.len);
}

/* The name that the pod's author wrote, else the first that is more than a digest, else that. The
 * kubelet creates containers by the digest that it pulled, and passes the name beside it from 1.29
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
	if (!cut_text(best, item->container.image, sizeof(item->container.image)))
		item->refused++;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !item->image_key[0]; i++)
		take(item, keys[i], item->image_key, sizeof(item->image_key));
}

static bool fill_container(const struct container_view *view, struct cri_item *ret)
{
	ProtobufCBinaryData name = {};
	char id[META_ID_MAX];
	bool by_kubelet;

	if (!take_id(view->id, id))
		return false;
	*ret = (struct cri_item){.pod.source = META_CRI,
				 .container.source = META_CRI,
				 .container.kind = META_KIND_CONTAINER};
	memcpy(ret->container.id, id, sizeof(id));
	ret->state =
		view->state < CRI_STATE_UNKNOWN ? (enum cri_state)view->state : CRI_STATE_UNKNOWN;
	if (view->sandbox_id.len > 0 && !take_id(view->sandbox_id, ret->sandbox_id))
		ret->refused++;
	if (view->metadata) {
		name = view->metadata->name;
		ret->container.known |= META_CTR_ATTEMPT;
		ret->container.attempt = view->metadata->attempt;
	}
	take_either(ret, name, map_find(view->labels, CONTAINER_NAME, NULL), ret->container.name,
		    sizeof(ret->container.name));
	fill_image(ret, view);
	fill_pod(ret, NULL, view->labels);
	if (ret->pod.uid[0] &&
	    parse_grace(map_find(view->annotations, POD_GRACE, NULL), &ret->pod.grace_ns))
		ret->pod.known |= META_POD_GRACE;
	map_find(view->annotations, CONTAINER_HASH, &by_kubelet);
	map_find(view->annotations, PRE_STOP, &ret->container.prestop);
	if (by_kubelet || ret->container.prestop)
		ret->container.known |= META_CTR_PRESTOP;
	return true;
}

static bool item_of_status(const Cri__ContainerStatus *status, struct cri_item *ret)
{
	if (!fill_container(CONTAINER_VIEW(status), ret))
		return false;
	ret->container.stop_signal = signal_of(status->stop_signal);
	if (ret->state != CRI_STATE_EXITED)
		return true;
	ret->container.known |= META_CTR_EXIT;
	ret->container.exit_code = status->exit_code;
	/* Runtimes write Go's zero time, which is before 1970, for none. */
	ret->container.finished_wall_ns = status->finished_at > 0 ? status->finished_at : 0;
	take(ret, status->reason, ret->container.exit_reason, sizeof(ret->container.exit_reason));
	return true;
}

/* A JSON value of two bytes takes a hundred times as many in memory, and an image's author chooses
 * how many there are; real configurations have hundreds. */
#define JSON_VALUES_MAX 16384

int cri_read_version(const void *payload, size_t len, struct cri_runtime *ret)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	ProtobufCMessage *message;
	const Cri__VersionResponse *version;
	struct cri_runtime runtime;
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena, &cri__version_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	version = (const Cri__VersionResponse *)message;
	cut_text(version->runtime_name, runtime.name, sizeof(runtime.name));
	cut_text(version->runtime_version, runtime.version, sizeof(runtime.version));
	cut_text(version->runtime_api_version, runtime.api, sizeof(runtime.api));
	*ret = runtime;
	return 0;
}

/* Valid as long as the arena. */
static int unpack_status(struct grpc_arena *arena, const void *payload, size_t len,
			 const Cri__ContainerStatus **ret)
{
	ProtobufCMessage *message;
	int r;

	grpc_arena_start(arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(arena, &cri__container_status_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	*ret = ((const Cri__ContainerStatusResponse *)message)->status;
	return *ret ? 0 : -ENOENT;
}

int cri_read_status(const void *payload, size_t len, struct cri_item *ret)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	const Cri__ContainerStatus *status;
	int r = unpack_status(&arena, payload, len, &status);

	if (r < 0)
		return r;
	return item_of_status(status, ret) ? 0 : -EBADMSG;
}

static int read_signal(const json_t *value, uint32_t *ret_signal)
{
	const char *text = json_string_value(value);

	if (!value || (text && json_string_length(value) == 0)) {
		*ret_signal = 0;
		return 0;
	}
	if (!text || strlen(text) != json_string_length(value))
		return -EBADMSG;
	return signame_parse(text, ret_signal) < 0 ? -EBADMSG : 0;
}

int cri_read_image(const void *payload, size_t len, uint32_t *ret_signal)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	json_auto_t *info = NULL;
	ProtobufCMessage *message;
	const Cri__ImageStatusResponse *response;
	ProtobufCBinaryData text;
	const json_t *config;
	bool found;
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena, &cri__image_status_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	response = (const Cri__ImageStatusResponse *)message;
	text = map_find((struct pairs){response->n_info, response->info}, "info", &found);
	if (response->image.len == 0 || !found)
		return -ENOENT;
	if (jsonwalk_count((const char *)text.data, text.len) > JSON_VALUES_MAX)
		return -EMSGSIZE;
	/* Other strings of the image's may hold what they want. */
	info = json_loadb((const char *)text.data, text.len, JSON_ALLOW_NUL, NULL);
	if (!info)
		return -EBADMSG;
	config = json_object_get(json_object_get(info, "imageSpec"), "config");
	if (!json_is_object(config))
		return -ENOENT;
	return read_signal(json_object_get(config, "StopSignal"), ret_signal);
}

static int read_sandbox(const Cri__ContainerEventResponse *event, const char *node,
			struct grpc_arena *arena, struct cri_event *ret)
{
	ProtobufCMessage *message;
	int r;

	if (event->pod_sandbox_status.len == 0)
		return 0;
	r = grpc_unpack(arena, &cri__pod_sandbox_status__descriptor, event->pod_sandbox_status.data,
			event->pod_sandbox_status.len, &message);
	if (r < 0)
		return r;
	ret->has_sandbox = fill_sandbox(SANDBOX_VIEW((const Cri__PodSandboxStatus *)message), node,
					&ret->sandbox);
	return 0;
}

/* The status of the container that the event is about, among those of its whole pod. */
static int read_container(const Cri__ContainerEventResponse *event, struct grpc_arena *arena,
			  struct cri_event *ret)
{
	ProtobufCMessage *message;
	struct cri_item item;
	int r;

	for (size_t i = 0; i < event->n_containers_statuses && !ret->has_container; i++) {
		r = grpc_unpack(arena, &cri__container_status__descriptor,
				event->containers_statuses[i].data,
				event->containers_statuses[i].len, &message);
		if (r < 0)
			return r;
		if (!item_of_status((const Cri__ContainerStatus *)message, &item) ||
		    strcmp(item.container.id, ret->id) != 0)
			continue;
		ret->has_container = true;
		ret->container = item;
		if (ret->has_sandbox)
			memcpy(ret->container.sandbox_id, ret->sandbox.sandbox_id,
			       sizeof(ret->sandbox.sandbox_id));
	}
	return 0;
}

int cri_read_event(const void *payload, size_t len, const char *node, struct cri_event *ret)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena, inner;
	ProtobufCMessage *message;
	const Cri__ContainerEventResponse *response;
	struct cri_event event = {};
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	grpc_arena_start(&inner, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena, &cri__container_event_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	response = (const Cri__ContainerEventResponse *)message;
	if (!take_id(response->container_id, event.id) ||
	    response->container_event_type > CRI_EVENT_DELETED)
		return -EBADMSG;
	event.type = (enum cri_event_type)response->container_event_type;
	event.wall_ns = response->created_at > 0 ? response->created_at : 0;
	r = read_sandbox(response, node, &inner, &event);
	if (r == 0)
		r = read_container(response, &inner, &event);
	if (r < 0)
		return r;
	*ret = event;
	return 0;
}

#define ENTRY 1 /* the list's field in ListPodSandboxResponse and in ListContainersResponse */

/* protobuf-c unpacks whole messages only: a list is taken apart here, so that one entry at a time
 * is in memory. Wire types that are still in use (protobuf.dev/programming-guides/encoding). */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct field {
	uint64_t number;
	uint32_t type;
	const uint8_t *bytes; /* of BYTES */
	size_t len;
	size_t end; /* where the next one begins */
};

static int read_varint(const struct cri_walk *walk, size_t *at, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && *at < walk->len; shift += 7) {
		uint8_t byte = walk->payload[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

static int read_field(const struct cri_walk *walk, struct field *ret)
{
	size_t at = walk->at;
	struct field field = {};
	uint64_t value;

	if (read_varint(walk, &at, &value) < 0 || value >> 3 == 0 || value > UINT32_MAX)
		return -EBADMSG;
	field.number = value >> 3;
	field.type = value & 7;
	if (field.type == VARINT) {
		if (read_varint(walk, &at, &value) < 0)
			return -EBADMSG;
		value = 0;
	} else if (field.type == FIXED64 || field.type == FIXED32) {
		value = field.type == FIXED64 ? 8 : 4;
	} else if (field.type != BYTES || read_varint(walk, &at, &value) < 0) {
		return -EBADMSG;
	}
	if (value > walk->len - at)
		return -EBADMSG;
	field.bytes = walk->payload + at;
	field.len = (size_t)value;
	field.end = at + field.len;
	*ret = field;
	return 0;
}

void cri_walk_start(struct cri_walk *walk, enum cri_method method, const char *node,
		    const void *payload, size_t len)
{
	*walk = (struct cri_walk){.method = method, .node = node, .payload = payload, .len = len};
}

/* 0, or why it is none: -EBADMSG, -EMSGSIZE; -ENOMEM. */
static int read_entry(const struct cri_walk *walk, const struct field *field, struct cri_item *ret)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	bool sandboxes = walk->method == CRI_SANDBOXES, filled;
	const Cri__Container *container;
	ProtobufCMessage *message;
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena,
			sandboxes ? &cri__pod_sandbox__descriptor : &cri__container__descriptor,
			field->bytes, field->len, &message);
	if (r < 0)
		return r;
	if (sandboxes) {
		filled = fill_sandbox(SANDBOX_VIEW((const Cri__PodSandbox *)message), walk->node,
				      ret);
	} else {
		container = (const Cri__Container *)message;
		filled = fill_container(
			CONTAINER_VIEW(container, .sandbox_id = container->pod_sandbox_id), ret);
	}
	return filled ? 0 : -EBADMSG;
}

int cri_walk_next(struct cri_walk *walk, struct cri_item *ret)
{
	struct field field;
	int r;

	if (walk->at >= walk->len)
		return CRI_WALK_END;
	r = read_field(walk, &field);
	if (r < 0)
		return r;
	if (field.number != ENTRY || field.type != BYTES) {
		walk->at = field.end;
		return CRI_WALK_SKIPPED;
	}
	r = read_entry(walk, &field, ret);
	if (r == -ENOMEM)
		return r;
	walk->at = field.end;
	if (r < 0) {
		walk->skipped++;
		return CRI_WALK_SKIPPED;
	}
	walk->items++;
	walk->refused += ret->refused;
	return CRI_WALK_ITEM;
}

/* --- preStop hooks ---------------------------------------------------------------------------- */

/* As the kubelet notes them at a container (newContainerAnnotations() in
 * pkg/kubelet/kuberuntime/labels.go), from where it reads them itself when it does not know the pod
 * any more (restoreSpecsFromContainerLabels() in kuberuntime_container.go). */
#define PRE_STOP "io.kubernetes.container.preStopHandler"

void cri_hook_done(struct cri_hook *hook)
{
	buf_free(&hook->args);
	*hook = (struct cri_hook){};
}

static int read_exec(const json_t *exec, struct cri_hook *ret)
{
	const json_t *command = json_object_get(exec, "command"), *arg;
	size_t i;

	if (!json_is_array(command) || json_array_size(command) == 0)
		return -EBADMSG;
	if (json_array_size(command) > CRI_HOOK_ARGS_MAX)
		return -E2BIG;
	json_array_foreach(command, i, arg) {
		if (!json_is_string(arg))
			return -EBADMSG;
		/* Jansson was not allowed to take a NUL. */
		buf_add(&ret->args, json_string_value(arg), json_string_length(arg) + 1);
	}
	ret->type = CRI_HOOK_EXEC;
	ret->n_args = json_array_size(command);
	return buf_error(&ret->args);
}

static int read_sleep(const json_t *sleep, struct cri_hook *ret)
{
	const json_t *seconds = json_object_get(sleep, "seconds");

	if (!json_is_integer(seconds) || json_integer_value(seconds) < 0)
		return -EBADMSG;
	ret->type = CRI_HOOK_SLEEP;
	ret->sleep_s = (uint64_t)json_integer_value(seconds);
	return 0;
}

/* The first handler counts, in the order of the kubelet (Run() in pkg/kubelet/lifecycle). */
static int read_handler(const json_t *handler, struct cri_hook *ret)
{
	const json_t *exec = json_object_get(handler, "exec");
	const json_t *sleep = json_object_get(handler, "sleep");

	if (json_is_object(exec))
		return read_exec(exec, ret);
	if (json_is_object(json_object_get(handler, "httpGet")))
		ret->type = CRI_HOOK_HTTP;
	else if (json_is_object(sleep))
		return read_sleep(sleep, ret);
	else if (json_is_object(json_object_get(handler, "tcpSocket")))
		ret->type = CRI_HOOK_TCP;
	else
		return -EBADMSG;
	return 0;
}

static int read_text(ProtobufCBinaryData text, struct cri_hook *ret)
{
	json_auto_t *handler = NULL;
	struct cri_hook hook = {};
	int r;

	if (text.len > CRI_HOOK_TEXT_MAX)
		return -E2BIG;
	handler = json_loadb((const char *)text.data, text.len, 0, NULL);
	if (!handler)
		return -EBADMSG;
	r = read_handler(handler, &hook);
	if (r < 0)
		cri_hook_done(&hook);
	else
		*ret = hook;
	return r;
}

int cri_read_hook(const void *payload, size_t len, struct cri_hook *ret)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	const Cri__ContainerStatus *status;
	int r = unpack_status(&arena, payload, len, &status);

	if (r < 0)
		return r;
	/* The last of two pairs with one key counts. */
	for (size_t i = status->n_annotations; i-- > 0;) {
		const Cri__Pair *pair = status->annotations[i];

		if (pair->key.len == strlen(PRE_STOP) &&
		    memcmp(pair->key.data, PRE_STOP, pair->key.len) == 0)
			return read_text(pair->value, ret);
	}
	*ret = (struct cri_hook){};
	return 0;
}

int cri_read_exec(const void *payload, size_t len, int32_t *ret_code)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	ProtobufCMessage *message;
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena, &cri__exec_sync_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	*ret_code = ((const Cri__ExecSyncResponse *)message)->exit_code;
	return 0;
}
