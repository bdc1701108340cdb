// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced pods --watch` with a real daemon: who comes and goes is printed, on a pipe
 * as on a terminal, and it ends as it should. */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/claim.h"
#include "lib/daemon/podstage.h"
#include "lib/patience.h"

#define STEP_MS 50

#define BEGIN	      "\033[?7l\033[2J"
#define HOME	      "\033[H"
#define END_OF_LINE   "\033[K\r\n"
#define END_OF_SCREEN "\033[J"
#define TITLE	      "\033[1mPOD\033[0m "
#define LAST_TITLE    "\033[1mRUNNING\033[0m"

/* `graced pods --watch`, on a pipe or a terminal. */
struct watcher {
	pid_t pid;
	int fd;
	struct buf text;
};

static void exec_watch(const char *socket, const char *format, const char *pod)
	__attribute__((noreturn));
static void exec_watch(const char *socket, const char *format, const char *pod)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	execl(getenv("GRACED"), "graced", "pods", "--watch", "--control.socket", socket, "-o",
	      format, pod ? "-p" : (char *)NULL, pod, (char *)NULL);
	_exit(127);
}

static void watch_pipe(const char *socket, bool json, struct watcher *ret)
{
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fflush(stdout);
	*ret = (struct watcher){.pid = fork(), .fd = out[0]};
	if (ret->pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		exec_watch(socket, json ? "json" : "table", NULL);
	}
	close(out[1]);
}

static void watch_terminal(const char *socket, const char *pod, struct watcher *ret)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};

	*ret = (struct watcher){.fd = -1};
	fflush(stdout);
	ret->pid = forkpty(&ret->fd, NULL, NULL, &size);
	if (ret->pid == 0)
		exec_watch(socket, "table", pod);
}

/* Waits until it has printed that behind what is at that place; where it ends, or 0. */
static size_t await_text(struct watcher *w, size_t from, const char *wanted)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;
	char bytes[4096];

	while (podstage_now_ms() < until) {
		struct pollfd p = {.fd = w->fd, .events = POLLIN};
		const char *found =
			from <= w->text.len ? strstr(buf_str(&w->text) + from, wanted) : NULL;
		ssize_t n;

		if (found)
			return (size_t)(found - buf_str(&w->text)) + strlen(wanted);
		if (poll(&p, 1, STEP_MS) <= 0)
			continue;
		n = read(w->fd, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		buf_add(&w->text, bytes, (size_t)n);
	}
	fail_msg("no '%s' behind %zu in: %s", wanted, from, buf_str(&w->text));
	return 0;
}

static int await_end(struct watcher *w)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;
	int status;

	while (waitpid(w->pid, &status, WNOHANG) == 0) {
		if (podstage_now_ms() > until)
			kill(w->pid, SIGKILL);
		usleep(STEP_MS * 1000);
	}
	if (w->fd >= 0)
		close(w->fd);
	buf_free(&w->text);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_watch_prints_who_comes_and_who_goes(void **state)
{
	struct podstage *s = podstage_of(state);
	struct watcher table, json;
	char gone[160];
	struct box box;
	size_t at;

	watch_pipe(s->socket, false, &table);
	watch_pipe(s->socket, true, &json);
	podstage_box(s, NULL, &box);
	at = await_text(&table, 0, box.uid);
	at = await_text(&table, at, " sync ");
	await_text(&json, await_text(&json, 0, box.uid), "\n");
	assert_int_equal(box_remove(&box), 0);
	snprintf(gone, sizeof(gone), "%s  gone ", box.uid);
	await_text(&table, at, gone);
	snprintf(gone, sizeof(gone),
		 "%s\",\"qos\":\"burstable\",\"static\":false,"
		 "\"workload\":null,\"workload_kind\":null},\"container\":null,"
		 "\"state\":\"gone\"",
		 box.uid);
	await_text(&json, 0, gone);
	assert_null(strchr(buf_str(&table.text), '\033'));
	kill(table.pid, SIGINT);
	kill(json.pid, SIGTERM);
	assert_int_equal(await_end(&table), 0);
	assert_int_equal(await_end(&json), 0);
}

static void a_watch_ends_when_its_reader_leaves(void **state)
{
	struct podstage *s = podstage_of(state);
	struct watcher w;

	watch_pipe(s->socket, false, &w);
	usleep(500000);
	close(w.fd);
	w.fd = -1;
	assert_int_equal(await_end(&w), 0);
}

static void a_terminal_is_painted_anew_and_given_back(void **state)
{
	struct podstage *s = podstage_of(state);
	struct watcher w;
	struct box box;
	size_t at;

	podstage_box(s, NULL, &box);
	watch_terminal(s->socket, box.uid, &w);
	at = await_text(&w, 0, BEGIN HOME);
	at = await_text(&w, at, box.uid);
	at = await_text(&w, at, HOME TITLE);
	assert_int_equal(box_remove(&box), 0);
	await_text(&w, at, LAST_TITLE END_OF_LINE END_OF_SCREEN);
	assert_int_equal(write(w.fd, "\003", 1), 1);
	await_text(&w, at, "\033[?7h");
	assert_int_equal(await_end(&w), 0);
}

static void a_watch_outlives_a_restart_even_after_sigkill(void **state)
{
	struct podstage *s = podstage_of(state);
	char dir[] = "/tmp/graced-pods-XXXXXX", socket[64];
	struct service *service;
	struct box first, second;
	struct watcher w;

	assert_non_null(mkdtemp(dir));
	snprintf(socket, sizeof(socket), "%s/control.sock", dir);
	service = podstage_service(s, socket);
	podstage_box(s, NULL, &first);
	watch_pipe(socket, false, &w);
	await_text(&w, 0, first.uid);
	assert_int_equal(kill(service_pid(service), SIGKILL), 0);
	service_free(service);
	assert_int_equal(access(socket, F_OK), 0);
	service = podstage_service(s, socket);
	podstage_box(s, NULL, &second);
	await_text(&w, 0, second.uid);
	assert_int_equal(box_remove(&first), 0);
	assert_int_equal(box_remove(&second), 0);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	assert_int_equal(access(socket, F_OK), -1);
	kill(w.pid, SIGINT);
	assert_int_equal(await_end(&w), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a watch prints who comes and who goes",
		      a_watch_prints_who_comes_and_who_goes),
		CLAIM("a watch ends when its reader leaves", a_watch_ends_when_its_reader_leaves),
		CLAIM("a terminal is painted anew, and given back",
		      a_terminal_is_painted_anew_and_given_back),
		CLAIM("a watch outlives a restart, even after SIGKILL",
		      a_watch_outlives_a_restart_even_after_sigkill),
	};

	return cmocka_run_group_tests(tests, podstage_open, podstage_close);
}
