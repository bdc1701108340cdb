// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/token: the lifetime of a token, whatever the file holds. */
#include "wire/kubernetes/token.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/net/jwtgen.h"

#define END 1800003600

static struct credential read_claims(const char *claims)
{
	struct credential ret = {CREDENTIAL_CERTIFICATE, 1, 1};
	char token[JWTGEN_SIZE];
	bool known = jwt_read(jwtgen(claims, token), &ret);

	assert_int_equal(known, ret.kind == CREDENTIAL_TOKEN);
	return ret;
}

static void test_claims(void **state)
{
	static const struct {
		const char *claims;
		int64_t expires, window; /* 0: does not expire */
	} table[] = {
		/* As the API server makes them. */
		{"{\"aud\":[\"https://kubernetes.default.svc\"],\"exp\":1800003600,"
		 "\"iat\":1800000000,\"iss\":\"https://kubernetes.default.svc\","
		 "\"kubernetes.io\":{\"namespace\":\"graced\",\"serviceaccount\":{\"name\":"
		 "\"graced\"}},\"nbf\":1800000000,\"sub\":\"system:serviceaccount:graced:graced\"}",
		 END, 360},
		{"{\"exp\":1800003600,\"iat\":1800000000}", END, 360},
		{"{\"exp\":1800003600,\"nbf\":1800000000}", END, 360},
		{"{\"exp\":1800003600}", END, 86400},
		{"{\"exp\":1800003600.75,\"iat\":1.8e9}", END, 360},
		{"{\"exp\":1800003600,\"iat\":\"1800000000\"}", END, 86400},
		{"{\"exp\":1800003600,\"iat\":-1800000000}", END, 86400},
		{"{\"exp\":1800003600,\"iat\":9223372036854775807}", END, 86400},
		{"{\"exp\":1,\"iat\":1e308}", 1, 86400},
		{"{\"exp\":9223372036,\"iat\":1}", 9223372036, 86400},
		{"{\"x\":\"\\u0000\",\"exp\":1800003600,\"iat\":1800000000}", END, 360},
		/* Those of a Secret have none. */
		{"{\"iss\":\"kubernetes/serviceaccount\",\"sub\":\"system:serviceaccount:a:b\"}", 0,
		 0},
		{"{\"exp\":0}", 0, 0},
		{"{\"exp\":-1}", 0, 0},
		{"{\"exp\":-1e308}", 0, 0},
		{"{\"exp\":-9223372036854775808}", 0, 0},
		{"{\"exp\":9223372036854775807}", 0, 0},
		{"{\"exp\":9223372036854775808}", 0, 0},
		{"{\"exp\":99999999999999999999999999}", 0, 0},
		{"{\"exp\":1e300}", 0, 0},
		{"{\"exp\":1e999}", 0, 0},
		{"{\"exp\":0.5}", 0, 0},
		{"{\"exp\":\"1800003600\"}", 0, 0},
		{"{\"exp\":null}", 0, 0},
		{"{\"exp\":true}", 0, 0},
		{"{\"exp\":[1800003600]}", 0, 0},
		{"[1800003600]", 0, 0},
		{"1800003600", 0, 0},
		{"{\"exp\":1800003600", 0, 0},
		{"{\"exp\":1800003600}x", 0, 0},
		{"", 0, 0},
		{"\xff\xfe\x01", 0, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct credential got = read_claims(table[i].claims);

		print_message("# %s\n", table[i].claims);
		assert_int_equal(got.expires_s, table[i].expires);
		assert_int_equal(got.expires_s - got.warn_s, table[i].window);
	}
}

static void test_garbage(void **state)
{
	static const char *const table[] = {
		"",
		".",
		"..",
		"...",
		"a.b.c",
		"secret-1",
		"e30.e30",
		"e30.eyJleHAiOjE4MDAwMDM2MDB9",
		"e30.eyJleHAiOjE4MDAwMDM2MDB9.a.b",
		"e30.eyJleHAiOjE4MDAwMDM2MDB9.a.b.c",
		"e30.eyJleHAiOjE4MDAwMDM2MDB9=.s",
		"e30.eyJleHAiOjE4MDAwMDM2MDB9A.s",
		"e30.eyJleHAiOjE4MDAwMDM2MDB9====.s",
		"e30.eyJleHAiOjE4MDAwMDM2MDB.s",
		"e30.eyJleHAiOjE4MDAwMDM2MD\xff.s",
		"e30.+/+/.s",
	};
	static char longest[65536 + 1];
	struct credential got;

	for (size_t i = 0; i < LEN(table); i++) {
		got = (struct credential){CREDENTIAL_CERTIFICATE, 1, 1};
		print_message("# '%s'\n", table[i]);
		assert_false(jwt_read(table[i], &got));
		assert_int_equal(got.kind, CREDENTIAL_NONE);
		assert_int_equal(got.expires_s, 0);
	}
	/* [[[[…: deeper than a stack. */
	memset(longest, 'W', sizeof(longest) - 1);
	for (size_t i = 2; i < sizeof(longest) - 3; i += 4)
		memcpy(longest + i, "W1tb", 4);
	memcpy(longest, "a.", 2);
	memcpy(longest + sizeof(longest) - 3, ".s", 2);
	assert_false(jwt_read(longest, &got));
	assert_true(jwt_read("e30.eyJleHAiOjE4MDAwMDM2MDB9.s", &got));
}

/* Bytes that may be anything must be read without a fault; ASan and UBSan watch. */
static void test_dice(void **state)
{
	static const char alphabet[] = "ABCabc019-_.={}\":,eyJleHAiOjE4\xff";
	char token[200];

	srand(1);
	for (int i = 0; i < 200000; i++) {
		struct credential got;
		size_t len = (size_t)rand() % (sizeof(token) - 1);
		bool known;

		for (size_t k = 0; k < len; k++)
			token[k] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		token[len] = '\0';
		known = jwt_read(token, &got);
		assert_int_equal(known, got.kind == CREDENTIAL_TOKEN);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a token's lifetime is that of its claims, and unknown where they make no sense",
		      test_claims),
		CLAIM("what is no signed token has no known end", test_garbage),
		CLAIM("any bytes are read without a fault", test_dice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
