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

#define APIPATCH_TYPE "application/strategic-merge-patch+json"

/*
 * What status changes in the pod that was read. Conditions that are as they were are left out; of a
 * container's status every member stays that podobj_status does not have. 0; -EINVAL where the pod
 * has no uid or resourceVersion, -ENOMEM.
 */
int apipatch_pod_status(const json_t *pod, const struct podobj_pod_status *status, struct buf *out);

#endif
