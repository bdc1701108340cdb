/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's time series of containers: every record is counted, and every container that runs
 * has its counters with 0 before anything happens to it, so that an alert sees its first event.
 */
#ifndef APP_DAEMON_TALLY_H
#define APP_DAEMON_TALLY_H

#include "app/config/config.h"
#include "core/metrics/series.h"
#include "core/stop/record.h"

struct hearings;
struct monitor;

struct tally {
	struct series *series;
	bool full;	   /* no room was logged, and there was none since */
	uint64_t asked_ns; /* names that no source knew were queried again */
};

/* 0 or -ENOMEM. The caller frees with tally_done(). */
int tally_open(struct tally *ret, const struct config *config);
void tally_done(struct tally *tally);

void tally_record(struct tally *tally, const struct record *record);

/* Takes the containers that run now, and what is known of whether they hear (NULL: nothing): before
 * a page is written, and once a minute. */
void tally_look(struct tally *tally, struct monitor *m, const struct hearings *hearings);

/* Drops the series of containers that are gone long enough. */
void tally_age(struct tally *tally);

#endif
