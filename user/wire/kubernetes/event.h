/* SPDX-License-Identifier: Apache-2.0 */
/* Events as the API server takes them (events.k8s.io/v1): the object that is created, the patch of
 * its series, and their paths. */
#ifndef WIRE_KUBERNETES_EVENT_H
#define WIRE_KUBERNETES_EVENT_H

#include "base/buf.h"
#include "core/events/list.h"

/* reportingController: a qualified name. It has no domain before it, like "kubelet", since the
 * project owns none. */
#define EVENTJSON_CONTROLLER "graced"

/* A patch of type application/merge-patch+json. */
#define EVENTJSON_PATCH "application/merge-patch+json"

/* The path to create it at, and that of the object. Both parts were checked when the item was
 * made. */
void eventjson_add_paths(const struct eventlist_item *item, struct buf *ret_create,
			 struct buf *ret_object);
/* node: reportingInstance, cut to the 128 bytes that the server takes. Errors stick in out. */
void eventjson_add(struct buf *out, const struct event *event, const struct eventlist_item *item,
		   const char *node);
/* The patch: how often it happened, and when last. */
void eventjson_add_series(struct buf *out, const struct eventlist_item *item);

#endif
