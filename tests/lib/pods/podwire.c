// SPDX-License-Identifier: Apache-2.0
/* Packs pods with protobuf-c. */
#include "lib/pods/podwire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kubelet_pods.pb-c.h"
#include "lib/claim.h"
#include "lib/pods/podgen.h"
#include "wire/grpc/message.h"

static ProtobufCBinaryData bytes(const char *text)
{
	return (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)text};
}

void podwire_event_of(struct buf *out, unsigned int type, const void *pod, size_t len)
{
	Kube__WatchPodsEvent event = KUBE__WATCH_PODS_EVENT__INIT;

	event.has_type = true;
	event.type = type;
	event.has_pod = pod != NULL;
	event.pod = (ProtobufCBinaryData){.len = len, .data = (uint8_t *)pod};
	assert_int_equal(grpc_add_message(out, &event.base), 0);
}

static void add_container(Kube__Pod *pod, Kube__Container *spec, Kube__ContainerStatus *status,
			  const struct podwire_pod *p)
{
	static Kube__Container *specs[1];
	static Kube__ContainerStatus *statuses[1];
	static char id[96];

	spec->has_name = status->has_name = true;
	spec->name = status->name = bytes("main");
	specs[0] = spec;
	pod->spec->n_containers = 1;
	pod->spec->containers = specs;
	if (!p->main)
		return;
	snprintf(id, sizeof(id), "containerd://%s", p->main);
	status->has_container_id = true;
	status->container_id = bytes(id);
	statuses[0] = status;
	pod->status->n_container_statuses = 1;
	pod->status->container_statuses = statuses;
}

static void add_names(Kube__ObjectMeta *m, const struct podwire_pod *p)
{
	static Kube__Time deleted;
	static Kube__Pair seen, source, *pairs[2];
	static char at[64];

	snprintf(at, sizeof(at), "2026-03-01T10:00:%02dZ", p->seen_s);
	kube__pair__init(&seen);
	kube__pair__init(&source);
	seen.has_key = seen.has_value = source.has_key = source.has_value = true;
	seen.key = bytes("kubernetes.io/config.seen");
	seen.value = bytes(at);
	source.key = bytes("kubernetes.io/config.source");
	source.value = bytes(p->is_static ? "file" : "api");
	pairs[0] = &seen;
	pairs[1] = &source;
	m->has_uid = m->has_name = m->has_namespace_ = true;
	m->uid = bytes(p->uid);
	m->name = bytes(p->name);
	m->namespace_ = bytes("shop");
	m->n_annotations = 2;
	m->annotations = pairs;
	if (!p->deleting)
		return;
	kube__time__init(&deleted);
	deleted.has_seconds = true;
	deleted.seconds = 1790000000;
	m->deletion_timestamp = &deleted;
	m->has_deletion_grace_period_seconds = true;
	m->deletion_grace_period_seconds = 30;
}

/* As field 99 of the pod. */
static void add_padding(struct buf *out, size_t n)
{
	if (n == 0)
		return;
	buf_add(out, "\x9a\x06", 2);
	for (size_t left = n; left; left >>= 7)
		buf_addc(out, (char)((left & 0x7f) | (left >> 7 ? 0x80 : 0)));
	for (size_t i = 0; i < n; i++)
		buf_addc(out, 'x');
}

static void add_pod(struct buf *out, const struct podwire_pod *p)
{
	Kube__Pod pod = KUBE__POD__INIT;
	Kube__ObjectMeta metadata = KUBE__OBJECT_META__INIT;
	Kube__PodSpec spec = KUBE__POD_SPEC__INIT;
	Kube__PodStatus status = KUBE__POD_STATUS__INIT;
	Kube__Container container = KUBE__CONTAINER__INIT;
	Kube__ContainerStatus container_status = KUBE__CONTAINER_STATUS__INIT;
	Kube__PodCondition ready = KUBE__POD_CONDITION__INIT, *conditions[] = {&ready};
	char *at;

	pod.metadata = &metadata;
	pod.spec = &spec;
	pod.status = &status;
	add_names(&metadata, p);
	add_container(&pod, &container, &container_status, p);
	spec.has_termination_grace_period_seconds = true;
	spec.termination_grace_period_seconds = 45;
	status.has_phase = true;
	status.phase = bytes(p->completed ? "Succeeded" : "Running");
	ready.has_type = ready.has_status = true;
	ready.type = bytes("Ready");
	ready.status = bytes(p->ready ? "True" : "False");
	status.n_conditions = 1;
	status.conditions = conditions;
	at = buf_reserve(out, kube__pod__get_packed_size(&pod));
	assert_non_null(at);
	buf_commit(out, kube__pod__pack(&pod, (uint8_t *)at));
	add_padding(out, p->padding);
}

void podwire_event(struct buf *out, enum podproto_type type, const struct podwire_pod *pod)
{
	_cleanup_(buf_free) struct buf packed = {};

	if (pod)
		add_pod(&packed, pod);
	podwire_event_of(out, type, pod ? packed.data : NULL, packed.len);
}

void podwire_numbered(struct buf *out, enum podproto_type type, unsigned int number)
{
	char uid[37], id[65], name[32];
	const struct podwire_pod pod = {.uid = uid, .name = name, .main = id, .seen_s = 1};

	podgen_uid(number, uid);
	podgen_id(number, 0, id);
	snprintf(name, sizeof(name), "web-%u", number);
	podwire_event(out, type, &pod);
}

void podwire_list(struct buf *out, unsigned int first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		podwire_numbered(out, PODPROTO_ADDED, first + i);
	podwire_event(out, PODPROTO_SYNCED, NULL);
}
