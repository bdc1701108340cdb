/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every room of the engine has: the time, the host, and a way out, for effects to the world
 * and for changes to the rooms after it.
 */
#ifndef CORE_ENGINE_OUTPUT_H
#define CORE_ENGINE_OUTPUT_H

#include "core/model/effect.h"
#include "core/facts/observation.h"
#include "core/stop/record.h"

struct cgnode;
struct epod;

/*
 * What a room hands on to the rooms after it. The engine receives each change in order, at once,
 * when the room's own state is complete, and passes it to the rooms that follow from it.
 */
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
	CHANGE_SHUTDOWN_RUN,   /* ... what a checkpoint has of it */
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

struct output {
	/* The step under way. */
	uint64_t now_ns;
	effect_fn fn;
	void *userdata;

	change_fn on_change;
	void *on_change_userdata;
	bool is_marked; /* a checkpoint is written: changes that only it needs are handed on */

	bool attached; /* OBS_ATTACHED has come */
	uint64_t attached_ns;
	struct obs_attached host;

	struct record record; /* of the report under way */
};

void output_effect(struct output *out, const struct effect *effect);
/* Asks for the path of a cgroup whose record was lost. */
void output_find_cgroup(struct output *out, uint64_t id);
void output_read_counts(struct output *out, uint64_t id);
/* Corrects what the kernel half takes node for. */
void output_set_watch(struct output *out, const struct cgnode *node);
/* The record to fill in, all zero; size is that of the type's member. */
struct record *output_record(struct output *out, enum record_type type, size_t size,
			     uint64_t at_ns);
/* Hands the record of output_record() to the sinks. */
void output_report(struct output *out);

static inline void output_change(struct output *out, const struct change *change)
{
	out->on_change(out->on_change_userdata, change);
}

/* What a checkpoint has of node's cgroup or stop is another now. */
static inline void output_changed(struct output *out, struct cgnode *node)
{
	if (out->is_marked)
		output_change(out, &(struct change){.type = CHANGE_CGROUP, .node = node});
}

/* What a checkpoint has of a pod that is followed is another now. */
static inline void output_changed_pod(struct output *out, struct epod *pod)
{
	if (out->is_marked)
		output_change(out, &(struct change){.type = CHANGE_POD, .pod = pod});
}

#endif
