/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves the engine: a record for the sinks, a question to a source, an action. A room decides
 * on an effect; the engine adds which container or pod it is about. */
#ifndef CORE_MODEL_EFFECT_H
#define CORE_MODEL_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/pod.h"

struct record;
struct shutdown_record;

enum effect_type {
	EFFECT_REPORT,	    /* hand record to the sinks */
	EFFECT_WAKE_AT,	    /* send OBS_TIMER at at_ns; replaces the earlier wish; 0 cancels it */
	EFFECT_READ_COUNTS, /* answer with OBS_COUNTS for id */
	EFFECT_FIND_CGROUP, /* answer with OBS_CGROUP_FOUND for id, if it exists */
	EFFECT_PROBE_INIT,  /* answer with OBS_PROBE for id, pid, start_ns; holder: who holds it */
	EFFECT_FIND_NAMES,  /* answer with OBS_NAMES for id, pod_uid, container_id */
	EFFECT_FIND_POD,    /* the same for pod_uid alone, with what holds now */
	EFFECT_FIND_EXIT,   /* answer with OBS_CONTAINER once container_id's runtime has its exit */
	/* Answer with OBS_IDENTITY if id is a container in disguise; with a kind, what the kernel
	 * half takes it for, also if it is none. */
	EFFECT_IDENTIFY,
	/* Look at the processes of id, whose init is pid; with waits, at what they wait for: answer
	 * with OBS_LOOK and OBS_LOOKED. */
	EFFECT_LOOK,
	EFFECT_SET_WATCH, /* correct the kernel half's entry for id to kind */
	EFFECT_SET_STOP,  /* give it id's own stop signal */
	EFFECT_SET_INIT,  /* pid is id's init: answer with OBS_INIT if it is there */
	/* A node shutdown's; the answers are events of OBS_SHUTDOWN (core/shutdown/shutdown.h). */
	EFFECT_TAKE_LOCK,    /* answer with LOCK_TAKEN or LOCK_REFUSED */
	EFFECT_DROP_LOCK,    /* out of the fd store, then close, before anything else happens */
	EFFECT_LIST_HOLDERS, /* answer with HOLDERS */
	EFFECT_FLUSH,	     /* get all records out; answer with FLUSHED */
	EFFECT_KILL,	     /* SIGKILL to all processes of container id; deaf: for deafGrace, not
			      * for the end of its own time */
	/* Answer with OBS_VOLUME and VOLUMES, follow the mounts, and answer with UNMOUNTER. */
	EFFECT_WATCH_VOLUMES,
	EFFECT_LEAVE_VOLUMES, /* no longer */
	/* In mode manage only. */
	EFFECT_STOP_UNITS,  /* stop the units of shutdown.stopUnits; answer with UNITS_STOPPED */
	EFFECT_START_UNITS, /* start those that were stopped */
	/* Have the runtime of container id (container_id, pod_uid, runtime) stop it within at_ns, a
	 * duration; answer with STOP_FAILED where that cannot be requested, or fails. With hook_ns
	 * its preStop hook may be run before, so long at most: HOOK_BEGUN, HOOK_ENDED; of what it
	 * takes, whole seconds are to be subtracted as killgrace_steps() does. */
	EFFECT_STOP,
	EFFECT_SIGNAL, /* signal to pid, the init of container id, if it still is start_ns's */
	/* Have the runtime stop the sandbox of pod_uid, in which no other process is: container_id,
	 * "" where that is not known; answer with SANDBOX_STOPPED in any case. It is never killed. */
	EFFECT_STOP_SANDBOX,
	/* Write the last status of pod_uid, which has ended (engine_get_ending()), to the API until
	 * at_ns; answer with STATUS in any case. */
	EFFECT_WRITE_STATUS,
	EFFECT_LEAVE_STATUS, /* no more, if that can still be prevented; no answer is needed */
	/* The node is dead: the out-of-service taint, until at_ns; answer with TAINT, also when it
	 * cannot be set. */
	EFFECT_SET_TAINT,
	EFFECT_CLEAR_TAINT, /* it is not */
	EFFECT_CORDON,	    /* the taint that keeps pods off a node in a shutdown, until at_ns */
	EFFECT_UNCORDON,
};

/* Those are the last of them. */
static inline bool effect_is_of_shutdown(enum effect_type type)
{
	return type >= EFFECT_TAKE_LOCK;
}

struct effect {
	enum effect_type type;
	uint64_t id;
	uint64_t at_ns;
	uint64_t hook_ns;
	uint64_t start_ns;
	uint32_t pid;
	uint32_t kind;	  /* enum graced_watch_kind */
	uint32_t runtime; /* enum cgpath_runtime */
	uint32_t user;	  /* whose container it is: cgtrust_user(); 0: root's */
	uint32_t signal;
	bool holder;
	bool waits;
	bool moved; /* of EFFECT_PROBE_INIT: it was moved; it is the init of the container where it
		       is, if that has none: answer with OBS_INIT, too */
	bool deaf;
	char pod_uid[POD_UID_MAX];
	char container_id[65];
	const struct record *record;
	const struct shutdown_record *step; /* in place of record, before the engine has it */
};

/* Receives each effect in order, while engine_step() or shutdown_step() runs; must not call it. */
typedef void (*effect_fn)(void *userdata, const struct effect *effect);

#endif
