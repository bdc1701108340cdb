/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup file system of the one hierarchy that holds the containers: walking it, finding a
 * cgroup by its id, and who is in it. A cgroup's id is its directory's inode number. Paths are
 * those below the hierarchy's root, "/" for the root itself, bytes of any content.
 */
#ifndef IO_CGROUP_FS_H
#define IO_CGROUP_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgfs;

/* A directory met by cgfs_scan(), valid while the visit lasts. */
struct cgfs_dir {
	uint64_t id;
	uint64_t parent_id; /* 0 for the one that the scan began at */
	uint32_t level;	    /* 0 for the root */
	/* Level of the first component of its path that others than root could choose, because root
	 * does not own the directory above it, or others may write there; 0: none. */
	uint32_t delegated_level;
	const char *path;
	int parent_fd;	  /* -1 for the root */
	const char *name; /* last component */
};

/* 1: go on below it; 0: do not; negative: end the scan with that. */
typedef int (*cgfs_visit_fn)(void *userdata, const struct cgfs_dir *dir);

/* One process of a cgroup. 0, or negative to end with that. */
typedef int (*cgfs_pid_fn)(void *userdata, pid_t pid, uint64_t cgroup_id);

struct cgfs_scan {
	uint32_t visited;
	uint32_t skipped; /* too deep, path too long, not readable, or beyond the bound of one scan */
};

/* mount is where the hierarchy's root is mounted. -errno of opening it. */
int cgfs_open(const char *mount, bool unified, struct cgfs **ret);
struct cgfs *cgfs_free(struct cgfs *cgfs);

/*
 * Visits the cgroup from ("/" is the root) and every cgroup below, parents before their children; a
 * directory's children are read after its visit returned. Never follows a symbolic link. Bounded in
 * depth and number; what fell off is counted in *ret (which may be NULL). Cgroups that vanish
 * meanwhile are no error, but from has to exist (-ENOENT).
 */
int cgfs_scan(struct cgfs *cgfs, const char *from, cgfs_visit_fn visit, void *userdata,
	      struct cgfs_scan *ret);

/* Whether a visited directory (but the one the scan began at) is still there under its name with
 * its id. */
bool cgfs_dir_exists(const struct cgfs_dir *dir);

/* The path of a cgroup's id, and its level. -ENOENT: there is none (any more); -E2BIG: not all of
 * them could be looked at; -EMFILE; -ENAMETOOLONG. */
int cgfs_path_of(struct cgfs *cgfs, uint64_t id, char *ret, size_t size, uint32_t *ret_level);

/* The delegated_level of the cgroup at a path, as far as it exists. */
uint32_t cgfs_delegated_level(struct cgfs *cgfs, const char *path);

/* The id of the cgroup at a path. -ENOENT: there is none. */
int cgfs_id_of(struct cgfs *cgfs, const char *path, uint64_t *ret);

/* Whether a live process is in the cgroup or below it, at any depth; true also where that cannot be
 * known, as below a hierarchy v1 cgroup with thousands of others in it. False for a path that does
 * not exist. Takes some 3 ms for a hierarchy v1 cgroup without processes that has others below. */
bool cgfs_populated(struct cgfs *cgfs, const char *path);

/* Each process in the cgroup and below it, at any depth, at most 65,536; a path that does not exist
 * has none. 0, or what fn ended it with. */
int cgfs_pids(struct cgfs *cgfs, const char *path, cgfs_pid_fn fn, void *userdata);

/*
 * A walk over the processes in a cgroup and below it, at any depth: it can be interrupted, holds
 * three descriptors at most, and the memory for the names of cgroups that are still to be visited.
 */
struct cgfs_members;

/* Some of the processes that are in one cgroup itself. */
struct cgfs_batch {
	int dir; /* the cgroup's, open while the call lasts */
	uint64_t id;
	const pid_t *pids;
	size_t n;
	uint32_t *work; /* left of the step; to take from what else is read */
};

/* 0, or negative to end with that. */
typedef int (*cgfs_batch_fn)(void *userdata, const struct cgfs_batch *batch);

/* Begins at the cgroup of that id at path. -errno; -ENOENT: there is another one, or none. */
int cgfs_members_begin(struct cgfs *cgfs, const char *path, uint64_t id, struct cgfs_members **ret);
struct cgfs_members *cgfs_members_free(struct cgfs_members *members);

/*
 * Goes on until *work is used up: each directory, name in a directory and process is one; a batch
 * may exceed it. 1: there is more; 0: all were visited; negative: what fn returned, or -errno of a
 * cgroup that could not be visited though it is there.
 */
int cgfs_members_step(struct cgfs_members *members, cgfs_batch_fn fn, void *userdata,
		      uint32_t *work);

/*
 * SIGKILL to every process in a cgroup and below it, at any depth. Where the kernel does not do it
 * at once (cgroup v2 since 5.14) the processes are sent it one by one, in rounds until no further
 * one is found: that may take long where they fork, and is done in steps. Whether they died of it
 * is to be seen.
 */
struct cgfs_kill;

/* 1: *ret is to be stepped and freed; 0: the kernel has done it, or -errno. -ENOENT: there is no
 * cgroup of that id; -EPERM: it is the root. */
int cgfs_kill_begin(struct cgfs *cgfs, uint64_t id, struct cgfs_kill **ret);
/* Uses up *work at most, but for a batch of 256 processes: each process, cgroup, name in a cgroup's
 * directory and line of a list of processes that is read again is one. 1: go on; 0: done; -errno:
 * done, but for a process or a cgroup that could not be reached (-EPERM: CAP_KILL is missing). */
int cgfs_kill_step(struct cgfs_kill *kill, uint32_t *work);
/* How often all processes were listed since cgfs_kill_begin(). There is no limit: a cgroup that
 * forks faster than it is listed has new processes in every round. */
uint32_t cgfs_kill_rounds(const struct cgfs_kill *kill);
struct cgfs_kill *cgfs_kill_free(struct cgfs_kill *kill);

/* A process as it was seen in a cgroup. */
struct cgfs_process {
	pid_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME, cut to the clock tick or not */
};

/*
 * Sends the signal to the process if it still is that one, and still in the cgroup of that id or
 * below it; no other that has its number by now receives it. controller: of the hierarchy, NULL for
 * the unified one. -ESRCH: it is not there any more; -ENOENT: there is no cgroup of that id;
 * -EPERM: that is the root, or CAP_KILL is missing; -EINVAL for an invalid signal; -errno.
 */
int cgfs_signal(struct cgfs *cgfs, const char *controller, uint64_t id,
		const struct cgfs_process *process, int signal);

/* How often memory ran out at this very level and at those below it, as the kernel counts it
 * (cgroup v2, memory.events.local and memory.events). -ENOENT where it does not say. */
int cgfs_oom_events(struct cgfs *cgfs, const char *path, uint64_t *ret, uint64_t *ret_below);

/* Looks a key up in lines of "key value"; -ENOENT when there is no such line with a number. */
int cgfs_parse_key(const char *text, const char *key, uint64_t *ret);

#endif
