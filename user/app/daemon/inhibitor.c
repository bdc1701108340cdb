// SPDX-License-Identifier: Apache-2.0
/* Between logind and the engine: what logind says becomes observations, and what the engine wants
 * is requested of logind or done to containers. Decides nothing; core/shutdown does. */
#include "app/daemon/inhibitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/daemon/schedule.h"
#include "app/daemon/stopper.h"
#include "app/daemon/volumes.h"
#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/monitor.h"
#include "app/live/place.h"
#include "app/live/sources.h"
#include "app/log/log.h"
#include "app/log/say.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "io/bus/connection.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "io/logind/fd_store.h"
#include "io/logind/logind.h"
#include "io/proc/clock.h"
#include "wire/kubernetes/kubelet_files.h"

#define STORE "shutdown-lock"
#define WHO   "graced"
#define WHY   "Containers are being stopped"

/* In RUNTIME_DIRECTORY: boot and action of a shutdown that was begun by hand, until it is
 * cancelled. What a boot before has left where that directory is on disk begins none. */
#define BY_HAND_FILE "begun-by-hand"
#define BY_HAND_MAX  64

/* In a row: one query that is lost does not make its source unreachable. */
#define FAILURES_MIN 2

struct inhibitor {
	struct monitor *monitor;
	const struct config_shutdown *options;
	struct schedule *schedule;
	struct logind *logind;
	struct killer *killer;	 /* the containers that are being killed */
	struct stopper *stopper; /* carries out what mode manage wants */
	struct volumes *volumes; /* the kubelet's mounts, while a shutdown waits for them */
	bool up, away;		 /* logind can be queried; it cannot, which was logged */
	bool flushing;		 /* the engine waits for all records to be out */
	bool unreachable[2];	 /* the lister of pods, as fed last; by is_static */
	bool absent[2];		 /* it never had an address; likewise */

	bool was_up;  /* logind answered once */
	bool by_hand; /* a shutdown was begun that logind knows nothing of */

	struct shutstate times; /* of the last shutdown, as the file has them */
	uint64_t resumed_ns;	/* when one was announced to an earlier process; 0: none */
};

const char *inhibitor_bus_address(void)
{
	const char *address = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");

	return address && *address ? address : NULL;
}

static bool has_address(void)
{
	return !inhibitor_bus_address() || busconn_path(inhibitor_bus_address());
}

struct inhibitor_lock inhibitor_take_back(const struct config_shutdown *options)
{
	struct inhibitor_lock lock = {.fd = -1};
	int fd = fdstore_take(STORE, &lock.pid);

	if (fd < 0)
		return lock;
	if (!options->off && has_address()) {
		lock.fd = fd;
		return lock;
	}
	fdstore_remove(STORE, lock.pid);
	close(fd);
	return lock;
}

const char *inhibitor_refuse(const struct config_shutdown *options, const char *hierarchy)
{
	if (options->off || options->mode == SHUTDOWN_OBSERVE)
		return NULL;
	if (options->mode == SHUTDOWN_ASSIST && !has_address())
		return "shutdown.mode assist needs the system bus, and DBUS_SYSTEM_BUS_ADDRESS is "
		       "not unix:path= and a path";
	if (!own_is_in_pod(hierarchy))
		return NULL;
	return options->mode == SHUTDOWN_ASSIST
		       ? "shutdown.mode assist has to outlive the pods: run graced as a unit of "
			 "the host, or set shutdown.mode to observe"
		       : "shutdown.mode manage has to outlive the pods: run graced as a unit of "
			 "the host, or set shutdown.mode to observe";
}

static void begin(struct obs *ret, enum shutdown_event_type event)
{
	feed_begin(ret, OBS_SHUTDOWN);
	ret->shutdown.event = event;
}

static void feed_event(struct inhibitor *in, enum shutdown_event_type event)
{
	struct obs obs;

	begin(&obs, event);
	feed_obs(monitor_feed(in->monitor), &obs);
}

/* --- when the last shutdown began and ended: the state file ------------------------------------ */

static void write_times(const struct inhibitor *in)
{
	_cleanup_(buf_free) struct buf text = {};
	char path[PATH_MAX];
	int r = shutstate_write(&text, &in->times);

	statedir_path(SHUTSTATE_FILE, path);
	if (r == 0)
		r = statefile_write(path, buf_str(&text), text.len);
	if (r < 0)
		log_info("cannot write %s: %s; if graced restarts during this shutdown, it will "
			 "not know when the shutdown was announced",
			 path, strerror(-r));
}

/*
 * In this boot, on CLOCK_BOOTTIME; 0: it is of another one, or there is none.
 *
 * logind does not provide the time at which it announced a shutdown. One that was cancelled and
 * announced anew while graced did not run looks like the first and counts from its time: the lock
 * is released too early, perhaps at once, and never after logind's limit. A process that ran in
 * between has received the cancellation.
 */
static uint64_t resumed_at(const struct shutstate *times)
{
	int64_t at;

	if (!times->started || times->ended ||
	    __builtin_sub_overflow(times->start_wall_ns, clock_wall_offset_ns(), &at) || at <= 0)
		return 0;
	return (uint64_t)at <= clock_boot_ns() ? (uint64_t)at : 0;
}

static void read_times(struct inhibitor *in)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[PATH_MAX];
	ssize_t size;
	int r;

	statedir_path(SHUTSTATE_FILE, path);
	size = fd_read_all(AT_FDCWD, path, SHUTSTATE_MAX_SIZE, &text);
	if (size == -ENOENT)
		return;
	r = size < 0 ? (int)size : shutstate_read(text, (size_t)size, &in->times);
	if (r < 0) {
		log_info("%s cannot be used: %s", path,
			 r == -EBADMSG ? "its content is invalid" : strerror(-r));
		in->times = (struct shutstate){};
	}
	in->resumed_ns = resumed_at(&in->times);
}

static void end_at(struct inhibitor *in, int64_t wall_ns)
{
	if (!in->times.started || in->times.ended)
		return;
	in->times.ended = true;
	in->times.end_wall_ns = wall_ns;
	write_times(in);
}

static void end_resumed(struct inhibitor *in)
{
	if (in->resumed_ns)
		end_at(in, (int64_t)clock_wall_ns());
	in->resumed_ns = 0;
}

/* Before the lock is released, as processShutdownEvent() of the kubelet does. */
static void note_end(struct inhibitor *in)
{
	struct shutdown_status status;
	struct shutdown_stats stats;

	if (engine_get_shutdown(monitor_engine(in->monitor), &status, &stats) && status.going)
		end_at(in, (int64_t)clock_wall_ns());
}

void inhibitor_record(struct inhibitor *in, const struct record *record)
{
	const struct shutdown_record *change = &record->shutdown.step;

	if (record->type != RECORD_SHUTDOWN)
		return;
	/* Without a lock nothing is released after the record. */
	if (change->what == SHUTDOWN_REPORT_CANCELLED ||
	    (change->what == SHUTDOWN_REPORT_RELEASED && !change->locked))
		end_at(in, record->wall_ns);
	if (change->what != SHUTDOWN_REPORT_ANNOUNCED || in->resumed_ns)
		return;
	in->times = (struct shutstate){
		.started = true,
		.start_wall_ns = record->wall_ns - (int64_t)(change->at_ns - change->announced_ns),
	};
	write_times(in);
}

/* --- what logind reports ------------------------------------------------------------------ */

static void on_limit(void *userdata, uint64_t limit_ns)
{
	struct inhibitor *in = userdata;

	schedule_limit(in->schedule, limit_ns);
}

static void on_reloaded(void *userdata, const char *error)
{
	struct inhibitor *in = userdata;

	schedule_reloaded(in->schedule, error);
}

static void on_up(void *userdata)
{
	struct inhibitor *in = userdata;

	if (in->away)
		log_info("logind answers");
	in->up = in->was_up = true;
	in->away = false;
	feed_event(in, SHUTDOWN_EV_LOGIND_UP);
	logind_query_limit(in->logind);
	schedule_up(in->schedule);
}

static void on_down(void *userdata)
{
	struct inhibitor *in = userdata;
	struct logind_state state;

	logind_get_state(in->logind, &state);
	log_warning("cannot query logind: %s", state.text);
	in->up = false;
	in->away = true;
	feed_event(in, SHUTDOWN_EV_LOGIND_DOWN);
}

/* One can be begun by hand. */
static bool can_begin(const struct inhibitor *in)
{
	return in->options->control && in->options->mode == SHUTDOWN_MANAGE;
}

/* A logind that was never there does not go down. */
static void warn_absent(struct inhibitor *in)
{
	struct logind_state state;

	if (in->up || in->away)
		return;
	logind_get_state(in->logind, &state);
	if (state.status == LOGIND_STARTING)
		return;
	in->away = true;
	log_at(in->options->mode == SHUTDOWN_OBSERVE ? LOG_INFO : LOG_WARNING,
	       "shutdowns of the node are not seen: %s, at %s; until logind answers there, "
	       "shutdown.mode %s does nothing%s",
	       state.text, state.where, shutdown_mode_name(in->options->mode),
	       can_begin(in) ? " but by graced shutdown" : "");
}

static void on_taken(void *userdata)
{
	log_info("the shutdown delay lock is held");
	feed_event(userdata, SHUTDOWN_EV_LOCK_TAKEN);
}

static void on_refused(void *userdata, const char *error, const char *text)
{
	log_warning("logind refuses a shutdown delay lock: %s (%s)", text, error);
	feed_event(userdata, SHUTDOWN_EV_LOCK_REFUSED);
}

static void on_lost(void *userdata)
{
	log_warning("the shutdown delay lock is lost: logind no longer lists it");
	feed_event(userdata, SHUTDOWN_EV_LOCK_LOST);
}

static void end_by_hand(struct inhibitor *in)
{
	char path[PATH_MAX];

	if (!in->by_hand)
		return;
	in->by_hand = false;
	unlink(rundir_path(BY_HAND_FILE, path));
}

static void on_announced(void *userdata, const uint64_t *limit_ns, const char *action)
{
	struct inhibitor *in = userdata;
	struct obs obs;

	end_by_hand(in);
	begin(&obs, SHUTDOWN_EV_ANNOUNCED);
	obs.shutdown.announced_ns = in->resumed_ns;
	obs.shutdown.limit_ns = limit_ns ? *limit_ns : 0;
	obs.shutdown.no_delay = limit_ns && *limit_ns == 0;
	obs.shutdown.action = shutdown_action_of(action);
	feed_obs(monitor_feed(in->monitor), &obs);
}

static void cancel(struct inhibitor *in)
{
	end_resumed(in);
	feed_event(in, SHUTDOWN_EV_CANCELLED);
	/* The engine may not know of those that an earlier process has stopped. */
	stopper_start_units(in->stopper);
}

static void on_cancelled(void *userdata)
{
	struct inhibitor *in = userdata;

	/* That logind has announced none says nothing of one that was begun without it. */
	if (!in->by_hand)
		cancel(in);
}

static void on_holders(void *userdata, const struct logind_holder *list, size_t n, bool failed)
{
	size_t listed = n < LOGIND_HOLDERS_MAX ? n : LOGIND_HOLDERS_MAX, own = 0, at = 0;
	struct inhibitor *in = userdata;
	struct obs obs;

	begin(&obs, SHUTDOWN_EV_HOLDERS);
	obs.shutdown.failed = failed;
	for (size_t i = 0; i < listed; i++) {
		struct obs_holder *to = &obs.shutdown.holders[at];

		if (list[i].own) {
			own++;
			continue;
		}
		volumes_note_holder(in->volumes, &list[i]);
		if (at == SHUTDOWN_MAX_HOLDERS)
			continue;
		strncpy(to->who, list[i].who, sizeof(to->who) - 1);
		to->uid = list[i].uid;
		to->pid = list[i].pid;
		at++;
	}
	obs.shutdown.n_holders = (uint32_t)(n - own);
	feed_obs(monitor_feed(in->monitor), &obs);
}

/* --- a shutdown by hand ----------------------------------------------------------------------- */

static int refuse_by_hand(const struct inhibitor *in, struct control_why *why)
{
	struct logind_state logind;

	logind_get_state(in->logind, &logind);
	if (!in->options->control)
		snprintf(why->text, sizeof(why->text),
			 "shutdown.control is not true in the daemon's configuration");
	else if (in->options->mode != SHUTDOWN_MANAGE)
		snprintf(why->text, sizeof(why->text),
			 "shutdown.mode is %s, and only manage stops containers by itself",
			 shutdown_mode_name(in->options->mode));
	else if (logind.preparing)
		snprintf(why->text, sizeof(why->text),
			 "logind has announced this shutdown, and it alone can cancel it");
	else
		return 0;
	return -EPERM;
}

static void begin_by_hand(struct inhibitor *in, enum shutdown_action action)
{
	struct obs obs;

	in->by_hand = true;
	begin(&obs, SHUTDOWN_EV_ANNOUNCED);
	obs.shutdown.announced_ns = in->resumed_ns;
	obs.shutdown.by_hand = true;
	obs.shutdown.limit_ns = schedule_get_plan(in->schedule)->need_ns;
	obs.shutdown.action = action;
	feed_obs(monitor_feed(in->monitor), &obs);
}

static void write_by_hand(enum shutdown_action action)
{
	char path[PATH_MAX], text[BY_HAND_MAX], boot_id[37];
	int n, r;

	clock_boot_id(boot_id);
	n = snprintf(text, sizeof(text), "%s %s", boot_id, shutdown_action_name(action));
	r = statefile_write(rundir_path(BY_HAND_FILE, path), text, (size_t)n);
	if (r < 0)
		log_warning("cannot write %s: %s; a restart of graced ends this shutdown", path,
			    strerror(-r));
}

/* NULL: it was begun in another boot. */
static const char *read_action(const char *text)
{
	char boot_id[37];
	size_t n;

	clock_boot_id(boot_id);
	n = strlen(boot_id);
	return strncmp(text, boot_id, n) == 0 && text[n] == ' ' ? text + n + 1 : NULL;
}

/* Goes on with one that an earlier process has begun. False: there is none. */
static bool resume_by_hand(struct inhibitor *in)
{
	_cleanup_(buf_free) struct buf text = {};
	struct trusted_why why;
	const char *action;
	char path[PATH_MAX];
	int r = trusted_read(rundir_path(BY_HAND_FILE, path), false, BY_HAND_MAX, &text, &why);

	if (r < 0) {
		if (r != -ENOENT)
			log_warning("cannot find out whether a shutdown was begun by hand: %s",
				    why.text);
		return false;
	}
	action = read_action(buf_str(&text));
	if (!action) {
		unlink(path);
		return false;
	}
	if (!can_begin(in)) {
		log_warning("the shutdown that was begun by hand ends: the configuration no longer "
			    "allows it");
		unlink(path);
		end_resumed(in);
		return false;
	}
	log_info("continuing the shutdown that was begun by hand: %s", action);
	begin_by_hand(in, shutdown_action_of(action));
	return true;
}

int inhibitor_begin(struct inhibitor *in, enum shutdown_action action, struct control_why *ret_why)
{
	int r = refuse_by_hand(in, ret_why);

	if (r < 0 || in->by_hand)
		return r;
	log_info("a shutdown begins by hand: %s", shutdown_action_name(action));
	write_by_hand(action);
	begin_by_hand(in, action);
	return 0;
}

int inhibitor_cancel(struct inhibitor *in, struct control_why *ret_why)
{
	int r = refuse_by_hand(in, ret_why);

	if (r < 0)
		return r;
	if (!in->by_hand) {
		snprintf(ret_why->text, sizeof(ret_why->text), "no shutdown is under way");
		return -ENOENT;
	}
	end_by_hand(in);
	cancel(in);
	return 0;
}

/* --- what the engine wants ------------------------------------------------------------------ */

static bool is_unreachable(const struct source_state *state)
{
	return state->status == SOURCE_OFF ||
	       (state->status == SOURCE_DOWN && state->failures >= FAILURES_MIN);
}

static void feed_lister(struct inhibitor *in, enum meta_source source, bool is_static, bool first)
{
	bool unreachable, absent;
	struct source_state state;
	struct obs obs;

	lookup_get_state(monitor_lookup(in->monitor), source, &state);
	unreachable = is_unreachable(&state);
	absent = state.addressless;
	if (unreachable == in->unreachable[is_static] && absent == in->absent[is_static] && !first)
		return;
	in->unreachable[is_static] = unreachable;
	in->absent[is_static] = absent;
	begin(&obs, SHUTDOWN_EV_API);
	obs.shutdown.reachable = !unreachable;
	obs.shutdown.absent = absent;
	obs.shutdown.is_static = is_static;
	feed_obs(monitor_feed(in->monitor), &obs);
}

/* The sources of pods' status: the kubelet for static pods, and for all others the API server where
 * that is configured. */
static void feed_listers(struct inhibitor *in, bool first)
{
	uint32_t asked = sources_asked(monitor_options(in->monitor));
	enum meta_source source = meta_lister(asked, false), of_static = meta_lister(asked, true);

	feed_lister(in, source, false, first);
	if (of_static != source)
		feed_lister(in, of_static, true, first);
}

void inhibitor_effect(struct inhibitor *in, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_TAKE_LOCK:
		logind_take(in->logind);
		break;
	case EFFECT_DROP_LOCK:
		log_info("the shutdown delay lock is released");
		note_end(in);
		logind_drop(in->logind);
		break;
	case EFFECT_LIST_HOLDERS:
		lookup_hurry(monitor_lookup(in->monitor));
		logind_list_holders(in->logind);
		break;
	case EFFECT_FLUSH:
		in->flushing = true;
		break;
	case EFFECT_KILL:
		killer_add(in->killer, effect->id);
		break;
	case EFFECT_STOP_UNITS:
	case EFFECT_START_UNITS:
	case EFFECT_STOP:
	case EFFECT_SIGNAL:
	case EFFECT_STOP_SANDBOX:
		stopper_effect(in->stopper, effect);
		break;
	default:
		volumes_effect(in->volumes, effect);
		break;
	}
}

void inhibitor_turn(struct inhibitor *in, bool idle)
{
	warn_absent(in);
	feed_listers(in, false);
	volumes_turn(in->volumes);
	if (!in->flushing || !idle)
		return;
	in->flushing = false;
	feed_event(in, SHUTDOWN_EV_FLUSHED);
}

void inhibitor_look(struct inhibitor *in)
{
	logind_query_limit(in->logind);
}

/* --- metrics: whether a shutdown that came now would be seen through --------------------------- */

static enum metrics_ready_value value_of(bool ok)
{
	return ok ? METRICS_READY_YES : METRICS_READY_NO;
}

/*
 * In observe a host without a bus, or without logind on it, has no shutdown that could be seen:
 * nothing about it is exposed, as in mode off. assist and manage count on logind, and a logind that
 * was there is missed.
 */
static bool has_logind(const struct inhibitor *in, enum logind_status status)
{
	bool absent = status == LOGIND_STARTING || status == LOGIND_ABSENT || status == LOGIND_OFF;

	return !absent || in->was_up || in->options->mode != SHUTDOWN_OBSERVE;
}

/* Only assist and manage have a drop-in that another may overrule. What logind does has to be known.
 */
static enum metrics_ready_value unpinned(const struct inhibitor *in, bool limit_known)
{
	struct delaykeep_state state;

	if (!schedule_get_delay(in->schedule, &state) || !schedule_get_plan(in->schedule)->need_ns)
		return METRICS_READY_ABSENT;
	return value_of(limit_known && state.status != DELAYKEEP_PINNED);
}

static void judge(const struct inhibitor *in, const struct logind_state *state,
		  enum metrics_ready_value *ret)
{
	const struct schedule_plan *plan = schedule_get_plan(in->schedule);
	bool cut_short = engine_count_cut_short(monitor_engine(in->monitor)) > 0;

	ret[METRICS_READY_LOGIND] = value_of(state->status == LOGIND_UP);
	ret[METRICS_READY_LOCK] = value_of(state->held);
	if (plan->need_ns)
		ret[METRICS_READY_DELAY] =
			value_of(state->limit_known && state->limit_ns >= plan->need_ns);
	ret[METRICS_READY_UNPINNED] = unpinned(in, state->limit_known);
	if (plan->kubelet_there)
		ret[METRICS_READY_KUBELET] = value_of(!plan->kubelet_bad);
	if (plan->need_ns || plan->kubelet_bad)
		ret[METRICS_READY_GRACE] = value_of(!plan->kubelet_bad && !cut_short);
}

void inhibitor_get_metrics(const struct inhibitor *in, struct metrics_shutdown *ret)
{
	struct logind_state state;

	logind_get_state(in->logind, &state);
	*ret = (struct metrics_shutdown){
		.on = has_logind(in, state.status),
		.held = state.held,
		.delay_known = state.limit_known,
		.delay_max_ns = state.limit_ns,
		.start_s = shutstate_seconds(in->times.started, in->times.start_wall_ns),
		.end_s = shutstate_seconds(in->times.ended, in->times.end_wall_ns),
	};
	judge(in, &state, ret->ready);
	ret->n_groups = engine_get_shutdown_groups(monitor_engine(in->monitor), ret->groups,
						   METRICS_GROUPS_MAX);
}

const struct schedule_plan *inhibitor_get_plan(const struct inhibitor *in)
{
	return schedule_get_plan(in->schedule);
}

/* --- opening and closing ----------------------------------------------------------------------- */

static int open_logind(struct inhibitor *in, struct inhibitor_lock lock)
{
	const struct logind_options options = {
		.bus_address = inhibitor_bus_address(),
		.who = WHO,
		.why = WHY,
		.store = STORE,
		.lock = lock.fd,
		.lock_pid = lock.pid,
	};
	const struct logind_sink sink = {
		.userdata = in,
		.up = on_up,
		.down = on_down,
		.taken = on_taken,
		.refused = on_refused,
		.lost = on_lost,
		.announced = on_announced,
		.cancelled = on_cancelled,
		.limit = on_limit,
		.holders = on_holders,
		.reloaded = on_reloaded,
	};

	return logind_new(monitor_event(in->monitor), &options, &sink, &in->logind);
}

/* What acts on containers and units. */
static int open_hands(struct inhibitor *in)
{
	struct monitor *m = in->monitor;
	int r = killer_new(monitor_event(m), monitor_cgfs(m), &in->killer);

	if (r >= 0)
		r = stopper_new(m, in->options->stop_units, !in->options->skip_hooks,
				inhibitor_bus_address(), &in->stopper);
	return r < 0 ? r : volumes_new(m, in->options->kubelet_root, &in->volumes);
}

static void close_hands(struct inhibitor *in)
{
	stopper_free(in->stopper);
	killer_free(in->killer);
	volumes_free(in->volumes);
}

int inhibitor_new(struct monitor *m, const struct config_shutdown *options,
		  struct inhibitor_lock lock, struct inhibitor **ret)
{
	struct inhibitor *in;
	int r;

	if (!has_address()) {
		log_warning("shutdowns of the node are not seen: DBUS_SYSTEM_BUS_ADDRESS is not "
			    "unix:path= and a path; shutdown.mode %s does nothing",
			    shutdown_mode_name(options->mode));
		return 0;
	}
	in = calloc(1, sizeof(*in));
	r = in ? 0 : -ENOMEM;
	if (in) {
		in->monitor = m;
		in->options = options;
		read_times(in);
		r = schedule_new(m, options, &in->schedule);
		*ret = in;
	}
	if (r >= 0)
		r = open_hands(in);
	if (r >= 0)
		r = open_logind(in, lock);
	else if (lock.fd >= 0)
		close(lock.fd);
	if (r < 0) {
		say("cannot follow shutdowns of the node: %s", strerror(-r));
		*ret = inhibitor_free(in);
		return r;
	}
	schedule_open(in->schedule, in->logind);
	if (lock.fd >= 0)
		feed_event(in, SHUTDOWN_EV_LOCK_TAKEN);
	feed_listers(in, true);
	if (!resume_by_hand(in) && !in->resumed_ns)
		stopper_start_units(in->stopper);
	return 0;
}

struct inhibitor *inhibitor_free(struct inhibitor *in)
{
	if (!in)
		return NULL;
	schedule_free(in->schedule);
	logind_free(in->logind);
	close_hands(in);
	free(in);
	return NULL;
}
