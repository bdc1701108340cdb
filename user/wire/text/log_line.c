// SPDX-License-Identifier: Apache-2.0
/* Writes lines of the log. */
#include "wire/text/log_line.h"

#include <string.h>

#include "base/rfc3339.h"
#include "base/utf8.h"

/* Escaped bytes; the rest of LOGLINE_MAX is room for some fields. */
#define TEXT_MAX  3072
#define VALUE_MAX 256
#define KEY_MAX	  32

/* Levels of syslog(3), which needs a header of the system. */
enum { LEVEL_ERR = 3, LEVEL_WARNING, LEVEL_NOTICE, LEVEL_INFO, LEVEL_DEBUG };

static const char ellipsis[] = "…";

/* "error" (and worse), "warning", "info" (and notice), "debug". */
static const char *level_name(int level)
{
	static const char *const names[] = {
		[LEVEL_WARNING] = "warning",
		[LEVEL_NOTICE] = "info",
		[LEVEL_INFO] = "info",
	};

	if (level <= LEVEL_ERR)
		return "error";
	return level >= LEVEL_DEBUG ? "debug" : names[level];
}

/* A code unit of JSON, which writes what is above U+FFFF as two. */
static void add_unit(struct buf *out, uint32_t unit)
{
	buf_printf(out, "\\u%04x", (unsigned int)unit);
}

static void add_code(struct buf *out, uint32_t code)
{
	if (code <= 0xffff) {
		add_unit(out, code);
		return;
	}
	add_unit(out, 0xd800 + ((code - 0x10000) >> 10));
	add_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

/* Adds the first character and returns how many bytes it has. */
static size_t add_character(struct buf *out, const char *at, size_t size, bool json)
{
	static const char plain[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
	uint32_t code = 0;
	size_t n = utf8_decode(at, size, &code);
	const char *short_form = n && code ? strchr(plain, (int)code) : NULL;

	if (n == 0 && json) {
		buf_adds(out, "\\ufffd");
	} else if (n == 0 || (!json && n == 1 && !short_form && utf8_is_treacherous(code))) {
		buf_printf(out, "\\x%02x", (unsigned int)(unsigned char)*at);
	} else if (code < 0x80 && short_form) {
		buf_addc(out, '\\');
		buf_addc(out, letters[short_form - plain]);
	} else if (utf8_is_treacherous(code)) {
		add_code(out, code);
	} else {
		buf_add(out, at, n);
	}
	return n ? n : 1;
}

/* Quoted, and of at most max bytes between the quotes. */
static void add_quoted(struct buf *out, const char *text, size_t size, size_t max, bool json)
{
	size_t end;

	buf_addc(out, '"');
	end = out->len + max - (sizeof(ellipsis) - 1);
	while (size > 0 && !buf_error(out)) {
		size_t before = out->len, n = add_character(out, text, size, json);

		if (out->len > end) {
			buf_truncate(out, before);
			buf_adds(out, ellipsis);
			break;
		}
		text += n;
		size -= n;
	}
	buf_addc(out, '"');
}

/* logfmt leaves the quotes off a word. */
static bool is_word(const char *value)
{
	size_t n = 0;

	for (; value[n]; n++)
		if (value[n] <= ' ' || value[n] > '~' || strchr("\"=\\", value[n]))
			return false;
	return n > 0 && n <= VALUE_MAX;
}

static void add_key(struct buf *out, const char *key, bool json)
{
	buf_printf(out, json ? ",\"%.*s\":" : " %.*s=", KEY_MAX, key);
}

static void add_field(struct buf *out, const struct logline_field *field, bool json)
{
	add_key(out, field->key, json);
	if (!json && is_word(field->value))
		buf_adds(out, field->value);
	else
		add_quoted(out, field->value, strlen(field->value), VALUE_MAX, json);
}

void logline_add(struct buf *out, const struct logline *line, bool json, bool prefixed)
{
	const char *level = level_name(line->level);
	size_t begin = out->len;
	char time[RFC3339_SIZE];

	if (prefixed)
		buf_printf(out, "<%d>",
			   line->level < 0	       ? 0
			   : line->level > LEVEL_DEBUG ? LEVEL_DEBUG
						       : line->level);
	rfc3339_format(line->wall_ns, time);
	buf_printf(out, json ? "{\"time\":\"%s\",\"level\":\"%s\"" : "time=%s level=%s", time,
		   level);
	add_key(out, "msg", json);
	add_quoted(out, line->text, line->text_len, TEXT_MAX, json);
	for (size_t i = 0; i < line->n_fields; i++) {
		if (out->len - begin + KEY_MAX + VALUE_MAX + 16 > LOGLINE_MAX)
			break;
		add_field(out, &line->fields[i], json);
	}
	buf_adds(out, json ? "}\n" : "\n");
}
