// SPDX-License-Identifier: Apache-2.0
/* Protobuf's wire format, as far as it is written. */
#include "wire/prometheus/protobuf.h"

#include <string.h>

#define VARINT_MAX 10

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static size_t encode_varint(uint64_t value, char ret[static VARINT_MAX])
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		ret[n++] = (char)(value | 0x80);
	ret[n++] = (char)value;
	return n;
}

static void add_varint(struct buf *out, uint64_t value)
{
	char bytes[VARINT_MAX];

	buf_add(out, bytes, encode_varint(value, bytes));
}

static void add_tag(struct buf *out, unsigned int field, enum wire_type type)
{
	add_varint(out, (uint64_t)field << 3 | type);
}

void protobuf_add_u64(struct buf *out, unsigned int field, uint64_t value)
{
	add_tag(out, field, VARINT);
	add_varint(out, value);
}

void protobuf_add_s64(struct buf *out, unsigned int field, int64_t value)
{
	uint64_t twice = (uint64_t)value << 1;

	protobuf_add_u64(out, field, value < 0 ? ~twice : twice);
}

void protobuf_add_double(struct buf *out, unsigned int field, double value)
{
	char bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(bits >> 8 * i);
	add_tag(out, field, FIXED64);
	buf_add(out, bytes, sizeof(bytes));
}

void protobuf_add_string(struct buf *out, unsigned int field, const char *value)
{
	size_t len = strlen(value);

	add_tag(out, field, BYTES);
	add_varint(out, len);
	buf_add(out, value, len);
}

size_t protobuf_begin(struct buf *out, unsigned int field)
{
	add_tag(out, field, BYTES);
	return out->len;
}

void protobuf_end(struct buf *out, size_t begin)
{
	size_t len = out->len - begin, n;
	char bytes[VARINT_MAX];

	n = encode_varint(len, bytes);
	buf_add(out, bytes, n);
	if (buf_error(out))
		return;
	memmove(out->data + begin + n, out->data + begin, len);
	memcpy(out->data + begin, bytes, n);
}
