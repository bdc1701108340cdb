/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of io/logind share: the lock, the connection, the calls. */
#ifndef IO_LOGIND_PRIV_H
#define IO_LOGIND_PRIV_H

#include <systemd/sd-bus.h>

#include "io/bus/connection.h"
#include "io/logind/logind.h"

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
	bool again;	   /* the answer under way may be old: ask again after it */
	bool due;	   /* to be asked again at retry_ns */
};

struct logind {
	sd_event *event;
	sd_event_source *timer;
	struct logind_sink sink;
	char *address; /* the socket's path */
	uint64_t timeout_ns;
	const char *who, *why, *store;

	int lock;	   /* -1: none */
	uint32_t lock_pid; /* that took it, or the last one; 0: not known */
	uint32_t own_pid;  /* as the bus and logind see this process */
	bool preparing, preparing_known;
	char action[LOGIND_ACTION_MAX];
	uint64_t limit_ns;

	sd_bus *bus; /* NULL: not connected */
	char *owner; /* logind's name on the bus; NULL: it is not there */
	bool owner_known;
	bool off, slow;
	bool verify;  /* the next list of holders tells whether the lock is still one */
	bool listing; /* somebody waits for that list */
	struct logind_pending calls[LOGIND_CALL_COUNT];
	uint64_t began_ns;
	uint64_t failed_ns, delay_ns, retry_ns;
	struct logind_counts counts;
	char text[160];
};

/* The lock and what is told (logind.c). */

/* Takes over fd as the lock, in place of the one before. */
void logind_lock_set(struct logind *l, int fd);
/* The lock is no longer one. */
void logind_lock_lose(struct logind *l);
/* A shutdown begins or does not. action: "" for not told. */
void logind_announce(struct logind *l, bool begins, const char *action);
/* Whether a delay lock that logind lists is this handle's. */
bool logind_lock_is_own(const struct logind *l, const struct logind_holder *holder);
/* The call found its end without an answer. */
void logind_call_failed(struct logind *l, enum logind_call call, const char *error,
			const char *text);
void logind_set_text(struct logind *l, const char *prefix, const char *text);

/* The connection (logind_bus.c). */

int logind_add_timer(struct logind *l);
void logind_connect(struct logind *l);
/* Closes the connection; no further attempt is made, and nothing is told. */
void logind_disconnect(struct logind *l);
/* Gives up the connection, says why, and tries again later. */
void logind_lose_bus(struct logind *l, const char *why);
/* Tries later what is due. */
void logind_back_off(struct logind *l);
/* Sets the timer for what comes next. */
void logind_arm(struct logind *l);

/* Calls and signals (logind_calls.c). */

/* Listens to the signals and asks who logind is. -errno. */
int logind_greet(struct logind *l);
/* Asks, unless it is asked already. */
void logind_ask(struct logind *l, enum logind_call call);
/* What is under way is not waited for any more. */
void logind_call_off(struct logind *l, enum logind_call call);

/* Messages (logind_read.c): what is read belongs to the message. -EBADMSG. */

int logind_read_lock(sd_bus_message *m, int *ret);
int logind_read_signal(sd_bus_message *m, bool *ret_begins, const char **ret_action);
int logind_read_limit(sd_bus_message *m, uint64_t *ret_ns);
int logind_read_preparing(sd_bus_message *m, bool *ret);
/* *ret_n may be more than LOGIND_HOLDERS_MAX, the size of list. */
int logind_read_holders(sd_bus_message *m, const struct logind *l, struct logind_holder *list,
			size_t *ret_n);

#endif
