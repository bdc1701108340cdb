// SPDX-License-Identifier: Apache-2.0
/* Nanoseconds since 1970 to calendar text, and back. */
#include "base/rfc3339.h"

#include <errno.h>
#include <stdbool.h>

#include "base/time.h"

#define S_PER_DAY 86400

#define DAYS_PER_YEAR	     365
#define DAYS_PER_4_YEARS     (4 * DAYS_PER_YEAR + 1)
#define DAYS_PER_CENTURY     (25 * DAYS_PER_4_YEARS - 1)
#define DAYS_PER_4_CENTURIES (4 * DAYS_PER_CENTURY + 1)
/* From 1600-03-01 to 1970-01-01; before the earliest int64_t of nanoseconds. */
#define DAYS_1600_TO_1970    135080

static int64_t floor_div(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

static unsigned int at_most(unsigned int value, unsigned int limit)
{
	return value < limit ? value : limit;
}

struct date {
	unsigned int year, month, day;
};

/* Years are counted from March, which puts the leap day at the end of the year, of the four years,
 * and of the four centuries. The last day of each such period does not begin another century or
 * year: hence at_most(). */
static struct date date_of(unsigned int days)
{
	static const unsigned int before[] = {0,   31,	61,  92,  122, 153,
					      184, 214, 245, 275, 306, 337};
	unsigned int cycles = days / DAYS_PER_4_CENTURIES;
	unsigned int centuries, fours, years, month = 11;

	days %= DAYS_PER_4_CENTURIES;
	centuries = at_most(days / DAYS_PER_CENTURY, 3);
	days -= centuries * DAYS_PER_CENTURY;
	fours = days / DAYS_PER_4_YEARS;
	days %= DAYS_PER_4_YEARS;
	years = at_most(days / DAYS_PER_YEAR, 3);
	days -= years * DAYS_PER_YEAR;

	while (before[month] > days)
		month--;
	return (struct date){
		.year = 1600 + cycles * 400 + centuries * 100 + fours * 4 + years + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = days - before[month] + 1,
	};
}

static char *put(char *at, unsigned int value, unsigned int width, char after)
{
	for (unsigned int i = width; i-- > 0; value /= 10)
		at[i] = (char)('0' + value % 10);
	at[width] = after;
	return at + width + 1;
}

const char *rfc3339_format(int64_t wall_ns, char ret[static RFC3339_SIZE])
{
	int64_t seconds = floor_div(wall_ns, NS_PER_S);
	int64_t days = floor_div(seconds, S_PER_DAY);
	/* Modulo 2^64: seconds * NS_PER_S may lie below INT64_MIN. */
	unsigned int ns = (unsigned int)((uint64_t)wall_ns - (uint64_t)seconds * NS_PER_S);
	unsigned int second = (unsigned int)(seconds - days * S_PER_DAY);
	struct date date = date_of((unsigned int)(days + DAYS_1600_TO_1970));
	char *at = ret;

	at = put(at, date.year, 4, '-');
	at = put(at, date.month, 2, '-');
	at = put(at, date.day, 2, 'T');
	at = put(at, second / 3600, 2, ':');
	at = put(at, second / 60 % 60, 2, ':');
	at = put(at, second % 60, 2, '.');
	at = put(at, ns, 9, 'Z');
	*at = '\0';
	return ret;
}

/* --- from text --------------------------------------------------------------------------------- */

/* Reads that many digits and the character after them, if any is wanted. */
static bool take(const char **at, unsigned int digits, char after, unsigned int *ret)
{
	unsigned int value = 0;

	for (; digits > 0; digits--, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		value = value * 10 + (unsigned int)(**at - '0');
	}
	if (after && *(*at)++ != after)
		return false;
	*ret = value;
	return true;
}

static bool is_leap(unsigned int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since 1970; false for an invalid date. */
static bool days_of(unsigned int year, unsigned int month, unsigned int day, int64_t *ret)
{
	static const unsigned int before[] = {0,   31,	59,  90,  120, 151, 181,
					      212, 243, 273, 304, 334, 365};
	bool leap = is_leap(year);
	unsigned int past;

	if (year == 0 || month < 1 || month > 12 || day < 1)
		return false;
	if (day > before[month] - before[month - 1] + (leap && month == 2))
		return false;
	past = year - 1;
	*ret = (int64_t)past * 365 + past / 4 - past / 100 + past / 400 + before[month - 1] +
	       (leap && month > 2) + day - 1 - 719162;
	return true;
}

/* ".123456789" or nothing. */
static bool take_fraction(const char **at, unsigned int *ret_ns)
{
	unsigned int ns = 0, unit = NS_PER_S / 10;

	*ret_ns = 0;
	if (**at != '.')
		return true;
	(*at)++;
	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
		ns += (unsigned int)(**at - '0') * unit;
	*ret_ns = ns;
	return true;
}

/* "Z", or the hours and minutes that local time is ahead, to the end of the text. */
static bool take_offset(const char *at, int64_t *ret_s)
{
	unsigned int hour, minute;
	char sign = *at++;

	*ret_s = 0;
	if (sign == 'Z' || sign == 'z')
		return *at == '\0';
	if ((sign != '+' && sign != '-') || !take(&at, 2, ':', &hour) ||
	    !take(&at, 2, '\0', &minute) || *at || hour > 23 || minute > 59)
		return false;
	*ret_s = (sign == '-' ? -1 : 1) * (int64_t)(hour * 3600 + minute * 60);
	return true;
}

int rfc3339_parse(const char *text, int64_t *ret_wall_ns)
{
	unsigned int year, month, day, hour, minute, second, ns;
	int64_t days, offset, seconds, wall;
	const char *at = text;

	if (!take(&at, 4, '-', &year) || !take(&at, 2, '-', &month) || !take(&at, 2, '\0', &day) ||
	    (*at != 'T' && *at != 't'))
		return -EINVAL;
	at++;
	/* A leap second is the one after it. */
	if (!take(&at, 2, ':', &hour) || !take(&at, 2, ':', &minute) ||
	    !take(&at, 2, '\0', &second) || hour > 23 || minute > 59 || second > 60 ||
	    !take_fraction(&at, &ns) || !take_offset(at, &offset) ||
	    !days_of(year, month, day, &days))
		return -EINVAL;
	seconds = days * S_PER_DAY + hour * 3600 + minute * 60 + second - offset;
	if (__builtin_mul_overflow(seconds, (int64_t)NS_PER_S, &wall) ||
	    __builtin_add_overflow(wall, (int64_t)ns, &wall))
		return -ERANGE;
	*ret_wall_ns = wall;
	return 0;
}
