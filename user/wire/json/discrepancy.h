/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a pod or an exit beside what the kernel says, as members of a JSON record. */
#ifndef WIRE_JSON_DISCREPANCY_H
#define WIRE_JSON_DISCREPANCY_H

#include "base/buf.h"
#include "core/stop/record.h"

/* Into an object that is open: pod, container, kind, since_boot_ns, told, kernel. */
void discrepancy_json(struct buf *out, const struct record_discrepancy *r);
/* An array of the kinds' names; bits are DISCREPANCY_BIT(kind). */
void discrepancy_json_names(struct buf *out, const char *key, uint32_t bits);

#endif
