/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a room hands on to the rooms after it. The engine receives each change in order, at once,
 * when the room's own state is complete, and passes it to the rooms that follow from it.
 */
#ifndef CORE_ENGINE_CHANGE_H
#define CORE_ENGINE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct cgnode;
struct epod;

/* Behind each, the members that are valid. */
enum change_type {
	/* Only what a checkpoint has of it is another now. */
	CHANGE_CGROUP,	  /* node: its cgroup or its stop */
	CHANGE_CGROUP_ID, /* id: there is no such container any more */
	CHANGE_POD_NAMES, /* uid: what sources provide about a pod */
	CHANGE_POD,	  /* pod: a pod that is followed */

	CHANGE_INIT_ENTERED,   /* node: its container has an init */
	CHANGE_INIT_SIGNALLED, /* node, at_ns: a manager asked its init to stop, or killed it */
	CHANGE_INIT_EXITED,    /* node, at_ns */
	CHANGE_CGROUP_EMPTY,   /* node, at_ns: it has no process left, since when is not known */
	CHANGE_VERDICT,	       /* node, gaps: the verdict on its stop was reported */
	CHANGE_EXIT_NOTED,     /* uid: the container's id, whose exit is in its names' entry */
	CHANGE_POD_FORGOTTEN,  /* uid: a pod is followed no longer */
	CHANGE_SHUTDOWN,       /* the node's shutdown: its state or its plan */
	CHANGE_SHUTDOWN_BEGUN, /* ... it was announced */
};

struct change {
	enum change_type type;
	uint32_t gaps;
	uint64_t id;
	uint64_t at_ns; /* CLOCK_BOOTTIME */
	struct cgnode *node;
	struct epod *pod;
	const char *uid;
};

typedef void (*change_fn)(void *userdata, const struct change *change);

#endif
