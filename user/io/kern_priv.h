/* SPDX-License-Identifier: Apache-2.0 */
/* What kern.c and kern_maps.c share. */
#ifndef IO_KERN_PRIV_H
#define IO_KERN_PRIV_H

#include <bpf/libbpf.h>

#include "io/kern.h"

#define KERN_PROGRAMS 9

struct graced_bpf;

struct kern {
	struct graced_bpf *skel;
	struct bpf_link *links[KERN_PROGRAMS];
	bool wanted[KERN_PROGRAMS];
	struct kern_flavours flavours;
	int ring_fd, watched_fd, inits_fd, stats_fd;
	int cpus;
};

#endif
