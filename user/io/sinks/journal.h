/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries on their way to journald. sd_journal_sendv() would wait for a journald that does not
 * read, so the datagrams (wire/text/journal.h) go to its socket from here, and never wait.
 */
#ifndef IO_SINKS_JOURNAL_H
#define IO_SINKS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

struct journal;

struct journal_stats {
	uint64_t written; /* entries that the socket took */
	uint64_t dropped;
	int error; /* -errno of the last one that was dropped; 0: the last one went out */
};

/* path: of the socket, which need not be there yet. -errno. The caller frees. */
int journal_new(const char *path, struct journal **ret);
struct journal *journal_free(struct journal *journal);

void journal_send(struct journal *journal, const char *entry, size_t size);

void journal_get_stats(const struct journal *journal, struct journal_stats *ret);

#endif
