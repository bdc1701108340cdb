// SPDX-License-Identifier: Apache-2.0
/* Claims about io/http/web: what clients that mean well get. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "io/files/fd.h"
#include "lib/claim.h"
#include "lib/net/webc.h"

static const struct web_config defaults;

static void test_pages(void **state)
{
	static const struct {
		const char *path;
		unsigned int status;
		const char *body; /* NULL: not looked at */
	} table[] = {
		{"/", 200, "hello\n"},
		{"/?a=b&c", 200, "hello\n"},
		{"http://example.x/?a", 200, "hello\n"},
		{"http://example.x", 200, "hello\n"},
		{"/nothing", 404, "There is no /nothing here.\n"},
		{"/%6detrics", 404, "There is no /%6detrics here.\n"},
		{"/%00", 404, "There is no /%00 here.\n"},
		{"//metrics", 404, NULL},
		{"/moved", 302, ""},
		{"/broken", 500, NULL},
		{"/no-status", 500, NULL},
		{"/metrics", 200, NULL},
		{"/each?x", 200, NULL},
	};
	struct site site;

	site_open(&site, &defaults);
	for (size_t i = 0; i < LEN(table); i++) {
		struct webc_reply reply;

		print_message("%s\n", table[i].path);
		assert_int_equal(webc_get(&site, table[i].path, "", &reply), table[i].status);
		if (table[i].body)
			assert_string_equal(buf_str(&reply.body), table[i].body);
		assert_string_equal(webc_header(&reply, "Cache-Control"), "no-store");
		assert_string_equal(webc_header(&reply, "X-Content-Type-Options"), "nosniff");
		assert_string_equal(webc_header(&reply, "Vary"), "Accept, Accept-Encoding");
		assert_null(webc_header(&reply, "Server"));
		if (table[i].status == 302)
			assert_string_equal(webc_header(&reply, "Location"), "/");
		webc_reply_free(&reply);
	}
	site_close(&site);
}

static void test_methods(void **state)
{
	static const struct {
		const char *request;
		unsigned int status;
	} table[] = {
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405},
		{"PUT /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 405},
		{"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"get / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 413},
		{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n"
		 "Expect: 100-continue\r\n\r\n",
		 413},
		{"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		 413},
	};
	struct site site;

	site_open(&site, &defaults);
	for (size_t i = 0; i < LEN(table); i++) {
		struct webc_reply reply;
		struct webc c;

		print_message("line %zu of the table\n", i);
		webc_open(&site, &c);
		assert_true(webc_sends(&site, &c, table[i].request));
		assert_true(webc_reply(&site, &c, false, &reply));
		assert_int_equal(reply.status, table[i].status);
		if (reply.status == 405)
			assert_string_equal(webc_header(&reply, "Allow"), "GET, HEAD");
		webc_reply_free(&reply);
		webc_await_end(&site, &c);
		assert_int_equal(c.got.len, 0);
		webc_close(&c);
	}
	assert_int_equal(site.rendered, 0);
	assert_int_equal(site_stats(&site).requests[4], LEN(table));
	assert_int_equal(webc_get(&site, "/", "Content-Length: 0\r\n", NULL), 200);
	site_close(&site);
}

static void test_head(void **state)
{
	static const char *const paths[] = {"/", "/metrics", "/nothing"};
	struct site site;

	site_open(&site, &defaults);
	for (size_t i = 0; i < LEN(paths); i++) {
		struct webc_reply get, head;
		struct buf request = {};
		struct webc c;
		char length[32];

		webc_get(&site, paths[i], "", &get);
		webc_open(&site, &c);
		buf_printf(&request, "HEAD %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			   paths[i]);
		assert_true(webc_sends(&site, &c, buf_str(&request)));
		assert_true(webc_reply(&site, &c, true, &head));
		assert_int_equal(head.status, get.status);
		snprintf(length, sizeof(length), "%s", webc_header(&get, "Content-Length"));
		assert_string_equal(webc_header(&head, "Content-Length"), length);
		webc_await_end(&site, &c);
		assert_int_equal(c.got.len, 0);
		webc_close(&c);
		buf_free(&request);
		webc_reply_free(&get);
		webc_reply_free(&head);
	}
	site_close(&site);
}

static void test_keep_alive(void **state)
{
	static const struct {
		const char *request;
		bool stays;
	} table[] = {
		{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", true},
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", true},
		{"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", true},
		{"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false},
		{"GET / HTTP/1.0\r\n\r\n", false},
	};
	struct site site;

	site_open(&site, &defaults);
	for (size_t i = 0; i < LEN(table); i++) {
		uint64_t accepted = site_stats(&site).accepted;
		struct webc_reply reply;
		struct webc c;

		webc_open(&site, &c);
		for (int k = 0; k < (table[i].stays ? 3 : 1); k++) {
			assert_true(webc_sends(&site, &c, table[i].request));
			assert_true(webc_reply(&site, &c, false, &reply));
			webc_reply_free(&reply);
		}
		site_settle(&site);
		assert_int_equal(site_stats(&site).accepted, accepted + 1);
		if (!table[i].stays)
			webc_await_end(&site, &c);
		assert_int_equal(site_stats(&site).connections, table[i].stays);
		webc_close(&c);
		site_settle(&site);
		assert_int_equal(site_stats(&site).connections, 0);
	}
	site_close(&site);
}

static void test_half_close(void **state)
{
	static const char *const requests[] = {
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	struct webc_reply reply;
	struct site site;
	struct webc c;

	site_open(&site, &defaults);
	for (size_t i = 0; i < LEN(requests); i++) {
		webc_open(&site, &c);
		assert_true(webc_sends(&site, &c, requests[i]));
		shutdown(c.fd, SHUT_WR);
		assert_true(webc_reply(&site, &c, false, &reply));
		assert_int_equal(reply.body.len, i ? site.bytes : 6);
		webc_reply_free(&reply);
		webc_await_end(&site, &c);
		webc_close(&c);
	}
	assert_int_equal(site_stats(&site).expired, 0);
	site_close(&site);
}

static void test_pipelining(void **state)
{
	enum { REQUESTS = 2000 };
	struct buf requests = {};
	struct site site;
	struct webc c;

	site_open(&site, &defaults);
	for (int i = 0; i < REQUESTS; i++)
		buf_printf(&requests, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
	webc_open(&site, &c);
	assert_true(webc_send(&site, &c, requests.data, requests.len));
	for (int i = 0; i < REQUESTS; i++) {
		struct webc_reply reply;
		int number;

		assert_true(webc_reply(&site, &c, false, &reply));
		assert_int_equal(sscanf(buf_str(&reply.body), "There is no /%d", &number), 1);
		assert_int_equal(number, i);
		webc_reply_free(&reply);
	}
	webc_close(&c);
	buf_free(&requests);
	site_close(&site);
}

/* Everything of a gzip file, into ret. */
static void gunzip(const struct buf *from, struct buf *ret)
{
	z_stream stream = {.next_in = (Bytef *)from->data, .avail_in = (uInt)from->len};
	int r;

	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	do {
		stream.next_out = (Bytef *)buf_reserve(ret, 65536);
		stream.avail_out = 65536;
		r = inflate(&stream, Z_NO_FLUSH);
		buf_commit(ret, 65536 - stream.avail_out);
	} while (r == Z_OK);
	assert_int_equal(r, Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	inflateEnd(&stream);
}

static void test_gzip(void **state)
{
	struct webc_reply reply;
	struct buf plain = {};
	struct site site;

	site_open(&site, &defaults);
	for (int i = 0; i < 2; i++) {
		webc_get(&site, "/metrics", "Accept-Encoding: gzip, br\r\n", &reply);
		assert_string_equal(webc_header(&reply, "Content-Encoding"), "gzip");
		assert_true(reply.body.len < site.bytes / 4);
		buf_reset(&plain);
		gunzip(&reply.body, &plain);
		assert_true(site_is_page(&site, EXPO_TEXT, plain.data, plain.len));
		webc_reply_free(&reply);
	}
	buf_free(&plain);
	webc_get(&site, "/metrics", "Accept-Encoding: gzip;q=0\r\n", &reply);
	assert_null(webc_header(&reply, "Content-Encoding"));
	assert_true(site_is_page(&site, EXPO_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
	webc_get(&site, "/", "Accept-Encoding: gzip\r\n", &reply);
	assert_null(webc_header(&reply, "Content-Encoding"));
	assert_string_equal(buf_str(&reply.body), "hello\n");
	webc_reply_free(&reply);
	assert_int_equal(site.rendered, 2);
	site_close(&site);
}

static void test_formats(void **state)
{
	static const char om[] = "Accept: application/openmetrics-text;version=1.0.0\r\n";
	struct webc_reply reply;
	struct site site;

	site_open(&site, &defaults);
	for (int i = 0; i < 100; i++) {
		enum expo_format format = i % 2 ? EXPO_OPENMETRICS : EXPO_TEXT;

		webc_get(&site, "/metrics", i % 2 ? om : "", &reply);
		assert_string_equal(webc_header(&reply, "Content-Type"),
				    negotiate_content_type(format));
		assert_true(site_is_page(&site, format, reply.body.data, reply.body.len));
		webc_reply_free(&reply);
	}
	assert_int_equal(site.rendered, 2);
	assert_int_equal(site_stats(&site).requests[2], 100);
	assert_int_equal(site_stats(&site).rendered, 2);
	webc_get(&site, "/each", "", NULL);
	webc_get(&site, "/each", "", NULL);
	assert_int_equal(site.rendered, 4);
	site_close(&site);
}

static void test_why_not(void **state)
{
	char taken[32], sentence[128];
	const struct {
		const char *listen, *why;
		int r;
	} table[] = {
		{taken, sentence, -EADDRINUSE},
		{"192.0.2.1:0", "cannot listen on 192.0.2.1:0: Cannot assign requested address",
		 -EADDRNOTAVAIL},
		{"9753", "cannot listen on 9753: it is not ADDRESS:PORT", -EINVAL},
		{"", "cannot listen on : it is not ADDRESS:PORT", -EINVAL},
	};
	struct site site;

	site_open(&site, &defaults);
	snprintf(taken, sizeof(taken), "127.0.0.1:%d", site.port);
	snprintf(sentence, sizeof(sentence), "cannot listen on %s: Address already in use", taken);
	for (size_t i = 0; i < LEN(table); i++) {
		const char *listen[] = {"127.0.0.1:0", table[i].listen};
		struct web_config config = {.listen = listen, .n_listen = 2};
		struct web *web = NULL;
		struct web_why why;

		assert_int_equal(web_new(site.event, &config, NULL, NULL, &web, &why), table[i].r);
		assert_string_equal(why.text, table[i].why);
		assert_null(web);
	}
	site_close(&site);
}

static bool answers(struct site *site, int family, uint16_t port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} to = {};
	struct webc_reply reply = {};
	struct webc c;
	bool ok;

	if (family == AF_INET)
		to.v4 = (struct sockaddr_in){.sin_addr = {htonl(INADDR_LOOPBACK)}};
	else
		to.v6 = (struct sockaddr_in6){.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	to.any.sa_family = (sa_family_t)family;
	to.v4.sin_port = htons(port);
	c = (struct webc){.fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	ok = c.fd >= 0 && connect(c.fd, &to.any, sizeof(to)) == 0;
	if (ok) {
		fcntl(c.fd, F_SETFL, O_NONBLOCK);
		assert_true(webc_sends(site, &c, "GET / HTTP/1.0\r\n\r\n"));
		while (site_stats(site).requests[2] == 0)
			site_turn(site);
		ok = webc_reply(site, &c, false, &reply) && reply.status == 200;
	}
	webc_reply_free(&reply);
	if (c.fd >= 0)
		webc_close(&c);
	return ok;
}

static void test_addresses(void **state)
{
	static const char *const table[] = {"localhost:0", ":0", "[::1]:0"};
	struct sockaddr_in6 one = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	_cleanup_(cleanup_close) int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool v6 = fd >= 0 && bind(fd, (struct sockaddr *)&one, sizeof(one)) == 0;

	for (size_t i = 0; i < LEN(table); i++) {
		struct web_config config = {.listen = &table[i], .n_listen = 1};
		struct site site;

		if (table[i][0] == '[' && !v6) {
			print_message("not shown: this host has no IPv6\n");
			continue;
		}
		site_open(&site, &config);
		assert_int_equal(answers(&site, AF_INET, site.port), table[i][0] != '[');
		assert_int_equal(answers(&site, AF_INET6, site.port), v6);
		site_close(&site);
	}
}

static void test_threads(void **state)
{
	struct dirent *entry;
	unsigned int n = 0;
	struct site site;
	DIR *dir;

	site_open(&site, &defaults);
	webc_get(&site, "/", "", NULL);
	dir = opendir("/proc/self/task");
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	assert_int_equal(n, 1);
	site_close(&site);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a path gets its page, whatever the query", test_pages),
		CLAIM("other methods and request bodies are turned away", test_methods),
		CLAIM("HEAD gets the headers of GET and no body", test_head),
		CLAIM("a connection serves many requests unless asked to close", test_keep_alive),
		CLAIM("who has said all gets the answer and the end", test_half_close),
		CLAIM("pipelined requests are answered in order", test_pipelining),
		CLAIM("who takes gzip gets it, and it unpacks to the page", test_gzip),
		CLAIM("each format is made once for all who ask in time", test_formats),
		CLAIM("an address that cannot be had is named with the reason", test_why_not),
		CLAIM("one setting may stand for an address of each family", test_addresses),
		CLAIM("the server has no thread of its own", test_threads),
	};

	return cmocka_run_group_tests_name("io/http/web", tests, NULL, NULL);
}
