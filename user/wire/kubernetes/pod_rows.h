/* SPDX-License-Identifier: Apache-2.0 */
/* The members of pods and of Jobs that graced reads, each listed here alone. */
#ifndef WIRE_KUBERNETES_POD_ROWS_H
#define WIRE_KUBERNETES_POD_ROWS_H

#include "core/kubelet/pod.h"
#include "wire/kubernetes/rows.h"

#define PODREAD_CONTAINERS_MAX 512 /* of each of the three lists, and of their statuses */

extern const struct apirow podrows[];	     /* struct podobj_pod */
extern const struct apirow podrows_status[]; /* its struct podobj_pod_status */
extern const struct apirow podrows_job[];    /* struct jobpolicy */

/* The kind that an object names. */
struct podrows_kind {
	const char *kind, *api;
	bool has_kind;
};
extern const struct apirow podrows_kind[];

/* The items of a list carry no kind. */
bool podrows_is_pod(const json_t *json);
/* What follows from several members, of a pod that was read. */
void podrows_conclude(struct podobj_pod *pod);

#endif
