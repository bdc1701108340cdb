/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds single values in a JSON text without taking the rest of it apart: a file of a container
 * holds what its image's author wrote, and a tree of a megabyte of empty strings costs fifty. Only
 * structure is followed here; what a value says is left to jansson.
 *
 * A cut points into the caller's text and ends with it. A key matches as it is written, so none
 * that needs an escape is found.
 */
#ifndef WIRE_RUNTIME_FILES_CUT_H
#define WIRE_RUNTIME_FILES_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTRJSON_CUT_KEYS_MAX 8

/* at is NULL for what is not there; every function below takes it for nothing. */
struct ctrjson_cut {
	const char *at;
	size_t len;
};

/*
 * The first members of those names, in one pass: ret[i] for keys[i]. False, with ret as it was, for
 * anything but one whole object: cut short, or something follows. n is at most
 * CTRJSON_CUT_KEYS_MAX.
 */
bool ctrjson_cut_members(struct ctrjson_cut object, const char *const *keys, size_t n,
			 struct ctrjson_cut *ret);

/* Goes into an array: *ret is what ctrjson_cut_next() takes elements from; false for no array. */
bool ctrjson_cut_enter(struct ctrjson_cut array, struct ctrjson_cut *ret);
bool ctrjson_cut_next(struct ctrjson_cut *rest, struct ctrjson_cut *ret);

/* True for a string, decoded, which the caller frees: UTF-8 without a NUL inside. */
bool ctrjson_cut_string(struct ctrjson_cut value, char **ret);

/* True for an integer that fits. */
bool ctrjson_cut_int(struct ctrjson_cut value, int64_t *ret);

/* True for null. */
bool ctrjson_cut_null(struct ctrjson_cut value);

#endif
