/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC as far as a client needs it beyond HTTP/2. */
#ifndef WIRE_GRPC_FRAME_H
#define WIRE_GRPC_FRAME_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "base/buf.h"

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
