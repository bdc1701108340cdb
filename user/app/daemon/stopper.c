// SPDX-License-Identifier: Apache-2.0
/* Passes each effect on to the edge that can do it, and what comes of it back to the engine. */
#include "app/daemon/stopper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/room.h"
#include "base/signame.h"
#include "base/time.h"
#include "io/bus/units.h"
#include "io/files/file.h"
#include "io/loop/loop.h"

/* The units that were stopped, one a line: of this boot, so that a process that is started in the
 * middle of a shutdown knows what it has to start when that is cancelled. */
#define UNITS_FILE     "stopped-units"
#define UNITS_FILE_MAX ((size_t)UNITJOBS_MAX * UNITJOBS_NAME_MAX)

/* A pod that the runtime was requested to stop. */
struct sandbox {
	LIST_ENTRY(sandbox) link;
	struct stopper *stopper;
	char pod_uid[37];
};

struct stopper {
	struct monitor *monitor;
	const char *const *units;
	bool runs_hooks;
	struct unitjobs *jobs;
	LIST_HEAD(, sandbox) sandboxes;
};

static void feed_event(struct stopper *s, enum shutdown_event_type event, uint64_t id, bool failed)
{
	struct obs obs;

	feed_begin(&obs, OBS_SHUTDOWN);
	obs.shutdown.event = event;
	obs.shutdown.id = id;
	obs.shutdown.failed = failed;
	feed_obs(monitor_feed(s->monitor), &obs);
}

/* --- units -------------------------------------------------------------------------------------- */

static void write_units(const struct stopper *s)
{
	_cleanup_(buf_free) struct buf text = {};
	const char *names[UNITJOBS_MAX];
	size_t n = unitjobs_remembered(s->jobs, names);
	char path[PATH_MAX];
	int r;

	rundir_path(UNITS_FILE, path);
	if (!n) {
		unlink(path);
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s\n", names[i]);
	r = buf_error(&text);
	if (r == 0)
		r = statefile_write(path, buf_str(&text), text.len);
	if (r < 0)
		log_warning("cannot write %s: %s; a restart in this shutdown does not start the "
			    "stopped units again",
			    path, strerror(-r));
}

static void read_units(struct stopper *s)
{
	_cleanup_(buf_free) struct buf text = {};
	struct trusted_why why;
	char path[PATH_MAX], *at, *line;
	int r;

	rundir_path(UNITS_FILE, path);
	r = trusted_read(path, false, UNITS_FILE_MAX, &text, &why);
	if (r < 0) {
		if (r != -ENOENT)
			log_warning("cannot read which units were stopped: %s", why.text);
		return;
	}
	buf_addc(&text, 0);
	for (at = text.data; at && (line = strsep(&at, "\n"));)
		unitjobs_remember(s->jobs, line);
}

static void on_remembered(void *userdata)
{
	write_units(userdata);
}

static void on_units_stopped(void *userdata, const char *error)
{
	struct stopper *s = userdata;

	if (error)
		log_warning("not all units of shutdown.stopUnits are stopped: %s; the shutdown "
			    "goes on",
			    error);
	else
		log_info("the units of shutdown.stopUnits are stopped");
	feed_event(s, SHUTDOWN_EV_UNITS_STOPPED, 0, error != NULL);
}

static void on_start_failed(void *userdata, const char *error)
{
	log_warning("cannot start a unit of shutdown.stopUnits again: %s; start it with systemctl",
		    error);
}

void stopper_start_units(struct stopper *s)
{
	unitjobs_start(s->jobs);
}

static void stop_units(struct stopper *s)
{
	if (*s->units)
		unitjobs_stop(s->jobs, s->units);
	else
		feed_event(s, SHUTDOWN_EV_UNITS_STOPPED, 0, false);
}

/* --- containers --------------------------------------------------------------------------------- */

static void fail_stop(struct stopper *s, uint64_t id, const char *error)
{
	log_info("the runtime did not stop the container of cgroup %" PRIu64 ": %s", id, error);
	feed_event(s, SHUTDOWN_EV_STOP_FAILED, id, true);
}

static void on_stopped(void *userdata, uint64_t id, const char *error)
{
	/* What became of the container is known by the kernel half. */
	if (error)
		fail_stop(userdata, id, error);
}

static void warn_of_hook(const char *name, const char *why)
{
	log_warning("the preStop hook of %s is not run: %s; the container is stopped without it",
		    name, why);
}

static void on_hook(void *userdata, uint64_t id, enum source_cri_hook what, const char *name,
		    const char *text)
{
	struct stopper *s = userdata;

	switch (what) {
	case SOURCE_CRI_HOOK_BEGUN:
		feed_event(s, SHUTDOWN_EV_HOOK_BEGUN, id, false);
		return;
	case SOURCE_CRI_HOOK_ENDED:
		if (text)
			log_warning("the preStop hook of %s failed: %s; the container is stopped",
				    name, text);
		feed_event(s, SHUTDOWN_EV_HOOK_ENDED, id, text != NULL);
		return;
	case SOURCE_CRI_HOOK_NOT_RUN:
		warn_of_hook(name, text);
	}
}

static const char *stop_error(int error)
{
	switch (error) {
	case -ENOTCONN:
		return "no runtime with CRI answers";
	case -ENOBUFS:
		return "it is stopping too many already";
	default:
		return strerror(-error);
	}
}

/* The runtime was not requested to stop it. */
static void fail_request(struct stopper *s, const struct effect *effect, bool hooked, int error)
{
	char name[POD_UID_MAX + 32];

	if (hooked) {
		snprintf(name, sizeof(name), "container %.12s of pod %s", effect->container_id,
			 effect->pod_uid);
		warn_of_hook(name, stop_error(error));
	}
	fail_stop(s, effect->id, stop_error(error));
}

/* A part of a second counts as a whole one: the runtime must not kill it before its time. */
static void stop_container(struct stopper *s, const struct effect *effect)
{
	const struct source_cri_stop stop = {
		.container_id = effect->container_id,
		.timeout_s = effect->at_ns / NS_PER_S + (effect->at_ns % NS_PER_S != 0),
		.hook_s = s->runs_hooks ? effect->hook_ns / NS_PER_S : 0,
		.tag = effect->id,
		.done = on_stopped,
		.hook = on_hook,
		.userdata = s,
	};
	int r = -ENOTCONN;

	if (effect->hook_ns && !s->runs_hooks)
		log_info("the preStop hook of container %.12s is not run: shutdown.preStop is skip",
			 effect->container_id);
	/* CRI has the containers of pods alone: of others it answers that they are stopped. */
	if (effect->pod_uid[0] && effect->container_id[0])
		r = lookup_stop(monitor_lookup(s->monitor), &stop);
	if (r < 0)
		fail_request(s, effect, stop.hook_s, r);
}

static void signal_init(struct stopper *s, const struct effect *effect)
{
	const struct hierarchy *hierarchy = monitor_hierarchy(s->monitor);
	const struct cgfs_process init = {(pid_t)effect->pid, effect->start_ns};
	char name[SIGNAME_SIZE];
	int r;

	signame_format(effect->signal, name);
	if (!effect->pid) {
		log_warning("cannot send %s to the init of cgroup %" PRIu64
			    ": its init is unknown; the "
			    "container is killed at its deadline",
			    name, effect->id);
		return;
	}
	r = cgfs_signal(monitor_cgfs(s->monitor), hierarchy->unified ? NULL : hierarchy->name,
			effect->id, &init, (int)effect->signal);
	/* It ended meanwhile. */
	if (r < 0 && r != -ESRCH && r != -ENOENT)
		log_warning("cannot send %s to process %" PRIu32 ", the init of cgroup %" PRIu64
			    ": %s; the container is killed at its deadline",
			    name, effect->pid, effect->id, strerror(-r));
}

/* --- sandboxes ---------------------------------------------------------------------------------- */

static void feed_sandbox(struct stopper *s, const char *pod_uid, bool failed)
{
	struct obs obs;

	feed_begin(&obs, OBS_SHUTDOWN);
	obs.shutdown.event = SHUTDOWN_EV_SANDBOX_STOPPED;
	obs.shutdown.failed = failed;
	snprintf(obs.shutdown.pod_uid, sizeof(obs.shutdown.pod_uid), "%s", pod_uid);
	feed_obs(monitor_feed(s->monitor), &obs);
}

static void end_sandbox(struct sandbox *sandbox, const char *error)
{
	struct stopper *s = sandbox->stopper;

	if (error)
		log_info("the runtime did not stop the sandbox of pod %s: %s", sandbox->pod_uid,
			 error);
	feed_sandbox(s, sandbox->pod_uid, error != NULL);
	LIST_REMOVE(sandbox, link);
	free(sandbox);
}

static void on_sandbox_stopped(void *userdata, uint64_t tag, const char *error)
{
	end_sandbox(userdata, error);
}

static void stop_sandbox(struct stopper *s, const struct effect *effect)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	const struct source_cri_stop stop = {
		.container_id = effect->container_id,
		.sandbox = true,
		.done = on_sandbox_stopped,
		.userdata = sandbox,
	};
	int r = -ENOTCONN;

	if (!sandbox) {
		feed_sandbox(s, effect->pod_uid, true);
		return;
	}
	sandbox->stopper = s;
	memcpy(sandbox->pod_uid, effect->pod_uid, sizeof(sandbox->pod_uid));
	LIST_INSERT_HEAD(&s->sandboxes, sandbox, link);
	if (effect->container_id[0])
		r = lookup_stop(monitor_lookup(s->monitor), &stop);
	if (r < 0)
		end_sandbox(sandbox, effect->container_id[0] ? stop_error(r) : "its ID is unknown");
}

void stopper_effect(struct stopper *s, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_STOP_UNITS:
		stop_units(s);
		break;
	case EFFECT_START_UNITS:
		stopper_start_units(s);
		break;
	case EFFECT_STOP:
		stop_container(s, effect);
		break;
	case EFFECT_SIGNAL:
		signal_init(s, effect);
		break;
	case EFFECT_STOP_SANDBOX:
		stop_sandbox(s, effect);
		break;
	default:
		break;
	}
}

/* --- opening and closing ------------------------------------------------------------------------ */

int stopper_new(struct monitor *m, const char *const *units, bool runs_hooks,
		const char *bus_address, struct stopper **ret)
{
	struct stopper *s = calloc(1, sizeof(*s));
	const struct unitjobs_options jobs = {.bus_address = bus_address};
	const struct unitjobs_sink sink = {s, on_remembered, on_units_stopped, on_start_failed};
	int r;

	if (!s)
		return -ENOMEM;
	s->monitor = m;
	s->units = units;
	s->runs_hooks = runs_hooks;
	r = unitjobs_new(monitor_event(m), &jobs, &sink, &s->jobs);
	if (r < 0) {
		free(s);
		return r;
	}
	read_units(s);
	*ret = s;
	return 0;
}

struct stopper *stopper_free(struct stopper *s)
{
	struct sandbox *sandbox;

	if (!s)
		return NULL;
	while ((sandbox = LIST_FIRST(&s->sandboxes))) {
		LIST_REMOVE(sandbox, link);
		free(sandbox);
	}
	unitjobs_free(s->jobs);
	free(s);
	return NULL;
}

/* --- killing what is left --------------------------------------------------------------------- */

/* Jobs under way together: each holds up to four descriptors. */
#define OPEN_MAX_JOBS 16
/* After so many a job makes room for those that wait. An ordinary container needs two or three. */
#define ROUNDS_A_TURN 8
/* After so many a container is logged. */
#define ROUNDS_TO_LOG 64
/* When the daemon ends. */
#define LAST_SLICES   64

struct job {
	uint64_t id;
	struct cgfs_kill *kill; /* NULL: not begun in this turn */
	uint32_t rounds;	/* of its earlier turns */
	bool logged;		/* that it still forks */
};

struct killer {
	struct cgfs *cgfs;
	/* A timer that is always due, enabled while there is a job: a source of the deferred kind
	 * would go before all others of its priority. */
	sd_event_source *slice;
	struct job *jobs; /* oldest first */
	size_t n, room;
	size_t next; /* of the first OPEN_MAX_JOBS */
};

static void log_failure(uint64_t id, int error)
{
	if (error != -ENOENT)
		log_error("cannot kill the processes of cgroup %llu: %s", (unsigned long long)id,
			  strerror(-error));
}

/* 1: there is more to do. */
static int work_on(struct killer *k, struct job *job)
{
	uint32_t work = KILLER_WORK;
	int r = job->kill ? 1 : cgfs_kill_begin(k->cgfs, job->id, &job->kill);

	if (r > 0)
		r = cgfs_kill_step(job->kill, &work);
	if (r < 0)
		log_failure(job->id, r);
	return r;
}

static void log_forking(struct job *job)
{
	if (job->logged || job->rounds < ROUNDS_TO_LOG)
		return;
	log_warning("cgroup %llu is still forking after %u rounds of SIGKILL to all its processes; "
		    "further rounds follow, after those of other containers",
		    (unsigned long long)job->id, job->rounds);
	job->logged = true;
}

/* Behind all that wait, without its descriptors. */
static void move_to_tail(struct killer *k, size_t at)
{
	struct job job = k->jobs[at];

	job.rounds += cgfs_kill_rounds(job.kill);
	job.kill = cgfs_kill_free(job.kill);
	log_forking(&job);
	memmove(k->jobs + at, k->jobs + at + 1, (k->n - 1 - at) * sizeof(*k->jobs));
	k->jobs[k->n - 1] = job;
}

static void run_slice(struct killer *k)
{
	size_t open = k->n < OPEN_MAX_JOBS ? k->n : OPEN_MAX_JOBS;
	size_t at = k->next < open ? k->next : 0;
	struct job *job = k->jobs + at;

	k->next = at + 1;
	if (work_on(k, job) > 0) {
		if (cgfs_kill_rounds(job->kill) >= ROUNDS_A_TURN) {
			move_to_tail(k, at);
			k->next = at;
		}
		return;
	}
	cgfs_kill_free(job->kill);
	k->n--;
	memmove(job, job + 1, (k->n - at) * sizeof(*k->jobs));
	k->next = at;
}

static int on_slice(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct killer *k = userdata;

	run_slice(k);
	return sd_event_source_set_enabled(source, k->n ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void killer_add(struct killer *k, uint64_t id)
{
	int r = 0;

	for (size_t i = 0; i < k->n; i++)
		if (k->jobs[i].id == id)
			return;
	if (!ROOM_FOR_ONE(k->jobs, k->n, k->room, 16)) {
		log_failure(id, -ENOMEM);
		return;
	}
	k->jobs[k->n++] = (struct job){.id = id};
	r = sd_event_source_set_enabled(k->slice, SD_EVENT_ONESHOT);
	if (r < 0)
		log_failure(id, r);
}

int killer_new(sd_event *event, struct cgfs *cgfs, struct killer **ret)
{
	struct killer *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->cgfs = cgfs;
	r = timer_new(event, CLOCK_MONOTONIC, 1, on_slice, k, &k->slice);
	if (r < 0) {
		killer_free(k);
		return r;
	}
	*ret = k;
	return 0;
}

struct killer *killer_free(struct killer *k)
{
	if (!k)
		return NULL;
	for (unsigned int i = 0; k->n && i < LAST_SLICES; i++)
		run_slice(k);
	for (size_t i = 0; i < k->n; i++)
		cgfs_kill_free(k->jobs[i].kill);
	sd_event_source_disable_unref(k->slice);
	free(k->jobs);
	free(k);
	return NULL;
}
