// SPDX-License-Identifier: Apache-2.0
/* Nanoseconds since 1970 to calendar text. */
#include "base/rfc3339.h"
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
