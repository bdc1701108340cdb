/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where core/metrics/series keeps its numbers: label sets in the order of their labels, each with a
 * short ordered list of counters and histograms.
 *
 * A sorted array is all the index there is: no choice of names makes a search in 10,000 label sets
 * take more than fourteen comparisons, and a walk needs no sorting.
 */
#ifndef CORE_METRICS_SERIES_STORE_H
#define CORE_METRICS_SERIES_STORE_H

#include "core/metrics/exemplar.h"
#include "core/metrics/histogram.h"
#include "core/metrics/label.h"
#include "core/metrics/series.h"

enum { LABEL_NAMESPACE, LABEL_WORKLOAD, LABEL_CONTAINER, LABEL_COUNT };

/* Cleaned. */
struct labels {
	char text[LABEL_COUNT][LABEL_MAX + 1];
};

/* Which series of a label set: major is an outcome, a level or an enum record_tri, minor a cause or
 * an enum audit_reason, else 0. */
struct serie_key {
	enum series_family family;
	unsigned int major, minor;
};

struct serie {
	struct serie *next;
	struct serie_key key;
	bool used;		 /* something was counted, or zero is to be shown */
	int64_t created_wall_ns; /* when that began, since 1970 */
	uint64_t value;
	struct exemplar *exemplars;   /* one of each bucket, in the same allocation; or NULL */
	struct histogram histogram[]; /* one, in the families that are histograms */
};

struct labelset {
	struct serie *first;
	uint64_t touched_ns;
	uint64_t scrapes; /* there had been at the last change */
	char *kind;	  /* of a workload; NULL: not known */
	const char *label[LABEL_COUNT];
	char text[];
};

/* All zero is an empty store. */
struct series_store {
	struct labelset **sets;
	size_t n, room;
	uint64_t lines; /* of the used series */
};

struct series {
	uint64_t room; /* lines for label sets of containers */
	uint64_t limit;
	uint64_t max_age_ns;
	uint64_t scrapes;
	struct series_store store; /* "_other" is not in it */
	struct series_store overflow;
	uint64_t absorbed[SERIES_FAMILY_COUNT];
	uint64_t stops[OUTCOME_COUNT];
	uint64_t incomplete[GAP_COUNT];
	uint64_t unheard[UNHEARD_COUNT];
	uint64_t kills[SERIES_KILL_COUNT][SENDER_UNKNOWN + 1];
	uint64_t terminations[POD_TRIGGER_COUNT];
	uint64_t aged;
};

void series_store_done(struct series_store *store);

/* NULL when it is not there. */
struct labelset *series_store_find(const struct series_store *store, const struct labels *labels);

/* An empty label set, touched at 0, where there was none. NULL without memory. */
struct labelset *series_store_add(struct series_store *store, const struct labels *labels);

/* Removes the label sets drop() is true for. */
void series_store_sweep(struct series_store *store,
			bool (*drop)(void *userdata, struct labelset *set), void *userdata);

struct serie *serie_find(const struct labelset *set, const struct serie_key *key);
/* A new series where there was none, not used yet. NULL without memory. */
struct serie *serie_add(struct labelset *set, const struct serie_key *key);

/* Whether a row of the decision table (core/stop/outcome) has that pair, and "_other" a series of
 * that key. */
bool serie_is_pair(unsigned int outcome, unsigned int cause);
bool serie_is_key(const struct serie_key *key);
/* NULL for a family of counters. */
const struct histogram_bounds *serie_bounds(enum series_family family);
/* Lines of exposition of one series. */
uint64_t serie_lines(enum series_family family);
/* The counters that a container has from the moment it is seen, 0, 1, ...; NULL after the last. */
const struct serie_key *serie_from_the_start(size_t index);

#endif
