/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of the journal, read back: this host's, or that of a directory, which may be another
 * machine's. */
#ifndef IO_SINKS_JOURNAL_READER_H
#define IO_SINKS_JOURNAL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
