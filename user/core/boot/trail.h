/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far PID 1 took a boot down, by what it and journald wrote to the journal of that boot. Only
 * fields that journald itself fills in identify the writers (systemd.journal-fields(7)): a client
 * can send any text and any MESSAGE_ID, but no field whose name begins with "_".
 */
#ifndef CORE_BOOT_TRAIL_H
#define CORE_BOOT_TRAIL_H

#include <stdint.h>

#include "core/stop/record.h"

/* The newest so many entries decide. A boot has a dozen, and one more dozen for each soft reboot. */
#define BOOTTRAIL_ENTRIES_MAX 64

/* Which entries bear on it: those that fit all fields of one term, where several values of a field
 * are alternatives. Each is "FIELD=value"; NULL ends a term, and the list. */
extern const char *const *const boottrail_terms[];

/* When each was seen last, by the microseconds of the journal's monotonic clock; 0: not at all. */
struct boottrail {
	uint64_t up_us;	    /* user space started, or journald writes to its disk again */
	uint64_t going_us;  /* all units are stopped, or journald leaves its disk */
	uint64_t last_us;   /* the last target, behind which PID 1 becomes systemd-shutdown */
	uint64_t closed_us; /* journald ended in order */
	uint64_t opened_us;
};

/* An entry that fits a term, in any order; unit may be NULL. */
void boottrail_take(struct boottrail *trail, const char *message_id, const char *unit,
		    uint64_t at_us);

/* WENT_DOWN, GOING_DOWN or NO_END, of a boot that has entries. */
enum boot_journal boottrail_judge(const struct boottrail *trail);

#endif
