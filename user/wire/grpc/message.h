/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC as far as a client needs it beyond HTTP/2.
 *
 * Memory for one message at a time: taken piece by piece, given back all at once, and never more
 * than a limit, since tiny nested messages grow fiftyfold when they are unpacked.
 */
#ifndef WIRE_GRPC_MESSAGE_H
#define WIRE_GRPC_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define GRPC_ARENA_SMALL 16384 /* an ordinary item's message and texts */

struct grpc_arena {
	ProtobufCAllocator allocator;
	size_t message_max, memory_max;
	size_t small_used;
	size_t large_used;
	uint8_t *large; /* allocated for the first message that needs it */
	bool no_memory; /* why the last message was not unpacked */
	bool full;
	_Alignas(16) uint8_t small[GRPC_ARENA_SMALL];
};

/* message_max: of a message as it comes; memory_max: of what it grows to, at least
 * GRPC_ARENA_SMALL. */
void grpc_arena_start(struct grpc_arena *arena, size_t message_max, size_t memory_max);
void grpc_arena_done(struct grpc_arena *arena);

/* *ret is valid until the next one. -EMSGSIZE: the message is longer than message_max, or needs
 * more than memory_max; -EBADMSG: malformed; -ENOMEM. */
int grpc_unpack(struct grpc_arena *arena, const ProtobufCMessageDescriptor *type,
		const void *payload, size_t len, ProtobufCMessage **ret);

/* Adds the message behind gRPC's prefix: no compression, and the length, highest byte first. 0, or
 * buf's error. */
int grpc_add_message(struct buf *buf, const ProtobufCMessage *message);

/*
 * The first message of what came so far: the body of an answer has one, a stream one after another.
 * *ret_payload points into bytes. *ret_consumed is how many bytes it took with its prefix, and 0
 * with a payload of NULL while it is not whole. -EBADMSG: it is compressed, which was not offered,
 * or its flags are unknown; -EMSGSIZE: it is announced longer than max, whether it is here or not.
 */
int grpc_unframe(const void *bytes, size_t len, size_t max, const void **ret_payload,
		 size_t *ret_payload_len, size_t *ret_consumed);

/* Those that decide what to do next (google.golang.org/grpc/codes). */
enum {
	GRPC_OK = 0,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_UNAVAILABLE = 14,
};

/* Reads the value of the trailer grpc-status: 0 to 999; -EBADMSG for anything else. Blanks around
 * it are allowed. */
int grpc_read_status(const char *text, size_t len);

/* Writes what the trailer grpc-message says, which is percent-encoded, as UTF-8 of one line for
 * people: what is no character, or would deceive a reader, is '?'. No more than 512 bytes of it,
 * and cut between characters where size, which is not 0, is less. */
void grpc_read_message(const char *text, size_t len, char *ret, size_t size);

#endif
