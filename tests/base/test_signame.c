// SPDX-License-Identifier: Apache-2.0
/* Claims about base/signame: which names a signal has and which words are signals. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/signame.h"
#include "lib/claim.h"

static void test_names(void **state)
{
	static const struct {
		uint32_t number;
		const char *name;
	} want[] = {
		{1, "SIGHUP"},	     {2, "SIGINT"},	 {6, "SIGABRT"},
		{9, "SIGKILL"},	     {15, "SIGTERM"},	 {16, "SIGSTKFLT"},
		{17, "SIGCHLD"},     {26, "SIGVTALRM"},	 {29, "SIGIO"},
		{31, "SIGSYS"},	     {32, "SIG32"},	 {33, "SIG33"},
		{34, "SIGRTMIN"},    {37, "SIGRTMIN+3"}, {49, "SIGRTMIN+15"},
		{50, "SIGRTMAX-14"}, {63, "SIGRTMAX-1"}, {64, "SIGRTMAX"},
		{0, "SIG0"},	     {65, "SIG65"},	 {UINT32_MAX, "SIG4294967295"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		char name[SIGNAME_SIZE];

		assert_ptr_equal(signame_format(want[i].number, name), name);
		assert_string_equal(name, want[i].name);
	}
}

static void test_libc_agrees(void **state)
{
	for (int number = 1; number <= 31; number++) {
		uint32_t parsed = 0;

		assert_int_equal(signame_parse(sigabbrev_np(number), &parsed), 0);
		assert_int_equal(parsed, number);
	}
	assert_int_equal(SIGRTMIN, 34);
	assert_int_equal(SIGRTMAX, SIGNAME_MAX);
}

static void test_parse_back(void **state)
{
	for (uint32_t number = 1; number <= SIGNAME_MAX; number++) {
		char name[SIGNAME_SIZE];
		uint32_t with = 0, without = 0;

		signame_format(number, name);
		assert_int_equal(signame_parse(name, &with), 0);
		assert_int_equal(signame_parse(name + 3, &without), 0);
		assert_int_equal(with, number);
		assert_int_equal(without, number);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *text;
		uint32_t number;
	} want[] = {
		{"15", 15},	     {"TERM", 15},	 {"SIGTERM", 15},  {"term", 15},
		{"sigTerm", 15},     {"1", 1},		 {"01", 1},	   {"64", 64},
		{"32", 32},	     {"SIGRTMIN+3", 37}, {"rtmin+3", 37},  {"RTMIN", 34},
		{"RTMIN+0", 34},     {"RTMIN+30", 64},	 {"SIGRTMAX", 64}, {"RTMAX-2", 62},
		{"sigrtmax-30", 34}, {"IOT", 6},	 {"SIGCLD", 17},   {"poll", 29},
		{"STKFLT", 16},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		uint32_t number = 0;

		if (signame_parse(want[i].text, &number) != 0 || number != want[i].number)
			fail_msg("%s: %u", want[i].text, number);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",	    " ",	"SIG",	       "0",	     "00",
		"65",	    "99",	"100",	       "015",	     "-1",
		"+15",	    "15 ",	" 15",	       "1x",	     "0xf",
		"TERMS",    "TER",	"SIGSIGTERM",  "SIG TERM",   "SIG_TERM",
		"RTMIN+31", "RTMIN-1",	"RTMAX+1",     "RTMAX-31",   "RTMIN+",
		"RTMIN3",   "RTMIN+3x", "RTMIN+-3",    "RTMIN+003",  "RTMID",
		"SIG0",	    "SIG65",	"t\xc3\xa9rm", "4294967311", "18446744073709551631",
	};

	for (size_t i = 0; i < LEN(texts); i++) {
		uint32_t number = 4242;

		if (signame_parse(texts[i], &number) != -EINVAL || number != 4242)
			fail_msg("\"%s\" is read as %u", texts[i], number);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("every number has a name, real-time signals from the nearer end", test_names),
		CLAIM("libc's names are read as libc's numbers", test_libc_agrees),
		CLAIM("each name is read back, with and without SIG", test_parse_back),
		CLAIM("numbers, names and aliases are read in any case", test_words),
		CLAIM("words that are no signal are refused", test_refused),
	};

	return cmocka_run_group_tests_name("base/signame", tests, NULL, NULL);
}
