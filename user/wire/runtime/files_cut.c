// SPDX-License-Identifier: Apache-2.0
/* Walks over JSON by its quotes and brackets, in one pass and without memory. */
#include "wire/runtime/files_cut.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref);

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip(struct ctrjson_cut *rest, size_t n)
{
	rest->at += n;
	rest->len -= n;
}

static void skip_space(struct ctrjson_cut *rest)
{
	while (rest->len && is_space(*rest->at))
		skip(rest, 1);
}

static bool skip_char(struct ctrjson_cut *rest, char c)
{
	skip_space(rest);
	if (!rest->len || *rest->at != c)
		return false;
	skip(rest, 1);
	return true;
}

/* Leaves rest behind the closing quote; false when there is none. */
static bool skip_string(struct ctrjson_cut *rest)
{
	for (size_t i = 1; i < rest->len; i++) {
		if (rest->at[i] == '\\') {
			i++;
		} else if (rest->at[i] == '"') {
			skip(rest, i + 1);
			return true;
		}
	}
	return false;
}

/* An object or an array: to where as many brackets are closed as were opened. */
static bool skip_nested(struct ctrjson_cut *rest)
{
	size_t depth = 0;

	while (rest->len) {
		switch (*rest->at) {
		case '"':
			if (!skip_string(rest))
				return false;
			continue;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			depth--;
			break;
		}
		skip(rest, 1);
		if (!depth)
			return true;
	}
	return false;
}

static bool ends_scalar(char c)
{
	switch (c) {
	case ',':
	case ':':
	case '"':
	case '{':
	case '}':
	case '[':
	case ']':
	case '\0':
		return true;
	default:
		return is_space(c);
	}
}

static bool skip_scalar(struct ctrjson_cut *rest)
{
	size_t n = 0;

	while (n < rest->len && !ends_scalar(rest->at[n]))
		n++;
	skip(rest, n);
	return n > 0;
}

static bool take_value(struct ctrjson_cut *rest, struct ctrjson_cut *ret)
{
	const char *from;
	bool ok;

	skip_space(rest);
	if (!rest->len)
		return false;
	from = rest->at;
	if (*from == '"')
		ok = skip_string(rest);
	else if (*from == '{' || *from == '[')
		ok = skip_nested(rest);
	else
		ok = skip_scalar(rest);
	if (ok)
		*ret = (struct ctrjson_cut){from, (size_t)(rest->at - from)};
	return ok;
}

static bool is_key(struct ctrjson_cut name, const char *key)
{
	size_t len = strlen(key);

	return name.len == len + 2 && memcmp(name.at + 1, key, len) == 0;
}

/* One member of an object, kept where it is the first of a name that is looked for. */
static bool take_member(struct ctrjson_cut *rest, const char *const *keys, size_t n,
			struct ctrjson_cut *found)
{
	struct ctrjson_cut name, value;

	if (!take_value(rest, &name) || *name.at != '"' || !skip_char(rest, ':') ||
	    !take_value(rest, &value))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!found[i].at && is_key(name, keys[i]))
			found[i] = value;
	return true;
}

bool ctrjson_cut_members(struct ctrjson_cut object, const char *const *keys, size_t n,
			 struct ctrjson_cut *ret)
{
	struct ctrjson_cut found[CTRJSON_CUT_KEYS_MAX] = {};

	if (n > CTRJSON_CUT_KEYS_MAX || !skip_char(&object, '{'))
		return false;
	if (!skip_char(&object, '}')) {
		do {
			if (!take_member(&object, keys, n, found))
				return false;
		} while (skip_char(&object, ','));
		if (!skip_char(&object, '}'))
			return false;
	}
	skip_space(&object);
	if (object.len)
		return false;
	memcpy(ret, found, n * sizeof(*ret));
	return true;
}

bool ctrjson_cut_enter(struct ctrjson_cut array, struct ctrjson_cut *ret)
{
	if (!skip_char(&array, '['))
		return false;
	*ret = array;
	return true;
}

bool ctrjson_cut_next(struct ctrjson_cut *rest, struct ctrjson_cut *ret)
{
	struct ctrjson_cut at = *rest, value;

	if (!take_value(&at, &value))
		return false;
	skip_char(&at, ',');
	*rest = at;
	*ret = value;
	return true;
}

/* A scalar alone: what is nested is never wanted, and would be built whole. */
static json_t *load(struct ctrjson_cut value)
{
	if (!value.len || *value.at == '{' || *value.at == '[')
		return NULL;
	return json_loadb(value.at, value.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

bool ctrjson_cut_string(struct ctrjson_cut value, char **ret)
{
	_cleanup_(cleanup_json_decref) json_t *json = load(value);
	char *copy;

	if (!json_is_string(json) || strlen(json_string_value(json)) != json_string_length(json))
		return false;
	copy = strdup(json_string_value(json));
	if (!copy)
		return false;
	*ret = copy;
	return true;
}

bool ctrjson_cut_int(struct ctrjson_cut value, int64_t *ret)
{
	_cleanup_(cleanup_json_decref) json_t *json = load(value);

	if (!json_is_integer(json))
		return false;
	*ret = json_integer_value(json);
	return true;
}

bool ctrjson_cut_null(struct ctrjson_cut value)
{
	return value.len == 4 && memcmp(value.at, "null", 4) == 0;
}
