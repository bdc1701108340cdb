// SPDX-License-Identifier: Apache-2.0
/* Reads the kernel half's counts of lost records, and feeds what changed. */
#include "app/live/losses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Records of a cgroup that were lost so far. */
struct lost_of {
	uint64_t id, lost;
};

struct losses {
	struct feed *feed;
	struct scan *scan;
	struct kern *kern;
	struct ring *ring;
	struct obs_lost totals; /* as fed last */
	struct lost_of *of;	/* each cgroup with losses, as fed last, sorted by id */
	size_t n_of;
	int64_t open;	 /* misses, at the reading before */
	int64_t settled; /* of these: they are counted as missed, or were counted too often */
	uint64_t missed; /* open at two readings: no second program came */
	bool sweep_due;	 /* records were lost, and some of their cgroups were not read since */
};

struct sweep {
	struct lost_of *lost_of;
	struct swept {
		struct graced_counts counts;
		uint64_t owner_id;
		uint32_t kind;
		bool gone; /* the cgroup was removed */
	} * swept;	   /* beside each of lost_of */
	size_t n, room;
};

static int take_losses(void *userdata, uint64_t id, const struct graced_watch *watch)
{
	struct sweep *sweep = userdata;
	void *bigger;

	if (!watch->counts.lost && !watch->gone)
		return 0;
	if (sweep->n == sweep->room) {
		size_t room = sweep->room ? sweep->room * 2 : 64;

		bigger = reallocarray(sweep->lost_of, room, sizeof(*sweep->lost_of));
		if (!bigger)
			return -ENOMEM;
		sweep->lost_of = bigger;
		bigger = reallocarray(sweep->swept, room, sizeof(*sweep->swept));
		if (!bigger)
			return -ENOMEM;
		sweep->swept = bigger;
		sweep->room = room;
	}
	sweep->lost_of[sweep->n] = (struct lost_of){id, watch->counts.lost};
	sweep->swept[sweep->n++] =
		(struct swept){watch->counts, watch->owner_id, watch->kind, watch->gone};
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct lost_of *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool has_changed(const struct losses *l, const struct lost_of *now)
{
	const struct lost_of *before = NULL;

	if (l->n_of)
		before = bsearch(now, l->of, l->n_of, sizeof(*now), by_id);
	return !before || before->lost != now->lost;
}

static void feed_counts(struct losses *l, const struct sweep *sweep, size_t i)
{
	struct graced_watch watch;
	struct obs obs;

	feed_begin(&obs, OBS_COUNTS);
	obs.counts.id = sweep->lost_of[i].id;
	obs.counts.populated = scan_populated(l->scan, obs.counts.id);
	/* Read after that: where nothing was left, all that ended in there is counted. */
	if (kern_watch_get(l->kern, obs.counts.id, &watch) < 0)
		return;
	obs.counts.counts = watch.counts;
	feed_obs(l->feed, &obs);
}

/* The kernel half keeps the entry of a cgroup whose removal had no room in the ring. */
static void feed_gone(struct losses *l, const struct sweep *sweep, size_t i)
{
	struct obs obs;

	feed_begin(&obs, OBS_CGROUP_GONE);
	obs.empty.id = sweep->lost_of[i].id;
	obs.empty.counts = sweep->swept[i].counts;
	obs.empty.kind = sweep->swept[i].kind;
	obs.empty.owner_id = sweep->swept[i].owner_id;
	feed_obs(l->feed, &obs);
	kern_watch_delete(l->kern, obs.empty.id);
}

static void feed_all_gone(struct losses *l, const struct sweep *sweep, bool recorded)
{
	for (size_t i = 0; i < sweep->n; i++)
		if (sweep->swept[i].gone &&
		    (sweep->swept[i].kind >= GRACED_WATCH_CONTAINER) == recorded)
			feed_gone(l, sweep, i);
}

/* Which cgroups the losses were about. False: some have to be read again; final: there is no
 * later time for that. */
static bool feed_swept(struct losses *l, bool final)
{
	struct sweep sweep = {};
	bool all = kern_watch_each(l->kern, take_losses, &sweep) >= 0, drained;

	for (size_t i = 0; i < sweep.n; i++)
		if (!sweep.swept[i].gone && has_changed(l, sweep.lost_of + i))
			feed_counts(l, &sweep, i);
	/* What was recorded of a cgroup that is gone by now is in the ring. */
	drained = ring_drain(l->ring) || final;
	if (drained) {
		/* A pod is known until it is gone. */
		feed_all_gone(l, &sweep, true);
		feed_all_gone(l, &sweep, false);
	}
	if (sweep.n)
		qsort(sweep.lost_of, sweep.n, sizeof(*sweep.lost_of), by_id);
	free(sweep.swept);
	free(l->of);
	l->of = sweep.lost_of;
	l->n_of = sweep.n;
	return all && drained;
}

static uint64_t sum_lost(const struct obs_lost *lost)
{
	uint64_t sum = lost->recursion_misses;

	for (int i = 0; i < GRACED_STAT_COUNT; i++)
		sum += lost->totals[i].lost;
	return sum;
}

static uint64_t sum_suppressed(const struct obs_lost *lost)
{
	uint64_t sum = 0;

	for (int i = 0; i < GRACED_STAT_COUNT; i++)
		sum += lost->totals[i].suppressed;
	return sum;
}

/* What falls was counted too often, and hides nothing that is missed afterwards. */
static uint64_t count_missed(struct losses *l, bool final)
{
	struct kern_misses now;
	int64_t stayed;

	kern_misses(l->kern, &now);
	stayed = final || now.open < l->open ? now.open : l->open;
	if (stayed > l->settled) {
		l->missed += (uint64_t)(stayed - l->settled);
		l->settled = stayed;
	} else if (now.open < l->settled) {
		l->settled = now.open;
	}
	l->open = now.open;
	return now.sure + l->missed;
}

void losses_feed(struct losses *l, bool final)
{
	bool more_lost, more_suppressed;
	struct obs obs;

	feed_begin(&obs, OBS_LOST);
	if (kern_read_stats(l->kern, obs.lost.totals) < 0)
		return;
	obs.lost.recursion_misses = count_missed(l, final);
	more_lost = sum_lost(&obs.lost) != sum_lost(&l->totals);
	more_suppressed = sum_suppressed(&obs.lost) != sum_suppressed(&l->totals);
	l->sweep_due |= more_lost;
	if (final || more_lost || more_suppressed) {
		l->totals = obs.lost;
		feed_obs(l->feed, &obs);
	}
	/* Counts are read ahead of the records; what was made before must not look later. */
	if (l->sweep_due && (ring_drain(l->ring) || final))
		l->sweep_due = !feed_swept(l, final);
}

const struct obs_lost *losses_totals(const struct losses *l)
{
	return &l->totals;
}

int losses_new(struct feed *feed, struct scan *scan, struct kern *kern, struct ring *ring,
	       struct losses **ret)
{
	struct losses *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->feed = feed;
	l->scan = scan;
	l->kern = kern;
	l->ring = ring;
	*ret = l;
	return 0;
}

struct losses *losses_free(struct losses *l)
{
	if (l)
		free(l->of);
	free(l);
	return NULL;
}
