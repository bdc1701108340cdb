/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cgfs share. */
#ifndef IO_CGFS_PRIV_H
#define IO_CGFS_PRIV_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "io/cgfs.h"

/* Levels below the root that are walked; each costs a descriptor while it is. */
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

/* A path below the hierarchy's root as openat() takes it, relative to root_fd. */
const char *cgfs_relative(const char *path);

/* A descriptor (O_PATH) of the cgroup of that id at path. -ENOENT: there is another one, or none. */
int cgfs_open_dir(struct cgfs *cgfs, const char *path, uint64_t id);

/* cgfs_pids() of an open directory, which has none once its cgroup is gone. */
int cgfs_pids_in(int dir, cgfs_pid_fn fn, void *userdata);

#endif
