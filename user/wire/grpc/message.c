// SPDX-License-Identifier: Apache-2.0
/* Unpacks messages, each in bounded memory. */
#include "wire/grpc/message.h"

#include <errno.h>
#include <stdlib.h>

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
