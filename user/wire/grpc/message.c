// SPDX-License-Identifier: Apache-2.0
/* Unpacks messages, each in bounded memory. */
#include "wire/grpc/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define ALIGNMENT ((size_t)16)

static void *arena_alloc(void *userdata, size_t size)
{
	struct grpc_arena *arena = userdata;
	uint8_t *at;

	if (size > arena->memory_max) {
		arena->full = true;
		return NULL;
	}
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (size <= GRPC_ARENA_SMALL - arena->small_used) {
		at = arena->small + arena->small_used;
		arena->small_used += size;
		return at;
	}
	if (!arena->large)
		arena->large = malloc(arena->memory_max);
	if (!arena->large) {
		arena->no_memory = true;
		return NULL;
	}
	if (size > arena->memory_max - arena->large_used) {
		arena->full = true;
		return NULL;
	}
	at = arena->large + arena->large_used;
	arena->large_used += size;
	return at;
}

static void arena_free(void *userdata, void *memory)
{
}

void grpc_arena_start(struct grpc_arena *arena, size_t message_max, size_t memory_max)
{
	arena->message_max = message_max;
	arena->memory_max = memory_max;
	arena->allocator = (ProtobufCAllocator){
		.alloc = arena_alloc, .free = arena_free, .allocator_data = arena};
	arena->large = NULL;
}

void grpc_arena_done(struct grpc_arena *arena)
{
	free(arena->large);
	arena->large = NULL;
}

int grpc_unpack(struct grpc_arena *arena, const ProtobufCMessageDescriptor *type,
		const void *payload, size_t len, ProtobufCMessage **ret)
{
	/* An empty message may come without bytes, and protobuf-c wants an address even so. */
	static const uint8_t nothing;
	ProtobufCMessage *message;

	if (len > arena->message_max)
		return -EMSGSIZE;
	arena->small_used = 0;
	arena->large_used = 0;
	arena->no_memory = false;
	arena->full = false;
	message = protobuf_c_message_unpack(type, &arena->allocator, len, len ? payload : &nothing);
	if (message) {
		*ret = message;
		return 0;
	}
	if (arena->no_memory)
		return -ENOMEM;
	return arena->full ? -EMSGSIZE : -EBADMSG;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Messages in a body, and the trailers that report how a call ended (gRPC over HTTP2, in the
 * repository grpc/grpc). */

#define PREFIX 5 /* a byte of flags, and the length in four */

int grpc_add_message(struct buf *buf, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	char *at = buf_reserve(buf, size + PREFIX);

	if (!at)
		return buf_error(buf);
	at[0] = 0;
	for (int i = 0; i < 4; i++)
		at[1 + i] = (char)(size >> (24 - 8 * i) & 0xff);
	protobuf_c_message_pack(message, (uint8_t *)at + PREFIX);
	buf_commit(buf, size + PREFIX);
	return 0;
}

int grpc_unframe(const void *bytes, size_t len, size_t max, const void **ret_payload,
		 size_t *ret_payload_len, size_t *ret_consumed)
{
	const uint8_t *at = bytes;
	size_t size;

	if (len > 0 && at[0] != 0)
		return -EBADMSG;
	if (len >= PREFIX) {
		size = (size_t)at[1] << 24 | (size_t)at[2] << 16 | (size_t)at[3] << 8 | at[4];
		if (size > max)
			return -EMSGSIZE;
		if (size <= len - PREFIX) {
			*ret_payload = at + PREFIX;
			*ret_payload_len = size;
			*ret_consumed = size + PREFIX;
			return 0;
		}
	}
	*ret_payload = NULL;
	*ret_payload_len = 0;
	*ret_consumed = 0;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int grpc_read_status(const char *text, size_t len)
{
	int status = 0;

	while (len > 0 && is_blank(text[len - 1]))
		len--;
	while (len > 0 && is_blank(text[0])) {
		text++;
		len--;
	}
	if (len < 1 || len > 3)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EBADMSG;
		status = status * 10 + (text[i] - '0');
	}
	return status;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes up to room bytes into ret and returns how many; a percent sign that begins no code is
 * itself, as the specification asks for. */
static size_t percent_decode(const char *text, size_t len, char *ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < room; i++) {
		int high = -1, low = -1;

		if (text[i] == '%' && len - i > 2) {
			high = hex_value(text[i + 1]);
			low = hex_value(text[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			ret[n++] = (char)(high << 4 | low);
			i += 2;
		} else {
			ret[n++] = text[i];
		}
	}
	return n;
}

void grpc_read_message(const char *text, size_t len, char *ret, size_t size)
{
	char raw[512];
	size_t n = percent_decode(text, len, raw, sizeof(raw)), used = 0, step;
	uint32_t code;

	for (size_t at = 0; at < n; at += step) {
		size_t shown;

		step = utf8_decode(raw + at, n - at, &code);
		shown = step > 0 && !utf8_is_treacherous(code) ? step : 1;
		if (shown > size - 1 - used)
			break;
		if (step > 0 && !utf8_is_treacherous(code))
			memcpy(ret + used, raw + at, step);
		else
			ret[used] = '?';
		used += shown;
		step = step > 0 ? step : 1;
	}
	ret[used] = '\0';
}
