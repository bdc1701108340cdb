// SPDX-License-Identifier: Apache-2.0
/* Decides when something is shed and when it comes back. */
#include "core/load/budget.h"

#include <string.h>

#define PPM 1000000

/* What was shed comes back when the cost is below this share of the limit. */
#define BACK_DIVISOR 2

enum shed shed_of(enum shed level, bool shutdown)
{
	return shutdown && level >= SHED_NAMES ? SHED_NAMES - 1 : level;
}

const char *shed_name(enum shed shed)
{
	static const char *const names[SHED_COUNT] = {
		[SHED_NOISY] = "noisy",
		[SHED_SIGNALS] = "signals",
		[SHED_NAMES] = "names",
	};

	return (unsigned int)shed < SHED_COUNT ? names[shed] : NULL;
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
	if (b->level + 1 < SHED_COUNT) {
		b->level++;
		b->changes++;
	}
	begin_anew(b);
	return true;
}

static bool lower_level(struct budget *b, uint64_t now_ns)
{
	b->level--;
	b->changes++;
	b->lowered_ns = now_ns;
	/* Each step down is watched for as long as the one before. */
	b->raised_ns = now_ns;
	begin_anew(b);
	return true;
}

/* Without a budget there is nothing to save. */
static bool end_all(struct budget *b)
{
	if (b->level == SHED_NOTHING)
		return false;
	b->level = SHED_NOTHING;
	b->changes++;
	return true;
}

static bool may_come_back(const struct budget *b, uint64_t now_ns)
{
	return b->level != SHED_NOTHING && now_ns - b->raised_ns >= b->hold_ns &&
	       span_ns(b) >= BUDGET_WINDOW_NS && spent_ns(b) < allowed_ns(b) / BACK_DIVISOR;
}

bool budget_sample(struct budget *b, const struct budget_sample *sample)
{
	if (b->n && (sample->at_ns <= b->samples[b->n - 1].at_ns ||
		     sample->cost_ns < b->samples[b->n - 1].cost_ns))
		return false;
	add(b, sample);
	if (b->n >= 2)
		b->ratio_ppm = ratio_ppm(b);
	if (!b->limit_ppm)
		return end_all(b);
	if (spent_ns(b) > allowed_ns(b))
		return raise_level(b, sample->at_ns);
	if (may_come_back(b, sample->at_ns))
		return lower_level(b, sample->at_ns);
	/* Long calm: the next attempt starts from the shortest wait again. */
	if (b->level == SHED_NOTHING && sample->at_ns - b->lowered_ns > BUDGET_HOLD_MAX_NS)
		b->hold_ns = 0;
	return false;
}
