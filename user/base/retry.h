/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait between attempts that fail, and when to report that they fail. */
#ifndef BASE_RETRY_H
#define BASE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* Longer after each failure in a row: the wait after one that follows so many others: first_ns,
 * doubled for each of these, at most last_ns. */
uint64_t backoff_ns(uint64_t first_ns, uint64_t last_ns, uint64_t failures);

/*
 * When to report that records for a sink are dropped, and that no more are: each once, however
 * often it changes its mind in between.
 */

/* It is over when nothing was dropped for so long, and nothing would be now. */
#define TROUBLE_CALM_NS 5000000000ULL

enum trouble_news { TROUBLE_NO_NEWS, TROUBLE_BEGINS, TROUBLE_ENDS };

/* All zero is a sink without trouble that has dropped nothing. */
struct trouble {
	bool on;
	uint64_t dropped;	/* when it began, or since */
	uint64_t dropped_first; /* before it began */
	uint64_t last_ns;	/* when one was dropped last */
};

/* What there is to report of a sink that has dropped so many in all; drops: the next one, too. With
 * TROUBLE_ENDS *ret_dropped is how many it cost. */
enum trouble_news trouble_look(struct trouble *trouble, uint64_t dropped, bool drops,
			       uint64_t now_ns, uint64_t *ret_dropped);

#endif
