// SPDX-License-Identifier: Apache-2.0
/* Claims about core/names/credential: when it is warned of, and how often. */
#include "core/names/credential.h"

#include <stdint.h>

#include "lib/claim.h"

#define DAY    ((int64_t)CREDENTIAL_DAY_S)
#define HOUR   ((int64_t)3600)
#define ISSUED ((int64_t)1800000000)
#define NS     1000000000ull

static void test_begins(void **state)
{
	static const struct {
		int64_t issued, expires, window; /* window 0: it does not expire */
	} table[] = {
		{ISSUED, ISSUED + 365 * DAY, DAY},
		{ISSUED, ISSUED + 10 * DAY, DAY},
		{ISSUED, ISSUED + 10 * DAY - 10, DAY - 1},
		{ISSUED, ISSUED + DAY, DAY / 10},
		{ISSUED, ISSUED + HOUR, 360},
		{ISSUED, ISSUED + 600, 60},
		{ISSUED, ISSUED + 1, 1},
		/* The beginning is not known, or is none. */
		{0, ISSUED + HOUR, DAY},
		{-5, ISSUED + HOUR, DAY},
		{INT64_MIN, ISSUED, DAY},
		{ISSUED, ISSUED, DAY},
		{ISSUED + 1, ISSUED, DAY},
		{INT64_MAX, ISSUED, DAY},
		{1, CREDENTIAL_LAST_S, DAY},
		{0, 1, DAY},
		/* No time that it expires at. */
		{ISSUED, 0, 0},
		{ISSUED, -1, 0},
		{ISSUED, INT64_MIN, 0},
		{ISSUED, CREDENTIAL_LAST_S + 1, 0},
		{ISSUED, INT64_MAX, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct credential c = {CREDENTIAL_CERTIFICATE, 1, 1};
		int64_t end = table[i].expires;
		bool known = credential_set(CREDENTIAL_TOKEN, table[i].issued, end, &c);

		print_message("# row %zu\n", i);
		assert_int_equal(known, table[i].window != 0);
		assert_int_equal(c.kind, known ? CREDENTIAL_TOKEN : CREDENTIAL_NONE);
		assert_int_equal(c.expires_s, known ? end : 0);
		assert_int_equal(c.warn_s, known ? end - table[i].window : 0);
		if (!known) {
			assert_int_equal(credential_judge(&c, INT64_MAX), CREDENTIAL_UNKNOWN);
			continue;
		}
		assert_int_equal(credential_judge(&c, INT64_MIN), CREDENTIAL_VALID);
		assert_int_equal(credential_judge(&c, c.warn_s - 1), CREDENTIAL_VALID);
		assert_int_equal(credential_judge(&c, c.warn_s), CREDENTIAL_EXPIRING);
		assert_int_equal(credential_judge(&c, end - 1), CREDENTIAL_EXPIRING);
		assert_int_equal(credential_judge(&c, end), CREDENTIAL_EXPIRED);
		assert_int_equal(credential_judge(&c, INT64_MAX), CREDENTIAL_EXPIRED);
	}
}

/* The latest moment at which the kubelet renews either: a fifth of a token's life and ten seconds
 * before its end, 90 s until the pod's volume has it; nine tenths of a certificate's life. */
static void test_kubelet(void **state)
{
	struct credential c;

	credential_set(CREDENTIAL_TOKEN, ISSUED, ISSUED + HOUR, &c);
	assert_int_equal(credential_judge(&c, ISSUED + HOUR * 4 / 5 + 90), CREDENTIAL_VALID);
	credential_set(CREDENTIAL_CERTIFICATE, ISSUED, ISSUED + 365 * DAY, &c);
	assert_int_equal(credential_judge(&c, ISSUED + 365 * DAY * 9 / 10), CREDENTIAL_VALID);
}

static void test_first(void **state)
{
	struct credential none = {}, early, late;

	credential_set(CREDENTIAL_TOKEN, ISSUED, ISSUED + HOUR, &early);
	credential_set(CREDENTIAL_CERTIFICATE, ISSUED, ISSUED + DAY, &late);
	assert_ptr_equal(credential_first(&early, &late), &early);
	assert_ptr_equal(credential_first(&late, &early), &early);
	assert_ptr_equal(credential_first(&none, &late), &late);
	assert_ptr_equal(credential_first(&late, &none), &late);
	assert_int_equal(credential_first(&none, &none)->kind, CREDENTIAL_NONE);
}

/* Looks once a minute from now on until the end; how often each was to be logged. */
static void look(struct credential_watch *w, const struct credential *c, int64_t from, int64_t to,
		 unsigned int counts[static CREDENTIAL_RENEWED + 1])
{
	for (int64_t now = from; now < to; now += 60)
		counts[credential_look(w, c, now, (uint64_t)now * NS)]++;
}

static void test_year(void **state)
{
	unsigned int counts[CREDENTIAL_RENEWED + 1] = {};
	struct credential_watch w = {};
	int64_t end = ISSUED + 365 * DAY;
	struct credential c;

	credential_set(CREDENTIAL_CERTIFICATE, ISSUED, end, &c);
	look(&w, &c, ISSUED, end - DAY, counts);
	assert_int_equal(counts[CREDENTIAL_EXPIRES_SOON], 0);
	look(&w, &c, end - DAY, end, counts);
	assert_int_equal(counts[CREDENTIAL_EXPIRES_SOON], 1);
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 0);
	look(&w, &c, end, end + 60, counts);
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 1);
	look(&w, &c, end + 60, end + 3 * DAY, counts);
	assert_int_equal(counts[CREDENTIAL_EXPIRES_SOON], 1);
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 3);
	assert_int_equal(counts[CREDENTIAL_RENEWED], 0);
	credential_set(CREDENTIAL_CERTIFICATE, end, end + 365 * DAY, &c);
	look(&w, &c, end + 3 * DAY, end + 10 * DAY, counts);
	assert_int_equal(counts[CREDENTIAL_RENEWED], 1);
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 3);
}

/* Renewed in the last minute of each hour, by somebody who could do it earlier. */
static void test_flapping(void **state)
{
	unsigned int counts[CREDENTIAL_RENEWED + 1] = {};
	struct credential_watch w = {};
	struct credential c;

	for (int64_t at = ISSUED; at < ISSUED + 10 * DAY; at += HOUR) {
		credential_set(CREDENTIAL_TOKEN, at, at + HOUR, &c);
		look(&w, &c, at, at + HOUR, counts);
	}
	assert_int_equal(counts[CREDENTIAL_EXPIRES_SOON], 10);
	assert_int_equal(counts[CREDENTIAL_RENEWED], 10);
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 0);
}

/* Each one that runs out unrenewed is an outage of its own. */
static void test_outages(void **state)
{
	unsigned int counts[CREDENTIAL_RENEWED + 1] = {};
	struct credential_watch w = {};
	struct credential c;

	for (int64_t at = ISSUED; at < ISSUED + DAY; at += 2 * HOUR) {
		credential_set(CREDENTIAL_TOKEN, at, at + HOUR, &c);
		look(&w, &c, at, at + 2 * HOUR, counts);
	}
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 12);
	assert_int_equal(counts[CREDENTIAL_EXPIRES_SOON], 1);
	assert_int_equal(counts[CREDENTIAL_RENEWED], 11);
}

/* A file that cannot be read for a moment, or an opaque token, is no renewal. */
static void test_unknown(void **state)
{
	unsigned int counts[CREDENTIAL_RENEWED + 1] = {};
	struct credential none = {}, c;
	struct credential_watch w = {};

	credential_set(CREDENTIAL_TOKEN, ISSUED, ISSUED + HOUR, &c);
	for (int i = 0; i < 20; i++)
		look(&w, i % 2 ? &none : &c, ISSUED + HOUR, ISSUED + HOUR + 60, counts);
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 1);
	assert_int_equal(counts[CREDENTIAL_RENEWED], 0);
	/* A wall clock that steps back and forth over the end. */
	counts[CREDENTIAL_HAS_EXPIRED] = 0;
	w = (struct credential_watch){};
	for (uint64_t i = 1; i < 100; i++)
		counts[credential_look(&w, &c, ISSUED + HOUR - (i % 2 ? 0 : 10), i * 60 * NS)]++;
	assert_int_equal(counts[CREDENTIAL_HAS_EXPIRED], 1);
	assert_int_equal(counts[CREDENTIAL_EXPIRES_SOON], 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the warning begins in the last tenth of a life, at most a day before its end",
		      test_begins),
		CLAIM("what the kubelet renews in time is never warned of", test_kubelet),
		CLAIM("of two the one that expires first counts", test_first),
		CLAIM("a day before the end, at the end and each day after it there is a line",
		      test_year),
		CLAIM("however often it is nearly late, there is one warning a day", test_flapping),
		CLAIM("each one that expires after it was valid is logged", test_outages),
		CLAIM("an unreadable file is no renewal, and a clock that steps is no storm",
		      test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
