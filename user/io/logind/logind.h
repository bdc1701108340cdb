/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemd-logind over D-Bus (org.freedesktop.login1(5)): the delay lock on shutdown, the
 * announcement of one, how long logind waits for locks and who holds them. The facts are in
 * docs/kubelet-rules.md, "Delay limit", "Inhibitor lock" and "Shutdown announcement".
 *
 * It decides nothing: it takes and releases the lock when called for that. What it does by
 * itself is to keep a connection, to separate logind's signals from the same ones of other senders,
 * and to bound each call in time. Nothing here waits.
 */
#ifndef IO_LOGIND_LOGIND_H
#define IO_LOGIND_LOGIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* More are counted, not listed. */
#define LOGIND_HOLDERS_MAX 64
#define LOGIND_ACTION_MAX  32 /* with its NUL */

enum logind_status {
	LOGIND_STARTING, /* no answer yet */
	LOGIND_UP,
	LOGIND_SLOW,   /* it owes an answer; it is asked again */
	LOGIND_ABSENT, /* there is a bus, and no logind on it */
	LOGIND_DOWN,   /* there is no connection to the bus; it is tried again */
	LOGIND_OFF,    /* there is no bus; likewise */
};

/* A delay lock on shutdown. Strings are bytes as their holder chose them. */
struct logind_holder {
	const char *who, *why;
	uint32_t uid, pid;
	/* This handle's: its name, this process's user, and the process that took it is this one or
	 * the one that handed its lock over. */
	bool own;
};

/* The strings and lists are valid during the call. None of these may free the handle; all else may
 * be called. */
struct logind_sink {
	void *userdata;
	/* logind can be asked, and what it signals from now on is heard. A lock that is taken from
	 * within this call is asked for before it is asked whether it prepares for a shutdown. */
	void (*up)(void *userdata);
	/* A lock that is held stays held. */
	void (*down)(void *userdata);
	void (*taken)(void *userdata);
	/* The answer to logind_take(), whatever the reason: error is D-Bus's name of it. One that
	 * was held before is still held. */
	void (*refused)(void *userdata, const char *error, const char *text);
	/* Back after a while, logind knows nothing of the lock: it is released. */
	void (*lost)(void *userdata);
	/* A shutdown begins. Called again when the limit was read anew, which follows by itself,
	 * once: one that changes later is for the next shutdown (delay_shutdown_or_sleep() of
	 * src/login/logind-dbus.c has set the timer). limit_ns is NULL while none is known, or a
	 * limit of 0 is from before; action is "power-off", "reboot", …; "": unknown. */
	void (*announced)(void *userdata, const uint64_t *limit_ns, const char *action);
	/* It does not, or logind says for the first time that there is none. */
	void (*cancelled)(void *userdata);
	/* InhibitDelayMaxUSec; UINT64_MAX: for ever, 0: logind does not wait. */
	void (*limit)(void *userdata, uint64_t limit_ns);
	/* n is how many there are, of which at most LOGIND_HOLDERS_MAX are listed: its own, then
	 * root's, then others.
	 * failed: logind did not answer. */
	void (*holders)(void *userdata, const struct logind_holder *list, size_t n, bool failed);
	/* The answer to logind_reload(): error is NULL when systemd sent the signal. */
	void (*reloaded)(void *userdata, const char *error);
};

struct logind_options {
	const char *bus_address; /* "unix:path=/…" or a path; NULL: the system bus */
	uint64_t timeout_ns;	 /* for an answer; 0: 5 s */
	const char *who, *why;	 /* of the lock; borrowed for as long as the handle lives */
	/* The lock's name in systemd's store of descriptors (io/logind/fd_store.h), borrowed
	 * likewise; NULL: it is not kept there. */
	const char *store;
	/* A lock that was taken back from there, -1 for none. It becomes the handle's, also when
	 * logind_new() fails; it counts as held, and taken() is not called for it. */
	int lock;
	/* The process that took that lock, as logind lists it; 0: not known, and so a lock of that
	 * name and user counts as it. */
	uint32_t lock_pid;
};

/* All since logind_new(). */
struct logind_counts {
	uint64_t connections; /* attempts */
	uint64_t inhibits;    /* times the lock was asked for */
	uint64_t signals;     /* announcements and cancellations from logind */
	uint64_t foreign;     /* the like from others: left alone */
	uint64_t malformed;   /* bodies that make no sense: left alone */
	uint64_t timeouts;    /* answers that did not come */
};

struct logind_state {
	enum logind_status status;
	bool held;
	bool preparing;
	char action[LOGIND_ACTION_MAX];
	bool limit_known;
	uint64_t limit_ns;
	uint64_t retry_ns; /* when it tries again; 0: nothing is planned */
	char where[108];   /* the bus's socket */
	char text[160];	   /* the last thing that went wrong, "" for nothing yet; ASCII */
	struct logind_counts counts;
};

struct logind;

/*
 * Begins to connect; a bus that is not there or goes is tried again after 100 ms, later after up to
 * 30 s. -EINVAL for an address that is not one of these, -ENOMEM, -errno. sink is copied, what it
 * points to is borrowed, like event.
 */
int logind_new(sd_event *event, const struct logind_options *options,
	       const struct logind_sink *sink, struct logind **ret);
/* The lock is closed; systemd's copy, if any, stays for the next process of the unit. */
struct logind *logind_free(struct logind *l);

/*
 * Asks for the lock: taken() or refused() is called, exactly once, possibly before this returns, and
 * only the latter while logind is away. The new one is taken before one that is held is released.
 */
void logind_take(struct logind *l);
/* Releases the lock: out of systemd's store, then closed. No-op without one. A logind_take()
 * under way is called off, and neither of both is called. */
void logind_drop(struct logind *l);
/* Asks for InhibitDelayMaxUSec, never out of a cache; limit() is called, later for a logind that is
 * away. */
void logind_query_limit(struct logind *l);
/* Asks who holds delay locks; holders() is called, possibly before this returns. */
void logind_list_holders(struct logind *l);
/* Makes systemd send SIGHUP to logind, which then reads its configuration anew; reloaded() is
 * called, possibly before this returns. */
void logind_reload(struct logind *l);

void logind_get_state(const struct logind *l, struct logind_state *ret);

#endif
