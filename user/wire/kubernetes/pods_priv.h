/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of podjson and podread alone. */
#ifndef WIRE_KUBERNETES_PODS_PRIV_H
#define WIRE_KUBERNETES_PODS_PRIV_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "wire/kubernetes/pods.h"

/* Bytes of JSON and how far they were read. */
struct podjson_bytes {
	const char *text;
	size_t size, at;
};

/* Where a scan stands; all zero at a value's first byte. */
struct podjson_scan {
	uint64_t objects; /* one bit for each open bracket, the innermost lowest: whether it is { */
	uint32_t depth;
	bool text, escaped; /* inside a string, behind its backslash */
	bool bare;	    /* inside a number or a word at the top */
};

/*
 * Goes on over one value until it ends, in->at behind it, or until limit. 1: it ended; 0: it did
 * not; -EBADMSG: it cannot end well. Only brackets and quotes are looked at, and of brackets deeper
 * than 64 only the number.
 */
int podjson_scan(struct podjson_scan *scan, struct podjson_bytes *in, size_t limit);

/* Passes over at most 4 KiB of white space; the next byte, which is left, or 0 at
 * the end. */
char podjson_peek(struct podjson_bytes *in);
/* Takes the next byte after white space if it is this one. */
bool podjson_take(struct podjson_bytes *in, char c);

/*
 * Adds what is read of a pod to out: those of its members that podjson_pod_tell() looks at, without
 * what is in them beyond that. The bytes are one value as podjson_scan() found it. 0, -EBADMSG,
 * -E2BIG beyond PODJSON_VALUES_MAX, -ENOMEM.
 */
int podjson_sieve(const char *text, size_t size, struct buf *out);

/* Reads the metadata of a list; what is longer than anybody writes it says that there is more. */
void podjson_list_read(const char *text, size_t size, struct podjson_list *ret);

/* Whether there is a pod to tell of in what was sieved, and tells it and its containers if so. */
bool podjson_pod_tell(const json_t *pod, const struct podjson_sink *sink);
void podjson_containers_tell(const json_t *pod, const char *uid, const struct podjson_sink *sink);
/* Whether the status has the ids of all containers of the spec that were ever made. */
bool podjson_containers_complete(const json_t *pod);

/* The owner reference of what controls the object; NULL: none. */
const json_t *podjson_controller(const json_t *metadata);

/* An object's member; NULL when there is none, or no object, or it is null. */
const json_t *podjson_get(const json_t *object, const char *key);
/* Copies text of 1 to size - 1 bytes; ret stays as it is for anything else. */
void podjson_copy(const json_t *value, char *ret, size_t size);
/* A whole number, taken for 2^53 or its negative where it is beyond what a double holds exactly;
 * false, and *ret as it was, for anything else. */
bool podjson_integer(const json_t *value, int64_t *ret);
/* The place of a word in a NULL-terminated list, from 1 on; 0 for anything else. */
uint32_t podjson_word(const json_t *value, const char *const *words);
/* RFC 3339 with any offset, fractions cut at nanoseconds; false, and *ret as it was, for anything
 * else and for times outside of int64_t. */
bool podjson_time(const json_t *value, int64_t *ret_wall_ns);

#endif
