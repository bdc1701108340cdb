// SPDX-License-Identifier: Apache-2.0
/* Unpacks events and pods in bounded memory. */
#include "wire/kubernetes/pod_proto.h"

#include <errno.h>
#include <stdlib.h>

#include "kubelet_pods.pb-c.h"
#include "wire/grpc/message.h"
#include "wire/kubernetes/pod_meta.h"
#include "wire/kubernetes/pod_rows.h"

const char podproto_watch_path[] = "/v1alpha1.Pods/WatchPods";

/* What a pod of PODJSON_POD_MAX may grow to; unknown fields are held, too. */
#define MEMORY_MAX ((size_t)12 << 20)
struct podproto {
	struct grpc_arena event, pod;
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

/* 0: reported; 1: passed over; -ENOMEM. */
static int report_pod(const ProtobufCMessage *message, const struct podjson_sink *sink)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podread reader = {.arena = &arena};
	struct podobj_pod pod = {};
	int r;

	apirows_init(podrows, &pod);
	r = apirows_read_proto(&reader, message, podrows, &pod);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	podrows_conclude(&pod);
	return podmeta_report(&pod, &arena, sink);
}

int podproto_read_pod(struct podproto *reader, const void *bytes, size_t len,
		      const struct podjson_sink *sink)
{
	ProtobufCMessage *message;
	int r = grpc_unpack(&reader->pod, &kube__pod__descriptor, bytes, len, &message);

	if (r == 0)
		r = report_pod(message, sink);
	else if (r != -ENOMEM)
		r = 1;
	/* A large pod's memory is not held until the next large one. */
	grpc_arena_done(&reader->pod);
	return r;
}
