/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share; nobody else includes this. */
#ifndef CORE_ENGINE_PRIV_H
#define CORE_ENGINE_PRIV_H

#include "core/engine/engine.h"
#include "core/engine/subject.h"
#include "core/engine/given.h"
#include "core/engine/names.h"
#include "core/engine/sandbox.h"
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

/* Cgroup ids, in the order they came. */
struct engine_ids {
	uint64_t *ids;
	size_t n, room;
};

/* What changed since it was kept last. */
struct engine_keep {
	bool on;  /* it was kept at all */
	bool all; /* more changed than could be noted */
	struct engine_ids cgroups;
	char (*uids)[META_UID_MAX]; /* of pods */
	size_t n_uids, room_uids;
};

/* How far an engine has come that goes on where an earlier one was ended. */
enum resume_phase {
	RESUME_NEW,	 /* nothing was told yet */
	RESUME_FED,	 /* what was kept comes in */
	RESUME_SCANNING, /* what is there comes in */
	RESUME_DONE,	 /* it is settled, or there was nothing */
};

struct resume_init {
	uint64_t at_ns;
	struct obs_init init;
};

struct engine_resume {
	enum resume_phase phase;
	bool foreign; /* it was kept in a way that is not ours */
	char boot_id[37];
	uint64_t until_ns; /* so long the earlier engine knew what went on */
	struct engine_ids cgroups;
	struct stop *aside;	  /* of cgroups whose ids are others' now */
	struct resume_init *held; /* inits that were found and are not those that were kept */
	size_t n_held, room_held;
};

struct engine {
	struct engine_config config;
	struct output out;
	struct cgmap map;
	struct names names;
	struct stops stops;
	struct engine_pods pods;
	struct engine_shutdown *shutdown; /* NULL: a node's shutdown is nobody's business */
	struct engine_keep keep;
	struct engine_resume resume;
	struct engine_stats stats;
	uint64_t wake_ns; /* last EFFECT_WAKE_AT */

	struct obs_lost lost;
	uint64_t containers_found;
};

/* 0 or -ENOMEM. */
int engine_ids_add(struct engine_ids *list, uint64_t id);
/* What would be kept of that cgroup has changed, or of the pod that it is in. */
void engine_changed(struct engine *e, struct cgnode *node);
/* The same for whatever cgroup obs is about. */
void engine_changed_by(struct engine *e, const struct obs *obs);
void engine_changed_id(struct engine *e, uint64_t id);
void engine_changed_pod(struct engine *e, struct epod *p);
/* What sources say of a pod has. */
void engine_changed_meta(struct engine *e, const char *uid);
void engine_keep_done(struct engine *e);

/* Whether obs is taken here, and what came of it; otherwise it is any other. */
bool engine_resume_takes(struct engine *e, const struct obs *obs, int *ret);
/* A cgroup was found of which an earlier engine knew. */
void engine_resume_found(struct engine *e, struct cgnode *node);
/* A cgroup turns up: one that was kept under its id, and is another or was believed to be more
 * than it is, is gone. whole: its path is known. */
void engine_resume_leave(struct engine *e, const struct obs_cgroup *cg, bool whole);
/* All that is there was found: what is missing is told. */
void engine_resume_settle(struct engine *e);
void engine_resume_done(struct engine *e);

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

void engine_shutdown_done(struct engine *e);
/* What stops have to know of the shutdown. */
struct given engine_shutdown_given(const struct engine *e);
/* Tells the sequencer what an observation that was taken has changed. */
void engine_shutdown_saw(struct engine *e, const struct obs *obs);
/* A pod is followed no longer. */
void engine_shutdown_forget(struct engine *e, const char *uid);
void engine_shutdown_expire(struct engine *e, uint64_t now_ns);
/* When it wants to be woken; 0: not. */
uint64_t engine_shutdown_wake_ns(const struct engine *e);

int engine_on_listed(struct engine *e, const struct obs *obs);
int engine_on_shutdown_plan(struct engine *e, const struct obs *obs);
int engine_on_shutdown(struct engine *e, const struct obs *obs);

#endif
