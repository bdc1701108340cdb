// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/account/otlp: where spans go, with which headers, and what an answer of
 * any peer means. */
#include "wire/account/otlp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

static void urls(void **state)
{
	static const char *const rows[][2] = {
		{"http://h:4318", "http://h:4318/v1/traces"},
		{"http://h:4318/", "http://h:4318/v1/traces"},
		{"https://h/v1/traces", "https://h/v1/traces"},
		{"https://h/otlp/", "https://h/otlp/"},
		{"https://h?key=1", "https://h?key=1"},
		{"https://[::1]:4318", "https://[::1]:4318/v1/traces"},
		{"h:4318", "h:4318"},
		{"", ""},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct buf url = {};

		otlphttp_add_url(&url, rows[i][0]);
		assert_string_equal(buf_str(&url), rows[i][1]);
		buf_free(&url);
	}
}

static const struct header_row {
	const char *text;
	int error;
	bool secret;
	const char *list; /* joined by '|' */
} header_rows[] = {
	{"", 0, false, ""},
	{" , ,", 0, false, ""},
	{"X-Scope-OrgID=shop", 0, false, "X-Scope-OrgID: shop"},
	{" a = 1 ,b=2,", 0, false, "a: 1|b: 2"},
	{"authorization=Basic%20am9lOnNlY3JldA%3D%3D", 0, true,
	 "authorization: Basic am9lOnNlY3JldA=="},
	{"Authorization=Bearer x=y", 0, true, "Authorization: Bearer x=y"},
	{"a=", 0, false, "a: "},
	{"Content-Type=text/plain,HOST=h,a=1,Transfer-Encoding=chunked", 0, false, "a: 1"},
	{"a", -EINVAL, false, NULL},
	{"=1", -EINVAL, false, NULL},
	{"a b=1", -EINVAL, false, NULL},
	{"a:=1", -EINVAL, false, NULL},
	{"a=%0d%0aB: 1", -EINVAL, false, NULL},
	{"a=\n", -EINVAL, false, NULL},
	{"a=%", -EINVAL, false, NULL},
	{"a=%2", -EINVAL, false, NULL},
	{"a=%2,b=3", -EINVAL, false, NULL},
	{"a=%zz", -EINVAL, false, NULL},
	{"a=%00", -EINVAL, false, NULL},
};

static void headers(void **state)
{
	for (size_t i = 0; i < LEN(header_rows); i++) {
		const struct header_row *row = header_rows + i;
		struct otlphttp_headers headers;
		struct buf joined = {};

		print_message("# \"%s\"\n", row->text);
		assert_int_equal(otlphttp_read_headers(row->text, &headers), row->error);
		if (row->error)
			continue;
		for (size_t j = 0; headers.list[j]; j++)
			buf_printf(&joined, "%s%s", j ? "|" : "", headers.list[j]);
		assert_string_equal(buf_str(&joined), row->list);
		assert_int_equal(headers.secret, row->secret);
		buf_free(&joined);
	}
}

static void too_many(void **state)
{
	struct otlphttp_headers headers;
	struct buf text = {};

	for (int i = 0; i < OTLPHTTP_HEADERS_MAX; i++)
		buf_printf(&text, "h%d=%d,", i, i);
	assert_int_equal(otlphttp_read_headers(buf_str(&text), &headers), 0);
	assert_int_equal(headers.n, OTLPHTTP_HEADERS_MAX);
	assert_null(headers.list[OTLPHTTP_HEADERS_MAX]);
	buf_adds(&text, "one=more");
	assert_int_equal(otlphttp_read_headers(buf_str(&text), &headers), -E2BIG);
	buf_reset(&text);
	buf_adds(&text, "a=");
	for (int i = 0; i < OTLPHTTP_HEADERS_SIZE; i++)
		buf_addc(&text, 'x');
	assert_int_equal(otlphttp_read_headers(buf_str(&text), &headers), -E2BIG);
	buf_free(&text);
}

static const struct answer_row {
	long status;
	const char *body;
	enum otlphttp_verdict verdict;
	uint64_t rejected;
	const char *text;
} answer_rows[] = {
	{200, "", OTLPHTTP_DELIVERED, 0, ""},
	{200, "{}", OTLPHTTP_DELIVERED, 0, ""},
	{202, "{\"partialSuccess\":{}}", OTLPHTTP_DELIVERED, 0, ""},
	{200, "{\"partialSuccess\":null}", OTLPHTTP_DELIVERED, 0, ""},
	{200, "{\"partialSuccess\":{\"rejectedSpans\":\"0\",\"errorMessage\":\"slow down\"}}",
	 OTLPHTTP_DELIVERED, 0, "slow down"},
	{200, "{\"partialSuccess\":{\"rejectedSpans\":\"2\"}}", OTLPHTTP_DELIVERED, 2, ""},
	{200, "{\"partialSuccess\":{\"rejectedSpans\":2}}", OTLPHTTP_DELIVERED, 2, ""},
	{200, "{\"partialSuccess\":{\"rejectedSpans\":\"99999999999999999999\"}}",
	 OTLPHTTP_DELIVERED, 9, ""},
	{200, "{\"partialSuccess\":{\"rejectedSpans\":\"-1\",\"errorMessage\":[]}}",
	 OTLPHTTP_DELIVERED, 0, ""},
	{200, "{\"partialSuccess\":{\"rejectedSpans\":\"1x\"}}", OTLPHTTP_DELIVERED, 0, ""},
	{200, "<html>log in</html>", OTLPHTTP_REFUSED, 0,
	 "its answer is not that of a receiver of OTLP"},
	{200, "[]", OTLPHTTP_REFUSED, 0, "its answer is not that of a receiver of OTLP"},
	{200, "{", OTLPHTTP_REFUSED, 0, "its answer is not that of a receiver of OTLP"},
	{307, "", OTLPHTTP_REFUSED, 0, "HTTP status 307"},
	{400, "{\"code\":3,\"message\":\"bad\"}", OTLPHTTP_REFUSED, 0, "HTTP status 400: bad"},
	{400, "{\"message\":\"\\u202e\\u0007\\u001b\"}", OTLPHTTP_REFUSED, 0,
	 "HTTP status 400: \\u202e\\x07\\x1b"},
	{401, "no", OTLPHTTP_REFUSED, 0, "HTTP status 401"},
	{404, "", OTLPHTTP_REFUSED, 0, "HTTP status 404"},
	{429, "{}", OTLPHTTP_AGAIN, 0, "HTTP status 429"},
	{500, "", OTLPHTTP_REFUSED, 0, "HTTP status 500"},
	{501, "", OTLPHTTP_REFUSED, 0, "HTTP status 501"},
	{502, "", OTLPHTTP_AGAIN, 0, "HTTP status 502"},
	{503, "{\"message\":\"full\"}", OTLPHTTP_AGAIN, 0, "HTTP status 503: full"},
	{504, "", OTLPHTTP_AGAIN, 0, "HTTP status 504"},
	{0, "", OTLPHTTP_REFUSED, 0, "HTTP status 0"},
};

static void answers(void **state)
{
	for (size_t i = 0; i < LEN(answer_rows); i++) {
		const struct answer_row *row = answer_rows + i;
		struct otlphttp_answer answer;

		print_message("# %ld %s\n", row->status, row->body);
		otlphttp_judge(row->status, row->body, strlen(row->body), 9, &answer);
		assert_int_equal(answer.verdict, row->verdict);
		assert_true(answer.rejected == row->rejected);
		assert_string_equal(answer.text, row->text);
	}
}

/* Longer than the room for it, and deeper than any answer. */
static void large(void **state)
{
	struct otlphttp_answer answer;
	struct buf body = {};

	buf_adds(&body, "{\"message\":\"");
	for (int i = 0; i < 5000; i++)
		buf_adds(&body, "\xe2\x82\xac");
	buf_adds(&body, "\"}");
	otlphttp_judge(400, buf_str(&body), body.len, 9, &answer);
	assert_int_equal(answer.verdict, OTLPHTTP_REFUSED);
	assert_int_equal(strlen(answer.text), OTLPHTTP_TEXT_MAX - 1);
	buf_reset(&body);
	for (int i = 0; i < 30000; i++)
		buf_adds(&body, "[");
	otlphttp_judge(200, buf_str(&body), body.len, 9, &answer);
	assert_int_equal(answer.verdict, OTLPHTTP_REFUSED);
	buf_free(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an endpoint without a path is that of traces", urls),
		CLAIM("headers are read as OpenTelemetry writes them, and none begins another",
		      headers),
		CLAIM("too many or too long headers are refused", too_many),
		CLAIM("an answer is delivered, busy or refused by its status, and by its body",
		      answers),
		CLAIM("a large answer is cut", large),
	};

	return cmocka_run_group_tests_name("wire/account/otlp", tests, NULL, NULL);
}
