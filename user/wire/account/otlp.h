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

/* One JSON object. 0 or buf_error(). */
int account_otlp(struct buf *out, const struct account *account);

#endif
