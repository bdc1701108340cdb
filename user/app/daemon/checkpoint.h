/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon that follows this one has to know, in a file: the engine's state as observations,
 * and records that were reported and may not be written yet. It is written before they are.
 */
#ifndef APP_DAEMON_CHECKPOINT_H
#define APP_DAEMON_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/line_queue.h"
#include "core/engine/engine.h"
#include "wire/prometheus/metrics.h"

/* The file's default name. */
#define CHECKPOINT_NAME "checkpoint"

struct checkpoint;

/* Opens and locks the file. gap_fn: of the line that stands there for some that are not in it. NULL
 * on failure, which is logged. The caller frees, which leaves the file. */
struct checkpoint *checkpoint_open(const char *path, line_gap_fn gap_fn, void *userdata);
struct checkpoint *checkpoint_free(struct checkpoint *checkpoint);

/*
 * Hands each observation to fn that the one before left, and adds the lines to ret_lines that it
 * may not have written. Once, before the next turn. Logs what is there, and what is wrong with it.
 */
void checkpoint_restore(struct checkpoint *checkpoint, engine_obs_fn fn, void *userdata,
			struct buf *ret_lines);

/* A record's line, about to be written, with its newline. */
void checkpoint_add(struct checkpoint *checkpoint, enum record_type type, const struct buf *line);

/* Writes what is new, if anything is, before the lines that were added are written; now_ns is of
 * any clock. */
void checkpoint_turn(struct checkpoint *checkpoint, struct engine *engine, uint64_t now_ns);

/* Who takes lines drops the newest now, behind older ones that wait: of more than there is room for
 * the oldest are held, and a line of gap_fn stands for the rest. Else the newest are. */
void checkpoint_hold_oldest(struct checkpoint *checkpoint, bool oldest);

/* All lines that were added before the last turn are written. */
void checkpoint_written(struct checkpoint *checkpoint);

/* The same when the daemon ends: writes all of it anew. */
void checkpoint_finish(struct checkpoint *checkpoint, struct engine *engine, uint64_t now_ns);

void checkpoint_get_stats(const struct checkpoint *checkpoint, struct metrics_checkpoint *ret);

#endif
