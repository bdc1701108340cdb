/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The note of this boot (core/boot/log) in the state directory, and what the note of an earlier
 * boot shows at the start: reported once, before it is replaced.
 */
#ifndef APP_DAEMON_BOOTKEEP_H
#define APP_DAEMON_BOOTKEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/engine.h"
#include "wire/recording/boot_note.h"

struct bootkeep;

/* Reads what an earlier daemon has noted; what is wrong with that is logged. NULL: no memory. The
 * caller frees, which leaves the file. */
struct bootkeep *bootkeep_open(void);
struct bootkeep *bootkeep_free(struct bootkeep *keep);

/* The daemon is ready. True: an earlier boot is to be reported, *ret is its record, which is valid
 * as long as keep is. The file stays as it is until that is written. */
bool bootkeep_begin(struct bootkeep *keep, const char *node, uint64_t now_ns, struct record *ret);

/* A record of this boot. */
void bootkeep_record(struct bootkeep *keep, const struct record *record);

/* Writes the file when that is due; idle: all records are written by the sinks. */
void bootkeep_turn(struct bootkeep *keep, const struct engine *engine, uint64_t now_ns, bool idle);

/* The daemon ends in an orderly way, which is written at once: it may be killed before it is done. */
void bootkeep_stop(struct bootkeep *keep, const struct engine *engine, uint64_t now_ns);
/* It has ended: with the last stops, if its records are written. */
void bootkeep_finish(struct bootkeep *keep, const struct engine *engine, uint64_t now_ns,
		     bool idle);

const struct bootnote *bootkeep_note(const struct bootkeep *keep);

#endif
