// SPDX-License-Identifier: Apache-2.0
/* Keeps a connection, queries and listens on it, and holds the lock. */
#include "io/logind/logind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "io/bus/connection.h"
#include "io/files/fd.h"
#include "io/logind/fd_store.h"
#include "io/logind/read.h"
#include "io/proc/clock.h"

#define TIMEOUT_NS 5000000000ull

#define BUS_NAME    "org.freedesktop.DBus"
#define BUS_OBJECT  "/org/freedesktop/DBus"
#define NAME	    "org.freedesktop.login1"
#define OBJECT	    "/org/freedesktop/login1"
#define MANAGER	    NAME ".Manager"
#define PROPERTIES  "org.freedesktop.DBus.Properties"
#define INIT_NAME   "org.freedesktop.systemd1"
#define INIT_OBJECT "/org/freedesktop/systemd1"

enum logind_call {
	LOGIND_OWNER,
	LOGIND_SELF,
	LOGIND_INHIBIT,
	LOGIND_PREPARING,
	LOGIND_LIMIT,
	LOGIND_HOLDERS,
	LOGIND_RELOAD,
	LOGIND_CALL_COUNT,
};

struct logind_pending {
	sd_bus_slot *slot; /* while an answer is owed */
	uint64_t asked_ns; /* when it was asked */
	bool again;	   /* the answer under way may be old: query again after it */
	bool due;	   /* to be asked again at retry_ns */
};

struct logind {
	struct logind_sink sink;
	uint64_t timeout_ns;
	const char *who, *why, *store;

	int lock;	   /* -1: none */
	uint32_t lock_pid; /* that took it, or the last one; 0: not known */
	uint32_t own_pid;  /* as the bus and logind see this process */
	bool preparing, preparing_known;
	char action[LOGIND_ACTION_MAX];
	bool limit_known, limit_fixed; /* fixed: it was read since the shutdown was announced */
	uint64_t limit_ns;

	struct busconn conn; /* its retry_ns is that of calls, too */
	char *owner;	     /* logind's name on the bus; NULL: it is not there */
	bool owner_known;
	bool slow;
	bool verify;  /* the next list of holders decides whether the lock is still one */
	bool listing; /* a caller waits for that list */
	struct logind_pending calls[LOGIND_CALL_COUNT];
	uint64_t failed_ns;
	struct logind_counts counts;
};

static void set_text(struct logind *l, const char *text)
{
	busconn_set_text(&l->conn, "", text);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Sets the timer for what comes next. */
static void arm(struct logind *l)
{
	uint64_t at_ns = l->conn.retry_ns;

	for (size_t i = 0; i < LOGIND_CALL_COUNT; i++)
		if (l->calls[i].slot)
			at_ns = earlier(at_ns, l->calls[i].asked_ns + l->timeout_ns);
	busconn_wake(&l->conn, at_ns);
}

/* After a long time without a failure the waits begin anew. Calls that fail count on a connection
 * of any age, too, so that its age does not matter. */
static void count_failure(struct logind *l, uint64_t now_ns)
{
	if (now_ns - l->failed_ns > 2 * BUSCONN_WAIT_MAX_NS)
		l->conn.failures = 0;
	l->failed_ns = now_ns;
}

/* Tries later what is due. */
static void back_off(struct logind *l)
{
	uint64_t now_ns = clock_boot_ns();

	if (l->conn.retry_ns)
		return;
	count_failure(l, now_ns);
	busconn_back_off(&l->conn, now_ns);
}

/* Gives up the connection, sets the text, and tries again later. */
static void lose_bus(struct logind *l, const char *why);

/* What is under way is not waited for any more. */
static void call_off(struct logind *l, enum logind_call call)
{
	l->calls[call].slot = sd_bus_slot_unref(l->calls[call].slot);
	l->calls[call].again = false;
}

/* The call found its end without an answer. */
static void call_failed(struct logind *l, enum logind_call call, const char *error,
			const char *text)
{
	bool listing = l->listing;

	set_text(l, text);
	switch (call) {
	case LOGIND_OWNER:
		lose_bus(l, text);
		break;
	case LOGIND_SELF:
		break;
	case LOGIND_INHIBIT:
		l->sink.refused(l->sink.userdata, error, text);
		break;
	case LOGIND_HOLDERS:
		l->listing = false;
		l->calls[call].due = l->verify;
		back_off(l);
		if (listing)
			l->sink.holders(l->sink.userdata, NULL, 0, true);
		break;
	case LOGIND_RELOAD:
		l->sink.reloaded(l->sink.userdata, error);
		break;
	default:
		l->calls[call].due = true;
		back_off(l);
	}
}

/* Forgets what belongs to the connection; the caller closes it. Nothing is reported. */
static void forget_bus(struct logind *l)
{
	for (size_t i = 0; i < LOGIND_CALL_COUNT; i++) {
		call_off(l, i);
		l->calls[i].due = false;
	}
	free(l->owner);
	l->owner = NULL;
	l->owner_known = l->slow = l->verify = false;
}

static void lose_bus(struct logind *l, const char *why)
{
	static const enum logind_call answered[] = {LOGIND_INHIBIT, LOGIND_HOLDERS, LOGIND_RELOAD};
	bool owed[LOGIND_CALL_COUNT], was_up = l->owner;
	char text[BUSCONN_TEXT_MAX];
	uint64_t now_ns = clock_boot_ns();

	for (size_t i = 0; i < LOGIND_CALL_COUNT; i++)
		owed[i] = l->calls[i].slot;
	/* It may belong to the connection. */
	set_text(l, why);
	memcpy(text, l->conn.text, sizeof(text));
	forget_bus(l);
	count_failure(l, now_ns);
	busconn_lose(&l->conn, now_ns);
	arm(l);
	for (size_t i = 0; i < sizeof(answered) / sizeof(answered[0]); i++)
		if (owed[answered[i]])
			call_failed(l, answered[i], SD_BUS_ERROR_DISCONNECTED, text);
	if (was_up)
		l->sink.down(l->sink.userdata);
}

/* --- the lock and the shutdown ------------------------------------------------------------------ */

/* The number is forgotten with the lock: it may be another file's the next moment. */
static void release_lock(struct logind *l)
{
	if (l->lock < 0)
		return;
	if (l->store)
		fdstore_remove(l->store, l->lock_pid);
	close(TAKE_FD(l->lock));
}

/* Takes over fd as the lock, in place of the one before. */
static void set_lock(struct logind *l, int fd)
{
	release_lock(l);
	l->lock = fd;
	l->lock_pid = l->own_pid;
	l->verify = false;
	if (l->store && fdstore_put(l->store, l->lock_pid, fd) < 0)
		set_text(l, "systemd does not keep the lock over a restart");
	l->sink.taken(l->sink.userdata);
}

/* Anybody may take a lock of any name. The earlier process's counts also after it was released,
 * until logind has noticed. */
static bool is_own(const void *userdata, const struct logind_holder *holder)
{
	const struct logind *l = userdata;

	if (holder->uid != geteuid() || strcmp(holder->who, l->who) != 0)
		return false;
	return holder->pid == l->own_pid || holder->pid == l->lock_pid ||
	       (l->lock >= 0 && !l->lock_pid);
}

/* The lock is no longer one. */
static void lose_lock(struct logind *l)
{
	release_lock(l);
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

static int query(struct logind *l, enum logind_call call);

/* Asks, unless it is asked already. */
static void query_logind(struct logind *l, enum logind_call call)
{
	int r = l->conn.bus && l->owner ? query(l, call) : 0;

	if (r < 0)
		lose_bus(l, strerror(-r));
}

/* A limit of 0 releases the lock: one that was read before may have been raised since. */
static void report_announced(struct logind *l)
{
	bool known = l->limit_known && (l->limit_ns || l->limit_fixed);

	l->sink.announced(l->sink.userdata, known ? &l->limit_ns : NULL, l->action);
}

/* A shutdown begins or does not. action: "" for not known. */
static void announce(struct logind *l, bool begins, const char *action)
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
	l->limit_fixed &= !changed;
	report_announced(l);
	if (!changed)
		return;
	/* An answer that is under way may be older. */
	call_off(l, LOGIND_LIMIT);
	query_logind(l, LOGIND_LIMIT);
}

/* --- calls and signals -------------------------------------------------------------------------- */

/* logind, too, queries the bus who has sent a call. The number is another than getpid() has where
 * this process is in a pid namespace of its own. */
static int add_self(struct logind *l, sd_bus_message *m)
{
	const char *name;
	int r = sd_bus_get_unique_name(l->conn.bus, &name);

	return r < 0 ? r : sd_bus_message_append(m, "s", name);
}

static int add_inhibit(struct logind *l, sd_bus_message *m)
{
	l->counts.inhibits++;
	return sd_bus_message_append(m, "ssss", "shutdown", l->who, l->why, "delay");
}

static int add_reload(struct logind *l, sd_bus_message *m)
{
	return sd_bus_message_append(m, "ssi", "systemd-logind.service", "main", SIGHUP);
}

/* Calls and signals of the one before must not be taken for those of the next one. */
static void forget_logind(struct logind *l)
{
	bool was_up = l->owner, owed[LOGIND_CALL_COUNT];

	for (size_t i = LOGIND_INHIBIT; i < LOGIND_RELOAD; i++) {
		owed[i] = l->calls[i].slot;
		l->calls[i].due = false;
		call_off(l, i);
	}
	free(l->owner);
	l->owner = NULL;
	l->verify = l->slow = false;
	if (!was_up)
		return;
	set_text(l, "logind has left the bus");
	if (owed[LOGIND_INHIBIT])
		call_failed(l, LOGIND_INHIBIT, SD_BUS_ERROR_NO_REPLY, "logind went");
	if (owed[LOGIND_HOLDERS])
		call_failed(l, LOGIND_HOLDERS, SD_BUS_ERROR_NO_REPLY, "logind went");
	l->sink.down(l->sink.userdata);
}

static void meet_logind(struct logind *l, const char *owner)
{
	int r;

	if (l->owner && strcmp(l->owner, owner) == 0)
		return;
	forget_logind(l);
	if (!l->conn.bus)
		return;
	/* The bus answers this before it hands logind anything that is asked from here on. */
	r = query(l, LOGIND_SELF);
	l->owner_known = true;
	l->owner = r < 0 ? NULL : strdup(owner);
	if (!l->owner) {
		lose_bus(l, strerror(r < 0 ? -r : ENOMEM));
		return;
	}
	l->verify = l->lock >= 0;
	l->sink.up(l->sink.userdata);
	query_logind(l, LOGIND_PREPARING);
	query_logind(l, LOGIND_LIMIT);
	if (l->verify)
		query_logind(l, LOGIND_HOLDERS);
}

static int on_owner_known(struct logind *l, sd_bus_message *m)
{
	const char *owner;

	if (sd_bus_message_read(m, "s", &owner) <= 0)
		return -EBADMSG;
	meet_logind(l, owner);
	return 0;
}

static int on_self(struct logind *l, sd_bus_message *m)
{
	return sd_bus_message_read(m, "u", &l->own_pid) > 0 ? 0 : -EBADMSG;
}

static int on_lock(struct logind *l, sd_bus_message *m)
{
	int fd, r = logind_read_lock(m, &fd);

	if (r < 0)
		return r;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	set_lock(l, fd);
	return 0;
}

static int on_preparing(struct logind *l, sd_bus_message *m)
{
	bool preparing;
	int r = logind_read_preparing(m, &preparing);

	if (r == 0)
		announce(l, preparing, "");
	return r;
}

static int on_limit(struct logind *l, sd_bus_message *m)
{
	int r = logind_read_limit(m, &l->limit_ns);

	if (r < 0)
		return r;
	l->limit_known = true;
	l->sink.limit(l->sink.userdata, l->limit_ns);
	if (!l->preparing || l->limit_fixed)
		return 0;
	l->limit_fixed = true;
	report_announced(l);
	return 0;
}

/* logind holds the other end for as long as it knows the lock. */
static bool is_cut_off(int fd)
{
	struct pollfd poll_fd = {.fd = fd};

	return poll(&poll_fd, 1, 0) > 0;
}

static void verify(struct logind *l, const struct logind_holder *list, size_t n)
{
	bool listed = false;

	l->verify = false;
	for (size_t i = 0; i < n && i < LOGIND_HOLDERS_MAX; i++)
		listed |= list[i].own;
	if (l->lock >= 0 && (!listed || is_cut_off(l->lock)))
		lose_lock(l);
}

static int on_holders(struct logind *l, sd_bus_message *m)
{
	struct logind_holder list[LOGIND_HOLDERS_MAX];
	size_t n;
	int r = logind_read_holders(m, is_own, l, list, &n);

	if (r < 0)
		return r;
	if (l->verify)
		verify(l, list, n);
	if (!l->listing)
		return 0;
	l->listing = false;
	l->sink.holders(l->sink.userdata, list, n, false);
	return 0;
}

static int on_reloaded(struct logind *l, sd_bus_message *m)
{
	l->sink.reloaded(l->sink.userdata, NULL);
	return 0;
}

static const struct {
	struct busconn_method method;
	/* Appends arguments that are known only now. */
	int (*add)(struct logind *l, sd_bus_message *m);
	int (*answer)(struct logind *l, sd_bus_message *m);
} calls[LOGIND_CALL_COUNT] = {
	[LOGIND_OWNER] = {{BUS_NAME, BUS_OBJECT, BUS_NAME, "GetNameOwner", {NAME}},
			  .answer = on_owner_known},
	[LOGIND_SELF] = {{BUS_NAME, BUS_OBJECT, BUS_NAME, "GetConnectionUnixProcessID", {}},
			 .add = add_self,
			 .answer = on_self},
	[LOGIND_INHIBIT] = {{NAME, OBJECT, MANAGER, "Inhibit", {}},
			    .add = add_inhibit,
			    .answer = on_lock},
	[LOGIND_PREPARING] = {{NAME, OBJECT, PROPERTIES, "Get", {MANAGER, "PreparingForShutdown"}},
			      .answer = on_preparing},
	[LOGIND_LIMIT] = {{NAME, OBJECT, PROPERTIES, "Get", {MANAGER, "InhibitDelayMaxUSec"}},
			  .answer = on_limit},
	[LOGIND_HOLDERS] = {{NAME, OBJECT, MANAGER, "ListInhibitors", {}}, .answer = on_holders},
	[LOGIND_RELOAD] = {{INIT_NAME, INIT_OBJECT, INIT_NAME ".Manager", "KillUnit", {}},
			   .add = add_reload,
			   .answer = on_reloaded},
};

static enum logind_call call_of(const struct logind *l, const sd_bus_slot *slot)
{
	enum logind_call call = 0;

	while (call < LOGIND_CALL_COUNT && l->calls[call].slot != slot)
		call++;
	return call;
}

static void fail(struct logind *l, enum logind_call call, const sd_bus_error *error)
{
	if (call == LOGIND_OWNER && sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
		l->owner_known = true;
		set_text(l, "logind is not on the bus");
		return;
	}
	call_failed(l, call, error->name, error->message ? error->message : error->name);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct logind *l = userdata;
	enum logind_call call = call_of(l, sd_bus_get_current_slot(l->conn.bus));
	bool again;

	if (call == LOGIND_CALL_COUNT)
		return 0;
	again = l->calls[call].again;
	call_off(l, call);
	if (sd_bus_message_get_error(m)) {
		fail(l, call, sd_bus_message_get_error(m));
	} else if (calls[call].answer(l, m) < 0) {
		l->counts.malformed++;
		call_failed(l, call, SD_BUS_ERROR_INVALID_SIGNATURE, "its answer makes no sense");
	} else {
		l->slow = false;
	}
	if (again)
		query_logind(l, call);
	arm(l);
	return 0;
}

static int send_call(struct logind *l, enum logind_call call)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = busconn_new_call(&l->conn, &calls[call].method, &m);

	if (r >= 0 && calls[call].add)
		r = calls[call].add(l, m);
	return r < 0 ? r : busconn_send(&l->conn, m, &l->calls[call].slot, on_reply, l);
}

static int query(struct logind *l, enum logind_call call)
{
	struct logind_pending *p = l->calls + call;

	p->due = false;
	/* Another lock would be one too many. */
	p->again = p->slot && call != LOGIND_INHIBIT;
	if (p->slot)
		return 0;
	p->asked_ns = clock_boot_ns();
	return send_call(l, call);
}

/* The bus keeps broadcasts of others away; what is sent to this connection alone it does not. */
static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct logind *l = userdata;
	const char *sender = sd_bus_message_get_sender(m), *action;
	bool begins;

	if (!l->owner || !sender || strcmp(sender, l->owner) != 0) {
		l->counts.foreign++;
	} else if (logind_read_signal(m, &begins, &action) < 0) {
		l->counts.malformed++;
	} else {
		l->counts.signals++;
		announce(l, begins, action);
		arm(l);
	}
	return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct logind *l = userdata;
	const char *sender = sd_bus_message_get_sender(m), *name, *old, *owner;

	if (!sender || strcmp(sender, BUS_NAME) != 0 ||
	    sd_bus_message_read(m, "sss", &name, &old, &owner) <= 0 || strcmp(name, NAME) != 0)
		return 0;
	l->owner_known = true;
	if (*owner)
		meet_logind(l, owner);
	else
		forget_logind(l);
	arm(l);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	lose_bus(userdata, "the bus has closed the connection");
	return 0;
}

/* Listens to the signals and queries who logind is. -errno. */
static int greet(struct logind *l)
{
	static const struct busconn_match matches[] = {
		{BUSCONN_DISCONNECTED, on_disconnected, false},
		{"type='signal',sender='" BUS_NAME "',path='" BUS_OBJECT "',interface='" BUS_NAME
		 "',member='NameOwnerChanged',arg0='" NAME "'",
		 on_owner, false},
		{"type='signal',sender='" NAME "',path='" OBJECT "',interface='" MANAGER
		 "',member='PrepareForShutdown'",
		 on_signal, false},
		{"type='signal',sender='" NAME "',path='" OBJECT "',interface='" MANAGER
		 "',member='PrepareForShutdownWithMetadata'",
		 on_signal, false},
	};
	int r = busconn_match(&l->conn, matches, sizeof(matches) / sizeof(matches[0]), l);

	return r < 0 ? r : query(l, LOGIND_OWNER);
}

/* --- the connection ----------------------------------------------------------------------------- */

static void connect_bus(struct logind *l)
{
	int r = busconn_connect(&l->conn, l->conn.address, true, clock_boot_ns());

	l->counts.connections++;
	if (r >= 0)
		r = greet(l);
	if (r < 0)
		lose_bus(l, r == -ENOENT  ? "there is no system bus"
			    : r == -EPERM ? "the system bus is not root's"
					  : strerror(-r));
	else
		arm(l);
}

static void end_patience(struct logind *l, uint64_t now_ns)
{
	for (size_t i = 0; l->conn.bus && i < LOGIND_CALL_COUNT; i++) {
		if (!l->calls[i].slot || now_ns - l->calls[i].asked_ns < l->timeout_ns)
			continue;
		l->counts.timeouts++;
		l->slow = i > LOGIND_SELF;
		/* Its answer, and the lock in it, are dropped when they come. */
		call_off(l, i);
		call_failed(l, i, SD_BUS_ERROR_NO_REPLY,
			    i <= LOGIND_SELF ? "the bus does not answer"
					     : "logind does not answer");
	}
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct logind *l = userdata;
	uint64_t now_ns = clock_boot_ns();
	bool due = l->conn.retry_ns && now_ns >= l->conn.retry_ns;

	if (due)
		l->conn.retry_ns = 0;
	if (due && !l->conn.bus)
		connect_bus(l);
	else
		end_patience(l, now_ns);
	for (size_t i = 0; due && i < LOGIND_CALL_COUNT; i++)
		if (l->calls[i].due)
			query_logind(l, i);
	arm(l);
	return 0;
}

/* Whether logind can be asked; if it cannot, that is the answer. */
static bool is_there(struct logind *l, enum logind_call call)
{
	if (l->conn.bus && l->owner)
		return true;
	call_failed(l, call, SD_BUS_ERROR_SERVICE_UNKNOWN, "logind is away");
	return false;
}

void logind_take(struct logind *l)
{
	if (is_there(l, LOGIND_INHIBIT))
		query_logind(l, LOGIND_INHIBIT);
	arm(l);
}

void logind_drop(struct logind *l)
{
	call_off(l, LOGIND_INHIBIT);
	release_lock(l);
	l->verify = false;
	arm(l);
}

void logind_query_limit(struct logind *l)
{
	query_logind(l, LOGIND_LIMIT);
	arm(l);
}

void logind_list_holders(struct logind *l)
{
	l->listing = true;
	if (is_there(l, LOGIND_HOLDERS))
		query_logind(l, LOGIND_HOLDERS);
	arm(l);
}

void logind_reload(struct logind *l)
{
	if (is_there(l, LOGIND_RELOAD))
		query_logind(l, LOGIND_RELOAD);
	arm(l);
}

void logind_get_state(const struct logind *l, struct logind_state *ret)
{
	*ret = (struct logind_state){
		.held = l->lock >= 0,
		.preparing = l->preparing,
		.limit_known = l->limit_known,
		.limit_ns = l->limit_ns,
		.retry_ns = l->conn.retry_ns,
		.counts = l->counts,
	};
	if (l->conn.bus && l->owner_known)
		ret->status = !l->owner ? LOGIND_ABSENT : l->slow ? LOGIND_SLOW : LOGIND_UP;
	else if (l->conn.off)
		ret->status = LOGIND_OFF;
	else
		ret->status = l->failed_ns ? LOGIND_DOWN : LOGIND_STARTING;
	memcpy(ret->action, l->action, sizeof(ret->action));
	memcpy(ret->text, l->conn.text, sizeof(ret->text));
	snprintf(ret->where, sizeof(ret->where), "%s", l->conn.address);
}

static int set_up(struct logind *l, sd_event *event, const struct logind_options *options)
{
	int r = busconn_set_address(&l->conn, options->bus_address ?: BUSCONN_SYSTEM_BUS);

	return r < 0 ? r : busconn_init(&l->conn, event, on_timer, l);
}

int logind_new(sd_event *event, const struct logind_options *options,
	       const struct logind_sink *sink, struct logind **ret)
{
	_cleanup_(cleanup_close) int lock = options->lock;
	struct logind *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->sink = *sink;
	l->timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	l->who = options->who;
	l->why = options->why;
	l->store = options->store;
	l->lock = TAKE_FD(lock);
	l->lock_pid = options->lock_pid;
	l->own_pid = (uint32_t)getpid();
	r = set_up(l, event, options);
	if (r < 0) {
		logind_free(l);
		return r;
	}
	connect_bus(l);
	*ret = l;
	return 0;
}

struct logind *logind_free(struct logind *l)
{
	if (!l)
		return NULL;
	forget_bus(l);
	busconn_done(&l->conn);
	if (l->lock >= 0)
		close(l->lock);
	free(l);
	return NULL;
}
