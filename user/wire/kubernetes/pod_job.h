/* SPDX-License-Identifier: Apache-2.0 */
/* What a Job of the Kubernetes API says of pods that fail: spec.podFailurePolicy and its limit. */
#ifndef WIRE_KUBERNETES_POD_JOB_H
#define WIRE_KUBERNETES_POD_JOB_H

#include "core/kubelet/controller.h"
#include "wire/kubernetes/pod.h"

/* Of a Job, or of a list that holds one alone. As podread_pod(). */
int podread_job(const json_t *json, struct arena *arena, struct jobpolicy *ret,
		struct podread_error *ret_error);

#endif
