/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of wire/runtime/cri share: bounded unpacking, texts, and items of unpacked
 * messages. */
#ifndef WIRE_RUNTIME_CRI_PRIV_H
#define WIRE_RUNTIME_CRI_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cri.pb-c.h"
#include "wire/runtime/cri.h"

/* --- memory ---------------------------------------------------------------------------------- */

#define CRI_ARENA_SMALL 16384 /* an ordinary item's message and texts */

/* Memory for one message at a time: taken piece by piece, given back all at once, and never more
 * than CRI_MEMORY_MAX, since tiny nested messages grow fiftyfold when they are unpacked. */
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
/* Fits _cleanup_(cri_arena_done). */
void cri_arena_done(struct cri_arena *arena);

/* The message, which is the arena's and stands until the next unpacking. -EBADMSG; -EMSGSIZE:
 * longer than CRI_ITEM_MAX, or no room in the arena; -ENOMEM. */
int cri_unpack(struct cri_arena *arena, const ProtobufCMessageDescriptor *type, const void *payload,
	       size_t len, ProtobufCMessage **ret);

/* --- texts ----------------------------------------------------------------------------------- */

/* Writes what the header allows of a text, "" otherwise; false: it was refused. cri_text_cut()
 * cuts one that is too long, between characters. */
bool cri_text_take(ProtobufCBinaryData text, char *ret, size_t size);
bool cri_text_cut(ProtobufCBinaryData text, char *ret, size_t size);

bool cri_id_take(ProtobufCBinaryData text, char ret[static META_ID_MAX]);
/* "" and true for no text at all. */
bool cri_uid_take(ProtobufCBinaryData text, char ret[static META_UID_MAX]);

/* A map as it is on the wire: of two pairs with one key the last counts. */
struct cri_map {
	size_t n;
	Cri__Pair *const *pairs;
};

/* The value, or no bytes; tells those from an empty value by *ret_found, which may be NULL. */
ProtobufCBinaryData cri_map_find(struct cri_map map, const char *key, bool *ret_found);

/* --- items ----------------------------------------------------------------------------------- */

/* The number on Linux of runtime.v1.Signal, whose members are in order of name; 0 for none. */
uint32_t cri_signal(uint32_t member);

/* False: its ID is none. *ret is written whole, or not at all. */
bool cri_item_sandbox(const Cri__PodSandbox *sandbox, const char *node, struct cri_item *ret);
bool cri_item_sandbox_status(const Cri__PodSandboxStatus *status, const char *node,
			     struct cri_item *ret);
bool cri_item_container(const Cri__Container *container, struct cri_item *ret);
bool cri_item_status(const Cri__ContainerStatus *status, struct cri_item *ret);

#endif
