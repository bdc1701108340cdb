/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for one message at a time: taken piece by piece, given back all at once, and never more
 * than a limit, since tiny nested messages grow fiftyfold when they are unpacked.
 */
#ifndef WIRE_GRPC_MESSAGE_H
#define WIRE_GRPC_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
