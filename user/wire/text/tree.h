/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of containers as trees, and what a stop would do to each. */
#ifndef WIRE_TEXT_TREE_H
#define WIRE_TEXT_TREE_H

#include "base/buf.h"
#include "core/stop/audit_record.h"

/* Adds a block for each record that has a tree, after an empty line. 0 or buf_error(). */
int tree_blocks(struct buf *out, const struct audit_record *records, size_t n, unsigned int width);

#endif
