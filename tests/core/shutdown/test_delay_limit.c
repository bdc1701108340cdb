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
	uint64_t effective_us, need_us;
	bool write;
	uint64_t us;
	const char *pinned_by;
};

static void check(const struct row *row)
{
	struct delaylimit_answer got;
	size_t n = 0;

	while (n < LEN(row->files) && row->files[n].name)
		n++;
	delaylimit_decide(&(struct delaylimit_query){row->files, n, OWN, row->effective_us,
						     row->need_us},
			  &got);
	if (got.write != row->write || (row->write && got.us != row->us))
		fail_msg("%s: %s %llu", row->sentence, got.write ? "writes" : "writes not",
			 (unsigned long long)got.us);
	if (!row->pinned_by != !got.pinned_by ||
	    (got.pinned_by && strcmp(got.pinned_by, row->pinned_by) != 0))
		fail_msg("%s: pinned by %s", row->sentence, got.pinned_by ? got.pinned_by : "none");
}

static void test_decide(void **state)
{
	static const struct row rows[] = {
		{"no wait at all", {}, 0, 40 * S, true, 40 * S, NULL},
		{"nothing needed", {}, 5 * S, 0, false, 0, NULL},
		{"enough already", {}, 40 * S, 40 * S, false, 0, NULL},
		{"too little", {}, 5 * S, 40 * S, true, 40 * S, NULL},
		{"a part of a second", {}, 5 * S, 39 * S + 1, true, 40 * S, NULL},
		{"infinity is enough", {}, DELAYLIMIT_INFINITY, 40 * S, false, 0, NULL},
		{"a file wants more",
		 {{"99-kubelet.conf", true, false, 60 * S}},
		 30 * S,
		 40 * S,
		 true,
		 60 * S,
		 NULL},
		{"an overridden one, too",
		 {{"10-a.conf", true, false, 90 * S}, {"99-kubelet.conf", true, false, 30 * S}},
		 30 * S,
		 40 * S,
		 true,
		 90 * S,
		 NULL},
		{"ours stands", {{OWN, true, false, 40 * S}}, 40 * S, 40 * S, false, 0, NULL},
		{"ours is too low now",
		 {{OWN, true, false, 40 * S}},
		 40 * S,
		 50 * S,
		 true,
		 50 * S,
		 NULL},
		{"the kubelet raises its own",
		 {{"99-kubelet.conf", true, false, 90 * S}, {OWN, true, false, 40 * S}},
		 40 * S,
		 40 * S,
		 true,
		 90 * S,
		 NULL},
		{"never lower than what is in effect",
		 {{OWN, true, false, 40 * S}},
		 95 * S,
		 40 * S,
		 true,
		 95 * S,
		 NULL},
		{"never lower than it was",
		 {{OWN, true, false, 90 * S}},
		 90 * S,
		 40 * S,
		 false,
		 0,
		 NULL},
		{"ours without a value", {{OWN, false, false, 0}}, 5 * S, 40 * S, true, 40 * S, NULL},
		{"infinity of another",
		 {{"50.conf", true, false, DELAYLIMIT_INFINITY}, {OWN, true, false, 40 * S}},
		 40 * S,
		 40 * S,
		 true,
		 DELAYLIMIT_INFINITY,
		 NULL},
		{"near the end of numbers",
		 {{"50.conf", true, false, UINT64_MAX - 2}, {OWN, true, false, 40 * S}},
		 40 * S,
		 40 * S,
		 true,
		 DELAYLIMIT_INFINITY,
		 NULL},
		{"one after ours pins",
		 {{OWN, true, false, 40 * S}, {"zzz.conf", true, false, 30 * S}},
		 30 * S,
		 40 * S,
		 false,
		 0,
		 "zzz.conf"},
		{"the last one after ours counts",
		 {{OWN, true, false, 40 * S},
		  {"zzx.conf", true, false, 30 * S},
		  {"zzz.conf", true, false, 40 * S}},
		 40 * S,
		 40 * S,
		 false,
		 0,
		 NULL},
		{"one after ours without a value does not",
		 {{OWN, true, false, 40 * S}, {"zzz.conf", false, false, 0}},
		 40 * S,
		 40 * S,
		 false,
		 0,
		 NULL},
		{"it will pin before ours is written",
		 {{"zzz.conf", true, false, 5 * S}},
		 5 * S,
		 40 * S,
		 true,
		 40 * S,
		 "zzz.conf"},
		{"nobody pins what is not written",
		 {{"zzz.conf", true, false, 50 * S}},
		 50 * S,
		 40 * S,
		 false,
		 0,
		 NULL},
		{"a broken file before ours keeps it from being read",
		 {{"50.conf", true, true, 9 * S}, {OWN, true, false, 40 * S}},
		 9 * S,
		 40 * S,
		 false,
		 0,
		 "50.conf"},
		{"a broken file after ours hides the later ones",
		 {{OWN, true, false, 40 * S},
		  {"zzx.conf", false, true, 0},
		  {"zzz.conf", true, false, 5 * S}},
		 40 * S,
		 40 * S,
		 false,
		 0,
		 NULL},
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
