/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of journal share; nobody else includes this. */
#ifndef WIRE_TEXT_JOURNAL_PRIV_H
#define WIRE_TEXT_JOURNAL_PRIV_H

#include <stdint.h>

#include "base/buf.h"
#include "core/stop/record.h"

/* syslog(3) */
#define JOURNAL_WARNING 4
#define JOURNAL_INFO	6

/* Text made visible. */
void journal_add_text(struct buf *out, const char *text);
/* "NAME=value"; nothing for NULL and "". */
void journal_add_field(struct buf *out, const char *name, const char *value);
void journal_add_number(struct buf *out, const char *name, uint64_t value);
/* "GRACED_GAPS=", their names with commas between. */
void journal_add_gaps(struct buf *out, uint32_t gaps);
/* What every entry has; id is its MESSAGE_ID. */
void journal_add_head(struct buf *out, const struct record *record, const char *id,
		      const char *type, int priority);
void journal_add_subject(struct buf *out, const struct record_pod *pod,
			 const struct record_container *container);
/* "default/web-0/nginx", as much of it as is known, for a sentence. */
void journal_say_subject(struct buf *out, const struct record_pod *pod,
			 const struct record_container *container);

/* journal_pods.c */
void journal_add_pod_state(struct buf *out, const struct record *record);
void journal_add_pod_ready(struct buf *out, const struct record *record);
void journal_add_discrepancy(struct buf *out, const struct record *record);

/* journal_shutdown.c */
void journal_add_shutdown(struct buf *out, const struct record *record);

#endif
