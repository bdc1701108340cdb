/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches of the Kubernetes API's objects: a pod's last status, as the kubelet sends it (a
 * strategic merge patch to the subresource status), and a node's out-of-service taint.
 *
 * Each has the object's uid and resourceVersion: the API server answers 409 when the object is
 * another one, or was changed since it was read.
 */
#ifndef WIRE_KUBERNETES_PATCH_H
#define WIRE_KUBERNETES_PATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "core/kubelet/pod.h"
#include "core/shutdown/death.h"

#define APIPATCH_TYPE "application/strategic-merge-patch+json"

/*
 * What status changes in the pod that was read. Conditions that are as they were are left out; of a
 * container's status every member stays that podobj_status does not have. 0; -EINVAL where the pod
 * has no uid or resourceVersion, -ENOMEM.
 */
int apipatch_pod_status(const json_t *pod, const struct podobj_pod_status *status, struct buf *out);

#define APIPATCH_TAINT_KEY  "node.kubernetes.io/out-of-service"
/* An annotation of a node: the boot that was proven dead when graced set the taint. */
#define APIPATCH_TAINT_NOTE "graced.io/out-of-service-boot"

/*
 * Sets the taint (boot: the one that is dead), or removes one that graced has set (NULL). 1; 0 and
 * nothing in out: there is nothing to do, the taint being an operator's, set for that boot already,
 * or not there; -EINVAL as above, -ENOMEM.
 */
int apipatch_node_taint(const json_t *node, const char *boot, struct buf *out);
/* What of the node decides whether the taint is set. The string is the node's. */
void apipatch_read_node(const json_t *node, struct death_node *ret);

#endif
