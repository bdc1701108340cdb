/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and events as the kubelet's pods API sends them. */
#ifndef TESTS_LIB_PODS_PODWIRE_H
#define TESTS_LIB_PODS_PODWIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "wire/kubernetes/pods.h"

struct podwire_pod {
	const char *uid, *name;
	const char *main; /* the id of its container; NULL: none yet */
	int seen_s;	  /* of the minute in which its kubelet saw it */
	bool is_static;	  /* of a file */
	bool deleting;	  /* with a grace period of 30 s */
	bool completed;	  /* its phase is Succeeded */
	bool ready;
	size_t padding; /* bytes of unknown fields */
};

/* Adds a frame of gRPC with the event; pod NULL: without one. */
void podwire_event(struct buf *out, enum podproto_type type, const struct podwire_pod *pod);
/* The event with any bytes as its pod. */
void podwire_event_of(struct buf *out, unsigned int type, const void *pod, size_t len);

/* The list of a stream's beginning: podgen's uids and "web-<number>", and its end. */
void podwire_list(struct buf *out, unsigned int first, unsigned int count);
/* One of these. */
void podwire_numbered(struct buf *out, enum podproto_type type, unsigned int number);

#endif
