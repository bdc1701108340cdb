/* SPDX-License-Identifier: Apache-2.0 */
/* What this process uses, as /proc/self and its limits say, and what its host is and offers. */
#ifndef IO_PROC_SELF_H
#define IO_PROC_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selfstat {
	uint64_t cpu_ns; /* user and system */
	uint64_t resident_bytes, virtual_bytes;
	uint64_t open_fds, max_fds;
	int64_t start_wall_ns; /* since 1970, cut to the clock tick */
};

/* CPU time of all threads, user and system, in ns. */
uint64_t selfstat_cpu_ns(void);

/* Code and constants, of libraries too, that only a start needs: from here on their pages are the
 * page cache's alone, and what is needed again is mapped again. */
void self_drop_code(void);

/* -errno when /proc cannot be read. */
int selfstat_read(struct selfstat *ret);

/* What this host is and offers, beyond its cgroups and its BTF. */

/* "Linux 6.1.0 x86_64", truncated to size. */
void host_kernel(char *ret, size_t size);

bool host_is_socket(const char *path);
bool host_is_dir(const char *path);

/* Whether process ids here, and those in /proc, are those of the initial pid namespace, as BPF
 * programs report them. */
bool host_in_initial_pidns(void);

/* Whether CLOCK_BOOTTIME here, and with it the starts in /proc, is what BPF programs report: a time
 * namespace has offsets of its own. */
bool host_in_initial_timens(void);

/* Whether this process's root directory is that of the host's init: false in a container, and where
 * that cannot be seen. */
bool host_is_own_root(void);

#endif
