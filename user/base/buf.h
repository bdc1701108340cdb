/* SPDX-License-Identifier: Apache-2.0 */
/* A growable buffer of bytes that text and JSON are written to.
 *
 * Errors stick: after the first failure every addition is a no-op, so that a writer adds without
 * looking and calls buf_error() once. What was added before the failure stays. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BUF_LIMIT_DEFAULT ((size_t)64 << 20)

/* All zero is an empty buffer with the default limit. data[len] is 0 whenever data is not NULL;
 * data moves when the buffer grows. limit bounds len; it is set before the first addition. */
struct buf {
	char *data;
	size_t len;
	size_t room;
	size_t limit;
	int error;
};

/* 0, -ENOMEM, -ENOBUFS when the limit was reached, or -EINVAL for a format that printf refuses. */
static inline int buf_error(const struct buf *buf)
{
	return buf->error;
}

/* The content as a string that belongs to the buffer; "" for an empty one, never NULL. */
static inline const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

/* Frees the memory and leaves an empty buffer with the same limit. Fits
 * `_cleanup_(buf_free) struct buf buf = {};`. */
void buf_free(struct buf *buf);

/* Empties the buffer and forgets the error; the memory is kept for what comes next. */
void buf_reset(struct buf *buf);

/* Cuts the content to its first len bytes; no-op when it is shorter. The error stays. */
void buf_truncate(struct buf *buf, size_t len);

/* Makes room for size bytes more; NULL on failure. For buf_reserve() alone. */
char *buf_grow(struct buf *buf, size_t size);

/* Returns where at least size bytes may be written, to be followed by buf_commit() with how many
 * were; NULL on failure. */
static inline char *buf_reserve(struct buf *buf, size_t size)
{
	if (size < buf->room - buf->len && !buf->error)
		return buf->data + buf->len;
	return buf_grow(buf, size);
}

static inline void buf_commit(struct buf *buf, size_t size)
{
	buf->len += size;
	buf->data[buf->len] = '\0';
}

static inline void buf_add(struct buf *buf, const void *data, size_t size)
{
	char *at = buf_reserve(buf, size);

	if (!at || size == 0)
		return;
	memcpy(at, data, size);
	buf_commit(buf, size);
}

static inline void buf_addc(struct buf *buf, char c)
{
	char *at = buf_reserve(buf, 1);

	if (!at)
		return;
	at[0] = c;
	buf_commit(buf, 1);
}

static inline void buf_adds(struct buf *buf, const char *string)
{
	buf_add(buf, string, strlen(string));
}

void buf_add_u64(struct buf *buf, uint64_t value);
void buf_add_i64(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
