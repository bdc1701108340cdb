// SPDX-License-Identifier: Apache-2.0
/* The JSON writer. */
#include "wire/json/writer.h"

#include <string.h>

#include "base/utf8.h"

static bool needs_comma(const struct buf *out)
{
	char last = out->len ? out->data[out->len - 1] : '\n';

	return last != '{' && last != '[' && last != ':' && last != '\n';
}

void jsonw_key(struct buf *out, const char *key, size_t len)
{
	char *at = buf_reserve(out, len + strlen(",\"\":")), *begin = at;

	if (!at)
		return;
	if (needs_comma(out))
		*at++ = ',';
	if (key) {
		*at++ = '"';
		at = (char *)memcpy(at, key, len) + len;
		*at++ = '"';
		*at++ = ':';
	}
	buf_commit(out, (size_t)(at - begin));
}

void jsonw_decimal(struct buf *out, const char *key, uint64_t units, unsigned int decimals)
{
	uint64_t one = 1;

	for (; decimals > 0 && units % 10 == 0; decimals--)
		units /= 10;
	for (unsigned int i = 0; i < decimals; i++)
		one *= 10;
	jsonw_begin(out, key);
	buf_add_u64(out, units / one);
	if (decimals == 0)
		return;
	buf_addc(out, '.');
	for (units %= one; one > 1; units %= one) {
		one /= 10;
		buf_addc(out, (char)('0' + units / one));
	}
}

static void add_unit(struct buf *out, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\',
			'u',
			hex[unit >> 12 & 0xf],
			hex[unit >> 8 & 0xf],
			hex[unit >> 4 & 0xf],
			hex[unit & 0xf]};

	buf_add(out, text, sizeof(text));
}

/* Adds the one character that stands at the beginning of value and needs a look; returns its
 * bytes. */
static size_t add_special(struct buf *out, const char *value, size_t size,
			  enum jsonw_invalid invalid)
{
	static const char letters[] = "\"\\\b\f\n\r\t";
	uint32_t code;
	size_t len = utf8_decode(value, size, &code);
	const char *letter;

	if (len == 0) {
		unsigned char byte = (unsigned char)*value;

		add_unit(out, invalid == JSONW_SURROGATE ? 0xdc00u + byte : 0xfffd);
		return 1;
	}
	letter = code && code < 0x80 ? strchr(letters, (int)code) : NULL;
	if (letter) {
		buf_addc(out, '\\');
		buf_addc(out, "\"\\bfnrt"[letter - letters]);
	} else if (!utf8_is_treacherous(code)) {
		buf_add(out, value, len);
	} else if (code <= 0xffff) {
		add_unit(out, code);
	} else {
		add_unit(out, 0xd800 + ((code - 0x10000) >> 10));
		add_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
	return len;
}

void jsonw_quote(struct buf *out, const char *value, size_t size, enum jsonw_invalid invalid)
{
	buf_addc(out, '"');
	while (size > 0) {
		size_t plain = utf8_plain(value, size);

		buf_add(out, value, plain);
		value += plain;
		size -= plain;
		if (size > 0) {
			size_t len = add_special(out, value, size, invalid);

			value += len;
			size -= len;
		}
	}
	buf_addc(out, '"');
}
