// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sinks/journal: a journald that is gone or does not read costs entries and no
 * time. */
#include "io/sinks/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/claim.h"

static char dir[] = "/tmp/graced-journal-XXXXXX";
static char path[64];

static int listener(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void restarts(void **state)
{
	struct journal_stats stats;
	struct journal *journal;
	char got[64];
	int fd;

	assert_int_equal(journal_new(path, &journal), 0);
	journal_send(journal, "MESSAGE=a\n", 10);
	journal_get_stats(journal, &stats);
	assert_int_equal(stats.dropped, 1);
	assert_int_equal(stats.error, -ENOENT);
	for (int i = 0; i < 2; i++) {
		fd = listener();
		journal_send(journal, "MESSAGE=b\n", 10);
		assert_int_equal(recv(fd, got, sizeof(got), 0), 10);
		assert_memory_equal(got, "MESSAGE=b\n", 10);
		close(fd);
		journal_send(journal, "MESSAGE=c\n", 10);
	}
	journal_get_stats(journal, &stats);
	assert_int_equal(stats.written, 2);
	assert_int_equal(stats.dropped, 3);
	assert_int_equal(stats.error, -ECONNREFUSED);
	journal_free(journal);
}

static void stopped(void **state)
{
	struct journal_stats stats;
	struct journal *journal;
	int fd = listener();
	char got[64];

	assert_int_equal(journal_new(path, &journal), 0);
	for (int i = 0; i < 100000; i++)
		journal_send(journal, "MESSAGE=x\n", 10);
	journal_get_stats(journal, &stats);
	assert_int_equal(stats.error, -EAGAIN);
	assert_int_equal(stats.written + stats.dropped, 100000);
	assert_true(stats.dropped > 0);
	for (uint64_t i = 0; i < stats.written; i++)
		assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), 10);
	journal_send(journal, "MESSAGE=y\n", 10);
	journal_get_stats(journal, &stats);
	assert_int_equal(stats.error, 0);
	journal_free(journal);
	close(fd);
}

static int setup(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", dir);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a journald that comes late or comes back gets what is sent from then on",
		      restarts),
		CLAIM("a journald that does not read costs entries, counted, and no time", stopped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
