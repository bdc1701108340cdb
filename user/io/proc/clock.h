/* SPDX-License-Identifier: Apache-2.0 */
/* The host's clocks and names: now, how far wall time is from it, which boot, which node. */
#ifndef IO_PROC_CLOCK_H
#define IO_PROC_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK_BOOTTIME in ns. */
uint64_t clock_boot_ns(void);

/* CLOCK_MONOTONIC in ns, for who needs that one. */
uint64_t clock_monotonic_ns(void);

/* How many ms are left until then by CLOCK_MONOTONIC, rounded up, for poll(); 0: it is past. */
int clock_left_ms(uint64_t until_ns);

/* CPU time of the calling thread in ns: what work took of it, however long others held it up. */
uint64_t clock_thread_ns(void);

/* CLOCK_REALTIME in ns, to hold against the times of files; it may be stepped. */
uint64_t clock_wall_ns(void);

/* CLOCK_REALTIME minus CLOCK_BOOTTIME in ns: of several pairs of readings, the tightest one. */
int64_t clock_wall_offset_ns(void);

/* The boot's id as the kernel prints it, 36 characters; "" with a negative errno when it cannot be
 * read. */
int clock_boot_id(char ret[static 37]);

/* NODE_NAME from the environment (the downward API of Kubernetes sets it), else the host name;
 * truncated to size. */
void clock_node_name(char *ret, size_t size);

#endif
