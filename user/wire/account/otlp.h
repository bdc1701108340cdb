/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An account as spans, in the JSON of OTLP/HTTP (opentelemetry-proto, ExportTraceServiceRequest): a
 * trace for each shutdown, and one for each pod that was stopped, which links to its group's span.
 * The same account gives the same ids.
 */
#ifndef WIRE_ACCOUNT_OTLP_H
#define WIRE_ACCOUNT_OTLP_H

#include "base/buf.h"
#include "core/account/account.h"

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
