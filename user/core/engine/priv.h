/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share; nobody else includes this. */
#ifndef CORE_ENGINE_PRIV_H
#define CORE_ENGINE_PRIV_H

#include "core/engine/engine.h"
#include "core/engine/subject.h"
#include "core/engine/given.h"
#include "core/engine/names.h"
#include "core/engine/sandbox.h"
#include "core/names/table.h"
#include "core/stop/grace.h"
#include "core/stop/stop.h"

/* How long a verdict waits for its cgroup to run empty, and for its name. */
#define ENGINE_WAIT_NS	   250000000ULL
/* How long after the exit of what may be a runtime's stage the container's init may exec. */
#define ENGINE_STAGE_NS	   3000000000ULL
/* How long a container may be without an init that execs before its processes are looked at: while
 * it is being made it holds stages of its runtime. */
#define ENGINE_INIT_NS	   10000000000ULL
/*
 * How long an empty cgroup waits for what a dying PID 1 kills elsewhere: its own cgroup is left in
 * cgroup_exit(), the namespace is torn down after that in exit_notify() (kernel/exit.c).
 */
#define ENGINE_TEARDOWN_NS 5000000ULL

/* SIGTERM, SIGINT, SIGQUIT, SIGRTMIN+3: what stops a container whose own signal is not known. */
#define ENGINE_STOP_SET (1ULL << 14 | 1ULL << 1 | 1ULL << 2 | 1ULL << 36)

struct epod;
TAILQ_HEAD(epod_queue, epod);

/* The pods that are followed. */
struct engine_pods {
	struct podworker *worker;
	struct map by_uid;
	struct epod_queue all;
	struct epod_queue dead;		 /* the worker has forgotten them in this step */
	struct deadline_queue doubts;	 /* what is to be looked at again */
	struct deadline_queue unheard;	 /* whose end the kubelet may still say why of */
	uint64_t refused;		 /* found no room here; the worker counts its own */
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
	struct engine_pods pods;
	struct given given;
	struct engine_shutdown *shutdown; /* NULL: a node's shutdown is nobody's business */
	struct deadline_queue deadlines;
	uint32_t n_gone;   /* stops whose cgroup is gone, and whose verdict waits */
	struct stop *over; /* ... those of them that are told now */
	struct engine_keep keep;
	struct engine_resume resume;
	struct map procs;		 /* scope all: stops of single processes, by pid */
	struct deadline_queue proc_ages; /* of the last signal to each */
	struct engine_stats stats;
	uint64_t wake_ns; /* last EFFECT_WAKE_AT */

	struct obs_lost lost;
	uint64_t missed_ns; /* programs of the kernel half were last seen not to have run; 0: never */
	uint64_t containers_found;
};

void engine_read_counts(struct engine *e, uint64_t id);
/* Asks for the path of a cgroup whose record was lost. */
void engine_find_cgroup(struct engine *e, uint64_t id);
/* A node of the map turned up: gives containers a stop, corrects the kernel half, asks names. */
int engine_node_known(struct engine *e, struct cgnode *node, uint32_t kernel_kind);
/* Tells the kernel half what node is. */
void engine_set_watch(struct engine *e, const struct cgnode *node);
/* When it counts what the pod of a stop was about to do; 0: not yet. */
uint64_t engine_pod_since(const struct stop *stop);
/* Whether the pod was going then. */
enum record_tri engine_pod_terminating(const struct engine *e, const struct stop *stop);

/* The grace period in force, by what is known now. What a node shutdown gives it is noted: that
 * holds when the shutdown is over, too. */
void engine_take_grace(struct engine *e, struct stop *stop);
/* The same while it is being stopped, for a source has said something new. */
void engine_renew_grace(struct engine *e, struct stop *stop);
/* Of all stops: a node shutdown is announced, which may come after its first stop signals. */
void engine_renew_graces(struct engine *e);
/* Of the stops in a pod. */
void engine_renew_graces_of(struct engine *e, const char *uid);
/* What follows for the kernel half from what is known of node. */
void engine_described(struct engine *e, struct cgnode *node);
/* It was killed early, and its pod's source has yet to say since whether that was deleted. */
bool engine_lacks_grace(const struct engine *e, const struct stop *stop);
/* A source provides the stop signal: what was sent before may be the request. */
void engine_stop_learnt(struct engine *e, struct stop *stop, uint32_t number);
/* Signals that ask node's init to stop, when such a sender sends them: bit n-1 for signal n. */
uint64_t engine_stop_set(const struct engine *e, const struct cgnode *node, enum sender_kind from);
/* Reports the runtime's word of a container's exit beside the kernel's, once both are there. */
void engine_compare_exit(struct engine *e, const char *container_id);

/* The stop of a container, made when the kernel half tells of one we never heard of. */
struct stop *engine_stop_of(struct engine *e, uint64_t id);
static inline void engine_wake(struct engine *e, struct stop *stop, uint64_t at_ns)
{
	/* Without memory for a deadline the verdict goes out with the cgroup's end. */
	deadline_set(&e->deadlines, &stop->wake, at_ns);
}

bool engine_same_process(const struct graced_proc *a, const struct graced_proc *b);
/* A life ended in its cgroup, and nothing was seen of its init. */
void engine_begin_unseen(struct engine *e, struct stop *stop, uint64_t at_ns);
/* Moves stop, and counts an event that its state does not expect. */
void engine_expect(struct engine *e, struct stop *stop, enum stop_event event);
/* The verdict goes out; stop moves on. not_empty: the wait is over and processes are left. */
void engine_tell(struct engine *e, struct stop *stop, bool not_empty);
/* Its cgroup has no process left. */
void engine_stop_empty(struct engine *e, struct stop *stop, uint64_t at_ns);
/* Its names are known, or known to be unknown; or its init was reaped. */
void engine_stop_named(struct engine *e, struct stop *stop);
/* Its cgroup was removed. False: its verdict still waits; stop and node are gone once it is told. */
bool engine_stop_gone(struct engine *e, struct stop *stop);
/* Of one that has exited the verdict waits since before the daemon was restarted. */
void engine_stop_resume(struct engine *e, struct stop *stop);
void engine_expire(struct engine *e, uint64_t now_ns);
/* The trace ends, and no record comes any more: verdicts that wait go out. */
void engine_end_stops(struct engine *e, uint64_t at_ns);

void engine_procs_done(struct engine *e);

static inline struct stop *stop_of_wake(struct deadline *wake)
{
	return (struct stop *)((char *)wake - offsetof(struct stop, wake));
}

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

/* 0 or -ENOMEM. */
int engine_pods_new(struct engine *e);
void engine_pods_done(struct engine *e);
/* What the kubelet says of a pod. 0 or -ENOMEM. */
int engine_pods_described(struct engine *e, const struct meta_pod *meta);
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

int engine_on_init(struct engine *e, const struct obs *obs);
int engine_on_no_init(struct engine *e, const struct obs *obs);
int engine_on_signal(struct engine *e, const struct obs *obs);
int engine_on_exit(struct engine *e, const struct obs *obs);
int engine_on_oom(struct engine *e, const struct obs *obs);
int engine_on_counts(struct engine *e, const struct obs *obs);
int engine_on_probe(struct engine *e, const struct obs *obs);
int engine_on_reaped(struct engine *e, const struct obs *obs);
int engine_on_listed(struct engine *e, const struct obs *obs);
int engine_on_shutdown_plan(struct engine *e, const struct obs *obs);
int engine_on_shutdown(struct engine *e, const struct obs *obs);

void engine_report_attached(struct engine *e, uint64_t at_ns);
void engine_report_lost(struct engine *e, uint64_t at_ns, const struct obs_lost *lost);
void engine_report_stop(struct engine *e, const struct stop *stop, uint32_t gaps);
void engine_report_empty(struct engine *e, const struct stop *stop);
void engine_report_signal(struct engine *e, const struct obs *obs, const struct cgnode *target,
			  const struct sender *sender);
void engine_report_oom(struct engine *e, const struct obs *obs, const struct cgnode *node,
		       enum oom_level level);

#endif
