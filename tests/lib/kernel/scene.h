/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene: one container, what is done to it, and the verdict that has to come out. Scenes are
 * data, so that the same ones are played one by one, many at once, or under load.
 */
#ifndef TESTS_LIB_KERNEL_SCENE_H
#define TESTS_LIB_KERNEL_SCENE_H

#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/kernel/tracer.h"

#define SCENE_ACTS    3
#define SCENE_GRACE_S 2 /* the grace period that scenes count on: --assume-grace 2s */

enum scene_who {
	BY_NOBODY,
	BY_HERE,	   /* the test itself, from outside every container */
	BY_RUNTIME,	   /* a process named runc, outside */
	BY_SAME_CONTAINER, /* a process added to the container */
	BY_SAME_POD,	   /* a process in another container of the pod */
	BY_OTHER_POD,	   /* a process in a container of another pod */
	BY_TRACER,	   /* an outside tracer that leaves with PTRACE_O_EXITKILL set */
};

struct scene_act {
	enum scene_who who;
	int sig;
	bool then_kill; /* the same sender waits out the grace period and sends SIGKILL */
};

struct scene {
	const char *claim; /* the sentence it proves */
	int row;	   /* of the decision table */

	/* The container. */
	const char *prog;    /* NULL: workload */
	const char *argv[8]; /* behaviour and arguments */
	bool host_pidns;
	bool stages;
	uint64_t memory, pod_memory;
	long in_syscall; /* wait until a thread of the init is in this system call; 0: none */

	/* What is done to it, in this order; then its go word is set to 1, and to 2. */
	struct scene_act acts[SCENE_ACTS];
	bool slow;	 /* takes a second or more */
	bool whole_node; /* memory has to run out above the pod: needs a tree with a limit */

	/* The verdict. */
	const char *outcome, *cause;
	const char *stop_result; /* NULL: delivered */
	bool deaf;
	bool kernel_kill; /* SIGKILL comes from the kernel */
	int collateral_kills, oom_kills;
	const char *gaps; /* JSON array in single quotes; NULL: complete */
};

/* What happened in one performance: the ground truth. */
struct played {
	const struct scene *scene;
	struct box box;
	struct box mate; /* the other container of the pod, for BY_SAME_POD */
	struct sent sent[2 * SCENE_ACTS];
	unsigned int n_sent;
	struct sent self; /* the init's own first kill(2); number is 0 if there was none */
	struct proc_end end;
	uint64_t exit_after_ns; /* the last clock read of the init */
};

/* All scenes; what needs more than one container of interest has a test of its own. */
extern const struct scene scene_table[];
extern const size_t scene_count;

/* What the scene needs that is not there (memory limits), or NULL. */
const char *scene_unavailable(const struct box_tree *tree, const struct scene *scene);

/*
 * Play a scene to its end, cgroups removed. other is a running box of another pod. 0 or -errno,
 * with what is left over left to box_tree_close(). ret must stay where it is: records of who sent
 * point into it.
 */
int scene_play(struct box_tree *tree, const struct scene *scene, const struct box *other,
	       struct played *ret);

/* Compare a stop record with what was played: see truth_compare(). */
int scene_check(const struct box_tree *tree, const struct played *played, const json_t *rec,
		char *why, size_t size);

#endif
