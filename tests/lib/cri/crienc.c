// SPDX-License-Identifier: Apache-2.0
/* Protobuf messages by hand. */
#include "lib/cri/crienc.h"

#include <string.h>

#include "base/cleanup.h"

void crienc_varint(struct buf *buf, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_addc(buf, (char)(value | 0x80));
	buf_addc(buf, (char)value);
}

void crienc_tag(struct buf *buf, uint32_t field, uint32_t type)
{
	crienc_varint(buf, (uint64_t)field << 3 | type);
}

void crienc_int(struct buf *buf, uint32_t field, int64_t value)
{
	crienc_tag(buf, field, 0);
	crienc_varint(buf, (uint64_t)value);
}

void crienc_bytes(struct buf *buf, uint32_t field, const void *bytes, size_t len)
{
	crienc_tag(buf, field, 2);
	crienc_varint(buf, len);
	buf_add(buf, bytes, len);
}

void crienc_text(struct buf *buf, uint32_t field, const char *text)
{
	crienc_bytes(buf, field, text, strlen(text));
}

void crienc_message(struct buf *buf, uint32_t field, struct buf *inner)
{
	crienc_bytes(buf, field, buf_str(inner), inner->len);
	buf_reset(inner);
}

void crienc_pair(struct buf *buf, uint32_t field, const char *key, const char *value)
{
	_cleanup_(buf_free) struct buf pair = {};

	crienc_text(&pair, 1, key);
	crienc_text(&pair, 2, value);
	crienc_message(buf, field, &pair);
}
