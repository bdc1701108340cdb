// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/locks.
#include "wire/kernel/proc.h"

#include "lib/claim.h"

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		struct locks_line want;
	} rows[] = {
		{"1: POSIX  ADVISORY  WRITE 4242 08:01:131 0 EOF\n",
		 {.number = 1, .pid = 4242, .inode = 131}},
		{"17: FLOCK  ADVISORY  READ  7 fe:00:131 0 EOF\n",
		 {.number = 17, .pid = 7, .inode = 131}},
		{"1: -> FLOCK  ADVISORY  WRITE 4243 08:01:131 0 EOF\n",
		 {.number = 1, .waits = true, .pid = 4243, .inode = 131}},
		{"1:  -> POSIX  ADVISORY  WRITE 4244 08:01:131 0 EOF\n",
		 {.number = 1, .waits = true, .pid = 4244, .inode = 131}},
		{"2: OFDLCK ADVISORY  READ -1 fe:00:403324 100 101\n",
		 {.number = 2, .inode = 403324}},
		{"3: LEASE  ACTIVE    READ 9 08:01:131 0 EOF\n",
		 {.number = 3, .pid = 9, .inode = 131}},
		{"4: FLOCK  ADVISORY  WRITE 5 <none>:0 0 EOF\n", {.number = 4, .pid = 5}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct locks_line got;

		assert_true(locks_parse(rows[i].line, &got));
		assert_int_equal(got.number, rows[i].want.number);
		assert_int_equal(got.waits, rows[i].want.waits);
		assert_int_equal(got.pid, rows[i].want.pid);
		assert_int_equal(got.inode, rows[i].want.inode);
	}
}

static void test_others(void **state)
{
	static const char *const lines[] = {"",
					    "\n",
					    "1:",
					    "1: ->",
					    "x: FLOCK ADVISORY WRITE 1",
					    "1: FLOCK ADVISORY",
					    "1: FLOCK ADVISORY WRITE many"};
	struct locks_line got;

	for (size_t i = 0; i < LEN(lines); i++)
		assert_false(locks_parse(lines[i], &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a lock has who took it, and who waits", test_lines),
		CLAIM("another line is none", test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
