// SPDX-License-Identifier: Apache-2.0
/* Keeps the account as a moment: the time up to it has been spent. */
#include "core/load/credit.h"

uint64_t credit_back_at(const struct credit *credit, uint64_t now_ns)
{
	return credit->paid_ns > now_ns ? credit->paid_ns : 0;
}

void credit_charge(struct credit *credit, uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t floor_ns = now_ns > credit->burst_ns ? now_ns - credit->burst_ns : 0;
	uint64_t time_ns;

	if (credit->paid_ns < floor_ns)
		credit->paid_ns = floor_ns;
	/* A debt without end is one, too. */
	if (__builtin_mul_overflow(cost_ns, credit->share, &time_ns) ||
	    __builtin_add_overflow(credit->paid_ns, time_ns, &credit->paid_ns))
		credit->paid_ns = UINT64_MAX;
}
