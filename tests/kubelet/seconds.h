/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds as cases write them. */
#ifndef TESTS_KUBELET_SECONDS_H
#define TESTS_KUBELET_SECONDS_H

#include <errno.h>
#include <jansson.h>
#include <stdint.h>

#include "core/pods/life.h"

#define VECTORS_NS_PER_S 1e9
#define VECTORS_MAX_S	 9e9 /* of nanoseconds in an int64_t */

/* A whole number, or null or nothing at all for one that is not set. 0 or -EINVAL. */
static inline int vectors_read_seconds(const json_t *json, struct seconds *ret)
{
	*ret = (struct seconds){
		.set = json_is_integer(json),
		.s = json_integer_value(json),
	};
	return !json || json_is_null(json) || ret->set ? 0 : -EINVAL;
}

/* Any number that is no less than 0, or null or nothing at all for 0. 0 or -EINVAL. */
static inline int vectors_read_ns(const json_t *json, uint64_t *ret)
{
	double s = json_number_value(json);

	*ret = 0;
	if (!json || json_is_null(json))
		return 0;
	if (!json_is_number(json) || !(s >= 0 && s < VECTORS_MAX_S))
		return -EINVAL;
	*ret = (uint64_t)(s * VECTORS_NS_PER_S + 0.5);
	return 0;
}

static inline json_t *vectors_write_ns(uint64_t ns)
{
	return json_real((double)ns / VECTORS_NS_PER_S);
}

#endif
