// SPDX-License-Identifier: Apache-2.0
/* Reads who is in a cgroup, and the few figures the kernel keeps of it. */
#include "io/cgfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/cgfs_priv.h"
#include "io/fd.h"

#define PIDS_MAX 65536
#define TEXT_MAX (1u << 20)

struct members {
	cgfs_pid_fn fn;
	void *userdata;
	uint32_t left;
};

static int each_pid(struct members *m, const char *text, uint64_t id)
{
	for (const char *at = text; *at;) {
		unsigned long pid = strtoul(at, NULL, 10);
		int r;

		at += strcspn(at, "\n");
		at += *at == '\n';
		/* 0 is a process outside our own pid namespace. */
		if (!pid || pid > INT32_MAX)
			continue;
		if (!m->left)
			return -E2BIG;
		m->left--;
		r = m->fn(m->userdata, (pid_t)pid, id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int members_at(struct members *m, int dirfd_, const char *name, unsigned int depth)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	_cleanup_(cleanup_free) char *text = NULL;
	struct dirent *entry;
	struct stat st;
	int r = 0;

	if (fd_opendir(dirfd_, name, &dir) < 0 || fstat(dirfd(dir), &st) < 0)
		return 0;
	/* A threaded cgroup refuses; its processes are listed further up. */
	if (fd_read_all(dirfd(dir), "cgroup.procs", TEXT_MAX, &text) >= 0)
		r = each_pid(m, text, st.st_ino);
	while (r >= 0 && depth < CGFS_DEPTH_MAX && (entry = readdir(dir))) {
		if (cgfs_is_subdir(entry))
			r = members_at(m, dirfd(dir), entry->d_name, depth + 1);
	}
	return r;
}

static int walk(int dirfd_, const char *name, cgfs_pid_fn fn, void *userdata)
{
	struct members m = {fn, userdata, PIDS_MAX};
	int r = members_at(&m, dirfd_, name, 0);

	return r == -E2BIG ? 0 : r;
}

int cgfs_pids(struct cgfs *cgfs, const char *path, cgfs_pid_fn fn, void *userdata)
{
	return walk(cgfs->root_fd, cgfs_relative(path), fn, userdata);
}

int cgfs_pids_in(int dir, cgfs_pid_fn fn, void *userdata)
{
	return walk(dir, ".", fn, userdata);
}

int cgfs_parse_key(const char *text, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	for (const char *at = text; *at;) {
		if (strncmp(at, key, len) == 0 && at[len] == ' ' && at[len + 1] >= '0' &&
		    at[len + 1] <= '9') {
			*ret = strtoull(at + len + 1, NULL, 10);
			return 0;
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return -ENOENT;
}

static int read_key(struct cgfs *cgfs, const char *path, const char *file, const char *key,
		    uint64_t *ret)
{
	_cleanup_(cleanup_close) int fd = openat(cgfs->root_fd, cgfs_relative(path),
						 O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = fd_read_into(fd, file, text, sizeof(text));
	return n < 0 ? (int)n : cgfs_parse_key(text, key, ret);
}

static int found_one(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	(void)userdata;
	(void)pid;
	(void)cgroup_id;
	return -ECANCELED;
}

bool cgfs_populated(struct cgfs *cgfs, const char *path)
{
	uint64_t populated;

	if (cgfs->unified && read_key(cgfs, path, "cgroup.events", "populated", &populated) == 0)
		return populated != 0;
	return cgfs_pids(cgfs, path, found_one, NULL) == -ECANCELED;
}

int cgfs_oom_events(struct cgfs *cgfs, const char *path, uint64_t *ret)
{
	if (!cgfs->unified)
		return -ENOENT;
	return read_key(cgfs, path, "memory.events.local", "oom", ret) == 0 ? 0 : -ENOENT;
}
