// SPDX-License-Identifier: Apache-2.0
/* Inits that have exited and wait for a process of their pid namespace, by /proc. */
#include "io/proc/held.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"

#define PF_EXITING 0x4
#define TICK_NS	   10000000ull

static int read_stat(uint32_t pid, struct procfs_stat *ret)
{
	char path[64], text[2048];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	return n < 0 ? (int)n : procfs_parse_stat(text, (size_t)n, ret);
}

/* The process's pid namespace; -1: unknown. */
static int open_pidns(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/pid", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static ino_t pidns_of(uint32_t pid)
{
	struct stat st = {};
	int fd = open_pidns(pid);

	if (fd < 0)
		return 0;
	fstat(fd, &st);
	close(fd);
	return st.st_ino;
}

/* In that pid namespace, or in one below it, whose PID 1 has to end before. */
static bool is_in_pidns(uint32_t pid, ino_t pidns)
{
	struct stat st;
	int fd = open_pidns(pid);

	while (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino != pidns) {
		int above = ioctl(fd, NS_GET_PARENT);

		close(fd);
		fd = above;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_zombie(const struct procfs_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

static bool is_pid1(uint32_t pid)
{
	struct procfs_status status;
	char path[64], text[8192];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	return n > 0 && procfs_parse_status(text, (size_t)n, &status) == 0 && status.ns_pid == 1 &&
	       status.ns_depth > 1;
}

bool held_is(uint32_t pid, uint64_t start_ns)
{
	struct procfs_stat stat;

	if (read_stat(pid, &stat) < 0 || !(stat.flags & PF_EXITING))
		return false;
	return (!start_ns || stat.start_ns == start_ns - start_ns % TICK_NS) && is_pid1(pid) &&
	       procfs_ends((pid_t)pid);
}

/* False: go on. */
typedef bool (*each_fn)(void *userdata, uint32_t pid);

static void each_process(each_fn fn, void *userdata)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;

	if (fd_opendir(AT_FDCWD, "/proc", &dir) < 0)
		return;
	while ((entry = readdir(dir))) {
		unsigned long pid = strtoul(entry->d_name, NULL, 10);

		if (pid && pid <= INT32_MAX && fn(userdata, (uint32_t)pid))
			return;
	}
}

struct search {
	uint32_t init;
	ino_t pidns;
	struct held found;
};

static bool take_holder(void *userdata, uint32_t pid)
{
	struct search *search = userdata;
	struct procfs_stat stat, parent = {};

	if (pid == search->init || !is_in_pidns(pid, search->pidns) || read_stat(pid, &stat) < 0)
		return false;
	read_stat(stat.ppid, &parent);
	search->found = (struct held){.pid = pid, .parent_pid = stat.ppid};
	memcpy(search->found.comm, stat.comm, sizeof(stat.comm));
	memcpy(search->found.parent_comm, parent.comm, sizeof(parent.comm));
	return is_zombie(&stat);
}

int held_find(uint32_t pid, struct held *ret)
{
	struct search search = {.init = pid, .pidns = pidns_of(pid)};

	if (!search.pidns)
		return -ENOENT;
	each_process(take_holder, &search);
	if (!search.found.pid)
		return -ENOENT;
	*ret = search.found;
	return 0;
}

static bool take_any(void *userdata, uint32_t pid)
{
	uint32_t *ret = userdata;

	if (!held_is(pid, 0))
		return false;
	*ret = pid;
	return true;
}

uint32_t held_any(void)
{
	uint32_t pid = 0;

	each_process(take_any, &pid);
	return pid;
}
