/* SPDX-License-Identifier: Apache-2.0 */
/* What cgfs.c and cgfs_members.c share. */
#ifndef IO_CGFS_PRIV_H
#define IO_CGFS_PRIV_H

#include <dirent.h>
#include <stdbool.h>
#include <string.h>

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

#endif
