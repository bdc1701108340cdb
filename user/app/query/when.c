// SPDX-License-Identifier: Apache-2.0
#include "app/query/when.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/log/say.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "core/account/account.h"
#include "io/proc/clock.h"
static bool parse_local(const char *text, int64_t now_ns, int64_t *ret)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
					    "%H:%M:%S", "%H:%M"};
	time_t now = (time_t)(now_ns / NS_PER_S);

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm;
		const char *end;
		time_t at;

		localtime_r(&now, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, forms[i], &tm);
		at = end && !*end ? mktime(&tm) : -1;
		if (at < 0 || at > INT64_MAX / NS_PER_S)
			continue;
		*ret = (int64_t)at * NS_PER_S;
		return true;
	}
	return false;
}

static bool parse_word(const char *text, int64_t now_ns, int64_t *ret)
{
	time_t now = (time_t)(now_ns / NS_PER_S);
	bool yesterday = strcmp(text, "yesterday") == 0;
	struct tm tm;

	if (!yesterday && strcmp(text, "today") != 0)
		return false;
	localtime_r(&now, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= yesterday;
	tm.tm_isdst = -1;
	*ret = (int64_t)mktime(&tm) * NS_PER_S;
	return true;
}

bool when_parse(const char *text, int64_t *ret)
{
	int64_t now = (int64_t)clock_wall_ns();
	uint64_t ago;

	if (duration_parse(text + (*text == '-'), &ago) == 0 && ago <= (uint64_t)now) {
		*ret = now - (int64_t)ago;
		return true;
	}
	return rfc3339_parse(text, ret) == 0 || parse_word(text, now, ret) ||
	       parse_local(text, now, ret);
}

bool when_parse_boot(const char *text, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	return *text && !*end && !errno && strlen(text) < 8;
}

bool when_is_boot_id(const char *text)
{
	char id[ACCOUNT_BOOT_SIZE];

	account_boot(text, strlen(text), id);
	return strspn(id, "0123456789abcdef") == ACCOUNT_BOOT_SIZE - 1 &&
	       strspn(text, "0123456789abcdefABCDEF-") == strlen(text) && strlen(text) <= 36;
}

bool when_boot_index(long offset, size_t n, size_t *ret)
{
	if (offset > 0 ? (size_t)offset > n : (size_t)-offset >= n)
		return false;
	*ret = offset > 0 ? (size_t)offset - 1 : n - 1 - (size_t)-offset;
	return true;
}

static bool is_present(const char *boot)
{
	char present[37], id[ACCOUNT_BOOT_SIZE];

	return clock_boot_id(present) == 0 &&
	       strcmp(account_boot(present, strlen(present), id), boot) == 0;
}

int when_no_boot(long offset, size_t n, const char *last)
{
	if (n == 0)
		say("there is no boot %ld: there are no records", offset);
	else if (n == 1)
		say("there is no boot %ld: the records are of one boot%s", offset,
		    is_present(last) ? ", the present one" : "");
	else
		say("there is no boot %ld: the records are of %zu boots", offset, n);
	return 1;
}
