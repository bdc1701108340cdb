// SPDX-License-Identifier: Apache-2.0
/* graced top: a screen of what is stopping, what stopped, who is deaf and who kills. Which rows it
 * has is decided by core/top; this feeds it, and draws what comes out. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "app/commands/audit.h"
#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/monitor.h"
#include "app/live/relay.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "core/top/top.h"
#include "io/loop/loop.h"
#include "io/proc/child.h"
#include "io/proc/clock.h"
#include "io/terminal/terminal.h"

/* --- audits in a child: neither a slow runtime nor many containers hold the screen up ---------- */

/* An audit takes less than one part in PACE of the time, and begins PAUSE after the one before at
 * the earliest. One that takes longer than LIMIT is given up. */
#define PACE	 20
#define PAUSE_US 5000000
#define LIMIT_US 60000000
#define NICE	 10

#define PACKETS_A_TURN 64

struct topaudit {
	const struct options *options;
	struct top *top;
	void (*changed)(void *userdata);
	void *userdata;
	sd_event_source *timer, *input;
	struct child child; /* pid 0: none runs */
	uint64_t begun_ns;  /* CLOCK_MONOTONIC */
	bool whole;	    /* the child has sent its last packet */
};

/* --- the child --------------------------------------------------------------------------------- */

static int send_findings(const struct audit_record *records, size_t n)
{
	struct top_finding finding;
	size_t sent = 0;

	for (size_t i = 0; i < n && sent < TOP_DEAF_MAX; i++) {
		if (!top_finding_of(records + i, &finding))
			continue;
		if (send(0, &finding, sizeof(finding), MSG_NOSIGNAL) < 0)
			return -errno;
		sent++;
	}
	/* A packet without a name is the last one. */
	finding = (struct top_finding){};
	return send(0, &finding, sizeof(finding), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void run(void *userdata, bool confined)
{
	struct audit_list list = {.quiet = true};
	struct audit_record *records;
	char node[AUDIT_NODE_SIZE];
	size_t n;
	int r;

	setpriority(PRIO_PROCESS, 0, NICE);
	r = audit_scan(userdata, 0, &list);
	if (r == 0)
		r = audit_records(userdata, &list, node, &records, &n);
	if (r == 0)
		r = send_findings(records, n);
	child_end(r < 0);
}

/* --- the parent -------------------------------------------------------------------------------- */

static void end_child(struct topaudit *a)
{
	a->input = sd_event_source_disable_unref(a->input);
	child_stop(&a->child);
}

/* Ends the audit that runs, and has the next one wait. */
static void end_round(struct topaudit *a)
{
	uint64_t took_us = (clock_monotonic_ns() - a->begun_ns) / 1000;
	uint64_t pause_us = PACE * took_us > PAUSE_US ? PACE * took_us : PAUSE_US;

	end_child(a);
	if (a->whole) {
		top_end_audit(a->top);
		a->changed(a->userdata);
	}
	timer_after(a->timer, pause_us);
}

/* False: nothing more is to come, now or at all. */
static bool take_packet(struct topaudit *a)
{
	struct top_finding finding;
	ssize_t n = recv(a->child.fd, &finding, sizeof(finding), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	a->whole = n == sizeof(finding) && !finding.name[0];
	if (n != sizeof(finding) || a->whole) {
		end_round(a);
		return false;
	}
	top_add_finding(a->top, &finding);
	return true;
}

static int on_input(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct topaudit *a = userdata;

	for (int i = 0; i < PACKETS_A_TURN && take_packet(a); i++)
		a->changed(a->userdata);
	return 0;
}

static int begin_round(struct topaudit *a, sd_event *event)
{
	int r = child_start_privileged("graced-audit", run, (void *)a->options, &a->child);

	a->begun_ns = clock_monotonic_ns();
	a->whole = false;
	if (r < 0)
		return r;
	top_begin_audit(a->top);
	return sd_event_add_io(event, &a->input, a->child.fd, EPOLLIN, on_input, a);
}

/* Either the next audit is due, or the one that runs takes too long. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct topaudit *a = userdata;

	if (a->child.pid || begin_round(a, sd_event_source_get_event(source)) < 0) {
		end_round(a);
		return 0;
	}
	return timer_after(source, LIMIT_US);
}

/* options, top and userdata are borrowed; changed is called after top was given something new. The
 * first audit begins in the loop's next turn. -errno. */
static int topaudit_new(const struct options *options, struct top *top, sd_event *event,
			void (*changed)(void *userdata), void *userdata, struct topaudit **ret)
{
	struct topaudit *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	*a = (struct topaudit){
		.options = options, .top = top, .changed = changed, .userdata = userdata};
	r = sd_event_add_time(event, &a->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, a);
	if (r < 0) {
		free(a);
		return r;
	}
	*ret = a;
	return 0;
}

static struct topaudit *topaudit_free(struct topaudit *a)
{
	if (!a)
		return NULL;
	end_child(a);
	sd_event_source_disable_unref(a->timer);
	free(a);
	return NULL;
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct options_help help = {
	.head = "usage: graced top [OPTIONS]\n"
		"\n"
		"Shows on a terminal, live: which containers are being stopped and how much of their grace\n"
		"period is left, what became of those that stopped, which are deaf, and who kills most. All\n"
		"running containers are audited again and again (graced audit). Keys sort, filter and pause;\n"
		"h explains them, q ends it. Where graced run runs and watches the same containers, its\n"
		"records are shown; else programs are attached.\n",
	.tail = "EXAMPLES\n"
		"  graced top                         this host\n"
		"  graced top -n shop                 one namespace\n"
		"  graced top --assume-grace 30s      judge by 30 s where no source provides a grace period\n",
};

#ifdef GRACED_NCURSES

#define TICK_US	  1000000 /* the clock on the screen */
#define RUN_US	  250000  /* the remaining time of a stop */
#define AGAIN_US  100000  /* between two drawings, however much happens */
#define ESCAPE_US 50000	  /* a sequence that a key sends is whole by then */

struct view {
	struct top *top;
	struct terminal *terminal;
	struct monitor *monitor;
	const struct options *options;
	struct topaudit *audit;
	char node[OPTIONS_NODE_SIZE];
	bool colour, utc;
	sd_event_source *tick, *escape, *ready;
	uint64_t drawn_ns; /* CLOCK_MONOTONIC */
	bool due;	   /* something is to be drawn */
	bool stale;	   /* what is stopping may be another by now */
	bool postponed;	   /* the tick is a drawing that had to wait */
};

/* --- drawing ----------------------------------------------------------------------------------- */

/* The answer of a daemon is drawn when it comes. */
static void query_stopping(struct view *v)
{
	if (v->stale)
		monitor_query_stopping(v->monitor);
	v->stale = false;
}

/* Ends the command where the terminal is gone: nobody looks any more. */
static void sent(struct view *v, int r)
{
	sd_event_source_set_io_events(v->ready, r == 1 ? EPOLLOUT : 0);
	if (r < 0)
		monitor_end(v->monitor, 0);
}

static void draw(struct view *v)
{
	struct screen screen = {.node = v->node};
	time_t now = time(NULL);
	struct tm local = {};

	if (v->utc)
		gmtime_r(&now, &local);
	else
		localtime_r(&now, &local);
	screen.zone = v->utc ? "UTC" : local.tm_zone ? local.tm_zone : "";
	screen.zone_s = (int32_t)local.tm_gmtoff;
	terminal_describe(v->terminal, &screen);
	terminal_begin(v->terminal);
	if (screen_draw(&screen, v->top, terminal_put, v->terminal) < 0)
		log_warning("cannot draw the screen: out of memory");
	sent(v, terminal_end(v->terminal));
	v->drawn_ns = clock_monotonic_ns();
	v->due = false;
}

/* At once, but for a flood of events. */
static void draw_if_due(struct view *v)
{
	uint64_t next_us = v->drawn_ns / 1000 + AGAIN_US, now_us = clock_monotonic_ns() / 1000;
	int r;

	if (!v->terminal || !v->due)
		return;
	r = terminal_flush(v->terminal);
	sent(v, r);
	if (r != 0)
		return;
	if (now_us < next_us) {
		sd_event_source_set_time(v->tick, next_us);
		v->postponed = true;
		return;
	}
	query_stopping(v);
	top_set_moment(v->top, clock_boot_ns(), clock_wall_offset_ns(), monitor_missed(v->monitor));
	draw(v);
	sd_event_source_set_time(v->tick, now_us + (v->top->live.all_stopping ? RUN_US : TICK_US));
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct view *v = userdata;

	v->due = true;
	v->stale |= !v->postponed;
	v->postponed = false;
	sd_event_source_set_time(source, usec + TICK_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

/* --- keys and signals -------------------------------------------------------------------------- */

static void press(struct view *v, bool last)
{
	int key;

	while (terminal_next_key(v->terminal, last, &key)) {
		enum top_wish wish = top_press(v->top, key);

		if (wish == TOP_QUIT)
			monitor_end(v->monitor, 0);
		else if (wish == TOP_REDRAW)
			terminal_renew(v->terminal);
		v->drawn_ns = 0;
		v->due = true;
	}
}

static int on_escape(sd_event_source *source, uint64_t usec, void *userdata)
{
	press(userdata, true);
	return 0;
}

static int on_key(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct view *v = userdata;
	int r = terminal_read(v->terminal);

	if (r == -EINTR || r == -EAGAIN)
		return 0;
	if (r <= 0) {
		monitor_end(v->monitor, 0);
		return sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	press(v, false);
	if (!terminal_awaits_key(v->terminal))
		return sd_event_source_set_enabled(v->escape, SD_EVENT_OFF);
	return timer_after(v->escape, ESCAPE_US);
}

/* What comes with it is drawn by the end of the turn. */
static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct view *v = userdata;

	v->due = true;
	return 0;
}

/* Its size is another, or Ctrl-Z was pressed. */
static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct view *v = userdata;

	if (info->ssi_signo == SIGTSTP)
		terminal_suspend(v->terminal);
	else
		terminal_renew(v->terminal);
	v->drawn_ns = 0;
	v->due = true;
	return 0;
}

static int add_sources(struct view *v)
{
	sd_event *event = monitor_event(v->monitor);
	int r = monitor_add_signal(v->monitor, SIGWINCH, on_signal, v);

	if (r >= 0)
		r = monitor_add_signal(v->monitor, SIGTSTP, on_signal, v);
	if (r >= 0)
		r = sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_key, v);
	if (r >= 0)
		r = sd_event_add_io(event, &v->ready, terminal_out_fd(v->terminal), 0, on_ready, v);
	if (r >= 0)
		r = sd_event_add_time(event, &v->tick, CLOCK_MONOTONIC, 0, 1000, on_tick, v);
	if (r >= 0)
		r = timer_new(event, CLOCK_MONOTONIC, 1000, on_escape, v, &v->escape);
	return r < 0 ? r : sd_event_source_set_enabled(v->tick, SD_EVENT_ON);
}

/* --- a live command ---------------------------------------------------------------------------- */

static int on_open(void *userdata, struct monitor *m)
{
	struct view *v = userdata;

	v->monitor = m;
	return 0;
}

static void on_audit(void *userdata)
{
	struct view *v = userdata;

	v->due = true;
}

/* The screen comes up last: what goes wrong before is a line for the person at the shell. */
static void on_attached(void *userdata)
{
	struct view *v = userdata;
	char why[TERMINAL_WHY_SIZE];
	int r = terminal_open(v->colour, why, &v->terminal);

	if (r < 0) {
		say_as("top", "%s", why);
		monitor_end(v->monitor, 1);
		return;
	}
	r = add_sources(v);
	if (r >= 0)
		r = topaudit_new(v->options, v->top, monitor_event(v->monitor), on_audit, v,
				 &v->audit);
	if (r < 0) {
		v->terminal = terminal_close(v->terminal);
		say_as("top", "cannot set up the event loop: %s", strerror(-r));
		monitor_end(v->monitor, 1);
	}
	v->due = v->stale = true;
}

static void on_record(void *userdata, const struct record *record)
{
	struct view *v = userdata;

	top_record(v->top, record);
	v->due = true;
	/* An answer about what is stopping has such a record, too. */
	v->stale |= record->type != RECORD_LOST;
}

static void on_stopping(void *userdata, const struct record_stop *stop)
{
	struct view *v = userdata;

	if (stop) {
		top_add_stopping(v->top, stop);
		return;
	}
	top_end_stopping(v->top);
	v->due = true;
}

static void on_turn(void *userdata)
{
	draw_if_due(userdata);
}

static void on_ending(void *userdata)
{
	struct view *v = userdata;

	v->terminal = terminal_close(v->terminal);
}

static void on_close(void *userdata)
{
	struct view *v = userdata;

	v->audit = topaudit_free(v->audit);
	v->tick = sd_event_source_disable_unref(v->tick);
	v->escape = sd_event_source_disable_unref(v->escape);
	v->ready = sd_event_source_disable_unref(v->ready);
	v->terminal = terminal_close(v->terminal);
}

static int show(const struct options *options)
{
	struct view view = {
		.options = options,
		.colour = screen_view(options).colour,
		.utc = options->table.utc,
	};
	const struct monitor_hooks hooks = {
		.userdata = &view,
		.open = on_open,
		.attached = on_attached,
		.record = on_record,
		.stopping = on_stopping,
		.turn = on_turn,
		.ending = on_ending,
		.close = on_close,
		.may_follow = true,
		.signals = true,
	};
	int status;

	clock_node_name(view.node, sizeof(view.node));
	if (top_new(&options->filter, &view.top) < 0) {
		say_as("top", "cannot begin: out of memory");
		return 1;
	}
	status = monitor_run(options, false, &hooks);
	free(view.top);
	return status;
}

#else

static int show(const struct options *options)
{
	say_as("top", "this graced was built without ncurses (libncurses-dev); graced trace prints "
		      "stops as rows");
	return 1;
}

#endif

int cmd_top(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("top", "'%s' is one argument too many", argv[options.first]);
	status = relay_check(&options);
	if (status)
		return status;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return say_usage("top",
				 "it needs a terminal for its screen and its keys; graced trace "
				 "prints rows");
	if (!say_host_pids("top"))
		return 1;
	return show(&options);
}
