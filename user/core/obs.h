/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observations: everything the engine is ever told. A recording is a list of these, a replay
 * feeds them back; nothing else may influence a decision.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME. Strings inside are NUL-terminated bytes of any
 * content; nothing in an observation is trusted. An observation owns no memory.
 */
#ifndef CORE_OBS_H
#define CORE_OBS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "graced/event.h"

#define OBS_PATH_MAX 4096
#define OBS_NAME_MAX 254 /* a DNS-1123 subdomain and its NUL */

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
	OBS_COUNTS, /* answer to EFFECT_READ_COUNTS, or the sweep after a loss */
	OBS_PROBE,  /* answer to EFFECT_PROBE_INIT */
	OBS_NAMES,  /* a source names a pod or a container */
	OBS_LOST,   /* totals of the tracer, by event type */
	OBS_CLOCK,  /* the wall clock was stepped */
	OBS_TIMER,  /* the time asked for by EFFECT_WAKE_AT has come */
	OBS_END,    /* the trace ends: what is held back goes out now */
	OBS_SHED,   /* less is recorded of a container from now on, or all again */
	OBS_TYPE_COUNT,
};

struct obs_attached {
	char boot_id[37];
	char node[OBS_NAME_MAX];
	char hierarchy[32];	/* "unified" or the v1 controller */
	int64_t wall_offset_ns; /* CLOCK_REALTIME minus CLOCK_BOOTTIME */
	uint32_t self_pid;
	uint32_t programs; /* BPF programs attached */
};

struct obs_cgroup {
	uint64_t id;
	uint64_t parent_id; /* 0: not told (OBS_CGROUP_FOUND) */
	uint32_t kind;	    /* OBS_CGROUP_NEW: the kernel half's guess */
	uint32_t level;
	char path[OBS_PATH_MAX]; /* NEW: last component; FOUND: the whole path, "/" for the root */
};

struct obs_empty {
	uint64_t id;
	struct graced_counts counts;
};

struct obs_init {
	uint64_t id;		   /* container */
	uint32_t lost, suppressed; /* of the container when this began */
	uint32_t rank;
	struct graced_proc proc;
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
	struct graced_proc proc;
	struct graced_counts counts;
};

struct obs_oom {
	uint64_t id;
	uint64_t level_id;
	uint32_t flags;
	struct graced_proc victim;
};

struct obs_counts {
	uint64_t id;
	bool populated; /* the cgroup still holds a process */
	struct graced_counts counts;
};

struct obs_probe {
	uint64_t id;
	uint32_t pid;
	uint64_t start_ns;
	bool alive;
};

struct obs_names {
	char pod_uid[37];      /* "" when only a container is named */
	char container_id[65]; /* "" when only a pod is named */
	char namespace_[OBS_NAME_MAX];
	char pod[OBS_NAME_MAX];
	char container[OBS_NAME_MAX];
	bool found; /* false: the source looked and does not know it */
};

struct obs_lost {
	struct graced_stat totals[GRACED_STAT_COUNT]; /* since the start */
	uint64_t recursion_misses;		      /* programs the kernel did not run */
};

struct obs_clock {
	int64_t wall_offset_ns; /* CLOCK_REALTIME minus CLOCK_BOOTTIME */
};

struct obs_shed {
	uint64_t id; /* container */
	bool on;
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
		struct obs_names names;
		struct obs_lost lost;
		struct obs_clock clock;
		struct obs_shed shed;
	};
};

#endif
