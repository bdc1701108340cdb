/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole lines on their way to a reader that may be slow: bounded in bytes. A line that finds no
 * room is dropped and counted, and so is each further one until the reader has taken all that
 * waits, so that a slow reader has few gaps, each of known size.
 */
#ifndef BASE_LINE_QUEUE_H
#define BASE_LINE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Lines that are missing: how many, and the times at which the first and the last were dropped. */
struct line_gap {
	uint64_t lines;
	uint64_t first_ns, last_ns;
};

/* Adds the line that stands for those of a gap. */
typedef void (*line_gap_fn)(void *userdata, struct buf *out, const struct line_gap *gap);

void line_gap_add(struct line_gap *gap, uint64_t now_ns);

/* What became of lines so far. */
struct line_stats {
	uint64_t written; /* wholly out */
	uint64_t dropped;
	uint64_t waiting;
	int error; /* -errno since when nothing gets out; 0: all is well, or the reader is slow */
};

/* All zero but max is an empty queue. */
struct line_queue {
	size_t max; /* bytes that may wait */
	struct buf waiting;
	size_t taken;		  /* bytes of waiting that the reader has */
	struct line_gap gap;	  /* since line_queue_end_gap() */
	struct line_gap standing; /* the first line that waits stands for these; lines 0: for none */
};

void line_queue_free(struct line_queue *queue);

/* False: the line, with its newline, was dropped. */
bool line_queue_add(struct line_queue *queue, const char *line, size_t size, uint64_t now_ns);

/* What waits, and how many bytes; the reader has taken n of them, up to the end of a line where
 * standing is of interest. */
const char *line_queue_at(const struct line_queue *queue, size_t *ret_size);
void line_queue_take(struct line_queue *queue, size_t n);

/* After a gap, once the queue is empty, adds the line of fn that stands for what is missing, and
 * takes lines again. False: there is no gap, or it goes on. */
bool line_queue_end_gap(struct line_queue *queue, line_gap_fn fn, void *userdata);

/* Drops what waits, which is so many lines without the one that stands for others: a gap. */
void line_queue_discard(struct line_queue *queue, uint64_t lines, uint64_t now_ns);

#endif
