/* SPDX-License-Identifier: Apache-2.0 */
/* An account of what strangers may cost: credit comes back with time, some of it can be saved up,
 * and what is charged beyond it is a debt that time pays. */
#ifndef CORE_LOAD_CREDIT_H
#define CORE_LOAD_CREDIT_H

#include <stdint.h>

/* share and burst_ns are the caller's to set, the rest is 0 at first. The clock is any that does
 * not go back. */
struct credit {
	uint64_t share;	   /* of every so many ns that pass one comes back; 1 at least */
	uint64_t burst_ns; /* what comes back in this time is saved up at most */
	uint64_t paid_ns;  /* until when the time is spent: in the future when there is a debt */
};

/* When the last debt is paid; 0 when none is left. */
uint64_t credit_back_at(const struct credit *credit, uint64_t now_ns);

/* Charges cost_ns, whether there is credit for it or not. */
void credit_charge(struct credit *credit, uint64_t now_ns, uint64_t cost_ns);

#endif
