// SPDX-License-Identifier: Apache-2.0
/* Judges clients by the cgroups that are watched, lists what the engine knows of pods and of a
 * shutdown, and passes on one that is begun by hand. */
#include "app/daemon/answers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/config/settings.h"
#include "app/daemon/daemon.h"
#include "app/live/lookup.h"
#include "app/live/place.h"
#include "app/live/relay.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "io/control/streams.h"
#include "io/proc/clock.h"
#include "wire/json/pods.h"
#include "wire/json/record.h"

static int container_of_process(struct monitor *m, pid_t pid, uint64_t *ret)
{
	return place_of_process(monitor_cgfs(m), monitor_kern(m), monitor_hierarchy(m), pid, ret);
}

/* Root of a container that sees the socket is root of that container. Who is in the daemon's own
 * has the daemon anyway. */
static bool admits(void *userdata, pid_t pid)
{
	struct daemon *d = userdata;
	uint64_t peer, own;
	int r = container_of_process(d->monitor, pid, &peer);

	if (r == 1)
		return container_of_process(d->monitor, getpid(), &own) == 1 && own == peer;
	return r == 0;
}

/* The source that lists such pods has answered: a pod that it does not list is not wanted. */
static bool lister_answers(const struct monitor *m, bool is_static)
{
	struct source_state state;

	lookup_get_state(monitor_lookup(m),
			 meta_lister(sources_asked(monitor_options(m)), is_static), &state);
	return state.status == SOURCE_UP;
}

/* Of pods, of containers that run, or of stops. */
struct record_lines {
	struct buf *out;      /* NULL: they are only counted */
	struct record record; /* of pods its common members */
	uint64_t n, in_pods, unanswered;
	bool brief;		/* stops without processes, for what queries again and again */
	bool lister_answers[2]; /* [1]: of static pods */
};

static const char *node_of(const struct daemon *d, char node[static 256])
{
	const char *name = monitor_options(d->monitor)->node_name;

	if (name)
		return name;
	clock_node_name(node, 256);
	return node;
}

static void begin_record(const struct daemon *d, enum record_type type, char node[static 256],
			 struct record *ret)
{
	uint64_t now = clock_boot_ns();

	*ret = (struct record){.type = type,
			       .at_ns = now,
			       .wall_ns = (int64_t)now + clock_wall_offset_ns(),
			       .node = node_of(d, node)};
}

static void add_view(struct record_lines *t, struct podview *view)
{
	view->at_ns = t->record.at_ns;
	view->wall_ns = t->record.wall_ns;
	view->node = t->record.node;
	pods_json(t->out, view);
	t->n++;
}

static void add_pod(void *userdata, const struct podview *pod)
{
	struct record_lines *t = userdata;
	struct podview view = *pod;

	view.desired_known = t->lister_answers[pod->is_static];
	add_view(t, &view);
}

/* A line for one in no pod: one in a pod is a part of the pod's line. */
static void add_outside(struct record_lines *t, struct podview *view)
{
	/* One whose path is not known yet may be a pod's. */
	if (view->container.known && view->container.cgroup)
		add_view(t, view);
}

static void add_running(void *userdata, const struct engine_running *running)
{
	struct podview view = {.container = running->container,
			       .stage = POD_STAGE_SYNC,
			       .first_ns = running->start_ns,
			       .since_ns = running->start_ns};

	if (!running->pod.known && !running->stopping)
		add_outside(userdata, &view);
}

static void add_going(void *userdata, const struct record_stop *stop)
{
	const struct record_sigref *asked =
		stop->stop_signal.known ? &stop->stop_signal : &stop->kill_signal;
	bool timed = stop->stop_signal.known && grace_known(&stop->grace) &&
		     stop->grace.ns <= UINT64_MAX - asked->at_ns;
	struct podview view = {
		.container = stop->container,
		.stage = POD_STAGE_TERMINATING,
		.first_ns = stop->process.start_ns,
		.since_ns = asked->at_ns,
		.grace_ns = timed ? stop->grace.ns : 0,
		.deadline_ns = timed ? asked->at_ns + stop->grace.ns : 0,
	};

	if (!stop->pod.known)
		add_outside(userdata, &view);
}

/* What a command on this host cannot know by itself: each setting that was given, and what the
 * daemon made of those that depend on where it runs. */
static uint64_t add_settings(const struct daemon *d, struct buf *out)
{
	const struct config *c = &d->config;
	char buffer[PATH_MAX];
	uint64_t n = 3;

	control_add_setting(out, "checkpoint.file",
			    c->checkpoint_file ? c->checkpoint_file
					       : rundir_path(CHECKPOINT_NAME, buffer));
	control_add_setting(out, "shutdown.mode",
			    c->shutdown.off ? "off" : shutdown_mode_name(c->shutdown.mode));
	control_add_setting(out, "config", c->file ? c->file : "");
	for (size_t i = 0; i < n_settings; i++) {
		if (!settings[i].key || !c->given[i])
			continue;
		control_add_setting(out, settings[i].key, c->given[i]);
		n++;
	}
	return n;
}

static uint64_t add_pods(const struct daemon *d, struct buf *out)
{
	struct record_lines t = {
		.out = out,
		.lister_answers = {lister_answers(d->monitor, false),
				   lister_answers(d->monitor, true)},
	};
	char node[256];

	begin_record(d, RECORD_NONE, node, &t.record);
	engine_pods_each(monitor_engine(d->monitor), add_pod, &t);
	engine_each_container(monitor_engine(d->monitor), add_running, &t);
	engine_each_stopping(monitor_engine(d->monitor), add_going, &t);
	return t.n;
}

static uint64_t add_shutdown(const struct daemon *d, struct buf *out)
{
	uint64_t now = clock_boot_ns();
	struct shutdown_stats stats;
	char node[256];
	struct control_shutdown line = {
		.at_ns = now,
		.wall_ns = (int64_t)now + clock_wall_offset_ns(),
		.node = node_of(d, node),
		.mode = d->config.shutdown.mode,
	};

	line.off = !engine_get_shutdown(monitor_engine(d->monitor), &line.status, &stats);
	control_add_shutdown(out, &line);
	return 1;
}

/* --- containers that run, and those who follow -------------------------------------------------- */

static void add_container(void *userdata, const struct engine_running *running)
{
	struct record_lines *t = userdata;

	t->in_pods += running->pod.known;
	t->unanswered += running->unanswered;
	t->n++;
	if (!t->out || running->unanswered)
		return;
	t->record.empty.pod = running->pod;
	t->record.empty.container = running->container;
	record_json(t->out, &t->record);
}

static void add_containers(const struct daemon *d, struct record_lines *t)
{
	char node[256];

	begin_record(d, RECORD_EMPTY, node, &t->record);
	engine_each_container(monitor_engine(d->monitor), add_container, t);
}

/* What a follower receives first, as if programs had been attached for it. */
static void add_beginning(const struct daemon *d, struct buf *out)
{
	struct record_lines running = {};
	struct control_follow head = {};
	_cleanup_(buf_free) struct buf terms = {.limit = sizeof(head.terms) - 1};
	struct record record;
	char node[256];

	add_containers(d, &running);
	relay_add_terms(&terms, monitor_options(d->monitor));
	/* Terms that do not fit equal no client's. */
	if (!buf_error(&terms))
		strcpy(head.terms, buf_str(&terms));
	head.pods = running.in_pods > 0;
	control_add_follow(out, &head);
	begin_record(d, RECORD_ATTACHED, node, &record);
	record.attached.hierarchy = monitor_hierarchy(d->monitor)->name;
	record.attached.programs = kern_attached(monitor_kern(d->monitor));
	record.attached.containers = running.n;
	record_json(out, &record);
}

static int take_follower(void *userdata, const struct control_request *request, int fd,
			 struct control_why *ret_why)
{
	_cleanup_(buf_free) struct buf first = {};
	struct daemon *d = userdata;
	int r;

	add_beginning(d, &first);
	r = buf_error(&first);
	if (r >= 0)
		r = d->streams ? streams_add(d->streams, fd, request->signals, &first) : -ENOMEM;
	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text), "%s",
			 r == -EUSERS ? "too many follow at once" : strerror(-r));
	return r;
}

/* --- stops that are under way ------------------------------------------------------------------- */

static void add_stop(void *userdata, const struct record_stop *stop)
{
	struct record_lines *t = userdata;

	t->record.stop = *stop;
	if (t->brief)
		t->record.stop.n_processes = 0;
	record_json(t->out, &t->record);
	t->n++;
}

static uint64_t add_stops(const struct daemon *d, bool brief, struct buf *out)
{
	const struct obs_lost *lost = monitor_lost(d->monitor);
	struct record_lines t = {.out = out, .n = 1, .brief = brief};
	char node[256];

	begin_record(d, RECORD_LOST, node, &t.record);
	memcpy(t.record.lost.totals, lost->totals, sizeof(t.record.lost.totals));
	t.record.lost.recursion_misses = lost->recursion_misses;
	record_json(out, &t.record);
	begin_record(d, RECORD_STOP, node, &t.record);
	engine_each_stopping(monitor_engine(d->monitor), add_stop, &t);
	return t.n;
}

/* For a client that follows. */
static void add_stopping(void *userdata, struct buf *out)
{
	_cleanup_(buf_free) struct buf lines = {.limit = CONTROL_REPLY_MAX};
	uint64_t n = add_stops(userdata, true, &lines);
	int r = buf_error(&lines);

	if (r < 0) {
		control_add_error(out, strerror(-r));
		return;
	}
	control_add_head(out, n);
	buf_add(out, lines.data, lines.len);
}

static void add_dropped(void *userdata, struct buf *out, const struct line_gap *gap)
{
	struct record record;
	char node[256];

	begin_record(userdata, RECORD_DROPPED, node, &record);
	record.dropped = (struct record_dropped){gap->lines, gap->first_ns, gap->last_ns};
	record_json(out, &record);
}

bool answers_want(const struct daemon *d, const struct record *record)
{
	return d->streams && streams_want(d->streams, record->type == RECORD_SIGNAL);
}

void answers_record(struct daemon *d, const struct record *record, const struct buf *line)
{
	streams_put(d->streams, record->type == RECORD_SIGNAL, buf_str(line), line->len,
		    record->at_ns);
}

static int act_by_hand(struct daemon *d, const struct control_request *request,
		       struct control_why *ret_why)
{
	if (!d->inhibitor) {
		snprintf(ret_why->text, sizeof(ret_why->text), "%s",
			 d->config.shutdown.off ? "shutdown.mode is off"
						: "DBUS_SYSTEM_BUS_ADDRESS is not unix:path= and a "
						  "path");
		return -EPERM;
	}
	if (request->command == CONTROL_SHUTDOWN_BEGIN)
		return inhibitor_begin(d->inhibitor, request->action, ret_why);
	return inhibitor_cancel(d->inhibitor, ret_why);
}

static int answer(void *userdata, const struct control_request *request, struct buf *out,
		  uint64_t *ret_lines, struct control_why *ret_why)
{
	struct record_lines running = {.out = out};
	struct daemon *d = userdata;
	int r;

	switch (request->command) {
	case CONTROL_SETTINGS:
		*ret_lines = add_settings(d, out);
		return 0;
	case CONTROL_PODS:
		*ret_lines = add_pods(d, out);
		return 0;
	case CONTROL_SHUTDOWN_BEGIN:
	case CONTROL_SHUTDOWN_CANCEL:
		r = act_by_hand(d, request, ret_why);
		if (r < 0)
			return r;
		break;
	case CONTROL_CONTAINERS:
		add_containers(d, &running);
		control_add_querying(out, running.unanswered);
		*ret_lines = running.n - running.unanswered + 1;
		return 0;
	case CONTROL_STOPPING:
		*ret_lines = add_stops(d, false, out);
		return 0;
	case CONTROL_SHUTDOWN_STATUS:
	case CONTROL_FOLLOW:
	case CONTROL_COMMAND_COUNT:
		break;
	}
	*ret_lines = add_shutdown(d, out);
	return 0;
}

struct control *answers_open(struct daemon *d)
{
	char buffer[PATH_MAX];
	const char *path = d->config.control_socket;
	struct control_config config = {
		.path = path ? path : rundir_path(CONTROL_SOCKET_NAME, buffer),
		.userdata = d,
		.answer = answer,
		.follow = take_follower,
		.admits = admits,
	};
	struct control *control;
	const struct streams_config followers = {add_dropped, add_stopping, d};
	struct control_why why;

	if (strcmp(config.path, "none") == 0)
		return NULL;
	/* Without memory for it, requests to follow are refused. */
	streams_new(monitor_event(d->monitor), &followers, &d->streams);
	if (control_new(monitor_event(d->monitor), &config, &control, &why) < 0) {
		log_warning(
			"cannot open the control socket: %s; graced pods and graced shutdown cannot query this daemon, trace and top not follow it",
			why.text);
		return NULL;
	}
	log_info("control socket at %s", config.path);
	return control;
}
