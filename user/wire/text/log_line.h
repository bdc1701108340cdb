/* SPDX-License-Identifier: Apache-2.0 */
/* One thing the daemon has to say, as a line of its log: logfmt or JSON. */
#ifndef WIRE_TEXT_LOG_LINE_H
#define WIRE_TEXT_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a pipe takes in one piece (PIPE_BUF): a line never mixes with another process's. */
#define LOGLINE_MAX 4096

struct logline_field {
	const char *key; /* a literal that needs no escape */
	const char *value;
};

struct logline {
	int level;	 /* as syslog(3) numbers them */
	int64_t wall_ns; /* since 1970 */
	const char *text;
	size_t text_len;
	const struct logline_field *fields;
	size_t n_fields;
};

/*
 * Adds `time=… level=… msg="…" key=value`, or the same as a JSON object, and a newline: at most
 * LOGLINE_MAX bytes, a text or value that is too long ends in "…", fields that find no room are
 * left out. What would be no plain text on a terminal, and bytes that are not UTF-8, are escaped
 * (in JSON the latter become U+FFFD). prefixed puts the `<N>` before it that systemd takes the
 * level from.
 */
void logline_add(struct buf *out, const struct logline *line, bool json, bool prefixed);

#endif
