/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the daemon's records go: JSON lines to standard output and to a file, entries to the
 * journal. None of them is waited for: what one does not take now waits in memory, and what finds
 * no room there is dropped, counted and logged, and a record of type dropped says so in its place.
 *
 * Lines are held until the turn of the loop ends, so that a checkpoint has them before any reader.
 */
#ifndef APP_DAEMON_RECORDERS_H
#define APP_DAEMON_RECORDERS_H

#include "app/config/config.h"
#include "base/line_queue.h"
#include "core/stop/record.h"
#include "wire/prometheus/metrics.h"

struct recorders;

/* -errno, logged. The caller frees. */
int recorders_new(const struct config *config, struct recorders **ret);
struct recorders *recorders_free(struct recorders *recorders);

/* Whether a sink takes such records. */
bool recorders_want(const struct recorders *recorders, const struct record *record);

/* Takes a record that is wanted, and its line with its newline. Whether the line is held for who
 * takes lines. */
bool recorders_record(struct recorders *recorders, const struct record *record,
		      const struct buf *line);

/* Adds the line of type dropped for lines that are missing; userdata: the recorders. */
void recorders_add_gap(void *userdata, struct buf *out, const struct line_gap *gap);

/* Holds lines of a daemon that was killed, which it may not have written, and puts right what it
 * wrote half. To be called before any record. */
void recorders_repeat(struct recorders *recorders, const struct buf *lines);

/* Whether each line was written or dropped by all who take lines. */
bool recorders_idle(const struct recorders *recorders);
/* The same, with the journal, but for those that cannot be written now, as on a full disk. */
bool recorders_flushed(const struct recorders *recorders);
/* One that takes lines drops them now, behind those that wait for it. */
bool recorders_drop(const struct recorders *recorders);
/* Something waits, for which a turn of the loop is wanted soon. */
bool recorders_wait(const struct recorders *recorders);

/* Hands on what is held, at the end of each turn of the loop; now_ns is of CLOCK_BOOTTIME. */
void recorders_flush(struct recorders *recorders, uint64_t now_ns);

/* Signal records are left out, whatever the configuration has. */
void recorders_shed_signals(struct recorders *recorders, bool shed);

/* Opens the file anew, for who has renamed it. */
void recorders_reopen(struct recorders *recorders);

/* The same, and takes over what the configuration has now. -errno, logged, when one of them cannot
 * be opened; the others change all the same. */
int recorders_reload(struct recorders *recorders, const struct config *config);

/* Waits a bounded time for slow readers at the end, and logs what was not written. */
void recorders_finish(struct recorders *recorders);

/* Fills METRICS_SINK_COUNT of them. */
void recorders_get_stats(const struct recorders *recorders, struct metrics_sink *ret);

#endif
