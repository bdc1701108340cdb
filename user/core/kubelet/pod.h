/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as the Kubernetes API has it, as far as its status rules look at it
 * (docs/kubelet-rules.md, "Pod status" and "Node failure and controllers"): who made it, what it
 * wants, and what its status says.
 *
 * Strings are NUL-terminated, never NULL ("" where it is not given) and hostile. The object only
 * points to strings and lists; their owner is what made it, usually an arena. So an object may be
 * copied, and its parts shared. Times are nanoseconds since 1970, UTC; 0: not given.
 */
#ifndef CORE_KUBELET_POD_H
#define CORE_KUBELET_POD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "core/names/meta.h"

/* "In" and "NotIn"; any other text never matches. */
enum podobj_op { PODOBJ_OP_OTHER, PODOBJ_OP_IN, PODOBJ_OP_NOT_IN };

/* "Restart" and "RestartAllContainers"; any other text asks for nothing. */
enum podobj_action { PODOBJ_ACTION_OTHER, PODOBJ_RESTART, PODOBJ_RESTART_ALL };

/* One of a container's restartPolicyRules. */
struct podobj_rule {
	enum podobj_op op;
	enum podobj_action action;
	const int32_t *codes;
	size_t n_codes;
};

struct podobj_container {
	const char *name;
	const char *image;
	enum meta_restart_policy restart_policy; /* 0: it has no own one */
	const struct podobj_rule *rules;
	size_t n_rules;
	const char *stop_signal; /* lifecycle.stopSignal */
	bool prestop;		 /* it has a preStop hook ... */
	bool prestop_unreadable; /* ... or may have one */
	bool probe, probe_grace; /* it has a liveness or startup probe; one with an own grace ... */
	bool probes_unreadable;	 /* ... or may have */
};

struct podobj_containers {
	const struct podobj_container *items;
	size_t n;
};

enum podobj_state {
	PODOBJ_NONE, /* the state is there and says nothing */
	PODOBJ_WAITING,
	PODOBJ_RUNNING,
	PODOBJ_TERMINATED,
};

/* A container's state or its last one. What a kind does not have is 0 and "". */
struct podobj_container_state {
	enum podobj_state kind;
	const char *reason, *message; /* waiting, terminated */
	int32_t exit_code, signal;    /* terminated */
	int64_t started_wall_ns;      /* running, terminated */
	int64_t finished_wall_ns;     /* terminated */
	const char *id;		      /* terminated: "containerd://..." */
	bool has_exit_code, has_finished;
};

enum podobj_started { PODOBJ_STARTED_UNKNOWN, PODOBJ_STARTED_NO, PODOBJ_STARTED_YES };

struct podobj_status {
	const char *name;
	const char *image, *image_id;
	const char *id; /* "containerd://..." */
	const char *stop_signal;
	struct podobj_container_state state, last;
	enum podobj_started started;
	bool ready;
	bool has_restarts;
	bool id_unreadable;
	int64_t restarts;
};

struct podobj_statuses {
	const struct podobj_status *items;
	size_t n;
	bool absent; /* no list at all, which is less than an empty one */
};

struct podobj_condition {
	const char *type;
	const char *status; /* "True", "False", "Unknown", or what somebody wrote */
	const char *reason, *message;
	int64_t transition_wall_ns;
};

struct podobj_conditions {
	const struct podobj_condition *items;
	size_t n;
};

struct podobj_pod_status {
	const char *phase; /* "Running", ...; "" or any other text is not terminal */
	const char *reason, *message;
	const char *qos; /* "Guaranteed", ... */
	struct podobj_conditions conditions;
	struct podobj_statuses inits, containers, ephemerals;
};

/* A pod's toleration of taints; "" is any key, any effect. */
struct podobj_toleration {
	const char *key, *op, *value, *effect;
	struct seconds seconds;
};

/* Bits of podobj_pod.volumes: what the pod keeps where. */
enum podobj_volumes {
	PODOBJ_VOLUME_EMPTY_DIR = 1 << 0, /* on the node, and gone with the pod */
	PODOBJ_VOLUME_HOST_PATH = 1 << 1, /* on the node */
	PODOBJ_VOLUME_CLAIM = 1 << 2,	  /* a PersistentVolumeClaim, wherever that is */
};

/* One of a pod's volumes. */
struct podobj_volume {
	const char *host_path;	/* of a hostPath */
	const char *csi_driver; /* of a CSI volume that is the pod's own */
	bool is_empty_dir, is_host_path, is_claim;
};

/* One of metadata.ownerReferences. */
struct podobj_owner {
	const char *kind, *api, *name, *uid;
	bool controller;
};

/*
 * A member that a list of many pods has in a form that makes no sense is unreadable: unknown, which
 * is not the same as absent. Where a pod is read alone that is an error.
 */
struct podobj_pod {
	const char *namespace_, *name, *uid, *node;
	const struct podobj_owner *owners;
	size_t n_owners;
	/* Its controller; all "": none, and for the apiVersion and uid: not given. */
	struct podobj_owner owner;
	int64_t deleted_wall_ns; /* metadata.deletionTimestamp */
	bool deleting;		 /* it has one */
	bool deleted_unreadable;
	const char *const *finalizers; /* metadata.finalizers */
	size_t n_finalizers;
	bool is_static; /* run from a file or URL; also its mirror */
	/* The API's image of a static pod. One who may make pods can annotate one as such; the
	 * kubelet lists static pods themselves and never their mirrors. */
	bool mirror;
	const char *static_uid; /* of a mirror: the static pod's, which its cgroups have */
	const char *source;	/* what the kubelet has it from: "api", "file", "http" */
	bool source_unreadable;
	/* When this kubelet process first saw it, as the kubelet annotates it, whatever its source
	 * and its maker wrote (recordFirstSeenTime() in pkg/kubelet/config/config.go). A kubelet
	 * that starts anew writes another. */
	int64_t seen_wall_ns;
	/* What controllers leave in the labels of their pods. */
	const char *template_hash, *statefulset_pod, *revision_hash;
	const char *job, *old_job; /* batch.kubernetes.io/job-name, job-name */
	bool host_network;
	struct seconds deadline;       /* spec.activeDeadlineSeconds */
	struct seconds grace;	       /* spec.terminationGracePeriodSeconds */
	struct seconds deletion_grace; /* metadata.deletionGracePeriodSeconds */
	int64_t start_wall_ns;
	bool has_metadata, has_spec;
	bool has_priority;
	int64_t priority;			 /* 0 unless it has one */
	enum meta_restart_policy restart_policy; /* 0: not given, which is Always */
	uint32_t volumes;			 /* bits of enum podobj_volumes */
	const struct podobj_volume *volume_list;
	size_t n_volume_list;
	struct podobj_containers inits, containers, ephemerals;
	bool inits_unreadable;
	const char *const *gates; /* spec.readinessGates: types of conditions */
	size_t n_gates;
	const struct podobj_toleration *tolerations;
	size_t n_tolerations;
	struct podobj_pod_status status;
};

/* Where a container stands in its pod's spec. */
enum podobj_list { PODOBJ_NO_LIST, PODOBJ_INITS, PODOBJ_CONTAINERS, PODOBJ_EPHEMERALS };
struct podobj_ref {
	enum podobj_list list;
	size_t index;
};

/* NULL for a reference to none. */
const struct podobj_container *podobj_container_at(const struct podobj_pod *pod,
						   struct podobj_ref ref);

/* The first of this name; NULL: none. */
const struct podobj_status *podobj_status_of(const struct podobj_statuses *statuses,
					     const char *name);
const struct podobj_condition *podobj_condition_of(const struct podobj_conditions *conditions,
						   const char *type);
bool podobj_condition_is_true(const struct podobj_conditions *conditions, const char *type);

/* Whether an init container is a sidecar (restartPolicy Always): it runs beside the others. */
bool podobj_is_sidecar(const struct podobj_container *init);

/* Whether the phase is "Succeeded" or "Failed": nothing follows it. */
bool podobj_phase_is_terminal(const char *phase);

/* Whether the container's startup was reported to be over. */
static inline bool podobj_is_started(const struct podobj_status *status)
{
	return status->started == PODOBJ_STARTED_YES;
}

/* A state with nothing in it. */
struct podobj_container_state podobj_no_state(void);
/* An empty status: every string "". */
struct podobj_status podobj_no_status(const char *name);

#endif
