/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the Kubernetes API's JSON, which may be of any type, as C has them. */
#ifndef WIRE_KUBERNETES_VALUE_H
#define WIRE_KUBERNETES_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object's member; NULL when there is none, or no object, or it is null. */
const json_t *apijson_get(const json_t *object, const char *key);
/* A whole number, however it is written, taken for 2^53 or its negative where a real is beyond what
 * it holds exactly; false, and *ret as it was, for anything else. */
bool apijson_integer(const json_t *value, int64_t *ret);
/* The place of a word in a NULL-terminated list, from 1 on; 0 for anything else. */
uint32_t apijson_word(const json_t *value, const char *const *words);
/* RFC 3339 with any offset, fractions cut at nanoseconds; false, and *ret as it was, for anything
 * else and for times outside of int64_t. */
bool apijson_time(const json_t *value, int64_t *ret_wall_ns);

#endif
