/* SPDX-License-Identifier: Apache-2.0 */
/* What both halves of the driver of kubelet/model/pod_worker share: pods as pod_worker.json writes
 * them. */
#ifndef TESTS_KUBELET_PODS_H
#define TESTS_KUBELET_PODS_H

#include <jansson.h>

#include "kubelet/model/pod_worker_priv.h"

/* Each returns 0, or -EINVAL for what is not of the form. The strings are the JSON's. */
int vectors_pods_read(json_t *json, struct podworker_pod *ret);
int vectors_pods_read_running(json_t *json, struct podworker_running *ret);
/* null or absent: not set. */
int vectors_pods_read_seconds(json_t *json, struct pod_seconds *ret);

/* Both tables of static pods, added to INTO. -ENOMEM. */
int vectors_pods_write_static(const struct podworker *pw, json_t *into);

/* Kind sequence. */
int vectors_pods_run_sequence(json_t *vector, json_t **ret_got);

/* What a sequence of steps runs in. */
struct vectors_pods_world {
	struct podworker *pw;
	uint64_t now;
	json_t *calls;	   /* by UID */
	json_t *cancels;   /* UIDs */
	json_t *completed; /* names of notifications */
	json_t *results;
	json_t *words;		  /* names of notifications and functions; a number is a place */
	json_t *caches;		  /* UID: what the runtime's cache answers */
	json_t *held, *ends_next; /* UIDs */
	bool terminating_fails, terminated_fails;
};

/* The snapshot that a step `check` asks for; NULL without memory. */
json_t *vectors_pods_snapshot(const struct vectors_pods_world *w, json_t *uids);
/* When what happened, of all pods that there are now. */
json_t *vectors_pods_times(const struct vectors_pods_world *w);
json_t *vectors_pods_metrics(const struct podworker_house *house);

#endif
