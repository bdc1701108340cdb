/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps one thing from being said again and again: so many times a minute, and how often it was
 * held back is known when it is said next. */
#ifndef CORE_RATELIMIT_H
#define CORE_RATELIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* One for each place that has something to say; all zero is a fresh one. */
struct ratelimit {
	uint64_t begin_ns; /* of the minute, when something was said in it */
	uint32_t said;	   /* in that minute */
	uint64_t held;	   /* since it was said last */
};

/*
 * Whether it may be said now; now_ns may stand still, but what goes back counts as now. True:
 * *ret_held is how many times it was held back since the last time. A minute begins with the first
 * time something is said in it.
 */
bool ratelimit_pass(struct ratelimit *limit, uint64_t now_ns, uint32_t a_minute,
		    uint64_t *ret_held);

#endif
