// SPDX-License-Identifier: Apache-2.0
/* Walks a list of sandboxes or containers: finds the next entry in the bytes, reads it alone. */
#include <errno.h>

#include "base/cleanup.h"
#include "wire/runtime/cri_priv.h"

#define ENTRY 1 /* the list's field in ListPodSandboxResponse and in ListContainersResponse */

/* Wire types that are still in use (protobuf.dev/programming-guides/encoding). */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct field {
	uint64_t number;
	uint32_t type;
	const uint8_t *bytes; /* of BYTES */
	size_t len;
	size_t end; /* where the next one begins */
};

static int read_varint(const struct cri_walk *walk, size_t *at, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && *at < walk->len; shift += 7) {
		uint8_t byte = walk->payload[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

static int read_field(const struct cri_walk *walk, struct field *ret)
{
	size_t at = walk->at;
	struct field field = {};
	uint64_t value;

	if (read_varint(walk, &at, &value) < 0 || value >> 3 == 0 || value > UINT32_MAX)
		return -EBADMSG;
	field.number = value >> 3;
	field.type = value & 7;
	if (field.type == VARINT) {
		if (read_varint(walk, &at, &value) < 0)
			return -EBADMSG;
		value = 0;
	} else if (field.type == FIXED64 || field.type == FIXED32) {
		value = field.type == FIXED64 ? 8 : 4;
	} else if (field.type != BYTES || read_varint(walk, &at, &value) < 0) {
		return -EBADMSG;
	}
	if (value > walk->len - at)
		return -EBADMSG;
	field.bytes = walk->payload + at;
	field.len = (size_t)value;
	field.end = at + field.len;
	*ret = field;
	return 0;
}

void cri_walk_start(struct cri_walk *walk, enum cri_method method, const char *node,
		    const void *payload, size_t len)
{
	*walk = (struct cri_walk){.method = method, .node = node, .payload = payload, .len = len};
}

/* 0, or why it is none: -EBADMSG, -EMSGSIZE; -ENOMEM. */
static int read_entry(const struct cri_walk *walk, const struct field *field, struct cri_item *ret)
{
	_cleanup_(cri_arena_done) struct cri_arena arena;
	bool sandboxes = walk->method == CRI_SANDBOXES, filled;
	ProtobufCMessage *message;
	int r;

	cri_arena_start(&arena);
	r = cri_unpack(&arena,
		       sandboxes ? &cri__pod_sandbox__descriptor : &cri__container__descriptor,
		       field->bytes, field->len, &message);
	if (r < 0)
		return r;
	if (sandboxes)
		filled = cri_item_sandbox((const Cri__PodSandbox *)message, walk->node, ret);
	else
		filled = cri_item_container((const Cri__Container *)message, ret);
	return filled ? 0 : -EBADMSG;
}

int cri_walk_next(struct cri_walk *walk, struct cri_item *ret)
{
	struct field field;
	int r;

	if (walk->at >= walk->len)
		return CRI_WALK_END;
	r = read_field(walk, &field);
	if (r < 0)
		return r;
	if (field.number != ENTRY || field.type != BYTES) {
		walk->at = field.end;
		return CRI_WALK_SKIPPED;
	}
	r = read_entry(walk, &field, ret);
	if (r == -ENOMEM)
		return r;
	walk->at = field.end;
	if (r < 0) {
		walk->skipped++;
		return CRI_WALK_SKIPPED;
	}
	walk->items++;
	walk->refused += ret->refused;
	return CRI_WALK_ITEM;
}
