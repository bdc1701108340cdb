// SPDX-License-Identifier: Apache-2.0
/* Holds the lock, and tells what logind says. */
#include "io/logind/logind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/logind/fd_store.h"
#include "io/logind/priv.h"

#define TIMEOUT_NS 5000000000ull

void logind_set_text(struct logind *l, const char *prefix, const char *text)
{
	busconn_line(l->text, sizeof(l->text), prefix, text);
}

/* The number is forgotten with the lock: it may be another file's the next moment. */
static void let_go(struct logind *l)
{
	if (l->lock < 0)
		return;
	if (l->store)
		fdstore_remove(l->store, l->lock_pid);
	close(TAKE_FD(l->lock));
}

void logind_lock_set(struct logind *l, int fd)
{
	let_go(l);
	l->lock = fd;
	l->lock_pid = l->own_pid;
	l->verify = false;
	if (l->store && fdstore_put(l->store, l->lock_pid, fd) < 0)
		logind_set_text(l, "", "systemd does not keep the lock over a restart");
	l->sink.taken(l->sink.userdata);
}

/* Anybody may take a lock of any name. The earlier process's counts also after it was released,
 * until logind has noticed. */
bool logind_lock_is_own(const struct logind *l, const struct logind_holder *holder)
{
	if (holder->uid != geteuid() || strcmp(holder->who, l->who) != 0)
		return false;
	return holder->pid == l->own_pid || holder->pid == l->lock_pid ||
	       (l->lock >= 0 && !l->lock_pid);
}

void logind_lock_lose(struct logind *l)
{
	let_go(l);
	l->sink.lost(l->sink.userdata);
}

/* A word for people and records, or nothing. */
static void set_action(struct logind *l, const char *action)
{
	size_t len = strspn(action, "abcdefghijklmnopqrstuvwxyz-");

	if (action[len] || len >= sizeof(l->action))
		len = 0;
	memcpy(l->action, action, len);
	l->action[len] = '\0';
}

void logind_announce(struct logind *l, bool begins, const char *action)
{
	bool changed = !l->preparing_known || begins != l->preparing;
	bool named = begins && *action && !*l->action;

	if (!changed && !named)
		return;
	l->preparing_known = true;
	l->preparing = begins;
	set_action(l, begins ? action : "");
	if (!begins) {
		l->sink.cancelled(l->sink.userdata);
		return;
	}
	l->sink.announced(l->sink.userdata, l->limit_ns, l->action);
	if (changed)
		logind_ask(l, LOGIND_LIMIT);
}

void logind_call_failed(struct logind *l, enum logind_call call, const char *error,
			const char *text)
{
	bool listing = l->listing;

	logind_set_text(l, "", text);
	switch (call) {
	case LOGIND_OWNER:
		logind_lose_bus(l, text);
		break;
	case LOGIND_SELF:
		break;
	case LOGIND_INHIBIT:
		l->sink.refused(l->sink.userdata, error, text);
		break;
	case LOGIND_HOLDERS:
		l->listing = false;
		l->calls[call].due = l->verify;
		logind_back_off(l);
		if (listing)
			l->sink.holders(l->sink.userdata, NULL, 0, true);
		break;
	case LOGIND_RELOAD:
		l->sink.reloaded(l->sink.userdata, error);
		break;
	default:
		l->calls[call].due = true;
		logind_back_off(l);
	}
}

/* Whether logind can be asked; if it cannot, that is the answer. */
static bool is_there(struct logind *l, enum logind_call call)
{
	if (l->bus && l->owner)
		return true;
	logind_call_failed(l, call, SD_BUS_ERROR_SERVICE_UNKNOWN, "logind is away");
	return false;
}

void logind_take(struct logind *l)
{
	if (is_there(l, LOGIND_INHIBIT))
		logind_ask(l, LOGIND_INHIBIT);
	logind_arm(l);
}

void logind_drop(struct logind *l)
{
	logind_call_off(l, LOGIND_INHIBIT);
	let_go(l);
	l->verify = false;
	logind_arm(l);
}

void logind_ask_limit(struct logind *l)
{
	logind_ask(l, LOGIND_LIMIT);
	logind_arm(l);
}

void logind_list_holders(struct logind *l)
{
	l->listing = true;
	if (is_there(l, LOGIND_HOLDERS))
		logind_ask(l, LOGIND_HOLDERS);
	logind_arm(l);
}

void logind_reload(struct logind *l)
{
	if (is_there(l, LOGIND_RELOAD))
		logind_ask(l, LOGIND_RELOAD);
	logind_arm(l);
}

void logind_get_state(const struct logind *l, struct logind_state *ret)
{
	*ret = (struct logind_state){
		.held = l->lock >= 0,
		.preparing = l->preparing,
		.limit_ns = l->limit_ns,
		.retry_ns = l->retry_ns,
		.counts = l->counts,
	};
	if (l->bus && l->owner_known)
		ret->status = !l->owner ? LOGIND_ABSENT : l->slow ? LOGIND_SLOW : LOGIND_UP;
	else if (l->off)
		ret->status = LOGIND_OFF;
	else
		ret->status = l->failed_ns ? LOGIND_DOWN : LOGIND_STARTING;
	memcpy(ret->action, l->action, sizeof(ret->action));
	memcpy(ret->text, l->text, sizeof(ret->text));
	snprintf(ret->where, sizeof(ret->where), "%s", l->address);
}

const char *logind_status_name(enum logind_status status)
{
	static const char *const names[] = {
		[LOGIND_STARTING] = "starting", [LOGIND_UP] = "up",	[LOGIND_SLOW] = "slow",
		[LOGIND_ABSENT] = "absent",	[LOGIND_DOWN] = "down", [LOGIND_OFF] = "off",
	};

	return (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status] : NULL;
}

static int set_up(struct logind *l, const struct logind_options *options)
{
	const char *path =
		options->bus_address ? busconn_path(options->bus_address) : BUSCONN_SYSTEM_BUS;

	if (!path)
		return -EINVAL;
	l->address = strdup(path);
	return l->address ? logind_add_timer(l) : -ENOMEM;
}

int logind_new(sd_event *event, const struct logind_options *options,
	       const struct logind_sink *sink, struct logind **ret)
{
	_cleanup_(cleanup_close) int lock = options->lock;
	struct logind *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->event = sd_event_ref(event);
	l->sink = *sink;
	l->timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	l->who = options->who;
	l->why = options->why;
	l->store = options->store;
	l->lock = TAKE_FD(lock);
	l->lock_pid = options->lock_pid;
	l->own_pid = (uint32_t)getpid();
	r = set_up(l, options);
	if (r < 0) {
		logind_free(l);
		return r;
	}
	logind_connect(l);
	*ret = l;
	return 0;
}

struct logind *logind_free(struct logind *l)
{
	if (!l)
		return NULL;
	logind_disconnect(l);
	if (l->lock >= 0)
		close(l->lock);
	sd_event_source_disable_unref(l->timer);
	sd_event_unref(l->event);
	free(l->address);
	free(l);
	return NULL;
}
