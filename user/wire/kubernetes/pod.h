/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pod of the Kubernetes API whole, as `kubectl get pod -o json` prints it: from JSON to
 * podobj_pod. What podjson reads of many pods quickly and forgivingly, this reads of one with every
 * member that the status rules look at, and says which member is wrong.
 *
 * Members it does not know are passed over. One that it does and that has the wrong type, is too
 * long or out of range is an error, and so are lists beyond the limits below.
 */
#ifndef WIRE_KUBERNETES_POD_H
#define WIRE_KUBERNETES_POD_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "core/kubelet/pod.h"

#define PODREAD_TEXT_MAX       ((size_t)2 << 20) /* of the JSON */
#define PODREAD_NAME_MAX       1024		 /* of a text, but for images and messages */
#define PODREAD_MESSAGE_MAX    32768
#define PODREAD_CONTAINERS_MAX 512 /* of each of the three lists, and of their statuses */
#define PODREAD_ITEMS_MAX      256 /* of any other list */

/* What is wrong, and where: "spec.containers[3].name" "is not a string". */
struct podread_error {
	char member[160]; /* "" for the text as a whole; of a name that is there twice that name */
	const char *problem; /* a literal */
	int line, column;    /* of a text that cannot be read as JSON; else 0, as of an empty one */
};

/* From text to a tree of any kind, which is the caller's. 0, -EBADMSG or -E2BIG with *ret_error,
 * -ENOMEM. */
int podread_parse(const char *text, size_t size, json_t **ret, struct podread_error *ret_error);

/* The objects below are made in the arena and need the JSON no more. 0, -EINVAL with *ret_error,
 * -ENOMEM. */
int podread_pod(const json_t *json, struct arena *arena, struct podobj_pod *ret,
		struct podread_error *ret_error);
int podread_status(const json_t *json, struct arena *arena, struct podobj_pod_status *ret,
		   struct podread_error *ret_error);
/* Of a containerStatuses list. */
int podread_statuses(const json_t *json, struct arena *arena, struct podobj_statuses *ret,
		     struct podread_error *ret_error);

#endif
