/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look into JSON records and compare them with what was expected. Paths are member names joined by
 * dots: "stop_signal.sender.kind". Everything returned belongs to the record.
 */
#ifndef TESTS_LIB_JREC_H
#define TESTS_LIB_JREC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value at a path, or NULL when a member on the way is missing or no object. */
const json_t *jrec_get(const json_t *rec, const char *path);

/* The text at a path, "" when there is none. */
const char *jrec_text(const json_t *rec, const char *path);

/* The integer at a path, or otherwise. */
int64_t jrec_int(const json_t *rec, const char *path, int64_t otherwise);

/* The member is there and null. */
bool jrec_is_null(const json_t *rec, const char *path);

/*
 * Compare the members named in expected, a JSON object whose strings may be in single quotes:
 * "{'outcome':'killed','exit':{'signal':9}}". Members not named may be anything; arrays are
 * compared whole. Returns 0, or 1 with a sentence in why.
 */
int jrec_match(const json_t *rec, const char *expected, char *why, size_t size);

/* "2026-01-02T03:04:05.123456789Z" as ns since the epoch; 0 if it is anything else. */
uint64_t jrec_parse_time(const char *text);

#endif
