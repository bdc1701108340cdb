/* SPDX-License-Identifier: Apache-2.0 */
/* Units of time. Signed, so that they fit both times since boot and differences of wall clocks. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

/* Whole seconds, as the API of Kubernetes has them; unknown unless set. */
struct seconds {
	bool set;
	int64_t s;
};

/* How far a is beyond b; 0 where it is not. */
static inline uint64_t beyond(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t ns_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
