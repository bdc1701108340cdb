// SPDX-License-Identifier: Apache-2.0
/* Unpacks a pod in bounded memory and writes down what is read of it as the API's JSON has it. */
#include "wire/kubernetes/pod_proto.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/time.h"
#include "kubelet_pods.pb-c.h"
#include "wire/grpc/message.h"
#include "wire/kubernetes/pod_meta.h"

const char podproto_watch_path[] = "/v1alpha1.Pods/WatchPods";

/* What a pod of PODJSON_POD_MAX may grow to; unknown fields are held, too. */
#define MEMORY_MAX ((size_t)12 << 20)
/* No text that is read is longer, an image that is to be cut included. */
#define TEXT_MAX   4096

struct podproto {
	struct grpc_arena event, pod;
};

/* The JSON of one pod. */
struct draft {
	unsigned int values;
	int error; /* -EBADMSG: a text is none; -E2BIG: too many values; -ENOMEM */
};

int podproto_new(struct podproto **ret)
{
	struct podproto *reader = malloc(sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	grpc_arena_start(&reader->event, PODPROTO_EVENT_MAX, MEMORY_MAX);
	grpc_arena_start(&reader->pod, PODJSON_POD_MAX, MEMORY_MAX);
	*ret = reader;
	return 0;
}

struct podproto *podproto_free(struct podproto *reader)
{
	if (reader) {
		grpc_arena_done(&reader->event);
		grpc_arena_done(&reader->pod);
	}
	free(reader);
	return NULL;
}

int podproto_read_event(struct podproto *reader, const void *message, size_t len,
			struct podproto_event *ret)
{
	const Kube__WatchPodsEvent *event;
	ProtobufCMessage *read;
	int r;

	/* What the event before needed. */
	grpc_arena_done(&reader->event);
	r = grpc_unpack(&reader->event, &kube__watch_pods_event__descriptor, message, len, &read);
	if (r < 0)
		return r;
	event = (const Kube__WatchPodsEvent *)read;
	*ret = (struct podproto_event){event->has_type ? event->type : 0, event->pod.data,
				       event->has_pod ? event->pod.len : 0};
	return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static void fail(struct draft *d, int error)
{
	if (!d->error)
		d->error = error;
}

/* Takes the value over; object may be NULL, without memory for it. */
static void put(struct draft *d, json_t *object, const char *key, json_t *value)
{
	if (++d->values > PODJSON_VALUES_MAX)
		fail(d, -E2BIG);
	if (!value || json_object_set_new(object, key, value) < 0)
		fail(d, -ENOMEM);
}

static json_t *new_object(struct draft *d, json_t *parent, const char *key)
{
	json_t *object = json_object();

	put(d, parent, key, object);
	return d->error ? NULL : object;
}

/* Takes the element over. */
static void append(struct draft *d, json_t *list, json_t *element)
{
	if (++d->values > PODJSON_VALUES_MAX)
		fail(d, -E2BIG);
	if (!element || json_array_append_new(list, element) < 0)
		fail(d, -ENOMEM);
}

static json_t *new_list(struct draft *d, json_t *parent, const char *key, size_t n)
{
	json_t *list;

	if (n == 0)
		return NULL;
	list = json_array();
	put(d, parent, key, list);
	return d->error ? NULL : list;
}

/* NULL where it holds a NUL or is not UTF-8. */
static json_t *text_of(ProtobufCBinaryData text)
{
	if (text.len == 0)
		return json_string("");
	if (memchr(text.data, 0, text.len))
		return NULL;
	return json_stringn((const char *)text.data, text.len);
}

/* One that is longer than any that is read is unknown, as in JSON. */
static void put_text(struct draft *d, json_t *object, const char *key, ProtobufCBinaryData text)
{
	json_t *value;

	if (text.len == 0)
		return;
	value = text.len > TEXT_MAX ? json_array() : text_of(text);
	if (value)
		put(d, object, key, value);
	else
		fail(d, -EBADMSG);
}

static void put_integer(struct draft *d, json_t *object, const char *key, bool has, int64_t value)
{
	if (has)
		put(d, object, key, json_integer(value));
}

/* A message without seconds is how Kubernetes writes no time. */
static void put_time(struct draft *d, json_t *object, const char *key, const Kube__Time *time)
{
	char text[RFC3339_SIZE];
	int64_t ns;

	if (!time || !time->has_seconds)
		return;
	if (__builtin_mul_overflow(time->seconds, (int64_t)NS_PER_S, &ns))
		put(d, object, key, json_true());
	else
		put(d, object, key, json_string(rfc3339_format(ns, text)));
}

/* Pairs that could not be read are left out: only a few keys count. */
static void put_map(struct draft *d, json_t *parent, const char *key, size_t n, Kube__Pair **pairs)
{
	json_t *object = n ? new_object(d, parent, key) : NULL;

	for (size_t i = 0; object && i < n; i++) {
		char name[256];
		json_t *value;

		if (pairs[i]->key.len == 0 || pairs[i]->key.len >= sizeof(name) ||
		    pairs[i]->value.len > TEXT_MAX ||
		    memchr(pairs[i]->key.data, 0, pairs[i]->key.len))
			continue;
		memcpy(name, pairs[i]->key.data, pairs[i]->key.len);
		name[pairs[i]->key.len] = '\0';
		value = text_of(pairs[i]->value);
		if (++d->values > PODJSON_VALUES_MAX)
			fail(d, -E2BIG);
		/* It refuses a name that is not UTF-8. */
		if (value)
			json_object_set_new(object, name, value);
	}
}

/* --- the pod ---------------------------------------------------------------------------------- */

static void put_owners(struct draft *d, json_t *metadata, const Kube__ObjectMeta *m)
{
	json_t *list = new_list(d, metadata, "ownerReferences", m->n_owner_references);

	for (size_t i = 0; list && !d->error && i < m->n_owner_references; i++) {
		const Kube__OwnerReference *owner = m->owner_references[i];
		json_t *object = json_object();

		append(d, list, object);
		if (d->error)
			return;
		put_text(d, object, "kind", owner->kind);
		put_text(d, object, "name", owner->name);
		put_text(d, object, "apiVersion", owner->api_version);
		if (owner->has_controller)
			put(d, object, "controller", json_boolean(owner->controller));
	}
}

static void put_metadata(struct draft *d, json_t *pod, const Kube__ObjectMeta *m)
{
	json_t *metadata = m ? new_object(d, pod, "metadata") : NULL;

	if (!metadata)
		return;
	put_text(d, metadata, "name", m->name);
	put_text(d, metadata, "namespace", m->namespace_);
	put_text(d, metadata, "uid", m->uid);
	put_time(d, metadata, "deletionTimestamp", m->deletion_timestamp);
	put_integer(d, metadata, "deletionGracePeriodSeconds", m->has_deletion_grace_period_seconds,
		    m->deletion_grace_period_seconds);
	put_map(d, metadata, "labels", m->n_labels, m->labels);
	put_map(d, metadata, "annotations", m->n_annotations, m->annotations);
	put_owners(d, metadata, m);
}

static void put_probe(struct draft *d, json_t *container, const char *key, const Kube__Probe *probe)
{
	json_t *object = probe ? new_object(d, container, key) : NULL;

	if (object)
		put_integer(d, object, "terminationGracePeriodSeconds",
			    probe->has_termination_grace_period_seconds,
			    probe->termination_grace_period_seconds);
}

static void put_lifecycle(struct draft *d, json_t *container, const Kube__Lifecycle *lifecycle)
{
	json_t *object = lifecycle ? new_object(d, container, "lifecycle") : NULL;

	if (!object)
		return;
	if (lifecycle->has_pre_stop)
		put(d, object, "preStop", json_object());
	put_text(d, object, "stopSignal", lifecycle->stop_signal);
}

static void append_container(struct draft *d, json_t *list, const Kube__Container *c)
{
	json_t *object = json_object();

	append(d, list, object);
	if (d->error || !c)
		return;
	put_text(d, object, "name", c->name);
	put_text(d, object, "image", c->image);
	put_text(d, object, "restartPolicy", c->restart_policy);
	put_lifecycle(d, object, c->lifecycle);
	put_probe(d, object, "livenessProbe", c->liveness_probe);
	put_probe(d, object, "startupProbe", c->startup_probe);
}

static void put_containers(struct draft *d, json_t *spec, const char *key, size_t n,
			   Kube__Container **containers)
{
	json_t *list = new_list(d, spec, key, n);

	for (size_t i = 0; list && !d->error && i < n; i++)
		append_container(d, list, containers[i]);
}

static void put_spec(struct draft *d, json_t *pod, const Kube__PodSpec *s)
{
	json_t *spec = s ? new_object(d, pod, "spec") : NULL, *list;

	if (!spec)
		return;
	put_text(d, spec, "nodeName", s->node_name);
	put_text(d, spec, "restartPolicy", s->restart_policy);
	put_integer(d, spec, "priority", s->has_priority, s->priority);
	put_integer(d, spec, "terminationGracePeriodSeconds",
		    s->has_termination_grace_period_seconds, s->termination_grace_period_seconds);
	put_containers(d, spec, "containers", s->n_containers, s->containers);
	put_containers(d, spec, "initContainers", s->n_init_containers, s->init_containers);
	list = new_list(d, spec, "ephemeralContainers", s->n_ephemeral_containers);
	for (size_t i = 0; list && !d->error && i < s->n_ephemeral_containers; i++)
		append_container(d, list, s->ephemeral_containers[i]->common);
}

static void put_state(struct draft *d, json_t *status, const char *key,
		      const Kube__ContainerState *state)
{
	const Kube__Terminated *end = state ? state->terminated : NULL;
	json_t *object = end ? new_object(d, status, key) : NULL;

	object = object ? new_object(d, object, "terminated") : NULL;
	if (!object)
		return;
	put_integer(d, object, "exitCode", end->has_exit_code, end->exit_code);
	put_text(d, object, "reason", end->reason);
	put_time(d, object, "finishedAt", end->finished_at);
	put_text(d, object, "containerID", end->container_id);
}

static void put_statuses(struct draft *d, json_t *status, const char *key, size_t n,
			 Kube__ContainerStatus **statuses)
{
	json_t *list = new_list(d, status, key, n);

	for (size_t i = 0; list && !d->error && i < n; i++) {
		const Kube__ContainerStatus *s = statuses[i];
		json_t *object = json_object();

		append(d, list, object);
		if (d->error)
			return;
		put_text(d, object, "name", s->name);
		put_text(d, object, "image", s->image);
		put_text(d, object, "containerID", s->container_id);
		put_text(d, object, "stopSignal", s->stop_signal);
		put_integer(d, object, "restartCount", s->has_restart_count, s->restart_count);
		put_state(d, object, "state", s->state);
		put_state(d, object, "lastState", s->last_state);
	}
}

static void put_conditions(struct draft *d, json_t *status, const Kube__PodStatus *s)
{
	json_t *list = new_list(d, status, "conditions", s->n_conditions);

	for (size_t i = 0; list && !d->error && i < s->n_conditions; i++) {
		json_t *object = json_object();

		append(d, list, object);
		if (d->error)
			return;
		put_text(d, object, "type", s->conditions[i]->type);
		put_text(d, object, "status", s->conditions[i]->status);
	}
}

static void put_status(struct draft *d, json_t *pod, const Kube__PodStatus *s)
{
	json_t *status = s ? new_object(d, pod, "status") : NULL;

	if (!status)
		return;
	put_text(d, status, "phase", s->phase);
	put_text(d, status, "reason", s->reason);
	put_text(d, status, "qosClass", s->qos_class);
	put_conditions(d, status, s);
	put_statuses(d, status, "containerStatuses", s->n_container_statuses,
		     s->container_statuses);
	put_statuses(d, status, "initContainerStatuses", s->n_init_container_statuses,
		     s->init_container_statuses);
	put_statuses(d, status, "ephemeralContainerStatuses", s->n_ephemeral_container_statuses,
		     s->ephemeral_container_statuses);
}

int podproto_read_pod(struct podproto *reader, const void *bytes, size_t len,
		      const struct podjson_sink *sink)
{
	struct draft d = {};
	ProtobufCMessage *read;
	const Kube__Pod *pod;
	json_t *json = NULL;
	bool is_pod = false;
	int r;

	r = grpc_unpack(&reader->pod, &kube__pod__descriptor, bytes, len, &read);
	if (r == 0) {
		pod = (const Kube__Pod *)read;
		json = json_object();
		if (!json)
			d.error = -ENOMEM;
		put_metadata(&d, json, pod->metadata);
		put_spec(&d, json, pod->spec);
		put_status(&d, json, pod->status);
		is_pod = !d.error && podmeta_read(json, sink);
		json_decref(json);
	}
	/* A large pod's memory is not held until the next large one. */
	grpc_arena_done(&reader->pod);
	if (r == -ENOMEM || d.error == -ENOMEM)
		return -ENOMEM;
	return is_pod ? 0 : 1;
}
