/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup hierarchy that holds containers on this host, and the few things a test does to a
 * cgroup directory. Directories are absolute paths in the file system; "relative" paths start at
 * the hierarchy's root, as the tracer prints them.
 */
#ifndef TESTS_LIB_BOX_HIER_H
#define TESTS_LIB_BOX_HIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HIER_PATH_MAX 512

struct hier {
	bool unified;
	bool memory;		      /* memory can be limited here */
	char name[32];		      /* "unified" or the v1 controller */
	char mount[HIER_PATH_MAX];    /* where it is mounted */
	char v2_mount[HIER_PATH_MAX]; /* the cgroup2 tree, same as mount when unified, "" if none */
};

/*
 * Find the hierarchy as the tracer does by default: /sys/fs/cgroup itself when it is cgroup2, else
 * the v1 memory controller's. GRACED_TEST_HIERARCHY=unified|<v1 controller> overrides. -ENOENT when
 * it is
 * not mounted.
 */
int hier_detect(struct hier *ret);

/* The calling process's cgroup in the hierarchy, as a path from its root. */
int hier_own_path(const struct hier *hier, char *ret, size_t size);

/* A process's cgroup in the hierarchy, as a path from its root. -ESRCH when the process is gone. */
int hier_path_of(const struct hier *hier, pid_t pid, char *ret, size_t size);

/* Make one cgroup; fine if it exists. On a unified hierarchy its children get the memory controller
 * when delegate is set. */
int hier_make(const struct hier *hier, const char *dir, bool delegate);

/* Write text to a file of a cgroup. */
int cg_write(const char *dir, const char *file, const char *text);

/* The first line of a cgroup's file has a word. */
bool cg_has_word(const char *dir, const char *file, const char *word);

/* Move a process into a cgroup. */
int cg_enter(const char *dir, pid_t pid);

/* Hold the memory of a cgroup below bytes, swap included. */
int hier_limit_memory(const struct hier *hier, const char *dir, uint64_t bytes);

/* Read the processes directly in a cgroup: the number of pids found, at most n are stored. */
int cg_pids(const char *dir, pid_t *ret, size_t n);

/* SIGKILL whatever runs in the tree below dir and remove the tree, dir included. Waits for it, at
 * most PATIENCE_S; 0, or the error of what would not go. -ENOENT is no error. */
int cg_sweep(const char *dir);

/* Remove one empty cgroup, waiting until its last process has left it. Bounded as cg_sweep(). */
int cg_remove(const char *dir);

#endif
