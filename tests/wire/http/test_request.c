// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/http/request: which requests are refused, and with which status. */
#include "wire/http/request.h"

#include <string.h>

#include "lib/claim.h"

static const char *const names[] = {"node-1", "Node-1.Example.com", "*.svc.example", "a_b"};

static unsigned int judge(const char *host, const char *target, const char *version, size_t n)
{
	struct reqhead head = {};

	if (host)
		reqhead_add(&head, "hOST", 4, host, strlen(host));
	return reqhead_judge(&head, "GET", target, version, names, n);
}

static const struct {
	const char *host;
	unsigned int status;
} hosts[] = {
	{"127.0.0.1", 0},
	{"127.0.0.1:9753", 0},
	{"127.0.0.1:", 0},
	{"10.1.2.3:65535", 0},
	{"10.1.2.3:65536", 400},
	{"10.1.2.3:99999999999999999999", 400},
	{"10.1.2.3:-1", 400},
	{"10.1.2.3:80:80", 400},
	{"10.1.2.3 ", 0},
	{"127.0.0.1:9753 \t", 0},
	{" 127.0.0.1", 400},
	{"127.0.0.1 :80", 400},
	{" ", 400},
	{"10.1.2", 421}, /* a name: no browser sends an address so */
	{"0x7f.1", 421},
	{"10.1.2.3.evil.example", 421},
	{"[::1]", 0},
	{"[fe80::1]:9753", 0},
	{"[::ffff:10.1.2.3]", 0},
	{"[::1", 400},
	{"[]", 400},
	{"[", 400},
	{"[::1]9753", 400},
	{"[evil.example]", 400},
	{"::1", 400},
	{"localhost", 0},
	{"LOCALHOST.:80", 0},
	{"localhost.evil.example", 421},
	{"evil-localhost", 421},
	{"", 400},
	{":80", 400},
	{".", 400},
	{"node-1", 0},
	{"NODE-1:9753", 0},
	{"node-1.evil.example", 421},
	{"node-1.example.com", 0},
	{"node-1.example.com.", 0},
	{"x.node-1.example.com", 421},
	{"example.com", 421},
	{"a.svc.example", 0},
	{"a.b.SVC.example:1", 0},
	{"svc.example", 421},
	{".svc.example", 400},
	{"evilsvc.example", 421},
	{"a_b", 0},
	{"*", 400},
	{"a..b", 400},
	{"x@127.0.0.1", 400},
	{"127.0.0.1/", 400},
	{"127.0.0.1,evil.example", 400},
	{"evil%2eexample", 400},
};

static void test_hosts(void **state)
{
	char longest[300];

	for (size_t i = 0; i < LEN(hosts); i++) {
		unsigned int status = judge(hosts[i].host, "/", "HTTP/1.1", LEN(names));

		if (status != hosts[i].status)
			fail_msg("%s: %u", hosts[i].host, status);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(judge(longest, "/", "HTTP/1.1", 0), 400);
	longest[253] = '\0';
	assert_int_equal(judge(longest, "/", "HTTP/1.1", 0), 421);
}

static void test_any(void **state)
{
	static const char *const any[] = {"*"};
	struct reqhead head = {};

	reqhead_add(&head, "Host", 4, "evil.example", 12);
	assert_int_equal(reqhead_judge(&head, "GET", "/", "HTTP/1.1", any, 1), 0);
}

static const struct {
	const char *host, *target, *version;
	unsigned int status;
} targets[] = {
	{NULL, "/", "HTTP/1.1", 400},
	{NULL, "/", "HTTP/1.2", 400},
	{NULL, "/", "", 400},
	{NULL, "/", "HTTP/1.0", 0},
	{"evil.example", "/", "HTTP/1.0", 421},
	{"localhost", "http://evil.example/", "HTTP/1.1", 421},
	{"localhost", "HTTP://evil.example", "HTTP/1.1", 421},
	{"localhost", "https://evil.example:80?a/b", "HTTP/1.1", 421},
	{"evil.example", "http://localhost/metrics", "HTTP/1.1", 0},
	{"evil.example", "http://", "HTTP/1.1", 400},
	{"a b", "http://localhost/", "HTTP/1.1", 400},
	{NULL, "http://localhost/", "HTTP/1.1", 400},
	{NULL, "http://evil.example/", "HTTP/1.0", 421},
	{"localhost", "http://localhost@evil.example/", "HTTP/1.1", 400},
	{"localhost", "*", "HTTP/1.1", 0},
};

static void test_targets(void **state)
{
	for (size_t i = 0; i < LEN(targets); i++) {
		unsigned int status =
			judge(targets[i].host, targets[i].target, targets[i].version, LEN(names));

		if (status != targets[i].status)
			fail_msg("%s: %u", targets[i].target, status);
	}
	assert_string_equal(reqhead_path("/a"), "/a");
	assert_string_equal(reqhead_path("http://x/a/b"), "/a/b");
	assert_string_equal(reqhead_path("https://x"), "/");
}

struct header {
	const char *name, *value;
};

static const struct {
	const char *method;
	struct header headers[3]; /* besides a host */
	unsigned int status;
} requests[] = {
	{"GET", {}, 0},
	{"HEAD", {}, 0},
	{"POST", {}, 405},
	{"get", {}, 405},
	{"GET", {{"Content-Length", "0"}}, 0},
	{"GET", {{"content-length", "00"}}, 0},
	{"GET", {{"Content-Length", "0 \t "}}, 0},
	{"GET", {{"Content-Length", "1"}}, 413},
	{"GET", {{"Content-Length", "1 "}}, 413},
	{"GET", {{"Content-Length", "0 0"}}, 413},
	{"GET", {{"Content-Length", "0"}, {"CONTENT-LENGTH", "0"}}, 400},
	{"GET", {{"Content-Length", "0"}, {"A", "b"}, {"Content-Length", "5"}}, 400},
	{"GET", {{"Transfer-Encoding", "chunked"}}, 413},
	{"GET", {{"Transfer-Encoding", "chunked"}, {"Content-Length", "0"}}, 400},
	{"GET", {{"Transfer-Encoding", "a"}, {"Transfer-Encoding", "chunked"}}, 400},
	{"GET", {{"Host", "localhost"}}, 400},
	{"GET", {{"Content-Length ", "5"}}, 400},
	{"GET", {{"Content-Length5", ""}}, 400}, /* a folded line */
	{"GET", {{"Transfer-Encodingchunked", ""}}, 400},
	{"GET", {{" A", "b"}}, 400},
	{"GET", {{"", "b"}}, 400},
	{"GET", {{"A", NULL}}, 0},
	{"GET", {{"A", "b\tc"}}, 0},
	{"GET", {{"A", "b\xff"}}, 0},
	{"GET", {{"A", "b\rc"}}, 400},
	{"GET", {{"A\x7f", "b"}}, 400},
	{"POST", {{"Transfer-Encoding", "chunked"}}, 405},
};

static void test_headers(void **state)
{
	for (size_t i = 0; i < LEN(requests); i++) {
		struct reqhead head = {};
		unsigned int status;

		reqhead_add(&head, "Host", 4, "localhost", 9);
		for (const struct header *h = requests[i].headers;
		     h < requests[i].headers + 3 && h->name; h++)
			reqhead_add(&head, h->name, strlen(h->name), h->value,
				    h->value ? strlen(h->value) : 0);
		status = reqhead_judge(&head, requests[i].method, "/", "HTTP/1.1", NULL, 0);
		if (status != requests[i].status)
			fail_msg("request %zu: %u", i, status);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool ok;
	} rows[] = {
		{"*", true},	 {"node-1", true},    {"a.example", true}, {"*.example", true},
		{"", false},	 {"*.", false},	      {"*a", false},	   {"**", false},
		{"a:80", false}, {"a/b", false},      {"a b", false},	   {"a.*", false},
		{"a..b", false}, {"http://a", false}, {".a", false},	   {"a.", false},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		if (reqhead_is_name(rows[i].name) != rows[i].ok)
			fail_msg("%s", rows[i].name);
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		CLAIM("addresses, localhost and names that are wanted are accepted, others are not",
		      test_hosts),
		CLAIM("* accepts all names", test_any),
		CLAIM("a host in the target counts, and only HTTP/1.0 needs none", test_targets),
		CLAIM("headers that two readers could take for different ones are refused",
		      test_headers),
		CLAIM("a name has no port, path or scheme", test_names),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
