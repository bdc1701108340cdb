/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine writes down of what it knows, for one that comes after it on the same boot: the
 * members of its observations (core/facts/observation.h says how they are fed). They come out of a
 * file, and are trusted no more than any other observation.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME, 0 for what was not seen. Strings are NUL-terminated.
 */
#ifndef CORE_FACTS_SAVED_H
#define CORE_FACTS_SAVED_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/names/meta.h"
#include "graced/event.h"

/* Enums are kept by their numbers: what changes those changes this. */
#define KEPT_VERSION	1
#define KEPT_PATH_MAX	4096
#define KEPT_POD_DOUBTS 3 /* as many as there are discrepancies that begin and end */

/* Begins what was written at one time. */
struct kept_head {
	uint32_t version; /* KEPT_VERSION */
	char boot_id[37];
	bool all; /* nothing that was fed before counts */
};

struct kept_cgroup {
	uint64_t id;
	uint32_t runtime;	  /* enum cgpath_runtime, of container_id */
	bool populated;		  /* in a pod: a process may be in it */
	bool entered;		  /* a pod's own: a container was in it */
	uint32_t delegated_level; /* as core/cgroup/trust has it */
	char container_id[65];	  /* "" unless a source provided what its path does not say */
	char path[KEPT_PATH_MAX]; /* "": not known */
};

/* The life of a container's init, or service's main process, as struct stop has it. */
struct kept_stop {
	uint64_t id;	/* of its cgroup */
	bool over;	/* the cgroup is gone, and all is reported: nothing else in here counts */
	uint32_t state; /* enum stop_state */
	uint32_t rank;	/* enum graced_init_rank */
	struct graced_proc init;
	bool guessed, late, deaf, init_unseen;
	uint64_t request_sigs;
	uint64_t request_suppressed;
	/* The relation (enum relation, as a digit) of the last signal of number 1, 2, ... that
	 * acted; what is missing at the end is none. */
	char last_from[65];
	bool oom_victim;
	uint32_t oom; /* enum oom_level */
	bool exit_seen;
	uint32_t status;
	uint64_t exit_ns, empty_ns, deliver_ns, reap_ns, unsure_ns, since_ns;
	struct graced_counts base, counts;
	uint32_t forwards, forward_number;
	int32_t forward_result;
	uint64_t forward_ns;
	struct graced_proc forward_to;
	bool takes_others, reported_unnamed, record_lost, shed;
	uint32_t hearing; /* enum stop_hearing */
	uint64_t given_ns;
	bool given_unknown;
	bool restarted, blind; /* another restart was in its life before */
	bool not_reaped;       /* reported as held, and so it still is */
	bool moved, again;     /* as struct stop has them; moved: in one that was reported */
};

/* A signal that counts in the life that was fed last for the cgroup. */
struct kept_signal {
	uint64_t id;
	bool kill;   /* the SIGKILL */
	bool inside; /* the stop signal from its own container */
	bool other;  /* a request beside the one that counts */
	/* Neither of the two: the request. Both: the candidate, which a program that does not know
	 * candidates refuses. Kill and other: the SIGKILL to init's keeper. */
	uint32_t number;
	int32_t result;
	uint32_t flags;
	uint64_t at_ns;
	uint32_t kind, relation; /* enum sender_kind, enum relation: as judged then */
	struct graced_proc sender;
	char ancestors[GRACED_ANCESTORS][GRACED_COMM_LEN];
	uint64_t exec_ns; /* of the request: as struct stop has it */
	/* As struct stop_signal has them, like the next three. */
	uint64_t taken_ns, dropped_ns;
	bool passed;
	bool inferred;
	char target_comm[GRACED_COMM_LEN];
	uint32_t n_others; /* of a request beside the one that counts: how many there were */
	uint32_t hearing;  /* STOP_SHELL, or 0 */
	/* The candidate's, as in struct stop_candidate. */
	uint64_t numbers, suppressed;
	uint64_t mind_start_ns; /* of the sender's mind */
	uint32_t mind_pid;	/* 0: it was not saved */
	bool deaf;		/* init was, to it */
};

/* A pod that is followed, as struct epod has it, and the worker's record of it. */
struct kept_pod {
	char uid[META_UID_MAX];
	bool over;    /* it is followed no longer: nothing else in here counts */
	uint32_t qos; /* enum cgpath_qos */
	bool is_static, listed, was_listed;
	uint32_t known; /* enum meta_pod_known, of the kubelet's word */
	uint32_t phase; /* enum meta_phase */
	uint32_t end;	/* enum meta_end */
	bool deleting;
	uint64_t grace_ns, deletion_grace_ns;
	int64_t deleted_wall_ns;
	uint32_t stage, published;   /* enum pod_stage */
	uint32_t trigger, empty_why; /* enum pod_trigger */
	uint64_t trigger_ns, first_ns, since_ns, terminating_ns, concluded_ns;
	bool held, by_kernel, is_orphan, between, terminating_between;
	uint64_t stop_ns, exit_ns, empty_ns, removed_ns;
	bool empty_seen, cgroups_over;
	uint64_t ready_ns, unready_ns, heard_ns, gone_ns, truth_stop_ns;
	uint32_t ready; /* enum record_tri */
	bool lost, measured;
	uint32_t open; /* bits of enum discrepancy */
	uint64_t doubt_ns[KEPT_POD_DOUBTS];
	/* The worker's; grace_s is 0 until it is terminating. */
	uint64_t synced_ns, started_ns, worker_terminating_ns, worker_terminated_ns;
	int64_t grace_s;
	bool deleted, restart_requested, observed_runtime;
	bool seen_in_shutdown; /* in the one under way: alive, and being stopped */
	uint64_t given_until_ns;
};

/* How the kernel saw a container of a pod exit that a shutdown ends, as struct podtab_exit and
 * struct podtab_container have it. */
struct kept_exit {
	char id[META_ID_MAX];
	char pod_uid[META_UID_MAX];
	bool seen, is_static;
	uint32_t status; /* raw wait status */
	uint64_t at_ns, start_ns;
	int64_t wall_ns;
	bool oom_victim, oom_beside, oom_sure, compared, again;
	uint32_t runtime, qos; /* enum cgpath_runtime, enum cgpath_qos */
	uint32_t differs;      /* bits of enum discrepancy */
};

#endif
