/* SPDX-License-Identifier: Apache-2.0 */
/* Past records, from the journal or a file that graced run wrote. */
#ifndef APP_QUERY_HISTORY_H
#define APP_QUERY_HISTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/config/options.h"
#include "base/map.h"
#include "core/stop/record.h"
#include "io/sinks/journal.h"

/* A record of the span, with its line; both are valid during the call. Repeated ones are left out. */
typedef void (*history_fn)(void *userdata, const struct record *record, const char *line,
			   size_t len);

struct history {
	const struct options *options;
	history_fn fn;
	void *userdata;
	int64_t since_ns, until_ns; /* of the wall clock; 0: not limited */
	char boot[JOURNAL_BOOT_SIZE];
	bool empties;	  /* hands over RECORD_EMPTY, too */
	struct map ids;	  /* of records that were handed over; owned */
	uint64_t records; /* of any time */
	uint64_t signals, untrusted, unreadable, newer, dropped; /* lines that were left out, or are
								    missing there */
};

/* Where records are read from: --file, else GRACED_SINKS_FILE, as graced run has it in a pod; NULL:
 * the journal. What ret_before is has the records before: NULL, or a name in the buffer. */
const char *history_file(const struct options *options, char buffer[static PATH_MAX],
			 const char **ret_before);

/* Takes --file, --since and their like. 0, or the exit status after wrong use was logged. */
int history_take_options(struct history *h);

/* Hands over what is there, the oldest first. 0, or the exit status after what is wrong was
 * logged. */
int history_read(struct history *h);

/* Logs how to have records from now on, and what is left of what has ended: where the whole journal
 * can be read and no graced run has written into it. */
void history_say_unrecorded(const struct options *options);

/* The boot of the journal that a user means by a number. 0, or 1 after what is wrong was logged. */
int history_journal_boot(const struct options *options, long offset,
			 char ret[static JOURNAL_BOOT_SIZE]);

typedef void (*history_line_fn)(void *userdata, const char *line, size_t len);

/* Hands over the lines of a file; those longer than max are counted. 0, or 1 after what is wrong
 * was logged. */
int history_each_line(const char *path, size_t max, uint64_t *unreadable, history_line_fn fn,
		      void *userdata);

/* Logs how many entries of the journal were not root's, if any. */
void history_say_untrusted(uint64_t n);
/* Logs what was left out. */
void history_say_left_out(const struct history *h);

/* Times and boots as users name them. */

/* RFC 3339, "2026-11-21 15:04" and "15:04" with or without seconds, "2026-11-21", "today",
 * "yesterday" in local time, "now", or a duration before now ("2h", "10 min ago"), as nanoseconds
 * since 1970. */
bool when_parse(const char *text, int64_t *ret_wall_ns);

/* A number counts boots as journalctl does: from the last one down, or from the first one up. */
bool when_parse_boot(const char *text, long *ret);

/* An id of 32 hexadecimal digits, with or without dashes. */
bool when_is_boot_id(const char *text);

/* The index among n boots, the oldest first; false: there is no such. */
bool when_boot_index(long offset, size_t n, size_t *ret);

/* Logs that the records have no such boot, and returns 1. last: the id of the last one of n without
 * dashes; NULL: n is 0. */
int when_no_boot(long offset, size_t n, const char *last);

#endif
