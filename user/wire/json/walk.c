// SPDX-License-Identifier: Apache-2.0
/* Finds where JSON values end, in pieces or whole, and members and elements by that. */
#include "wire/json/walk.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/utf8.h"

#define KNOWN_DEPTH 64
#define SPACES_MAX  4096

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

char jsonwalk_peek(struct jsonwalk *in)
{
	size_t left = SPACES_MAX;

	while (in->at < in->size && is_space(in->text[in->at]) && left-- > 0)
		in->at++;
	return in->at < in->size ? in->text[in->at] : '\0';
}

bool jsonwalk_take(struct jsonwalk *in, char c)
{
	if (jsonwalk_peek(in) != c)
		return false;
	in->at++;
	return true;
}

/* Returns whether the string ended before limit. */
static bool scan_text(struct jsonwalk_scan *scan, struct jsonwalk *in, size_t limit)
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

static int close_bracket(struct jsonwalk_scan *scan, char c)
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

static void open_bracket(struct jsonwalk_scan *scan, char c)
{
	if (scan->depth++ < KNOWN_DEPTH)
		scan->objects = scan->objects << 1 | (c == '{');
}

/* A number, true, false or null. */
static bool begins_bare(char c)
{
	return c == '-' || (c >= '0' && c <= '9') || c == 't' || c == 'f' || c == 'n';
}

/* One byte outside strings; 1: the value ended with it. */
static int scan_byte(struct jsonwalk_scan *scan, char c)
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

/* 1: such a value has ended before c. */
static int scan_bare(char c)
{
	if (is_space(c) || c == ',' || c == ']' || c == '}')
		return 1;
	return c == '"' || c == ':' || c == '[' || c == '{' ? -EBADMSG : 0;
}

int jsonwalk_scan(struct jsonwalk_scan *scan, struct jsonwalk *in, size_t limit)
{
	while (in->at < limit) {
		int r;

		if (scan->text) {
			if (scan_text(scan, in, limit) && scan->depth == 0)
				return 1;
			continue;
		}
		if (scan->bare) {
			r = scan_bare(in->text[in->at]);
			in->at += r == 0;
		} else {
			r = scan_byte(scan, in->text[in->at++]);
		}
		if (r != 0)
			return r;
	}
	return 0;
}

/* Counts the marks that begin or separate values. */
size_t jsonwalk_count(const char *text, size_t size)
{
	struct jsonwalk in = {.text = text, .size = size};
	struct jsonwalk_scan scan = {};
	size_t count = 1;

	while (in.at < size) {
		char c;

		if (scan.text) {
			scan_text(&scan, &in, size);
			continue;
		}
		c = text[in.at++];
		scan.text = c == '"';
		count += c == '{' || c == '[' || c == ',';
	}
	return count;
}

bool jsonwalk_next(struct jsonwalk *in, struct jsonwalk_value *ret)
{
	struct jsonwalk_scan scan = {};
	size_t from;
	int r;

	jsonwalk_peek(in);
	from = in->at;
	r = jsonwalk_scan(&scan, in, in->size);
	if (r < 0 || (r == 0 && !scan.bare))
		return false;
	*ret = (struct jsonwalk_value){in->text + from, in->at - from};
	return true;
}

static struct jsonwalk walk_of(struct jsonwalk_value value)
{
	return (struct jsonwalk){.text = value.at, .size = value.len};
}

static bool is_key(struct jsonwalk_value name, const char *key)
{
	size_t len = strlen(key);

	return name.len == len + 2 && memcmp(name.at + 1, key, len) == 0;
}

/* One member of an object, kept where it is the first of a name that is looked for. */
static bool take_member(struct jsonwalk *rest, const char *const *keys, size_t n,
			struct jsonwalk_value *found)
{
	struct jsonwalk_value name, value;

	if (!jsonwalk_next(rest, &name) || *name.at != '"' || !jsonwalk_take(rest, ':') ||
	    !jsonwalk_next(rest, &value))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!found[i].at && is_key(name, keys[i]))
			found[i] = value;
	return true;
}

bool jsonwalk_members(struct jsonwalk_value object, const char *const *keys, size_t n,
		      struct jsonwalk_value *ret)
{
	struct jsonwalk_value found[JSONWALK_KEYS_MAX] = {};
	struct jsonwalk rest = walk_of(object);

	if (n > JSONWALK_KEYS_MAX || !jsonwalk_take(&rest, '{'))
		return false;
	if (!jsonwalk_take(&rest, '}')) {
		do {
			if (!take_member(&rest, keys, n, found))
				return false;
		} while (jsonwalk_take(&rest, ','));
		if (!jsonwalk_take(&rest, '}'))
			return false;
	}
	jsonwalk_peek(&rest);
	if (rest.at < rest.size)
		return false;
	memcpy(ret, found, n * sizeof(*ret));
	return true;
}

bool jsonwalk_enter(struct jsonwalk_value array, struct jsonwalk *ret)
{
	struct jsonwalk rest = walk_of(array);

	if (!jsonwalk_take(&rest, '['))
		return false;
	*ret = rest;
	return true;
}

bool jsonwalk_element(struct jsonwalk *rest, struct jsonwalk_value *ret)
{
	if (!jsonwalk_next(rest, ret))
		return false;
	jsonwalk_take(rest, ',');
	return true;
}

/* A scalar alone: what is nested is never wanted, and would be built whole. */
static json_t *load(struct jsonwalk_value value)
{
	if (!value.len || *value.at == '{' || *value.at == '[')
		return NULL;
	return json_loadb(value.at, value.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

bool jsonwalk_string(struct jsonwalk_value value, char **ret)
{
	json_auto_t *json = load(value);
	char *copy;

	if (!json_is_string(json) || strlen(json_string_value(json)) != json_string_length(json))
		return false;
	copy = strdup(json_string_value(json));
	if (!copy)
		return false;
	*ret = copy;
	return true;
}

bool jsonwalk_int(struct jsonwalk_value value, int64_t *ret)
{
	json_auto_t *json = load(value);

	if (!json_is_integer(json))
		return false;
	*ret = json_integer_value(json);
	return true;
}

bool jsonwalk_is_null(struct jsonwalk_value value)
{
	return value.len == 4 && memcmp(value.at, "null", 4) == 0;
}
