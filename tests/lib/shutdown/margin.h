/* SPDX-License-Identifier: Apache-2.0 */
/* How long before logind's limit the lock has to be on its way out, in the words of the manual: a
 * tenth of the limit, 250 ms at least and 2 s at most, and never more than half of it. */
#ifndef TESTS_LIB_SHUTDOWN_MARGIN_H
#define TESTS_LIB_SHUTDOWN_MARGIN_H

#include <stdint.h>

static inline uint64_t margin_ns(uint64_t limit_ns)
{
	if (limit_ns <= 500000000)
		return limit_ns / 2;
	if (limit_ns <= 2500000000)
		return 250000000;
	return limit_ns >= 20000000000 ? 2000000000 : limit_ns / 10;
}

#endif
