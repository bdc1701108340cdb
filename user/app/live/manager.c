// SPDX-License-Identifier: Apache-2.0
/* A live command from its first system call to its last: sources opened, loop run, all put back. */
#include "app/live/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/live/dispatch.h"
#include "app/live/feed.h"
#include "app/live/outputs.h"
#include "app/live/own.h"
#include "app/live/scan.h"
#include "app/live/timers.h"
#include "app/log/log.h"
#include "app/log/say.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"

#define WRITTEN_MAX_MS 100

static int fail(struct manager *m, const char *what, int r)
{
	say("%s: %s", what, strerror(-r));
	m->status = 1;
	return r;
}

/* systemd's own are at work wherever it is. */
static void tell_no_services(const struct manager *m)
{
	char path[PATH_MAX + sizeof("/system.slice")];

	snprintf(path, sizeof(path), "%s/system.slice", m->hierarchy.mount);
	if (m->options->engine.scope == SCOPE_SERVICES && access(path, F_OK) < 0)
		log_warning("there is no %s: no systemd runs here, and no service will be seen",
			    path);
}

static int open_hierarchy(struct manager *m)
{
	const char *name = m->options->hierarchy;
	int r = hierarchy_detect(name, &m->hierarchy);

	if (r == -EXDEV)
		say("only a part of the cgroup hierarchy is visible here; mount the host's "
		    "/sys/fs/cgroup into this container");
	else if (r == -ENOENT && name)
		say("no cgroup hierarchy '%s' is mounted; see /proc/self/mountinfo", name);
	else if (r == -ENOENT)
		say("no cgroup hierarchy is mounted; mount cgroup2 at /sys/fs/cgroup");
	else if (r < 0)
		return fail(m, "cannot look for the cgroup hierarchy", r);
	if (r < 0)
		return r;
	tell_no_services(m);
	r = cgfs_open(m->hierarchy.mount, m->hierarchy.unified, &m->cgfs);
	return r < 0 ? fail(m, "cannot open the cgroup hierarchy", r) : 0;
}

static int open_kernel(struct manager *m)
{
	const struct options *o = m->options;
	struct kern_options options = {
		.hierarchy = &m->hierarchy,
		.ring_bytes = o->ring_bytes,
		.services = o->engine.scope >= SCOPE_SERVICES,
		.all = o->engine.scope == SCOPE_ALL,
		.delegated = o->n_roots > 0,
		.no_group_dead = o->no_group_dead,
		.debug = o->debug ? say_debug : NULL,
	};
	struct kern_why why;
	int r = kern_new(&options, &m->kern, &why);

	if (r >= 0)
		r = kern_attach(m->kern, &why);
	if (r < 0)
		say("%s", why.text);
	/* What loading took is not needed again. */
	malloc_trim(0);
	return r;
}

static int open_engine(struct manager *m)
{
	struct engine_config config = m->options->engine;
	int r;

	config.nested_nodes = m->options->nested;
	config.container_roots = m->options->roots;
	config.sources = sources_asked(m->options);
	r = engine_new(&config, &m->engine);
	if (r < 0)
		return fail(m, "cannot start the engine", r);
	if (!m->options->no_names) {
		r = podsrc_logs_new(m->options->log_dir, &m->logs);
		if (r < 0)
			return fail(m, "cannot look up names", r);
	}
	return outputs_record(m, &config);
}

static void on_obs(void *userdata, const struct obs *obs)
{
	feed(userdata, obs);
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct manager *m = userdata;

	m->hooks->reload(m->hooks->userdata);
	return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	manager_end(userdata, 0);
	return 0;
}

static int add_signal(struct manager *m, int number, sd_event_signal_handler_t handler)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return sd_event_add_signal(m->event, NULL, number, handler, m);
}

static bool ignored(int number)
{
	struct sigaction old;

	return sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static int add_signals(struct manager *m)
{
	int r = add_signal(m, SIGINT, on_signal);

	if (r >= 0)
		r = add_signal(m, SIGTERM, on_signal);
	if (r < 0)
		return r;
	if (m->hooks->reload)
		return add_signal(m, SIGHUP, on_hangup);
	/* Under nohup the terminal may go. */
	return ignored(SIGHUP) ? 0 : add_signal(m, SIGHUP, on_signal);
}

static int open_loop(struct manager *m)
{
	int r = sd_event_new(&m->event);

	if (r >= 0)
		r = add_signals(m);
	if (r < 0)
		return fail(m, "cannot set up the event loop", r);
	return m->hooks->open ? m->hooks->open(m->hooks->userdata, m) : 0;
}

static int open_sources(struct manager *m)
{
	int r = outputs_watch(m);

	if (r >= 0 && !m->options->no_names)
		r = lookup_open(m, &m->lookup);
	if (r >= 0)
		r = ring_new(m->event, kern_ring_fd(m->kern), on_obs, m, &m->ring);
	if (r >= 0)
		r = timers_start(m);
	return r < 0 ? fail(m, "cannot set up the event loop", r) : 0;
}

static void feed_attached(struct manager *m)
{
	struct kern_flavours flavours;
	struct cgpath own;
	struct obs obs;

	feed_begin(&obs, OBS_ATTACHED);
	clock_boot_id(obs.attached.boot_id);
	if (m->options->node_name)
		snprintf(obs.attached.node, sizeof(obs.attached.node), "%s", m->options->node_name);
	else
		clock_node_name(obs.attached.node, sizeof(obs.attached.node));
	strcpy(obs.attached.hierarchy, m->hierarchy.name);
	obs.attached.wall_offset_ns = m->told.wall_offset_ns = clock_wall_offset_ns();
	obs.attached.self_pid = host_in_initial_pidns() ? (uint32_t)getpid() : 0;
	obs.attached.programs = kern_attached(m->kern);
	kern_get_flavours(m->kern, &flavours);
	obs.attached.reaps = flavours.reap;
	if (own_path(m->cgfs, &own) >= 0)
		strcpy(obs.attached.self_container, own.container_id);
	feed(m, &obs);
}

/* What the engine asks meanwhile can be answered once the cgroups that are there are watched. */
static void restore(struct manager *m, struct feed_queue *ret_asked)
{
	feed_hold(m);
	if (m->hooks->restore)
		m->hooks->restore(m->hooks->userdata);
	feed_set_aside(m, ret_asked);
}

static int begin(struct manager *m)
{
	struct feed_queue asked;
	int r;

	if (!host_in_initial_pidns())
		log_warning("this is not the host's pid namespace (hostPID): processes that ran "
			    "before are not known");
	restore(m, &asked);
	r = scan_all(m);
	if (r < 0) {
		feed_queue_done(&asked);
		return fail(m, "cannot scan the cgroup hierarchy", r);
	}
	scan_names(m);
	feed_attached(m);
	feed_ask(m, &asked);
	if (m->options->duration_ns) {
		r = timers_limit(m, m->options->duration_ns);
		if (r < 0)
			return fail(m, "cannot set up the event loop", r);
	}
	if (m->hooks->attached)
		m->hooks->attached(m->hooks->userdata);
	return 0;
}

static void turn(struct manager *m)
{
	outputs_flush(m);
	if (m->hooks->turn)
		m->hooks->turn(m->hooks->userdata);
}

static void loop(struct manager *m)
{
	turn(m);
	while (!m->ended) {
		int r = sd_event_run(m->event, UINT64_MAX);

		if (r < 0) {
			fail(m, "the event loop failed", r);
			m->ended = true;
		}
		turn(m);
	}
	if (m->hooks->ending)
		m->hooks->ending(m->hooks->userdata);
}

/* Nothing is produced any more once the programs are detached, so the totals are final then. */
static void end(struct manager *m)
{
	struct obs obs;

	ring_drain(m->ring);
	kern_detach(m->kern);
	/* One may still write its last record. */
	for (int ms = 0; !ring_drain(m->ring) && ms < WRITTEN_MAX_MS; ms++)
		usleep(1000);
	timers_tell_lost(m, true);
	feed_begin(&obs, OBS_END);
	feed(m, &obs);
}

/* Somebody who reads a table sees no record of it. */
static void tell_losses(const struct manager *m)
{
	uint64_t lost = m->told.lost.recursion_misses;
	struct ring_stats ring;

	for (int i = 0; i < GRACED_EV_COUNT; i++)
		lost += m->told.lost.totals[i].lost;
	ring_get_stats(m->ring, &ring);
	if (ring.rejected)
		say("%" PRIu64 " records of the kernel half were not understood", ring.rejected);
	if (lost && m->sinks && !m->options->json)
		say("%" PRIu64 " events were lost; rows they may bear on say so", lost);
}

static void close_all(struct manager *m)
{
	if (m->hooks->close)
		m->hooks->close(m->hooks->userdata);
	timers_stop(m);
	outputs_unwatch(m);
	ring_free(m->ring);
	lookup_free(m->lookup);
	scan_search_free(m->search);
	sd_event_unref(m->event);
	kern_free(m->kern);
	cgfs_free(m->cgfs);
	podsrc_logs_free(m->logs);
	out_free(m->recording);
	engine_free(m->engine);
	feed_queue_done(&m->queue);
	buf_free(&m->line);
	free(m->told.lost_of);
}

int manager_run(const struct options *options, struct sinks *sinks,
		const struct manager_hooks *hooks)
{
	static const struct manager_hooks none;
	struct manager m = {.options = options,
			    .sinks = sinks,
			    .hooks = hooks ? hooks : &none,
			    .carry_out = dispatch_carry_out};

	if (open_loop(&m) < 0 || open_hierarchy(&m) < 0 || open_kernel(&m) < 0 ||
	    open_engine(&m) < 0 || open_sources(&m) < 0 || begin(&m) < 0) {
		m.status = 1;
	} else {
		loop(&m);
		end(&m);
		outputs_finish(&m);
		tell_losses(&m);
	}
	close_all(&m);
	return m.status;
}
