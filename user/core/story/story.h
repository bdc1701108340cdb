/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The story of a stop for people, from its record: what ended the container in one sentence, what
 * happened in its order, and what to do about it. Processes are written NAME[PID], with the pid
 * that they have in their container; names are made printable.
 */
#ifndef CORE_STORY_STORY_H
#define CORE_STORY_STORY_H

#include "base/buf.h"
#include "core/stop/record.h"

/* Events that a story has at most; what is left out is counted. */
#define STORY_EVENTS 12

/* Adds a sentence or two, with a full stop. */
void story_add_why(struct buf *out, const struct record_stop *stop);

struct story_event {
	uint64_t at_ns; /* CLOCK_BOOTTIME */
	enum story_what {
		STORY_ASKED,   /* a request to init, index of requests; past them: stop_signal */
		STORY_PASSED,  /* a stop signal to another process, index of processes */
		STORY_KILLED,  /* a SIGKILL to init */
		STORY_ENDED,   /* a process ended, index of processes */
		STORY_EXITED,  /* init ended */
		STORY_EMPTIED, /* no process was left */
	} what;
	uint32_t index;
};

/* The events of a stop in their order. *ret_more: how many more there are. */
size_t story_events(const struct record_stop *stop, struct story_event ret[STORY_EVENTS],
		    size_t *ret_more);
/* Adds one of them in words, without a full stop. */
void story_add_event(struct buf *out, const struct record_stop *stop,
		     const struct story_event *event);

/* What to do, and the heading of docs/fix.md that has more (NULL: none). False: there is no index
 * like this. */
bool story_remedy(const struct record_stop *stop, size_t index, const char **ret_text,
		  const char **ret_page);

#endif
