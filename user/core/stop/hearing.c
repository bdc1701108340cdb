// SPDX-License-Identifier: Apache-2.0
/* Schedules looks at inits, and lets an answer count when enough of them agree. */
#include "core/stop/hearing.h"

#include <errno.h>
#include <stdlib.h>

/* The map may not change while it is walked: so many are found, then removed. */
#define AT_ONCE 64

struct heard {
	struct hearing_init init;
	uint64_t due_ns;
	struct audit last, answer; /* the answer is AUDIT_UNKNOWN until one counts */
	uint32_t agreed;	   /* looks in a row that found last */
	bool round;		   /* seen in the round of that number */
};

static bool takes_effect(const struct audit *a)
{
	return a->verdict == AUDIT_HEARS || a->verdict == AUDIT_DIES;
}

static void begin(struct heard *c, const struct hearing_init *init)
{
	bool round = c->round;

	*c = (struct heard){
		.init = *init,
		.due_ns = init->start_ns + HEARING_SETTLE_NS,
		.answer = {.verdict = AUDIT_UNKNOWN},
		.round = round,
	};
}

static int add(struct hearing *h, const struct hearing_init *init, struct heard **ret)
{
	struct heard *c;
	int r;

	if (h->list.count >= HEARING_MAX)
		return -ENOSPC;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	r = map_put(&h->list, init->id, c);
	if (r < 0) {
		free(c);
		return r;
	}
	begin(c, init);
	*ret = c;
	return 0;
}

int hearing_seen(struct hearing *h, const struct hearing_init *init)
{
	struct heard *c = map_get(&h->list, init->id);
	int r = c ? 0 : add(h, init, &c);
	struct audit_runs runs;

	if (r < 0)
		return r;
	if (c->init.start_ns != init->start_ns || c->init.pid != init->pid ||
	    c->init.signal != init->signal)
		begin(c, init);
	runs = c->init.runs;
	c->init = *init;
	c->init.runs = runs;
	c->round = h->round;
	return 0;
}

/* Finds no more than size of them. */
static size_t find_unseen(const struct hearing *h, struct heard *ret[], size_t size)
{
	struct heard *c;
	size_t pos = 0, n = 0;

	while (n < size && (c = map_next(&h->list, &pos)))
		if (c->round != h->round)
			ret[n++] = c;
	return n;
}

void hearing_end_round(struct hearing *h)
{
	struct heard *unseen[AT_ONCE];
	size_t n;

	do {
		n = find_unseen(h, unseen, AT_ONCE);
		for (size_t i = 0; i < n; i++) {
			map_remove(&h->list, unseen[i]->init.id);
			free(unseen[i]);
		}
	} while (n == AT_ONCE);
	h->round = !h->round;
}

bool hearing_next(const struct hearing *h, uint64_t now_ns, struct hearing_init *ret)
{
	const struct heard *c, *first = NULL;
	size_t pos = 0;

	while ((c = map_next(&h->list, &pos)))
		if (c->due_ns <= now_ns && (!first || c->due_ns < first->due_ns))
			first = c;
	if (first)
		*ret = first->init;
	return first;
}

void hearing_take(struct hearing *h, const struct hearing_init *init, const struct audit *audit,
		  uint64_t now_ns)
{
	struct heard *c = map_get(&h->list, init->id);
	bool same, counts;

	if (!c || c->init.start_ns != init->start_ns)
		return;
	same = c->agreed && c->last.verdict == audit->verdict && c->last.reason == audit->reason;
	c->agreed = same ? c->agreed + (c->agreed < HEARING_LOOKS) : 1;
	c->last = *audit;
	c->init.runs = init->runs;
	counts = takes_effect(audit) || c->agreed == HEARING_LOOKS;
	if (counts)
		c->answer = *audit;
	c->due_ns = now_ns + (counts ? HEARING_AGAIN_NS : 1);
}

bool hearing_get(const struct hearing *h, uint64_t id, uint64_t start_ns, struct audit *ret)
{
	const struct heard *c = map_get(&h->list, id);

	if (!c || c->init.start_ns != start_ns || c->answer.verdict == AUDIT_UNKNOWN)
		return false;
	*ret = c->answer;
	return true;
}

void hearing_done(struct hearing *h)
{
	struct heard *c;
	size_t pos = 0;

	while ((c = map_next(&h->list, &pos)))
		free(c);
	map_done(&h->list);
}
