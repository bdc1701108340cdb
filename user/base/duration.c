// SPDX-License-Identifier: Apache-2.0
/* Durations from and to text, people's and Go's. */
#include "base/duration.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"

static const struct {
	const char *name;
	uint64_t ns;
} UNITS[] = {
	/* A unit that begins another one comes after it. */
	{"ns", 1},	   {"us", 1000},    {"µs", 1000}, /* U+00B5 */
	{"\u03bcs", 1000},				  /* the Greek letter */
	{"ms", 1000000},   {"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns the unit's ns and moves *at behind it; 0 when none is there. */
static uint64_t take_unit(const char **at)
{
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		size_t len = strlen(UNITS[i].name);

		if (strncmp(*at, UNITS[i].name, len) == 0) {
			*at += len;
			return UNITS[i].ns;
		}
	}
	return 0;
}

static int take_whole(const char **at, uint64_t *ret)
{
	uint64_t value = 0;

	if (!is_digit(**at))
		return -EINVAL;
	for (; is_digit(**at); ++*at) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
			return -EINVAL;
	}
	*ret = value;
	return 0;
}

/* The value of the decimals, each digit rounded down to whole ns. */
static uint64_t decimals_ns(const char *digits, uint64_t unit)
{
	uint64_t ns = 0;

	for (uint64_t scale = 10; is_digit(*digits) && scale <= unit; scale *= 10)
		ns += unit * (uint64_t)(*digits++ - '0') / scale;
	return ns;
}

/* Reads one number and its unit; *ret_bare: there was no unit. */
static int take_term(const char **at, uint64_t *ret_ns, bool *ret_bare)
{
	const char *decimals = "";
	uint64_t whole, unit, ns;
	int r;

	r = take_whole(at, &whole);
	if (r < 0)
		return r;
	if (**at == '.') {
		decimals = ++*at;
		if (!is_digit(*decimals))
			return -EINVAL;
		while (is_digit(**at))
			++*at;
	}
	unit = take_unit(at);
	*ret_bare = unit == 0;
	if (unit == 0)
		unit = NS_PER_S;
	if (__builtin_mul_overflow(whole, unit, &ns) || ns > INT64_MAX)
		return -EINVAL;
	*ret_ns = ns + decimals_ns(decimals, unit);
	return 0;
}

int duration_parse(const char *text, uint64_t *ret_ns)
{
	const char *at = text;
	uint64_t sum = 0, ns;
	bool bare;
	int r;

	do {
		bool first = at == text;

		r = take_term(&at, &ns, &bare);
		if (r < 0)
			return r;
		if (bare && (!first || *at))
			return -EINVAL;
		sum += ns;
		if (sum > INT64_MAX)
			return -EINVAL;
	} while (*at);
	*ret_ns = sum;
	return 0;
}

/* The forms below a minute, from fine to coarse: the first that holds the rounded value is it. */
static const struct form {
	uint64_t step_ns; /* of the last digit */
	unsigned int below;
	unsigned int steps_per_unit;
	int decimals;
	const char *unit;
} FORMS[] = {
	{1, 1000, 1, 0, "ns"},
	{10, 1000, 100, 2, "µs"},
	{100, 1000, 10, 1, "µs"},
	{1000, 1000, 1, 0, "µs"},
	{10000, 1000, 100, 2, "ms"},
	{100000, 1000, 10, 1, "ms"},
	{1000000, 1000, 1, 0, "ms"},
	{NS_PER_S / 100, 1000, 100, 2, "s"},
	{NS_PER_S / 10, 600, 10, 1, "s"},
};

static uint64_t round_div(uint64_t value, uint64_t by)
{
	return value / by + (by > 1 && value % by >= by / 2);
}

static void format_long(uint64_t ns, char *ret)
{
	uint64_t seconds = round_div(ns, NS_PER_S);
	uint64_t minutes = round_div(seconds, 60);
	uint64_t hours = round_div(minutes, 60);

	if (seconds < 3600)
		snprintf(ret, DURATION_SIZE, "%um%02us", (unsigned int)(seconds / 60),
			 (unsigned int)(seconds % 60));
	else if (minutes < 6000)
		snprintf(ret, DURATION_SIZE, "%uh%02um", (unsigned int)(minutes / 60),
			 (unsigned int)(minutes % 60));
	else
		snprintf(ret, DURATION_SIZE, "%ud%02uh", (unsigned int)(hours / 24),
			 (unsigned int)(hours % 24));
}

const char *duration_format(uint64_t ns, char ret[static DURATION_SIZE])
{
	for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
		const struct form *form = &FORMS[i];
		uint64_t steps = round_div(ns, form->step_ns);
		unsigned int whole = (unsigned int)(steps / form->steps_per_unit);
		unsigned int part = (unsigned int)(steps % form->steps_per_unit);

		if (steps >= form->below)
			continue;
		if (form->decimals)
			snprintf(ret, DURATION_SIZE, "%u.%0*u%s", whole, form->decimals, part,
				 form->unit);
		else
			snprintf(ret, DURATION_SIZE, "%u%s", whole, form->unit);
		return ret;
	}
	format_long(ns, ret);
	return ret;
}

/* --- Go's -------------------------------------------------------------------------------------- */

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at - len, text, len);
	return at - len;
}

static char *put_number(char *at, uint64_t value)
{
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	return at;
}

/* value of the unit that has per parts of it. */
static char *put_decimal(char *at, uint64_t value, uint64_t per)
{
	char *end = at;

	for (uint64_t rest = value % per, left = per; left > 1; left /= 10, rest /= 10) {
		if (rest % 10 != 0 || at != end)
			*--at = (char)('0' + rest % 10);
	}
	if (at != end)
		*--at = '.';
	return put_number(at, value / per);
}

static char *put_short(char *at, uint64_t ns)
{
	if (ns < US)
		return put_number(put_text(at, "ns"), ns);
	if (ns < MS)
		return put_decimal(put_text(at, "\u00b5s"), ns, US);
	return put_decimal(put_text(at, "ms"), ns, MS);
}

static char *put_long(char *at, uint64_t ns)
{
	uint64_t minutes = ns / (60 * S);

	at = put_decimal(put_text(at, "s"), ns % (60 * S), S);
	if (minutes > 0)
		at = put_number(put_text(at, "m"), minutes % 60);
	if (minutes >= 60)
		at = put_number(put_text(at, "h"), minutes / 60);
	return at;
}

const char *goduration_format(int64_t ns, char ret[static GODURATION_SIZE])
{
	uint64_t value = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char *end = ret + GODURATION_SIZE - 1, *at = end;

	*end = '\0';
	if (value > 0 && value < S)
		at = put_short(at, value);
	else
		at = put_long(at, value);
	if (ns < 0)
		*--at = '-';
	return memmove(ret, at, (size_t)(end - at) + 1);
}

/* Digits, and behind a point their share of the unit as far as 18 decimals go. */
static int read_part(const char **at, uint64_t *ret_ns)
{
	uint64_t whole = 0, fraction = 0, scale = 1;
	const char *begin = *at;
	uint64_t unit = 0;
	size_t digits = 0;

	for (; is_digit(**at); ++*at, digits++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(**at - '0'), &whole))
			return -EBADMSG;
	if (**at == '.')
		for (++*at; is_digit(**at); ++*at, digits++) {
			if (scale >= 1000000000000000000)
				continue;
			fraction = fraction * 10 + (uint64_t)(**at - '0');
			scale *= 10;
		}
	if (*at > begin && digits)
		unit = take_unit(at);
	if (unit == 0 || __builtin_mul_overflow(whole, unit, &whole))
		return -EBADMSG;
	fraction = (uint64_t)((double)fraction * ((double)unit / (double)scale));
	return __builtin_add_overflow(whole, fraction, ret_ns) ? -EBADMSG : 0;
}

int goduration_parse(const char *text, int64_t *ret_ns)
{
	bool negative = *text == '-';
	const char *at = text + (negative || *text == '+');
	uint64_t sum = 0, part;

	if (strcmp(at, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	if (!*at)
		return -EBADMSG;
	while (*at)
		if (read_part(&at, &part) < 0 || __builtin_add_overflow(sum, part, &sum))
			return -EBADMSG;
	if (sum > (uint64_t)INT64_MAX + negative)
		return -EBADMSG;
	*ret_ns = negative ? (int64_t)-sum : (int64_t)sum;
	return 0;
}
