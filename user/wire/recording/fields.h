/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each type of observation and their names in a recording: the one table that both
 * writer and reader go by. */
#ifndef WIRE_RECORDING_FIELDS_H
#define WIRE_RECORDING_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/facts/observation.h"

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
