/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoint of a daemon: what the next one needs to go on from here. Lines:
 *
 *   graced-checkpoint 1 <boot id> <version>   the first; of another boot all of it is void
 *   o <a recording's line>                    to be fed to the engine (wire/recording/recording.h)
 *   t <a record's JSON line>                  about to be written to where lines go
 *   f                                         all t before it are written there
 *   .                                         what was added since the last one holds together
 *
 * A daemon that is killed may leave an addition without its end, which is ignored.
 */
#ifndef WIRE_RECORDING_CHECKPOINT_H
#define WIRE_RECORDING_CHECKPOINT_H

#include <stddef.h>

#include "base/buf.h"
#include "core/facts/observation.h"

#define KEEP_VERSION 1

/* Each adds one line; errors are buf_error()'s. An observation that cannot be written adds none. */
void keep_add_header(struct buf *out, const char *boot_id, const char *graced_version);
void keep_add_obs(struct buf *out, const struct obs *obs);
/* line ends with its newline. */
void keep_add_record(struct buf *out, const char *line, size_t size);
void keep_add_out(struct buf *out);
void keep_add_end(struct buf *out);

typedef void (*keep_obs_fn)(void *userdata, const struct obs *obs);

struct keep_counts {
	uint64_t observations; /* handed on */
	uint64_t repeated;     /* records that may not be written yet */
	uint64_t damaged;      /* lines that are nothing, and left out */
	uint64_t torn;	       /* bytes behind the last end, left out */
};

/*
 * Reads all of a file: hands each observation on, in order, and adds the records that may not have
 * been written, in order, each a line as it was reported. 0. -ENODATA: empty. -ENOMSG: no
 * checkpoint. -EPROTONOSUPPORT: of another form. -ESTALE: of another boot. -ENOMEM.
 */
int keep_read(const char *data, size_t size, const char *boot_id, keep_obs_fn fn, void *userdata,
	      struct buf *ret_records, struct keep_counts *ret);

#endif
