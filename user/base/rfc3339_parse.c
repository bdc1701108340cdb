// SPDX-License-Identifier: Apache-2.0
/* Calendar text to nanoseconds since 1970. */
#include "base/rfc3339.h"
#include "base/time.h"

#include <errno.h>
#include <stdbool.h>

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

/* Days since 1970; false for a date that is none. */
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
	seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
	if (__builtin_mul_overflow(seconds, (int64_t)NS_PER_S, &wall) ||
	    __builtin_add_overflow(wall, (int64_t)ns, &wall))
		return -ERANGE;
	*ret_wall_ns = wall;
	return 0;
}
