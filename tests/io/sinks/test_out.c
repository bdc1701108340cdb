// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sinks/lines: whole lines, no waiting for a slow reader, no half line on a full
 * disk. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sinks/out.h"
#include "lib/claim.h"

static char chunk[4096]; /* one line */

static void fill(struct out *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += sizeof(chunk))
		assert_int_equal(out_add(out, chunk, sizeof(chunk)), 0);
}

static size_t empty(int fd)
{
	static char sink[65536];
	size_t total = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, sink, sizeof(sink))) > 0)
		total += (size_t)n;
	return total;
}

static void test_slow_reader(void **state)
{
	struct out *out;
	size_t got;
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(out_new(p[1], true, true, &out), 0);
	fill(out, 3u << 20);
	assert_true(out_is_behind(out));
	assert_int_equal(out_flush(out), 1);
	assert_int_equal(out_finish(out, 1), 1);
	got = empty(p[0]);
	assert_true(got > 0);
	while (out_flush(out) == 1)
		got += empty(p[0]);
	got += empty(p[0]);
	assert_int_equal(got, 3u << 20);
	assert_false(out_is_behind(out));
	out_free(out);
	close(p[0]);
}

static void test_reader_gone(void **state)
{
	struct out *out;
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(out_new(p[1], true, true, &out), 0);
	close(p[0]);
	assert_int_equal(out_add(out, "x\n", 2), 0);
	assert_int_equal(out_flush(out), -EPIPE);
	assert_int_equal(out_add(out, "x\n", 2), -EPIPE);
	assert_int_equal(out_flush(out), -EPIPE);
	out_free(out);
}

static void test_socket(void **state)
{
	struct out *out;
	char text[8];
	int s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	assert_int_equal(out_new(s[1], true, true, &out), 0);
	assert_int_equal(out_add(out, "line\n", 5), 0);
	assert_int_equal(out_flush(out), 0);
	assert_int_equal(read(s[0], text, sizeof(text)), 5);
	close(s[0]);
	assert_int_equal(out_add(out, "line\n", 5), 0);
	assert_int_equal(out_flush(out), -EPIPE);
	out_free(out);
}

/* RLIMIT_FSIZE stands for a disk that is full after so many bytes. */
static void test_full_disk(void **state)
{
	struct rlimit old, limit;
	char path[] = "/tmp/graced-out-XXXXXX";
	struct out *out;
	struct stat st;
	int fd;

	fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 3 * sizeof(chunk) + 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(out_new(dup(fd), true, false, &out), 0);
	fill(out, 5 * sizeof(chunk));
	assert_int_equal(out_flush(out), -EFBIG);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 3 * sizeof(chunk));
	out_free(out);
	setrlimit(RLIMIT_FSIZE, &old);
	close(fd);
}

static void test_batch(void **state)
{
	char path[] = "/tmp/graced-out-XXXXXX";
	struct out *out;
	struct stat st;
	int fd;

	fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(out_new(dup(fd), true, false, &out), 0);
	fill(out, 1u << 20);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 1u << 20);
	assert_int_equal(out_add(out, "end\n", 4), 0);
	assert_int_equal(out_flush(out), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, (1u << 20) + 4);
	out_free(out);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a reader that does not read blocks nothing and loses nothing",
		      test_slow_reader),
		CLAIM("a reader that is gone is reported for good", test_reader_gone),
		CLAIM("a socket is written like a pipe and raises no signal", test_socket),
		CLAIM("a full disk leaves no half line", test_full_disk),
		CLAIM("a file is written in batches that lose nothing", test_batch),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	memset(chunk, 'x', sizeof(chunk) - 1);
	chunk[sizeof(chunk) - 1] = '\n';
	return cmocka_run_group_tests_name("io/sinks/lines", tests, NULL, NULL);
}
