/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods' room: the life of each pod on this node, by what its source lists and by what happens
 * in its cgroups, and the discrepancies between what is reported of pods and exits and what is
 * observed.
 *
 * What it forgets it leaves in the queue of those for the engine.
 */
#ifndef CORE_ENGINE_PODS_H
#define CORE_ENGINE_PODS_H

#include <string.h>
#include <sys/queue.h>

#include "base/deadline.h"
#include "core/engine/names.h"
#include "core/facts/saved.h"
#include "core/pods/life.h"

struct podview;

#define EPOD_GIVEN_UNKNOWN 1

/*
 * A pod that is followed, from when it is first seen until it is forgotten: what the kubelet wants
 * of it and what the kernel says of it. Times are CLOCK_BOOTTIME, 0 for what was not seen.
 */
struct epod {
	TAILQ_ENTRY(epod) all, ready;
	struct pod *pod;	 /* NULL: it is followed no longer */
	SHARED(kept_pod, saved); /* what a checkpoint has of it */
	bool unconfirmed;	 /* listed before the restart, and not since */
	bool kept;		 /* ... followed by it, and not looked at since */
	bool changed;		 /* since it was kept last */
	bool is_ready;
	uint8_t name_lapse, spec_lapse; /* enum names_lapse, while it has cgroups */
	bool reborn;		     /* its cgroups live again: its record makes way to a new one */
	struct deadline unexplained; /* it is over, and the kubelet may still say why */
	struct deadline doubt;	     /* something may have held for long enough */
	uint64_t list_ns;	     /* when the newest answer about it was asked for */
};

TAILQ_HEAD(epod_queue, epod);

/* The pods that are followed. */
struct pods {
	struct cgmap *map;
	struct names *names;
	struct output *out;

	size_t n;
	struct epod_queue all;		   /* n, in the order in which they were first seen */
	struct epod_queue ready;	   /* may come to their next stage */
	struct epod_queue dead;		   /* their record is given up */
	struct epod_queue forgotten;	   /* in this step; pods_bury() frees them */
	struct deadline_queue checks;	   /* discrepancies that may have held for long enough */
	struct deadline_queue unexplained; /* whose end the kubelet may still give a reason for */
	bool name_freed;		   /* a static pod ended: another of its name may start */
	uint64_t restarted[2], orphaned;   /* [1]: static */
	/* When the newest whole list was asked for, of each source that has some. */
	uint64_t list_ns[META_SOURCE_COUNT];
	struct {
		uint64_t refused, states[POD_STAGE_COUNT], discrepancies[DISCREPANCY_COUNT];
	} stats; /* as in struct engine_stats */
};

void pods_init(struct pods *pods, struct cgmap *map, struct names *names, struct output *out);
void pods_done(struct pods *pods);
void pods_bury(struct pods *pods);

/* NULL: it is not followed. */
static inline struct epod *pods_find(const struct pods *pods, const char *uid)
{
	const struct pod *pod = podmap_find(&pods->map->pods, uid);

	return pod ? pod->life : NULL;
}
/* A list of its source that was asked for after it was first seen does not have it. */
bool pods_is_missing(const struct pods *pods, const struct epod *p);

/* A source says something of a pod. */
void pods_described(struct pods *pods, const struct meta_pod *meta);
/* A source has listed all its pods. 0. */
int pods_on_listed(struct pods *pods, const struct obs *obs);
/* A source that was asked for names in that pod has answered. */
void pods_named(struct pods *pods, const char *uid);
/* Reports pods that were held back before OBS_ATTACHED, but for those that wait for their name. */
void pods_report_held(struct pods *pods);

/* What happens in a cgroup; nothing unless it is a pod's. Its stop knows of it already. */
void pods_entered(struct pods *pods, struct cgnode *node);
void pods_signalled(struct pods *pods, const struct cgnode *node, uint64_t at_ns);
void pods_exited(struct pods *pods, const struct cgnode *node, uint64_t at_ns);
/* The verdict on its stop was reported, with these gaps. */
void pods_judged(struct pods *pods, const struct cgnode *node, uint32_t gaps);
/* seen: at that moment; otherwise it is empty now, since when is not known. */
void pods_emptied(struct pods *pods, struct cgnode *node, uint64_t at_ns, bool seen);
void pods_removed(struct pods *pods, struct cgnode *node, uint64_t at_ns);

/* A source reports how a container exited: compared with what the kernel observed, if it did.
 * Before that, reported is what was known of it. */
void pods_exit_reported(struct pods *pods, struct podtab_container *c, enum meta_source source,
			const struct discrepancy_reported *reported);
/* The kernel has observed how a container exited. */
void pods_exit_noted(struct pods *pods, struct podtab_container *c);

/* What was due by now_ns: answers that are no longer awaited, discrepancies that have held. */
void pods_expire(struct pods *pods, uint64_t now_ns);
/* No observation follows: nothing is awaited or held back any longer. */
void pods_end(struct pods *pods);

/* For the checkpoint. */
void pods_save(const struct pods *pods, const struct epod *p, struct kept_pod *ret);
/* 0, -EINVAL for what no pod can be, or -ENOSPC. */
int pods_load(struct pods *pods, const struct kept_pod *kept);
/* Drops the pods that were loaded, and reports nothing. */
void pods_drop_loaded(struct pods *pods);
/* Moves the pods that were loaded to where they are now. */
void pods_settle_loaded(struct pods *pods);
/* While no engine ran a cgroup lost its last process, or was removed; pods_settle_loaded() reports
 * what follows. */
void pods_missed(struct cgnode *node, bool removed);

/* As engine_pods_each() and engine_pods_count() have it. */
void pods_each(const struct pods *pods, void (*fn)(void *userdata, const struct podview *pod),
	       void *userdata);
void pods_count(const struct pods *pods, struct pod_counts *ret);

#endif
