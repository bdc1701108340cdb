/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What graced top shows: records, the stops under way, time and keys in; rows out, filtered, sorted
 * and cut to the height of the screen. It looks at no clock and no terminal.
 *
 * Names are raw bytes of any content. Times are nanoseconds of CLOCK_BOOTTIME, 0 for unknown.
 */
#ifndef CORE_TOP_TOP_H
#define CORE_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stop/audit_record.h"
#include "core/stop/filter.h"

#define TOP_NAME_SIZE	384 /* of "namespace/pod/container"; longer ones lose their beginning */
#define TOP_WHO_SIZE	96
#define TOP_FILTER_SIZE 64

/* Rows kept of each section. Kept are the stops under way with the nearest deadlines, the latest of
 * the others, and the senders that killed most. */
#define TOP_STOPPING_MAX 256
#define TOP_STOPPED_MAX	 256
#define TOP_DEAF_MAX	 256
#define TOP_KILLERS_MAX	 64
#define TOP_ROWS_MAX	 256 /* the largest of them */

enum top_section { TOP_STOPPING, TOP_STOPPED, TOP_DEAF, TOP_KILLERS, TOP_SECTIONS };

/* The stop of a container. */
struct top_stop {
	char name[TOP_NAME_SIZE];
	char by[TOP_WHO_SIZE]; /* who asked it, with its pid, or who killed it; "": not known */
	uint64_t at_ns;	       /* when it was asked, or of the exit */
	enum unheard reason;
	/* While it is under way. */
	uint32_t signal;		/* 9: it was killed and not asked */
	uint64_t grace_ns, deadline_ns; /* both 0: the grace period is unknown */
	bool deaf, killed;
	/* When it is over. */
	enum outcome outcome;
	enum cause cause;
	bool took_known, margin_known;
	uint64_t took_ns;     /* from the stop signal to the exit */
	int64_t margin_ns;    /* of the grace period; below 0: it overran */
	bool complete;	      /* the evidence, but for what began before */
	unsigned int badness; /* record_badness() */
};

/* A container that did not act on its stop signal, or would not. */
struct top_deaf {
	char name[TOP_NAME_SIZE];
	unsigned int topic; /* of core/stop/advice: why */
	uint64_t times;	    /* how often it was stopped so */
	uint64_t last_ns;   /* ... at last; 0: it has not ignored a signal yet */
	bool now;	    /* it runs, and is deaf; else it was */
	bool signalled;	    /* a signal had no effect since it was stopped last */
	bool found;	    /* by the audit that goes on, or by the last one */
	bool was;	    /* it was killed when it was stopped last, or did not act before */
};

/* A container that would not act on its stop signal, as an audit of it shows. */
struct top_finding {
	char name[TOP_NAME_SIZE];
	unsigned int topic;
};

struct top_killer {
	char who[TOP_WHO_SIZE], victim[TOP_NAME_SIZE]; /* the last victim */
	uint64_t kills, early; /* early: before the end of the grace period, or without one */
	uint64_t last_ns;
};

/* What is known at one moment. */
struct top_data {
	uint64_t now_ns;
	int64_t wall_offset_ns; /* of CLOCK_REALTIME */

	struct top_stop stopping[TOP_STOPPING_MAX];
	struct top_stop stopped[TOP_STOPPED_MAX]; /* the last one first */
	struct top_deaf deaf[TOP_DEAF_MAX];	  /* likewise */
	struct top_killer killers[TOP_KILLERS_MAX];
	size_t n[TOP_SECTIONS];

	uint64_t all_stopping;		     /* with those that found no room */
	uint64_t all_stopped, killed, early; /* since the start */
	uint64_t lost;			     /* events of the kernel half */
	uint64_t missed;		     /* records that did not arrive here */
};

/* A column that a section can be sorted by; 0 is its usual order. */
struct top_order {
	unsigned int by;
	bool reverse;
};

/* The stops under way, as far as there is room. */
struct top_list {
	struct top_stop rows[TOP_STOPPING_MAX];
	size_t n;
	uint64_t all;
};

struct top {
	struct filter records; /* which records are taken; its strings are borrowed */
	struct top_list coming;
	struct top_data live, held;
	bool paused; /* held is shown */

	enum top_section focus;	      /* that keys scroll and sort */
	bool alone;		      /* it is the only one on the screen */
	bool help;		      /* the keys are explained instead */
	bool typing;		      /* keys go to the filter */
	char filter[TOP_FILTER_SIZE]; /* "": all rows */
	struct top_order order[TOP_SECTIONS];
	size_t from[TOP_SECTIONS]; /* the first row that is shown */
	size_t room[TOP_SECTIONS]; /* how many are, as of top_fit() */
};

/* Keys beside the characters, which are their bytes. */
enum top_key {
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACK_TAB,
	TOP_KEY_BACKSPACE,
};

/* What a key wants of the caller. */
enum top_wish { TOP_NOTHING, TOP_QUIT, TOP_REDRAW };

/* Nothing is known yet. The caller frees with free(). records is copied. 0 or -ENOMEM. */
int top_new(const struct filter *records, struct top **ret);

/* Takes each record the engine reports; ignores those of sandboxes, and all but stops, signals and
 * losses. */
void top_record(struct top *top, const struct record *record);

/* What is shown is of that moment. missed: how many records did not arrive until then. */
void top_set_moment(struct top *top, uint64_t now_ns, int64_t wall_offset_ns, uint64_t missed);

/* What is being stopped is known anew: each stop that is under way, then the end of the list, with
 * which it takes the place of the one before. */
void top_add_stopping(struct top *top, const struct record_stop *stop);
void top_end_stopping(struct top *top);

/* Whether an audit of a container is one for the list of the deaf. Sandboxes are not. */
bool top_finding_of(const struct audit_record *record, struct top_finding *ret);

/* An audit of all running containers begins; top_add_finding() follows for each that is deaf. When
 * it is whole, containers that it did not find are deaf no more, but for those whose signals were
 * seen to have no effect; they leave the list if no stop of theirs shows that they were. One that
 * fails is not ended, and removes none. */
void top_begin_audit(struct top *top);
void top_add_finding(struct top *top, const struct top_finding *finding);
void top_end_audit(struct top *top);

/* TOP_REDRAW: the terminal may show something else than it was sent. */
enum top_wish top_press(struct top *top, int key);

/* Shares out lines among the sections, each of which takes one for its title: top->room says how
 * many rows each has, 0 also for one that is not shown. */
void top_fit(struct top *top, size_t lines);

/* What is shown: as it is, or as it was when it was paused. */
const struct top_data *top_data(const struct top *top);

/* The rows of a section that match the filter, in order, as indices into its array. How many. */
size_t top_rows(const struct top *top, enum top_section section, uint16_t ret[TOP_ROWS_MAX]);

/* What it is sorted by. */
const char *top_order_name(const struct top *top, enum top_section section);

#endif
