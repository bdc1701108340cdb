// SPDX-License-Identifier: Apache-2.0
/* Reads the clocks, the boot id and the node's name. */
#include "io/proc/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 5

static uint64_t read_ns(clockid_t id)
{
	struct timespec now = {};

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_monotonic_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int clock_left_ms(uint64_t until_ns)
{
	uint64_t now = clock_monotonic_ns();

	return until_ns > now ? (int)((until_ns - now + 999999) / 1000000) : 0;
}

uint64_t clock_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

int64_t clock_wall_offset_ns(void)
{
	uint64_t best = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t before = read_ns(CLOCK_BOOTTIME);
		uint64_t wall = read_ns(CLOCK_REALTIME);
		uint64_t width = read_ns(CLOCK_BOOTTIME) - before;

		if (width >= best)
			continue;
		best = width;
		offset = (int64_t)(wall - (before + width / 2));
	}
	return offset;
}

int clock_boot_id(char ret[static 37])
{
	char text[37] = "";
	ssize_t n;
	int fd;

	ret[0] = 0;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, 36);
	close(fd);
	if (n != 36)
		return -EIO;
	memcpy(ret, text, sizeof(text));
	return 0;
}

void clock_node_name(char *ret, size_t size)
{
	const char *name = getenv("NODE_NAME");
	char host[HOST_NAME_MAX + 1] = "";

	if (!name || !*name) {
		gethostname(host, sizeof(host) - 1);
		name = host;
	}
	snprintf(ret, size, "%s", name);
}
