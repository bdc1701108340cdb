// SPDX-License-Identifier: Apache-2.0
/* Counts what is said within a minute. */
#include "core/ratelimit.h"

#define MINUTE_NS (60 * 1000000000ull)

bool ratelimit_pass(struct ratelimit *limit, uint64_t now_ns, uint32_t a_minute, uint64_t *ret_held)
{
	bool begun = limit->said > 0;

	if (!begun || (now_ns > limit->begin_ns && now_ns - limit->begin_ns >= MINUTE_NS)) {
		limit->begin_ns = now_ns;
		limit->said = 0;
	}
	if (limit->said >= a_minute) {
		limit->held++;
		return false;
	}
	limit->said++;
	*ret_held = limit->held;
	limit->held = 0;
	return true;
}
