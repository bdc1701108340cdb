/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches of the Kubernetes API's objects: a pod's last status, as the kubelet sends it (a
 * strategic merge patch to the subresource status), and a node's taints.
 *
 * Each has the object's uid and resourceVersion: the API server answers 409 when the object is
 * another one, or was changed since it was read.
 */
#ifndef WIRE_KUBERNETES_PATCH_H
#define WIRE_KUBERNETES_PATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "core/events/list.h"
#include "core/kubelet/pod.h"
#include "core/shutdown/death.h"

#define APIPATCH_TYPE "application/strategic-merge-patch+json"

/*
 * What status changes in the pod that was read. Conditions that are as they were are left out; of a
 * container's status every member stays that podobj_status does not have. 0; -EINVAL where the pod
 * has no uid or resourceVersion, -ENOMEM.
 */
int apipatch_pod_status(const json_t *pod, const struct podobj_pod_status *status, struct buf *out);

enum apipatch_taint {
	APIPATCH_OUT_OF_SERVICE, /* the boot is proven dead */
	APIPATCH_SHUTDOWN,	 /* the boot is in a shutdown: no pod is to be placed there */
	APIPATCH_TAINTS,
};

struct apipatch_taint_kind {
	const char *key, *value, *effect;
	const char *note; /* an annotation of the node: the boot for which graced set the taint */
};
extern const struct apipatch_taint_kind apipatch_taints[APIPATCH_TAINTS];

/*
 * Sets the taint for that boot, or removes one that graced has set (NULL). 1; 0 and
 * nothing in out: there is nothing to do, the taint being an operator's, set for that boot already,
 * or not there; -EINVAL as above, -ENOMEM.
 */
int apipatch_node_taint(const json_t *node, enum apipatch_taint which, const char *boot,
			struct buf *out);
/* What of the node decides whether the taint is set. The string is the node's. */
void apipatch_read_node(const json_t *node, struct death_node *ret);

/* Events as the API server takes them (events.k8s.io/v1): the object that is created, the patch of
 * its series, and their paths. */

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
