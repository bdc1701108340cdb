/* SPDX-License-Identifier: Apache-2.0 */
/* An account (core/account): read from records (graced-records(5)), and in the forms that it is
 * written in. */
#ifndef WIRE_ACCOUNT_ACCOUNT_H
#define WIRE_ACCOUNT_ACCOUNT_H

#include <stddef.h>

#include "base/buf.h"
#include "core/account/account.h"
#include "wire/text/grid.h"

/* Reads the JSON lines of records: adds the record of a line without its newline. A line that is no
 * record is counted as unreadable, an empty one is not. boot: that of a record that does not name
 * its own, as account_boot() writes it; NULL: not known. */
#define ACCOUNT_LINE_MAX ((size_t)256 << 10)
void account_read(struct account_log *log, const struct account_query *query, const char *line,
		  size_t size, const char *boot);

/* For people: of each story its verdict, lines about it, and a row for each container. */

/* Columns of the rows: what stopped how, after how much of its time, and why. */
extern const struct grid_table account_columns;

/* The trouble stands first. Where all of it is more than a screen, the headlines are written again
 * at its end. Without titles the rows are written alone. 0 or buf_error(). */
int account_table(struct buf *out, const struct account *account, const struct grid_view *view);

/* As JSON, one object a line for each story: type "report". 0 or buf_error(). */
int account_json(struct buf *out, const struct account *account);

/* As a picture: a timeline for each story, one file without references to others. 0 or
 * buf_error(). */
int account_svg(struct buf *out, const struct account *account);

/* In the Trace Event Format, which Perfetto opens: a process for each lane, a thread for each
 * container. Slices on one thread nest, flows come in pairs. One JSON object; 0 or buf_error(). */
int account_trace_event(struct buf *out, const struct account *account);

/*
 * As spans, in the JSON of OTLP/HTTP (opentelemetry-proto, ExportTraceServiceRequest): a
 * trace for each shutdown, and one for each pod that was stopped, which links to its group's span.
 * The same account gives the same ids.
 */

/* Limits of one request; it ends with the span that reaches either. */
#define ACCOUNT_OTLP_SPANS 512
#define ACCOUNT_OTLP_BYTES ((size_t)1 << 20)

/* One JSON object. 0 or buf_error(). */
int account_otlp(struct buf *out, const struct account *account);

/* A request with its spans, of which there is one at least; body is NUL-terminated behind len
 * bytes, and gone afterwards. A negative result ends it. */
typedef int (*account_otlp_fn)(void *userdata, const char *body, size_t len, size_t spans);

/* The same spans as account_otlp(), in as many requests as they need. 0, what fn returned, or
 * buf_error(). */
int account_otlp_requests(const struct account *account, account_otlp_fn fn, void *userdata);

#endif
