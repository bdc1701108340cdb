// SPDX-License-Identifier: Apache-2.0
/* Writes each line of the log at once and without waiting, or counts it as lost. */
#include "app/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/log/say.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "wire/text/log_line.h"

/* The log level and the form of lines are the only global state: code that logs needs no handle. */
static struct {
	bool set_up;
	int level;
	bool json, prefixed;
	int fd; /* stderr, or the same opened anew */
	bool socket;
	bool shared;	   /* the descriptor may block */
	uint64_t lost;	   /* lines */
	uint64_t unlogged; /* of these */
} log_state;

bool log_is_set_up(void)
{
	return log_state.set_up;
}

uint64_t log_lost(void)
{
	return log_state.lost;
}

bool log_to_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char end;

	return stream && sscanf(stream, "%llu:%llu%c", &device, &inode, &end) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/*
 * O_NONBLOCK belongs to the open file, which the shell and other commands share; opening the pipe
 * or terminal anew gives a description of our own.
 */
static void open_stderr(void)
{
	struct stat st = {};
	int fd = -1;

	if (fstat(STDERR_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	log_state.fd = fd >= 0 ? fd : STDERR_FILENO;
	log_state.socket = S_ISSOCK(st.st_mode);
	log_state.shared = fd < 0 && !S_ISREG(st.st_mode) && !log_state.socket;
}

void log_setup(int level, bool json, bool prefixed)
{
	if (!log_state.set_up)
		open_stderr();
	log_state.set_up = true;
	log_state.level = level;
	log_state.json = json;
	log_state.prefixed = prefixed;
}

/* A pipe that polls as writable takes a line at once. */
static bool is_ready(void)
{
	struct pollfd p = {.fd = log_state.fd, .events = POLLOUT};

	return poll(&p, 1, 0) > 0 && (p.revents & POLLOUT);
}

static bool write_line(const struct buf *line)
{
	ssize_t n;

	if (buf_error(line) || (log_state.shared && !is_ready()))
		return false;
	do
		n = log_state.socket
			    ? send(log_state.fd, line->data, line->len, MSG_NOSIGNAL | MSG_DONTWAIT)
			    : write(log_state.fd, line->data, line->len);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)line->len;
}

static bool put(int level, const char *text, size_t len, const struct logline_field *field)
{
	_cleanup_(buf_free) struct buf line = {};
	struct logline content = {
		.level = level,
		.wall_ns = (int64_t)clock_wall_ns(),
		.text = text,
		.text_len = len,
		.fields = field,
		.n_fields = field != NULL,
	};

	logline_add(&line, &content, log_state.json, log_state.prefixed);
	return write_line(&line);
}

static bool log_lost_lines(void)
{
	static const char text[] = "lines of this log were lost: they were not read in time";
	char count[24];
	struct logline_field field = {"lines", count};

	snprintf(count, sizeof(count), "%" PRIu64, log_state.unlogged);
	return put(LOG_WARNING, text, sizeof(text) - 1, &field);
}

static void lose(void)
{
	log_state.lost++;
	log_state.unlogged++;
}

void log_at(int level, const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {};
	va_list args;

	if (level > (log_state.set_up ? log_state.level : LOG_WARNING))
		return;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (!log_state.set_up) {
		say("%s", buf_str(&text));
		return;
	}
	if (log_state.unlogged && !log_lost_lines()) {
		lose();
		return;
	}
	log_state.unlogged = 0;
	if (!put(level, buf_str(&text), text.len, NULL))
		lose();
}
