/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods as the kubelet's pods API carries them (KEP-4188): the core/v1 Pod in Kubernetes' protobuf,
 * in the events of a stream. It is read by the same rows as its JSON: what holds for
 * wire/kubernetes/pods holds here.
 */
#ifndef WIRE_KUBERNETES_POD_PROTO_H
#define WIRE_KUBERNETES_POD_PROTO_H

#include <stddef.h>

#include "base/cleanup.h"
#include "wire/kubernetes/pods.h"

/* "/v1alpha1.Pods/WatchPods": in Kubernetes 1.36 and 1.37 alike. */
extern const char podproto_watch_path[];

/* As the stream numbers them. */
enum podproto_type {
	PODPROTO_ADDED = 1, /* also each pod that is there when the stream begins */
	PODPROTO_MODIFIED,
	PODPROTO_DELETED, /* the kubelet has finished with it; only its names and uid are sure */
	PODPROTO_SYNCED,  /* all that were there have come; without a pod */
};

/* Limit of an event: a pod and what is around it. */
#define PODPROTO_EVENT_MAX (PODJSON_POD_MAX + 64)

struct podproto_event {
	unsigned int type; /* enum podproto_type, or another */
	const void *pod;   /* within the message */
	size_t pod_len;
};

struct podproto;

/* Memory that one message after another is read in. 0 or -ENOMEM. */
int podproto_new(struct podproto **ret);
struct podproto *podproto_free(struct podproto *reader);
DEFINE_CLEANUP(struct podproto *, podproto_free);

/* *ret is valid until the next call. -EBADMSG: it is no such message, -EMSGSIZE: too long. */
int podproto_read_event(struct podproto *reader, const void *message, size_t len,
			struct podproto_event *ret);

/* Hands the pod and then its containers to the sink, never to its object(). The bytes may be those
 * of the event read last. 0: reported; 1: passed over, as podjson_next() passes over; -ENOMEM. */
int podproto_read_pod(struct podproto *reader, const void *pod, size_t len,
		      const struct podjson_sink *sink);

#endif
