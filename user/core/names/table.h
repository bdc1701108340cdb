/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sources of metadata provide about pods and containers, merged. Each fact is the newest
 * value from the best source that has provided it (meta_rank(); for the workload the kubelet and
 * the API server come first).
 *
 * A container is found by its id, by its pod's uid and its name (what the kubelet's spec says
 * before it runs), or by its systemd unit. Entries outlive their cgroups, so that a late answer
 * finds them, and are dropped once they have not been touched for PODTAB_KEEP_NS. The tables are
 * bounded.
 */
#ifndef CORE_NAMES_TABLE_H
#define CORE_NAMES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/cgroup/path.h"
#include "core/model/container.h"
#include "core/model/pod.h"
#include "core/names/meta.h"

#define PODTAB_MAX_PODS	      8192
#define PODTAB_MAX_CONTAINERS 32768
#define PODTAB_KEEP_NS	      600000000000ULL /* an entry that is not touched lives so long */

struct podtab_pod {
	uint64_t touched_ns;
	char *namespace_, *name, *workload, *workload_kind; /* NULL: not known */
	uint8_t name_from;				    /* enum meta_source */
	uint8_t workload_from; /* sources of owners first, then as the others rank */
	uint8_t state_from;    /* deletion, readiness and phase are one source's word */
	uint8_t grace_from, sidecars_from, static_from, priority_from, qos_from, restart_from;
	uint32_t known; /* enum meta_pod_known */
	uint64_t grace_ns, deletion_grace_ns;
	uint64_t state_ns; /* when it was asked whether it is being deleted */
	int64_t deleted_wall_ns, priority;
	bool deleting, sidecars, is_static, ready, gone;
	uint32_t qos, phase, restart_policy;
};

struct podtab_container {
	struct container *of;
	uint64_t touched_ns;
	uint64_t listed_ns; /* when a status of its pod was first read that has its id; 0: never */
	char *name, *image;
	char *namespace_, *workload; /* outside pods; NULL: not known */
	char pod_uid[POD_UID_MAX];
	uint8_t name_from, kind_from, image_from, signal_from, grace_from, exit_from;
	uint8_t prestop_from, probe_from, sidecar_from, labels_from;
	uint8_t group_from; /* of namespace_ and workload, which are one source's */
	uint32_t known;	    /* enum meta_container_known */
	uint32_t kind;	    /* enum meta_container_kind */
	uint32_t attempt, stop_signal, main_pid, sidecar;
	uint32_t labels; /* not saved: they are about the rules of this configuration */
	uint64_t grace_ns;
	bool prestop, probe_grace, probe;
	int32_t exit_code;
	char *exit_reason; /* not NULL where META_CTR_EXIT is known */
	int64_t finished_wall_ns;
	struct exit_seen exit; /* the last one, kept for the runtime's word to be compared with */
	bool ended;	       /* exit is noted */
	bool compared;	       /* ... and the runtime's word of it was reported */
	bool asked;	       /* a manager had asked for its stop; none in its place is known */
	bool again;	       /* it ended before: a word of its exit may be about either */
	bool sought;	       /* the one before or after it was looked for since its last exit */
	uint32_t differs;      /* what a source reported otherwise: bits of enum discrepancy */
};

/* All zero but the maps is an empty table. */
struct podtab {
	struct namemap *pods; /* borrowed; these outlive the table */
	struct namemap *containers;
	size_t n_pods, n_containers; /* described */
	uint64_t aged_ns;	     /* when it was last swept */
	uint64_t refused;	     /* entries that found no room */
};

void podtab_done(struct podtab *tab);

/* Takes what a source says. 0, -ENOMEM, -ENOSPC when there is no room, -EINVAL when it is about
 * nothing, or of no source. */
int podtab_take_pod(struct podtab *tab, const struct meta_pod *pod, uint64_t now_ns);
int podtab_take_container(struct podtab *tab, const struct meta_container *container,
			  uint64_t now_ns);

/* NULL when nothing is known. */
struct podtab_pod *podtab_pod(const struct podtab *tab, const char *uid);
struct podtab_container *podtab_container(const struct podtab *tab, const char *id);
/* Whether sources have provided anything new between two states of an entry; all zero is none. That
 * they were asked again, and what the kernel said, does not count. */
bool podtab_pod_differs(const struct podtab_pod *before, const struct podtab_pod *now);
bool podtab_container_differs(const struct podtab_container *before,
			      const struct podtab_container *now);
/* The same of a user's container. */
struct podtab_container *podtab_user_container(const struct podtab *tab, const char *id,
					       uint32_t user);
/* By the name it has in its pod's spec. */
struct podtab_container *podtab_spec(const struct podtab *tab, const char *pod_uid,
				     const char *name);
struct podtab_container *podtab_unit(const struct podtab *tab, const char *unit);
/* Walks all; start with *pos = 0. NULL ends. */
struct podtab_container *podtab_next_container(const struct podtab *tab, size_t *pos);

/* Whether it is known what it is: a sandbox has no name but its pod's. NULL is not. */
bool podtab_is_named(const struct podtab_container *container);

/* What runs it: as its path says or, where a bare id may be of any runtime, by the source that
 * describes it. */
enum cgpath_runtime podtab_runtime(const struct podtab_container *container,
				   enum cgpath_runtime by_path);

/* The entry of a container, made when there is none; NULL without memory or room. */
struct podtab_container *podtab_want_container(struct podtab *tab, const char *id, uint64_t now_ns);

/* Whether it is time to sweep: the caller touches what lives, then calls podtab_age(). */
bool podtab_is_due(const struct podtab *tab, uint64_t now_ns);
void podtab_age(struct podtab *tab, uint64_t now_ns);

#endif
