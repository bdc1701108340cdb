/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which a daemon notes how its boot goes (core/boot/log), for the daemon of the next
 * boot: one JSON object. It comes from a disk, and may be cut, old, copied or forged.
 */
#ifndef WIRE_RECORDING_BOOT_NOTE_H
#define WIRE_RECORDING_BOOT_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/boot/log.h"

#define BOOTNOTE_FILE	  "boot" /* in the state directory */
#define BOOTNOTE_VERSION  1
#define BOOTNOTE_MAX_SIZE ((size_t)2 << 20)

struct bootnote {
	struct bootlog boot;
	struct bootlog previous; /* the boot that was reported last; without a boot id: none */
	uint64_t unclean;	 /* boots that were reported as unclean ends, with that one */
};

void bootnote_done(struct bootnote *note);

/* Adds the whole file; of the previous boot without the names of what was alive. buf_error(). */
int bootnote_write(struct buf *out, const struct bootnote *note);

/* Fills an empty note. -EBADMSG for what is no such object, -EPROTONOSUPPORT for another version,
 * -EFBIG, -ENOMEM; the note stays empty then. */
int bootnote_read(const char *text, size_t size, struct bootnote *ret);

#endif
