/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cgfs share. */
#ifndef IO_CGROUP_PRIV_H
#define IO_CGROUP_PRIV_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "io/cgroup/fs.h"

/* Levels below the root that a scan visits; each costs a descriptor while it is. */
#define CGFS_DEPTH_MAX 64

struct cgfs {
	int root_fd;
	bool unified;
	bool handles; /* a cgroup file system, whose file handles are the ids */
	char mount[];
};

/* Every name but these two may be a cgroup's, leading dots included. */
static inline bool cgfs_is_subdir(const struct dirent *entry)
{
	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
	       strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* The cgroup was removed meanwhile, or has no such file. */
static inline bool cgfs_is_gone(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -ENOTDIR;
}

/* A path below the hierarchy's root as openat() takes it, relative to root_fd. */
const char *cgfs_relative(const char *path);

/* A descriptor (O_PATH) of the cgroup of that id at path. -ENOENT: there is another one, or none. */
int cgfs_open_dir(struct cgfs *cgfs, const char *path, uint64_t id);

/* Processes of one cgroup that are handled together. */
#define CGFS_BATCH 256

/* The numbers in a file cgroup.procs, however long it is. */
struct cgfs_pids_file {
	int fd; /* -1: its end is reached */
	size_t at, len;
	int error; /* -errno of a part that could not be read; 0: none */
	char text[2048];
};

/* -errno. */
int cgfs_pids_file_open(int dir, struct cgfs_pids_file *ret);
/* False at the end of the file, which is closed then. */
bool cgfs_pids_file_next(struct cgfs_pids_file *file, pid_t *ret);
void cgfs_pids_file_close(struct cgfs_pids_file *file);

/* Takes what was done from what is left of a step. */
static inline void cgfs_use(uint32_t *work, size_t n)
{
	*work -= n < *work ? (uint32_t)n : *work;
}

/* Begins a walk over the processes (cgfs_members_begin()) at a directory. -errno; -ENOENT: there is
 * none. */
int cgfs_members_open(int dirfd, const char *path, struct cgfs_members **ret);

#endif
