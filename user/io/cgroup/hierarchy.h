/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cgroup hierarchy holds the containers of this host: the unified one, or on hybrid and
 * legacy hosts that of a v1 controller, memory first. Reading is split from parsing, so that the
 * choice is testable on any text.
 */
#ifndef IO_CGROUP_HIERARCHY_H
#define IO_CGROUP_HIERARCHY_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/facts/look.h"

struct hierarchy {
	bool unified;
	char name[32];	      /* "unified" or the v1 controller */
	char mount[PATH_MAX]; /* where it is mounted, its very root */
	uint32_t id;	      /* as in /proc/cgroups; 0 for the unified one */
	bool memory_ids;      /* the memory controller's cgroups are cgroups of this hierarchy */
};

/* One line of /proc/self/mountinfo that mounts a cgroup hierarchy. */
struct hierarchy_mount {
	bool unified;
	char point[PATH_MAX];  /* unescaped */
	char controllers[256]; /* v1: its options, separated by commas */
};

/* Parses a line (without its newline). False: not a mounted cgroup hierarchy, or not a line. */
bool hierarchy_parse_mount(const char *line, size_t len, struct hierarchy_mount *ret);

/*
 * Decides by the text of /proc/self/mountinfo and /proc/cgroups. name is "unified", a v1 controller
 * or NULL for the default choice. is_root returns whether a mount point shows a hierarchy from its
 * root on; a mount that shows a subtree is no candidate.
 *
 * -ENOENT: no such hierarchy is mounted. -EXDEV: it is, but only a subtree of it is visible.
 */
int hierarchy_choose(const char *mountinfo, const char *proc_cgroups, const char *name,
		     bool (*is_root)(void *userdata, const char *mount_point), void *userdata,
		     struct hierarchy *ret);

/* The same for this host as it is now. */
int hierarchy_detect(const char *name, struct hierarchy *ret);
/* The same; a mount that shows a subtree, as in a container, will do where there is no other. */
int hierarchy_detect_part(const char *name, struct hierarchy *ret);

/* Whether a process is frozen by its cgroup: v2's cgroup.freeze or v1's freezer controller, on
 * hybrid hosts either. */

struct freezer {
	bool has_v1, has_v2;
	struct hierarchy v1, v2;
	/* The mount of the containers' hierarchy, in which freezer_holds() is given a path; "". */
	char containers[PATH_MAX];
};

/* What is mounted here; a host without either freezes nothing. */
void freezer_find(struct freezer *ret);

/* path: of a cgroup in the containers' hierarchy that counts there in place of the process's own,
 * which may be one below; NULL: its own. */
bool freezer_holds(const struct freezer *freezer, pid_t pid, const char *path);

/* What the kernel counts of a container's limits: CPU, processes, memory, I/O; and whether it is
 * frozen. On a node with hierarchies v1 each controller may have one of its own. */

/* Where the controllers are mounted. */
struct figures;

/* 0 or -ENOMEM. The hierarchy is that of the containers. */
int figures_new(const struct hierarchy *containers, struct figures **ret);
struct figures *figures_free(struct figures *figures);

/* Reads the figures of the container at path; in the other hierarchies at the path of its init, if
 * that has the same name. What cannot be read is 0. */
void figures_read(const struct figures *figures, const char *path, pid_t init,
		  struct obs_looked *ret);

#endif
