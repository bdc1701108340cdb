/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes over JSON by its brackets and quotes alone, in one pass and without memory: lists of pods
 * and files of container engines hold what their authors wrote, and jansson, which has no parser of
 * events, would build a tree of all of it, at fifty bytes and more for one of text. What a single
 * value says is left to jansson.
 */
#ifndef WIRE_JSON_WALK_H
#define WIRE_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of JSON and how far they were read. */
struct jsonwalk {
	const char *text;
	size_t size, at;
};

/* Where a scan stands; all zero at a value's first byte. */
struct jsonwalk_scan {
	uint64_t objects; /* one bit for each open bracket, the innermost lowest: whether it is { */
	uint32_t depth;
	bool text, escaped; /* inside a string, behind its backslash */
	bool bare;	    /* inside a number or a word at the top */
};

/*
 * Goes on over one value until it ends, in->at behind it, or until limit. 1: it ended; 0: it did
 * not; -EBADMSG: it cannot end well. Inside a value only brackets and quotes are looked at, and of
 * brackets deeper than 64 only the number.
 */
int jsonwalk_scan(struct jsonwalk_scan *scan, struct jsonwalk *in, size_t limit);

/* Passes over at most 4 KiB of white space; the next byte, which is left, or 0 at the end. */
char jsonwalk_peek(struct jsonwalk *in);
/* Takes the next byte after white space if it is this one. */
bool jsonwalk_take(struct jsonwalk *in, char c);

/* No text has more values than this, whatever it is: to bound what a parser makes of it. */
size_t jsonwalk_count(const char *text, size_t size);

/* A value's bytes in the caller's text; at is NULL for one that is not there, which every function
 * below takes for nothing. */
struct jsonwalk_value {
	const char *at;
	size_t len;
};

/* Takes one whole value; a number or a word may end with the text. */
bool jsonwalk_next(struct jsonwalk *in, struct jsonwalk_value *ret);

#define JSONWALK_KEYS_MAX 8

/*
 * The first members of those names, in one pass: ret[i] for keys[i]. False, with ret as it was, for
 * anything but one whole object: cut short, or something follows. A key matches as it is written,
 * so none that needs an escape is found. n is at most JSONWALK_KEYS_MAX.
 */
bool jsonwalk_members(struct jsonwalk_value object, const char *const *keys, size_t n,
		      struct jsonwalk_value *ret);

/* Goes into an array: *ret is what jsonwalk_element() takes elements from; false for no array. */
bool jsonwalk_enter(struct jsonwalk_value array, struct jsonwalk *ret);
bool jsonwalk_element(struct jsonwalk *rest, struct jsonwalk_value *ret);

/* True for a string, decoded, which the caller frees: UTF-8 without a NUL inside. */
bool jsonwalk_string(struct jsonwalk_value value, char **ret);
/* True for an integer that fits. */
bool jsonwalk_int(struct jsonwalk_value value, int64_t *ret);
bool jsonwalk_is_null(struct jsonwalk_value value);

#endif
