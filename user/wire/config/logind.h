/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InhibitDelayMaxSec= as systemd-logind reads it (logind.conf(5), systemd.syntax(7),
 * systemd.time(7)): one file from memory, and the files in the order in which they count.
 */
#ifndef WIRE_CONFIG_LOGIND_H
#define WIRE_CONFIG_LOGIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/shutdown/delay_limit.h"

/* A larger file is taken for a broken one. */
#define LOGINDCONF_SIZE_MAX ((size_t)256 << 10)

/*
 * A span of time: "5min 20s", "1.5h", "infinity" (DELAYLIMIT_INFINITY), "30" for 30 s. In
 * microseconds. -EINVAL for what is none, an empty text included; -ERANGE for a sign or too much.
 */
int logindconf_span(const char *text, uint64_t *ret_us);

struct logindconf_value {
	bool said;   /* the file gives a value; one that is empty or no span counts as not there */
	bool broken; /* systemd stops reading here, and leaves out every later file */
	uint64_t us; /* the last of the file */
};

/* 0 or -ENOMEM. text may be any bytes. */
int logindconf_read(const char *text, size_t size, struct logindconf_value *ret);

/* One file. name is borrowed; "" for logind.conf itself, which comes before every drop-in. */
struct logindconf_file {
	const char *name; /* without directories */
	unsigned int
		rank; /* of its directory: 0 is /etc, higher ones are overridden by lower ones */
	struct logindconf_value value;
};

/* Whether systemd would read a drop-in of that name at all. */
bool logindconf_is_dropin(const char *name);

/*
 * Sorts the files as systemd merges them, the last one winning, and leaves out the ones that a
 * file of the same name in a directory of lower rank overrides. Returns how many are left.
 */
size_t logindconf_merge(struct logindconf_file *files, size_t n);

#endif
