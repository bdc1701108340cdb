/* SPDX-License-Identifier: Apache-2.0 */
/* Which service of a systemd a cgroup is: the path of the cgroup to the name of the unit. */
#ifndef CORE_NAMES_UNIT_NAME_H
#define CORE_NAMES_UNIT_NAME_H

#include <stdbool.h>

#include "core/names/meta.h"

/*
 * The service whose own cgroup path is, by its full name as systemctl prints it ("nginx.service",
 * "getty@tty1.service", "a\x2db.service": what is escaped in a name stays so). root is the cgroup
 * of the manager: "" or "/" for the host's. systemd.slice(5), systemd.unit(5); a name that could be
 * taken for a file of the kernel's has a "_" before it in the path (cg_escape in systemd's
 * src/basic/cgroup-util.c).
 *
 * False, with ret untouched, for a slice, a scope, a cgroup of another manager or below a unit (a
 * user's manager has units of its own there, a container runtime anything), for a name that is no
 * unit's, and for one that does not fit.
 */
bool unitname_service(const char *root, const char *path, char ret[static META_NAME_MAX]);

#endif
