/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for one message of a runtime at a time: taken piece by piece, given back all at once, and
 * never more than CRI_MEMORY_MAX, since tiny nested messages grow fiftyfold when they are unpacked.
 */
#ifndef WIRE_RUNTIME_CRI_MESSAGE_H
#define WIRE_RUNTIME_CRI_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRI_ARENA_SMALL 16384 /* an ordinary item's message and texts */

struct cri_arena {
	ProtobufCAllocator allocator;
	size_t small_used;
	size_t large_used;
	uint8_t *large; /* allocated for the first message that needs it */
	bool no_memory; /* why the last message was not unpacked */
	bool full;
	_Alignas(16) uint8_t small[CRI_ARENA_SMALL];
};

void cri_arena_start(struct cri_arena *arena);
void cri_arena_done(struct cri_arena *arena);

/* *ret is valid until the next one. -EMSGSIZE: longer than CRI_ITEM_MAX, or needs more than
 * CRI_MEMORY_MAX; -EBADMSG: malformed; -ENOMEM. */
int cri_unpack(struct cri_arena *arena, const ProtobufCMessageDescriptor *type, const void *payload,
	       size_t len, ProtobufCMessage **ret);

#endif
