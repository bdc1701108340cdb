/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An account in the Trace Event Format, which Perfetto opens: a process for each lane, a thread for
 * each container. Slices on one thread nest, flows come in pairs.
 */
#ifndef WIRE_ACCOUNT_TRACE_EVENT_H
#define WIRE_ACCOUNT_TRACE_EVENT_H

#include "base/buf.h"
#include "core/account/account.h"

/* One JSON object. 0 or buf_error(). */
int account_trace_event(struct buf *out, const struct account *account);

#endif
