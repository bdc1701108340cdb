// SPDX-License-Identifier: Apache-2.0
/* What logind is asked and what it signals, on a connection that stands. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "io/logind/priv.h"
#include "io/proc/clock.h"

#define BUS_NAME    "org.freedesktop.DBus"
#define BUS_OBJECT  "/org/freedesktop/DBus"
#define NAME	    "org.freedesktop.login1"
#define OBJECT	    "/org/freedesktop/login1"
#define MANAGER	    NAME ".Manager"
#define PROPERTIES  "org.freedesktop.DBus.Properties"
#define INIT_NAME   "org.freedesktop.systemd1"
#define INIT_OBJECT "/org/freedesktop/systemd1"
#define BUS_TIMEOUT UINT64_MAX /* deadlines are kept in one place (logind_bus.c) */

static int add_owner(struct logind *l, sd_bus_message *m)
{
	(void)l;
	return sd_bus_message_append(m, "s", NAME);
}

/* logind, too, asks the bus who has sent a call. The number is another than getpid() has where this
 * process is in a pid namespace of its own. */
static int add_self(struct logind *l, sd_bus_message *m)
{
	const char *name;
	int r = sd_bus_get_unique_name(l->bus, &name);

	return r < 0 ? r : sd_bus_message_append(m, "s", name);
}

static int add_inhibit(struct logind *l, sd_bus_message *m)
{
	l->counts.inhibits++;
	return sd_bus_message_append(m, "ssss", "shutdown", l->who, l->why, "delay");
}

static int add_preparing(struct logind *l, sd_bus_message *m)
{
	(void)l;
	return sd_bus_message_append(m, "ss", MANAGER, "PreparingForShutdown");
}

static int add_limit(struct logind *l, sd_bus_message *m)
{
	(void)l;
	return sd_bus_message_append(m, "ss", MANAGER, "InhibitDelayMaxUSec");
}

static int add_nothing(struct logind *l, sd_bus_message *m)
{
	(void)l;
	(void)m;
	return 0;
}

static int add_reload(struct logind *l, sd_bus_message *m)
{
	(void)l;
	return sd_bus_message_append(m, "ssi", "systemd-logind.service", "main", SIGHUP);
}

/* Calls and signals of the one before must not be taken for those of the next one. */
static void forget_logind(struct logind *l)
{
	bool was_up = l->owner, owed[LOGIND_CALL_COUNT];

	for (size_t i = LOGIND_INHIBIT; i < LOGIND_RELOAD; i++) {
		owed[i] = l->calls[i].slot;
		l->calls[i].due = false;
		logind_call_off(l, i);
	}
	free(l->owner);
	l->owner = NULL;
	l->verify = l->slow = false;
	if (!was_up)
		return;
	logind_set_text(l, "", "logind has left the bus");
	if (owed[LOGIND_INHIBIT])
		logind_call_failed(l, LOGIND_INHIBIT, SD_BUS_ERROR_NO_REPLY, "logind went");
	if (owed[LOGIND_HOLDERS])
		logind_call_failed(l, LOGIND_HOLDERS, SD_BUS_ERROR_NO_REPLY, "logind went");
	l->sink.down(l->sink.userdata);
}

static int ask(struct logind *l, enum logind_call call);

static void meet_logind(struct logind *l, const char *owner)
{
	int r;

	if (l->owner && strcmp(l->owner, owner) == 0)
		return;
	forget_logind(l);
	if (!l->bus)
		return;
	/* The bus answers this before it hands logind anything that is asked from here on. */
	r = ask(l, LOGIND_SELF);
	l->owner_known = true;
	l->owner = r < 0 ? NULL : strdup(owner);
	if (!l->owner) {
		logind_lose_bus(l, strerror(r < 0 ? -r : ENOMEM));
		return;
	}
	l->verify = l->lock >= 0;
	l->sink.up(l->sink.userdata);
	logind_ask(l, LOGIND_PREPARING);
	logind_ask(l, LOGIND_LIMIT);
	if (l->verify)
		logind_ask(l, LOGIND_HOLDERS);
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
	logind_lock_set(l, fd);
	return 0;
}

static int on_preparing(struct logind *l, sd_bus_message *m)
{
	bool preparing;
	int r = logind_read_preparing(m, &preparing);

	if (r == 0)
		logind_announce(l, preparing, "");
	return r;
}

static int on_limit(struct logind *l, sd_bus_message *m)
{
	int r = logind_read_limit(m, &l->limit_ns);

	if (r < 0)
		return r;
	l->sink.limit(l->sink.userdata, l->limit_ns);
	if (l->preparing)
		l->sink.announced(l->sink.userdata, l->limit_ns, l->action);
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
		logind_lock_lose(l);
}

static int on_holders(struct logind *l, sd_bus_message *m)
{
	struct logind_holder list[LOGIND_HOLDERS_MAX];
	size_t n;
	int r = logind_read_holders(m, l, list, &n);

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
	(void)m;
	l->sink.reloaded(l->sink.userdata, NULL);
	return 0;
}

static const struct {
	const char *name, *object, *interface, *member;
	int (*add)(struct logind *l, sd_bus_message *m);
	int (*answer)(struct logind *l, sd_bus_message *m);
} calls[LOGIND_CALL_COUNT] = {
	[LOGIND_OWNER] = {BUS_NAME, BUS_OBJECT, BUS_NAME, "GetNameOwner", add_owner,
			  on_owner_known},
	[LOGIND_SELF] = {BUS_NAME, BUS_OBJECT, BUS_NAME, "GetConnectionUnixProcessID", add_self,
			 on_self},
	[LOGIND_INHIBIT] = {NAME, OBJECT, MANAGER, "Inhibit", add_inhibit, on_lock},
	[LOGIND_PREPARING] = {NAME, OBJECT, PROPERTIES, "Get", add_preparing, on_preparing},
	[LOGIND_LIMIT] = {NAME, OBJECT, PROPERTIES, "Get", add_limit, on_limit},
	[LOGIND_HOLDERS] = {NAME, OBJECT, MANAGER, "ListInhibitors", add_nothing, on_holders},
	[LOGIND_RELOAD] = {INIT_NAME, INIT_OBJECT, INIT_NAME ".Manager", "KillUnit", add_reload,
			   on_reloaded},
};

void logind_call_off(struct logind *l, enum logind_call call)
{
	l->calls[call].slot = sd_bus_slot_unref(l->calls[call].slot);
	l->calls[call].again = false;
}

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
		logind_set_text(l, "", "logind is not on the bus");
		return;
	}
	logind_call_failed(l, call, error->name, error->message ? error->message : error->name);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct logind *l = userdata;
	enum logind_call call = call_of(l, sd_bus_get_current_slot(l->bus));
	bool again;

	(void)ret_error;
	if (call == LOGIND_CALL_COUNT)
		return 0;
	again = l->calls[call].again;
	logind_call_off(l, call);
	if (sd_bus_message_get_error(m)) {
		fail(l, call, sd_bus_message_get_error(m));
	} else if (calls[call].answer(l, m) < 0) {
		l->counts.malformed++;
		logind_call_failed(l, call, SD_BUS_ERROR_INVALID_SIGNATURE,
				   "its answer makes no sense");
	} else {
		l->slow = false;
	}
	if (again)
		logind_ask(l, call);
	logind_arm(l);
	return 0;
}

static int send(struct logind *l, enum logind_call call)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(l->bus, &m, calls[call].name, calls[call].object,
					       calls[call].interface, calls[call].member);

	/* A logind that an administrator stopped is not started again. */
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = calls[call].add(l, m);
	if (r >= 0)
		r = sd_bus_call_async(l->bus, &l->calls[call].slot, m, on_reply, l, BUS_TIMEOUT);
	return r < 0 ? r : 0;
}

static int ask(struct logind *l, enum logind_call call)
{
	struct logind_pending *p = l->calls + call;

	p->due = false;
	/* Another lock would be one too many. */
	p->again = p->slot && call != LOGIND_INHIBIT;
	if (p->slot)
		return 0;
	p->asked_ns = clock_boot_ns();
	return send(l, call);
}

void logind_ask(struct logind *l, enum logind_call call)
{
	int r = l->bus && l->owner ? ask(l, call) : 0;

	if (r < 0)
		logind_lose_bus(l, strerror(-r));
}

/* The bus keeps broadcasts of others away; what is sent to this connection alone it does not. */
static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct logind *l = userdata;
	const char *sender = sd_bus_message_get_sender(m), *action;
	bool begins;

	(void)ret_error;
	if (!l->owner || !sender || strcmp(sender, l->owner) != 0) {
		l->counts.foreign++;
	} else if (logind_read_signal(m, &begins, &action) < 0) {
		l->counts.malformed++;
	} else {
		l->counts.signals++;
		logind_announce(l, begins, action);
		logind_arm(l);
	}
	return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct logind *l = userdata;
	const char *sender = sd_bus_message_get_sender(m), *name, *old, *owner;

	(void)ret_error;
	if (!sender || strcmp(sender, BUS_NAME) != 0 ||
	    sd_bus_message_read(m, "sss", &name, &old, &owner) <= 0 || strcmp(name, NAME) != 0)
		return 0;
	l->owner_known = true;
	if (*owner)
		meet_logind(l, owner);
	else
		forget_logind(l);
	logind_arm(l);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	(void)m;
	(void)ret_error;
	logind_lose_bus(userdata, "the bus has closed the connection");
	return 0;
}

int logind_greet(struct logind *l)
{
	static const struct {
		const char *rule;
		sd_bus_message_handler_t handler;
	} matches[] = {
		{"type='signal',path='/org/freedesktop/DBus/Local',"
		 "interface='org.freedesktop.DBus.Local',member='Disconnected'",
		 on_disconnected},
		{"type='signal',sender='" BUS_NAME "',path='" BUS_OBJECT "',interface='" BUS_NAME
		 "',member='NameOwnerChanged',arg0='" NAME "'",
		 on_owner},
		{"type='signal',sender='" NAME "',path='" OBJECT "',interface='" MANAGER
		 "',member='PrepareForShutdown'",
		 on_signal},
		{"type='signal',sender='" NAME "',path='" OBJECT "',interface='" MANAGER
		 "',member='PrepareForShutdownWithMetadata'",
		 on_signal},
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(matches) / sizeof(matches[0]); i++)
		r = sd_bus_add_match_async(l->bus, NULL, matches[i].rule, matches[i].handler, NULL,
					   l);
	return r < 0 ? r : ask(l, LOGIND_OWNER);
}
