// SPDX-License-Identifier: Apache-2.0
/* Claims about io/fetch: every answer, from any peer, ends a request once and within bounds. */
#include "io/fetch/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/net/asker.h"
#include "lib/net/rawpeer.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct fetch_request to_peer(const struct rawpeer *peer, char url[static 64])
{
	snprintf(url, 64, "http://127.0.0.1:%u/a?b=c", peer->port);
	return (struct fetch_request){.url = url, .max_bytes = 64, .timeout_ns = 30000 * ASKER_MS};
}

static void ask(struct asker *asker, struct rawpeer *peer, struct asker_reply *ret)
{
	char url[64];
	struct fetch_request request = to_peer(peer, url);

	asker_ask(asker, &request, ret);
}

static const struct answer_row {
	const char *answer;
	int error;
	long status;
	const char *body, *text;
} answers[] = {
	{OK, 0, 200, "hello", ""},
	{"HTTP/1.0 200 OK\r\n\r\nhello", 0, 200, "hello", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 0,
	 200, "hello", ""},
	{"HTTP/1.1 100 Continue\r\n\r\n" OK, 0, 200, "hello", ""},
	{"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno", 0, 401, "no",
	 "HTTP status 401"},
	{"HTTP/1.1 503 \033[31m\r\nContent-Length: 0\r\n\r\n", 0, 503, "", "HTTP status 503"},
	{"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 0, 302,
	 "", "HTTP status 302"},
	{"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", 0, 200, "abc",
	 ""},
	{"HTTP/1.1 200 OK\r\ngrpc-status: 5\r\ngrpc-message: a%20%1b%zz%E2%82%AC%\r\n"
	 "Content-Length: 0\r\n\r\n",
	 0, 200, "", "gRPC status 5: a ?%zz\\u20ac%"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", -EBADMSG, 200, "hello", NULL},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", -EBADMSG, 200, "", NULL},
	{"HTTP/1.1 200 OK\r\nContent-Le", -EBADMSG, 200, "", "the answer is cut short"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	 "0123456789abcdef012",
	 -EMSGSIZE, 200, "", "the answer is longer than 64 bytes"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 999999999999999999999999\r\n\r\nhello", 0, 200,
	 "hello", ""},
	{"\033]0;owned\007 no HTTP at all, just a line\n", -EBADMSG, 0, "", NULL},
	{"", -ECONNRESET, 0, "", NULL},
};

static void test_answers(void **state)
{
	struct asker *asker = *state;

	for (size_t i = 0; i < LEN(answers); i++) {
		const struct answer_row *row = answers + i;
		struct asker_reply reply;
		struct rawpeer peer;

		rawpeer_open(&peer, asker->event, NULL, row->answer);
		ask(asker, &peer, &reply);
		print_message("# answer %zu: %d %ld \"%s\"\n", i, reply.result.error,
			      reply.result.status, reply.result.text);
		assert_int_equal(reply.result.error, row->error);
		if (row->error != -EBADMSG && row->error != -ECONNRESET)
			assert_int_equal(reply.result.status, row->status);
		if (row->error == 0)
			assert_string_equal(buf_str(&reply.body), row->body);
		if (row->text)
			assert_string_equal(reply.result.text, row->text);
		for (const char *at = reply.result.text; *at; at++)
			assert_in_range(*at, 0x20, 0x7e);
		buf_free(&reply.body);
		rawpeer_close(&peer);
	}
}

/* Retry-After in seconds; a date depends on two clocks, and counts as none. */
static void test_retry_after(void **state)
{
	static const struct {
		const char *value;
		uint32_t seconds;
	} rows[] = {
		{"0", 0},
		{"30", 30},
		{"4294967289", UINT32_MAX - 6},
		{"42949672951", UINT32_MAX},
		{"-1", 0},
		{"1.5", 0},
		{"", 0},
		{"Wed, 25 Nov 2026 23:00:00 GMT", 0},
	};
	struct asker *asker = *state;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct asker_reply reply;
		struct rawpeer peer;
		char answer[128];

		snprintf(answer, sizeof(answer),
			 "HTTP/1.1 429 Slower\r\nretry-after: %s\r\nContent-Length: 0\r\n\r\n",
			 rows[i].value);
		rawpeer_open(&peer, asker->event, NULL, answer);
		ask(asker, &peer, &reply);
		print_message("# \"%s\": %u\n", rows[i].value, reply.result.retry_after_s);
		assert_true(reply.result.retry_after_s == rows[i].seconds);
		buf_free(&reply.body);
		rawpeer_close(&peer);
	}
}

static void test_question(void **state)
{
	struct asker *asker = *state;
	const char *const headers[] = {"Accept: application/json", NULL};
	struct fetch_request request;
	struct asker_reply reply;
	struct rawpeer peer;
	char url[64];

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	rawpeer_open(&peer, asker->event, NULL, OK);
	request = to_peer(&peer, url);
	request.headers = headers;
	request.server_name = "node-1.example";
	asker_ask(asker, &request, &reply);
	assert_int_equal(reply.result.error, 0);
	assert_memory_equal(buf_str(&peer.asked), "GET /a?b=c HTTP/1.1\r\n", 21);
	assert_non_null(strstr(buf_str(&peer.asked), "\r\nAccept: application/json\r\n"));
	assert_non_null(strstr(buf_str(&peer.asked), "\r\nHost: node-1.example:"));
	assert_null(strstr(buf_str(&peer.asked), "Authorization"));
	buf_free(&reply.body);
	request.body = "x=\0y";
	request.body_len = 4;
	asker_ask(asker, &request, &reply);
	assert_memory_equal(buf_str(&peer.asked), "POST /a?b=c HTTP/1.1\r\n", 22);
	assert_memory_equal(buf_str(&peer.asked) + peer.asked.len - 4, "x=\0y", 4);
	buf_free(&reply.body);
	request.method = "PATCH";
	asker_ask(asker, &request, &reply);
	assert_memory_equal(buf_str(&peer.asked), "PATCH /a?b=c HTTP/1.1\r\n", 23);
	assert_memory_equal(buf_str(&peer.asked) + peer.asked.len - 4, "x=\0y", 4);
	buf_free(&reply.body);
	rawpeer_close(&peer);
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
}

static void test_refused(void **state)
{
	static const char *const line_break[] = {"A: b\r\nC: d", NULL};
	static const struct {
		struct fetch_request request;
		int error;
	} rows[] = {
		{{.url = "ftp://127.0.0.1/"}, -EINVAL},
		{{.url = "file:///etc/passwd"}, -EINVAL},
		{{.url = "127.0.0.1:10250/pods"}, -EINVAL},
		{{.url = ""}, -EINVAL},
		{{.url = "https://joe:secret@127.0.0.1/"}, -EINVAL},
		{{.url = "https://joe@127.0.0.1/"}, -EINVAL},
		{{.url = "http://127.0.0.1:10255/pods", .token = "abc"}, -EPERM},
		{{.url = "https://127.0.0.1/", .token = "abc\r\nX: y"}, -EINVAL},
		{{.url = "https://127.0.0.1/", .token = "abc def"}, -EINVAL},
		{{.url = "https://127.0.0.1/", .token = ""}, -EINVAL},
		{{.url = "https://127.0.0.1/", .server_name = "a b"}, -EINVAL},
		{{.url = "https://127.0.0.1/", .headers = line_break}, -EINVAL},
		{{.url = "https://127.0.0.1/", .method = ""}, -EINVAL},
		{{.url = "https://127.0.0.1/", .method = "GET /a\r\n"}, -EINVAL},
		{{.url = "https://127.0.0.1/", .method = "CONNECTS"}, -EINVAL},
	};
	struct asker *asker = *state;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct fetch_call *call;

		print_message("# request %zu\n", i);
		assert_int_equal(fetch_start(asker->fetch, &rows[i].request, &call), rows[i].error);
	}
}

static void test_unreachable(void **state)
{
	struct asker *asker = *state;
	struct fetch_request request = {.url = "http://x/", .unix_path = "/nowhere/at/all"};
	struct asker_reply reply;
	struct rawpeer peer;
	char url[64];

	asker_ask(asker, &request, &reply);
	assert_int_equal(reply.result.error, -ENOENT);
	rawpeer_open(&peer, asker->event, NULL, OK);
	request = to_peer(&peer, url);
	rawpeer_close(&peer);
	asker_ask(asker, &request, &reply);
	assert_int_equal(reply.result.error, -ECONNREFUSED);
	assert_true(strlen(reply.result.text) > 0);
}

enum slowness { SILENT, TRICKLING, FALLING_SILENT };

static void test_slow(void **state)
{
	static const struct {
		enum slowness slowness;
		uint64_t timeout_ns, idle_ns;
		const char *answer;
	} rows[] = {
		{SILENT, 200 * ASKER_MS, 0, OK},
		{SILENT, 0, 200 * ASKER_MS, OK},
		{TRICKLING, 200 * ASKER_MS, 20000 * ASKER_MS, "HTTP/1.1 100 Continue\r\n\r\n"},
		{TRICKLING, 200 * ASKER_MS, 0, "HTTP/1.1 200 OK\r\nA: b"},
		{FALLING_SILENT, 0, 200 * ASKER_MS,
		 "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel"},
	};
	struct asker *asker = *state;

	for (size_t i = 0; i < LEN(rows); i++) {
		unsigned int ticks = asker->ticks;
		struct fetch_request request;
		struct asker_reply reply;
		struct rawpeer peer;
		char url[64];

		print_message("# slowness %zu\n", i);
		rawpeer_open(&peer, asker->event, NULL, rows[i].answer);
		peer.len = rows[i].slowness == SILENT ? 0 : peer.len;
		peer.stays = true;
		peer.trickles = rows[i].slowness == TRICKLING;
		request = to_peer(&peer, url);
		request.timeout_ns = rows[i].timeout_ns;
		request.idle_timeout_ns = rows[i].idle_ns;
		asker_ask(asker, &request, &reply);
		assert_int_equal(reply.result.error, -ETIMEDOUT);
		assert_true(asker->ticks > ticks + 1);
		buf_free(&reply.body);
		rawpeer_close(&peer);
	}
}

static void test_headers(void **state)
{
	_cleanup_(buf_free) struct buf many = {};
	struct asker *asker = *state;
	struct asker_reply reply;
	struct rawpeer peer;

	buf_adds(&many, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 20000; i++)
		buf_printf(&many, "X-%d: 0123456789\r\n", i);
	rawpeer_open(&peer, asker->event, NULL, buf_str(&many));
	peer.stays = true;
	ask(asker, &peer, &reply);
	assert_int_equal(reply.result.error, -EMSGSIZE);
	assert_string_equal(reply.result.text, "the answer has too many headers");
	rawpeer_close(&peer);
}

struct stream {
	struct asker_reply reply; /* first: asker_done() takes it for that */
	struct fetch_call *other; /* to be cancelled with the first piece */
	struct buf got;
	int answer;
};

static int on_data(void *userdata, const void *data, size_t len)
{
	struct stream *stream = userdata;

	stream->other = fetch_cancel(stream->other);
	buf_add(&stream->got, data, len);
	return stream->answer;
}

static void test_stream(void **state)
{
	struct asker *asker = *state;
	struct asker_reply cancelled = {};
	struct stream stream = {};
	struct rawpeer peer, silent;
	char url[64], silent_url[64];

	rawpeer_open(&peer, asker->event, NULL, OK);
	rawpeer_open(&silent, asker->event, NULL, "");
	silent.stays = true;
	for (int i = 0; i < 2; i++) {
		struct fetch_request request = to_peer(&silent, silent_url);
		struct fetch_call *call;

		request.done = asker_done;
		request.userdata = &cancelled;
		assert_int_equal(fetch_start(asker->fetch, &request, &stream.other), 0);
		request = to_peer(&peer, url);
		request.done = asker_done;
		request.data = on_data;
		request.userdata = &stream;
		stream.answer = i ? -ESTALE : 0;
		assert_int_equal(fetch_start(asker->fetch, &request, &call), 0);
		while (!stream.reply.done)
			asker_turn(asker);
		assert_string_equal(buf_str(&stream.got), "hello");
		assert_int_equal(stream.reply.result.error, stream.answer);
		assert_int_equal(stream.reply.result.len, 0);
		assert_null(stream.other);
		buf_reset(&stream.got);
		stream.reply.done = 0;
	}
	assert_int_equal(cancelled.done, 0);
	buf_free(&stream.got);
	rawpeer_close(&silent);
	rawpeer_close(&peer);
}

static void test_error_page(void **state)
{
	struct asker *asker = *state;
	struct stream stream = {};
	struct fetch_request request;
	struct fetch_call *call;
	struct rawpeer peer;
	char url[64];

	rawpeer_open(&peer, asker->event, NULL,
		     "HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nhello");
	request = to_peer(&peer, url);
	request.data = on_data;
	request.done = asker_done;
	request.userdata = &stream;
	assert_int_equal(fetch_start(asker->fetch, &request, &call), 0);
	while (!stream.reply.done)
		asker_turn(asker);
	assert_int_equal(stream.got.len, 0);
	assert_int_equal(stream.reply.result.status, 503);
	rawpeer_close(&peer);
}

static void test_cancel(void **state)
{
	struct asker *asker = *state;
	struct asker_reply cancelled = {}, reply;
	struct fetch_request request;
	struct fetch_call *calls[3];
	struct rawpeer silent, peer;
	char url[64];

	rawpeer_open(&silent, asker->event, NULL, "");
	silent.stays = true;
	rawpeer_open(&peer, asker->event, NULL, OK);
	request = to_peer(&silent, url);
	request.done = asker_done;
	request.userdata = &cancelled;
	for (size_t i = 0; i < LEN(calls); i++)
		assert_int_equal(fetch_start(asker->fetch, &request, &calls[i]), 0);
	fetch_cancel(calls[0]);
	while (silent.accepted < 2)
		asker_turn(asker);
	fetch_cancel(calls[1]);
	ask(asker, &peer, &reply);
	assert_int_equal(reply.result.error, 0);
	buf_free(&reply.body);
	/* The third is under way when the client goes. */
	asker->fetch = fetch_free(asker->fetch);
	asker_turn(asker);
	assert_int_equal(cancelled.done, 0);
	rawpeer_close(&silent);
	rawpeer_close(&peer);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("every answer ends a request with its one error, in one clean line",
		     test_answers),
		BOTH("what is asked for is asked, past the environment's proxies", test_question),
		BOTH("Retry-After counts in seconds, and as no more than fits", test_retry_after),
		BOTH("other schemes, passwords, line breaks and tokens in the clear are refused",
		     test_refused),
		BOTH("a peer that is not there is reported as by connect()", test_unreachable),
		BOTH("silence and trickling end with their timeout while the loop turns",
		     test_slow),
		BOTH("headers without end are refused", test_headers),
		BOTH("a stream is reported as it comes, and may end itself or cancel others",
		     test_stream),
		BOTH("an error's page is no stream", test_error_page),
		BOTH("a cancelled request is never reported", test_cancel),
	};

	return cmocka_run_group_tests_name("io/fetch", tests, NULL, NULL);
}
