/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a record of a node's shutdown (graced-records(5), "shutdown"), after
 * those that every record begins with. */
#ifndef WIRE_JSON_SHUTDOWN_H
#define WIRE_JSON_SHUTDOWN_H

#include "base/buf.h"
#include "core/stop/record.h"

void shutdown_json(struct buf *out, const struct record_shutdown *record);

#endif
