// SPDX-License-Identifier: Apache-2.0
/* Finds where a JSON value ends, by brackets and quotes alone, in pieces. */
#include <errno.h>

#include "base/utf8.h"
#include "wire/kubernetes/pods_priv.h"

#define KNOWN_DEPTH 64
#define SPACES_MAX  4096

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

char podjson_peek(struct podjson_bytes *in)
{
	size_t left = SPACES_MAX;

	while (in->at < in->size && is_space(in->text[in->at]) && left-- > 0)
		in->at++;
	return in->at < in->size ? in->text[in->at] : '\0';
}

bool podjson_take(struct podjson_bytes *in, char c)
{
	if (podjson_peek(in) != c)
		return false;
	in->at++;
	return true;
}

/* Returns whether the string ended before limit. */
static bool scan_text(struct podjson_scan *scan, struct podjson_bytes *in, size_t limit)
{
	while (in->at < limit) {
		char c;

		if (scan->escaped) {
			scan->escaped = false;
			in->at++;
			continue;
		}
		in->at += utf8_plain(in->text + in->at, limit - in->at);
		if (in->at == limit)
			break;
		c = in->text[in->at++];
		scan->escaped = c == '\\';
		scan->text = c != '"';
		if (!scan->text)
			return true;
	}
	return false;
}

static int close_bracket(struct podjson_scan *scan, char c)
{
	if (scan->depth == 0)
		return -EBADMSG;
	if (scan->depth <= KNOWN_DEPTH && (scan->objects & 1) != (c == '}'))
		return -EBADMSG;
	/* The bits of brackets deeper than the word is wide were never pushed. */
	if (scan->depth <= KNOWN_DEPTH)
		scan->objects >>= 1;
	return --scan->depth == 0;
}

static void open_bracket(struct podjson_scan *scan, char c)
{
	if (scan->depth++ < KNOWN_DEPTH)
		scan->objects = scan->objects << 1 | (c == '{');
}

/* Of a number, true, false or null. */
static bool begins_bare(char c)
{
	return c == '-' || (c >= '0' && c <= '9') || c == 't' || c == 'f' || c == 'n';
}

/* One byte outside strings; 1: the value ended with it. */
static int scan_byte(struct podjson_scan *scan, char c)
{
	switch (c) {
	case '"':
		scan->text = true;
		return 0;
	case '{':
	case '[':
		open_bracket(scan, c);
		return 0;
	case '}':
	case ']':
		return close_bracket(scan, c);
	case ',':
	case ':':
		return scan->depth > 0 ? 0 : -EBADMSG;
	}
	if (scan->depth > 0)
		return 0;
	scan->bare = true;
	return begins_bare(c) ? 0 : -EBADMSG;
}

static bool ends_bare(char c)
{
	return is_space(c) || c == ',' || c == ']' || c == '}';
}

int podjson_scan(struct podjson_scan *scan, struct podjson_bytes *in, size_t limit)
{
	while (in->at < limit) {
		int r;

		if (scan->text) {
			if (scan_text(scan, in, limit) && scan->depth == 0)
				return 1;
			continue;
		}
		if (scan->bare) {
			if (ends_bare(in->text[in->at]))
				return 1;
			in->at++;
			continue;
		}
		r = scan_byte(scan, in->text[in->at++]);
		if (r != 0)
			return r;
	}
	return 0;
}
