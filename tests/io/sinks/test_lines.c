// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sinks/lines: trouble with the file costs lines, counts them and delays no other
 * work. */
#include "io/sinks/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/claim.h"

#define SECOND 1000000000ULL

static char dir[] = "/tmp/graced-linesink-XXXXXX";
static char line[1000]; /* with its newline */

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void add(struct linesink *sink, unsigned int lines)
{
	while (lines--)
		linesink_add(sink, line, sizeof(line));
}

static struct linesink_stats stats_of(const struct linesink *sink)
{
	struct linesink_stats stats;

	linesink_get_stats(sink, &stats);
	return stats;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

static void plain_file(void **state)
{
	struct linesink *sink;
	struct stat st;

	assert_int_equal(linesink_new(in_dir("plain"), &sink), 0);
	add(sink, 10);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).written, 10);
	assert_int_equal(stats_of(sink).dropped, 0);
	assert_int_equal(stat(in_dir("plain"), &st), 0);
	assert_int_equal(st.st_size, 10 * sizeof(line));
	assert_int_equal(st.st_mode & 0777, 0600);
	linesink_free(sink);
	assert_int_equal(linesink_new(in_dir("plain"), &sink), 0);
	add(sink, 1);
	linesink_flush(sink, SECOND);
	assert_int_equal(size_of(in_dir("plain")), 11 * sizeof(line));
	linesink_free(sink);
}

static void burst(void **state)
{
	struct linesink *sink;

	assert_int_equal(linesink_new(in_dir("burst"), &sink), 0);
	add(sink, 2000);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).written, 2000);
	assert_int_equal(size_of(in_dir("burst")), 2000 * sizeof(line));
	linesink_free(sink);
}

static void rotated(void **state)
{
	struct linesink *sink;
	char old[160];

	assert_int_equal(linesink_new(in_dir("log"), &sink), 0);
	add(sink, 3);
	snprintf(old, sizeof(old), "%s.1", in_dir("log"));
	assert_int_equal(rename(in_dir("log"), old), 0);
	assert_int_equal(linesink_reopen(sink, NULL), 0);
	add(sink, 2);
	linesink_flush(sink, SECOND);
	assert_int_equal(size_of(old), 3 * sizeof(line));
	assert_int_equal(size_of(in_dir("log")), 2 * sizeof(line));
	assert_int_equal(stats_of(sink).written, 5);
	assert_int_equal(stats_of(sink).dropped, 0);
	linesink_free(sink);
}

/* A disk of 64 KiB. */
static void full_disk(void **state)
{
	struct linesink_stats stats;
	struct linesink *sink;
	char ballast[160];
	int fd;

	if (mkdir(in_dir("disk"), 0700) < 0 ||
	    mount("tmpfs", in_dir("disk"), "tmpfs", 0, "size=64k") < 0)
		skip();
	snprintf(ballast, sizeof(ballast), "%s/ballast", in_dir("disk"));
	fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, (char[32768]){}, 32768), 32768);
	close(fd);
	assert_int_equal(linesink_new(in_dir("disk/log"), &sink), 0);
	add(sink, 100);
	linesink_flush(sink, SECOND);
	stats = stats_of(sink);
	assert_int_equal(stats.error, -ENOSPC);
	assert_int_equal(stats.written + stats.dropped, 100);
	assert_int_equal(size_of(in_dir("disk/log")), stats.written * sizeof(line));
	add(sink, 7);
	assert_int_equal(stats_of(sink).dropped, stats.dropped + 7);

	/* Space again: it goes on by itself, no sooner than a second later. */
	assert_int_equal(unlink(ballast), 0);
	linesink_flush(sink, SECOND + SECOND / 2);
	assert_int_equal(stats_of(sink).error, -ENOSPC);
	linesink_flush(sink, 2 * SECOND);
	add(sink, 5);
	linesink_flush(sink, 2 * SECOND);
	assert_int_equal(stats_of(sink).error, 0);
	assert_int_equal(stats_of(sink).written, stats.written + 5);
	linesink_free(sink);
	umount(in_dir("disk"));
}

/* Runs with a pipe as standard output and gives it back. */
static int with_pipe(int p[2])
{
	int saved = dup(STDOUT_FILENO);

	fflush(stdout);
	assert_int_equal(pipe(p), 0);
	dup2(p[1], STDOUT_FILENO);
	close(p[1]);
	return saved;
}

static void restore(int saved)
{
	dup2(saved, STDOUT_FILENO);
	close(saved);
}

static void slow_reader(void **state)
{
	struct linesink_stats stats;
	struct linesink *sink;
	char got[65536];
	uint64_t bytes = 0;
	int p[2], saved = with_pipe(p), r;
	ssize_t n;

	r = linesink_new(NULL, &sink);
	restore(saved);
	assert_int_equal(r, 0);
	for (int i = 0; i < 1000; i++) {
		add(sink, 1);
		linesink_flush(sink, SECOND);
	}
	stats = stats_of(sink);
	assert_int_equal(stats.error, 0);
	assert_in_range(stats.dropped, 500, 999);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 100; i++) {
		while ((n = read(p[0], got, sizeof(got))) > 0)
			bytes += (uint64_t)n;
		linesink_flush(sink, SECOND);
	}
	stats = stats_of(sink);
	assert_int_equal(stats.written + stats.dropped, 1000);
	assert_int_equal(bytes, stats.written * sizeof(line));
	add(sink, 1);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).written, stats.written + 1);
	linesink_free(sink);
	close(p[0]);
}

static void reader_left(void **state)
{
	struct linesink *sink;
	int p[2], saved = with_pipe(p), r;

	r = linesink_new(NULL, &sink);
	restore(saved);
	assert_int_equal(r, 0);
	close(p[0]);
	add(sink, 4);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).error, -EPIPE);
	add(sink, 4);
	linesink_flush(sink, 10 * SECOND);
	assert_int_equal(stats_of(sink).dropped, 8);
	linesink_free(sink);
}

static void fifo(void **state)
{
	struct linesink *sink;
	int fd;

	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(linesink_new(in_dir("fifo"), &sink), -ENXIO);
	fd = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(linesink_new(in_dir("fifo"), &sink), 0);
	close(fd);
	add(sink, 1);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).error, -EPIPE);
	fd = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK);
	linesink_flush(sink, 3 * SECOND);
	add(sink, 1);
	linesink_flush(sink, 3 * SECOND);
	assert_int_equal(stats_of(sink).written, 1);
	assert_int_equal(stats_of(sink).dropped, 1);
	linesink_free(sink);
	close(fd);
}

static void no_such_place(void **state)
{
	struct linesink *sink;

	assert_int_equal(linesink_new(in_dir("none/log"), &sink), -ENOENT);
	assert_int_equal(linesink_new(dir, &sink), -EISDIR);
}

static void check_mended(const char *there, const char *lines, const char *becomes)
{
	char path[128], got[256] = "";
	struct linesink *sink;
	int fd;

	snprintf(path, sizeof(path), "%s", in_dir("half"));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, there, strlen(there)), strlen(there));
	assert_int_equal(linesink_new(path, &sink), 0);
	linesink_mend(sink, lines, strlen(lines));
	linesink_add(sink, "new\n", 4);
	linesink_flush(sink, SECOND);
	assert_true(linesink_is_idle(sink));
	assert_int_equal(stats_of(sink).written, 1);
	assert_true(pread(fd, got, sizeof(got) - 1, 0) >= 0);
	assert_string_equal(got, becomes);
	linesink_free(sink);
	close(fd);
}

static void half_line(void **state)
{
	check_mended("", "one\n", "new\n");
	check_mended("one\n", "one\ntwo\n", "one\nnew\n");
	check_mended("one\ntw", "one\ntwo\n", "one\nnew\n");
	check_mended("one\ntwo", "one\ntwo\n", "one\nnew\n");
	check_mended("on", "one\n", "new\n");
	check_mended("one\nhis own", "one\ntwo\n", "one\nhis own\nnew\n");
	check_mended("one\ntwofold", "one\ntwo\n", "one\ntwofold\nnew\n");
	check_mended("one\ntw", "", "one\ntw\nnew\n");
}

static int setup(void **state)
{
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	signal(SIGPIPE, SIG_IGN);
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const made[] = {"plain", "burst", "log", "log.1", "fifo", "half"};

	for (size_t i = 0; i < LEN(made); i++)
		unlink(in_dir(made[i]));
	rmdir(in_dir("disk"));
	return rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a file is appended to and no other user can read it", plain_file),
		CLAIM("more at once than is kept for a slow reader is no loss for a file", burst),
		CLAIM("a renamed file is left and a new one begun, without a line lost", rotated),
		CLAIM("a full disk costs whole lines, counted, until there is space", full_disk),
		CLAIM("a slow reader costs what does not fit into the wait", slow_reader),
		CLAIM("a reader of standard output that left is not written to again", reader_left),
		CLAIM("a pipe in the file system is waited for without opening blocking", fifo),
		CLAIM("half a line is cut off when it comes whole, and ended when it does not",
		      half_line),
		CLAIM("a file that cannot be made is refused at the start", no_such_place),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
