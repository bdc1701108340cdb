/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test containers ("boxes"): real processes in real cgroups laid out as the kubelet lays them out,
 * in a private subtree of the containers' hierarchy:
 *
 *   /graced-<what>-<pid>/kubepods/burstable/pod<uid>/<64 hex id>
 *
 * Typical use (the error handling is left out):
 *
 *   struct box_tree tree;
 *   struct box box;
 *   struct proc_end end;
 *
 *   box_tree_open(&tree, "rows");
 *   box_start(&tree, &(struct box_spec){ .argv = BOX_ARGV("graceful") }, &box);
 *   send_signal(&tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent);      (send.h)
 *   proc_wait(&box.proc, &end);                                                (proc.h)
 *   box_remove(&box);
 *   box_tree_close(&tree);
 */
#ifndef TESTS_LIB_BOX_BOX_H
#define TESTS_LIB_BOX_BOX_H

#include "lib/box/box_tree.h"
#include "lib/box/proc.h"

#define BOX_ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

struct box;

struct box_spec {
	const char *prog;		/* helper program, default "workload" */
	const char *as;			/* run a copy of it that is called so; NULL: the program */
	const char *const *argv;	/* its arguments: a behaviour first */
	const struct box *pod_of;	/* put it into this box's pod; NULL for a pod of its own */
	const struct box *pidns_of;	/* share this box's pid namespace (shareProcessNamespace) */
	bool host_pidns;		/* no pid namespace of its own (hostPID) */
	bool stages;			/* started through a runc-like stage */
	bool twin;			/* also in a cgroup of the cgroup2 tree, for cgroup.kill */
	bool core;			/* may dump core */
	void (*run)(struct page *page); /* in place of the exec, as in proc.h; NULL for none */
	bool no_wait;			/* do not wait for "ready": for boxes that end at once */
	pid_t want_pid;			/* have this pid */
	uint64_t memory;		/* limit of the container's cgroup in bytes, 0 for none */
	uint64_t pod_memory;		/* limit of the pod's cgroup */
	const char *leaf; /* name of the container's cgroup, default a random 64 hex id */
	/* In no pod: its cgroup is leaf in this cgroup of the tree, like "system.slice". */
	const char *slice;
	const char *nested; /* run in this cgroup below the container's */
	/* Called when it has its names and nothing of it exists yet; NULL for none. 0 or -errno. */
	int (*named)(void *userdata, const struct box *box);
	void *userdata;
};

struct box {
	char uid[40]; /* the pod's uid */
	char id[65];  /* the container's id, "" when leaf was given */
	char pod_dir[HIER_PATH_MAX];
	char dir[HIER_PATH_MAX];	/* the container's cgroup directory */
	char path[HIER_PATH_MAX];	/* the same from the hierarchy's root, as records have it */
	char nested_dir[HIER_PATH_MAX]; /* "" or where the process runs below dir */
	char kill_dir[HIER_PATH_MAX];	/* the cgroup2 directory with cgroup.kill, "" if none */
	char comm[16];			/* of the init as started */
	bool pidns;			/* the init is PID 1 of its own pid namespace */
	bool owns_pod;
	struct proc proc;	     /* the init */
	pid_t init_pid, init_ns_pid; /* its pids, kept after it is reaped */
	uint64_t start_ticks; /* the init's start as /proc has it; 0 if it was gone already */
	uint64_t made_ns;     /* read before the first mkdir */
	uint64_t removed_ns;  /* read after the container's rmdir; 0 before */
};

/*
 * Start a container: make its cgroups, its init outside of them, move it in, exec, wait until it is
 * ready (or has ended). 0 or -errno with everything undone.
 */
int box_start(struct box_tree *tree, const struct box_spec *spec, struct box *ret);

/* Start a further process in a running container, as `exec` does: its parent stays outside. With
 * in_pidns it joins the container's pid namespace. The caller ends it with proc_free(). */
int box_exec(struct box_tree *tree, const struct box *box, const char *prog, bool in_pidns,
	     const char *const *argv, struct proc *ret);

/*
 * Free the init (killed if it still runs) and its page, wait until the container's cgroup is empty
 * and remove it and its pod's when this box made that and no other is in it. box keeps its names
 * and times.
 */
int box_remove(struct box *box);

#endif
