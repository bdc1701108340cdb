/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time series about containers, counted from records: how often, how fast and why they stopped.
 *
 * Labels are namespace, workload and container name, never a pod's name nor an id: containers of
 * one name share their series. However many label sets there are, the lines of exposition stay
 * within a limit; what finds no room is counted under namespace, workload and container "_other",
 * whose lines are reserved. OpenMetrics' "_created" lines are properties of series, and not counted.
 *
 * rate() and increase() do not see the increment that a series begins with. So the counters that
 * alerts are made of exist with 0 as soon as their container is seen running.
 *
 * Each bucket of a histogram has an exemplar: its last observation, with its record and pod. They
 * are no lines, and part of the memory of the series.
 *
 * A histogram costs a dozen lines or more where a counter costs one: the last part of the room is
 * for counters alone, and lines that are still 0 take half of it at most.
 */
#ifndef CORE_METRICS_SERIES_H
#define CORE_METRICS_SERIES_H

#include "core/metrics/exemplar.h"
#include "core/metrics/histogram.h"
#include "core/stop/audit.h"
#include "core/stop/record.h"

#define SERIES_DEFAULT_LIMIT  10000
#define SERIES_DEFAULT_AGE_NS (3600ULL * 1000000000)
/* One part in so many of the room is for counters alone. */
#define SERIES_COUNTERS_PART  32
/* ... and one in so many is what counters that are still 0 leave free. */
#define SERIES_EVENTS_PART    2
/* ... and one in so many is what gauges leave free: they are no loss while stops are counted. */
#define SERIES_STOPS_PART     8
/* A series is not dropped before this many scrapes have seen its last change ... */
#define SERIES_MIN_SCRAPES    3
/* ... while there are no scrapes: so many times the age, and it goes. */
#define SERIES_UNSCRAPED_AGES 24

/* In the order of graced-run(8), METRICS. */
enum series_family {
	SERIES_STOP_DURATION, /* histogram of seconds, by outcome */
	SERIES_STOPS,	      /* by outcome and cause */
	SERIES_GRACE_USED,    /* histogram of shares of the grace period */
	SERIES_DEAF_STOPS,
	SERIES_COLLATERAL_KILLS,
	SERIES_CUT,
	SERIES_OOM_KILLS, /* by level */
	SERIES_POD_EMPTY, /* histogram of seconds, of pods: no container */
	SERIES_POD_READY, /* likewise */
	SERIES_RESTARTS,  /* by whether there is a probe, an enum record_tri */
	SERIES_HEARS, /* gauge by reason; it cannot be added up, so "_other" has no such series */
	SERIES_WORKLOAD, /* 1, by kind; likewise. By workload: no container */
	SERIES_FAMILY_COUNT,
};

/* Causes of a kill that leave open who asked for it; the others name who it was. */
enum series_kill {
	SERIES_KILL_GRACE_EXPIRED,
	SERIES_KILL_EARLY,
	SERIES_KILL_NO_GRACE,
	SERIES_KILL_COUNT,
};

struct series;

struct series_config {
	uint32_t max_series; /* lines of exposition, every bucket one; 0: SERIES_DEFAULT_LIMIT */
	uint32_t reserved;   /* ... of which this many are for what is not about containers */
	uint64_t max_age_ns; /* 0: SERIES_DEFAULT_AGE_NS */
};

struct series_stats {
	uint64_t lines; /* of exposition, now, without what was reserved */
	uint64_t limit; /* max_series, or the least that can be: reserved + those of "_other" */
	/* Share of the room for containers that is taken, in millionths; 1,000,000: the next
	 * histogram, or more, goes to "_other". */
	uint64_t used_ppm;
	uint64_t labelsets;			/* containers with series of their own, now */
	uint64_t absorbed[SERIES_FAMILY_COUNT]; /* increments that went to "_other" */
	uint64_t aged;				/* lines dropped for their age */
	/* Stops counted, by outcome. */
	uint64_t stops[OUTCOME_COUNT];
	/* Stops counted whose evidence has that gap; one with several counts for each of them. */
	uint64_t incomplete[GAP_COUNT];
	/* Stops counted whose stop signal was not acted on, by why; [UNHEARD_NONE] is 0. */
	uint64_t unheard[UNHEARD_COUNT];
	/* Stops counted that a SIGKILL ended which followed a stop signal, or had none to follow,
	 * by enum series_kill and by who sent it. */
	uint64_t kills[SERIES_KILL_COUNT][SENDER_UNKNOWN + 1];
	/* Pods that began to terminate, by what triggered it; [POD_TRIGGER_NONE]: not known. */
	uint64_t terminations[POD_TRIGGER_COUNT];
};

/* One label set of a family. Labels are valid UTF-8 of at most LABEL_MAX bytes; container, outcome,
 * cause, level, reason, probe and kind are NULL in the families that do not have them. */
struct series_point {
	const char *namespace_, *workload, *container;
	const char *outcome, *cause, *level, *reason, *probe, *kind;
	uint64_t value;			       /* of a counter or gauge */
	const struct histogram *histogram;     /* NULL for a counter */
	const struct histogram_bounds *bounds; /* of the histogram */
	const struct exemplar *exemplars;      /* of each of its buckets, which may be none */
	int64_t created_wall_ns;	       /* when it began to exist, since 1970 */
};

typedef void (*series_fn)(void *userdata, const struct series_point *point);

/* 0 or -ENOMEM. The caller frees with series_free(). */
int series_new(const struct series_config *config, struct series **ret);
struct series *series_free(struct series *series);

/*
 * Counts what a stop, OOM, restart or pod record says; records of other types, of processes that
 * are no container (scope all), and stops of sandboxes are ignored, but for the gap of a guessed
 * one. Without memory for a new label set the record is counted under "_other".
 */
void series_record(struct series *series, const struct record *record);

/* That container runs at now_ns, which is wall_ns since 1970: the counters that alerts are made of
 * exist from now on, as does the kind of its workload where that is known: of several kinds under
 * one name the one seen last. Its series do not age. Nothing is made for what is no container or
 * service, or may be none; nothing else is known of one without a name. */
void series_seen(struct series *series, const struct record_pod *pod,
		 const struct record_container *container, uint64_t now_ns, int64_t wall_ns);

/*
 * Whether containers that run would react to their stop signals: series_hears_begin() removes what
 * the last walk found, and series_hears() follows for each that runs and has an answer, whose
 * verdict is not unknown. The worst answer of the containers that share labels is shown: one that
 * is deaf before one that hears, then the first reason by enum audit_reason. Nothing is shown of
 * what is no container or service or has no name at all, nor where there is no room; a stop removes
 * what its labels have until the next walk. series_seen() keeps a label set from ageing, this does
 * not.
 */
void series_hears_begin(struct series *series);
void series_hears(struct series *series, const struct record_pod *pod,
		  const struct record_container *container, const struct audit *audit);

/* All series were read. */
void series_scraped(struct series *series);

/* Drops the label sets that no record and no container touched for the age, once scraped often
 * enough. now_ns is CLOCK_BOOTTIME, as records have it. */
void series_age(struct series *series, uint64_t now_ns);

void series_get_stats(const struct series *series, struct series_stats *ret);

/* Calls fn for each label set of the family, in the order of the labels' bytes, then of outcome,
 * cause, level and probe; "_other" is the last. What it gets is valid during the call. */
void series_each(const struct series *series, enum series_family family, series_fn fn,
		 void *userdata);

/* As in graced_container_stops_total. */
enum cause series_kill_cause(enum series_kill kill);

/* graced_container_stops_total and so on; NULL for none. */
const char *series_family_name(enum series_family family);

/* Lines reserved for "_other", and so the least limit there can be. */
uint64_t series_overflow_lines(void);

#endif
