// SPDX-License-Identifier: Apache-2.0
/* UTF-8 from untrusted sources. */
#include "base/utf8.h"

#include <endian.h>

static bool is_plain(char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

size_t utf8_plain(const char *bytes, size_t size)
{
	size_t at = 0;

	for (; size - at >= 8; at += 8) {
		unsigned int n;
		uint64_t word;

		memcpy(&word, bytes + at, 8);
		n = utf8_count_plain(le64toh(word));
		if (n < 8)
			return at + n;
	}
	while (at < size && is_plain(bytes[at]))
		at++;
	return at;
}

static bool is_tail(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t utf8_fit(const char *text, size_t len, size_t room)
{
	if (len <= room)
		return len;
	while (room > 0 && is_tail(text[room]))
		room--;
	return room;
}

size_t utf8_decode(const char *bytes, size_t size, uint32_t *ret_code)
{
	static const uint32_t first_of[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = (unsigned char)bytes[0];
	uint32_t code;
	size_t len;

	if (lead < 0x80) {
		*ret_code = lead;
		return 1;
	}
	len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (lead < 0xc0 || lead > 0xf7 || len > size)
		return 0;
	code = lead & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (!is_tail(bytes[i]))
			return 0;
		code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
	}
	if (code < first_of[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return len;
}

size_t utf8_encode(uint32_t code, char ret[static 4])
{
	static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = len; i-- > 1; code >>= 6)
		ret[i] = (char)(0x80 | (code & 0x3f));
	ret[0] = (char)(leads[len] | code);
	return len;
}

bool utf8_is_treacherous(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	    {0x34f, 0x34f},
		{0x61c, 0x61c},	    {0x115f, 0x1160},	{0x17b4, 0x17b5},   {0x180b, 0x180f},
		{0x200b, 0x200f},   {0x2028, 0x202e},	{0x2060, 0x206f},   {0x3164, 0x3164},
		{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},	{0xffa0, 0xffa0},   {0xfff0, 0xfffb},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

/* Letters of scripts that are written from left to right without marks, each of one look and one or
 * two columns; none that looks like punctuation. */
static bool is_letter(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0xc0, 0xd6},	  {0xd8, 0xf6},	    {0xf8, 0x1bf},    {0x1c4, 0x24f},
		{0x386, 0x386},	  {0x388, 0x38a},   {0x38c, 0x38c},   {0x38e, 0x3a1},
		{0x3a3, 0x3ff},	  {0x400, 0x481},   {0x48a, 0x52f},   {0x1e00, 0x1eff},
		{0x3041, 0x3096}, {0x30a1, 0x30fa}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff},
		{0xac00, 0xd7a3},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

static void add_hex(struct buf *buf, char letter, uint32_t value, unsigned int digits)
{
	char text[10] = {'\\', letter};

	for (unsigned int i = digits; i-- > 0; value >>= 4)
		text[2 + i] = "0123456789abcdef"[value & 0xf];
	buf_add(buf, text, 2 + digits);
}

static void add_shown(struct buf *buf, const char *bytes, size_t size, bool ascii)
{
	while (size > 0) {
		size_t plain = utf8_plain(bytes, size), len;
		uint32_t code;

		buf_add(buf, bytes, plain);
		bytes += plain;
		size -= plain;
		if (size == 0)
			break;
		len = utf8_decode(bytes, size, &code);
		if (len == 0)
			add_hex(buf, 'x', (unsigned char)*bytes, 2);
		else if (code == '\\')
			buf_add(buf, "\\\\", 2);
		else if (code < 0x20 || code == 0x7f)
			add_hex(buf, 'x', code, 2);
		else if (code < 0x7f || (!ascii && is_letter(code)))
			buf_add(buf, bytes, len);
		else if (code <= 0xffff)
			add_hex(buf, 'u', code, 4);
		else
			add_hex(buf, 'U', code, 8);
		len += len == 0;
		bytes += len;
		size -= len;
	}
}

void utf8_add_visible(struct buf *buf, const char *bytes, size_t size)
{
	add_shown(buf, bytes, size, true);
}

void utf8_add_readable(struct buf *buf, const char *text)
{
	add_shown(buf, text, strlen(text), false);
}

void utf8_add_without_letters(struct buf *buf, const char *text, size_t size)
{
	uint32_t code;

	for (size_t at = 0, len; at < size; at += len) {
		len = utf8_decode(text + at, size - at, &code);
		if (len > 1 && is_letter(code))
			add_shown(buf, text + at, len, true);
		else
			buf_add(buf, text + at, len += !len);
	}
}

/* Those that is_letter() has from U+3041 on take two. */
static size_t columns_of(char byte)
{
	return is_tail(byte) ? 0 : (unsigned char)byte >= 0xe3 ? 2 : 1;
}

size_t utf8_columns(const char *text, size_t size)
{
	size_t columns = 0;

	for (size_t i = 0; i < size; i++)
		columns += columns_of(text[i]);
	return columns;
}

size_t utf8_fit_columns(const char *text, size_t len, size_t columns)
{
	size_t n = 0;

	while (n < len && columns_of(text[n]) <= columns)
		columns -= columns_of(text[n++]);
	return n;
}
