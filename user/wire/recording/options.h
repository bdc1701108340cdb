/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the engine that a recording was made with, as further members of its header line
 * (wire/recording/recording.h): without them a replay could judge the same observations differently.
 *
 * "scope":"containers","assumed_grace_ns":0,"nested_nodes":["/docker/…"],"container_roots":[]
 */
#ifndef WIRE_RECORDING_OPTIONS_H
#define WIRE_RECORDING_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/engine/engine.h"

#define REC_OPTIONS_NESTED_MAX 64
#define REC_OPTIONS_ROOTS_MAX  64

struct rec_options {
	struct engine_config engine;		  /* its lists are these */
	char *nested[REC_OPTIONS_NESTED_MAX + 1]; /* owned, NULL-ended */
	char *roots[REC_OPTIONS_ROOTS_MAX + 1];	  /* likewise */
	int64_t version, abi;			  /* of the recording, 0: not said */
};

/* Adds the members to the header line that ends out. 0 or buf_error(). */
int rec_options_write(struct buf *out, const struct engine_config *config);

/* Reads them from a header line; what is missing or odd stays at its default. -EBADMSG for a line
 * that is no JSON object; *ret is to be freed by rec_options_done() in any case. */
int rec_options_read(const char *line, size_t len, struct rec_options *ret);
void rec_options_done(struct rec_options *options);

#endif
