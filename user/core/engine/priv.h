/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share; nobody else includes this. */
#ifndef CORE_ENGINE_PRIV_H
#define CORE_ENGINE_PRIV_H

#include "core/engine/checkpoint.h"
#include "core/engine/engine.h"
#include "core/engine/subject.h"
#include "core/engine/given.h"
#include "core/engine/names.h"
#include "core/engine/sandbox.h"
#include "core/engine/shutdowns.h"
#include "core/engine/stops.h"
#include "core/names/table.h"
#include "core/pods/life.h"
#include "core/stop/grace.h"
#include "core/stop/stop.h"

struct epod;
TAILQ_HEAD(epod_queue, epod);

/* The pods that are followed. */
struct engine_pods {
	struct map by_uid;
	struct epod_queue all;
	struct epod_queue ready;	 /* may come to their next stage */
	struct epod_queue dead;		 /* forgotten in this step */
	struct deadline_queue doubts;	 /* what is to be looked at again */
	struct deadline_queue unheard;	 /* whose end the kubelet may still say why of */
	uint64_t refused;		 /* found no room */
	uint64_t restarted[2], orphaned; /* [1]: static */
	/* When the newest whole list was asked for, of each source that has some. */
	uint64_t list_ns[META_SOURCE_COUNT];
};

struct engine {
	struct engine_config config;
	struct output out;
	struct cgmap map;
	struct names names;
	struct stops stops;
	struct engine_pods pods;
	struct shutdowns shutdowns;
	struct checkpoint checkpoint;
	struct engine_stats stats;
	uint64_t wake_ns; /* last EFFECT_WAKE_AT */

	struct obs_lost lost;
	uint64_t containers_found;
};

void engine_pods_new(struct engine *e);
void engine_pods_done(struct engine *e);
/* What the kubelet says of a pod. */
void engine_pods_described(struct engine *e, const struct meta_pod *meta);
/* Somebody was asked for names in that pod, and has answered. */
void engine_pods_named(struct engine *e, const char *uid);
/* What is held back for a name waits no longer than this; all: not at all. */
void engine_pods_tell_held(struct engine *e, bool all);
/* What happens in a cgroup; nothing unless it is a pod's. Its stop knows of it already. */
void engine_pods_entered(struct engine *e, struct cgnode *node);
void engine_pods_signalled(struct engine *e, const struct cgnode *node, uint64_t at_ns);
void engine_pods_exited(struct engine *e, const struct cgnode *node, uint64_t at_ns);
/* The verdict on its stop goes out, with these gaps. */
void engine_pods_judged(struct engine *e, const struct cgnode *node, uint32_t gaps);
/* seen: at that moment; otherwise it is empty now, since nobody knows when. */
void engine_pods_emptied(struct engine *e, struct cgnode *node, uint64_t at_ns, bool seen);
void engine_pods_removed(struct engine *e, struct cgnode *node, uint64_t at_ns);
/* The kubelet's word of pods' ends is awaited no longer than this. */
void engine_pods_expire(struct engine *e, uint64_t now_ns);
/* While nobody watched a cgroup lost its last process, or went; that is told by
 * engine_pods_resume(). */
void engine_pods_missed(struct cgnode *node, bool removed);
void engine_pods_keep(const struct engine *e, const struct epod *p, struct kept_pod *ret);
/* 0, -EINVAL for what no pod can be, or why there is no room for it. */
int engine_pods_restore(struct engine *e, const struct kept_pod *kept);
/* Follows no pod any more, and tells nothing. */
void engine_pods_forget(struct engine *e);
/* Moves the pods that were kept to where they are now. */
void engine_pods_resume(struct engine *e);

/* What is told of pods may have held for long enough to be wrong. */
void engine_truth_expire(struct engine *e, uint64_t now_ns);
/* A source's word of an exit, beside the kernel's where that is kept. told is a source's, or what
 * was known before the kernel had a word. */
void engine_truth_exit(struct engine *e, const char *container_id, enum meta_source source,
		       const struct discrepancy_told *told);
/* The kernel has said how a container exited. */
void engine_truth_noted(struct engine *e, const char *container_id);

int engine_on_listed(struct engine *e, const struct obs *obs);

#endif
