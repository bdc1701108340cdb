/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cgroups are what their paths say. A path is only a claim: below a directory that is
 * delegated to a user (systemd's Delegate= with User=, a user's own systemd, a rootless runtime)
 * that user chooses the names in it, even the uid of another user's pod.
 */
#ifndef CORE_CGROUP_TRUST_H
#define CORE_CGROUP_TRUST_H

#include <stdint.h>

#include "core/cgroup/path.h"

enum cgtrust {
	CGTRUST_NONE,	    /* neither a pod nor a container, whatever its path says */
	CGTRUST_CONTAINERS, /* it may be a container, in no pod and without names */
	CGTRUST_PODS,	    /* what its path says */
};

/*
 * delegated_level is the level of the first component of path that users other than root could
 * choose; 0: none. roots is NULL-ended, from the configuration: a path outside of these is not
 * believed, and inside them cgroups that other users made count as containers, too. NULL or empty:
 * what root alone made is believed everywhere, but never below /user.slice.
 */
enum cgtrust cgtrust_of(const char *const *roots, const char *path, uint32_t delegated_level);

/* Takes away from what a path says what is not believed. */
void cgtrust_cut(enum cgtrust trust, struct cgpath *path);

#endif
