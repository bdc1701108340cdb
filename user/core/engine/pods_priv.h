/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about followed pods share; nobody else includes this. */
#ifndef CORE_ENGINE_PODS_PRIV_H
#define CORE_ENGINE_PODS_PRIV_H

#include <sys/queue.h>

#include "core/engine/priv.h"

/* As the kubelet had it last. */
struct epod_word {
	uint32_t known; /* enum meta_pod_known */
	uint32_t phase; /* enum meta_phase */
	uint32_t end;	/* enum meta_end */
	bool deleting;
	uint64_t grace_ns, deletion_grace_ns;
	int64_t deleted_wall_ns;
};

/* What is told of a pod, held against the kernel. Times are CLOCK_BOOTTIME, 0: not so. */
struct epod_truth {
	struct deadline due; /* something may have held for long enough */
	uint64_t list_ns;    /* when the newest word of it was asked for */
	enum record_tri ready;
	uint64_t ready_ns;   /* when the newest answer that had it as Ready was asked for */
	uint64_t unready_ns; /* it was Ready, and since then is not */
	uint64_t heard_ns;   /* when the answer came that said so */
	uint64_t gone_ns;    /* not listed any more */
	uint64_t stop_ns;    /* first stop signal to a container, of those that may be its end */
	bool lost;	     /* events about one of its containers were, the sandbox apart */
	bool measured;	     /* how long it was Ready after that is over */
	uint32_t open;	     /* told, and not over: bits of enum discrepancy */
	uint64_t since_ns[DISCREPANCY_STATES];
};

/*
 * A pod that is followed, from when it is first seen until it is forgotten: what the kubelet wants
 * of it and what the kernel says of it. Times are CLOCK_BOOTTIME, 0 for what was not seen.
 */
struct epod {
	TAILQ_ENTRY(epod) all, ready;
	uint64_t key; /* hash of uid, the index */
	char uid[META_UID_MAX];
	enum cgpath_qos qos;
	bool is_static;

	bool listed, was_listed;
	bool unconfirmed; /* listed by the word of an earlier engine, and not since */
	bool kept;	  /* ... followed by it, and not looked at since */
	bool changed;	  /* since it was kept last */
	struct epod_word word;

	struct podlife life;
	bool is_ready;
	enum pod_stage told;
	enum pod_trigger trigger; /* of its stage, or of the one it is about to come to */
	uint64_t trigger_ns;
	bool between;		  /* trigger_ns is an answer's, and the one before was long ago */
	bool terminating_between; /* terminating_ns likewise */
	uint64_t first_ns;
	uint64_t since_ns;
	uint64_t terminating_ns;
	bool held;	/* that it is there is not told yet, for want of its name */
	bool by_kernel; /* its end was concluded without the kubelet's word */
	uint64_t concluded_ns;
	bool reborn;	/* its cgroups live again: its record makes way to a new one */
	bool is_orphan; /* counted as one */

	uint64_t stop_ns;  /* the first stop signal of those that may be the pod's end */
	uint64_t exit_ns;  /* of the last container, the sandbox apart */
	uint64_t empty_ns; /* all its cgroups were, at the latest */
	enum pod_trigger empty_why;
	bool empty_seen; /* it was at that moment */
	uint64_t removed_ns;
	bool over;		 /* all its cgroups are; what is made under its uid is another's */
	struct deadline unheard; /* it is over, and the kubelet may still say why */

	struct epod_truth truth;
};

enum epod_update {
	EPOD_UPDATE,
	EPOD_ANEW, /* listed for the first time, or again after it was not; a container began */
	EPOD_KILL, /* it ends without its source saying so */
};

/* engine_pods.c */

/* NULL: it is not followed. */
struct epod *engine_pods_find(const struct engine *e, const char *uid);
/* The pod, followed from now on if it was not; NULL without room or memory. */
struct epod *engine_pods_want(struct engine *e, const char *uid, uint64_t now_ns);
void engine_pods_because(struct epod *p, enum pod_trigger trigger, uint64_t at_ns);
/* Follows it no longer, and tells nothing. */
void engine_pods_leave(struct engine *e, struct epod *p);
/* What is known of the pod by now moves its life; how: it begins or ends without its source saying
 * so. */
void engine_pods_update(struct engine *e, struct epod *p, enum epod_update how);
/* Moves on pods that are ready to, and frees those that are forgotten. */
void engine_pods_settle(struct engine *e);
/* The same, beginning with p, which may be gone afterwards. */
void engine_pods_drive(struct engine *e, struct epod *p);
/* Its life is over, whatever is missing, and a new one begins. */
void engine_pods_restart(struct engine *e, struct epod *p);
/* A list came. orphan: no source wants the pod any more; if it is finished, its record is given up.
 * p may leave e->pods.all; it is freed by engine_pods_settle(). */
void engine_pods_sync(struct engine *e, struct epod *p, bool orphan);

/* engine_pods_see.c */

/* It has ended, and is told to have unless that was told meanwhile. */
void engine_pods_end_unheard(struct engine *e, struct epod *p);
/* The pod ends, and nobody has said so. */
void engine_pods_conclude(struct engine *e, struct epod *p, enum pod_trigger trigger,
			  uint64_t at_ns);

struct pod *engine_pods_cgroups(const struct engine *e, const struct epod *p);
bool engine_pods_is_empty(const struct engine *e, const struct epod *p);
bool engine_pods_is_removed(const struct engine *e, const struct epod *p);
bool engine_pods_is_sandbox(const struct engine *e, const struct cgnode *node);
/* How many containers run, the sandbox apart. */
uint32_t engine_pods_running(const struct engine *e, const struct epod *p);

/* engine_pods_list.c */

/* When its deletion was asked for, to the second; 0: not known. */
uint64_t engine_pods_deletion_ns(const struct engine *e, const struct epod *p);
/* A list of its source that was asked for after it was first seen does not have it. */
bool engine_pods_is_missing(const struct engine *e, const struct epod *p);

/* engine_truth.c */

/* Whether what an answer says first happened at a time that is known: the answer before it was
 * asked for at before_ns (0: there was none) and this one comes now. */
bool engine_truth_is_timed(const struct engine *e, uint64_t before_ns);
/* Keeps what the kubelet says of a pod. */
void engine_truth_told(struct engine *e, struct epod *p, const struct meta_pod *meta,
		       uint64_t at_ns);
/* A container, or the sandbox, was told to stop. */
void engine_truth_signalled(struct engine *e, struct epod *p, const struct cgnode *node,
			    uint64_t at_ns);
/* Something about the pod is new since at_ns: tells what does not fit, once it holds. */
void engine_truth_look(struct engine *e, struct epod *p, uint64_t at_ns);
/* The verdict on a container has the gap events-lost. */
void engine_truth_lost(struct engine *e, struct epod *p);
/* The pod has ended: until when it is told to be Ready is asked for. */
void engine_truth_ended(struct engine *e, const struct epod *p);
/* The pod is followed no longer. */
void engine_truth_leave(struct engine *e, struct epod *p);
/* Since when it is told to be Ready while it is being stopped; 0: it is not. */
uint64_t engine_truth_ready_since(const struct epod *p);

/* engine_pods_tell.c */

void engine_pods_fill(const struct engine *e, const struct epod *p, struct record_pod *ret);

/* The pod came to a stage. */
void engine_pods_arrived(struct engine *e, struct epod *p);
/* Tells what was held back, if it need not wait; now: in any case. */
void engine_pods_release(struct engine *e, struct epod *p, bool now);
#endif
