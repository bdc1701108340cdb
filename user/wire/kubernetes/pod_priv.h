/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of podread alone: values of members, and where the reading stands. */
#ifndef WIRE_KUBERNETES_POD_PRIV_H
#define WIRE_KUBERNETES_POD_PRIV_H

#include "wire/kubernetes/pod.h"

#define PODREAD_DEPTH_MAX 12

struct podread {
	struct arena *arena;
	struct podread_error *error;
	/* Members from the outermost on; those without a key are elements. */
	struct {
		const char *key;
		size_t index;
	} path[PODREAD_DEPTH_MAX];
	size_t depth;
};

/* Around the reading of what is in a member or an element. */
void podread_enter(struct podread *r, const char *key, size_t index);
void podread_leave(struct podread *r);

/* Sets the error, of the member of this name in where the reading stands (NULL: of itself). Returns
 * -EINVAL. */
int podread_fail(struct podread *r, const char *key, const char *problem);

/* Each leaves *ret as it was where there is no such member or it is null. 0, -EINVAL, -ENOMEM. */
int podread_text(struct podread *r, const json_t *object, const char *key, size_t max,
		 const char **ret);
int podread_bool(struct podread *r, const json_t *object, const char *key, bool *ret);
int podread_integer(struct podread *r, const json_t *object, const char *key, int64_t min,
		    int64_t max, int64_t *ret);
int podread_int32(struct podread *r, const json_t *object, const char *key, int32_t *ret);
int podread_time(struct podread *r, const json_t *object, const char *key, int64_t *ret_wall_ns);
/* NULL: none. */
int podread_object(struct podread *r, const json_t *object, const char *key, const json_t **ret);
int podread_list(struct podread *r, const json_t *object, const char *key, size_t max,
		 const json_t **ret);

/* A list of numbers as an array. */
int podread_int32s(struct podread *r, const json_t *object, const char *key, const int32_t **ret,
		   size_t *ret_n);

/* Reads one element of a list into the object of that size at ret, which is zeroed. */
typedef int (*podread_item_fn)(struct podread *r, const json_t *json, void *ret);
/* A list of objects as an array; *ret and *ret_n stay where there is no such member. */
int podread_items(struct podread *r, const json_t *object, const char *key, size_t max,
		  podread_item_fn read, size_t item_size, void *ret, size_t *ret_n);

int podread_spec(struct podread *r, const json_t *spec, struct podobj_pod *pod);
int podread_status_in(struct podread *r, const json_t *status, struct podobj_pod_status *ret);

#endif
