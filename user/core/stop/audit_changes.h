/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which containers an audit that goes on has something new to say about: those that have begun, and
 * those whose verdict is another one. A program installs its handlers some time after it has begun,
 * and a process blocks signals while it starts another one: a verdict counts when two looks in a
 * row agree on it, and that of a stage of the runtime does not count.
 */
#ifndef CORE_STOP_AUDIT_CHANGES_H
#define CORE_STOP_AUDIT_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stop/audit.h"

struct audit_change;

/* All zero: no container was looked at. */
struct audit_changes {
	struct audit_change *list;
	size_t n, room;
};

/* The container, by its cgroup's path and the process that was examined (both 0 when none was
 * seen): another process in the same cgroup is another container. */
struct audit_subject {
	const char *cgroup;
	uint32_t pid;
	uint64_t start_ns;
};

/* Takes a look at a container. *ret_new: its verdict counts, and is not the one that was reported
 * last; it is the one that was, then. 0 or -ENOMEM. */
int audit_changes_take(struct audit_changes *changes, const struct audit_subject *subject,
		       const struct audit *audit, bool *ret_new);

/* Whether fewer than looks were taken of it so far. */
bool audit_changes_is_young(const struct audit_changes *changes,
			    const struct audit_subject *subject, uint32_t looks);

/* All containers have been looked at: forgets those of which no look was taken since the last call.
 */
void audit_changes_end_round(struct audit_changes *changes);

void audit_changes_done(struct audit_changes *changes);

#endif
