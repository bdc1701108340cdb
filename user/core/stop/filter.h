/* SPDX-License-Identifier: Apache-2.0 */
/* Which records a user asked to see. */
#ifndef CORE_STOP_FILTER_H
#define CORE_STOP_FILTER_H

#include "core/stop/record.h"

/* NULL, 0 and OUTCOME_COUNT ask for nothing in particular. */
struct filter {
	const char *namespace_;
	const char *pod;       /* name, or the first 8 or more characters of its uid */
	const char *container; /* name, or the first 4 or more digits of its id */
	const char *sender_comm;
	uint64_t sigmask; /* bit n-1 for signal n */
	enum outcome outcome;
	bool signals; /* signal records too */
};

/* Records that speak of the tracer itself always match. */
bool filter_matches(const struct filter *filter, const struct record *record);

#endif
