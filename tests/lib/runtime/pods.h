/* SPDX-License-Identifier: Apache-2.0 */
/* A stage with containerd on which pods are made and ended as the kubelet does it. Its functions
 * fail the running cmocka test. */
#ifndef TESTS_LIB_RUNTIME_PODS_H
#define TESTS_LIB_RUNTIME_PODS_H

#include "lib/runtime/containerd.h"
#include "lib/runtime/cri.h"
#include "lib/runtime/stage.h"

#define RUNTIME_IMAGE_HUP "docker.io/library/hangs-up:1" /* its stop signal is SIGHUP */

struct runtime_pods {
	struct runtime_stage stage;
	struct runtime_containerd containerd;
	struct runtime_cri *cri;
};

/* For cmocka's group setup and teardown; args are the tracer's. 0 or -1. */
int runtime_pods_open(struct runtime_pods *pods, const char *what, const char *const *args);
int runtime_pods_close(struct runtime_pods *pods);
void runtime_pods_need(const struct runtime_pods *pods);

/* Gives a pod its uid and its cgroup. */
void runtime_pods_name(struct runtime_pods *pods, struct runtime_pod *pod);

/* Names and starts a pod's sandbox and its first container. */
void runtime_pods_start(struct runtime_pods *pods, struct runtime_pod *pod,
			struct runtime_container *container);

/* Stops the container, removes it once its stop is recorded, then the sandbox. */
void runtime_pods_end(struct runtime_pods *pods, const struct runtime_pod *pod,
		      const struct runtime_container *container, unsigned int grace_s);

#endif
