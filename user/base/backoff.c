// SPDX-License-Identifier: Apache-2.0
/* Doubles without overflow. */
#include "base/backoff.h"

uint64_t backoff_ns(uint64_t first_ns, uint64_t last_ns, uint64_t failures)
{
	if (failures < 64 && first_ns <= last_ns >> failures)
		return first_ns << failures;
	return last_ns;
}
