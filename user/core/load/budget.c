// SPDX-License-Identifier: Apache-2.0
/* Decides when something is shed and when it comes back. */
#include "core/load/budget.h"

#include <string.h>

#define PPM	 1000000
#define NS_PER_S 1000000000ULL

/* A load is gone when what is left of it would cost less than one part in so many of the limit, or
 * is less than one part in so many of it. */
#define GONE_DIVISOR 2

enum shed shed_of(enum shed level, bool shutdown)
{
	return shutdown && level >= SHED_NAMES ? SHED_NAMES - 1 : level;
}

/* One sample older than the window stays, so that the window is covered. */
static void add(struct budget *b, const struct budget_sample *sample)
{
	size_t drop = 0;

	while (drop + 1 < b->n && b->samples[drop + 1].at_ns + BUDGET_WINDOW_NS <= sample->at_ns)
		drop++;
	if (b->n - drop == BUDGET_SAMPLES)
		drop++;
	memmove(b->samples, b->samples + drop, (b->n - drop) * sizeof(*b->samples));
	b->n -= drop;
	b->samples[b->n++] = *sample;
}

static uint64_t spent_ns(const struct budget *b)
{
	return b->samples[b->n - 1].cost_ns - b->samples[0].cost_ns;
}

static uint64_t span_ns(const struct budget *b)
{
	return b->samples[b->n - 1].at_ns - b->samples[0].at_ns;
}

/* In the time that was looked at, the window or longer: samples may have been held up. */
static uint64_t allowed_ns(const struct budget *b)
{
	uint64_t span = span_ns(b) > BUDGET_WINDOW_NS ? span_ns(b) : BUDGET_WINDOW_NS;

	return span / PPM * b->limit_ppm;
}

static uint32_t ratio_ppm(const struct budget *b)
{
	const struct budget_sample *first = b->samples, *last = b->samples + b->n - 1;
	uint64_t apart = last->apart_ns > first->apart_ns ? last->apart_ns - first->apart_ns : 0;

	return (uint32_t)((spent_ns(b) + apart) / (span_ns(b) / PPM + 1));
}

/* By the newest samples that cover as much, or by all where these do not. There are two. */
static struct budget_rates rates(const struct budget *b, uint64_t least_ns)
{
	const struct budget_sample *last = b->samples + b->n - 1, *first = last - 1;
	uint64_t span;

	while (first > b->samples && last->at_ns - first->at_ns < least_ns)
		first--;
	span = last->at_ns - first->at_ns;
	return (struct budget_rates){
		.cost_ppm = (last->cost_ns - first->cost_ns) / (span / PPM + 1),
		.load = (uint64_t)((double)(last->load - first->load) * NS_PER_S / (double)span),
	};
}

/* What was spent before a change says nothing about what it brought. */
static void begin_anew(struct budget *b)
{
	b->samples[0] = b->samples[b->n - 1];
	b->n = 1;
}

static bool raise_level(struct budget *b, uint64_t now_ns)
{
	bool too_early = b->lowered_ns && now_ns - b->lowered_ns < 2 * BUDGET_WINDOW_NS;

	if (!b->hold_ns)
		b->hold_ns = BUDGET_HOLD_NS;
	else if (too_early && b->hold_ns < BUDGET_HOLD_MAX_NS)
		b->hold_ns *= 2;
	b->raised_ns = now_ns;
	b->raised_last = true;
	if (b->level + 1 < SHED_COUNT) {
		b->level++;
		b->changes++;
		b->before[b->level] = rates(b, BUDGET_CALM_NS);
		if (b->before[b->level].cost_ppm < b->limit_ppm)
			b->before[b->level].cost_ppm = b->limit_ppm;
	}
	begin_anew(b);
	return true;
}

static void lower(struct budget *b)
{
	b->level--;
	b->changes++;
	b->raised_last = false;
}

static bool lower_level(struct budget *b, uint64_t now_ns)
{
	lower(b);
	b->lowered_ns = now_ns;
	/* Each step down is watched for as long as the one before. */
	b->raised_ns = now_ns;
	begin_anew(b);
	return true;
}

/* What the load of now would cost by what another one did, in proportion. It costs less already,
 * for not all of the cost comes from that load. */
static bool is_below(uint64_t limit_ppm, const struct budget_rates *then,
		     const struct budget_rates *now)
{
	return now->cost_ppm < limit_ppm &&
	       (double)then->cost_ppm * (double)now->load < (double)limit_ppm * (double)then->load;
}

/* By what it was before the last step, or before anything was shed, the cost would be within the
 * limit without that step. A cost that rose without the load says nothing of its end. */
static bool load_is_gone(const struct budget *b, const struct budget_rates *now)
{
	if (b->level == SHED_NOTHING)
		return false;
	return is_below(b->limit_ppm / GONE_DIVISOR, b->before + b->level, now) ||
	       (is_below(b->limit_ppm, &b->calm, now) &&
		now->load < b->before[SHED_NOISY].load / GONE_DIVISOR);
}

/* Every level whose load is gone. */
static bool lower_gone(struct budget *b)
{
	struct budget_rates now;
	bool any = false;

	if (span_ns(b) < BUDGET_CALM_NS)
		return false;
	now = rates(b, BUDGET_CALM_NS);
	for (; load_is_gone(b, &now); any = true)
		lower(b);
	if (!any)
		return false;
	/* What is left is about another load. */
	b->raised_ns = b->samples[b->n - 1].at_ns;
	b->hold_ns = b->level != SHED_NOTHING ? BUDGET_HOLD_NS : 0;
	b->lowered_ns = 0;
	begin_anew(b);
	return true;
}

/* Without a budget there is nothing to save, and a new one is yet to be exceeded. */
static bool end_all(struct budget *b)
{
	bool any = b->level != SHED_NOTHING;

	b->judged_ppm = b->limit_ppm;
	b->hold_ns = 0;
	begin_anew(b);
	while (b->level != SHED_NOTHING)
		lower(b);
	return any;
}

/* The last step is seen to the end of a window, and is too little if it still costs too much. */
static bool is_exceeded(const struct budget *b)
{
	if (spent_ns(b) <= allowed_ns(b))
		return false;
	return !b->raised_last ||
	       (span_ns(b) >= BUDGET_WINDOW_NS && rates(b, 0).cost_ppm > b->limit_ppm);
}

static bool may_come_back(const struct budget *b, uint64_t now_ns)
{
	return b->level != SHED_NOTHING && now_ns - b->raised_ns >= b->hold_ns &&
	       span_ns(b) >= BUDGET_WINDOW_NS && spent_ns(b) < allowed_ns(b);
}

bool budget_sample(struct budget *b, const struct budget_sample *sample)
{
	if (b->n && (sample->at_ns <= b->samples[b->n - 1].at_ns ||
		     sample->cost_ns < b->samples[b->n - 1].cost_ns))
		return false;
	if (b->n && sample->load < b->samples[b->n - 1].load)
		b->n = 0; /* a program is gone, and what it had counted */
	add(b, sample);
	if (b->n >= 2)
		b->ratio_ppm = ratio_ppm(b);
	if (b->limit_ppm != b->judged_ppm)
		return end_all(b);
	if (!b->limit_ppm)
		return false;
	if (is_exceeded(b))
		return raise_level(b, sample->at_ns);
	if (b->level != SHED_NOTHING && lower_gone(b))
		return true;
	if (may_come_back(b, sample->at_ns))
		return lower_level(b, sample->at_ns);
	if (b->level == SHED_NOTHING && span_ns(b) >= BUDGET_WINDOW_NS)
		b->calm = rates(b, BUDGET_WINDOW_NS);
	/* Long calm: the next attempt starts from the shortest wait again. */
	if (b->level == SHED_NOTHING && sample->at_ns - b->lowered_ns > BUDGET_HOLD_MAX_NS)
		b->hold_ns = 0;
	return false;
}
