/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of containers for people: a table, what to do, and trees of processes. */
#ifndef WIRE_TEXT_AUDIT_H
#define WIRE_TEXT_AUDIT_H

#include "base/buf.h"
#include "core/stop/audit_record.h"
#include "wire/json/audit.h"
#include "wire/text/grid.h"

/* Its rows are struct audit_record. */
extern const struct grid_table audit_table;

/* What graced audit adds to its table: a paragraph for each reason and warning that is trouble,
 * with the containers that have it, why, and what to do. */

/* So many containers are listed in a paragraph; the others are counted. */
#define ADVICE_LISTED_MAX 8

/* Adds the paragraphs, each after an empty line; nothing when there is no trouble. width: columns
 * of the terminal, at which lines are wrapped; 0: they are not. 0 or buf_error(). */
int advice_paragraphs(struct buf *out, const struct audit_record *records, size_t n,
		      unsigned int width);

/* Adds the same about one container, in lines that belong to the row above them. 0 or buf_error(). */
int advice_lines(struct buf *out, const struct audit_record *record, unsigned int width);

/* Adds two spaces, which end at this column, the text, and a newline; what does not fit goes on
 * below it. */
void advice_wrap(struct buf *out, const char *text, unsigned int column, unsigned int width);

/* The processes of containers as trees, and what a stop would do to each. */

/* Adds a block for each record that has a tree, after an empty line. 0 or buf_error(). */
int tree_blocks(struct buf *out, const struct audit_record *records, size_t n, unsigned int width);

#endif
