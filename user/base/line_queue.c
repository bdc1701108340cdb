// SPDX-License-Identifier: Apache-2.0
#include "base/line_queue.h"

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
	queue->taken += n;
	if (queue->taken < queue->waiting.len)
		return;
	if (queue->waiting.room > KEPT)
		buf_free(&queue->waiting);
	buf_reset(&queue->waiting);
	queue->taken = 0;
}

bool line_queue_end_gap(struct line_queue *queue, struct line_gap *ret)
{
	if (!queue->gap.lines || queue->waiting.len > queue->taken)
		return false;
	*ret = queue->gap;
	queue->gap = (struct line_gap){};
	return true;
}
