// SPDX-License-Identifier: Apache-2.0
// Lines of the tables of sockets in /proc/PID/net.
#include "wire/kernel/proc.h"

#include <string.h>

#include "lib/claim.h"

#define TCP_END \
	":00000000 00:00000000 00000000     0        0 25478103 1 00000000f065ce5c 100 0 0 10 0\n"

static void test_tcp(void **state)
{
	static const struct {
		const char *line;
		struct net_socket want;
	} rows[] = {
		{"   0: 0100007F:1F90 00000000:0000 0A 00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .listens = true}},
		{"  12: 0100007F:1F90 0200007F:C350 01 00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .to = 50000, .is_established = true}},
		{"   1: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C350 01 "
		 "00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .to = 50000, .is_established = true}},
		{"   2: 0100007F:1F90 0200007F:C350 08 00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .to = 50000}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct net_socket got;

		assert_true(net_parse_tcp(rows[i].line, &got));
		assert_int_equal(got.inode, rows[i].want.inode);
		assert_int_equal(got.port, rows[i].want.port);
		assert_int_equal(got.to, rows[i].want.to);
		assert_int_equal(got.listens, rows[i].want.listens);
		assert_int_equal(got.is_established, rows[i].want.is_established);
	}
}

#define UNIX "0000000000000000: 00000003 00000000 "

static void test_unix(void **state)
{
	struct net_socket got;

	assert_true(net_parse_unix(UNIX "00000000 0001 03 23225 /run/app.sock\n", &got));
	assert_int_equal(got.inode, 23225);
	assert_true(got.is_established && got.is_accepted);
	assert_true(net_parse_unix(UNIX "00010000 0001 01 7 /run/app.sock\n", &got));
	assert_false(got.is_established);
	assert_true(net_parse_unix(UNIX "00000000 0001 03 7\n", &got));
	assert_false(got.is_accepted);
	/* Clients of a bus have names. */
	assert_true(net_parse_unix(UNIX "00000000 0001 03 7 @1234/bus/systemd/system\n", &got));
	assert_false(got.is_accepted);
	assert_false(net_parse_unix(UNIX "00000000 0002 03 7 /run/log\n", &got));
}

static void test_odd(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n",
		"Num       RefCount Protocol Flags    Type St Inode Path\n",
		": : : :",
		"0: x:y z",
		"   0: 0100007F:1F90 0200007F",
		"\xff\xfe\x00",
	};
	struct net_socket got;

	for (size_t i = 0; i < LEN(lines); i++) {
		assert_false(net_parse_tcp(lines[i], &got));
		assert_false(net_parse_unix(lines[i], &got));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("of TCP the ports, the state and the inode are read", test_tcp),
		CLAIM("of UNIX sockets those are accepted that have a path and a peer", test_unix),
		CLAIM("what is no line of a table is none", test_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
