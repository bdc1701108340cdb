// SPDX-License-Identifier: Apache-2.0
#include "wire/kubernetes/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "wire/json/writer.h"

struct podyaml {
	yaml_parser_t parser;
	struct buf *out;
	struct podread_error *error;
	size_t depth;
	bool maps[PODYAML_DEPTH_MAX];  /* what is open, from the outermost on: a mapping */
	bool keyed[PODYAML_DEPTH_MAX]; /* a mapping's key is there, and its value follows */
};

static int refuse(struct podyaml *y, yaml_mark_t at, const char *problem)
{
	y->error->problem = problem;
	y->error->line = (int)at.line + 1;
	y->error->column = (int)at.column + 1;
	return -EBADMSG;
}

static bool is_key(const struct podyaml *y)
{
	return y->depth && y->maps[y->depth - 1] && !y->keyed[y->depth - 1];
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

/* A number of JSON: no leading zeros, and digits on both sides of a point. */
static bool is_number(const char *s)
{
	size_t digits;

	s += *s == '-';
	digits = strspn(s, "0123456789");
	if (!digits || (*s == '0' && digits > 1))
		return false;
	s += digits;
	if (*s == '.') {
		digits = strspn(s + 1, "0123456789");
		if (!digits)
			return false;
		s += 1 + digits;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		digits = strspn(s, "0123456789");
		if (!digits)
			return false;
		s += digits;
	}
	return !*s;
}

/* 0644 and 0x1f, as defaultMode is often written. */
static bool read_based(const char *s, int64_t *ret)
{
	bool hex = strncmp(s, "0x", 2) == 0;
	const char *digits = hex ? s + 2 : s + 1;
	char *end;

	if (*s != '0' || !*digits ||
	    digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "01234567")])
		return false;
	errno = 0;
	*ret = strtoll(digits, &end, hex ? 16 : 8);
	return !errno;
}

static void add_plain(struct buf *out, const char *text, size_t len)
{
	static const char *const nothing[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes",
					  "YES",  "on",	  "On",	  "ON",	 NULL};
	static const char *const no[] = {"false", "False", "FALSE", "no",  "No",
					 "NO",	  "off",   "Off",   "OFF", NULL};
	int64_t number;

	if (is_one_of(text, nothing)) {
		jsonw_null(out, NULL);
	} else if (is_one_of(text, yes) || is_one_of(text, no)) {
		jsonw_bool(out, NULL, is_one_of(text, yes));
	} else if (is_number(text)) {
		jsonw_begin(out, NULL);
		buf_add(out, text, len);
	} else if (read_based(text, &number)) {
		jsonw_i64(out, NULL, number);
	} else {
		jsonw_strn(out, NULL, text, len);
	}
}

/* The key or the value that begins is what the innermost mapping waited for. */
static void count(struct podyaml *y)
{
	if (!y->depth || !y->maps[y->depth - 1])
		return;
	y->keyed[y->depth - 1] = !y->keyed[y->depth - 1];
}

static int take_scalar(struct podyaml *y, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

	if (event->data.scalar.tag)
		return refuse(y, event->start_mark, "a tag (!) is not read; leave it out");
	if (is_key(y)) {
		if (plain && strcmp(text, "<<") == 0)
			return refuse(y, event->start_mark,
				      "a merge key (<<) is not read; write the keys out");
		jsonw_strn(y->out, NULL, text, len);
		buf_addc(y->out, ':');
	} else if (plain && strlen(text) == len) {
		add_plain(y->out, text, len);
	} else {
		jsonw_strn(y->out, NULL, text, len);
	}
	count(y);
	return 0;
}

static int open_node(struct podyaml *y, const yaml_event_t *event, bool map, const void *tag)
{
	if (is_key(y))
		return refuse(y, event->start_mark, "a key is a list or a mapping");
	if (tag)
		return refuse(y, event->start_mark, "a tag (!) is not read; leave it out");
	if (y->depth == PODYAML_DEPTH_MAX)
		return refuse(y, event->start_mark, "it is nested too deeply");
	count(y);
	jsonw_begin(y->out, NULL);
	buf_addc(y->out, map ? '{' : '[');
	y->maps[y->depth] = map;
	y->keyed[y->depth++] = false;
	return 0;
}

/* 1: the text is over. */
static int take_event(struct podyaml *y, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_ALIAS_EVENT:
		return refuse(y, event->start_mark,
			      "an alias (*) is not read; write the value out");
	case YAML_SCALAR_EVENT:
		return take_scalar(y, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(y, event, false, event->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return open_node(y, event, true, event->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		buf_addc(y->out, y->maps[--y->depth] ? '}' : ']');
		return 0;
	case YAML_DOCUMENT_END_EVENT:
		buf_addc(y->out, '\n');
		return 0;
	default:
		return 0;
	}
}

static int fail(struct podyaml *y)
{
	if (y->parser.error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (y->parser.error != YAML_READER_ERROR)
		return refuse(y, y->parser.problem_mark, y->parser.problem);
	/* For bytes that are no character libyaml does not say the line. */
	y->error->problem = y->parser.problem;
	return -EBADMSG;
}

/* What holds nothing: a comment between two documents. */
static void drop_null(struct buf *out, size_t from)
{
	if (!buf_error(out) && strcmp(buf_str(out) + from, "null\n") == 0)
		buf_truncate(out, from);
}

static int read_events(struct podyaml *y)
{
	size_t from = y->out->len;
	int r = 0;

	while (r == 0) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		if (!yaml_parser_parse(&y->parser, &event))
			return fail(y);
		r = take_event(y, &event);
		if (event.type == YAML_DOCUMENT_END_EVENT) {
			drop_null(y->out, from);
			from = y->out->len;
		}
		if (buf_error(y->out))
			return buf_error(y->out);
	}
	return r < 0 ? r : 0;
}

int podyaml_to_json(const char *text, size_t size, struct buf *out, struct podread_error *ret_error)
{
	struct podyaml y = {.out = out, .error = ret_error};
	int r;

	if (!yaml_parser_initialize(&y.parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&y.parser, (const unsigned char *)text, size);
	r = read_events(&y);
	yaml_parser_delete(&y.parser);
	return r;
}
