/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes fields of protobuf messages (protobuf.dev/programming-guides/encoding) to a buffer, whose
 * errors stick. Nothing is left out for being 0 or empty.
 */
#ifndef WIRE_PROMETHEUS_PROTOBUF_H
#define WIRE_PROMETHEUS_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void protobuf_add_u64(struct buf *out, unsigned int field, uint64_t value);
/* For the types sint32 and sint64. */
void protobuf_add_s64(struct buf *out, unsigned int field, int64_t value);
void protobuf_add_double(struct buf *out, unsigned int field, double value);
void protobuf_add_string(struct buf *out, unsigned int field, const char *value);

/* A message as a field: what is added between the two is in it. begin returns what end takes. */
size_t protobuf_begin(struct buf *out, unsigned int field);
/* Puts the length before what was added behind begin, which without protobuf_begin() makes a
 * delimited message. */
void protobuf_end(struct buf *out, size_t begin);

#endif
