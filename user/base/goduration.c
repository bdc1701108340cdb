// SPDX-License-Identifier: Apache-2.0
/* Writes a duration from its end to its beginning: the smallest unit decides what comes before. */
#include "base/goduration.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

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

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit *unit_of(const char **at)
{
	/* The longer ones first: "m" begins "ms". */
	static const struct unit units[] = {
		{"ns", 1},  {"us", US}, {"\u00b5s", US}, {"\u03bcs", US},
		{"ms", MS}, {"s", S},	{"m", 60 * S},	 {"h", 3600 * S},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(*at, units[i].name, len) == 0) {
			*at += len;
			return &units[i];
		}
	}
	return NULL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits, and behind a point their share of the unit as far as 18 decimals go. */
static int read_part(const char **at, uint64_t *ret_ns)
{
	uint64_t whole = 0, fraction = 0, scale = 1;
	const char *begin = *at;
	const struct unit *unit;
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
	unit = *at > begin && digits ? unit_of(at) : NULL;
	if (!unit || __builtin_mul_overflow(whole, unit->ns, &whole))
		return -EBADMSG;
	fraction = (uint64_t)((double)fraction * ((double)unit->ns / (double)scale));
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
