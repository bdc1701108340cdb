/* SPDX-License-Identifier: Apache-2.0 */
/* What graced audit adds to its table: a paragraph for each reason and warning that is trouble,
 * with the containers that have it, why, and what to do. */
#ifndef WIRE_TEXT_ADVICE_H
#define WIRE_TEXT_ADVICE_H

#include "base/buf.h"
#include "core/stop/audit_record.h"

/* So many containers are listed in a paragraph; the others are counted. */
#define ADVICE_LISTED_MAX 8

/* Adds the paragraphs, each after an empty line; nothing when there is no trouble. width: columns
 * of the terminal, at which lines are wrapped; 0: they are not. 0 or buf_error(). */
int advice_paragraphs(struct buf *out, const struct audit_record *records, size_t n,
		      unsigned int width);

/* Adds the same about one container, in lines that belong to the row above them. 0 or buf_error(). */
int advice_lines(struct buf *out, const struct audit_record *record, unsigned int width);

/* Adds which container it is, in printable characters. */
void advice_add_container(struct buf *out, const struct audit_record *record);

/* Adds two spaces, which end at this column, the text, and a newline; what does not fit goes on
 * below it. */
void advice_wrap(struct buf *out, const char *text, unsigned int column, unsigned int width);

#endif
