// SPDX-License-Identifier: Apache-2.0
/* Claims about app/log and app/log/say: what is on stderr, and that nothing waits for it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/log/say.h"
#include "lib/claim.h"

/* Each case runs in a child, as the log is set up once and for all. Returns what it wrote. */
static const char *in_child(void (*body)(void), int fds[2])
{
	static char text[1 << 20];
	size_t n = 0;
	ssize_t r;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (dup2(fds[1], STDERR_FILENO) < 0)
			_exit(99);
		close(fds[1]);
		body();
		_exit(0);
	}
	close(fds[1]);
	/* A full pipe is read only after the child has ended: what waits for us would hang. */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	while ((r = read(fds[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = '\0';
	close(fds[0]);
	return text;
}

static const char *through_pipe(void (*body)(void))
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	return in_child(body, fds);
}

static void before_setup(void)
{
	say("hello \x1b[31m%s", "x");
	say_as("run", "wrong");
	log_warning("odd");
	log_info("too much");
	if (say_usage("run", "what?") != 2 || log_lost() != 0)
		_exit(1);
}

static void test_before(void **state)
{
	assert_string_equal(through_pipe(before_setup),
			    "graced: hello \\x1b[31mx\n"
			    "graced run: wrong\n"
			    "graced: odd\n"
			    "graced run: what?; see graced run --help\n");
}

static void after_setup(void)
{
	log_setup(LOG_WARNING, false, true);
	say("cannot %s", "go on");
	log_warning("odd");
	log_info("too much");
	log_setup(LOG_DEBUG, true, false);
	log_debug("now \"enough\"");
}

static void test_after(void **state)
{
	const char *text = through_pipe(after_setup), *at;

	assert_int_equal(strncmp(text, "<3>time=", 8), 0);
	at = strstr(text, " level=error msg=\"cannot go on\"\n<4>time=");
	assert_non_null(at);
	at = strstr(at, " level=warning msg=\"odd\"\n{\"time\":");
	assert_non_null(at);
	assert_non_null(strstr(at, "\"level\":\"debug\",\"msg\":\"now \\\"enough\\\"\"}\n"));
	assert_null(strstr(text, "too much"));
}

/* More than any pipe or socket holds. */
static void flood(void)
{
	uint64_t lost;
	char drained[4096];
	int fd;

	log_setup(LOG_INFO, false, false);
	for (int i = 0; i < 20000; i++)
		log_info("line %d of the flood, which nobody reads", i);
	lost = log_lost();
	if (lost == 0 || lost >= 20000)
		_exit(1);
	/* Somebody takes what waits, and the next line says what was lost. */
	fd = open("/proc/self/fd/2", O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		_exit(0);
	while (read(fd, drained, sizeof(drained)) > 0)
		;
	close(fd);
	log_info("after it");
	if (log_lost() != lost)
		_exit(2);
}

static void test_full_pipe(void **state)
{
	const char *text = through_pipe(flood);
	unsigned long long lines = 0;
	const char *at = strstr(text, "lines=");

	assert_non_null(strstr(text, "lines of this log were lost"));
	assert_non_null(at);
	assert_int_equal(sscanf(at, "lines=%llu", &lines), 1);
	assert_in_range(lines, 1, 19999);
	assert_non_null(strstr(at, "msg=\"after it\"\n"));
}

static void test_full_socket(void **state)
{
	const char *last, *text;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	text = in_child(flood, fds);
	last = strrchr(text, '\n');
	assert_non_null(last);
	assert_int_equal(last[1], '\0');
	assert_non_null(strstr(text, "line 0 of the flood"));
}

static void into_nothing(void)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (full < 0 || dup2(full, STDERR_FILENO) < 0)
		_exit(1);
	log_setup(LOG_INFO, false, false);
	log_error("nowhere to go");
	if (log_lost() != 1)
		_exit(2);
}

static void test_full_disk(void **state)
{
	assert_string_equal(through_pipe(into_nothing), "");
}

static void as_journal(void)
{
	struct stat st;
	char name[64];

	unsetenv("JOURNAL_STREAM");
	if (log_to_journal() || fstat(STDERR_FILENO, &st) < 0)
		_exit(1);
	snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", name, 1);
	if (!log_to_journal())
		_exit(2);
	strcat(name, "0");
	setenv("JOURNAL_STREAM", name, 1);
	if (log_to_journal())
		_exit(3);
	setenv("JOURNAL_STREAM", "nonsense", 1);
	if (log_to_journal())
		_exit(4);
}

static void test_journal(void **state)
{
	assert_string_equal(through_pipe(as_journal), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("before the log is set up, lines are for a person", test_before),
		CLAIM("after it, all lines are the log's, of its level and worse", test_after),
		CLAIM("a full pipe keeps nobody waiting, and what was lost is logged",
		      test_full_pipe),
		CLAIM("a full socket keeps nobody waiting", test_full_socket),
		CLAIM("a full disk costs a line and no more", test_full_disk),
		CLAIM("the journal is known by the number of its stream", test_journal),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
