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

/* All zero but max is an empty queue. */
struct line_queue {
	size_t max; /* bytes that may wait */
	struct buf waiting;
	size_t taken;	  /* bytes of waiting that the reader has */
	uint64_t dropped; /* since line_queue_end_gap() */
};

void line_queue_free(struct line_queue *queue);

/* False: the line, with its newline, was dropped. */
bool line_queue_add(struct line_queue *queue, const char *line, size_t size);

/* What waits, and how many bytes; the reader has taken n of them. */
const char *line_queue_at(const struct line_queue *queue, size_t *ret_size);
void line_queue_take(struct line_queue *queue, size_t n);

/* After a gap the queue is empty again: returns how many lines were dropped, which the next line is
 * to say, and takes lines again. 0: there is no gap, or it goes on. */
uint64_t line_queue_end_gap(struct line_queue *queue);

#endif
