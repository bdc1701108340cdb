// SPDX-License-Identifier: Apache-2.0
/* Claims about io/web: whatever some clients do, others are served, and nothing grows. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/webc.h"

#define MS UINT64_C(1000000)

static const struct web_config defaults;

static unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A client that means well gets the whole page. */
static void expect_served(struct site *site)
{
	struct webc_reply reply;

	assert_int_equal(webc_get(site, "/metrics", "", &reply), 200);
	assert_true(site_is_page(site, NEGOTIATE_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
}

/* All that is left of clients that went is gone, too. */
static void expect_empty(struct site *site)
{
	while (site_stats(site).connections)
		site_turn(site);
}

static void test_idle(void **state)
{
	enum { IDLE = 1000 };
	static struct webc idle[IDLE];
	unsigned int before;
	struct site site;

	(void)state;
	site_open(&site, &defaults);
	before = count_fds();
	for (int i = 0; i < IDLE; i++) {
		webc_open(&site, &idle[i]);
		if (i % 3 == 0)
			webc_sends(&site, &idle[i], "GET /metrics HTTP/1.1\r\nHos");
		if (i % 50 == 0)
			expect_served(&site);
		assert_true(site_stats(&site).connections <= 256 + 64);
	}
	site_settle(&site);
	expect_served(&site);
	assert_true(site_stats(&site).connections <= 256);
	assert_true(site_stats(&site).evicted >= IDLE - 256);
	assert_int_equal(site_stats(&site).refused, 0);
	for (int i = 0; i < IDLE; i++)
		webc_close(&idle[i]);
	expect_empty(&site);
	assert_int_equal(count_fds(), before);
	site_close(&site);
}

static void test_new_first(void **state)
{
	struct web_config config = {.max_connections = 8};
	struct webc crowd[100], c;
	struct site site;

	(void)state;
	site_open(&site, &config);
	/* Who is in the middle of a crowd of others that come at the same moment is served. */
	for (int round = 0; round < 20; round++) {
		struct webc_reply reply;

		for (int i = 0; i < 50; i++)
			webc_open(&site, &crowd[i]);
		webc_open(&site, &c);
		assert_true(webc_sends(&site, &c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
		for (int i = 50; i < 100; i++)
			webc_open(&site, &crowd[i]);
		assert_true(webc_reply(&site, &c, false, &reply));
		webc_reply_free(&reply);
		webc_close(&c);
		for (int i = 0; i < 100; i++)
			webc_close(&crowd[i]);
	}
	expect_empty(&site);
	site_close(&site);
}

static void test_bounded_turn(void **state)
{
	enum { CROWD = 300 };
	static struct webc crowd[CROWD];
	struct site site;

	(void)state;
	site_open(&site, &defaults);
	for (int i = 0; i < CROWD; i++)
		webc_open(&site, &crowd[i]);
	for (uint64_t seen = 0; seen < CROWD;) {
		uint64_t accepted;

		site_turn(&site);
		accepted = site_stats(&site).accepted;
		assert_true(accepted <= seen + 64);
		seen = accepted;
	}
	for (int i = 0; i < CROWD; i++)
		webc_close(&crowd[i]);
	site_close(&site);
}

static void test_byte_by_byte(void **state)
{
	struct webc_reply reply;
	struct site site;
	struct webc c;

	(void)state;
	site_open(&site, &defaults);
	webc_open(&site, &c);
	assert_true(webc_sends(&site, &c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
	for (int i = 0; i < 2000; i++) {
		site_settle(&site);
		webc_read(&c, 1);
		if (i % 100 == 0)
			expect_served(&site);
	}
	assert_int_equal(c.got.len, 2000);
	assert_true(webc_reply(&site, &c, false, &reply));
	assert_true(site_is_page(&site, NEGOTIATE_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
	webc_close(&c);
	assert_int_equal(site.rendered, 1);
	site_close(&site);
}

/* They ask for a page that is made anew each time, and do not read it. */
static void test_slow_readers(void **state)
{
	enum { READERS = 40 };
	struct webc readers[READERS];
	struct webc_reply reply;
	struct site site;

	(void)state;
	site_open(&site, &defaults);
	for (int i = 0; i < READERS; i++) {
		webc_open(&site, &readers[i]);
		assert_true(
			webc_sends(&site, &readers[i], "GET /each HTTP/1.1\r\nHost: x\r\n\r\n"));
		while (site.rendered <= (unsigned int)i)
			site_turn(&site);
		assert_true(site_stats(&site).bodies <= 4);
	}
	site_settle(&site);
	assert_true(site_stats(&site).connections <= 4);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < 8 * site.bytes);
	expect_served(&site);
	assert_int_equal(webc_get(&site, "/each", "", &reply), 200);
	assert_true(site_is_page(&site, NEGOTIATE_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
	for (int i = 0; i < READERS; i++)
		webc_close(&readers[i]);
	expect_empty(&site);
	assert_int_equal(site_stats(&site).bodies, 1);
	site_close(&site);
}

static void test_too_slow(void **state)
{
	struct web_config config = {
		.receive_ns = 20 * MS,
		.idle_ns = 20 * MS,
		.send_ns = 20 * MS,
	};
	static const char *const starts[] = {
		"",
		"\r\n",
		"G",
		"GET / HTTP/1.1\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX-Y: ",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n",
		"GET /each HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	struct site site;
	struct webc c;

	(void)state;
	site_open(&site, &config);
	for (size_t i = 0; i < LEN(starts); i++) {
		webc_open(&site, &c);
		assert_true(webc_sends(&site, &c, starts[i]));
		while (site_stats(&site).expired <= i)
			site_turn(&site);
		webc_await_end(&site, &c);
		webc_close(&c);
	}
	/* Some bytes now and then are no excuse. */
	webc_open(&site, &c);
	assert_true(webc_sends(&site, &c, "GET / HTTP/1.1\r\nX: "));
	while (!c.ended) {
		webc_sends(&site, &c, "y");
		site_turn(&site);
		webc_read(&c, 65536);
	}
	webc_close(&c);
	expect_empty(&site);
	assert_int_equal(site_stats(&site).bodies, 0);
	site_close(&site);
}

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

	(void)state;
	site_open(&site, &defaults);
	site.bytes = 20000;
	for (size_t i = 0; i < LEN(garbage); i++) {
		struct webc c;

		print_message("line %zu of the table\n", i);
		send_and_end(&site, &c, garbage[i].bytes, garbage[i].len);
		if (c.got.len)
			assert_memory_equal(c.got.data, "HTTP/1.", 7);
		webc_close(&c);
		expect_served(&site);
	}
	expect_empty(&site);
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

	(void)state;
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
	expect_served(&site);
	expect_empty(&site);
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

	(void)state;
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
		expect_served(&site);
	}
	assert_int_equal(site_stats(&site).requests[2], LEN(table));
	expect_empty(&site);
	site_close(&site);
}

static void test_half(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
	/* The end of one that leaves in the middle of a request may go unheard until then. */
	struct web_config config = {.receive_ns = 20 * MS};
	struct site site;

	(void)state;
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
	expect_served(&site);
	expect_empty(&site);
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

	(void)state;
	site_open(&site, &defaults);
	site.bytes = 100000;
	for (int i = 0; i < 5000; i++) {
		visit(&site, i);
		if (i != 1000)
			continue;
		expect_served(&site);
		expect_empty(&site);
		before = mallinfo2();
		fds = count_fds();
	}
	expect_served(&site);
	expect_empty(&site);
	after = mallinfo2();
	assert_int_equal(count_fds(), fds);
	/* The sanitizer's allocator tells nothing here, and reports what leaks itself. */
	assert_in_range(after.uordblks + after.hblkhd, 0, before.uordblks + before.hblkhd + 4096);
	assert_int_equal(site_stats(&site).bodies, 1);
	site_close(&site);
}

static void test_no_descriptors(void **state)
{
	struct rlimit limit, few;
	struct webc c[3];
	struct site site;

	(void)state;
	site_open(&site, &defaults);
	expect_served(&site);
	expect_empty(&site);
	for (size_t i = 0; i < LEN(c); i++)
		webc_open(&site, &c[i]);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = (rlim_t)c[2].fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (site_stats(&site).refused < 2)
		site_turn(&site);
	/* Waiting for descriptors, it does not spin. */
	assert_int_equal(sd_event_run(site.event, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (site_stats(&site).accepted < 1 + LEN(c))
		site_turn(&site);
	expect_served(&site);
	for (size_t i = 0; i < LEN(c); i++)
		webc_close(&c[i]);
	expect_empty(&site);
	site_close(&site);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("1,000 idle connections keep nobody out", test_idle),
		CLAIM("who comes in a crowd is served before it is pushed out", test_new_first),
		CLAIM("one turn of the loop takes in 64 clients at most", test_bounded_turn),
		CLAIM("a client that reads byte by byte holds nobody up", test_byte_by_byte),
		CLAIM("readers that do not read hold four bodies at most", test_slow_readers),
		CLAIM("who takes too long is closed, whatever it is at", test_too_slow),
		CLAIM("garbage gets an error or nothing, and others are served", test_garbage),
		CLAIM("requests with changed bytes do no harm", test_mutations),
		CLAIM("64 KiB of request line or headers are turned away", test_long),
		CLAIM("a client that leaves at any point leaves nothing behind", test_half),
		CLAIM("5,000 quick connections cost no descriptor and no memory", test_flat),
		CLAIM("without descriptors it waits for some, and goes on", test_no_descriptors),
	};
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return cmocka_run_group_tests_name("io/web, hostile", tests, NULL, NULL);
}
