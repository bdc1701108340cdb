/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pod of the Kubernetes API whole, as `kubectl get pod -o json` prints it: from JSON to
 * podobj_pod, read strictly by the rows below.
 *
 * Members it does not know are passed over. One that it does and that has the wrong type, is too
 * long or out of range is an error, and so are lists beyond the limits below.
 */
#ifndef WIRE_KUBERNETES_POD_H
#define WIRE_KUBERNETES_POD_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "core/kubelet/controller.h"
#include "core/kubelet/pod.h"
#include "wire/kubernetes/rows.h"

#define PODREAD_TEXT_MAX   ((size_t)2 << 20) /* of the JSON */
#define PODREAD_VALUES_MAX 32768	     /* ... in it */

/* From text to a tree of any kind, which is the caller's. 0, -EBADMSG or -E2BIG with *ret_error,
 * -ENOMEM. */
int podread_parse(const char *text, size_t size, json_t **ret, struct podread_error *ret_error);

/* The objects below are made in the arena and need the JSON no more. 0, -EINVAL with *ret_error,
 * -ENOMEM. */
int podread_pod(const json_t *json, struct arena *arena, struct podobj_pod *ret,
		struct podread_error *ret_error);

/* What a Job of the Kubernetes API says of pods that fail: spec.podFailurePolicy and its limit. */

/* Reads a Job, or a list that holds only one. As podread_pod(). */
int podread_job(const json_t *json, struct arena *arena, struct jobpolicy *ret,
		struct podread_error *ret_error);

/* A pod's status as the Kubernetes API writes it: what podread_pod() reads of it. */

/* Adds an object as the member key (NULL: as a value of its own), without members that the API
 * would leave out. Times are to the second, as the API has them. Errors stick in the buffer. */
void podwrite_status(struct buf *out, const char *key, const struct podobj_pod_status *status);

/* The members of pods and of Jobs that graced reads, each listed here alone. */

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
