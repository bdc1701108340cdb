// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sinks/lines: lines wait for a file that cannot be written, whole and in order;
 * what finds no room is counted, in its place; and no other work is delayed. */
#include "io/sinks/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sinks/out.h"
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

static void add_gap(void *userdata, struct buf *out, const struct line_gap *gap)
{
	buf_printf(out, "gap %llu %llu-%llu\n", (unsigned long long)gap->lines,
		   (unsigned long long)gap->first_ns, (unsigned long long)gap->last_ns);
}

static int open_sink(const char *path, struct linesink **ret)
{
	return linesink_new(path, add_gap, NULL, ret);
}

/* Each line begins with its number. */
static unsigned int number;

static void add(struct linesink *sink, unsigned int lines)
{
	while (lines--) {
		char begin[16];

		snprintf(begin, sizeof(begin), "%08u ", number++);
		memcpy(line, begin, 9);
		linesink_add(sink, line, sizeof(line), number);
	}
}

/* Whole lines in order, each once, with lines of gaps where some are missing: how many lines there
 * are of add(), and how many the gaps add up to. */
static unsigned int check_lines(const char *path, unsigned int first, unsigned int *ret_missing)
{
	FILE *in = fopen(path, "re");
	char text[sizeof(line) + 1];
	unsigned int n = 0;

	*ret_missing = 0;
	assert_non_null(in);
	while (fgets(text, sizeof(text), in)) {
		unsigned long long missing, from, to;

		assert_int_equal(text[strlen(text) - 1], '\n');
		if (sscanf(text, "gap %llu %llu-%llu", &missing, &from, &to) == 3) {
			assert_int_equal(from, first + 1);
			assert_int_equal(to, first + missing);
			*ret_missing += (unsigned int)missing;
			first += (unsigned int)missing;
			continue;
		}
		assert_int_equal(strlen(text), sizeof(line));
		assert_int_equal(atoi(text), first++);
		n++;
	}
	fclose(in);
	return n;
}

static struct line_stats stats_of(const struct linesink *sink)
{
	struct line_stats stats;

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

	assert_int_equal(open_sink(in_dir("plain"), &sink), 0);
	add(sink, 10);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).written, 10);
	assert_int_equal(stats_of(sink).dropped, 0);
	assert_int_equal(stat(in_dir("plain"), &st), 0);
	assert_int_equal(st.st_size, 10 * sizeof(line));
	assert_int_equal(st.st_mode & 0777, 0600);
	linesink_free(sink);
	assert_int_equal(open_sink(in_dir("plain"), &sink), 0);
	add(sink, 1);
	linesink_flush(sink, SECOND);
	assert_int_equal(size_of(in_dir("plain")), 11 * sizeof(line));
	linesink_free(sink);
}

static void burst(void **state)
{
	struct linesink *sink;

	assert_int_equal(open_sink(in_dir("burst"), &sink), 0);
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

	assert_int_equal(open_sink(in_dir("log"), &sink), 0);
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

static void begun_anew(void **state)
{
	struct linesink *sink;
	char old[160], away[160];
	unsigned int first = number, missing;

	snprintf(old, sizeof(old), "%s.1", in_dir("log"));
	snprintf(away, sizeof(away), "%s", in_dir("elsewhere"));
	unlink(in_dir("log"));
	assert_int_equal(open_sink(in_dir("log"), &sink), 0);
	linesink_limit(sink, 3 * sizeof(line));
	for (unsigned int i = 0; i < 8; i++) {
		add(sink, 1);
		linesink_flush(sink, SECOND);
	}
	assert_int_equal(check_lines(old, first + 3, &missing), 3);
	assert_int_equal(check_lines(in_dir("log"), first + 6, &missing), 2);
	assert_int_equal(stats_of(sink).written, 8);
	/* What others have put there is not renamed. */
	assert_int_equal(rename(in_dir("log"), away), 0);
	add(sink, 2);
	linesink_flush(sink, SECOND);
	assert_int_equal(size_of(away), 4 * sizeof(line));
	assert_int_equal(check_lines(old, first + 3, &missing), 3);
	linesink_limit(sink, 0);
	assert_int_equal(linesink_reopen(sink, NULL), 0);
	add(sink, 9);
	linesink_flush(sink, SECOND);
	assert_int_equal(size_of(in_dir("log")), 9 * sizeof(line));
	linesink_free(sink);
	unlink(away);
}

static void mount_disk(const char *size)
{
	char data[32];

	snprintf(data, sizeof(data), "size=%s", size);
	if ((mkdir(in_dir("disk"), 0700) < 0 && errno != EEXIST) ||
	    mount("tmpfs", in_dir("disk"), "tmpfs", 0, data) < 0)
		skip();
}

static void resize_disk(const char *size)
{
	char data[32];

	snprintf(data, sizeof(data), "size=%s", size);
	assert_int_equal(mount(NULL, in_dir("disk"), NULL, MS_REMOUNT, data), 0);
}

static void full_disk(void **state)
{
	unsigned int first = number, missing;
	struct line_stats stats;
	struct linesink *sink;

	mount_disk("32k");
	assert_int_equal(open_sink(in_dir("disk/log"), &sink), 0);
	add(sink, 100);
	linesink_flush(sink, SECOND);
	stats = stats_of(sink);
	assert_int_equal(stats.error, -ENOSPC);
	assert_int_equal(stats.written, 32);
	assert_int_equal(stats.waiting, 68);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(size_of(in_dir("disk/log")), stats.written * sizeof(line));
	assert_false(linesink_is_idle(sink));
	add(sink, 7);
	assert_int_equal(stats_of(sink).waiting, 75);

	/* Space again, first for some of them: it goes on by itself, once a second. */
	resize_disk("48k");
	linesink_flush(sink, SECOND + SECOND / 2);
	linesink_flush(sink, 2 * SECOND);
	stats = stats_of(sink);
	assert_int_equal(stats.error, -ENOSPC);
	assert_int_equal(stats.written, 49);
	resize_disk("1m");
	linesink_flush(sink, 2 * SECOND + SECOND / 2);
	assert_int_equal(stats_of(sink).error, -ENOSPC);
	linesink_flush(sink, 3 * SECOND);
	add(sink, 5);
	linesink_flush(sink, 3 * SECOND);
	stats = stats_of(sink);
	assert_int_equal(stats.error, 0);
	assert_int_equal(stats.written, 112);
	assert_true(linesink_is_idle(sink));
	assert_int_equal(check_lines(in_dir("disk/log"), first, &missing), 112);
	assert_int_equal(missing, 0);
	linesink_free(sink);
	umount2(in_dir("disk"), MNT_DETACH);
}

/* More than waits, again and again. */
static void long_full(void **state)
{
	unsigned int first = number, missing;
	struct line_stats stats;
	struct linesink *sink;

	mount_disk("32k");
	assert_int_equal(open_sink(in_dir("disk/log"), &sink), 0);
	for (int i = 1; i < 10; i++) {
		add(sink, 500);
		linesink_flush(sink, (uint64_t)i * SECOND);
	}
	stats = stats_of(sink);
	assert_int_equal(stats.error, -ENOSPC);
	assert_true(stats.waiting > 1000 && stats.dropped > 1000);
	assert_int_equal(stats.written + stats.dropped + stats.waiting, 4500);
	resize_disk("16m");
	linesink_flush(sink, 10 * SECOND);
	add(sink, 3);
	linesink_flush(sink, 10 * SECOND);
	stats = stats_of(sink);
	assert_int_equal(stats.error, 0);
	assert_int_equal(stats.written + stats.dropped, 4503);
	assert_int_equal(check_lines(in_dir("disk/log"), first, &missing), stats.written);
	assert_int_equal(missing, stats.dropped);
	linesink_free(sink);
	umount2(in_dir("disk"), MNT_DETACH);
}

/* Rotation gives it another file, as a person would who has another disk. */
static void rotated_when_full(void **state)
{
	unsigned int first = number, missing, n;
	struct linesink *sink;

	mount_disk("32k");
	assert_int_equal(open_sink(in_dir("disk/log"), &sink), 0);
	add(sink, 100);
	linesink_flush(sink, SECOND);
	assert_int_equal(linesink_reopen(sink, in_dir("elsewhere")), 0);
	assert_int_equal(stats_of(sink).error, 0);
	assert_int_equal(stats_of(sink).written, 100);
	n = check_lines(in_dir("disk/log"), first, &missing);
	assert_int_equal(n + check_lines(in_dir("elsewhere"), first + n, &missing), 100);
	linesink_free(sink);
	umount2(in_dir("disk"), MNT_DETACH);
}

/* The file itself is missing on a disk that is full from the start on. */
static void full_at_start(void **state)
{
	unsigned int first = number, missing;
	struct linesink *sink;
	int r;

	mount_disk("4k");
	r = mount(NULL, in_dir("disk"), NULL, MS_REMOUNT, "nr_inodes=1");
	assert_int_equal(r, 0);
	assert_int_equal(open_sink(in_dir("disk/log"), &sink), 0);
	assert_int_equal(stats_of(sink).error, -ENOSPC);
	add(sink, 3);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).waiting, 3);
	assert_int_equal(mount(NULL, in_dir("disk"), NULL, MS_REMOUNT, "nr_inodes=100"), 0);
	linesink_flush(sink, 2 * SECOND);
	assert_int_equal(stats_of(sink).error, 0);
	assert_int_equal(check_lines(in_dir("disk/log"), first, &missing), 3);
	linesink_free(sink);
	umount2(in_dir("disk"), MNT_DETACH);
}

/* The file may not grow (EFBIG), so half a line is cut off; then it may. */
static void limited(void **state)
{
	unsigned int first = number, missing;
	struct rlimit limit = {sizeof(line) * 5 / 2, RLIM_INFINITY};
	struct linesink *sink;

	unlink(in_dir("limited"));
	assert_int_equal(open_sink(in_dir("limited"), &sink), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	add(sink, 5);
	linesink_flush(sink, SECOND);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(stats_of(sink).error, -EFBIG);
	assert_int_equal(stats_of(sink).written, 2);
	assert_int_equal(size_of(in_dir("limited")), 2 * sizeof(line));
	linesink_flush(sink, 3 * SECOND);
	assert_int_equal(stats_of(sink).written, 5);
	assert_int_equal(check_lines(in_dir("limited"), first, &missing), 5);
	linesink_free(sink);
}

static bool set_append_only(const char *path, bool on)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), flags = 0, r;

	r = ioctl(fd, FS_IOC_GETFLAGS, &flags);
	flags = on ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
	if (r == 0)
		r = ioctl(fd, FS_IOC_SETFLAGS, &flags);
	close(fd);
	return r == 0;
}

/* An append-only file (chattr +a) cannot be truncated. */
static void not_cut(void **state)
{
	unsigned int first = number, missing;
	struct rlimit limit = {sizeof(line) * 5 / 2, RLIM_INFINITY};
	struct linesink *sink;

	unlink(in_dir("limited"));
	assert_int_equal(open_sink(in_dir("limited"), &sink), 0);
	if (!set_append_only(in_dir("limited"), true)) {
		linesink_free(sink);
		skip();
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	add(sink, 5);
	linesink_flush(sink, SECOND);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(size_of(in_dir("limited")), sizeof(line) * 5 / 2);
	assert_int_equal(stats_of(sink).written, 2);
	linesink_flush(sink, 3 * SECOND);
	assert_true(set_append_only(in_dir("limited"), false));
	assert_int_equal(stats_of(sink).written, 5);
	assert_int_equal(check_lines(in_dir("limited"), first, &missing), 5);
	linesink_free(sink);
}

/* No room for the newline, either. */
static void not_ended(void **state)
{
	struct rlimit limit = {4, RLIM_INFINITY};
	unsigned int first = number;
	struct linesink *sink;
	char text[64] = "";
	FILE *file;

	file = fopen(in_dir("limited"), "we");
	assert_non_null(file);
	fputs("half", file);
	fclose(file);
	assert_int_equal(open_sink(in_dir("limited"), &sink), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	linesink_mend(sink, "", 0);
	add(sink, 1);
	linesink_flush(sink, SECOND);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(stats_of(sink).waiting, 1);
	linesink_flush(sink, 3 * SECOND);
	assert_int_equal(stats_of(sink).written, 1);
	linesink_free(sink);
	file = fopen(in_dir("limited"), "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_string_equal(text, "half\n");
	assert_non_null(fgets(text, sizeof(text), file));
	assert_int_equal(atoi(text), first);
	fclose(file);
}

static void full_at_end(void **state)
{
	struct linesink *sink;

	assert_int_equal(open_sink("/dev/full", &sink), 0);
	add(sink, 2);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).error, -ENOSPC);
	assert_false(linesink_finish(sink, 10));
	assert_int_equal(stats_of(sink).waiting, 2);
	assert_int_equal(stats_of(sink).written, 0);
	assert_false(linesink_is_idle(sink));
	linesink_free(sink);
}

/* Reads a page now and then. */
static pid_t start_slow_reader(int fd)
{
	static char page[4096];
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, page, sizeof(page)) != 0)
		usleep(20000);
	_exit(0);
}

static void slow_at_end(void **state)
{
	struct linesink *sink;
	struct out *out;
	pid_t reader;
	int in, p[2];

	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	in = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(open_sink(in_dir("fifo"), &sink), 0);
	fcntl(in, F_SETFL, 0);
	add(sink, 1500);
	reader = start_slow_reader(in);
	assert_false(linesink_finish(sink, 100));
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	linesink_free(sink);
	close(in);
	unlink(in_dir("fifo"));

	assert_int_equal(pipe(p), 0);
	assert_int_equal(out_new(p[1], true, true, &out), 0);
	for (int i = 0; i < 1500; i++)
		out_add(out, line, sizeof(line));
	reader = start_slow_reader(p[0]);
	assert_int_equal(out_finish(out, 100), 1);
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	out_free(out);
	close(p[0]);
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
	struct line_stats stats;
	struct linesink *sink;
	char got[65536];
	uint64_t bytes = 0;
	int p[2], saved = with_pipe(p), r;
	ssize_t n;

	r = open_sink(NULL, &sink);
	restore(saved);
	assert_int_equal(r, 0);
	for (int i = 0; i < 4000; i++) {
		add(sink, 1);
		linesink_flush(sink, SECOND);
	}
	stats = stats_of(sink);
	assert_int_equal(stats.error, 0);
	assert_in_range(stats.dropped, 1500, 1999);
	assert_in_range(stats.waiting, 2000, 2200);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 100; i++) {
		while ((n = read(p[0], got, sizeof(got))) > 0)
			bytes += (uint64_t)n;
		linesink_flush(sink, SECOND);
	}
	stats = stats_of(sink);
	assert_int_equal(stats.written + stats.dropped, 4000);
	/* And one line of the gap. */
	assert_in_range(bytes - stats.written * sizeof(line), 10, 100);
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

	r = open_sink(NULL, &sink);
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
	assert_int_equal(open_sink(in_dir("fifo"), &sink), -ENXIO);
	fd = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(open_sink(in_dir("fifo"), &sink), 0);
	close(fd);
	add(sink, 1);
	linesink_flush(sink, SECOND);
	assert_int_equal(stats_of(sink).error, -EPIPE);
	linesink_flush(sink, 2 * SECOND);
	assert_int_equal(stats_of(sink).error, -ENXIO);
	fd = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK);
	linesink_flush(sink, 3 * SECOND);
	add(sink, 1);
	linesink_flush(sink, 3 * SECOND);
	assert_int_equal(stats_of(sink).written, 2);
	assert_int_equal(stats_of(sink).dropped, 0);
	linesink_free(sink);
	close(fd);
}

/* What is in a file or in a non-blocking pipe. */
static char *read_all(int fd)
{
	struct buf all = {};
	char got[4096];
	ssize_t n;

	while ((n = read(fd, got, sizeof(got))) > 0)
		buf_add(&all, got, (size_t)n);
	assert_int_equal(buf_error(&all), 0);
	return all.data;
}

static void discarded_full(void **state)
{
	struct linesink *sink;
	char *text, *at;
	int fd;

	mount_disk("32k");
	assert_int_equal(open_sink(in_dir("disk/log"), &sink), 0);
	add(sink, 100);
	linesink_flush(sink, SECOND);
	linesink_discard(sink, 2 * SECOND);
	assert_true(linesink_drops(sink));
	assert_int_equal(stats_of(sink).waiting, 0);
	assert_int_equal(stats_of(sink).dropped, 68);
	/* The line that stands for these does not get out either. */
	linesink_flush(sink, 3 * SECOND);
	linesink_discard(sink, 4 * SECOND);
	assert_int_equal(stats_of(sink).dropped, 68);
	resize_disk("64k");
	linesink_flush(sink, 5 * SECOND);
	add(sink, 1);
	linesink_flush(sink, 5 * SECOND);
	assert_int_equal(stats_of(sink).written, 33);
	linesink_free(sink);
	fd = open(in_dir("disk/log"), O_RDONLY | O_CLOEXEC);
	text = read_all(fd);
	at = text + 32 * sizeof(line);
	assert_memory_equal(at, "gap 68 2000000000-", 18);
	assert_int_equal(strlen(strchr(at, '\n') + 1), sizeof(line));
	free(text);
	close(fd);
	umount2(in_dir("disk"), MNT_DETACH);
}

static void discarded_half(void **state)
{
	int p[2], saved = with_pipe(p), r;
	struct linesink *sink;
	uint64_t written;
	char *text, *at;

	r = open_sink(NULL, &sink);
	restore(saved);
	assert_int_equal(r, 0);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	add(sink, 200);
	linesink_flush(sink, SECOND);
	written = stats_of(sink).written;
	linesink_discard(sink, 2 * SECOND);
	text = read_all(p[0]);
	at = text + written * sizeof(line);
	assert_in_range(strlen(at), 1, sizeof(line) - 1);
	free(text);
	linesink_flush(sink, 3 * SECOND);
	text = read_all(p[0]);
	assert_memory_equal(text, "\ngap ", 5);
	free(text);
	add(sink, 1);
	linesink_flush(sink, 3 * SECOND);
	assert_int_equal(stats_of(sink).written, written + 1);
	assert_int_equal(stats_of(sink).dropped, 200 - written);
	linesink_free(sink);
	close(p[0]);
}

static void no_such_place(void **state)
{
	struct linesink *sink;

	assert_int_equal(open_sink(in_dir("none/log"), &sink), -ENOENT);
	assert_int_equal(open_sink(dir, &sink), -EISDIR);
}

static void check_mended(const char *there, const char *lines, const char *becomes)
{
	char path[128], got[256] = "";
	struct linesink *sink;
	int fd;

	snprintf(path, sizeof(path), "%s", in_dir("half"));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, there, strlen(there)), strlen(there));
	assert_int_equal(open_sink(path, &sink), 0);
	linesink_mend(sink, lines, strlen(lines));
	linesink_add(sink, "new\n", 4, 1);
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
	signal(SIGXFSZ, SIG_IGN);
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const made[] = {"plain", "burst", "log",	  "log.1",
					   "fifo",  "half",  "elsewhere", "limited"};

	for (size_t i = 0; i < LEN(made); i++)
		unlink(in_dir(made[i]));
	umount2(in_dir("disk"), MNT_DETACH);
	rmdir(in_dir("disk"));
	return rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a file is appended to and no other user can read it", plain_file),
		CLAIM("more at once than is kept for a slow reader is no loss for a file", burst),
		CLAIM("a renamed file is left and a new one begun, without a line lost", rotated),
		CLAIM("a file that has its limit is begun anew after whole lines, and the one before is kept",
		      begun_anew),
		CLAIM("lines wait for space on a full disk, and none is torn or repeated",
		      full_disk),
		CLAIM("what finds no room while a disk is full is counted in its place in the file",
		      long_full),
		CLAIM("lines that a full disk did not take are in the file that is opened then",
		      rotated_when_full),
		CLAIM("a file that cannot be made on a full disk is made when it has space",
		      full_at_start),
		CLAIM("lines wait for a file that may not grow, without half a line in it",
		      limited),
		CLAIM("half a line that cannot be cut off is continued", not_cut),
		CLAIM("a line begins anew behind a half one, also when that could not be ended",
		      not_ended),
		CLAIM("lines that cannot be written at the end are not reported as written",
		      full_at_end),
		CLAIM("a slow reader that goes on reading holds up the end no longer than one that "
		      "does not",
		      slow_at_end),
		CLAIM("a slow reader costs what does not fit into the wait", slow_reader),
		CLAIM("a reader of standard output that left is not written to again", reader_left),
		CLAIM("what is discarded while a disk is full is counted in its place",
		      discarded_full),
		CLAIM("half a line is ended when the rest of it is discarded", discarded_half),
		CLAIM("a pipe in the file system is waited for without opening blocking", fifo),
		CLAIM("half a line is cut off when it comes whole, and ended when it does not",
		      half_line),
		CLAIM("a file that cannot be made is refused at the start", no_such_place),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
