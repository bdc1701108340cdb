/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: observations as JSON lines.
 *
 * The first line is {"type":"graced-recording","version":1,"abi":1,"graced":"<version>"}. Each
 * further one is a flat object that holds one observation: "type" first, then "at_ns", then those
 * members that are not zero, false or empty (wire/recording/fields.c names them all). Integers are
 * exact to 64 bits. Strings are any bytes without NUL: one that is not UTF-8 is written as the lone
 * surrogate \udcXX, and comes back as that byte.
 *
 * The observations are read by our own code and not by jansson because a replay reads a million of
 * them a second: jansson builds a tree for each line first, which alone takes more than twenty
 * times as long as this reader takes in all, and it refuses integers above INT64_MAX and lone
 * surrogates. The header line is read by jansson. */
#ifndef WIRE_RECORDING_RECORDING_H
#define WIRE_RECORDING_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/engine/engine.h"
#include "core/facts/observation.h"

#define REC_VERSION  1
#define REC_LINE_MAX 65536 /* no observation's line is longer */

/* Adds the header line; graced_version is for people and not read. 0 or buf_error(). */
int rec_write_header(struct buf *out, const char *graced_version);

/* Adds the line of one observation. 0, -EINVAL for an unknown type, or buf_error(); on failure
 * out holds what it held. */
int rec_write_obs(struct buf *out, const struct obs *obs);

/* Checks the first line of a file, with or without its newline. 0; -ENOMSG: not a recording;
 * -EPROTONOSUPPORT: written by a newer program; -EBADMSG: a recording's header, but damaged. */
int rec_read_header(const char *line, size_t len);

/* Reads one further line, with or without its newline; it need not end with a NUL. -EBADMSG for
 * anything but one flat object of a known type with known members, each once and in its range.
 *
 * Only the type's members of *ret are written, and of a path only its bytes and at most seven zeros
 * behind them, so that the cost does not depend on the size of struct obs; after a failure they
 * hold anything. */
int rec_read_line(const char *line, size_t len, struct obs *ret);

/*
 * The settings of the engine that a recording was made with, as further members of its header line
 * (wire/recording/recording.h): without them a replay could judge the same observations differently.
 *
 * "scope":"containers","assumed_grace_ns":0,"nested_nodes":["/docker/…"],"container_roots":[],
 * "helpers":["tail"]
 */

#define REC_OPTIONS_NESTED_MAX	64
#define REC_OPTIONS_ROOTS_MAX	64
#define REC_OPTIONS_HELPERS_MAX 64

struct rec_options {
	struct engine_config engine;		  /* its lists are these */
	char *nested[REC_OPTIONS_NESTED_MAX + 1]; /* owned, NULL-ended */
	char *roots[REC_OPTIONS_ROOTS_MAX + 1];	  /* likewise */
	char *helpers[REC_OPTIONS_HELPERS_MAX + 1];
	int64_t version, abi; /* of the recording, 0: not said */
};

/* Adds the members to the header line that ends out. 0 or buf_error(). */
int rec_options_write(struct buf *out, const struct engine_config *config);

/* Reads them from a header line; what is missing or odd stays at its default. -EBADMSG for a line
 * that is no JSON object; *ret is to be freed by rec_options_done() in any case. */
int rec_options_read(const char *line, size_t len, struct rec_options *ret);
void rec_options_done(struct rec_options *options);

/* The members of each type of observation and their names in a recording: the one table that both
 * writer and reader go by. */

enum rec_kind {
	REC_UINT, /* of 4 or 8 bytes */
	REC_INT,  /* likewise, signed */
	REC_BOOL,
	REC_STRING, /* size counts its NUL */
};

struct rec_field {
	const char *key; /* with its quotes and colon, as it stands in the line */
	uint8_t key_len;
	uint8_t kind; /* enum rec_kind */
	uint16_t offset;
	uint16_t size;
};

/* What a line of one type holds behind "type" and "at_ns". The bytes of struct obs that a reader
 * must clear first are blank_size bytes from blank_offset. */
struct rec_layout {
	const char *name; /* with its quotes */
	const struct rec_field *fields;
	uint8_t name_len;
	uint8_t count; /* at most REC_FIELDS_MAX */
	uint16_t blank_offset;
	uint16_t blank_size;
};

#define REC_FIELDS_MAX 128

/* By enum obs_type; the one of OBS_NONE is empty, every other one has a name. */
extern const struct rec_layout rec_layouts[OBS_TYPE_COUNT];

/* NULL for OBS_NONE and for what is no type. */
const struct rec_layout *rec_layout(enum obs_type type);

#endif
