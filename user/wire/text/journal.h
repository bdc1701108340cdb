/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as entries of systemd's journal, in its native protocol
 * (https://systemd.io/JOURNAL_NATIVE_PROTOCOL): a sentence as MESSAGE, a MESSAGE_ID for each type,
 * and the members as fields of our own, GRACED_*. graced-records(5) lists them. The last field is
 * the record itself as a JSON line.
 */
#ifndef WIRE_TEXT_JOURNAL_H
#define WIRE_TEXT_JOURNAL_H

#include "base/buf.h"
#include "core/stop/record.h"

#define JOURNAL_RECORD "GRACED_RECORD"

/* MESSAGE_IDs of the records of which an account is made (core/account); NULL ends. */
extern const char *const journal_story_ids[];
/* The IDs of stops; of stops and signals. */
extern const char *const journal_stop_ids[], *const journal_signal_ids[];
/* That of the end of a boot, which a later boot writes. */
extern const char *const journal_boot_end_ids[];

/* "no shutdown was announced"; NULL for what is no reason. */
const char *journal_boot_reason(enum boot_reason reason);
/* What it adds to that; NULL: nothing. */
const char *journal_boot_journal(enum boot_journal journal);

/* Whether records of that type have an entry: all but runtime_exit. */
bool journal_has(enum record_type type);

/* Adds the datagram for a record, whose JSON line that is, with its newline. 0, -EINVAL for a type
 * without an entry, or buf_error(); on failure out holds what it held. */
int journal_write(struct buf *out, const struct record *record, const struct buf *line);

#endif
