/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the BPF programs see of io/kernel/kernel, which alone includes this otherwise. */
#ifndef IO_KERNEL_PRIV_H
#define IO_KERNEL_PRIV_H

#include <bpf/libbpf.h>

#include "io/kernel/kernel.h"

#define KERN_PROGRAMS 14

struct graced_bpf;
struct graced_bpf__bss;

struct kern {
	struct graced_bpf *skel;     /* NULL: it is loaded */
	struct graced_bpf__bss *bss; /* the kernel half's variables, mapped; NULL: not yet */
	int program_fds[KERN_PROGRAMS], links[KERN_PROGRAMS]; /* -1: not wanted, not attached */
	int renames[2];					      /* of cgroups, in a v1 hierarchy */
	bool wanted[KERN_PROGRAMS], raw[KERN_PROGRAMS];	      /* raw: loaded for no type */
	int ssid;
	struct kern_flavours flavours;
	int ring_fd, watched_fd, inits_fd, stats_fd, noisy_fd, costs_fd;
	int set_kind_fd, set_stop_fd, delete_fd; /* programs that change or delete an entry */
	int cpus;
};

#endif
