/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the Kubernetes API's JSON, which may be of any type, as C has them. */
#ifndef WIRE_KUBERNETES_VALUE_H
#define WIRE_KUBERNETES_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* An object's member; NULL when there is none, or no object, or it is null. */
const json_t *apijson_get(const json_t *object, const char *key);
/* Copies text of 1 to size - 1 bytes; ret stays as it is for anything else. */
void apijson_copy(const json_t *value, char *ret, size_t size);
/* A whole number, however it is written, taken for 2^53 or its negative where a real is beyond what
 * it holds exactly; false, and *ret as it was, for anything else. */
bool apijson_integer(const json_t *value, int64_t *ret);
/* The place of a word in a NULL-terminated list, from 1 on; 0 for anything else. */
uint32_t apijson_word(const json_t *value, const char *const *words);
/* RFC 3339 with any offset, fractions cut at nanoseconds; false, and *ret as it was, for anything
 * else and for times outside of int64_t. */
bool apijson_time(const json_t *value, int64_t *ret_wall_ns);
/* The owner reference of what controls the object; NULL: none. */
const json_t *apijson_controller(const json_t *metadata);

/*
 * Members of an object of the Kubernetes API, read strictly: one of the wrong type, too long or out
 * of range is an error, which names its whole path. What cannot be used but harms nothing is read
 * by wire/kubernetes/pod_meta instead.
 */

#define PODREAD_NAME_MAX    1024 /* of a text, but for images and messages */
#define PODREAD_MESSAGE_MAX 32768
#define PODREAD_ITEMS_MAX   256 /* of a list that is not of containers */

/* What is wrong, and where: "spec.containers[3].name" "is not a string". */
struct podread_error {
	char member[160]; /* "" for the text as a whole; of a name that is there twice that name */
	const char *problem; /* a literal */
	int line, column;    /* of a text that cannot be read as JSON; else 0, as of an empty one */
};

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

#endif
