// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sinks/journal: a journald that is gone or does not read costs no time, and no
 * more entries than an entry says. */
#include "io/sinks/journal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
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

static void add_gap(void *userdata, struct buf *out, const struct line_gap *gap)
{
	buf_printf(out, "GAP=%llu\n", (unsigned long long)gap->lines);
}

static struct line_stats stats_of(struct journal *journal)
{
	struct line_stats stats;

	journal_flush(journal);
	journal_get_stats(journal, &stats);
	return stats;
}

static void send_text(struct journal *journal, const char *text)
{
	journal_send(journal, text, strlen(text), 1);
}

static void receives(int fd, const char *text)
{
	char got[64] = "";

	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

static void restarts(void **state)
{
	struct line_stats stats;
	struct journal *journal;
	int fd;

	assert_int_equal(journal_new(path, add_gap, NULL, &journal), 0);
	send_text(journal, "MESSAGE=a\n");
	stats = stats_of(journal);
	assert_int_equal(stats.waiting, 1);
	assert_int_equal(stats.error, -ENOENT);
	for (int i = 0; i < 2; i++) {
		fd = listener();
		send_text(journal, "MESSAGE=b\n");
		assert_int_equal(stats_of(journal).error, 0);
		receives(fd, i ? "MESSAGE=c\n" : "MESSAGE=a\n");
		receives(fd, "MESSAGE=b\n");
		close(fd);
		send_text(journal, "MESSAGE=c\n");
	}
	stats = stats_of(journal);
	assert_int_equal(stats.written, 4);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.waiting, 1);
	assert_int_equal(stats.error, -ECONNREFUSED);
	assert_false(journal_is_idle(journal));
	journal_free(journal);
}

/* Reads all that comes; returns how many entries of MESSAGE=x, and what the entries of gaps add up
 * to. */
static uint64_t read_all(int fd, struct journal *journal, uint64_t *ret_gaps)
{
	char got[64];
	uint64_t n = 0;

	*ret_gaps = 0;
	for (int i = 0; i < 1000000; i++) {
		unsigned long long gap;
		ssize_t size = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);

		if (size < 0 && journal_is_idle(journal))
			break;
		if (size >= 0) {
			got[size] = '\0';
			n += strcmp(got, "MESSAGE=x\n") == 0;
			*ret_gaps += sscanf(got, "GAP=%llu", &gap) == 1 ? gap : 0;
		}
		journal_flush(journal);
	}
	return n;
}

static void stopped(void **state)
{
	struct line_stats stats;
	struct journal *journal;
	uint64_t got, gaps;
	int fd = listener();

	assert_int_equal(journal_new(path, add_gap, NULL, &journal), 0);
	for (int i = 0; i < 200000; i++)
		send_text(journal, "MESSAGE=x\n");
	stats = stats_of(journal);
	assert_int_equal(stats.error, 0);
	assert_int_equal(stats.written + stats.dropped + stats.waiting, 200000);
	assert_true(stats.dropped > 0 && stats.waiting > 1000);
	got = read_all(fd, journal, &gaps);
	stats = stats_of(journal);
	assert_int_equal(got, stats.written);
	assert_int_equal(gaps, stats.dropped);
	assert_int_equal(got + gaps, 200000);
	assert_int_equal(stats.waiting, 0);
	assert_int_equal(stats.error, 0);
	journal_free(journal);
	close(fd);
}

/* journald is another process; it reads an entry now and then. */
static void read_slowly(int fd, int seconds)
{
	char got[64];

	for (int i = 0; i < seconds * 100; i++) {
		usleep(10000);
		recv(fd, got, sizeof(got), MSG_DONTWAIT);
	}
	_exit(0);
}

static void behind_at_end(void **state)
{
	struct journal *journal;
	struct line_stats stats;
	int fd = listener();
	pid_t pid;

	assert_int_equal(journal_new(path, add_gap, NULL, &journal), 0);
	while (stats_of(journal).waiting < 5)
		send_text(journal, "MESSAGE=x\n");
	pid = fork();
	if (!pid)
		read_slowly(fd, 60);
	journal_finish(journal, 60000);
	stats = stats_of(journal);
	assert_int_equal(stats.waiting, 0);
	assert_true(journal_is_idle(journal));

	/* It waits no longer than it is to, nor for one that is gone. */
	while (stats_of(journal).waiting < 5000)
		send_text(journal, "MESSAGE=x\n");
	journal_finish(journal, 20);
	assert_true(stats_of(journal).waiting > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	journal_finish(journal, 3600000);
	assert_int_equal(stats_of(journal).error, -ECONNREFUSED);
	journal_free(journal);
}

static void too_large(void **state)
{
	static char large[32 << 20];
	struct line_stats stats;
	struct journal *journal;
	int fd = listener();

	memset(large, 'x', sizeof(large));
	assert_int_equal(journal_new(path, add_gap, NULL, &journal), 0);
	journal_send(journal, large, sizeof(large), 1);
	send_text(journal, "MESSAGE=x\n");
	stats = stats_of(journal);
	assert_int_equal(stats.error, 0);
	receives(fd, "GAP=2\n");
	send_text(journal, "MESSAGE=x\n");
	receives(fd, "MESSAGE=x\n");
	assert_int_equal(stats_of(journal).dropped, 2);
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
		CLAIM("a journald that comes late or comes back gets what waited for it, in order",
		      restarts),
		CLAIM("a journald that does not read has not failed, and gets what waits, and how "
		      "much did not fit",
		      stopped),
		CLAIM("a journald that is behind at the end is waited for, within limits",
		      behind_at_end),
		CLAIM("an entry that no socket takes holds up no other", too_large),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
