/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the init of every running container on this host and has it judged. */
#ifndef APP_COMMANDS_AUDIT_H
#define APP_COMMANDS_AUDIT_H

#include "app/commands/describe.h"
#include "app/config/options.h"
#include "core/cgroup/path.h"
#include "core/facts/observation.h"
#include "core/stop/audit.h"
#include "io/proc/proc.h"

struct audit_found {
	char *cgroup;
	struct cgpath path;
	bool nameless;			    /* what sources say of its id is not about it */
	struct obs_names names;		    /* by the log directories */
	const struct podtab_container *own; /* what better sources say; NULL: nothing */
	bool seen;			    /* false: of its processes none could be seen */
	struct procfs_proc init;	    /* valid when seen */
	struct procfs_proc app;		    /* the child behind a shell, valid when has_app */
	bool has_app;
	struct audit_facts facts;
	struct audit audit;
};

struct audit_list {
	struct audit_found *list; /* by pod and container */
	size_t n, room;
	struct describe *describe; /* what own points into; NULL: no source was queried */
};

/* Some containers only: no names are looked up, and the runtime is asked for their stop signals
 * when the first of them is there. */
struct audit_wanted {
	bool (*is)(void *userdata, const struct cgpath *path);
	void *userdata;
};

/* Each by its own stop signal, SIGTERM where that is unknown, in no order. Containers that end
 * meanwhile are left out, and so are those that are ending. Logs nothing of what goes wrong. 0 or
 * -errno; the list is to be freed either way. */
int audit_scan_wanted(const struct options *options, const struct audit_wanted *wanted,
		      struct audit_list *list);

void audit_list_free(struct audit_list *list);

#endif
