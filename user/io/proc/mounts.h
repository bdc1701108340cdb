/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the table of mounts of a mount namespace, and again whenever it changes (poll(2) on
 * /proc/PID/mountinfo), in slices and with pauses: a node has thousands of mounts, and a shutdown
 * changes hundreds of them in a second.
 */
#ifndef IO_PROC_MOUNTS_H
#define IO_PROC_MOUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "wire/kernel/mounts.h"

#define MOUNTS_LINE_MAX 65536  /* a longer line is left out */
#define MOUNTS_PAUSE_US 100000 /* between two readings at least */

struct mounts_sink {
	void *userdata;
	/* One line without its newline, valid during the call. */
	void (*line)(void *userdata, const char *line, size_t len);
	/* The whole table was read, or -errno. */
	void (*done)(void *userdata, int error);
};

struct mounts;

/* Reads the mount namespace of that process (1: the host's), or graced's own if that cannot be read
 * or pids here are not the host's. The first reading begins in the next turn of the loop. -errno.
 * Callbacks must not free the handle. */
int mounts_new(sd_event *event, uint32_t pid, const struct mounts_sink *sink, struct mounts **ret);
struct mounts *mounts_free(struct mounts *mounts);

/* The CSI driver of that mount, as the kubelet has written it below its root directory. False: it
 * has written none, or the file cannot be read; *ret stays as it was. */
bool mounts_read_driver(const char *root, const struct kubemount *mount,
			char ret[static SHUTDOWN_DRIVER_MAX]);

#endif
