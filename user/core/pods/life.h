/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a pod on this node: sync -> terminating -> terminated -> finished
 * (docs/kubelet-rules.md, "Pod states"; pkg/kubelet/pod_workers.go, v1.36).
 *
 * The kubelet drives pods, graced follows them: a life moves by what a source says of the pod and
 * by what the kernel says of its cgroups. One table, stage by event, says how.
 */
#ifndef CORE_PODS_LIFE_H
#define CORE_PODS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/words/words.h"

#define PODLIFE_MAX_PODS 8192

/* Times are CLOCK_BOOTTIME, 0: not yet. All zero: a pod that has not been seen. */
struct podlife {
	enum pod_stage stage;
	uint64_t synced_ns;  /* first seen */
	uint64_t started_ns; /* 0 in sync: it waits for its full name */
	uint64_t terminating_ns, terminated_ns;
	int64_t grace_s; /* only shrinks; 0 until it is terminating */
	bool deleted;
	bool restart_requested; /* its UID came anew while it was ending */
};

enum podlife_event {
	PODLIFE_WANTED,	  /* a source lists it, or a container of it began; it goes on */
	PODLIFE_ENDING,	  /* it is deleted, terminal, or not listed any more */
	PODLIFE_OVER,	  /* it is terminal, and nothing of it runs */
	PODLIFE_ANEW,	  /* its UID came anew while it is ending */
	PODLIFE_STOPPED,  /* it has no process left */
	PODLIFE_REMOVED,  /* it has no cgroup left */
	PODLIFE_ORPHANED, /* no source wants it */
	PODLIFE_EVENT_COUNT,
};

/* What a source says of a pod, or what the kernel lets conclude. */
struct podlife_update {
	bool anew; /* for the first time, or again after it was not listed */
	bool kill; /* it is to end without its source saying so */
	bool deleting, terminal;
	bool quiet; /* it has no process */
	bool waits; /* static, and another pod holds its full name; counts when it is first seen */
	struct seconds deletion_grace, spec_grace;
};

/* Each returns whether the stage changed. */
bool podlife_update(struct podlife *life, const struct podlife_update *update, uint64_t now_ns);
/* update only for its grace periods; NULL: unknown. */
bool podlife_step(struct podlife *life, enum podlife_event event,
		  const struct podlife_update *update, uint64_t now_ns);

/* Whether the record of a finished pod is to be given up: its source does not want it, or wants it
 * anew. */
bool podlife_is_done(const struct podlife *life, bool wanted);

/* docs/kubelet-rules.md, "Static pods". Whether a static pod lets no other one of its full name
 * start; earlier: it was seen before that one. */
bool podlife_holds_name(const struct podlife *life, bool earlier);
bool podlife_is_waiting(const struct podlife *life);
/* Its full name is free, or a container of it runs: it waits no longer. Returns whether it did. */
bool podlife_start(struct podlife *life, uint64_t now_ns);

/* Whether a saved life can be one (docs/kubelet-rules.md, "Pod worker invariants"). */
bool podlife_is_valid(const struct podlife *life, bool is_static);

/* How a pod that is followed is configured (docs/kubelet-rules.md, "Pod metrics"). */
enum pod_config {
	POD_DESIRED,
	POD_ORPHAN,
	POD_RUNTIME_ONLY, /* not split by static */
	POD_CONFIG_COUNT,
};

/* The kubelet's metrics of its pod workers; [1]: static pods. */
struct pod_counts {
	uint64_t desired[2], active[2];
	uint64_t restarted[2], orphaned; /* totals */
	/* By stage from sync to terminated, which includes finished. */
	uint64_t working[POD_STAGE_FINISHED][POD_CONFIG_COUNT][2];
};

#endif
