/* SPDX-License-Identifier: Apache-2.0 */
/* One pod of a list or a stream, as it was read, to metadata. */
#ifndef WIRE_KUBERNETES_POD_META_H
#define WIRE_KUBERNETES_POD_META_H

#include "base/arena.h"
#include "core/kubelet/pod.h"
#include "wire/kubernetes/pods.h"

/* Hands it and then its containers to the sink; the arena is for what that takes. 0; 1: it has no
 * uid; -ENOMEM. */
int podmeta_report(const struct podobj_pod *pod, struct arena *arena,
		   const struct podjson_sink *sink);

#endif
