/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pods' room share; each calls only those before it in this order. */
#ifndef CORE_ENGINE_PODS_PRIV_H
#define CORE_ENGINE_PODS_PRIV_H

#include "core/engine/pods.h"
#include "core/engine/sandbox.h"
#include "core/engine/subject.h"
#include "core/stop/stop.h"

/* --- pods_entry.c --- */

void pods_set_trigger(struct epod *p, enum pod_trigger trigger, uint64_t at_ns);
/* Its cgroups; NULL: it has none. */
static inline struct pod_cgroups *pods_cgroups(const struct epod *p)
{
	struct pod_cgroups *cgroups = p->pod ? p->pod->cgroups : NULL;

	return cgroups && !cgroups->is_double ? cgroups : NULL;
}

/* What sources provide of it; NULL: nothing. */
static inline const struct podtab_pod *pods_meta(const struct epod *p)
{
	return p->pod ? p->pod->meta : NULL;
}

/* Notes how the last queries about it ended; what it is when its last cgroup goes stays. */
void pods_note_lapse(const struct pods *pods, struct epod *p);
bool pods_is_empty(const struct pods *pods, const struct epod *p);
bool pods_is_removed(const struct pods *pods, const struct epod *p);
bool pods_is_sandbox(const struct pods *pods, const struct cgnode *node);
/* How many containers run, the sandbox apart. */
uint32_t pods_running(const struct pods *pods, const struct epod *p);
/* When its deletion was requested, to the second; 0: not known. */
uint64_t pods_deletion_ns(const struct pods *pods, const struct epod *p);
/* Notes what a shutdown of the node gives its containers, while their stops are known. */
void pods_note_shutdown(struct pods *pods, struct epod *p);
/* Why it ends, if that is not the shutdown that stopped it. */
enum pod_trigger pods_why(struct pods *pods, struct epod *p, enum pod_trigger why);

/* --- pods_truth.c --- */

/* Whether what an answer says first happened at a time that is known: the answer before it was
 * asked for at before_ns (0: there was none) and this one comes now. */
bool truth_is_timed(const struct pods *pods, uint64_t before_ns);
/* Notes what a source reports of a pod. */
void truth_reported(struct pods *pods, struct epod *p, const struct meta_pod *meta, uint64_t at_ns);
/* A container, or the sandbox, received its stop signal. */
void truth_signalled(struct pods *pods, struct epod *p, const struct cgnode *node, uint64_t at_ns);
/* Something about the pod is new since at_ns: reports discrepancies, once they have held. */
void truth_check(struct pods *pods, struct epod *p, uint64_t at_ns);
/* The verdict on a container has the gap events-lost. */
void truth_lost(struct pods *pods, struct epod *p);
/* The pod has ended: queries until when it is reported as Ready. */
void truth_ended(struct pods *pods, const struct epod *p);
/* The pod is followed no longer. */
void truth_leave(struct pods *pods, struct epod *p);
/* Since when it is reported as Ready while it is being stopped; 0: it is not. */
uint64_t truth_ready_since(const struct epod *p);
/* Discrepancies may have held for long enough. */
void truth_expire(struct pods *pods, uint64_t now_ns);

/* --- pods.c --- */

enum epod_update {
	EPOD_UPDATE,
	EPOD_ANEW, /* listed for the first time, or again after it was not; a container began */
	EPOD_KILL, /* it ends without its source saying so */
};

/* The pod, followed from now on if it was not; NULL without room or memory. */
struct epod *pods_want(struct pods *pods, const char *uid, uint64_t now_ns);
/* Follows it no longer, and reports nothing. */
void pods_leave(struct pods *pods, struct epod *p);
/* A container of it runs: a static pod waits for its full name no longer. */
void pods_start(struct pods *pods, struct epod *p);
/* Moves its life by what is known of the pod now. */
void pods_update(struct pods *pods, struct epod *p, enum epod_update how);
/* Moves on pods that are ready to, and frees those that are forgotten. */
void pods_settle(struct pods *pods);
/* The same, beginning with p, which may be gone afterwards. */
void pods_drive(struct pods *pods, struct epod *p);
/* Its life is over, whatever is missing, and a new one begins. */
void pods_restart(struct pods *pods, struct epod *p);
/* A list came. orphan: no source wants the pod any more; if it is finished, its record is given up.
 * p may leave pods->all; it is freed by pods_settle(). */
void pods_sync(struct pods *pods, struct epod *p, bool orphan);
/* Reports all that was held back and need not wait; now: in any case. */
void pods_release_held(struct pods *pods, bool now);

/* --- pods_see.c --- */

/* The pod ends without its source saying so. */
void pods_conclude(struct pods *pods, struct epod *p, enum pod_trigger trigger, uint64_t at_ns);
/* Its reason is awaited no longer: concludes that it ended, unless its source said so meanwhile. */
void pods_end_unexplained(struct pods *pods, struct epod *p);

#endif
