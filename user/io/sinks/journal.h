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

void journal_get_stats(const struct journal *journal, struct line_stats *ret);

/* Entries of the journal, read back: this host's, or that of a directory, which may be another
 * machine's. */

#define JOURNAL_BOOT_SIZE 33 /* 32 hexadecimal digits */

struct journal_query {
	const char *directory;		/* NULL: this host's journal */
	const char *const *message_ids; /* NULL ends */
	const char *field;		/* that is wanted of each entry */
	const char *boot;		/* NULL: every one */
};

struct journal_entry {
	const char *value; /* of the field; NULL: the entry has none. Valid during the call. */
	size_t size;
	char boot[JOURNAL_BOOT_SIZE]; /* "" when the entry names none */
	bool by_root;		      /* as journald saw its sender */
};

/* What went wrong in one of the calls below, of which -ELIBACC means that sd-journal is not there. */
const char *journal_strerror(int error);

/* Calls back for each entry, the oldest first. 0 or -errno of the journal. */
int journal_read(const struct journal_query *query,
		 void (*entry)(void *userdata, const struct journal_entry *entry), void *userdata);

/* The end of a boot in this host's journal. */
struct journal_tail {
	const char *boot;		 /* 32 hexadecimal digits */
	const char *const *const *terms; /* as core/boot/trail has them */
	unsigned int entries_max;	 /* the newest; no more are read */
};

/* An entry that fits a term, without its text. */
struct journal_step {
	char message_id[JOURNAL_BOOT_SIZE];
	char unit[64];	/* the unit that PID 1 wrote about; "": none */
	uint64_t at_us; /* CLOCK_MONOTONIC of that boot, as journald received it */
};

/* Calls back for each, the newest first, and gives up after 2 s. 1: the journal has entries of that
 * boot; 0: it has none; -errno of the journal, with -ETIME for what took too long. */
int journal_read_tail(const struct journal_tail *tail,
		      void (*step)(void *userdata, const struct journal_step *step),
		      void *userdata);

/* The boots of a journal, the oldest first; the caller frees *ret. -errno. */
int journal_list_boots(const char *directory, char (**ret)[JOURNAL_BOOT_SIZE], size_t *ret_n);

#endif
