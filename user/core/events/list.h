/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Events that were made, and how many more may be. The same reason and cause of the same
 * container is one Event: what happens again is counted in its series, which is written a minute
 * after the last write at the earliest. All writes of a node together are limited to one a second,
 * and 20 at once. An Event that finds no room in that is dropped and counted: the record of it is
 * in the sinks.
 */
#ifndef CORE_EVENTS_LIST_H
#define CORE_EVENTS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/events/event.h"

#define EVENTLIST_BURST	    20 /* the last one of them is the node's own */
#define EVENTLIST_EACH_NS   UINT64_C(1000000000)
#define EVENTLIST_SERIES_NS UINT64_C(60000000000)
/* What happens again after so long is another Event: the server forgets them after an hour. */
#define EVENTLIST_FORGET_NS UINT64_C(1800000000000)
#define EVENTLIST_MAX	    512

/* An Event that the server has, or is about to have. */
struct eventlist_item {
	uint64_t id; /* of this list, never 0 */
	char namespace_[EVENT_LABEL_MAX];
	char name[EVENT_SUBDOMAIN_MAX]; /* of the Event's object */
	uint64_t count;			/* how often it happened, itself included */
	int64_t last_wall_ns;		/* the last time */
};

enum eventlist_taken {
	EVENTLIST_NEW,	   /* to be created: *ret_item */
	EVENTLIST_AGAIN,   /* counted in a series */
	EVENTLIST_SAME,	   /* of the same run of the container: nothing is new */
	EVENTLIST_DROPPED, /* the limit is reached */
};

struct eventlist;

/* 0 or -ENOMEM. */
int eventlist_new(struct eventlist **ret);
struct eventlist *eventlist_free(struct eventlist *list);

/* now_ns: CLOCK_BOOTTIME, as everywhere here. *ret_item is the list's, until the next call. */
enum eventlist_taken eventlist_take(struct eventlist *list, const struct event *event,
				    uint64_t now_ns, const struct eventlist_item **ret_item);

/* The Event of that id was created, or will not be: then what happens again is a new one. */
void eventlist_created(struct eventlist *list, uint64_t id, bool created);
/* Its series was written; done: the server has it; gone: it has no such Event any more; neither: it
 * is to be written once more. */
void eventlist_written(struct eventlist *list, uint64_t id, bool done, bool gone);

/* The next one whose series is to be written now; NULL: none. */
const struct eventlist_item *eventlist_next(struct eventlist *list, uint64_t now_ns);
/* When to call eventlist_next() again; 0: not before something happens again. */
uint64_t eventlist_due_ns(const struct eventlist *list, uint64_t now_ns);

#endif
