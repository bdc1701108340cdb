// SPDX-License-Identifier: Apache-2.0
// Serve a control socket from the test's loop, and ask it.
#include "lib/daemon/ctlsite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/control/control.h"
#include "lib/claim.h"
#include "lib/patience.h"

#define MS 1000000

static int answer(void *userdata, const struct control_request *request, struct buf *out,
		  uint64_t *ret_lines, struct control_why *ret_why)
{
	struct ctlsite *s = userdata;

	assert_int_equal(request->command, CONTROL_PODS);
	for (uint64_t i = 0; i < s->lines; i++)
		buf_printf(out, "{\"line\":%054llu}\n", (unsigned long long)i);
	*ret_lines = s->lines;
	if (s->why)
		strcpy(ret_why->text, s->why);
	return s->error;
}

static bool admits(void *userdata, pid_t pid)
{
	struct ctlsite *s = userdata;

	s->asked_by = pid;
	return s->admits;
}

int ctlsite_listen(struct ctlsite *s, struct control_why *why)
{
	struct control_config config = {
		.path = s->path,
		.timeout_ns = s->timeout_ns,
		.userdata = s,
		.answer = answer,
		.admits = admits,
	};

	return control_new(s->event, &config, &s->control, why);
}

int ctlsite_setup(void **state)
{
	struct ctlsite *s = calloc(1, sizeof(*s));
	struct control_why why;

	strcpy(s->dir, "/tmp/graced-control-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/run/control.sock", s->dir);
	assert_true(sd_event_new(&s->event) >= 0);
	s->lines = 2;
	s->admits = true;
	assert_int_equal(ctlsite_listen(s, &why), 0);
	*state = s;
	return 0;
}

int ctlsite_teardown(void **state)
{
	struct ctlsite *s = *state;
	char run[80];

	control_free(s->control);
	sd_event_unref(s->event);
	unlink(s->path);
	snprintf(run, sizeof(run), "%s/run", s->dir);
	rmdir(run);
	rmdir(s->dir);
	free(s);
	return 0;
}

uint64_t ctlsite_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / MS;
}

void ctlsite_settle(struct ctlsite *s)
{
	while (sd_event_run(s->event, 0) > 0)
		;
}

int ctlsite_join(const struct ctlsite *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, s->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

void ctlsite_say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

void ctlsite_hear(struct ctlsite *s, int fd, struct buf *ret)
{
	uint64_t until = ctlsite_now_ms() + 5000;

	while (ctlsite_now_ms() < until) {
		char bytes[65536];
		ssize_t n;

		sd_event_run(s->event, 1000);
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n > 0)
			buf_add(ret, bytes, (size_t)n);
		else if (n == 0 || errno == ECONNRESET)
			return;
	}
	fail_msg("the connection was not closed");
}

void ctlsite_hears(struct ctlsite *s, int fd, const char *expected)
{
	_cleanup_(buf_free) struct buf got = {};

	ctlsite_hear(s, fd, &got);
	assert_string_equal(buf_str(&got), expected);
	close(fd);
}

int ctlsite_query(struct ctlsite *s, uid_t uid)
{
	uint64_t until = ctlsite_now_ms() + PATIENCE_MS;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct control_answer got = {};
		struct control_why why;
		int r;

		if (uid && (setgid(uid) < 0 || setuid(uid) < 0))
			_exit(255);
		r = control_query(s->path, &(struct control_request){.command = CONTROL_PODS}, 5000,
				  -1, &got, &why);
		if (r == 0 && (got.lines != s->lines || got.text.len != 64 * s->lines))
			r = -255;
		_exit(-r);
	}
	assert_true(pid > 0);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		assert_true(ctlsite_now_ms() < until);
		sd_event_run(s->event, 1000);
	}
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

struct control_stats ctlsite_stats(const struct ctlsite *s)
{
	struct control_stats stats;

	control_get_stats(s->control, &stats);
	return stats;
}
