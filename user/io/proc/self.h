/* SPDX-License-Identifier: Apache-2.0 */
/* What this process uses, as /proc/self and its limits tell. */
#ifndef IO_PROC_SELF_H
#define IO_PROC_SELF_H

#include <stdint.h>

struct selfstat {
	uint64_t cpu_ns; /* user and system */
	uint64_t resident_bytes, virtual_bytes;
	uint64_t open_fds, max_fds;
	int64_t start_wall_ns; /* since 1970, cut to the clock tick */
};

/* CPU time of all threads, user and system, in ns. */
uint64_t selfstat_cpu_ns(void);

/* -errno when /proc cannot be read. */
int selfstat_read(struct selfstat *ret);

#endif
