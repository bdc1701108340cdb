// SPDX-License-Identifier: Apache-2.0
/* graced pods: what the running daemon knows of the pods of this node, and of containers and
 * services in none, once or again and again. What it prints is written without ever waiting for a
 * slow reader in a way that a signal would not end. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/commands/follow.h"
#include "app/config/options.h"
#include "app/config/run_dir.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "core/stop/filter.h"
#include "io/control/control.h"
#include "io/proc/clock.h"
#include "io/sinks/out.h"
#include "wire/json/pods.h"
#include "wire/text/pods.h"

/* All zero is an empty list. */
struct podlist {
	struct podview *list; /* in the arena, as their strings */
	const struct podview **by_key;
	size_t n;
	struct arena arena;
};

/* Names and records of as many pods as a reply holds. */
#define ARENA_BYTES ((size_t)64 << 20)

/* The filter knows records; an emptiness is one of a pod or a container and nothing more. */
static bool is_asked_for(const struct filter *filter, const struct podview *r)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.container = r->container,
						 .pod = {.known = !r->container.known,
							 .namespace_ = r->namespace_,
							 .name = r->name,
							 .uid = r->uid}}};

	return filter_matches(filter, &subject);
}

static int compare(const void *a, const void *b)
{
	return podview_order(a, b);
}

static int compare_key(const void *a, const void *b)
{
	const struct podview *const *first = a, *const *second = b;

	return strcmp(podview_key(*first), podview_key(*second));
}

static void sort(struct podlist *list)
{
	qsort(list->list, list->n, sizeof(*list->list), compare);
	for (size_t i = 0; i < list->n; i++)
		list->by_key[i] = &list->list[i];
	qsort(list->by_key, list->n, sizeof(*list->by_key), compare_key);
}

/* Reads an answer to CONTROL_PODS; *ret is an empty list. -EBADMSG when a line is not that of a
 * pod, -ENOMEM. */
static int podlist_read(const struct control_answer *answer, const struct filter *filter,
			struct podlist *ret)
{
	int64_t wall_offset_ns = clock_wall_offset_ns();
	const char *at = buf_str(&answer->text);

	ret->arena.limit = ARENA_BYTES;
	ret->list = arena_array(&ret->arena, answer->lines, sizeof(*ret->list));
	ret->by_key = arena_array(&ret->arena, answer->lines, sizeof(*ret->by_key));
	if (!ret->list || !ret->by_key)
		return -ENOMEM;
	for (uint64_t i = 0; i < answer->lines; i++) {
		struct podview *record = &ret->list[ret->n];
		size_t len = strcspn(at, "\n");
		int r = pods_json_read(at, len, &ret->arena, record);

		if (r < 0)
			return r;
		record->wall_ns = (int64_t)record->at_ns + wall_offset_ns;
		ret->n += is_asked_for(filter, record);
		at += len + 1;
	}
	sort(ret);
	return 0;
}

static void podlist_free(struct podlist *list)
{
	arena_free(&list->arena);
	*list = (struct podlist){};
}

/* The same pod or container; NULL when it is not there. */
static const struct podview *podlist_find(const struct podlist *list, const struct podview *wanted)
{
	const struct podview **found;

	if (!list->n)
		return NULL;
	found = bsearch(&wanted, list->by_key, list->n, sizeof(*list->by_key), compare_key);
	return found ? *found : NULL;
}

#define ANSWER_MS 5000

/* Should a line be longer than the terminal is wide, the terminal cuts it: each stays one line. */
#define TERMINAL_BEGIN "\033[?7l\033[2J"
#define TERMINAL_HOME  "\033[H"
#define LINE_END       "\033[K\n"
#define SCREEN_END     "\033[J"
#define TERMINAL_END   "\033[?7h"

struct podwatch {
	const struct options *options;
	struct follow follow;
	bool terminal;
	struct grid grid; /* columns do not get narrower, so that a screen stays calm */
	bool answered;	  /* the daemon did, once */
	bool silent;	  /* it did not answer last time, which was logged */
	bool painted;	  /* the terminal is ours */
	struct podlist shown;
};

/* Asks once; *ret is an empty list. stop_fd ends the waiting (-ECANCELED), -1: nothing does.
 * -errno, with *ret_why filled. */
static int podwatch_query(const struct options *o, int stop_fd, struct podlist *ret,
			  struct control_why *ret_why)
{
	struct control_answer answer = {};
	char buffer[PATH_MAX];
	int r = control_query(control_socket_path(o->socket, buffer),
			      &(struct control_request){.command = CONTROL_PODS}, ANSWER_MS,
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

static unsigned int terminal_lines(const struct podwatch *w)
{
	struct winsize size;

	return ioctl(out_fd(w->follow.out), TIOCGWINSZ, &size) == 0 && size.ws_row > 2 ? size.ws_row
										       : 24;
}

/* Lines of the screen in place of the first n lines of text. */
static void add_lines(struct buf *out, const char *text, size_t n)
{
	for (size_t len; *text && n > 0; text += len + 1, n--) {
		len = strcspn(text, "\n");
		buf_add(out, text, len);
		buf_adds(out, LINE_END);
	}
}

static int repaint(struct podwatch *w, const struct podlist *now)
{
	_cleanup_(buf_free) struct buf text = {}, table = {};
	size_t room = terminal_lines(w) - 2, n = now->n <= room ? now->n : room - 1;

	grid_set_width(&w->grid, screen_width());
	buf_adds(&text, w->painted ? TERMINAL_HOME : TERMINAL_BEGIN TERMINAL_HOME);
	w->painted = true;
	grid_add_titles(&w->grid);
	for (size_t i = 0; i < now->n; i++)
		grid_add(&w->grid, &now->list[i]);
	if (grid_flush(&w->grid, &table) < 0)
		return buf_error(&table);
	add_lines(&text, buf_str(&table), n + !w->options->table.no_titles);
	if (n < now->n)
		buf_printf(&text, "and %zu more" LINE_END, now->n - n);
	buf_adds(&text, SCREEN_END);
	return follow_put(&w->follow, &text);
}

static void add_row(struct podwatch *w, struct buf *text, const struct podview *record)
{
	if (w->options->json)
		pods_json(text, record);
	else
		grid_add(&w->grid, record);
}

static void add_gone(struct podwatch *w, struct buf *text, const struct podview *old)
{
	struct podview gone = *old;

	gone.gone = true;
	gone.at_ns = clock_boot_ns();
	gone.wall_ns = (int64_t)gone.at_ns + clock_wall_offset_ns();
	gone.since_ns = gone.at_ns;
	gone.running = 0;
	gone.sandbox_running = false;
	add_row(w, text, &gone);
}

/* Whether it would be printed as it was: a line of JSON has more in it than a row. */
static bool is_unchanged(const struct podwatch *w, const struct podview *old,
			 const struct podview *now)
{
	return w->options->json ? podview_same(old, now) : grid_is_same(&w->grid, old, now);
}

static int print_changes(struct podwatch *w, const struct podlist *now)
{
	_cleanup_(buf_free) struct buf text = {};

	for (size_t i = 0; i < w->shown.n; i++)
		if (!podlist_find(now, &w->shown.list[i]))
			add_gone(w, &text, &w->shown.list[i]);
	for (size_t i = 0; i < now->n; i++) {
		const struct podview *old = podlist_find(&w->shown, &now->list[i]);

		if (!old || !is_unchanged(w, old, &now->list[i]))
			add_row(w, &text, &now->list[i]);
	}
	grid_flush(&w->grid, &text);
	return follow_put(&w->follow, &text);
}

/* One question and what follows from its answer. A daemon that is restarted comes back. */
static int turn(void *userdata)
{
	struct podwatch *w = userdata;
	struct podlist now = {};
	struct control_why why;
	int r = podwatch_query(w->options, w->follow.stop_fd, &now, &why);

	if (r < 0) {
		if (r != -ECANCELED && !w->silent)
			query_say("pods", w->options->socket, r, &why);
		w->silent = true;
		podlist_free(&now);
		return r == -ECANCELED ? r : w->answered ? 0 : -EALREADY;
	}
	w->silent = false;
	w->answered = true;
	r = w->terminal && !w->options->json ? repaint(w, &now) : print_changes(w, &now);
	podlist_free(&w->shown);
	w->shown = now;
	return r;
}

/* Shows an answer each second, until SIGINT, SIGTERM (which have to be blocked) or a reader that
 * leaves: on a terminal the whole table, else the rows that are new, changed or gone. The exit
 * status. */
static int podwatch_run(const struct options *o)
{
	struct podwatch w = {.options = o, .terminal = isatty(STDOUT_FILENO)};
	struct grid_view view = screen_view(o);
	int status;

	if (!follow_open(&w.follow))
		return 1;
	view.flat = w.terminal;
	view.live = !w.terminal;
	grid_init(&w.grid, &pods_table, &view);
	status = follow_run(&w.follow, turn, &w);
	if (w.painted) {
		out_add(w.follow.out, TERMINAL_END, strlen(TERMINAL_END));
		out_flush(w.follow.out);
	}
	grid_done(&w.grid);
	podlist_free(&w.shown);
	follow_close(&w.follow);
	return status;
}

static const struct options_help help = {
	.head = "usage: graced pods [OPTIONS]\n"
		"       graced ps [OPTIONS]\n"
		"\n"
		"Queries the running daemon (graced run) for the pods that it knows, and for the containers\n"
		"and services in no pod; what is being stopped comes first. Needs root.\n",
	.tail = "STATE    of a pod: sync (as it should run), terminating, terminated (nothing\n"
		"         of it runs), finished; of a container or a service: running,\n"
		"         stopping; gone with --watch\n"
		"SINCE    how long it has been in that state\n"
		"RUNNING  how many of the pod's containers run, without the sandbox\n"
		"GRACE    the grace period once it is being stopped, and what is LEFT of it\n"
		"READY    as the kubelet last reported it\n"
		"MARKS    differs (the kubelet or the runtime reports something else than the\n"
		"         kernel does), orphan (it runs, and the kubelet does not list it),\n"
		"         deleting, static, waiting (a static pod of the same name has to\n"
		"         finish first)\n"
		"\n"
		"The exit status is 1 when no daemon answers, or nothing matches -n, -p and -c; 2 after\n"
		"wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced pods                        all of them\n"
		"  graced ps -c web                   a container of Docker, Podman or containerd\n"
		"  graced pods --watch -n default     their changes\n"
		"  graced pods -o json | jq -r 'select(.state == \"terminating\") | .pod.name'\n",
};

static int print(const struct options *o, const struct podlist *pods)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(grid_done) struct grid grid = {};
	struct grid_view view = screen_view(o);

	grid_init(&grid, &pods_table, &view);
	for (size_t i = 0; i < pods->n; i++) {
		if (o->json)
			pods_json(&out, &pods->list[i]);
		else
			grid_add(&grid, &pods->list[i]);
	}
	grid_flush(&grid, &out);
	fwrite(buf_str(&out), 1, out.len, stdout);
	if (!buf_error(&out))
		return 0;
	say("cannot print the pods: %s", strerror(-buf_error(&out)));
	return 1;
}

/* A misspelt name must not look like a pod that is gone. */
static int report_none(const struct options *o)
{
	bool in_vain = filter_has_names(&o->filter);

	say("the daemon knows no %spod or container", in_vain ? "such " : "");
	return in_vain;
}

static int query_once(const struct options *o)
{
	struct podlist pods = {};
	struct control_why why;
	int r, status = 1;

	follow_release_signals();
	r = podwatch_query(o, -1, &pods, &why);
	if (r < 0)
		query_say("pods", o->socket, r, &why);
	else
		status = pods.n ? print(o, &pods) : report_none(o);
	podlist_free(&pods);
	return status;
}

int cmd_pods(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("pods", "'%s' is one argument too many", argv[options.first]);
	status = screen_check(&options, &pods_table);
	if (status)
		return status;
	return options.watch ? podwatch_run(&options) : query_once(&options);
}
