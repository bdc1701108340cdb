/* SPDX-License-Identifier: Apache-2.0 */
/* A walk's own memory of what it saw, which is what the pod worker's is held against. */
#ifndef TESTS_LIB_PODS_PODWALK_PRIV_H
#define TESTS_LIB_PODS_PODWALK_PRIV_H

#include "core/pods/worker_priv.h"
#include "lib/pods/podwalk.h"

#define PODWALK_PODS	10
#define PODWALK_WAITERS 4096 /* so many are remembered */

/* One life of a UID; all zero when its record is forgotten. */
struct podwalk_pod {
	enum podworker_call_kind call; /* in flight */
	bool acknowledged;	       /* its termination has begun, or was over when first seen */
	enum pod_stage stage;
};

struct podwalk {
	podwalk_roll_fn roll;
	void *userdata;
	struct podworker *pw;
	uint64_t now;
	struct podwalk_pod pods[PODWALK_PODS];
	uint64_t last_waiter;
	uint8_t waiters[PODWALK_WAITERS]; /* how often each was told */
	const char *broken;
	struct podwalk_seen seen;
};

const char *podwalk_uid(size_t i);

/* NULL, or what is not as it must be. */
const char *podwalk_rules(const struct podwalk *walk);

#endif
