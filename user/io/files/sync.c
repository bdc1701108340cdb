// SPDX-License-Identifier: Apache-2.0
/* Asynchronous I/O by its system calls: one request for the file, one for its name. */
#include "io/files/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"

#define REQUESTS 2

static int open_context(struct filesync *sync)
{
	if (sync->context)
		return 0;
	return syscall(SYS_io_setup, REQUESTS, &sync->context) < 0 ? -errno : 0;
}

/* 0, or the error of one that was under way. */
static int take_done(struct filesync *sync)
{
	struct timespec at_once = {};
	struct io_event events[REQUESTS];
	long n;
	int r = 0;

	if (!sync->pending)
		return 0;
	n = syscall(SYS_io_getevents, sync->context, 0L, (long)REQUESTS, events, &at_once);
	for (long i = 0; i < n; i++) {
		sync->pending--;
		if (events[i].res < 0)
			r = (int)events[i].res;
	}
	return r;
}

static struct iocb request(int fd)
{
	return (struct iocb){.aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = (uint32_t)fd};
}

/* The kernel holds the files for as long as it needs them. */
static int submit(struct filesync *sync, int file, int dir)
{
	struct iocb of_file = request(file), of_dir = request(dir);
	struct iocb *list[REQUESTS] = {&of_file, &of_dir};
	long n = syscall(SYS_io_submit, sync->context, (long)REQUESTS, list);

	if (n < 0)
		return -errno;
	sync->pending += (unsigned int)n;
	return 0;
}

int filesync_begin(struct filesync *sync, const char *path)
{
	_cleanup_(cleanup_close) int file = -1;
	_cleanup_(cleanup_close) int dir = -1;
	const char *name = strrchr(path, '/');
	char above[PATH_MAX];
	int r = take_done(sync);

	if (r < 0)
		return r;
	if (sync->pending)
		return -EBUSY;
	r = open_context(sync);
	if (r < 0)
		return r;
	if (!name || (size_t)(name - path) >= sizeof(above))
		return -EINVAL;
	snprintf(above, sizeof(above), "%.*s", (int)(name - path) ?: 1, path);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return -errno;
	dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : submit(sync, file, dir);
}

void filesync_close(struct filesync *sync)
{
	if (sync->context)
		syscall(SYS_io_destroy, sync->context);
	*sync = (struct filesync){};
}
