// SPDX-License-Identifier: Apache-2.0
/* Between logind and the engine: what logind says becomes observations, and what the engine wants
 * is asked of logind or done to containers. Decides nothing; core/shutdown does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/daemon/daemon.h"
#include "app/daemon/inhibitor_priv.h"
#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/own.h"
#include "app/live/sources.h"
#include "app/log/say.h"
#include "io/bus/connection.h"
#include "io/logind/fd_store.h"
#include "io/proc/clock.h"

#define STORE "shutdown-lock"
#define WHO   "graced"
#define WHY   "Containers are being stopped"

/* In a row: one question that is lost does not make its source unreachable. */
#define FAILURES_MIN 2

/* NULL: where it is by default. */
static const char *bus_address(void)
{
	const char *address = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");

	return address && *address ? address : NULL;
}

static bool has_address(void)
{
	return !bus_address() || busconn_path(bus_address());
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
	if (options->off || options->mode != SHUTDOWN_ASSIST)
		return NULL;
	if (!has_address())
		return "shutdown.mode assist needs the system bus, and DBUS_SYSTEM_BUS_ADDRESS is "
		       "not unix:path= and a path";
	if (!own_is_in_pod(hierarchy))
		return NULL;
	return "shutdown.mode assist has to outlive the pods: run graced as a unit of the host, or "
	       "set shutdown.mode to observe";
}

static void begin(struct obs *ret, enum shutdown_event_type event)
{
	feed_begin(ret, OBS_SHUTDOWN);
	ret->shutdown.event = event;
}

static void tell(struct inhibitor *in, enum shutdown_event_type event)
{
	struct obs obs;

	begin(&obs, event);
	feed(in->manager, &obs);
}

/* --- what logind says ----------------------------------------------------------------------- */

static void on_up(void *userdata)
{
	struct inhibitor *in = userdata;

	if (in->away)
		log_info("logind can be asked");
	in->up = in->was_up = true;
	in->away = false;
	tell(in, SHUTDOWN_EV_LOGIND_UP);
	logind_ask_limit(in->logind);
	if (in->dropped)
		logind_reload(in->logind);
}

static void on_down(void *userdata)
{
	struct inhibitor *in = userdata;
	struct logind_state state;

	logind_get_state(in->logind, &state);
	log_warning("logind cannot be asked: %s", state.text);
	in->up = false;
	in->away = true;
	tell(in, SHUTDOWN_EV_LOGIND_DOWN);
}

/* Where it was never there nothing goes down, and who counts on it is told all the same. */
static void tell_away(struct inhibitor *in)
{
	struct logind_state state;

	if (in->up || in->away)
		return;
	logind_get_state(in->logind, &state);
	if (state.status == LOGIND_STARTING)
		return;
	in->away = true;
	log_at(in->options->mode == SHUTDOWN_ASSIST ? LOG_WARNING : LOG_INFO,
	       "shutdowns of the node are not seen: %s, at %s; until logind answers there, "
	       "shutdown.mode %s does nothing",
	       state.text, state.where, shutdown_mode_name(in->options->mode));
}

static void on_taken(void *userdata)
{
	log_info("the shutdown delay lock is held");
	tell(userdata, SHUTDOWN_EV_LOCK_TAKEN);
}

static void on_refused(void *userdata, const char *error, const char *text)
{
	log_warning("logind gives no shutdown delay lock: %s (%s)", text, error);
	tell(userdata, SHUTDOWN_EV_LOCK_REFUSED);
}

static void on_lost(void *userdata)
{
	log_warning("the shutdown delay lock is lost: logind does not know it any more");
	tell(userdata, SHUTDOWN_EV_LOCK_LOST);
}

static void on_announced(void *userdata, uint64_t limit_ns, const char *action)
{
	struct inhibitor *in = userdata;
	struct obs obs;

	begin(&obs, SHUTDOWN_EV_ANNOUNCED);
	obs.shutdown.announced_ns = in->resumed_ns;
	obs.shutdown.limit_ns = limit_ns;
	obs.shutdown.action = shutdown_action_of(action);
	feed(in->manager, &obs);
}

static void on_cancelled(void *userdata)
{
	inhibitor_none_goes_on(userdata);
	tell(userdata, SHUTDOWN_EV_CANCELLED);
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
		if (at == SHUTDOWN_MAX_HOLDERS)
			continue;
		strncpy(to->who, list[i].who, sizeof(to->who) - 1);
		to->uid = list[i].uid;
		to->pid = list[i].pid;
		at++;
	}
	obs.shutdown.n_holders = (uint32_t)(n - own);
	feed(in->manager, &obs);
}

/* --- what the engine wants ------------------------------------------------------------------ */

static bool is_unreachable(const struct podsrc_state *state)
{
	return state->status == PODSRC_OFF ||
	       (state->status == PODSRC_DOWN && state->failures >= FAILURES_MIN);
}

static void tell_lister(struct inhibitor *in, enum meta_source source, bool is_static, bool first)
{
	bool unreachable, absent;
	struct podsrc_state state;
	struct obs obs;

	lookup_get_state(in->manager, source, &state);
	unreachable = is_unreachable(&state);
	absent = state.status != PODSRC_OFF && state.addressless;
	if (unreachable == in->unreachable[is_static] && absent == in->absent[is_static] && !first)
		return;
	in->unreachable[is_static] = unreachable;
	in->absent[is_static] = absent;
	begin(&obs, SHUTDOWN_EV_API);
	obs.shutdown.reachable = !unreachable;
	obs.shutdown.absent = absent;
	obs.shutdown.is_static = is_static;
	feed(in->manager, &obs);
}

/* The sources of pods' status: the kubelet for static pods, and for all others the API server where
 * that is asked. */
static void tell_listers(struct inhibitor *in, bool first)
{
	uint32_t asked = sources_asked(in->manager->options);
	enum meta_source source = meta_lister(asked, false), of_static = meta_lister(asked, true);

	tell_lister(in, source, false, first);
	if (of_static != source)
		tell_lister(in, of_static, true, first);
}

void inhibitor_effect(struct inhibitor *in, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_TAKE_LOCK:
		logind_take(in->logind);
		break;
	case EFFECT_DROP_LOCK:
		log_info("the shutdown delay lock is let go");
		inhibitor_note_end(in);
		logind_drop(in->logind);
		break;
	case EFFECT_LIST_HOLDERS:
		lookup_hurry(in->manager);
		logind_list_holders(in->logind);
		break;
	case EFFECT_FLUSH:
		in->flushing = true;
		break;
	case EFFECT_KILL:
		killer_add(in->killer, effect->id);
		break;
	default:
		break;
	}
}

void inhibitor_turn(struct inhibitor *in, bool idle)
{
	tell_away(in);
	tell_listers(in, false);
	if (!in->flushing || !idle)
		return;
	in->flushing = false;
	tell(in, SHUTDOWN_EV_FLUSHED);
}

void inhibitor_look(struct inhibitor *in)
{
	logind_ask_limit(in->logind);
}

static int open_logind(struct inhibitor *in, struct inhibitor_lock lock)
{
	const struct logind_options options = {
		.bus_address = bus_address(),
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
		.limit = inhibitor_on_limit,
		.holders = on_holders,
		.reloaded = inhibitor_on_reloaded,
	};

	return logind_new(in->manager->event, &options, &sink, &in->logind);
}

int inhibitor_new(struct daemon *d, struct inhibitor_lock lock, struct inhibitor **ret)
{
	struct inhibitor *in;
	int r;

	if (!has_address()) {
		log_warning("shutdowns of the node are not seen: DBUS_SYSTEM_BUS_ADDRESS is not "
			    "unix:path= and a path; shutdown.mode %s does nothing",
			    shutdown_mode_name(d->config.shutdown.mode));
		return 0;
	}
	in = calloc(1, sizeof(*in));
	r = in ? 0 : -ENOMEM;
	if (in) {
		in->manager = d->manager;
		in->options = &d->config.shutdown;
		inhibitor_read_times(in);
		inhibitor_tell_plan(in);
	}
	if (r < 0) {
		if (lock.fd >= 0)
			close(lock.fd);
	} else {
		*ret = in;
		r = killer_new(in->manager->event, in->manager->cgfs, &in->killer);
		if (r >= 0)
			r = open_logind(in, lock);
		else if (lock.fd >= 0)
			close(lock.fd);
	}
	if (r < 0) {
		say("cannot follow shutdowns of the node: %s", strerror(-r));
		if (in)
			killer_free(in->killer);
		free(in);
		*ret = NULL;
		return r;
	}
	inhibitor_open_delay(in);
	if (lock.fd >= 0)
		tell(in, SHUTDOWN_EV_LOCK_TAKEN);
	tell_listers(in, true);
	return 0;
}

struct inhibitor *inhibitor_free(struct inhibitor *in)
{
	if (!in)
		return NULL;
	delaykeep_free(in->delay);
	confwatch_free(in->watch);
	logind_free(in->logind);
	killer_free(in->killer);
	free(in);
	return NULL;
}
