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

/* What is over of the one under way. */
static void take_done(struct filesync *sync)
{
	struct timespec at_once = {};
	struct io_event events[REQUESTS];
	long n;

	if (!sync->pending)
		return;
	n = syscall(SYS_io_getevents, sync->context, 0L, (long)REQUESTS, events, &at_once);
	for (long i = 0; i < n; i++) {
		sync->pending--;
		if (events[i].res < 0)
			sync->failed = (int)events[i].res;
	}
	if (!sync->pending)
		sync->error = sync->failed;
}

static struct iocb request(int fd)
{
	return (struct iocb){.aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = (uint32_t)fd};
}

/* The kernel holds the files for as long as it needs them. It takes what is before one that it
 * refuses. */
static int submit(struct filesync *sync, int file, int dir)
{
	struct iocb of_file = request(file), of_dir = request(dir);
	struct iocb *list[REQUESTS] = {&of_file, &of_dir};

	sync->failed = 0;
	while (sync->pending < REQUESTS) {
		long n = syscall(SYS_io_submit, sync->context, (long)(REQUESTS - sync->pending),
				 list + sync->pending);

		if (n <= 0)
			return n < 0 ? -errno : -EAGAIN;
		sync->pending += (unsigned int)n;
	}
	return 0;
}

static int begin(struct filesync *sync, const char *path)
{
	_cleanup_(cleanup_close) int file = -1;
	_cleanup_(cleanup_close) int dir = -1;
	const char *name = strrchr(path, '/');
	char above[PATH_MAX];
	int r = open_context(sync);

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

int filesync_begin(struct filesync *sync, const char *path)
{
	int r;

	take_done(sync);
	if (sync->pending)
		return -EBUSY;
	r = begin(sync, path);
	if (r < 0)
		sync->error = sync->failed = r;
	return sync->error;
}

void filesync_close(struct filesync *sync)
{
	if (sync->context)
		syscall(SYS_io_destroy, sync->context);
	*sync = (struct filesync){};
}
