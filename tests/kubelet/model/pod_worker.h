/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's pod worker: for every pod, by its UID, the life sync -> terminating -> terminated
 * -> finished (docs/kubelet-rules.md, "The pod worker"; pkg/kubelet/pod_workers.go, v1.36).
 *
 * It decides and never acts. Updates come in; what to do comes out as calls that the caller makes
 * and tells the end of, and as effects. Nothing blocks and nothing looks at a clock: now is an
 * argument, in nanoseconds, and may step anywhere. Grace periods are whole seconds, as the API has
 * them.
 */
#ifndef TESTS_KUBELET_MODEL_POD_WORKER_H
#define TESTS_KUBELET_MODEL_POD_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names/meta.h"
#include "core/pods/life.h"

#define PODWORKER_MAX_WAITERS  16 /* of one pod */
#define PODWORKER_FULLNAME_MAX (2 * META_NAME_MAX)

#define PODWORKER_RESYNC_NS  60000000000ULL /* after a success */
#define PODWORKER_BACKOFF_NS 10000000000ULL /* after an error, and for what may not start yet */
/* Up to half of every delay is added. */
#define PODWORKER_JITTER_MAX 500

enum podworker_type { PODWORKER_SYNC, PODWORKER_UPDATE, PODWORKER_CREATE, PODWORKER_KILL };

/* docs/kubelet-rules.md, "Pod states". */
enum podworker_state {
	PODWORKER_STATE_SYNC,
	PODWORKER_STATE_TERMINATING,
	PODWORKER_STATE_TERMINATED,
	PODWORKER_STATE_COUNT,
};

/* What the runtime's cache answers about a pod that the worker has not seen yet. */
enum podworker_runtime {
	PODWORKER_RUNTIME_QUIET, /* no running container, no ready sandbox; or it never knew it */
	PODWORKER_RUNTIME_RUNS,
	PODWORKER_RUNTIME_ERROR,
};

/* A pod as its source has it. The strings are copied. */
struct podworker_pod {
	const char *uid, *namespace_, *name;
	bool is_static;
	bool deleting; /* has metadata.deletionTimestamp */
	bool mirror;   /* a mirror pod of it is known */
	/* The node's own status of it is terminal before the source's is: refused at admission. */
	bool ended_here;
	enum meta_phase phase; /* 0: unknown */
	struct pod_seconds deletion_grace, spec_grace;
	enum podworker_runtime runtime;
};

/* A pod as the runtime has it. */
struct podworker_running {
	const char *uid, *namespace_, *name;
};

struct podworker_kill {
	bool evict;
	struct pod_seconds grace; /* overrides */
	uint64_t waiter;	  /* answered by PODWORKER_STOPPED; 0: nobody waits */
	uint64_t status_fn;	  /* how to write its status, as the caller knows it; 0: none */
};

struct podworker_update {
	enum podworker_type type;
	/* At least one of them; running counts only where pod is NULL. */
	const struct podworker_pod *pod;
	const struct podworker_running *running;
	const struct podworker_kill *kill; /* NULL: no options */
	uint64_t start_ns;		   /* since when it waits, for its latency; 0: unknown */
};

enum podworker_call_kind {
	PODWORKER_CALL_NONE,
	PODWORKER_CALL_SYNC_POD,
	PODWORKER_CALL_TERMINATING_POD,
	PODWORKER_CALL_TERMINATING_RUNTIME_POD,
	PODWORKER_CALL_TERMINATED_POD,
	PODWORKER_CALL_COUNT,
};

/* One of the four sync calls (tests/kubelet/README.md, "Sync calls"), for the caller to make. */
struct podworker_call {
	enum podworker_call_kind kind;
	char uid[POD_UID_MAX];
	enum podworker_type type; /* of SyncPod */
	bool is_static, mirror;
	struct pod_seconds grace; /* not set: containers use their own */
	uint64_t status_fn;	  /* the last that was given, for SyncTerminatingPod; 0: none */
	/* The runtime's status has to be newer; 0: any will do, as for a runtime pod. */
	uint64_t newer_than_ns;
	uint64_t start_ns; /* of the oldest update that it answers; 0: unknown */
};

enum podworker_result {
	PODWORKER_OK,
	PODWORKER_TERMINAL,  /* only of SyncPod, otherwise as OK: the pod is at its end */
	PODWORKER_CANCELLED, /* what was asked for by PODWORKER_CANCEL */
	PODWORKER_FAILED,
	PODWORKER_NO_STATUS, /* no call was made: the runtime's status could not be had */
};

/* One error, or one of several joined. */
struct podworker_error {
	const char *text; /* NULL: none */
	bool backs_off;
	int64_t until_ns; /* when its back-off expires */
};

struct podworker_outcome {
	enum podworker_result result;
	const struct podworker_error *errors; /* of what failed; may be none */
	size_t n_errors;
	uint32_t jitter; /* 0 to PODWORKER_JITTER_MAX, drawn by the caller; thousandths */
};

enum podworker_effect_type {
	PODWORKER_CANCEL,  /* end the call that runs for uid, if one does; a stop goes on */
	PODWORKER_STOPPED, /* tell waiter: the containers have stopped, or nothing will be */
	PODWORKER_REQUEUE, /* at at_ns update uid by type sync, if its source still has it */
	PODWORKER_MOVED,   /* uid came to stage */
};

struct podworker_effect {
	enum podworker_effect_type type;
	const char *uid; /* valid during the call */
	uint64_t waiter;
	uint64_t at_ns;
	enum pod_stage stage;
};

/* Receives each effect in order, while the functions below run; must not call them. */
typedef void (*podworker_effect_fn)(void *userdata, const struct podworker_effect *effect);

struct podworker_config {
	uint64_t resync_ns, backoff_ns; /* 0: the defaults */
	podworker_effect_fn effect;	/* may be NULL */
	void *userdata;
};

/* What is recorded of one pod. Times are 0 where it has not come to that. */
struct podworker_status {
	uint64_t synced_ns; /* first seen */
	uint64_t started_ns, terminating_ns, terminated_ns;
	bool started_terminating, deleted, evicted, finished, restart_requested, observed_runtime;
	bool working, has_pending, has_active;
	int64_t grace_s; /* 0 until it is terminating */
};

struct podworker_stats {
	size_t pods;
	uint64_t refused;	  /* pods that found no room */
	uint64_t waiters_refused; /* ... and waiters: they are never answered */
	uint64_t unexpected;	  /* ends of calls that did not run */
};

struct podworker;

/* 0 or -ENOMEM. The caller frees with podworker_free(). */
int podworker_new(const struct podworker_config *config, struct podworker **ret);
struct podworker *podworker_free(struct podworker *pw);

/* UpdatePod (tests/kubelet/README.md, "Pod updates"). 0; 1 when the update was ignored; -EINVAL
 * without a usable UID; -ENOSPC when there is no room; -ENOMEM. */
int podworker_update(struct podworker *pw, const struct podworker_update *update, uint64_t now_ns);

/* The pod that has waited longest for a worker that is free; NULL: none does. Valid until the next
 * change. */
const char *podworker_ready(const struct podworker *pw);

/* Starts the worker of a ready pod (tests/kubelet/README.md, "Sync calls"). 1 with the call to make
 * in *ret; 0 when there is none to make: it may not start, or not yet, and then jitter is that of
 * its next try; -ENOENT when uid is not ready. */
int podworker_start(struct podworker *pw, const char *uid, uint64_t now_ns, uint32_t jitter,
		    struct podworker_call *ret);

/* Takes how the call of uid ended. 0; -ENOENT when none runs. */
int podworker_done(struct podworker *pw, const char *uid, const struct podworker_outcome *outcome,
		   uint64_t now_ns);

/* What SyncKnownPods answers about a pod that it keeps. */
struct podworker_known {
	const char *uid; /* valid during the call */
	enum podworker_state state;
	bool orphan, has_config, is_static;
};

typedef void (*podworker_known_fn)(void *userdata, const struct podworker_known *known);

/* SyncKnownPods (tests/kubelet/README.md, "Orphaned pods"): pods that are not among the n uids are
 * orphans. fn may be NULL and must not call the worker. */
void podworker_sync_known(struct podworker *pw, const char *const *uids, size_t n, uint64_t now_ns,
			  podworker_known_fn fn, void *userdata);

/* The same for one pod alone. True: it is forgotten. False for an unknown UID. */
bool podworker_sync_one(struct podworker *pw, const char *uid, bool orphan, uint64_t now_ns);

/* How a working pod is configured (docs/kubelet-rules.md, "Pod metrics"). */
enum podworker_config_state {
	PODWORKER_DESIRED,
	PODWORKER_ORPHAN,
	PODWORKER_RUNTIME_ONLY, /* not split by static */
	PODWORKER_CONFIG_COUNT,
};

/* What housekeeping counted; [1]: static pods. */
struct podworker_house {
	uint64_t desired[2], active[2];
	uint64_t restarted[2], orphaned; /* to be added to their totals */
	uint64_t working[PODWORKER_STATE_COUNT][PODWORKER_CONFIG_COUNT][2];
};

/* The part of HandlePodCleanups that moves pods (tests/kubelet/README.md, "Housekeeping"), with
 * what the sources and the runtime have. 0, or the error of the first update that was not taken;
 * the others were. */
int podworker_housekeep(struct podworker *pw, const struct podworker_pod *config, size_t n_config,
			const struct podworker_running *runtime, size_t n_runtime, uint64_t now_ns,
			struct podworker_house *ret);

/* NULL for an unknown UID; valid until the next change. */
const struct podworker_status *podworker_status(const struct podworker *pw, const char *uid);
enum podworker_state podworker_state(const struct podworker_status *status);

/* The queries (tests/kubelet/README.md, "Pod worker queries"), unknown UIDs included. */
bool podworker_is_known_terminated(const struct podworker *pw, const char *uid);
bool podworker_could_have_running_containers(const struct podworker *pw, const char *uid);
bool podworker_should_be_finished(const struct podworker *pw, const char *uid);
bool podworker_is_termination_requested(const struct podworker *pw, const char *uid);
bool podworker_should_containers_be_terminating(const struct podworker *pw, const char *uid);
bool podworker_should_runtime_be_removed(const struct podworker *pw, const char *uid);
bool podworker_should_content_be_removed(const struct podworker *pw, const char *uid);
/* fullname is name_namespace. */
bool podworker_is_mirror_terminating(const struct podworker *pw, const char *fullname);

void podworker_get_stats(const struct podworker *pw, struct podworker_stats *ret);

/* The effective grace period (docs/kubelet-rules.md, "Effective grace period"), from the stored one
 * (0: none) and those of pod and override. *ret_shortened is whether a stored one changed. */
int64_t podworker_effective_grace(int64_t stored, struct pod_seconds deletion,
				  struct pod_seconds override, struct pod_seconds spec,
				  bool *ret_shortened);

/* How long a blocking kill waits before it gives up (tests/kubelet/README.md, "Blocking kill"), in
 * seconds. */
int64_t podworker_kill_timeout(struct pod_seconds override, struct pod_seconds spec);

/* How long after a call its pod is looked at again (tests/kubelet/README.md, "Requeue delays").
 * moved: it came to a new state. */
uint64_t podworker_requeue_ns(const struct podworker_config *config, bool moved,
			      const struct podworker_outcome *outcome, uint64_t now_ns);

/* "sync", "update", "create", "kill"; "sync", "terminating", "terminated". NULL for none. */
const char *podworker_type_name(enum podworker_type type);
const char *podworker_state_name(enum podworker_state state);
/* As the kubelet calls it: "SyncPod" and so on; NULL for none. */
const char *podworker_call_name(enum podworker_call_kind kind);

#endif
