// SPDX-License-Identifier: Apache-2.0
/* A live command: sources opened, loop run, effects carried out, all closed. */
#include "app/live/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/live/look.h"
#include "app/live/losses.h"
#include "app/live/output.h"
#include "app/live/place.h"
#include "app/live/relay.h"
#include "app/live/scan.h"
#include "app/log/log.h"
#include "app/log/say.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"

#define WRITTEN_MAX_MS 100

#define CHORES_US     500000
#define LOOK_CHORES   20 /* after how many of them containers without an init are looked at again */
#define WAKE_GRAIN_US 1000
#define PAUSED_US     50000
#define WRITTEN_US    1000 /* a record that is being written is looked for again */

/* A smaller step of the wall clock bends no printed time by more than this. */
#define CLOCK_STEP_NS 1000000

struct monitor {
	const struct options *options;
	const struct monitor_hooks *hooks;

	sd_event *event;
	struct steps steps;
	struct hierarchy hierarchy;
	struct cgfs *cgfs;
	struct kern *kern;
	struct ring *ring;

	struct feed *feed; /* holds the engine */
	struct scan *scan;
	struct lookup *lookup;
	struct losses *losses;
	struct looks *looks;
	struct output *output;
	struct relay *relay; /* NULL: attached */

	sd_event_source *wake, *chores, *duration;
	unsigned int chores_done; /* how often the totals were looked after */
	uint64_t wake_at_ns;	  /* when the engine wants to be woken; 0: not at all */
	int64_t wall_offset_ns;	  /* as fed last */

	bool paused; /* a reader is slow: the ring is left alone */
	bool ended;
	int status; /* to exit with */
};

void monitor_end(struct monitor *m, int status)
{
	if (!m->ended)
		m->status = status;
	m->ended = true;
}

static int fail(struct monitor *m, const char *what, int r)
{
	say("%s: %s", what, strerror(-r));
	m->status = 1;
	return r;
}

/* --- by time: the engine's wishes, chores, --duration ------------------------------------------ */

static void arm_wake(struct monitor *m)
{
	timer_at(m->wake, m->wake_at_ns);
}

static void wake_at(struct monitor *m, uint64_t at_ns)
{
	m->wake_at_ns = at_ns;
	if (m->wake)
		arm_wake(m);
}

static int on_wake(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct monitor *m = userdata;
	struct obs obs;

	if (m->paused) {
		return timer_after(m->wake, PAUSED_US);
	}
	/* What happened before this moment must be fed before it. */
	if (!ring_drain(m->ring)) {
		return timer_after(m->wake, WRITTEN_US);
	}
	feed_begin(&obs, OBS_TIMER);
	if (!m->wake_at_ns || m->wake_at_ns > obs.at_ns) {
		arm_wake(m);
		return 0;
	}
	m->wake_at_ns = 0;
	feed_obs(m->feed, &obs);
	return 0;
}

static void feed_clock(struct monitor *m)
{
	int64_t offset = clock_wall_offset_ns(), moved = offset - m->wall_offset_ns;
	struct obs obs;

	if (moved <= CLOCK_STEP_NS && moved >= -CLOCK_STEP_NS)
		return;
	m->wall_offset_ns = offset;
	feed_begin(&obs, OBS_CLOCK);
	obs.clock.wall_offset_ns = offset;
	feed_obs(m->feed, &obs);
}

static int on_chores(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct monitor *m = userdata;
	bool seldom;

	steps_note_delay(&m->steps, usec);
	if (!m->paused) {
		if (!m->chores_done)
			self_drop_code();
		seldom = ++m->chores_done % LOOK_CHORES == 0;
		feed_clock(m);
		losses_feed(m->losses, false);
		lookup_log_changes(m->lookup);
		scan_find_inits(m->scan, seldom);
		/* What a burst of stops took is free in the middle of the heap. */
		if (seldom)
			malloc_trim(0);
	}
	return timer_after(source, CHORES_US);
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	monitor_end(userdata, 0);
	return 0;
}

static int start_timers(struct monitor *m)
{
	int r;

	r = sd_event_add_time(m->event, &m->wake, CLOCK_BOOTTIME, 0, WAKE_GRAIN_US, on_wake, m);
	if (r < 0)
		return r;
	arm_wake(m);
	return sd_event_add_time_relative(m->event, &m->chores, CLOCK_MONOTONIC, CHORES_US,
					  WAKE_GRAIN_US, on_chores, m);
}

static int limit_duration(struct monitor *m, uint64_t duration_ns)
{
	return sd_event_add_time_relative(m->event, &m->duration, CLOCK_MONOTONIC,
					  duration_ns / 1000, WAKE_GRAIN_US, on_limit, m);
}

static void stop_timers(struct monitor *m)
{
	m->wake = sd_event_source_disable_unref(m->wake);
	m->chores = sd_event_source_disable_unref(m->chores);
	m->duration = sd_event_source_disable_unref(m->duration);
}

/* --- effects ----------------------------------------------------------------------------------- */

/* Without an entry there is no answer; the engine waits a bounded time for one. */
static void read_counts(struct monitor *m, uint64_t id)
{
	struct graced_watch watch;
	struct obs obs;

	feed_begin(&obs, OBS_COUNTS);
	obs.counts.populated = scan_populated(m->scan, id);
	/* Read after that: where nothing was left, all that ended in there is counted. */
	if (kern_watch_get(m->kern, id, &watch) < 0)
		return;
	obs.counts.id = id;
	obs.counts.counts = watch.counts;
	obs.counts.looked = true;
	obs.counts.told_at_ns = watch.told_at_ns;
	feed_obs(m->feed, &obs);
}

/* What the daemon does in a shutdown, and no other command. */
static void carry_out_shutdown(struct monitor *m, const struct effect *effect)
{
	if (m->hooks->shutdown)
		m->hooks->shutdown(m->hooks->userdata, effect);
}

static void look_for_init(struct monitor *m, const struct effect *effect)
{
	probe_init(m->feed, effect);
	if (effect->moved)
		place_init(m->cgfs, m->kern, &m->hierarchy, m->scan, effect->pid);
}

static void carry_out(void *userdata, const struct effect *effect)
{
	struct monitor *m = userdata;

	switch (effect->type) {
	case EFFECT_READ_COUNTS:
		read_counts(m, effect->id);
		break;
	case EFFECT_FIND_CGROUP:
		scan_find(m->scan, effect->id);
		break;
	case EFFECT_PROBE_INIT:
		look_for_init(m, effect);
		break;
	case EFFECT_LOOK:
		looks_add(m->looks, effect);
		break;
	case EFFECT_FIND_NAMES:
		lookup_names(m->lookup, effect);
		break;
	case EFFECT_FIND_POD:
		lookup_pod(m->lookup, effect);
		break;
	case EFFECT_FIND_EXIT:
		lookup_exit(m->lookup, effect);
		break;
	case EFFECT_IDENTIFY:
		lookup_identify(m->lookup, effect);
		break;
	case EFFECT_SET_STOP:
		kern_watch_set_stop(m->kern, effect->id, effect->signal);
		break;
	case EFFECT_SET_INIT:
		scan_set_init(m->scan, effect->id, effect->pid);
		break;
	case EFFECT_SET_WATCH:
		scan_correct(m->scan, effect->id, effect->kind);
		break;
	case EFFECT_WAKE_AT:
		wake_at(m, effect->at_ns);
		break;
	default:
		if (effect_is_of_shutdown(effect->type))
			carry_out_shutdown(m, effect);
		break;
	}
}

/* --- opening ----------------------------------------------------------------------------------- */

/* systemd's own are at work wherever it is. */
static void warn_no_services(const struct monitor *m)
{
	char path[PATH_MAX + sizeof("/system.slice")];

	snprintf(path, sizeof(path), "%s/system.slice", m->hierarchy.mount);
	if (m->options->engine.scope == SCOPE_SERVICES && access(path, F_OK) < 0)
		log_warning("there is no %s: no systemd runs here, and no service will be seen",
			    path);
}

static int open_hierarchy(struct monitor *m)
{
	const char *name = m->options->hierarchy;
	int r = m->options->makes_own ? hierarchy_detect_part(name, &m->hierarchy)
				      : hierarchy_detect(name, &m->hierarchy);

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
	warn_no_services(m);
	r = cgfs_open(m->hierarchy.mount, m->hierarchy.unified, &m->cgfs);
	return r < 0 ? fail(m, "cannot open the cgroup hierarchy", r) : 0;
}

static int open_kernel(struct monitor *m)
{
	const struct options *o = m->options;
	struct kern_options options = {
		.hierarchy = &m->hierarchy,
		.ring_bytes = o->ring_bytes,
		.services = o->engine.scope >= SCOPE_SERVICES,
		.all = o->engine.scope == SCOPE_ALL,
		.roots = o->roots,
		.no_group_dead = o->no_group_dead,
		.debug = o->debug ? say_debug : NULL,
	};
	struct kern_why why;
	int r;

	if (!host_in_initial_timens()) {
		say("this is not the host's time namespace, and its clock may not be that of the "
		    "kernel's records; run it outside");
		return -EXDEV;
	}
	r = kern_new(&options, &m->kern, &why);
	if (r >= 0)
		r = kern_attach(m->kern, &why);
	if (r < 0)
		say("%s", why.text);
	/* What loading took is not needed again. */
	malloc_trim(0);
	return r;
}

static void on_observe(void *userdata, const struct obs *obs)
{
	struct monitor *m = userdata;

	output_add_obs(m->output, obs);
	if (m->hooks->observe)
		m->hooks->observe(m->hooks->userdata, obs);
}

static void on_record(void *userdata, const struct record *record)
{
	struct monitor *m = userdata;

	output_add_record(m->output, record);
	if (m->hooks->record)
		m->hooks->record(m->hooks->userdata, record);
}

static int open_engine(struct monitor *m)
{
	const struct feed_sink sink = {m, on_observe, on_record, carry_out};
	struct engine_config config = m->options->engine;
	int r;

	config.nested_nodes = m->options->nested;
	config.container_roots = m->options->roots;
	config.helpers = m->options->helpers;
	config.sources = sources_asked(m->options);
	r = feed_new(&config, &sink, &m->feed);
	if (r < 0)
		return fail(m, "cannot start the engine", r);
	r = lookup_new(m->options, m->feed, &m->lookup);
	if (r < 0)
		return fail(m, "cannot look up names", r);
	return output_begin_recording(m->output, &config);
}

static void on_obs(void *userdata, const struct obs *obs)
{
	struct monitor *m = userdata;

	feed_obs(m->feed, obs);
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct monitor *m = userdata;

	m->hooks->reload(m->hooks->userdata);
	return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct monitor *m = userdata;

	if (m->hooks->interrupt)
		m->hooks->interrupt(m->hooks->userdata);
	monitor_end(m, m->hooks->interrupted);
	return 0;
}

int monitor_add_signal(struct monitor *m, int number, sd_event_signal_handler_t fn, void *userdata)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return sd_event_add_signal(m->event, NULL, number, fn, userdata);
}

static bool ignored(int number)
{
	struct sigaction old;

	return sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static int add_signals(struct monitor *m)
{
	int r = monitor_add_signal(m, SIGINT, on_signal, m);

	if (r >= 0)
		r = monitor_add_signal(m, SIGTERM, on_signal, m);
	if (r < 0)
		return r;
	if (m->hooks->reload)
		return monitor_add_signal(m, SIGHUP, on_hangup, m);
	/* Under nohup the terminal may go. */
	return ignored(SIGHUP) ? 0 : monitor_add_signal(m, SIGHUP, on_signal, m);
}

static int open_loop(struct monitor *m)
{
	int r = sd_event_new(&m->event);

	if (r >= 0)
		r = add_signals(m);
	if (r < 0)
		return fail(m, "cannot set up the event loop", r);
	return m->hooks->open ? m->hooks->open(m->hooks->userdata, m) : 0;
}

static int open_scan(struct monitor *m)
{
	const struct scan_parts parts = {
		.options = m->options,
		.feed = m->feed,
		.kern = m->kern,
		.cgfs = m->cgfs,
		.ring = m->ring,
	};
	int r = scan_new(&parts, &m->scan);

	if (r >= 0)
		r = losses_new(m->feed, m->scan, m->kern, m->ring, &m->losses);
	return r < 0 ? r : looks_new(m->feed, m->cgfs, &m->hierarchy, m->event, &m->looks);
}

static int open_sources(struct monitor *m)
{
	int r = output_watch(m->output, m->event);

	if (r >= 0)
		r = lookup_open(m->lookup, m->event);
	if (r >= 0)
		r = ring_new(m->event, m->kern, on_obs, m, &m->ring);
	if (r >= 0)
		r = open_scan(m);
	if (r >= 0)
		r = start_timers(m);
	return r < 0 ? fail(m, "cannot set up the event loop", r) : 0;
}

static void feed_attached(struct monitor *m)
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
	obs.attached.wall_offset_ns = m->wall_offset_ns = clock_wall_offset_ns();
	obs.attached.self_pid = host_in_initial_pidns() ? (uint32_t)getpid() : 0;
	obs.attached.programs = kern_attached(m->kern);
	kern_get_flavours(m->kern, &flavours);
	obs.attached.reaps = flavours.reap;
	if (own_cgroup(m->cgfs, obs.attached.self_cgroup) < 0)
		obs.attached.self_cgroup[0] = '\0';
	cgpath_parse(obs.attached.self_cgroup, strlen(obs.attached.self_cgroup), &own);
	strcpy(obs.attached.self_container, own.container_id);
	feed_obs(m->feed, &obs);
}

/* What the engine queries meanwhile can be answered once the cgroups that are there are watched. */
static void restore(struct monitor *m)
{
	feed_hold(m->feed);
	if (m->hooks->restore)
		m->hooks->restore(m->hooks->userdata);
	feed_set_aside(m->feed);
}

static int begin(struct monitor *m)
{
	int r;

	if (!host_in_initial_pidns() && !m->options->makes_own)
		log_warning("this is not the host's pid namespace (hostPID): processes that "
			    "started before graced are unknown");
	restore(m);
	r = scan_all(m->scan);
	if (r < 0)
		return fail(m, "cannot scan the cgroup hierarchy", r);
	lookup_feed_logs(m->lookup);
	feed_attached(m);
	feed_run_aside(m->feed);
	if (m->options->duration_ns)
		r = limit_duration(m, m->options->duration_ns);
	if (r < 0)
		return fail(m, "cannot set up the event loop", r);
	if (m->hooks->attached)
		m->hooks->attached(m->hooks->userdata);
	return 0;
}

/* --- a daemon that is followed ----------------------------------------------------------------- */

static void on_relayed(void *userdata, const struct record *record, const char *line, size_t len)
{
	struct monitor *m = userdata;

	output_add_line(m->output, record, line, len);
	if (record && m->hooks->record)
		m->hooks->record(m->hooks->userdata, record);
}

static void on_relay_ended(void *userdata)
{
	monitor_end(userdata, 1);
}

static void on_stopping(void *userdata, const struct record_stop *stop)
{
	struct monitor *m = userdata;

	m->hooks->stopping(m->hooks->userdata, stop);
}

/* 1: a daemon is followed; 0: it is time to attach; -errno: logged. */
static int open_relay(struct monitor *m)
{
	const struct relay_config config = {
		.options = m->options,
		.signals = m->options->filter.signals || m->hooks->signals,
		.record = on_relayed,
		.stopping = on_stopping,
		.ended = on_relay_ended,
		.userdata = m,
	};

	return m->hooks->may_follow ? relay_open(&config, m->event, &m->relay) : 0;
}

static int begin_relay(struct monitor *m)
{
	int r = output_watch(m->output, m->event);

	if (r >= 0 && m->options->duration_ns)
		r = limit_duration(m, m->options->duration_ns);
	if (r < 0)
		return fail(m, "cannot set up the event loop", r);
	relay_begin(m->relay);
	if (m->hooks->attached)
		m->hooks->attached(m->hooks->userdata);
	return 0;
}

/* --- the loop, closing ------------------------------------------------------------------------- */

static int hold_back(struct monitor *m, bool behind)
{
	return m->relay ? relay_pause(m->relay, behind) : ring_pause(m->ring, behind);
}

static void flush(struct monitor *m)
{
	bool behind;

	output_flush(m->output);
	if (output_has_ended(m->output))
		monitor_end(m, output_status(m->output));
	/* Whatever ended it. */
	if (output_status(m->output))
		m->status = output_status(m->output);
	behind = output_is_behind(m->output);
	if (behind != m->paused && hold_back(m, behind) >= 0)
		m->paused = behind;
}

static void turn(struct monitor *m)
{
	flush(m);
	if (m->hooks->turn)
		m->hooks->turn(m->hooks->userdata);
}

static void loop(struct monitor *m)
{
	turn(m);
	while (!m->ended) {
		int r = steps_run(&m->steps, m->event);

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
static void end(struct monitor *m)
{
	struct obs obs;

	if (m->relay)
		return;
	ring_drain(m->ring);
	kern_detach(m->kern);
	/* One may still write its last record. */
	for (int ms = 0; !ring_drain(m->ring) && ms < WRITTEN_MAX_MS; ms++)
		usleep(1000);
	losses_feed(m->losses, true);
	feed_begin(&obs, OBS_END);
	feed_obs(m->feed, &obs);
}

/* No row of a table has them. */
static void log_losses(const struct monitor *m)
{
	const struct obs_lost *totals;
	struct ring_stats ring;
	uint64_t lost;

	if (m->relay) {
		relay_log_losses(m->relay);
		return;
	}
	totals = losses_totals(m->losses);
	lost = totals->recursion_misses;
	for (int i = 0; i < GRACED_EV_COUNT; i++)
		lost += totals->totals[i].lost;
	ring_get_stats(m->ring, &ring);
	if (ring.rejected)
		say("%" PRIu64 " records of the BPF programs were invalid", ring.rejected);
	if (lost && output_has_table(m->output))
		say("%" PRIu64 " events were lost; the rows that may be affected say so", lost);
}

static void close_all(struct monitor *m)
{
	if (m->hooks->close)
		m->hooks->close(m->hooks->userdata);
	stop_timers(m);
	m->relay = relay_free(m->relay);
	ring_free(m->ring);
	/* What ends a pending query is still fed. */
	lookup_free(m->lookup);
	looks_free(m->looks);
	losses_free(m->losses);
	scan_free(m->scan);
	output_free(m->output);
	sd_event_unref(m->event);
	kern_free(m->kern);
	cgfs_free(m->cgfs);
	feed_free(m->feed);
}

/* Whether it could be begun. */
static bool open_all(struct monitor *m)
{
	int following = open_loop(m);

	if (following >= 0)
		following = open_relay(m);
	if (following)
		return following > 0 && begin_relay(m) >= 0;
	return open_hierarchy(m) >= 0 && open_kernel(m) >= 0 && open_engine(m) >= 0 &&
	       open_sources(m) >= 0 && begin(m) >= 0;
}

int monitor_run(const struct options *options, bool rows, const struct monitor_hooks *hooks)
{
	static const struct monitor_hooks none;
	struct monitor m = {.options = options, .hooks = hooks ? hooks : &none};
	int r = output_new(options, &m.output);

	if (r < 0) {
		fail(&m, "cannot begin", r);
		return 1;
	}
	if (rows && output_open_rows(m.output, true) < 0) {
		output_free(m.output);
		return 1;
	}
	if (open_all(&m)) {
		loop(&m);
		end(&m);
		output_finish(m.output);
		if (output_status(m.output))
			m.status = 1;
		log_losses(&m);
	} else {
		m.status = 1;
	}
	close_all(&m);
	return m.status;
}

const struct options *monitor_options(const struct monitor *m)
{
	return m->options;
}

const struct hierarchy *monitor_hierarchy(const struct monitor *m)
{
	return &m->hierarchy;
}

sd_event *monitor_event(const struct monitor *m)
{
	return m->event;
}

const struct steps *monitor_steps(const struct monitor *m)
{
	return &m->steps;
}

struct cgfs *monitor_cgfs(const struct monitor *m)
{
	return m->cgfs;
}

struct kern *monitor_kern(const struct monitor *m)
{
	return m->kern;
}

struct ring *monitor_ring(const struct monitor *m)
{
	return m->ring;
}

struct lookup *monitor_lookup(const struct monitor *m)
{
	return m->lookup;
}

struct feed *monitor_feed(const struct monitor *m)
{
	return m->feed;
}

struct engine *monitor_engine(const struct monitor *m)
{
	return m->feed ? feed_engine(m->feed) : NULL;
}

void monitor_each_container(const struct monitor *m, engine_container_fn fn, void *userdata)
{
	if (m->relay)
		relay_each_container(m->relay, fn, userdata);
	else
		engine_each_container(monitor_engine(m), fn, userdata);
}

void monitor_query_stopping(struct monitor *m)
{
	if (m->relay) {
		relay_query_stopping(m->relay);
		return;
	}
	engine_each_stopping(monitor_engine(m), on_stopping, m);
	on_stopping(m, NULL);
}

uint64_t monitor_missed(const struct monitor *m)
{
	return m->relay ? relay_missed(m->relay) : 0;
}

const struct obs_lost *monitor_lost(const struct monitor *m)
{
	return losses_totals(m->losses);
}
