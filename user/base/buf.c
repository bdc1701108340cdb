// SPDX-License-Identifier: Apache-2.0
/* A growable buffer of bytes: doubling growth up to the limit. */
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 256

void buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){.limit = buf->limit};
}

void buf_reset(struct buf *buf)
{
	buf->error = 0;
	buf_truncate(buf, 0);
}

void buf_truncate(struct buf *buf, size_t len)
{
	if (len >= buf->len)
		return;
	buf->len = len;
	buf->data[len] = '\0';
}

static size_t limit_of(const struct buf *buf)
{
	size_t limit = buf->limit ? buf->limit : BUF_LIMIT_DEFAULT;

	return limit < SIZE_MAX / 2 ? limit : SIZE_MAX / 2;
}

/* The room never exceeds the limit by more than the byte for the NUL, so that what fits into the
 * room is within the limit. */
static int grow(struct buf *buf, size_t size)
{
	size_t limit = limit_of(buf);
	size_t room = buf->room ? buf->room : ROOM_MIN;
	char *data;

	if (size > limit - buf->len)
		return -ENOBUFS;
	while (room < buf->len + size + 1)
		room *= 2;
	if (room > limit + 1)
		room = limit + 1;

	data = realloc(buf->data, room);
	if (!data)
		return -ENOMEM;
	data[buf->len] = '\0';
	buf->data = data;
	buf->room = room;
	return 0;
}

char *buf_grow(struct buf *buf, size_t size)
{
	int r;

	if (buf->error)
		return NULL;
	r = grow(buf, size);
	if (r < 0) {
		buf->error = r;
		return NULL;
	}
	return buf->data + buf->len;
}

void buf_add_u64(struct buf *buf, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	buf_add(buf, digits + at, sizeof(digits) - at);
}

void buf_add_i64(struct buf *buf, int64_t value)
{
	if (value < 0)
		buf_addc(buf, '-');
	buf_add_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	char *at = buf_reserve(buf, 0);
	size_t room = buf->room - buf->len;
	int n;

	if (!at)
		return;
	va_copy(again, args);
	n = vsnprintf(at, room, format, again);
	va_end(again);
	if (n < 0)
		buf->error = -EINVAL;
	if (n < 0 || (size_t)n >= room) {
		*at = '\0';
		at = buf_reserve(buf, n < 0 ? 0 : (size_t)n);
		if (!at)
			return;
		vsnprintf(at, (size_t)n + 1, format, args);
	}
	buf_commit(buf, (size_t)n);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}
