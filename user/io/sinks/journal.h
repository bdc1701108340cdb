/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries on their way to journald. sd_journal_sendv() would wait for a journald that does not
 * read, so the datagrams (wire/text/journal.h) go to its socket from here: those that it does not
 * take now wait in memory, in order, and one stands for those that find no room there.
 */
#ifndef IO_SINKS_JOURNAL_H
#define IO_SINKS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/line_queue.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

struct journal;

struct journal_stats {
	uint64_t written; /* entries that the socket took */
	uint64_t dropped;
	uint64_t waiting;
	int error; /* -errno since when it takes none; 0: all is well, or it is slow */
};

/* gap_fn adds the entry that stands for some that were dropped. path: of the socket, which need not
 * be there yet. -errno. The caller frees. */
int journal_new(const char *path, line_gap_fn gap_fn, void *userdata, struct journal **ret);
struct journal *journal_free(struct journal *journal);

/* now_ns: of any clock, for a gap. */
void journal_send(struct journal *journal, const char *entry, size_t size, uint64_t now_ns);

/* Sends what waits, as far as journald takes it. */
void journal_flush(struct journal *journal);

/* Waits for a journald that is behind, at most that long in all; nothing is sent after it. */
void journal_finish(struct journal *journal, int timeout_ms);

/* Nothing waits: each entry was sent or dropped. */
bool journal_is_idle(const struct journal *journal);

/* An entry was dropped, and so is each further one until all that waits is sent. */
bool journal_drops(const struct journal *journal);

/* Drops what waits: the next entry stands for it. now_ns: of any clock, for the gap. */
void journal_discard(struct journal *journal, uint64_t now_ns);

void journal_get_stats(const struct journal *journal, struct journal_stats *ret);

#endif
