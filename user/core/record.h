/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what the engine reports, in the terms of the contract (JSON records, section 3), before
 * any encoding. Filled by the engine, valid during the effect's call.
 *
 * Strings point into the engine or are NULL where a value is unknown. Times are nanoseconds of
 * CLOCK_BOOTTIME, 0 for unknown, unless a name says wall.
 */
#ifndef CORE_RECORD_H
#define CORE_RECORD_H

#include "core/cgpath.h"
#include "core/obs.h"
#include "core/outcome.h"

/* Contract: sender.kind. */
enum sender_kind {
	SENDER_KERNEL,
	SENDER_POD,
	SENDER_CONTAINER,
	SENDER_SYSTEMD,
	SENDER_KUBELET,
	SENDER_RUNTIME,
	SENDER_HOST,
	SENDER_KIND_COUNT,
};

struct record_pod {
	bool known; /* false: not in a pod, printed as null */
	const char *namespace_;
	const char *name;
	const char *uid;
	enum cgpath_qos qos;
	bool is_static;
};

enum record_container_kind {
	CONTAINER_KIND_UNKNOWN, /* null: no source tells a sandbox from a container */
	CONTAINER_KIND_CONTAINER,
	CONTAINER_KIND_SANDBOX,
	CONTAINER_KIND_SERVICE,
	CONTAINER_KIND_PROCESS,
};

struct record_container {
	bool known;
	const char *name;
	const char *id; /* NULL: a cgroup that carries no id */
	enum cgpath_runtime runtime;
	enum record_container_kind kind;
	const char *cgroup; /* path in the hierarchy of the containers */
};

struct record_process {
	uint32_t pid, ns_pid;
	const char *comm;
	uint64_t start_ns;
};

struct record_sender {
	enum sender_kind kind;
	struct record_process process;
	const char *ancestors[GRACED_ANCESTORS]; /* comms, nearest first, NULL ends */
	struct record_pod pod;
	struct record_container container;
	const char *cgroup; /* NULL: not known */
};

struct record_sigref { /* a signal inside a stop record */
	bool known;
	uint32_t number;
	int32_t result;
	uint64_t at_ns;
	struct record_sender sender;
};

struct record_signal {
	uint32_t number;
	int32_t result;
	bool group;
	int32_t code;
	bool blocked;
	bool deaf;
	struct record_sender sender;
	struct record_process target;
	bool target_init;
	struct record_pod pod;
	struct record_container container;
};

struct record_exit {
	bool known;	 /* false: exit status not seen */
	uint32_t status; /* raw wait status */
	uint64_t at_ns;
};

struct record_stop {
	char id[192]; /* <boot id>/<container id>/<start_boot_ns> */
	struct record_pod pod;
	struct record_container container;
	struct record_process process;
	struct record_sigref stop_signal;
	struct record_sigref kill_signal;
	bool deaf;
	struct record_exit exit;
	uint64_t latency_ns; /* valid when stop_signal is known and the exit was seen */
	bool latency_known;
	bool grace_known;
	uint64_t grace_ns;
	enum outcome outcome;
	enum cause cause;
	uint64_t collateral_kills;
	uint64_t oom_kills;
	uint64_t empty_ns; /* 0: not empty yet */
	uint32_t gaps;	   /* bits 1 << enum gap; 0 is complete evidence */
};

struct record_empty {
	char id[192];
	struct record_pod pod;
	struct record_container container;
	uint64_t empty_ns;
};

struct record_oom {
	struct record_pod pod;
	struct record_container container;
	struct record_process victim;
	bool init;
	enum oom_level level;
};

struct record_attached {
	const char *hierarchy;
	uint32_t programs;
	uint64_t containers; /* already there */
};

struct record_lost {
	struct graced_stat totals[GRACED_STAT_COUNT];
	uint64_t recursion_misses;
};

enum record_type {
	RECORD_NONE,
	RECORD_ATTACHED,
	RECORD_SIGNAL,
	RECORD_STOP,
	RECORD_EMPTY,
	RECORD_OOM,
	RECORD_LOST,
};

struct record {
	enum record_type type;
	uint64_t at_ns;	  /* "boot_ns" */
	int64_t wall_ns;  /* "time": nanoseconds since 1970, UTC */
	const char *node; /* NULL: not known */
	union {
		struct record_attached attached;
		struct record_signal signal;
		struct record_stop stop;
		struct record_empty empty;
		struct record_oom oom;
		struct record_lost lost;
	};
};

const char *sender_kind_name(enum sender_kind kind);
/*
 * What a cgroup that is no service is: its path tells a dropped sandbox and a container outside
 * pods, a name (NULL: not known) tells a container; a sandbox that runs looks like one without.
 */
enum record_container_kind record_container_kind_of(const struct cgpath *path, const char *name);
/* NULL for CONTAINER_KIND_UNKNOWN. */
const char *record_container_kind_name(enum record_container_kind kind);
/* delivered, ignored, already_pending, overflow, lost_info; "unknown" for any other number. */
const char *record_result_name(int32_t result);

#endif
