/* SPDX-License-Identifier: Apache-2.0 */
/* Writes protobuf messages field by field, right and wrong ones, so that tests do not read what the
 * code under test has written. */
#ifndef TESTS_LIB_CRI_CRIENC_H
#define TESTS_LIB_CRI_CRIENC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void crienc_varint(struct buf *buf, uint64_t value);
void crienc_tag(struct buf *buf, uint32_t field, uint32_t type);
void crienc_int(struct buf *buf, uint32_t field, int64_t value);
void crienc_bytes(struct buf *buf, uint32_t field, const void *bytes, size_t len);
void crienc_text(struct buf *buf, uint32_t field, const char *text);
/* A pair of a map, or any message of two texts. */
void crienc_pair(struct buf *buf, uint32_t field, const char *key, const char *value);
/* Empties inner, so that the next message can be written to it. */
void crienc_message(struct buf *buf, uint32_t field, struct buf *inner);

#endif
