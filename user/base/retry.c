// SPDX-License-Identifier: Apache-2.0
#include "base/retry.h"

/* Doubles without overflow. */
uint64_t backoff_ns(uint64_t first_ns, uint64_t last_ns, uint64_t failures)
{
	if (failures < 64 && first_ns <= last_ns >> failures)
		return first_ns << failures;
	return last_ns;
}

enum trouble_news trouble_look(struct trouble *t, uint64_t dropped, bool drops, uint64_t now_ns,
			       uint64_t *ret_dropped)
{
	bool wrong = dropped != t->dropped, begins = wrong && !t->on;

	if (begins)
		t->dropped_first = t->dropped;
	t->dropped = dropped;
	if (wrong) {
		t->on = true;
		t->last_ns = now_ns;
		return begins ? TROUBLE_BEGINS : TROUBLE_NO_NEWS;
	}
	if (!t->on || drops || now_ns - t->last_ns < TROUBLE_CALM_NS)
		return TROUBLE_NO_NEWS;
	t->on = false;
	*ret_dropped = dropped - t->dropped_first;
	return TROUBLE_ENDS;
}
