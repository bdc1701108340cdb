/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the init of every running container on this host and has it judged. */
#ifndef APP_COMMANDS_AUDIT_H
#define APP_COMMANDS_AUDIT_H

#include "app/query/describe.h"
#include "app/config/options.h"
#include "core/cgroup/path.h"
#include "core/facts/observation.h"
#include "core/stop/audit_record.h"
#include "core/tree/tree.h"
#include "io/proc/proc.h"

/* The processes below an init, and what would become of each. */

/* All zero: nothing was looked at. */
struct audit_tree {
	struct tree tree;
	struct audit_seen *seen; /* what the tree's strings are in */
};

struct audit_tree_of {
	const struct procfs_proc *init;
	const struct procfs_proc *members; /* the processes of the cgroup */
	size_t n;
	const struct audit_facts *facts; /* of the init */
	const struct audit *audit;	 /* likewise */
	bool only_below;		 /* it is not an init: the others do not concern it */
};

/* 0 or -ENOMEM. */
int audit_tree_read(const struct audit_tree_of *of, struct audit_tree *ret);

void audit_tree_free(struct audit_tree *tree);

struct audit_found {
	char *cgroup;
	struct cgpath path;
	bool nameless;			    /* what sources say of its id is not about it */
	struct obs_names names;		    /* by the log directories */
	const struct podtab_container *own; /* what better sources say; NULL: nothing */
	bool seen;			    /* false: of its processes none could be seen */
	struct procfs_proc init;	    /* valid when seen */
	/* The child behind a shell, or that of an init that passes signals on; valid when has_app. */
	struct procfs_proc app;
	bool has_app;
	struct audit_facts facts;
	struct audit audit;
	struct audit_tree tree; /* where the list has trees */
	struct audit_pair pairs[AUDIT_PAIRS];
};

/* Which containers are examined at all. */
struct audit_only {
	bool (*is)(void *userdata, const struct record_pod *pod,
		   const struct record_container *container);
	void *userdata;
	pid_t pid; /* and the one that this process is in; 0: none */
};

struct audit_list {
	struct audit_found *list; /* by pod and container */
	size_t n, room;
	struct describe *describe;     /* what own points into; NULL: no source was queried */
	bool quiet;		       /* do not log which sources fail */
	bool trees;		       /* look at the processes below each init, too */
	const struct audit_only *only; /* NULL: all */
};

/*
 * Each by this signal, 0: by its own stop signal, SIGTERM where that is unknown; in the order of
 * pods and containers. Containers that end meanwhile are left out, and so are those that are
 * ending. What list->describe has is used; where it is NULL the sources are queried. Logs what goes
 * wrong. 0 or -errno; the list is to be freed either way.
 */
int audit_scan(const struct options *options, uint32_t signal, struct audit_list *list);

/* The same for one process, whether it is in a container or not, as if that signal were sent to it.
 */
int audit_scan_pid(const struct options *options, uint32_t signal, pid_t pid,
		   struct audit_list *list);

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

/* Its strings are those of list and found; without times and node. */
struct audit_record audit_record_of(const struct audit_list *list, const struct audit_found *found);

#define AUDIT_NODE_SIZE 256

/* The records of those that the options' filter wants; *ret is to be freed, and its strings are
 * those of list and node. 0 or -ENOMEM. */
int audit_records(const struct options *options, const struct audit_list *list,
		  char node[static AUDIT_NODE_SIZE], struct audit_record **ret, size_t *ret_n);

#endif
