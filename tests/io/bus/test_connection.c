// SPDX-License-Identifier: Apache-2.0
/* Claims about io/bus/connection: when it connects again. Connections to buses are tests of
 * io/logind and io/sources/units. */
#include <string.h>

#include "io/bus/connection.h"
#include "lib/claim.h"

#define MS_NS 1000000ull

static void test_waits(void **state)
{
	static const unsigned int waits_ms[] = {100,  200,   400,   800,   1600, 3200,
						6400, 12800, 25600, 30000, 30000};
	struct busconn c = {.off = true};

	for (size_t i = 0; i < LEN(waits_ms); i++) {
		busconn_lose(&c, 7 * MS_NS);
		assert_int_equal(c.retry_ns, (7 + waits_ms[i]) * MS_NS);
	}
	busconn_back_off(&c, 7 * MS_NS);
	assert_int_equal(c.retry_ns, 30007 * MS_NS);
}

/* One that greets and dies at once is no better than none; one that has worked for long is. */
static void test_age(void **state)
{
	static const struct {
		bool answered;
		uint64_t age_ms, want_ms;
	} rows[] = {
		{true, 0, 400},
		{true, 30000, 400},
		{true, 30001, 100},
		{false, 40000, 400},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct busconn c = {.failures = 2, .began_ns = 5 * MS_NS};

		c.answered = rows[i].answered;
		busconn_lose(&c, (5 + rows[i].age_ms) * MS_NS);
		assert_int_equal(c.retry_ns, (5 + rows[i].age_ms + rows[i].want_ms) * MS_NS);
		assert_false(c.answered);
	}
}

static void test_text(void **state)
{
	char all[400];
	struct busconn c = {};

	busconn_set_text(&c, "systemd ", "252\n\x1b[31m\xc3\xa4");
	assert_string_equal(c.text, "systemd 252??[31m??");
	memset(all, 'a', sizeof(all) - 1);
	all[sizeof(all) - 1] = '\0';
	busconn_set_text(&c, "", all);
	assert_int_equal(strlen(c.text), BUSCONN_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("it is tried again after 100 ms, and later after 30 s", test_waits),
		CLAIM("after a connection that has answered for over 30 s it begins with 100 ms",
		      test_age),
		CLAIM("what a peer sends becomes one line of ASCII", test_text),
	};

	return cmocka_run_group_tests_name("io/bus/connection", tests, NULL, NULL);
}
