// SPDX-License-Identifier: Apache-2.0
/* Reads one value out of a file of sections and assignments, as systemd's parser would. */
#include "wire/config/logind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define SPACE "\t\n\r "

static const struct {
	const char *name;
	uint64_t us;
} UNITS[] = {
	/* A unit that begins another one comes after it. */
	{"seconds", 1000000},
	{"second", 1000000},
	{"sec", 1000000},
	{"s", 1000000},
	{"minutes", 60000000},
	{"minute", 60000000},
	{"min", 60000000},
	{"months", 2629800000000},
	{"month", 2629800000000},
	{"M", 2629800000000},
	{"msec", 1000},
	{"ms", 1000},
	{"m", 60000000},
	{"hours", 3600000000},
	{"hour", 3600000000},
	{"hr", 3600000000},
	{"h", 3600000000},
	{"days", 86400000000},
	{"day", 86400000000},
	{"d", 86400000000},
	{"weeks", 604800000000},
	{"week", 604800000000},
	{"w", 604800000000},
	{"years", 31557600000000},
	{"year", 31557600000000},
	{"y", 31557600000000},
	{"usec", 1},
	{"us", 1},
	{"µs", 1},	/* U+00B5 */
	{"\u03bcs", 1}, /* the Greek letter */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Moves *at behind the unit, if one is there. */
static uint64_t take_unit(const char **at)
{
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		size_t len = strlen(UNITS[i].name);

		if (strncmp(*at, UNITS[i].name, len) == 0) {
			*at += len;
			return UNITS[i].us;
		}
	}
	return 0;
}

/* The digits of a whole number, which may be none; at most INT64_MAX. */
static int take_whole(const char **at, uint64_t *ret)
{
	uint64_t value = 0;

	if (**at == '+' && is_digit((*at)[1]))
		++*at;
	for (; is_digit(**at); ++*at)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value) ||
		    value > INT64_MAX)
			return -ERANGE;
	*ret = value;
	return 0;
}

static int add(uint64_t *sum, uint64_t us)
{
	if (us >= UINT64_MAX - *sum)
		return -ERANGE;
	*sum += us;
	return 0;
}

static int add_decimals(uint64_t *sum, const char *digits, uint64_t unit)
{
	int r = 0;

	for (unit /= 10; r == 0 && is_digit(*digits); unit /= 10)
		r = add(sum, (uint64_t)(*digits++ - '0') * unit);
	return r;
}

/* A number and its unit, and the spaces between them. */
static int take_term(const char **at, uint64_t *sum)
{
	const char *begin = *at, *decimals = "", *end;
	uint64_t whole, unit, us;
	int r = take_whole(at, &whole);

	if (r < 0)
		return r;
	if (**at == '.') {
		decimals = ++*at;
		if (!is_digit(*decimals))
			return -EINVAL;
		*at += strspn(*at, "0123456789");
	} else if (*at == begin) {
		return -EINVAL;
	}
	end = *at;
	*at += strspn(*at, SPACE);
	unit = take_unit(at);
	if (!unit && *at == end && *end)
		return -EINVAL;
	if (!unit)
		unit = 1000000;
	if (__builtin_mul_overflow(whole, unit, &us))
		return -ERANGE;
	r = add(sum, us);
	return r < 0 ? r : add_decimals(sum, decimals, unit);
}

int logindconf_span(const char *text, uint64_t *ret_us)
{
	static const char infinity[] = "infinity";
	const char *at = text + strspn(text, SPACE);
	uint64_t sum = 0;
	int r;

	if (strncmp(at, infinity, strlen(infinity)) == 0) {
		at += strlen(infinity);
		if (at[strspn(at, SPACE)])
			return -EINVAL;
		*ret_us = DELAYLIMIT_INFINITY;
		return 0;
	}
	if (!*at)
		return -EINVAL;
	while (*at) {
		if (*at == '-')
			return -ERANGE;
		r = take_term(&at, &sum);
		if (r < 0)
			return r;
		at += strspn(at, SPACE);
	}
	*ret_us = sum;
	return 0;
}

struct reader {
	struct buf line; /* with the lines before it that end with a backslash */
	bool going_on;
	bool in_login;
	struct logindconf_value *value;
};

/* Cuts the spaces off both ends. */
static char *strip(char *text)
{
	size_t len;

	text += strspn(text, SPACE);
	for (len = strlen(text); len > 0 && strchr(SPACE, text[len - 1]); len--)
		text[len - 1] = '\0';
	return text;
}

static void take_line(struct reader *r, char *line)
{
	char *equals;

	line = strip(line);
	if (*line == '[') {
		if (line[strlen(line) - 1] != ']')
			r->value->broken = true;
		r->in_login = strcmp(line, "[Login]") == 0;
		return;
	}
	equals = strchr(line, '=');
	if (!r->in_login || !equals)
		return;
	*equals = '\0';
	if (strcmp(strip(line), "InhibitDelayMaxSec") == 0 &&
	    logindconf_span(strip(equals + 1), &r->value->us) == 0)
		r->value->said = true;
}

static bool ends_with_backslash(const char *line)
{
	bool escaped = false;

	for (; *line; line++)
		escaped = !escaped && *line == '\\';
	return escaped;
}

static int add_line(struct reader *r, const char *line, size_t len)
{
	size_t space = 0;

	while (space < len && strchr(SPACE, line[space]))
		space++;
	/* Between the parts of a longer line, too. */
	if (space < len && strchr("#;", line[space]))
		return 0;
	buf_add(&r->line, line, len);
	if (buf_error(&r->line))
		return -ENOMEM;
	r->going_on = ends_with_backslash(buf_str(&r->line));
	if (r->going_on) {
		r->line.data[r->line.len - 1] = ' ';
		return 0;
	}
	if (r->line.len > 0)
		take_line(r, r->line.data);
	buf_reset(&r->line);
	return 0;
}

static size_t line_length(const char *text, size_t size)
{
	size_t len = 0;

	/* A NUL ends a line as well. */
	while (len < size && text[len] && text[len] != '\n' && text[len] != '\r')
		len++;
	return len;
}

int logindconf_read(const char *text, size_t size, struct logindconf_value *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct logindconf_value value = {.broken = size > LOGINDCONF_SIZE_MAX};
	struct reader reader = {.value = &value};
	size_t at = 0, len;
	int r = 0;

	if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0)
		at = strlen(mark);
	for (; r == 0 && at < size && !value.broken; at += len + 1) {
		len = line_length(text + at, size - at);
		r = add_line(&reader, text + at, len);
	}
	if (r == 0 && reader.going_on && !value.broken)
		take_line(&reader, reader.line.data);
	buf_free(&reader.line);
	if (r == 0)
		*ret = value;
	return r;
}

bool logindconf_is_dropin(const char *name)
{
	size_t len = strlen(name), suffix = strlen(".conf");

	return name[0] != '.' && len > suffix && strcmp(name + len - suffix, ".conf") == 0;
}

static int compare(const void *a, const void *b)
{
	const struct logindconf_file *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	if (order)
		return order;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

size_t logindconf_merge(struct logindconf_file *files, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(files, n, sizeof(*files), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(files[kept - 1].name, files[i].name) != 0)
			files[kept++] = files[i];
	return kept;
}
