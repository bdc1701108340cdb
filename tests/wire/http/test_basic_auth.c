// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/http/request: who a header says somebody is. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/http/request.h"

static void test_headers(void **state)
{
	static const struct {
		const char *header, *user, *password; /* NULL: refused */
	} table[] = {
		{"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
		{"bASIC   QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Aladdin", "open sesame"},
		{"Basic dGVzdDoxMjPCow==", "test", "123\xc2\xa3"},
		{"Basic YTpiOmM=", "a", "b:c"},
		{"Basic Og==", "", ""},
		{"Basic YTo=", "a", ""},
		{"Basic OmI=", "", "b"},
		{"Basic Pz8/Oj4+Pg==", "???", ">>>"},
		{"Basic YTpiOmM= ", "a", "b:c"},
		{NULL, NULL, NULL},
		{"", NULL, NULL},
		{"Basic", NULL, NULL},
		{"Basic ", NULL, NULL},
		{"Basic =", NULL, NULL},
		{"Basic ====", NULL, NULL},
		{"Basic YTpi===", NULL, NULL},
		{"Basic YTpiOmM==", NULL, NULL},
		{"Basic YTpiO", NULL, NULL},
		{"Basic YT=piOmM", NULL, NULL},
		{"Basic YTpi\x80mM=", NULL, NULL},
		{"Basic Pz8_Oj4-Pg==", NULL, NULL},
		{"Basic YWJj", NULL, NULL},	/* no colon */
		{"Basic YTpiAGM=", NULL, NULL}, /* a NUL */
		{"Bearer YTpiOmM=", NULL, NULL},
		{"BasicYTpiOmM=", NULL, NULL},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct basicauth got = {};

		print_message("# %s\n", table[i].header ? table[i].header : "no header");
		assert_int_equal(basicauth_parse(table[i].header, &got), table[i].user != NULL);
		assert_string_equal(got.user, table[i].user ? table[i].user : "");
		assert_string_equal(got.password, table[i].password ? table[i].password : "");
	}
}

static void test_lengths(void **state)
{
	for (size_t n = 0; n < 2000; n++) {
		_cleanup_(buf_free) struct buf header = {};
		struct basicauth got = {};
		bool ok;

		/* "a:b" n times over. */
		buf_adds(&header, "Basic ");
		for (size_t i = 0; i < n; i++)
			buf_adds(&header, "YTpi");
		ok = basicauth_parse(buf_str(&header), &got);
		assert_int_equal(ok, n > 0 && n < BASICAUTH_SIZE / 3);
		assert_int_equal(strlen(got.password), ok ? n * 3 - 2 : 0);
	}
}

static void test_same(void **state)
{
	assert_true(basicauth_same("abc", "abc", 3));
	assert_true(basicauth_same("abc", "abd", 2));
	assert_false(basicauth_same("abc", "abd", 3));
	assert_false(basicauth_same("\x80", "\0", 1));
	assert_true(basicauth_same("a", "b", 0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a header of the Basic scheme has a user and a password, others have none",
		      test_headers),
		CLAIM("what is too long is refused", test_lengths),
		CLAIM("bytes are the same when all are", test_same),
	};

	return cmocka_run_group_tests_name("basicauth", tests, NULL, NULL);
}
