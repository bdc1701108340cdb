/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON, compact, in the order of the calls.
 *
 * key is the member's name and is written as it is (a literal that needs no escape), NULL for an
 * element of an array and for the outermost value. Commas are put where the buffer's last byte asks
 * for one, so a value follows '{', '[', ':', a newline or nothing, or gets its comma. Errors stick
 * in the buffer. */
#ifndef WIRE_JSON_WRITER_H
#define WIRE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

/* Adds the comma, where one is due, and the member's name. The length of a literal is known when it
 * is compiled, hence the short functions below. */
void jsonw_key(struct buf *out, const char *key, size_t len);

static inline void jsonw_begin(struct buf *out, const char *key)
{
	jsonw_key(out, key, key ? strlen(key) : 0);
}

static inline void jsonw_object(struct buf *out, const char *key)
{
	jsonw_begin(out, key);
	buf_addc(out, '{');
}

static inline void jsonw_object_end(struct buf *out)
{
	buf_addc(out, '}');
}

static inline void jsonw_array(struct buf *out, const char *key)
{
	jsonw_begin(out, key);
	buf_addc(out, '[');
}

static inline void jsonw_array_end(struct buf *out)
{
	buf_addc(out, ']');
}

static inline void jsonw_null(struct buf *out, const char *key)
{
	jsonw_begin(out, key);
	buf_add(out, "null", 4);
}

static inline void jsonw_bool(struct buf *out, const char *key, bool value)
{
	jsonw_begin(out, key);
	buf_adds(out, value ? "true" : "false");
}

static inline void jsonw_u64(struct buf *out, const char *key, uint64_t value)
{
	jsonw_begin(out, key);
	buf_add_u64(out, value);
}

/* A time or duration; 0 is not known. */
static inline void jsonw_time(struct buf *out, const char *key, uint64_t ns)
{
	if (ns)
		jsonw_u64(out, key, ns);
	else
		jsonw_null(out, key);
}

static inline void jsonw_i64(struct buf *out, const char *key, int64_t value)
{
	jsonw_begin(out, key);
	buf_add_i64(out, value);
}

/* Begins it, or adds null and returns false. */
static inline bool jsonw_object_if(struct buf *out, const char *key, bool known)
{
	(known ? jsonw_object : jsonw_null)(out, key);
	return known;
}

static inline bool jsonw_array_if(struct buf *out, const char *key, bool known)
{
	(known ? jsonw_array : jsonw_null)(out, key);
	return known;
}

/* The same as above, or null for what is not known. TYPE: bool, u64 or i64. */
#define JSONW_IF(TYPE, value_type)                                                         \
	static inline void jsonw_##TYPE##_if(struct buf *out, const char *key, bool known, \
					     value_type value)                             \
	{                                                                                  \
		if (known)                                                                 \
			jsonw_##TYPE(out, key, value);                                     \
		else                                                                       \
			jsonw_null(out, key);                                              \
	}
JSONW_IF(bool, bool)
JSONW_IF(u64, uint64_t)
JSONW_IF(i64, int64_t)
#undef JSONW_IF

/* The number units / 10^decimals, exactly, without trailing zeros; decimals is at most 19. */
void jsonw_decimal(struct buf *out, const char *key, uint64_t units, unsigned int decimals);

/* What becomes of a byte that is not UTF-8. */
enum jsonw_invalid {
	JSONW_REPLACE,	 /* U+FFFD */
	JSONW_SURROGATE, /* the lone surrogate U+DC00 + byte, from which a reader gets it back */
};

/* Adds a quoted string and no comma: for writers that place their own. */
void jsonw_quote(struct buf *out, const char *value, size_t size, enum jsonw_invalid invalid);

/* value is any bytes, NULL writes null. What is not UTF-8 becomes U+FFFD, one for each byte;
 * controls, directions and what has no width are escaped, so that the text does no harm on a
 * terminal either. */
static inline void jsonw_strn(struct buf *out, const char *key, const char *value, size_t size)
{
	jsonw_begin(out, key);
	jsonw_quote(out, value, size, JSONW_REPLACE);
}

static inline void jsonw_str(struct buf *out, const char *key, const char *value)
{
	if (value)
		jsonw_strn(out, key, value, strlen(value));
	else
		jsonw_null(out, key);
}

#endif
