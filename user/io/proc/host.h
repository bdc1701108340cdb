/* SPDX-License-Identifier: Apache-2.0 */
/* What this host is and offers, beyond its cgroups and its BTF. */
#ifndef IO_PROC_HOST_H
#define IO_PROC_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "Linux 6.1.0 x86_64", truncated to size. */
void host_kernel(char *ret, size_t size);

bool host_is_socket(const char *path);
bool host_is_dir(const char *path);

/* Whether process ids here, and those in /proc, are those of the initial pid namespace, as BPF
 * programs report them. */
bool host_in_initial_pidns(void);

#endif
