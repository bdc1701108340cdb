// SPDX-License-Identifier: Apache-2.0
/* Claims about io/otlp/exporter: which answers, from any peer, count as delivered, and when a
 * request is sent again. */
#include "io/otlp/exporter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/net/asker.h"
#include "lib/net/rawpeer.h"

#define HEAD(status) "HTTP/1.1 " status "\r\nContent-Type: application/json\r\n"
#define NONE	     "Content-Length: 0\r\n\r\n"
#define BODY	     "{\"resourceSpans\":[]}"
#define SPANS	     7

static struct exporter exporter_to(struct asker *asker, const struct rawpeer *peer,
				   char url[static 64])
{
	snprintf(url, 64, "http://127.0.0.1:%u/v1/traces", peer->port);
	return (struct exporter){
		.options = {.url = url,
			    .timeout_ns = 30000 * ASKER_MS,
			    .patience_ns = 40 * ASKER_MS,
			    .retry_first_ns = 2 * ASKER_MS,
			    .retry_last_ns = 4 * ASKER_MS},
		.event = asker->event,
		.fetch = asker->fetch,
	};
}

static int send_spans(struct exporter *exporter, struct otlphttp_answer *ret)
{
	*ret = (struct otlphttp_answer){.verdict = OTLPHTTP_REFUSED};
	return exporter_send(exporter, BODY, strlen(BODY), SPANS, ret);
}

static const struct row {
	const char *answer;
	enum otlphttp_verdict verdict;
	uint64_t rejected;
	bool once;	  /* one attempt alone */
	const char *text; /* NULL: any but "" */
} rows[] = {
	{HEAD("200 OK") "Content-Length: 2\r\n\r\n{}", OTLPHTTP_DELIVERED, 0, true, ""},
	{HEAD("200 OK") NONE, OTLPHTTP_DELIVERED, 0, true, ""},
	{HEAD("200 OK") "Content-Length: 61\r\n\r\n"
			"{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"old\"}}",
	 OTLPHTTP_DELIVERED, 3, true, "old"},
	{HEAD("200 OK") "Content-Length: 5\r\n\r\n<html", OTLPHTTP_REFUSED, 0, true,
	 "its answer is not that of a receiver of OTLP"},
	{HEAD("302 Found") "Location: http://127.0.0.1:1/\r\n" NONE, OTLPHTTP_REFUSED, 0, true,
	 "HTTP status 302"},
	{HEAD("400 Bad") "Content-Length: 33\r\n\r\n{\"code\":3,\"message\":\"\\u001b[31m\"}",
	 OTLPHTTP_REFUSED, 0, true, "HTTP status 400: \\x1b[31m"},
	{HEAD("500 Broken") NONE, OTLPHTTP_REFUSED, 0, true, "HTTP status 500"},
	{HEAD("429 Slower") NONE, OTLPHTTP_AGAIN, 0, false, "HTTP status 429"},
	{HEAD("502 Gateway") NONE, OTLPHTTP_AGAIN, 0, false, "HTTP status 502"},
	{HEAD("503 Busy") NONE, OTLPHTTP_AGAIN, 0, false, "HTTP status 503"},
	{HEAD("504 Late") NONE, OTLPHTTP_AGAIN, 0, false, "HTTP status 504"},
	/* Longer than an answer is waited for here. */
	{HEAD("429 Slower") "Retry-After: 3600\r\n" NONE, OTLPHTTP_AGAIN, 0, true,
	 "HTTP status 429"},
	{HEAD("503 Busy") "Retry-After: 42949672951\r\n" NONE, OTLPHTTP_AGAIN, 0, true,
	 "HTTP status 503"},
	{HEAD("200 OK") "Content-Length: 50\r\n\r\n{}", OTLPHTTP_REFUSED, 0, true, NULL},
	{"\033]0;owned\007 no HTTP at all, just a line\n", OTLPHTTP_REFUSED, 0, true, NULL},
	{"", OTLPHTTP_AGAIN, 0, false, NULL},
};

static void test_answers(void **state)
{
	struct asker *asker = *state;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct otlphttp_answer answer;
		struct exporter exporter;
		struct rawpeer peer;
		char url[64];

		rawpeer_open(&peer, asker->event, NULL, rows[i].answer);
		exporter = exporter_to(asker, &peer, url);
		assert_int_equal(send_spans(&exporter, &answer), 0);
		print_message("# answer %zu: %d after %u attempts, \"%s\"\n", i,
			      (int)answer.verdict, exporter.attempts, answer.text);
		assert_int_equal(answer.verdict, rows[i].verdict);
		assert_true(answer.rejected == rows[i].rejected);
		assert_true(exporter.attempts >= 1);
		if (rows[i].once)
			assert_int_equal(exporter.attempts, 1);
		if (rows[i].text)
			assert_string_equal(answer.text, rows[i].text);
		else
			assert_true(answer.text[0] != '\0');
		for (const char *at = answer.text; *at; at++)
			assert_in_range(*at, 0x20, 0x7e);
		rawpeer_close(&peer);
	}
}

/* The second attempt is the last: a third one would begin after the patience has ended. */
static void test_again(void **state)
{
	static const char busy[] = HEAD("503 Busy") "Retry-After: 1\r\n" NONE;
	struct asker *asker = *state;
	struct otlphttp_answer answer;
	struct exporter exporter;
	struct rawpeer peer;
	uint64_t begin_ns;
	char url[64];

	rawpeer_open(&peer, asker->event, NULL, busy);
	exporter = exporter_to(asker, &peer, url);
	exporter.options.patience_ns = 3000 * ASKER_MS;
	do {
		begin_ns = clock_monotonic_ns();
		exporter.attempts = 0;
		assert_int_equal(send_spans(&exporter, &answer), 0);
	} while (exporter.attempts < 2); /* the machine was busier than that */
	assert_int_equal(answer.verdict, OTLPHTTP_AGAIN);
	assert_true(clock_monotonic_ns() - begin_ns >=
		    (exporter.attempts - 1) * UINT64_C(1000) * ASKER_MS);
	rawpeer_close(&peer);
}

/* It takes the request and says nothing, or too slowly. */
static void test_hung(void **state)
{
	struct asker *asker = *state;

	for (int trickles = 0; trickles < 2; trickles++) {
		struct otlphttp_answer answer;
		struct exporter exporter;
		struct rawpeer peer;
		char url[64];

		rawpeer_open(&peer, asker->event, NULL, trickles ? HEAD("200 OK") NONE : "");
		peer.stays = true;
		peer.trickles = trickles;
		exporter = exporter_to(asker, &peer, url);
		exporter.options.timeout_ns = 50 * ASKER_MS;
		exporter.options.patience_ns = 2000 * ASKER_MS;
		assert_int_equal(send_spans(&exporter, &answer), 0);
		assert_int_equal(exporter.attempts, 1);
		assert_int_not_equal(answer.verdict, OTLPHTTP_DELIVERED);
		assert_non_null(strstr(answer.text, "timed out"));
		rawpeer_close(&peer);
	}
}

static void test_question(void **state)
{
	static const char *const headers[] = {"X-Scope-OrgID: shop", NULL};
	struct asker *asker = *state;
	struct otlphttp_answer answer;
	struct exporter exporter;
	struct rawpeer peer;
	char url[64];

	rawpeer_open(&peer, asker->event, NULL, HEAD("200 OK") NONE);
	exporter = exporter_to(asker, &peer, url);
	exporter.options.headers = headers;
	assert_int_equal(send_spans(&exporter, &answer), 0);
	assert_non_null(strstr(buf_str(&peer.asked), "POST /v1/traces HTTP/1.1\r\n"));
	assert_non_null(strstr(buf_str(&peer.asked), "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(buf_str(&peer.asked), "\r\nX-Scope-OrgID: shop\r\n"));
	assert_non_null(strstr(buf_str(&peer.asked), "\r\n\r\n" BODY));
	rawpeer_close(&peer);
}

static void test_wrong(void **state)
{
	static const char *const urls[] = {"", "host:4318", "ftp://h/", "http://u:p@h/", "http://"};
	struct asker *asker = *state;
	struct exporter exporter = {.event = asker->event, .fetch = asker->fetch};
	struct otlphttp_answer answer;

	for (size_t i = 0; i < LEN(urls); i++) {
		exporter.options.url = urls[i];
		assert_int_equal(send_spans(&exporter, &answer), -EINVAL);
	}
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("an answer counts as delivered, as refused, or as busy", test_answers),
		BOTH("the next attempt comes no earlier than Retry-After asks for", test_again),
		BOTH("a peer that hangs is given up after one attempt", test_hung),
		BOTH("a request is a POST of JSON, with the headers that were given",
		     test_question),
		BOTH("what is no URL of HTTP is refused", test_wrong),
	};

	return cmocka_run_group_tests_name("io/otlp/exporter", tests, NULL, NULL);
}
