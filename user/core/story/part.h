/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of stories, for core/story/compose. */
#ifndef CORE_STORY_PART_H
#define CORE_STORY_PART_H

#include "core/story/story.h"

/* --- a stop that is over ----------------------------------------------------------------------- */

struct story_event {
	uint64_t at_ns; /* CLOCK_BOOTTIME */
	enum story_what {
		STORY_ASKED,   /* a request to init, index of requests; past them: stop_signal */
		STORY_PASSED,  /* a stop signal to another process, index of processes */
		STORY_SEEN,    /* what a look found, index of waited_for */
		STORY_KILLED,  /* a SIGKILL to init */
		STORY_END,     /* a process ended, index of processes */
		STORY_EXITED,  /* init ended */
		STORY_EMPTIED, /* no process was left */
	} what;
	uint32_t index;
};

/* The events of a stop in their order. *ret_more: how many more there are. */
size_t story_events(const struct record_stop *stop, struct story_event ret[STORY_LINES],
		    size_t *ret_more);
/* Adds one of them in words, without a full stop. */
void story_add_event(struct buf *out, const struct record_stop *stop,
		     const struct story_event *event);

/* What one look found: "app[1] had 2 clients connected at port 80". */
void story_add_wait(struct buf *out, const struct record_stop *stop, const struct wait *w);
/* A look found something; and the most telling of it, with when: "5 s after SIGTERM app[1] …". */
bool story_waited(const struct record_stop *stop);
void story_add_waited(struct buf *out, const struct record_stop *stop);

/* When init took its stop signal: its exit says when it was delivered; before that, a handler's
 * record. 0: not seen. */
uint64_t story_taken_ns(const struct record_stop *stop);

/* What to do, and the heading of docs/fix.md that has more (NULL: none). False: there is no index
 * like this. */
bool story_remedy(const struct record_stop *stop, size_t index, const char **ret_text,
		  const char **ret_page);

/* --- one that is under way --------------------------------------------------------------------- */

void story_add_stopping(struct buf *out, const struct record_stop *stop, uint64_t now_ns);

/* --- a container that runs --------------------------------------------------------------------- */

void story_add_running(struct buf *out, const struct audit_record *look, bool daemon);

/* Which of its processes have a line, in the order of the tree; pid: of one that has to. */
size_t story_members(const struct audit_record *look, uint32_t pid, size_t ret[STORY_LINES],
		     size_t *ret_more);

/* As story_remedy(). */
bool story_remedy_of_audit(const struct audit_record *look, size_t index, const char **ret_text,
			   const char **ret_page);

#endif
