/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a daemon that runs on this host, in place of programs of one's own: its verdicts
 * have the evidence that it has gathered since it began.
 */
#ifndef APP_LIVE_RELAY_H
#define APP_LIVE_RELAY_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "app/config/options.h"
#include "core/stop/record.h"

struct relay;

/* A record and its line, with its newline. record is NULL where the line says how many records were
 * dropped. Both are valid during the call. */
typedef void (*relay_fn)(void *userdata, const struct record *record, const char *line, size_t len);

struct relay_config {
	const struct options *options; /* borrowed */
	bool signals;		       /* records of signals are wanted, too */
	relay_fn record;
	/* Answers relay_query_stopping(): each stop that is under way, then NULL. */
	engine_stop_fn stopping;
	/* The daemon has ended, or what it sends is not understood. Logged. */
	void (*ended)(void *userdata);
	void *userdata;
};

/* Adds what decides which stops are reported, and how; where it is equal, so are the stops. */
void relay_add_terms(struct buf *out, const struct options *options);

/* Whether the options go together: a daemon that is named can be followed. 0, or the exit status
 * after wrong use was logged. */
int relay_check(const struct options *options);

/*
 * 1: a daemon is followed; relay_begin() hands on what it has sent. 0: programs are to be attached,
 * as no daemon answers quickly on these terms and none was asked for by its socket. -errno, logged:
 * the one that was asked for cannot be followed.
 */
int relay_open(const struct relay_config *config, sd_event *event, struct relay **ret);
struct relay *relay_free(struct relay *relay);
void relay_begin(struct relay *relay);

/* paused: what the daemon sends is left unread, so that it drops what does not fit. -errno. */
int relay_pause(struct relay *relay, bool paused);

/* Calls fn for each container that runs, and once for all whose names a source is queried for.
 * Where the daemon does not answer quickly, all of them are as those. */
void relay_each_container(struct relay *relay, engine_container_fn fn, void *userdata);

/* Asks which stops are under way, and how many events the daemon lost, which a record says; waits
 * for nothing. A no-op until the answer to the last call is whole. */
void relay_query_stopping(struct relay *relay);

/* How many records were not received or not understood. */
uint64_t relay_missed(const struct relay *relay);
/* Logs what was not received. */
void relay_log_losses(const struct relay *relay);

#endif
