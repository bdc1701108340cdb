// SPDX-License-Identifier: Apache-2.0
/* Starts the daemon's parts around a monitor, notifies systemd, and reloads. */
#include "app/daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/config/shutdown.h"
#include "app/daemon/answers.h"
#include "app/daemon/pages.h"
#include "app/daemon/schedule.h"
#include "app/live/feed.h"
#include "app/log/log.h"
#include "app/log/say.h"
#include "base/version.h"
#include "core/boot/proof.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "wire/json/record.h"

#define MINUTE_US 60000000
#define GRAIN_US  1000000
#define AGAIN_US  1000000 /* what a sink did not take is tried again */

/* With the port that was found where any would do. */
static void log_listening(const char *address, uint16_t port)
{
	const char *colon = strrchr(address, ':');

	log_info("listening on %.*s:%u", (int)(colon ? colon - address : 0), address, port);
}

static void warn_bared(const struct config *config)
{
	if (config->webfile && webfile_bares_passwords(config->webfile))
		log_warning("passwords are sent unencrypted: %s has users, but no "
			    "tls_server_config",
			    config->web_config_file);
}

/* Those that are configured, and what this host and its node are called. */
static void name_hosts(const struct config *c, struct daemon_hosts *ret)
{
	memcpy(ret->names, c->hosts, sizeof(c->hosts));
	ret->n = c->n_hosts;
	clock_node_name(ret->node, sizeof(ret->node));
	ret->names[ret->n++] = c->options.node_name ?: ret->node;
	if (gethostname(ret->host, sizeof(ret->host) - 1) == 0)
		ret->names[ret->n++] = ret->host;
}

static int open_web(struct daemon *d)
{
	struct web_config config = {.listen = d->config.listen, .n_listen = d->config.n_listen};
	struct web_why why;
	int r;

	name_hosts(&d->config, &d->hosts);
	config.hosts = d->hosts.names;
	config.n_hosts = d->hosts.n;
	if (d->config.webfile)
		webfile_apply(d->config.webfile, &config);
	r = web_new(monitor_event(d->monitor), &config, pages_answer, d, &d->web, &why);
	/* Without keys and users nothing but the server itself is missing. */
	if (r == -ELIBACC && !d->config.webfile) {
		log_warning("no metrics and no status page are served: %s", why.text);
		return 0;
	}
	if (r < 0) {
		say("%s", why.text);
		return r;
	}
	warn_bared(&d->config);
	for (size_t i = 0; i < config.n_listen; i++)
		log_listening(config.listen[i], web_port(d->web, i));
	return 0;
}

static void log_settings(const struct daemon *d)
{
	const struct config *c = &d->config;
	struct metrics_sink sinks[METRICS_SINK_COUNT];
	bool on = false;

	recorders_get_stats(d->recorders, sinks);
	for (int i = 0; i < METRICS_SINK_COUNT; i++)
		on |= sinks[i].on;
	log_info("graced %s, settings from %s", version_string(),
		 c->file ? c->file : "flags, environment and defaults");
	log_info("records go to:%s%s%s%s%s", sinks[METRICS_STDOUT].on ? " standard output" : "",
		 sinks[METRICS_JOURNAL].on ? " the journal" : "", sinks[METRICS_FILE].on ? " " : "",
		 sinks[METRICS_FILE].on ? c->sink_file : "", on ? "" : " nowhere, no sink is on");
}

static struct checkpoint *open_checkpoint(const struct daemon *d)
{
	const char *path = d->config.checkpoint_file;
	char buffer[PATH_MAX];

	if (path && strcmp(path, "none") == 0)
		return NULL;
	return checkpoint_open(path ? path : rundir_path(CHECKPOINT_NAME, buffer),
			       recorders_add_gap, d->recorders);
}

static int on_open(void *userdata, struct monitor *m)
{
	struct daemon *d = userdata;
	int r;

	d->monitor = m;
	d->reload_ok_wall_ns = (int64_t)clock_wall_ns();
	r = recorders_new(&d->config, &d->recorders);
	if (r < 0)
		return r;
	d->checkpoint = open_checkpoint(d);
	d->boot = bootkeep_open();
	log_settings(d);
	r = tally_open(&d->tally, &d->config);
	if (r < 0) {
		say("cannot start the daemon: %s", strerror(-r));
		return r;
	}
	if (d->config.report_events) {
		r = events_new(monitor_event(m), &d->config.options, &d->events);
		if (r < 0)
			return r;
	}
	return open_web(d);
}

static void notify_status(const struct daemon *d, const char *state)
{
	struct engine_stats stats;

	engine_get_stats(monitor_engine(d->monitor), &stats);
	sd_notifyf(0, "%sSTATUS=%" PRIu64 " cgroups watched, %" PRIu64 " stops reported", state,
		   stats.cgroups, stats.stops);
}

static int on_minute(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;

	tally_look(&d->tally, d->monitor, d->hearings);
	tally_age(&d->tally);
	if (d->inhibitor)
		inhibitor_look(d->inhibitor);
	notify_status(d, "");
	return timer_after(source, MINUTE_US);
}

static void feed_saved(void *userdata, const struct obs *obs)
{
	feed_obs(userdata, obs);
}

static void on_restore(void *userdata)
{
	_cleanup_(buf_free) struct buf lines = {};
	struct daemon *d = userdata;

	if (d->checkpoint)
		checkpoint_restore(d->checkpoint, feed_saved, monitor_feed(d->monitor), &lines);
	recorders_repeat(d->recorders, &lines);
}

/* Encodes a record once for all sinks. */
static void write_down(struct daemon *d, const struct record *record)
{
	bool followed = answers_want(d, record), wanted = recorders_want(d->recorders, record);

	buf_reset(&d->line);
	if (!(followed || wanted) || record_json(&d->line, record) < 0)
		return;
	if (wanted && recorders_record(d->recorders, record, &d->line) && d->checkpoint)
		checkpoint_add(d->checkpoint, record->type, &d->line);
	if (followed)
		answers_record(d, record, &d->line);
}

static void on_record(void *userdata, const struct record *record)
{
	struct daemon *d = userdata;

	write_down(d, record);
	tally_record(&d->tally, record);
	history_record(&d->history, record);
	if (d->events)
		events_record(d->events, record);
	if (d->inhibitor)
		inhibitor_record(d->inhibitor, record);
	if (d->boot)
		bootkeep_record(d->boot, record);
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	return 0; /* brings about the turn that flushes */
}

static void try_again_soon(struct daemon *d)
{
	if (!recorders_wait(d->recorders))
		return;
	if (!d->again)
		sd_event_add_time_relative(monitor_event(d->monitor), &d->again, CLOCK_MONOTONIC,
					   AGAIN_US, GRAIN_US / 4, on_again, d);
	else if (sd_event_source_get_enabled(d->again, NULL) == SD_EVENT_OFF &&
		 sd_event_source_set_time_relative(d->again, AGAIN_US) >= 0)
		sd_event_source_set_enabled(d->again, SD_EVENT_ONESHOT);
}

static void on_turn(void *userdata)
{
	struct daemon *d = userdata;
	uint64_t now = clock_boot_ns();

	if (d->checkpoint)
		checkpoint_turn(d->checkpoint, monitor_engine(d->monitor), now);
	recorders_flush(d->recorders, now);
	if (d->streams)
		streams_flush(d->streams);
	if (d->checkpoint && recorders_idle(d->recorders))
		checkpoint_written(d->checkpoint);
	if (d->checkpoint)
		checkpoint_hold_oldest(d->checkpoint, recorders_drop(d->recorders));
	if (d->statuses)
		statuses_turn(d->statuses);
	if (d->boot)
		bootkeep_turn(d->boot, monitor_engine(d->monitor), now,
			      recorders_idle(d->recorders));
	if (d->inhibitor)
		inhibitor_turn(d->inhibitor, recorders_flushed(d->recorders) &&
						     (!d->events || events_idle(d->events)));
	try_again_soon(d);
}

/* Before a shutdown of this boot can be announced. */
static void report_earlier_boot(struct daemon *d)
{
	const char *name = d->config.options.node_name;
	struct record record;
	char node[META_NAME_MAX];

	if (!name) {
		clock_node_name(node, sizeof(node));
		name = node;
	}
	if (!d->boot || !bootkeep_begin(d->boot, name, clock_boot_ns(), &record))
		return;
	on_record(d, &record);
	d->earlier_unclean = record.boot.verdict.end == BOOT_END_UNCLEAN;
}

/* Rules that can have no effect, by what is watched. */
static void warn_of_rules(const struct config *c)
{
	const struct config_shutdown *o = &c->shutdown;
	bool services = c->options.engine.scope >= SCOPE_SERVICES;

	for (size_t i = 0; config_manages(o) && i < o->n_managed && !services; i++) {
		const struct managed_rule *rule = &o->managed[i];

		if (managed_is_of_services(rule))
			log_warning("rule %zu of shutdown.managed has no effect: it matches "
				    "services, which are watched only with scope services",
				    i + 1);
		else if (managed_may_be_service(rule))
			log_warning("rule %zu of shutdown.managed matches only containers in "
				    "%s: services are watched with scope services",
				    i + 1, rule->unit);
	}
}

/* Settings that only another mode uses. */
static void warn_of_mode(const struct config_shutdown *o)
{
	const bool assists = !o->off && o->mode == SHUTDOWN_ASSIST, manages = config_manages(o);
	const struct {
		bool given, used;
		const char *name, *mode;
	} rows[] = {
		{o->deaf_grace_ns > 0, assists, "shutdown.deafGrace", "assist"},
		{o->stop_units[0], manages, "shutdown.stopUnits", "manage"},
		{groups_are_given(&o->groups), manages, "shutdown.gracePeriod*", "manage"},
		{o->n_managed > 0, manages, "shutdown.managed", "manage"},
		{o->skip_hooks, manages, "shutdown.preStop", "manage"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].given && !rows[i].used)
			log_warning("%s has no effect: shutdown.mode is not %s", rows[i].name,
				    rows[i].mode);
}

static void log_manage(void *userdata, const char *name, const char *text)
{
	log_warning("shutdown.mode manage: %s: %s", name, text);
}

static void log_writing(void *userdata, const char *name, const char *text)
{
	log_warning("%s %s", name, text);
}

/* What is ordered after the unit may start now. */
static void notify_ready(void *userdata)
{
	struct daemon *d = userdata;
	int r;

	/* The start itself is not over: it checks again whether there is anything to wait for. */
	if (!d->ready)
		return;
	log_info("ready: %u BPF programs attached", kern_attached(monitor_kern(d->monitor)));
	notify_status(d, "READY=1\n");
	/* A ping before READY=1 starts systemd's watchdog (service_reset_watchdog()) while the
	 * programs are loaded, which may take longer than its interval. */
	r = sd_event_set_watchdog(monitor_event(d->monitor), true);
	if (r < 0) {
		log_error("cannot start the watchdog: %s", strerror(-r));
		monitor_end(d->monitor, 1);
	}
}

/* Before a shutdown can be announced. */
static int open_statuses(struct daemon *d)
{
	const struct config_shutdown *o = &d->config.shutdown;
	bool acts = !o->off && o->mode != SHUTDOWN_OBSERVE;
	const struct statuses_earlier earlier = {
		.dead = d->earlier_unclean ? bootkeep_note(d->boot)->previous.boot_id : NULL,
		.bus_address = inhibitor_bus_address(),
		.over = notify_ready,
		.userdata = d,
	};

	if (!o->taint && !o->unschedulable && !(o->statuses && acts))
		return 0;
	return statuses_new(d->monitor, o, &earlier, &d->statuses);
}

static int open_inhibitor(struct daemon *d)
{
	const struct config_shutdown *o = &d->config.shutdown;
	const struct kubeletfile kubelet = {.path = o->kubelet_config, .minor = o->kubelet_minor};
	struct inhibitor_lock lock = d->lock;

	d->lock.fd = -1;
	warn_of_mode(o);
	warn_of_rules(&d->config);
	manage_warn(o, &kubelet, log_manage, NULL);
	manage_warn_of_writing(o, log_writing, NULL);
	if (!o->off)
		return inhibitor_new(d->monitor, o, lock, &d->inhibitor);
	schedule_remove_drop_in();
	return 0;
}

static void on_shutdown(void *userdata, const struct effect *effect)
{
	struct daemon *d = userdata;

	if (d->statuses)
		statuses_effect(d->statuses, effect);
	if (d->inhibitor)
		inhibitor_effect(d->inhibitor, effect);
}

static void hold_start(struct daemon *d)
{
	log_at(LOG_NOTICE,
	       "boot %s ended uncleanly: units ordered after graced, the kubelet's among them, wait "
	       "until its pods are proven dead, %d s at most",
	       bootkeep_note(d->boot)->previous.boot_id, (int)(PROOF_HOLD_NS / 1000000000));
	sd_notifyf(0,
		   "EXTEND_TIMEOUT_USEC=%" PRIu64 "\nSTATUS=waits until the pods of the boot "
		   "before are proven dead",
		   (uint64_t)(2 * PROOF_HOLD_NS / 1000));
}

static void on_attached(void *userdata)
{
	struct daemon *d = userdata;
	struct monitor *m = d->monitor;

	if (costs_new(d, &d->costs) < 0 || hearings_new(m, &d->hearings) < 0 ||
	    sd_event_add_time_relative(monitor_event(m), &d->minute, CLOCK_MONOTONIC, MINUTE_US,
				       GRAIN_US, on_minute, d) < 0) {
		monitor_end(m, 1);
		return;
	}
	d->control = answers_open(d);
	report_earlier_boot(d);
	if (open_statuses(d) < 0 || open_inhibitor(d) < 0) {
		monitor_end(m, 1);
		return;
	}
	/* From now on a restart continues from here. */
	on_turn(d);
	d->ready = true;
	if (d->statuses && statuses_hold_start(d->statuses))
		hold_start(d);
	else
		notify_ready(d);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_web(const struct config *a, const struct config *b)
{
	if (a->n_listen != b->n_listen)
		return false;
	for (size_t i = 0; i < a->n_listen; i++)
		if (strcmp(a->listen[i], b->listen[i]) != 0)
			return false;
	return same_text(a->telemetry_path, b->telemetry_path) &&
	       same_text(a->web_config_file, b->web_config_file) &&
	       a->web_insecure == b->web_insecure;
}

/* Keys, certificates and users as they are now; not for other listeners than those they were
 * judged for. What did not change closes no connection. */
static int reload_web(struct daemon *d, struct config *next)
{
	struct web_config config = {};
	struct webfile *old = d->config.webfile;
	struct web_why why;
	int r;

	if (!next->webfile || !same_web(&d->config, next) || webfile_same(old, next->webfile))
		return 0;
	webfile_apply(next->webfile, &config);
	r = web_reload(d->web, &config, &why);
	if (r < 0) {
		log_error("%s; the web server keeps its former keys and users", why.text);
		return r;
	}
	warn_bared(next);
	d->config.webfile = next->webfile;
	next->webfile = old;
	log_info("the web server uses new keys or users");
	return 0;
}

/* What was decided at the start stays until a restart, which is logged once. */
static void warn_unapplied(struct daemon *d, const struct config *next)
{
	_cleanup_(buf_free) struct buf keys = {}, values = {};

	config_compare(&d->config, next, &keys, &values);
	if (keys.len > 0 && strcmp(buf_str(&values), buf_str(&d->unapplied)) != 0)
		log_warning("a restart is needed for %s, which changed in %s", buf_str(&keys),
			    next->file ? next->file : "the configuration");
	buf_free(&d->unapplied);
	d->unapplied = values;
	values = (struct buf){};
}

/* -errno when a part of it failed, which is logged. Strings that the sources borrowed stay
 * those of the first configuration. */
static int take_over(struct daemon *d, struct config *next)
{
	int recorders, web;

	warn_unapplied(d, next);
	d->config.log_level = next->log_level;
	d->config.log_json = next->log_json;
	d->config.budget_ppm = next->budget_ppm;
	log_setup(next->log_level, next->log_json, log_to_journal());
	recorders = recorders_reload(d->recorders, next);
	web = reload_web(d, next);
	if (d->costs)
		costs_reload(d->costs);
	return recorders < 0 ? recorders : web;
}

static void on_reload(void *userdata)
{
	struct daemon *d = userdata;
	struct config next;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_monotonic_ns() / 1000);
	d->reload_failed = config_reload(d->argc, d->argv, &next) < 0;
	if (d->reload_failed) {
		log_error(
			"the former configuration stays in use; log and record files are reopened");
		recorders_reopen(d->recorders);
	} else {
		d->reload_failed = take_over(d, &next) < 0;
		config_done(&next);
	}
	if (!d->reload_failed) {
		d->reload_ok_wall_ns = (int64_t)clock_wall_ns();
		log_info("reloaded");
	}
	notify_status(d, "READY=1\n");
}

static void on_ending(void *userdata)
{
	struct daemon *d = userdata;

	d->ending = true;
	if (d->boot)
		bootkeep_stop(d->boot, monitor_engine(d->monitor), clock_boot_ns());
	sd_notify(0, "STOPPING=1\nSTATUS=stopping");
	log_info("stopping");
}

/* A checkpoint has what came since the last turn before the sinks have it, and keeps what they do
 * not take. */
static void finish_records(struct daemon *d)
{
	struct engine *engine = monitor_engine(d->monitor);
	bool saves = d->ready && d->checkpoint;

	if (saves)
		checkpoint_finish(d->checkpoint, engine, clock_boot_ns());
	recorders_finish(d->recorders);
	if (!saves || !recorders_idle(d->recorders))
		return;
	checkpoint_written(d->checkpoint);
	checkpoint_turn(d->checkpoint, engine, clock_boot_ns());
}

static void on_close(void *userdata)
{
	struct daemon *d = userdata;

	if (d->recorders)
		finish_records(d);
	if (d->boot && d->recorders)
		bootkeep_finish(d->boot, monitor_engine(d->monitor), clock_boot_ns(),
				recorders_idle(d->recorders));
	d->boot = bootkeep_free(d->boot);
	d->checkpoint = checkpoint_free(d->checkpoint);
	d->inhibitor = inhibitor_free(d->inhibitor);
	d->statuses = statuses_free(d->statuses);
	d->events = events_free(d->events);
	d->control = control_free(d->control);
	d->streams = streams_free(d->streams);
	d->costs = costs_free(d->costs);
	d->hearings = hearings_free(d->hearings);
	d->minute = sd_event_source_disable_unref(d->minute);
	d->again = sd_event_source_disable_unref(d->again);
	d->web = web_free(d->web);
	history_done(&d->history);
	tally_done(&d->tally);
	d->recorders = recorders_free(d->recorders);
	buf_free(&d->line);
}

int daemon_run(int argc, char **argv, struct config *config)
{
	struct daemon d = {.argc = argc, .argv = argv, .config = *config};
	struct monitor_hooks hooks = {
		.userdata = &d,
		.open = on_open,
		.restore = on_restore,
		.attached = on_attached,
		.record = on_record,
		.shutdown = on_shutdown,
		.turn = on_turn,
		.reload = on_reload,
		.ending = on_ending,
		.close = on_close,
	};
	const char *refused = inhibitor_refuse(&config->shutdown, config->options.hierarchy);
	int status;

	if (refused) {
		say("%s", refused);
		config_done(&d.config);
		return 1;
	}
	d.config.options.sources.rules = d.config.shutdown.managed;
	d.config.options.sources.n_rules = d.config.shutdown.n_managed;
	d.lock = inhibitor_take_back(&config->shutdown);
	log_setup(config->log_level, config->log_json, log_to_journal());
	status = monitor_run(&d.config.options, false, &hooks);
	buf_free(&d.unapplied);
	config_done(&d.config);
	return status;
}
