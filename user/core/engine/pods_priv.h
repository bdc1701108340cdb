/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pods' room share. */
#ifndef CORE_ENGINE_PODS_PRIV_H
#define CORE_ENGINE_PODS_PRIV_H

#include "core/engine/pods.h"
#include "core/engine/sandbox.h"
#include "core/engine/subject.h"
#include "core/stop/stop.h"

enum epod_update {
	EPOD_UPDATE,
	EPOD_ANEW, /* listed for the first time, or again after it was not; a container began */
	EPOD_KILL, /* it ends without its source saying so */
};

/* pods.c */

/* The pod, followed from now on if it was not; NULL without room or memory. */
struct epod *pods_want(struct pods *pods, const char *uid, uint64_t now_ns);
void pods_because(struct epod *p, enum pod_trigger trigger, uint64_t at_ns);
/* Follows it no longer, and tells nothing. */
void pods_leave(struct pods *pods, struct epod *p);
/* What is known of the pod by now moves its life; how: it begins or ends without its source saying
 * so. */
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

/* pods_see.c */

/* It has ended, and is told to have unless that was told meanwhile. */
void pods_end_unheard(struct pods *pods, struct epod *p);
/* The pod ends, and nobody has said so. */
void pods_conclude(struct pods *pods, struct epod *p, enum pod_trigger trigger, uint64_t at_ns);

struct pod *pods_cgroups(const struct pods *pods, const struct epod *p);
bool pods_is_empty(const struct pods *pods, const struct epod *p);
bool pods_is_removed(const struct pods *pods, const struct epod *p);
bool pods_is_sandbox(const struct pods *pods, const struct cgnode *node);
/* How many containers run, the sandbox apart. */
uint32_t pods_running(const struct pods *pods, const struct epod *p);

/* pods_list.c */

/* When its deletion was asked for, to the second; 0: not known. */
uint64_t pods_deletion_ns(const struct pods *pods, const struct epod *p);

/* truth.c */

/* Whether what an answer says first happened at a time that is known: the answer before it was
 * asked for at before_ns (0: there was none) and this one comes now. */
bool truth_is_timed(const struct pods *pods, uint64_t before_ns);
/* Keeps what the kubelet says of a pod. */
void truth_told(struct pods *pods, struct epod *p, const struct meta_pod *meta, uint64_t at_ns);
/* A container, or the sandbox, was told to stop. */
void truth_signalled(struct pods *pods, struct epod *p, const struct cgnode *node, uint64_t at_ns);
/* Something about the pod is new since at_ns: tells what does not fit, once it holds. */
void truth_look(struct pods *pods, struct epod *p, uint64_t at_ns);
/* The verdict on a container has the gap events-lost. */
void truth_lost(struct pods *pods, struct epod *p);
/* The pod has ended: until when it is told to be Ready is asked for. */
void truth_ended(struct pods *pods, const struct epod *p);
/* The pod is followed no longer. */
void truth_leave(struct pods *pods, struct epod *p);
/* Since when it is told to be Ready while it is being stopped; 0: it is not. */
uint64_t truth_ready_since(const struct epod *p);

/* Discrepancies may have held for long enough. */
void truth_expire(struct pods *pods, uint64_t now_ns);

/* pods_tell.c */

/* pods_release() of all. */
void pods_release_held(struct pods *pods, bool now);

void pods_fill(const struct pods *pods, const struct epod *p, struct record_pod *ret);

/* The pod came to a stage. */
void pods_arrived(struct pods *pods, struct epod *p);
/* Tells what was held back, if it need not wait; now: in any case. */
void pods_release(struct pods *pods, struct epod *p, bool now);
#endif
