/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cgroups are what their paths say. A path is only a claim: below a directory that is
 * delegated to a user (systemd's Delegate= with User=, a user's own systemd, a rootless runtime)
 * that user chooses the names in it, even the uid of another user's pod.
 */
#ifndef CORE_CGROUP_TRUST_H
#define CORE_CGROUP_TRUST_H

#include <linux/types.h>
#include <stdint.h>

#include "core/cgroup/path.h"
#include "graced/event.h"

enum cgtrust {
	CGTRUST_NONE,	    /* neither a pod nor a container, whatever its path says */
	CGTRUST_CONTAINERS, /* it may be a container, in no pod, with no name but its user's */
	CGTRUST_PODS,	    /* what its path says */
};

/*
 * delegated_level is the level of the first component of path that users other than root could
 * choose; 0: none. roots is NULL-ended, from the configuration: a path outside of these is not
 * believed, and inside them cgroups that other users made count as containers, too. NULL or empty:
 * what root alone made is believed everywhere, but below /user.slice cgroups that a user's own
 * systemd has count as containers, and nothing else.
 */
enum cgtrust cgtrust_of(const char *const *roots, const char *path, uint32_t delegated_level);

/*
 * The uid of the user below whose own systemd a cgroup is, which is
 * "/user.slice/user-<uid>.slice/user@<uid>.service": root's systemd chose that part of the path,
 * and that user all of the rest. 0: it is below none.
 */
uint32_t cgtrust_user(const char *path, uint32_t delegated_level);

/* The part that a path is in, as the kernel half has to know it (enum graced_part). */
uint32_t cgtrust_part(const char *const *roots, const char *path);

/* Which part a cgroup of that name is in, made in one of part `from`. */
typedef int (*cgtrust_step_fn)(void *userdata, const struct graced_step *from, uint32_t part);

/* All steps from one part to another; a negative result of fn ends it and is returned. */
int cgtrust_each_step(const char *const *roots, cgtrust_step_fn fn, void *userdata);

/* The part of what is made above a path of the list, and to which no step leads. */
uint32_t cgtrust_part_else(const char *const *roots);

/* Takes away from what a path says what is not believed. */
void cgtrust_cut(enum cgtrust trust, struct cgpath *path);

#endif
