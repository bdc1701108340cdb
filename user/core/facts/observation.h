/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observations: all that the engine ever learns. A recording is a list of these, a replay
 * feeds them back; nothing else may influence a decision.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME. Strings inside are NUL-terminated bytes of any
 * content; nothing in an observation is trusted. An observation owns no memory.
 */
#ifndef CORE_FACTS_OBSERVATION_H
#define CORE_FACTS_OBSERVATION_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/cgroup/path.h"
#include "core/facts/look.h"
#include "core/facts/saved.h"
#include "core/names/meta.h"
#include "core/shutdown/managed.h"
#include "core/shutdown/shutdown.h"
#include "graced/event.h"

#define OBS_NAME_MAX META_NAME_MAX

enum obs_type {
	OBS_NONE,
	OBS_ATTACHED,	  /* programs are attached and the scan is done */
	OBS_CGROUP_NEW,	  /* kernel: a cgroup was made under a watched one */
	OBS_CGROUP_FOUND, /* scan or look-up: a cgroup was there already, with its whole path */
	OBS_CGROUP_GONE,
	OBS_CGROUP_EMPTY,
	OBS_INIT, /* a process is its container's init from now on (exec, or scan) */
	OBS_SIGNAL,
	OBS_EXIT,
	OBS_OOM,
	OBS_COUNTS,	   /* answer to EFFECT_READ_COUNTS, or the sweep after a loss */
	OBS_PROBE,	   /* answer to EFFECT_PROBE_INIT */
	OBS_NAMES,	   /* a source names a pod or a container, or has nothing to say */
	OBS_LOST,	   /* totals of the tracer, by event type */
	OBS_CLOCK,	   /* the wall clock was stepped */
	OBS_TIMER,	   /* the time asked for by EFFECT_WAKE_AT has come */
	OBS_END,	   /* the trace ends: what is held back goes out now */
	OBS_SHED,	   /* less is recorded of a container from now on, or all again */
	OBS_POD,	   /* a source describes a pod */
	OBS_CONTAINER,	   /* a source describes a container */
	OBS_REAPED,	   /* kernel: an init's parent has waited for it */
	OBS_TAKEN,	   /* kernel: an init has taken a stop signal from its queue */
	OBS_IDENTITY,	   /* answer to EFFECT_IDENTIFY: a cgroup is a container, or none */
	OBS_LISTED,	   /* a source has listed all pods there are, and which are gone */
	OBS_SHUTDOWN_PLAN, /* how a node shutdown is gone along with, and what the kubelet will do */
	OBS_SHUTDOWN,	   /* logind, or who holds its locks, says something of one */
	OBS_NO_INIT,	   /* look at /proc: a container has processes, and none is its init */
	OBS_VOLUME,	   /* the kubelet's mounts, in a shutdown that waits for them */
	OBS_SHUTDOWN_RULE, /* the next rule of shutdown.managed, before OBS_SHUTDOWN_PLAN */
	OBS_LOOK,	   /* answer to EFFECT_LOOK: a thread of the container */
	OBS_LOOKED,	   /* ... and that was all */
	/*
	 * What an earlier engine of the same boot kept (engine_keep()), before anything else:
	 * OBS_KEPT first, OBS_POD, OBS_CONTAINER and these. Anything else ends that, and from then
	 * on they are not expected.
	 */
	OBS_KEPT,
	OBS_KEPT_CGROUP, /* known then; the scan shows whether it is there */
	OBS_KEPT_STOP,
	OBS_KEPT_SIGNAL,
	OBS_KEPT_POD,
	OBS_KEPT_RUN, /* a shutdown under way, and a container that mode manage ended in it */
	OBS_KEPT_TURN,
	OBS_KEPT_EXIT,
	OBS_TYPE_COUNT,
};

struct obs_attached {
	char boot_id[37];
	char node[OBS_NAME_MAX];
	char hierarchy[32];	/* "unified" or the v1 controller */
	int64_t wall_offset_ns; /* CLOCK_REALTIME minus CLOCK_BOOTTIME */
	uint32_t self_pid;
	uint32_t programs;	      /* BPF programs attached */
	bool reaps;		      /* OBS_REAPED comes where an init is waited for */
	char self_container[65];      /* that we run in; "": none, as far as its path says */
	char self_cgroup[CGPATH_MAX]; /* the path of our own; "": not known */
};

struct obs_cgroup {
	uint64_t id;
	uint64_t parent_id; /* 0: not known (OBS_CGROUP_FOUND) */
	uint32_t kind;	    /* OBS_CGROUP_NEW: the kernel half's guess */
	uint32_t level;
	/* Level of the first component of its path that others than root could choose; 0: none. */
	uint32_t delegated_level;
	char path[CGPATH_MAX]; /* NEW: last component; FOUND: the whole path, "/" for the root */
};

struct obs_empty {
	uint64_t id;
	struct graced_counts counts;
	/* GONE: what the kernel half took it for, and the cgroup that it was charged to; 0: not
	 * known, as in older recordings. */
	uint32_t kind;
	uint64_t owner_id;
	uint32_t left_pid; /* EMPTY: its init, which was moved to another cgroup; 0: it was not */
};

struct obs_init {
	uint64_t id;		   /* container */
	uint32_t lost, suppressed; /* of the container when this began */
	uint32_t rank;
	bool late; /* it ran before signals to it were recorded */
	struct graced_proc proc;
	uint32_t keeper_pid; /* as in graced_init */
};

struct obs_signal {
	uint64_t id; /* container of the target; 0: in none (scope all) */
	uint32_t lost, suppressed;
	uint32_t sig;
	int32_t result, code;
	uint32_t flags;
	uint64_t target_pidns, sender_pidns;
	struct graced_proc target, sender, ancestors[GRACED_ANCESTORS];
};

struct obs_exit {
	uint64_t id;
	uint32_t status;
	uint32_t flags;
	uint64_t stop_at_ns; /* when that stop signal was generated; 0: none came from outside */
	uint64_t deliver_ns; /* init took it, or woke up to die of it; 0: not seen */
	uint64_t exec_ns;    /* init exec'd last, since it is the init; 0: never */
	uint64_t looked_at, caught, ignored, blocked; /* as in graced_ev_exit, as the next two */
	uint32_t parent_pid, others_missed;
	struct graced_proc proc;
	struct graced_counts counts;
};

struct obs_taken {
	uint64_t id;   /* container */
	uint32_t lost; /* of the container when this began */
	uint32_t pid;  /* of the init */
	uint32_t sig;
	uint32_t flags; /* as graced_ev_taken has them */
};

struct obs_reaped {
	uint64_t id;  /* container */
	uint32_t pid; /* of its init */
	uint64_t start_ns;
};

struct obs_oom {
	uint64_t id;
	uint64_t level_id;
	uint32_t flags;
	struct graced_proc victim;
	uint64_t limit, level_limit; /* as in graced_ev_oom; 0 also where a recording has none */
};

struct obs_counts {
	uint64_t id;
	bool populated; /* the cgroup still holds a process */
	bool pid1;	/* in recordings of 0.1.0, and of no use */
	bool looked;	/* told_at_ns is known */
	struct graced_counts counts;
	uint64_t told_at_ns; /* as in graced_watch */
};

struct obs_probe {
	uint64_t id;
	uint32_t pid;
	uint64_t start_ns;
	bool alive;
	bool held; /* it exits, and waits for a process of its pid namespace */
	/* That process, and its parent, which has not waited for it; pid 0: not known. */
	struct graced_proc holder, holder_parent;
};

struct obs_no_init {
	uint64_t id; /* container */
};

struct obs_names {
	uint64_t id;	       /* cgroup that was asked about; 0: by container_id */
	char pod_uid[37];      /* "" when only a container is named */
	char container_id[65]; /* "" when only a pod is named */
	char namespace_[OBS_NAME_MAX];
	char pod[OBS_NAME_MAX];
	char container[OBS_NAME_MAX];
	bool found;  /* false: the source looked and does not know it */
	bool more;   /* other sources were asked, too, and have yet to answer */
	bool failed; /* a source that may know it did not answer, or made no sense */
	bool shed;   /* ... or was not asked */
};

struct obs_identity {
	uint64_t id;	       /* cgroup */
	uint32_t runtime;      /* enum cgpath_runtime */
	char container_id[65]; /* "": it is none */
};

struct obs_listed {
	uint64_t asked_ns; /* since then it was so; 0: since it came */
	uint32_t source;   /* enum meta_source */
};

struct obs_lost {
	struct graced_stat totals[GRACED_STAT_COUNT]; /* since the start */
	uint64_t recursion_misses;		      /* programs the kernel did not run */
};

struct obs_clock {
	int64_t wall_offset_ns; /* CLOCK_REALTIME minus CLOCK_BOOTTIME */
};

struct obs_shed {
	uint64_t id; /* container; 0: of all that are sent too many signals */
	bool on;
};

/* A group of pods, as the kubelet's configuration has it (docs/kubelet-rules.md, "Shutdown
 * groups"). */
struct obs_range {
	int32_t priority;
	int64_t seconds;
};

#define OBS_RANGES_MAX 16

struct obs_shutdown_plan {
	SHARED(shutdown_policy, policy); /* that of the first one stays */
	bool two_phases;		 /* the kubelet ends pods as it did before 1.23 */
	uint32_t n_ranges;		 /* 0: it does nothing in a shutdown */
	struct obs_range ranges[OBS_RANGES_MAX];
};

struct obs_holder {
	char who[SHUTDOWN_WHO_MAX];
	uint32_t uid, pid;
};

/* An event of the sequencer's (core/shutdown/shutdown.h) that comes from outside. */
struct obs_shutdown {
	uint32_t event;	       /* enum shutdown_event_type; facts of pods and containers are not */
	uint64_t announced_ns; /* when logind said so; 0: now */
	uint64_t limit_ns;     /* how long it waits; 0: not known, or no_delay */
	uint32_t action;       /* enum shutdown_action */
	bool by_hand;	       /* ANNOUNCED: begun without logind */
	bool no_delay;	       /* ANNOUNCED: logind waits for no lock */
	uint64_t id;	       /* STOP_FAILED, HOOK_*: cgroup */
	char pod_uid[POD_UID_MAX]; /* SANDBOX_STOPPED, STATUS */
	bool failed, reachable;	   /* HOLDERS: logind did not answer; UNITS_STOPPED; API */
	bool is_static;		   /* API: it is about the source that lists static pods */
	bool absent;		   /* API: no address of it was ever known */
	uint32_t result;	   /* STATUS: enum shutdown_write */
	uint32_t n_holders;	   /* may be more than are listed */
	struct obs_holder holders[SHUTDOWN_MAX_HOLDERS];
};

/* A mount of the kubelet's for a volume. Strings are "" where its path does not say. */
struct kubemount {
	uint64_t id;	 /* unique while it is there */
	uint64_t device; /* of its file system: major << 32 | minor */
	char pod_uid[POD_UID_MAX];
	char plugin[SHUTDOWN_PLUGIN_MAX]; /* "kubernetes.io~csi" */
	char driver[SHUTDOWN_DRIVER_MAX]; /* of CSI, in mounts for the whole node */
	char volume[SHUTDOWN_VOLUME_MAX]; /* the name of the volume or of its directory */
};

/* An event of the sequencer's about mounts. */
struct obs_volume {
	uint32_t event;		  /* SHUTDOWN_EV_VOLUME, VOLUME_GONE, VOLUMES or UNMOUNTER */
	bool failed;		  /* VOLUMES: they cannot be read */
	bool lives;		  /* UNMOUNTER */
	SHARED(kubemount, mount); /* VOLUME; its id alone: VOLUME_GONE */
};

struct obs {
	enum obs_type type;
	uint64_t at_ns;
	union {
		struct obs_attached attached;
		struct obs_cgroup cgroup; /* NEW, FOUND */
		struct obs_empty empty;	  /* EMPTY, GONE */
		struct obs_init init;
		struct obs_signal signal;
		struct obs_exit exit;
		struct obs_oom oom;
		struct obs_counts counts;
		struct obs_probe probe;
		struct obs_no_init no_init;
		struct obs_names names;
		struct obs_lost lost;
		struct obs_clock clock;
		struct obs_shed shed;
		struct meta_pod pod;
		struct meta_container container;
		struct obs_reaped reaped;
		struct obs_taken taken;
		struct obs_identity identity;
		struct obs_listed listed;
		struct obs_shutdown_plan shutdown_plan;
		struct obs_shutdown shutdown;
		struct obs_volume volume;
		struct managed_rule shutdown_rule;
		struct obs_look look;
		struct obs_looked looked;
		struct kept_head kept;
		struct kept_cgroup kept_cgroup;
		struct kept_stop kept_stop;
		struct kept_signal kept_signal;
		struct kept_pod kept_pod;
		struct shutdown_run kept_run;
		struct shutdown_run_turn kept_turn;
		struct kept_exit kept_exit;
	};
};

#endif
