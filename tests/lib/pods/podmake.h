/* SPDX-License-Identifier: Apache-2.0 */
/* Pods for tests, from few words. Text is not copied. */
#ifndef TESTS_LIB_PODS_PODMAKE_H
#define TESTS_LIB_PODS_PODMAKE_H

#include "core/kubelet/pod.h"

#define PODMAKE_MAX 8

/* A pod with room for its parts, which point into it: it stays where it was made. */
struct podmake {
	struct podobj_pod pod;
	struct podobj_container inits[PODMAKE_MAX], containers[PODMAKE_MAX];
	struct podobj_status init_statuses[PODMAKE_MAX], statuses[PODMAKE_MAX];
	struct podobj_condition conditions[PODMAKE_MAX];
	struct podobj_toleration tolerations[PODMAKE_MAX];
};

/* A pod without anything: every string "". */
void podobj_init(struct podobj_pod *ret);

/* A pod without anything, whose lists of statuses are there and empty. */
void podmake_start(struct podmake *make, enum meta_restart_policy policy);

/* Each adds to the end and returns what it added, for more to be said of it. */
struct podobj_container *podmake_init(struct podmake *make, const char *name);
struct podobj_container *podmake_sidecar(struct podmake *make, const char *name);
struct podobj_container *podmake_container(struct podmake *make, const char *name);
struct podobj_status *podmake_init_status(struct podmake *make, const char *name,
					  enum podobj_state state);
struct podobj_status *podmake_status(struct podmake *make, const char *name,
				     enum podobj_state state);
void podmake_condition(struct podmake *make, const char *type, const char *status);
struct podobj_toleration *podmake_toleration(struct podmake *make, const char *key,
					     const char *effect);

struct podobj_container_state podmake_end(int32_t exit_code, const char *reason);

#endif
