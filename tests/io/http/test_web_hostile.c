// SPDX-License-Identifier: Apache-2.0
/* Claims about io/http/web: whatever bytes come and however clients leave, others are served and
 * nothing grows. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/claim.h"
#include "lib/net/webc.h"

#define MS UINT64_C(1000000)

static const struct web_config defaults;

struct garbage {
	const char *bytes;
	size_t len;
};

#define GARBAGE(text)                  \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct garbage garbage[] = {
	GARBAGE("\0\0\0\0\r\n\r\n"),
	GARBAGE("\r\n\r\n\r\n\r\n"),
	GARBAGE("GET\r\n\r\n"),
	GARBAGE("GET /\r\n\r\n"),
	GARBAGE("GET / HTTP/9.9\r\nHost: x\r\n\r\n"),
	GARBAGE("GET / HTTP/0.9\r\nHost: x\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\n\r\n"),
	GARBAGE("GET / SPDY\r\nHost: x\r\n\r\n"),
	GARBAGE("GET /\0metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nAccept\0: */*\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nAccept: \0\xff\xfe;;;,,,q=\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n folded\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\n: x\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost x\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\nHost: x\n\n"),
	GARBAGE("GET  /  HTTP/1.1  \r\nHost: x\r\n\r\n"),
	GARBAGE("GET /?%&=&&=%zz%0 HTTP/1.1\r\nHost: x\r\n\r\n"),
	GARBAGE("GET http:// HTTP/1.1\r\nHost: x\r\n\r\n"),
	GARBAGE("GET * HTTP/1.1\r\nHost: x\r\n\r\n"),
	GARBAGE("GET  HTTP/1.1\r\nHost: x\r\n\r\n"),
	GARBAGE("HEAD /metrics HTTP/1.0\r\n\r\nHEAD"),
	GARBAGE("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff"
		"\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n"
		"\r\n0\r\n\r\n"),
	GARBAGE("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
	GARBAGE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	GARBAGE("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), /* a TLS client's hello */
	GARBAGE("SSH-2.0-OpenSSH_9.2p1\r\n"),
	GARBAGE("\x80\x2e\x01\x03\x01\x00\x15\r\n\r\n\r\n"),
};

/* Sends it, says so that no more will come, and has the server close; what was read stays in c. */
static void send_and_end(struct site *site, struct webc *c, const char *bytes, size_t len)
{
	webc_open(site, c);
	webc_send(site, c, bytes, len);
	site_settle(site);
	webc_read(c, SIZE_MAX);
	shutdown(c->fd, SHUT_WR);
	webc_await_end(site, c);
}

static void test_garbage(void **state)
{
	struct site site;

	site_open(&site, &defaults);
	site.bytes = 20000;
	for (size_t i = 0; i < LEN(garbage); i++) {
		struct webc c;

		print_message("line %zu of the table\n", i);
		send_and_end(&site, &c, garbage[i].bytes, garbage[i].len);
		if (c.got.len)
			assert_memory_equal(c.got.data, "HTTP/1.", 7);
		webc_close(&c);
		site_expect_served(&site);
	}
	site_await_empty(&site);
	site_close(&site);
}

/* Which requests two readers could take for different ones, or are for another host. */
static const struct {
	const char *head; /* but for its end */
	unsigned int status;
} doubtful[] = {
	{"GET / HTTP/1.1\r\nHost: x\r\n", 200},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n", 200},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 27\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 27\r\nContent-Length: 0\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 27\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 27\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length : 27\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n", 413},
	{"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 27\r\nTransfer-Encoding: chunked\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n", 400},
	{"GET / HTTP/1.1\r\n", 400},
	{"GET / HTTP/1.1\r\nHost:\r\n", 400},
	{"GET / HTTP/1.1\r\nHost:\r\n x\r\n", 400},
	{"GET / HTTP/1.1\r\nHost : x\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nHost: evil.example\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: evil.example\r\n", 421},
	{"HEAD /metrics HTTP/1.1\r\nHost: evil.example\r\n", 421},
	{"POST / HTTP/1.1\r\nHost: evil.example\r\n", 421},
	{"GET http://evil.example/ HTTP/1.1\r\nHost: x\r\n", 421},
	{"GET http://x/ HTTP/1.1\r\nHost: evil.example\r\n", 200},
	{"GET http://x@evil.example/ HTTP/1.1\r\nHost: x\r\n", 400},
	{"GET / HTTP/1.0\r\n", 200},
	{"GET / HTTP/1.0\r\nHost: evil.example\r\n", 421},
};

static unsigned int status_of(const struct webc *c)
{
	return c->got.len > 12 ? (unsigned int)atoi(c->got.data + strlen("HTTP/1.1 ")) : 0;
}

/* Whoever is refused has lost the connection, with what follows in it. */
static void test_doubtful(void **state)
{
	static const char next[] = "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct site site;

	site_open(&site, &defaults);
	site.bytes = 100;
	for (size_t i = 0; i < LEN(doubtful); i++) {
		_cleanup_(buf_free) struct buf request = {};
		unsigned int status = doubtful[i].status;
		struct webc c;

		buf_adds(&request, doubtful[i].head);
		buf_adds(&request, next);
		send_and_end(&site, &c, request.data, request.len);
		if (status_of(&c) != status)
			fail_msg("%u: %s", status_of(&c), doubtful[i].head);
		if (status != 200 && memmem(c.got.data, c.got.len, "HTTP/1.1 200", 12))
			fail_msg("what followed was answered: %s", doubtful[i].head);
		webc_close(&c);
	}
	site_await_empty(&site);
	site_close(&site);
}

/* Requests with some bytes changed, from a fixed seed. */
static void test_mutations(void **state)
{
	static const char model[] = "GET /metrics?a=b HTTP/1.1\r\nHost: localhost:9753\r\n"
				    "Accept: text/plain;q=0.5,*/*;q=0.1\r\n"
				    "Accept-Encoding: gzip\r\nContent-Length: 0\r\n\r\n";
	unsigned int seed = 20261121;
	struct site site;

	site_open(&site, &defaults);
	site.bytes = 20000;
	for (int i = 0; i < 1500; i++) {
		char bytes[sizeof(model)];
		struct webc c;
		size_t len;

		memcpy(bytes, model, sizeof(model));
		for (int k = rand_r(&seed) % 4; k >= 0; k--) {
			size_t at = (size_t)rand_r(&seed) % (sizeof(model) - 1);
			size_t from = (size_t)rand_r(&seed) % (sizeof(model) - 1);

			bytes[at] = k % 2 ? model[from] : (char)rand_r(&seed);
		}
		len = (size_t)rand_r(&seed) % 8 ? sizeof(model) - 1
						: (size_t)rand_r(&seed) % sizeof(model);
		send_and_end(&site, &c, bytes, len);
		webc_close(&c);
	}
	site_expect_served(&site);
	site_await_empty(&site);
	site_close(&site);
}

static void test_long(void **state)
{
	static const struct {
		const char *start, *piece, *end;
	} table[] = {
		{"GET /", "x", " HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"GET /?", "a=b&", " HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"", "GET", " / HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"GET / HTTP/1.1\r\nHost: x\r\nX: ", "y", "\r\n\r\n"},
		{"GET / HTTP/1.1\r\nHost: x\r\n", "X: y\r\n", "\r\n"},
		{"GET / HTTP/1.1\r\nHost: x\r\nCookie: ", "a=b;", "\r\n\r\n"},
		{"GET / HTTP/1.1\r\nHost: x\r\nX: y", "\r\n y", "\r\n\r\n"},
		{"", "\r\n", "GET"},
		{"GET / HTTP/1.1\r\nHost: x\r\nAccept: ", "*/*;q=1,", "\r\n\r\n"},
	};
	struct site site;

	site_open(&site, &defaults);
	site.bytes = 20000;
	for (size_t i = 0; i < LEN(table); i++) {
		struct buf request = {};
		unsigned int status;
		struct webc c;

		print_message("line %zu of the table\n", i);
		buf_adds(&request, table[i].start);
		while (request.len < 64 << 10)
			buf_adds(&request, table[i].piece);
		buf_adds(&request, table[i].end);
		send_and_end(&site, &c, request.data, request.len);
		/* A server that closes before it has read all may cost the client the reply. */
		if (sscanf(buf_str(&c.got), "HTTP/1.1 %u", &status) == 1)
			assert_in_range(status, 400, 499);
		webc_close(&c);
		buf_free(&request);
		site_expect_served(&site);
	}
	assert_int_equal(site_stats(&site).requests[2], LEN(table));
	site_await_empty(&site);
	site_close(&site);
}

static void test_half(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
	/* The end of one that leaves in the middle of a request may go unheard until then. */
	struct web_config config = {.receive_ns = 20 * MS};
	struct site site;

	site_open(&site, &config);
	for (size_t len = 0; len < sizeof(request); len++) {
		for (int how = 0; how < 3; how++) {
			struct webc c;

			webc_open(&site, &c);
			webc_send(&site, &c, request, len);
			if (how)
				site_settle(&site);
			if (how == 2)
				webc_reset(&c);
			else
				webc_close(&c);
			site_settle(&site);
		}
	}
	site_expect_served(&site);
	site_await_empty(&site);
	assert_int_equal(site_stats(&site).bodies, 1);
	site_close(&site);
}

/* One visit of each sort, as fast as they come. */
static void visit(struct site *site, int i)
{
	struct webc c;

	if (i % 5 == 0) {
		assert_int_equal(webc_get(site, "/", "Accept-Encoding: gzip\r\n", NULL), 200);
		return;
	}
	webc_open(site, &c);
	if (i % 5 > 2)
		webc_sends(site, &c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
	if (i % 5 == 4)
		site_settle(site);
	if (i % 2)
		webc_reset(&c);
	else
		webc_close(&c);
	if (i % 7 == 0)
		site_settle(site);
}

static void test_flat(void **state)
{
	struct mallinfo2 before = {}, after;
	unsigned int fds = 0;
	struct site site;

	site_open(&site, &defaults);
	site.bytes = 100000;
	for (int i = 0; i < 5000; i++) {
		visit(&site, i);
		if (i != 1000)
			continue;
		site_expect_served(&site);
		site_await_empty(&site);
		before = mallinfo2();
		fds = site_count_fds();
	}
	site_expect_served(&site);
	site_await_empty(&site);
	after = mallinfo2();
	assert_int_equal(site_count_fds(), fds);
	/* The sanitizer's allocator shows nothing here, and reports what leaks itself. */
	assert_in_range(after.uordblks + after.hblkhd, 0, before.uordblks + before.hblkhd + 4096);
	assert_int_equal(site_stats(&site).bodies, 1);
	site_close(&site);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("garbage gets an error or nothing, and others are served", test_garbage),
		CLAIM("what two readers could take for different requests, or is for another host, is "
		      "refused, and what follows it is not read",
		      test_doubtful),
		CLAIM("requests with changed bytes do no harm", test_mutations),
		CLAIM("64 KiB of request line or headers are turned away", test_long),
		CLAIM("a client that leaves at any point leaves nothing behind", test_half),
		CLAIM("5,000 quick connections cost no descriptor and no memory", test_flat),
	};

	return cmocka_run_group_tests_name("io/http/web, hostile", tests, NULL, NULL);
}
