/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of what the kubelet gives a container that it kills by itself, and of what it reports
 * (docs/kubelet-rules.md, "Ending containers"): graced kills no container for a probe or an
 * eviction.
 */
#ifndef TESTS_KUBELET_MODEL_KILL_BASE_H
#define TESTS_KUBELET_MODEL_KILL_BASE_H

#include "core/pods/life.h"

/* What a blocking kill reports when it gives up (tests/kubelet/README.md, "Blocking kill"). */
#define KILLGRACE_TIMEOUT_EVENT	 "Warning"
#define KILLGRACE_TIMEOUT_REASON "ExceededGracePeriod"
#define KILLGRACE_TIMEOUT_MESSAGE \
	"Container runtime did not kill the pod within specified grace period."
#define KILLGRACE_TIMEOUT_ERROR "timeout waiting to kill pod"

enum killgrace_why {
	KILLGRACE_OTHER,
	KILLGRACE_STARTUP_PROBE, /* "StartupProbe" */
	KILLGRACE_LIVENESS_PROBE /* "LivenessProbe" */
};

/* Anything else is KILLGRACE_OTHER. */
enum killgrace_why killgrace_why_of(const char *reason);

/* docs/kubelet-rules.md, "Container grace period"; probe is the value of the probe that failed, if
 * one did. */
int64_t killgrace_base(struct pod_seconds deletion, struct pod_seconds spec,
		       struct pod_seconds probe);

enum killgrace_trigger {
	KILLGRACE_HARD,		 /* "hard": an eviction threshold */
	KILLGRACE_SOFT,		 /* "soft" */
	KILLGRACE_LOCAL_STORAGE, /* "local_storage": a limit exceeded */
	KILLGRACE_PREEMPTION,	 /* "preemption": by the kubelet */
	KILLGRACE_TRIGGER_COUNT,
};

/* -1 for a word other than those in quotes. */
int killgrace_trigger_of(const char *word);

/* tests/kubelet/README.md, "Eviction grace"; max_s is evictionMaxPodGracePeriod. All of them are
 * evictions. */
struct pod_seconds killgrace_eviction(enum killgrace_trigger trigger, int64_t max_s,
				      struct pod_seconds spec);

#endif
