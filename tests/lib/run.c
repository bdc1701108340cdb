// SPDX-License-Identifier: Apache-2.0
// Run a command to its end with its output and its messages captured.
#include "lib/run.h"
#include "lib/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGS_MAX  60
#define COPY_STEP (1u << 24)

struct stream {
	int fd;
	char *text;
	size_t len, room;
};

/* A copy in memory, which every user may run: the program may lie where only root may enter. */
static int copy_program(const char *exe)
{
	int from = open(exe, O_RDONLY | O_CLOEXEC), to = memfd_create("graced", MFD_CLOEXEC);
	ssize_t n;

	do
		n = sendfile(to, from, NULL, COPY_STEP);
	while (n > 0);
	return n < 0 ? -1 : to;
}

static bool become(uid_t uid)
{
	return setgroups(0, NULL) == 0 && setgid(uid) == 0 && setuid(uid) == 0;
}

static void exec_command(const struct run_spec *spec, int out, int err) __attribute__((noreturn));
static void exec_command(const struct run_spec *spec, int out, int err)
{
	const char *exe = spec->exe ? spec->exe : getenv("GRACED"), *argv[ARGS_MAX + 2] = {exe};
	int null = open("/dev/null", O_RDONLY), copy = spec->uid ? copy_program(exe) : -1;

	for (size_t i = 0; spec->args && spec->args[i] && i < ARGS_MAX; i++)
		argv[i + 1] = spec->args[i];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	if (spec->uid && (copy < 0 || !become(spec->uid)))
		_exit(126);
	if (spec->uid)
		fexecve(copy, (char *const *)argv, environ);
	else
		execv(exe, (char *const *)argv);
	_exit(127);
}

/* Take what is there; false at the end of the stream. */
static bool take(struct stream *stream, size_t max)
{
	ssize_t n;

	if (stream->room - stream->len < 4097) {
		char *text = realloc(stream->text, 2 * stream->room + 8192);

		if (!text)
			return false;
		stream->text = text;
		stream->room = 2 * stream->room + 8192;
	}
	n = read(stream->fd, stream->text + stream->len, 4096);
	if (n > 0)
		stream->len += (size_t)n;
	stream->text[stream->len] = '\0';
	return (n > 0 && (!max || stream->len < max)) || (n < 0 && errno == EINTR);
}

static void end_stream(struct stream *stream)
{
	close(stream->fd);
	stream->fd = -1;
}

static int drain(struct stream *out, struct stream *err, size_t out_max)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (out->fd >= 0 || err->fd >= 0) {
		struct pollfd fds[2] = {{.fd = out->fd, .events = POLLIN},
					{.fd = err->fd, .events = POLLIN}};

		poll(fds, 2, 1000);
		if (fds[0].revents && !take(out, out_max))
			end_stream(out);
		if (fds[1].revents && !take(err, 0))
			end_stream(err);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > PATIENCE_S)
			return -ETIMEDOUT;
	}
	return 0;
}

static int collect(pid_t pid, struct stream *out, struct stream *err, size_t out_max, int *status)
{
	int r = drain(out, err, out_max);

	if (r)
		kill(pid, SIGKILL);
	if (waitpid(pid, status, 0) < 0)
		return -errno;
	return r;
}

int run(const struct run_spec *spec, struct run_result *ret)
{
	struct stream out = {.fd = -1}, err = {.fd = -1};
	int out_pipe[2], err_pipe[2], status = 0, r;
	pid_t pid;

	if (pipe2(out_pipe, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err_pipe, O_CLOEXEC) < 0) {
		r = -errno;
		close(out_pipe[0]);
		close(out_pipe[1]);
		return r;
	}
	pid = fork();
	if (pid == 0)
		exec_command(spec, out_pipe[1], err_pipe[1]);
	r = pid < 0 ? -errno : 0;
	close(out_pipe[1]);
	close(err_pipe[1]);
	out.fd = out_pipe[0];
	err.fd = err_pipe[0];
	if (!r)
		r = collect(pid, &out, &err, spec->read_max, &status);
	if (out.fd >= 0)
		end_stream(&out);
	if (err.fd >= 0)
		end_stream(&err);
	if (r) {
		free(out.text);
		free(err.text);
		return r;
	}
	*ret = (struct run_result){
		.pid = pid,
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		.out = out.text,
		.out_len = out.len,
		.err = err.text,
		.err_len = err.len,
	};
	return 0;
}

void run_done(struct run_result *result)
{
	free(result->out);
	free(result->err);
	*result = (struct run_result){0};
}
