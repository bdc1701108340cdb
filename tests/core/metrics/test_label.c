// SPDX-License-Identifier: Apache-2.0
/* Claims about core/metrics/label: what is left of any text as the value of a label. */
#include <string.h>

#include "core/metrics/label.h"
#include "lib/claim.h"

static void test_clean(void **state)
{
#define FFFD "\xef\xbf\xbd"
	static const struct {
		const char *text, *want;
	} want[] = {
		{NULL, ""},
		{"", ""},
		{"kube-system", "kube-system"},
		{"a\"b\\c\nd", "a\"b\\c\nd"},
		{"\x01\t\r\x1b\x7f", FFFD FFFD FFFD FFFD FFFD},
		{"caf\xc3\xa9 \xf0\x9f\x92\xa9", "caf\xc3\xa9 \xf0\x9f\x92\xa9"},
		{"\xc3", FFFD},
		{"\xe2\x80", FFFD FFFD},
		{"a\xe2\x80\xae"
		 "b",
		 "a" FFFD "b"},
		{"\xf3\xa0\x80\x81", FFFD},
		{"\xff" FFFD, FFFD FFFD},
	};
	char first[LABEL_MAX + 1], again[LABEL_MAX + 1];

	for (size_t i = 0; i < LEN(want); i++) {
		assert_int_equal(label_clean(first, want[i].text), strlen(want[i].want));
		assert_string_equal(first, want[i].want);
		label_clean(again, first);
		assert_string_equal(again, first);
	}
}

static void test_clean_length(void **state)
{
	static const struct {
		const char *unit; /* over and over */
		size_t want;
	} want[] = {
		{"a", 253},
		{"\xc3\xa9", 252},
		{"\xe4\xb8\xad", 252},
		{"\xf0\x9f\x92\xa9", 252},
		{"\xff", 252},
		{"\x01", 252},
		{"\xf3\xa0\x80\x81", 252},
	};
	char text[2048], clean[LABEL_MAX + 1];

	for (size_t i = 0; i < LEN(want); i++) {
		size_t unit = strlen(want[i].unit), n = 0;

		for (; n + unit < sizeof(text); n += unit)
			memcpy(text + n, want[i].unit, unit);
		text[n] = '\0';
		assert_int_equal(label_clean(clean, text), want[i].want);
		assert_int_equal(strlen(clean), want[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a clean label is valid, harmless, and stays as it is", test_clean),
		CLAIM("a label is cut between characters", test_clean_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
