/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a daemon on their way to a file or to standard output. Nothing that happens there holds
 * the daemon up: lines wait in memory for a reader that is slow, for space on a disk and for a file
 * that can be opened. Those that find no room are dropped and counted, and a line says so in their
 * place.
 */
#ifndef IO_SINKS_LINES_H
#define IO_SINKS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/line_queue.h"

struct linesink;

/*
 * gap_fn adds the line, with its newline, that stands for lines that were dropped. path NULL:
 * standard output. A file is appended to, made with mode 0600 when it is missing, and never waited
 * for, whatever it is. -errno when it cannot be opened now; a disk without space for it is no
 * failure. The caller frees, which writes nothing more.
 */
int linesink_new(const char *path, line_gap_fn gap_fn, void *userdata, struct linesink **ret);
struct linesink *linesink_free(struct linesink *sink);

/* A regular file of that size is renamed to PATH.1, whose place it takes, and begun anew, after
 * whole lines; 0: never. */
void linesink_limit(struct linesink *sink, uint64_t bytes);

/* Takes one line with its newline. now_ns: of any clock, for a gap. */
void linesink_add(struct linesink *sink, const char *line, size_t size, uint64_t now_ns);

/*
 * For who starts after one that was killed: an unfinished line at the end of a file is cut off when
 * one of these lines (each with its newline) begins so, and ended otherwise. To be called before
 * any line is added.
 */
void linesink_mend(struct linesink *sink, const char *lines, size_t size);

/* No line waits, nor one of a gap: each was written or dropped. */
bool linesink_is_idle(const struct linesink *sink);

/* A line was dropped, and so is each further one until all that waits is written. */
bool linesink_drops(const struct linesink *sink);

/* Writes what can be written; tries a file that failed anew once a second of now_ns (any clock). */
void linesink_flush(struct linesink *sink, uint64_t now_ns);

/* Opens the file anew, for who has renamed it, or another one (path NULL: the same); what is
 * waiting goes to the old one first, as far as it takes it, and the rest to the new one. 0, or the
 * -errno that stats have from now on. Standard output stays what it is. */
int linesink_reopen(struct linesink *sink, const char *path);

/* Waits for a slow reader, at most that long in all, and tries once more what failed. False: some
 * lines still wait. */
bool linesink_finish(struct linesink *sink, int timeout_ms);

/* Drops what waits: the next line stands for it. now_ns: of any clock, for the gap. */
void linesink_discard(struct linesink *sink, uint64_t now_ns);

void linesink_get_stats(const struct linesink *sink, struct line_stats *ret);

#endif
