/* SPDX-License-Identifier: Apache-2.0 */
/* A pod's status as the Kubernetes API writes it: what podread_status() reads. */
#ifndef WIRE_KUBERNETES_POD_WRITE_H
#define WIRE_KUBERNETES_POD_WRITE_H

#include "base/buf.h"
#include "core/kubelet/pod.h"

/* Adds an object as the member key (NULL: as a value of its own), without members that the API
 * would leave out. Times are to the second, as the API has them. Errors stick in the buffer. */
void podwrite_status(struct buf *out, const char *key, const struct podobj_pod_status *status);

#endif
