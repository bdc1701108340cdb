/* SPDX-License-Identifier: Apache-2.0 */
/* containerd with its CRI plugin in a host for runtimes: at its usual places, runc and crun as the
 * handlers of pods, containers by its native snapshotter, cgroups by cgroupfs. */
#ifndef TESTS_LIB_RUNTIME_CONTAINERD_H
#define TESTS_LIB_RUNTIME_CONTAINERD_H

#include "lib/runtime/host.h"

#define CONTAINERD_SOCKET "/run/containerd/containerd.sock"
#define CONTAINERD_PAUSE  "docker.io/library/pause:1"

struct runtime_containerd {
	const struct runtime_host *host;
	pid_t pid; /* 0: does not run */
};

/* Starts it, or starts it again, and waits until it takes connections. 0 or -errno. */
int runtime_containerd_start(const struct runtime_host *host, struct runtime_containerd *ret);

/* Ends it by SIGKILL, as a crash does: its shims and their containers go on, its socket is left.
 * Nothing if it does not run. */
void runtime_containerd_kill(struct runtime_containerd *containerd);

/* Holds all its threads by SIGSTOP; when this returns, none of them runs. SIGCONT ends it. */
void runtime_containerd_hold(const struct runtime_containerd *containerd);

/* Imports an image of runtime_host_image() into a namespace ("k8s.io" is that of pods). 0 or -1. */
int runtime_containerd_import(const char *namespace_, const char *archive);

#endif
