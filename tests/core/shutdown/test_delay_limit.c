// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown/delay_limit: when the drop-in is written, with what, and who defeats
 * it. */
#include "core/shutdown/delay_limit.h"

#include <string.h>

#include "lib/claim.h"

#define S   1000000ull
#define OWN "zz-graced.conf"

struct row {
	const char *sentence;
	struct delaylimit_file files[4];
	uint64_t effective_us, need_us, us;
	const char *pinned_by;
};

/* What is in effect, what is needed, what is written (0: nothing), who pins, and the files. */
#define ROW(name, have, need, set, pins, ...)                                                    \
	{                                                                                        \
		.sentence = name, .files = {__VA_ARGS__}, .effective_us = have, .need_us = need, \
		.us = set, .pinned_by = pins                                                     \
	}
#define SAYS(name, us)                \
	{                             \
		name, true, false, us \
	}
#define SILENT(name)                  \
	{                             \
		name, false, false, 0 \
	}

static void check(const struct row *row)
{
	struct delaylimit_answer got;
	size_t n = 0;

	while (n < LEN(row->files) && row->files[n].name)
		n++;
	delaylimit_decide(&(struct delaylimit_query){row->files, n, OWN, row->effective_us,
						     row->need_us},
			  &got);
	if (got.write != (row->us != 0) || (row->us && got.us != row->us))
		fail_msg("%s: %s %llu", row->sentence, got.write ? "writes" : "writes not",
			 (unsigned long long)got.us);
	if (!row->pinned_by != !got.pinned_by ||
	    (got.pinned_by && strcmp(got.pinned_by, row->pinned_by) != 0))
		fail_msg("%s: pinned by %s", row->sentence, got.pinned_by ? got.pinned_by : "none");
}

static void test_decide(void **state)
{
	static const struct row rows[] = {
		ROW("no wait at all", 0, 40 * S, 40 * S, NULL),
		ROW("nothing needed", 5 * S, 0, 0, NULL),
		ROW("enough already", 40 * S, 40 * S, 0, NULL),
		ROW("too little", 5 * S, 40 * S, 40 * S, NULL),
		ROW("a part of a second", 5 * S, 39 * S + 1, 40 * S, NULL),
		ROW("infinity is enough", DELAYLIMIT_INFINITY, 40 * S, 0, NULL),
		ROW("a file wants more", 30 * S, 40 * S, 60 * S, NULL,
		    SAYS("99-kubelet.conf", 60 * S)),
		ROW("an overridden one, too", 30 * S, 40 * S, 90 * S, NULL,
		    SAYS("10-a.conf", 90 * S), SAYS("99-kubelet.conf", 30 * S)),
		ROW("ours stands", 40 * S, 40 * S, 0, NULL, SAYS(OWN, 40 * S)),
		ROW("ours is too low now", 40 * S, 50 * S, 50 * S, NULL, SAYS(OWN, 40 * S)),
		ROW("the kubelet raises its own", 40 * S, 40 * S, 90 * S, NULL,
		    SAYS("99-kubelet.conf", 90 * S), SAYS(OWN, 40 * S)),
		ROW("never lower than what is in effect", 95 * S, 40 * S, 95 * S, NULL,
		    SAYS(OWN, 40 * S)),
		ROW("never lower than it was", 90 * S, 40 * S, 0, NULL, SAYS(OWN, 90 * S)),
		ROW("ours without a value", 5 * S, 40 * S, 40 * S, NULL, SILENT(OWN)),
		ROW("infinity of another", 40 * S, 40 * S, DELAYLIMIT_INFINITY, NULL,
		    SAYS("50.conf", DELAYLIMIT_INFINITY), SAYS(OWN, 40 * S)),
		ROW("near the end of numbers", 40 * S, 40 * S, DELAYLIMIT_INFINITY, NULL,
		    SAYS("50.conf", UINT64_MAX - 2), SAYS(OWN, 40 * S)),
		ROW("one after ours pins", 30 * S, 40 * S, 0, "zzz.conf", SAYS(OWN, 40 * S),
		    SAYS("zzz.conf", 30 * S)),
		ROW("the last one after ours counts", 40 * S, 40 * S, 0, NULL, SAYS(OWN, 40 * S),
		    SAYS("zzx.conf", 30 * S), SAYS("zzz.conf", 40 * S)),
		ROW("one after ours without a value does not", 40 * S, 40 * S, 0, NULL,
		    SAYS(OWN, 40 * S), SILENT("zzz.conf")),
		ROW("it will pin before ours is written", 5 * S, 40 * S, 40 * S, "zzz.conf",
		    SAYS("zzz.conf", 5 * S)),
		ROW("nobody pins what is not written", 50 * S, 40 * S, 0, NULL,
		    SAYS("zzz.conf", 50 * S)),
		ROW("a broken file before ours keeps it from being read", 9 * S, 40 * S, 0,
		    "50.conf", {"50.conf", true, true, 9 * S}, SAYS(OWN, 40 * S)),
		ROW("a broken file after ours hides the later ones", 40 * S, 40 * S, 0, NULL,
		    SAYS(OWN, 40 * S), {"zzx.conf", false, true, 0}, SAYS("zzz.conf", 5 * S)),
	};

	for (size_t i = 0; i < LEN(rows); i++)
		check(rows + i);
}

static void test_of_files(void **state)
{
	static const struct delaylimit_file files[] = {
		{"", true, false, 10 * S},	    {"10-a.conf", false, false, 90 * S},
		{"20-b.conf", true, false, 30 * S}, {"30-c.conf", true, true, 20 * S},
		{"40-d.conf", true, false, 60 * S},
	};

	assert_int_equal(delaylimit_of_files(NULL, 0), 5 * S);
	assert_int_equal(delaylimit_of_files(files, 2), 10 * S);
	assert_int_equal(delaylimit_of_files(files, 3), 30 * S);
	assert_int_equal(delaylimit_of_files(files, 5), 20 * S);
}

static void test_pin(void **state)
{
	static const struct delaylimit_file files[] = {
		{"10-a.conf", true, false, 90 * S},
		{"50-b.conf", true, false, 20 * S},
		{"60-c.conf", false, true, 0},
		{"70-d.conf", true, false, 1 * S},
	};

	assert_null(delaylimit_last_word(NULL, 0));
	assert_ptr_equal(delaylimit_last_word(files, 1), files);
	assert_ptr_equal(delaylimit_last_word(files, 4), files + 1);
	assert_ptr_equal(delaylimit_pin(files, 2, "20", 30 * S), files + 1);
	assert_null(delaylimit_pin(files, 2, "20", 20 * S));
	assert_null(delaylimit_pin(files, 2, "55", 30 * S));
	assert_ptr_equal(delaylimit_pin(files, 4, "20", 30 * S), files + 1);
	assert_ptr_equal(delaylimit_pin(files, 4, "99", 30 * S), files + 2);
}

static void test_text(void **state)
{
	char text[DELAYLIMIT_TEXT_MAX];

	delaylimit_text(40 * S, text);
	assert_non_null(strstr(text, "\n[Login]\nInhibitDelayMaxSec=40\n"));
	assert_int_equal(text[0], '#');
	delaylimit_text(DELAYLIMIT_INFINITY, text);
	assert_non_null(strstr(text, "\n[Login]\nInhibitDelayMaxSec=infinity\n"));
	delaylimit_text(UINT64_MAX - 1, text);
	assert_int_equal(text[strlen(text) - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the drop-in has the largest of all values, and who defeats it is named",
		      test_decide),
		CLAIM("the last file that says anything counts, and none after a broken one",
		      test_of_files),
		CLAIM("the file that decides is named, and the one that keeps a drop-in from it",
		      test_pin),
		CLAIM("the drop-in is what logind reads", test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
