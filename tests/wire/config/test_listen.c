// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/config/web: which texts are addresses, which ones, and who can reach them. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "wire/config/web.h"

static void test_addresses(void **state)
{
	static const struct {
		const char *text, *first, *second;
		uint16_t port;
		bool loopback;
	} table[] = {
		{"127.0.0.1:9753", "127.0.0.1", NULL, 9753, true},
		{"127.255.0.9:1", "127.255.0.9", NULL, 1, true},
		{"0.0.0.0:9753", "0.0.0.0", NULL, 9753, false},
		{"128.0.0.1:65535", "128.0.0.1", NULL, 65535, false},
		{"10.1.2.3:0", "10.1.2.3", NULL, 0, false},
		{"[::1]:9753", "::1", NULL, 9753, true},
		{"[0:0::0:1]:80", "::1", NULL, 80, true},
		{"[::]:80", "::", NULL, 80, false},
		{"[::2]:80", "::2", NULL, 80, false},
		{"[fd00:1:2:3:4:5:6:7]:80", "fd00:1:2:3:4:5:6:7", NULL, 80, false},
		{"[FD00::abCd]:80", "fd00::abcd", NULL, 80, false},
		{"[1::]:80", "1::", NULL, 80, false},
		{"[::fffe:10.0.0.1]:80", "::fffe:10.0.0.1", NULL, 80, false},
		{"[::1:ffff:10.0.0.1]:80", "::1:ffff:10.0.0.1", NULL, 80, false},
		{"[::127.0.0.1]:80", "::127.0.0.1", NULL, 80, false},
		{"[1:2:3:4:5:6:7.8.9.10]:80", "1:2:3:4:5:6:708:90a", NULL, 80, false},
		{":9753", "0.0.0.0", "::", 9753, false},
		{"localhost:9753", "127.0.0.1", "::1", 9753, true},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		const char *expected[] = {table[i].first, table[i].second};
		struct listen got;

		print_message("%s\n", table[i].text);
		assert_int_equal(listen_parse(table[i].text, &got), 0);
		assert_int_equal(got.n_addr, table[i].second ? 2 : 1);
		assert_int_equal(got.port, table[i].port);
		assert_int_equal(got.loopback, table[i].loopback);
		for (size_t k = 0; k < got.n_addr; k++) {
			uint8_t bytes[16] = {};
			bool v6 = strchr(expected[k], ':') != NULL;

			assert_int_equal(got.addr[k].v6, v6);
			inet_pton(v6 ? AF_INET6 : AF_INET, expected[k], bytes);
			assert_memory_equal(got.addr[k].bytes, bytes, sizeof(bytes));
		}
	}
}

static void test_refused(void **state)
{
	static const char *const table[] = {
		"",
		"9753",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:000080",
		"127.0.0.1:+80",
		"127.0.0.1: 80",
		"127.0.0.1:http",
		" 127.0.0.1:80",
		"127.1:80",
		"127.0.0.1.:80",
		"127.0.0.256:80",
		"127.0.0.01:80",
		"127.0.0:80",
		"1.2.3.4.5:80",
		"::1:80",
		"[::1]",
		"[::1]80",
		"[]:80",
		"[:]:80",
		"[:::]:80",
		"[1:2:3:4:5:6:7]:80",
		"[1:2:3:4:5:6:7:8:9]:80",
		"[1:2:3:4::5:6:7:8]:80",
		"[1::2::3]:80",
		"[12345::]:80",
		"[g::]:80",
		"[1.2.3.4]:80",
		"[1.2.3.4::]:80",
		"[::1.2.3]:80",
		"[fe80::1%eth0]:80",
		"[127.0.0.1]:80",
		"[::ffff:127.0.0.1]:80",
		"[::ffff:10.0.0.1]:80",
		"[0:0:0:0:0:FFFF:7f00:1]:80",
		"[::1:80",
		"node-1:80",
		"localhos:80",
		"https://127.0.0.1:80",
		"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80",
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct listen got = {.port = 1234};

		print_message("'%s'\n", table[i]);
		assert_int_equal(listen_parse(table[i], &got), -EINVAL);
		assert_int_equal(got.port, 1234);
	}
}

/* Every text of a few characters that addresses are made of: taken as libc takes it. */
static void test_as_libc(void **state)
{
	static const char chars[] = ":1.f";
	unsigned int total = 1u << 2 * 9;

	for (unsigned int i = 0; i < total; i++) {
		char literal[10] = "", text[20];
		struct listen got;
		uint8_t bytes[16];
		bool ours, theirs;

		for (int k = 0; k < 9; k++)
			literal[k] = chars[i >> 2 * k & 3];
		literal[i % 9 + 1] = '\0';
		snprintf(text, sizeof(text), "[%s]:1", literal);
		ours = listen_parse(text, &got) == 0;
		theirs = inet_pton(AF_INET6, literal, bytes) == 1;
		if (ours != theirs || (ours && memcmp(bytes, got.addr[0].bytes, 16)))
			fail_msg("%s: %d, libc says %d", text, ours, theirs);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an address says where to listen and who can reach it", test_addresses),
		CLAIM("names and malformed addresses are refused", test_refused),
		CLAIM("IPv6 is read as libc reads it", test_as_libc),
	};

	return cmocka_run_group_tests_name("wire/config/web", tests, NULL, NULL);
}
