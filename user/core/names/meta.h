/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: what sources outside the kernel say of pods and containers. A source fills in what it
 * knows and marks it in `known`; nothing in here is trusted, and no source needs to be right.
 *
 * Strings are NUL-terminated UTF-8 of any content ("" where a source says nothing). Times are
 * nanoseconds; those named wall are since 1970, UTC.
 */
#ifndef CORE_NAMES_META_H
#define CORE_NAMES_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model/pod.h"
#include "core/words/words.h"

#define META_NAME_MAX	254 /* a DNS-1123 subdomain and its NUL */
#define META_IMAGE_MAX	256
#define META_REASON_MAX 64
#define META_KIND_MAX	64
#define META_ID_MAX	65

/* Nothing follows it. */
static inline bool meta_phase_is_terminal(uint32_t phase)
{
	return phase == META_PHASE_SUCCEEDED || phase == META_PHASE_FAILED;
}

/* Bits of meta_pod.known. Strings need none. */
enum meta_pod_known {
	META_POD_GRACE = 1 << 0,
	META_POD_DELETING = 1 << 1, /* deleting and, if it is, deleted_wall_ns */
	META_POD_DELETION_GRACE = 1 << 2,
	META_POD_SIDECARS = 1 << 3,
	META_POD_STATIC = 1 << 4,
	META_POD_PRIORITY = 1 << 5,
	META_POD_READY = 1 << 6,
	META_POD_CONTAINERS = 1 << 7, /* the id of every container of it that was made is there */
};

/* As the API writes them; 0: not known. */
enum meta_restart_policy { META_RESTART_ALWAYS = 1, META_RESTART_ON_FAILURE, META_RESTART_NEVER };
/* Why the kubelet failed a pod as a whole, by its status.reason (docs/kubelet-rules.md, "Shutdown
 * status", and "Exit reasons"); 0: it did not, or for another reason. */
enum meta_end {
	META_END_EVICTED = 1, /* Evicted: the node was short of something */
	META_END_PREEMPTED,   /* Preempting: to make room for a critical pod */
	META_END_SHUTDOWN,    /* Terminated, Shutdown (1.20, 1.21); NodeShutdown: refused */
	META_END_DEADLINE,    /* DeadlineExceeded: its activeDeadlineSeconds are over */
};

struct meta_pod {
	uint64_t asked_ns; /* CLOCK_BOOTTIME: since then it was so; 0: since it came */
	uint32_t source;   /* enum meta_source */
	uint32_t known;	   /* enum meta_pod_known */
	/* As its cgroup has it: a static pod's is the hash of its manifest
	 * (kubernetes.io/config.hash on its mirror), 32 hex digits without dashes. */
	char uid[POD_UID_MAX];
	char namespace_[META_NAME_MAX];
	char name[META_NAME_MAX];
	char workload[META_NAME_MAX];	   /* what made it: a Deployment, a DaemonSet, itself */
	char workload_kind[META_KIND_MAX]; /* of the source that provides workload */
	uint64_t grace_ns;		   /* spec.terminationGracePeriodSeconds */
	uint64_t deletion_grace_ns;	   /* metadata.deletionGracePeriodSeconds */
	int64_t deleted_wall_ns;	   /* metadata.deletionTimestamp */
	int64_t priority;
	bool deleting;
	bool sidecars; /* init containers that are restarted always */
	bool is_static;
	bool ready;		 /* condition Ready is True */
	uint32_t qos;		 /* enum cgpath_qos */
	uint32_t phase;		 /* enum meta_phase */
	uint32_t end;		 /* enum meta_end, of one that failed */
	uint32_t restart_policy; /* enum meta_restart_policy */
	bool gone;		 /* the source knew it and does not any more */
};

/* Bits of meta_container.known. */
enum meta_container_known {
	META_CTR_ATTEMPT = 1 << 0,
	META_CTR_GRACE = 1 << 1,
	META_CTR_PRESTOP = 1 << 2,
	META_CTR_PROBE_GRACE = 1 << 3,
	META_CTR_EXIT = 1 << 4, /* exit_code, exit_reason, finished_wall_ns */
	META_CTR_MAIN_PID = 1 << 5,
	META_CTR_SIDECAR = 1 << 6,
	META_CTR_LABELS = 1 << 7,
	META_CTR_PROBE = 1 << 8,
};

/* An ephemeral container, which kubectl debug adds, has no place. */
#define META_EPHEMERAL UINT32_MAX

enum meta_container_kind { META_KIND_UNKNOWN, META_KIND_CONTAINER, META_KIND_SANDBOX };

struct meta_container {
	uint32_t source; /* enum meta_source */
	uint32_t known;	 /* enum meta_container_known */
	uint32_t kind;	 /* enum meta_container_kind */
	/* One of id and unit says what it is about; from the kubelet, pod_uid and name may. */
	char id[META_ID_MAX];
	uint32_t user;		   /* whose the container of that id is; 0: root's */
	char unit[META_NAME_MAX];  /* systemd: nginx.service */
	char pod_uid[POD_UID_MAX]; /* "" outside pods */
	char name[META_NAME_MAX];
	char image[META_IMAGE_MAX]; /* cut at a character where longer */
	/* What it belongs to outside pods, both from one source: a compose project and its service,
	 * the unit of a quadlet. */
	char namespace_[META_NAME_MAX];
	char workload[META_NAME_MAX];
	uint32_t attempt;     /* how often it was restarted */
	uint32_t stop_signal; /* 1 to 64; 0: not known */
	uint32_t main_pid;    /* systemd: the unit's, in the host's pid namespace */
	uint32_t sidecar;  /* its place among its pod's sidecars; 0: no sidecar; META_EPHEMERAL */
	uint32_t labels;   /* bit i: it has the label of rule i of shutdown.managed */
	uint64_t grace_ns; /* the container's own: StopTimeout, TimeoutStopSec */
	bool prestop;	   /* has a preStop hook */
	bool probe_grace;  /* a liveness or startup probe has a grace period of its own */
	bool probe;	   /* has a liveness or startup probe */
	int32_t exit_code; /* as the runtime reports it: 128 + n for signal n */
	char exit_reason[META_REASON_MAX];
	int64_t finished_wall_ns;
};

/* How the kernel saw a container exit, which its runtime may report otherwise. */
struct exit_seen {
	bool seen;	 /* false: its status was lost */
	uint32_t status; /* raw wait status */
	uint64_t at_ns, start_ns;
	int64_t wall_ns;
	bool oom_victim; /* the OOM killer chose it */
	bool oom_beside; /* ... or another process of the container */
	bool oom_sure;	 /* false: some of that may have gone unseen */
	/* As its cgroup's path had it. */
	bool is_static;
	uint32_t runtime, qos; /* enum cgpath_runtime, enum cgpath_qos */
};

/* "sha256:<64 hex>" or the digits alone: no name of an image. */
bool meta_is_digest(const char *text, size_t len);

/* Lower is better. */
uint32_t meta_rank(enum meta_source source);
/*
 * Whose lists say whether such a pod is wanted. sources: bits 1 << enum meta_source of those that
 * are asked. Only one source counts for a pod, so that nothing is concluded from lists of different
 * age: of the API's pods the API server's where that is asked, else the kubelet's; of static pods
 * the kubelet's alone, for the API has but images of them.
 */
enum meta_source meta_lister(uint32_t sources, bool is_static);
/* Takes a pod's uid as cgroup paths have it: lower case, a UUID with its dashes or, of a static
 * pod, a hash. False, with ret as it was, for anything else. */
bool meta_uid_take(const char *text, size_t len, char ret[static POD_UID_MAX]);
/* Whether the uid is that of a static pod, made of its manifest, and not one of the API's. */
bool meta_is_static_uid(const char *uid);

#endif
