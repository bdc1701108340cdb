/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a file that was replaced (statefile_write()) written to the disk, while this process goes on:
 * a disk may take long, and fsync(2) waits for it. The kernel's asynchronous I/O does not: its
 * fsync is run by a thread of the kernel (aio_fsync() of fs/aio.c, Linux 4.18).
 */
#ifndef IO_FILES_SYNC_H
#define IO_FILES_SYNC_H

#include <linux/aio_abi.h>

/* All zero is one that is not open. */
struct filesync {
	aio_context_t context;
	unsigned int pending;
	int failed; /* the one under way, so far: -errno */
	int error;  /* the last one that is over */
};

/*
 * Begins with what the file and its directory hold by now. 0; -EBUSY while an earlier one is under
 * way; else -errno, -ENOSYS for a kernel without it. An error of an earlier one is returned until
 * one has completed, and keeps none from being begun.
 */
int filesync_begin(struct filesync *sync, const char *path);

/* Waits for what is under way, as the end of the process would. */
void filesync_close(struct filesync *sync);

#endif
