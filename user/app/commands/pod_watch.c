// SPDX-License-Identifier: Apache-2.0
/* Compares one answer with the one before, and writes without ever waiting for a slow reader in a
 * way that a signal would not end. */
#include "app/commands/pod_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/live/output.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "io/sinks/lines.h"
#include "wire/json/pods.h"
#include "wire/text/pods.h"

#define ANSWER_MS   5000
#define INTERVAL_MS 1000

/* Lines longer than the terminal is wide are cut by it, so that each stays one line. */
#define TERMINAL_BEGIN "\033[?7l\033[2J"
#define TERMINAL_HOME  "\033[H"
#define LINE_END       "\033[K\n"
#define SCREEN_END     "\033[J"
#define TERMINAL_END   "\033[?7h"

struct podwatch {
	const struct options *options;
	int stop_fd;
	struct out *out;
	bool terminal, colour;
	bool titled;  /* the table has its titles */
	bool silent;  /* the daemon did not answer last time, which was told */
	bool painted; /* the terminal is ours */
	struct podlist shown;
};

int podwatch_ask(const struct options *o, int stop_fd, struct podlist *ret,
		 struct control_why *ret_why)
{
	struct control_answer answer = {};
	char buffer[PATH_MAX];
	int r = control_ask(control_socket_path(o->socket, buffer), CONTROL_PODS, ANSWER_MS,
			    stop_fd, &answer, ret_why);

	if (r >= 0) {
		r = podlist_read(&answer, &o->filter, ret);
		if (r == -EBADMSG)
			strcpy(ret_why->text, "its answer is not understood");
		else if (r < 0)
			strcpy(ret_why->text, strerror(-r));
	}
	buf_free(&answer.text);
	return r;
}

void podwatch_say(const struct options *o, int error, const struct control_why *why)
{
	char buffer[PATH_MAX];
	const char *path = control_socket_path(o->socket, buffer);

	if (error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR)
		say("no daemon answers at %s; start graced run, or name its socket with --control.socket",
		    path);
	else if (error == -EACCES || error == -EPERM)
		say("only root may ask the daemon at %s; run graced pods as root", path);
	else
		say("cannot ask the daemon at %s: %s", path, why->text);
}

static int open_stop(int *ret)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	*ret = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret < 0 ? -errno : 0;
}

/* Until a signal comes (-ECANCELED), the reader leaves (-EPIPE), what is waited for can be done, or
 * the time is over. */
static int wait_for(const struct podwatch *w, short events, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = w->stop_fd, .events = POLLIN},
			       {.fd = out_fd(w->out), .events = events}};
	int n = poll(fds, 2, timeout_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	if (n <= 0)
		return 0;
	if (fds[0].revents)
		return -ECANCELED;
	return fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : 0;
}

static int put(struct podwatch *w, const struct buf *text)
{
	int r = buf_error(text);

	if (r == 0)
		r = out_add(w->out, buf_str(text), text->len);
	while (r == 0 && (r = out_flush(w->out)) > 0)
		r = wait_for(w, POLLOUT, -1);
	return r;
}

static unsigned int terminal_lines(const struct podwatch *w)
{
	struct winsize size;

	return ioctl(out_fd(w->out), TIOCGWINSZ, &size) == 0 && size.ws_row > 2 ? size.ws_row : 24;
}

/* Lines of the screen in place of lines of text. */
static void add_lines(struct buf *out, const char *text)
{
	for (size_t len; *text; text += len + 1) {
		len = strcspn(text, "\n");
		buf_add(out, text, len);
		buf_adds(out, LINE_END);
	}
}

static int repaint(struct podwatch *w, const struct podlist *now)
{
	_cleanup_(buf_free) struct buf text = {}, table = {};
	_cleanup_(rows_free_kept) struct rows rows = {};
	size_t room = terminal_lines(w) - 2, n = now->n <= room ? now->n : room - 1;

	buf_adds(&text, w->painted ? TERMINAL_HOME : TERMINAL_BEGIN TERMINAL_HOME);
	w->painted = true;
	pods_table_title(&rows);
	for (size_t i = 0; i < n; i++)
		pods_table_row(&rows, &now->list[i]);
	if (pods_table_put(&table, &rows, w->colour) < 0)
		return buf_error(&table);
	add_lines(&text, buf_str(&table));
	if (n < now->n)
		buf_printf(&text, "and %zu more" LINE_END, now->n - n);
	buf_adds(&text, SCREEN_END);
	return put(w, &text);
}

static void add_row(struct podwatch *w, struct buf *text, struct rows *rows,
		    const struct pods_record *record)
{
	if (w->options->json) {
		pods_json(text, record);
		return;
	}
	if (!w->titled)
		pods_table_title(rows);
	w->titled = true;
	pods_table_row(rows, record);
}

static void add_gone(struct podwatch *w, struct buf *text, struct rows *rows,
		     const struct pods_record *old)
{
	struct pods_record gone = *old;

	gone.gone = true;
	gone.at_ns = clock_boot_ns();
	gone.wall_ns = (int64_t)gone.at_ns + clock_wall_offset_ns();
	gone.view.since_ns = gone.at_ns;
	gone.view.running = 0;
	gone.view.sandbox_running = false;
	add_row(w, text, rows, &gone);
}

static int tell_changes(struct podwatch *w, const struct podlist *now)
{
	_cleanup_(buf_free) struct buf text = {};
	_cleanup_(rows_free_kept) struct rows rows = {};

	for (size_t i = 0; i < w->shown.n; i++)
		if (!podlist_find(now, w->shown.list[i].view.uid))
			add_gone(w, &text, &rows, &w->shown.list[i]);
	for (size_t i = 0; i < now->n; i++) {
		const struct pods_record *old = podlist_find(&w->shown, now->list[i].view.uid);

		if (!old || !pods_record_same(old, &now->list[i]))
			add_row(w, &text, &rows, &now->list[i]);
	}
	pods_table_put(&text, &rows, w->colour);
	return put(w, &text);
}

/* One question and what follows from its answer. A daemon that is restarted comes back. */
static int turn(struct podwatch *w, bool first)
{
	struct podlist now = {};
	struct control_why why;
	int r = podwatch_ask(w->options, w->stop_fd, &now, &why);

	if (r < 0) {
		if (r != -ECANCELED && !w->silent)
			podwatch_say(w->options, r, &why);
		w->silent = true;
		podlist_free(&now);
		return first || r == -ECANCELED ? r : 0;
	}
	w->silent = false;
	r = w->terminal && !w->options->json ? repaint(w, &now) : tell_changes(w, &now);
	podlist_free(&w->shown);
	w->shown = now;
	return r;
}

static int watch(struct podwatch *w)
{
	int r = turn(w, true);

	if (r < 0 && r != -ECANCELED && r != -EPIPE)
		return 1;
	while (r == 0) {
		r = wait_for(w, 0, INTERVAL_MS);
		if (r == 0)
			r = turn(w, false);
	}
	if (r == -ECANCELED || r == -EPIPE)
		return 0;
	say("cannot go on: %s", strerror(-r));
	return 1;
}

int podwatch_run(const struct options *o)
{
	_cleanup_(cleanup_close) int stop_fd = -1;
	struct podwatch w = {
		.options = o, .terminal = isatty(STDOUT_FILENO), .colour = output_wants_colour()};
	int status, r = open_stop(&stop_fd);

	if (r >= 0)
		r = out_new(STDOUT_FILENO, false, true, &w.out);
	if (r < 0) {
		say("cannot watch: %s", strerror(-r));
		return 1;
	}
	w.stop_fd = stop_fd;
	status = watch(&w);
	if (w.painted) {
		out_add(w.out, TERMINAL_END, strlen(TERMINAL_END));
		out_flush(w.out);
	}
	podlist_free(&w.shown);
	out_free(w.out);
	return status;
}
