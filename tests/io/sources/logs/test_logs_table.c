// SPDX-License-Identifier: Apache-2.0
// How often a log directory that goes on changing is read again. Nothing here depends on how fast
// that is: what may be spent is set, and so is when that was.
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "io/sources/logs/logs.h"
#include "lib/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUR_NS	 3600000000000ll
#define BURST_NS 100000000ll
#define UID_OF	 "11111111-2222-4333-8444-"
#define MANY	 10000 /* take far more than the millisecond that counts */

struct stage {
	char dir[64];
	unsigned int n;
	struct source_logs_table table;
};

static int setup(void **state)
{
	static struct stage s;
	char pods[80];

	s = (struct stage){.table = {.subdir = "pods",
				     .parse = source_logs_parse_pod,
				     .type = S_IFDIR,
				     .max = 2 * MANY}};
	strcpy(s.dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/graced-logs-XXXXXX"
						    : "/tmp/graced-logs-XXXXXX");
	if (!mkdtemp(s.dir))
		return -1;
	*state = &s;
	snprintf(pods, sizeof(pods), "%s/pods", s.dir);
	return mkdir(pods, 0755);
}

static int teardown(void **state)
{
	struct stage *s = *state;
	char command[128];

	source_logs_table_refresh(&s->table, -ENOENT);
	snprintf(command, sizeof(command), "rm -rf -- '%s'", s->dir);
	return system(command);
}

static void make(struct stage *s, unsigned int n)
{
	char path[160];

	while (n--) {
		snprintf(path, sizeof(path), "%s/pods/default_p_" UID_OF "%012u", s->dir, s->n++);
		assert_int_equal(mkdir(path, 0755), 0);
	}
}

/* Whether the newest is found. */
static bool finds(struct stage *s)
{
	char uid[40], pods[160];
	bool several;
	int fd;

	snprintf(uid, sizeof(uid), UID_OF "%012u", s->n - 1);
	snprintf(pods, sizeof(pods), "%s/pods", s->dir);
	fd = fd_open_dir(AT_FDCWD, pods);
	assert_int_equal(source_logs_table_refresh(&s->table, fd), 0);
	close(fd);
	return source_logs_table_find(&s->table, uid, &several);
}

static void owe(struct stage *s, int64_t debt_ns, int64_t since_ns)
{
	s->table.credit_ns = -debt_ns;
	s->table.credited_ns = clock_boot_ns() - (uint64_t)since_ns;
}

static void test_debt(void **state)
{
	struct stage *s = *state;

	make(s, 1);
	assert_true(finds(s));
	make(s, 1);
	owe(s, HOUR_NS, 0);
	assert_false(finds(s));
	s->table.credit_ns = 1;
	assert_true(finds(s));
}

static void test_part(void **state)
{
	struct stage *s = *state;
	int64_t uptime = (int64_t)clock_boot_ns(), since = uptime < HOUR_NS ? uptime : HOUR_NS;

	make(s, 1);
	owe(s, since / 8 + since / 80, since);
	assert_false(finds(s));
	owe(s, since / 8 - since / 80, since);
	assert_true(finds(s));
}

static void test_charged(void **state)
{
	struct stage *s = *state;

	make(s, 1);
	assert_true(finds(s));
	assert_true(s->table.credit_ns <= BURST_NS);
	make(s, MANY);
	assert_true(finds(s));
	assert_true(s->table.credit_ns < BURST_NS - 1000000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"who has spent more than his part waits", test_debt, setup, teardown, NULL},
		{"an eighth of the time is his part", test_part, setup, teardown, NULL},
		{"reading a big directory costs, and a burst is all that can be saved up",
		 test_charged, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("io/sources/logs", tests, NULL, NULL);
}
