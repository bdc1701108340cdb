// SPDX-License-Identifier: Apache-2.0
#include "base/line_queue.h"

#include "base/cleanup.h"

/* Memory that an empty queue keeps for what comes next. */
#define KEPT 65536

void line_gap_add(struct line_gap *gap, uint64_t now_ns)
{
	if (!gap->lines++)
		gap->first_ns = now_ns;
	gap->last_ns = now_ns;
}

void line_queue_free(struct line_queue *queue)
{
	buf_free(&queue->waiting);
	queue->taken = 0;
}

bool line_queue_add(struct line_queue *queue, const char *line, size_t size, uint64_t now_ns)
{
	size_t waits = queue->waiting.len - queue->taken;

	if (queue->gap.lines || size > queue->max || waits > queue->max - size) {
		line_gap_add(&queue->gap, now_ns);
		return false;
	}
	/* What was taken goes once it is the larger part, so that each byte is moved once or so. */
	if (queue->taken > queue->waiting.len / 2) {
		memmove(queue->waiting.data, queue->waiting.data + queue->taken, waits);
		buf_truncate(&queue->waiting, waits);
		queue->taken = 0;
	}
	buf_add(&queue->waiting, line, size);
	if (!buf_error(&queue->waiting))
		return true;
	queue->waiting.error = 0;
	line_gap_add(&queue->gap, now_ns);
	return false;
}

const char *line_queue_at(const struct line_queue *queue, size_t *ret_size)
{
	*ret_size = queue->waiting.len - queue->taken;
	return buf_str(&queue->waiting) + queue->taken;
}

void line_queue_take(struct line_queue *queue, size_t n)
{
	if (n)
		queue->standing = (struct line_gap){};
	queue->taken += n;
	if (queue->taken < queue->waiting.len)
		return;
	if (queue->waiting.room > KEPT)
		buf_free(&queue->waiting);
	buf_reset(&queue->waiting);
	queue->taken = 0;
}

bool line_queue_end_gap(struct line_queue *queue, line_gap_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf line = {};
	struct line_gap gap = queue->gap;

	if (!gap.lines || queue->waiting.len > queue->taken)
		return false;
	fn(userdata, &line, &gap);
	queue->gap = (struct line_gap){};
	if (buf_error(&line) == 0 && line_queue_add(queue, buf_str(&line), line.len, gap.last_ns)) {
		queue->standing = gap;
		return true;
	}
	queue->gap = gap;
	return false;
}

void line_queue_discard(struct line_queue *queue, uint64_t lines, uint64_t now_ns)
{
	lines += queue->standing.lines;
	if (lines)
		line_gap_add(&queue->gap, now_ns);
	if (queue->standing.lines)
		queue->gap.first_ns = queue->standing.first_ns;
	queue->gap.lines += lines ? lines - 1 : 0;
	queue->standing = (struct line_gap){};
	line_queue_free(queue);
}
