/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes a pod's sandbox from its containers. The sandbox is the container that the runtime
 * starts first and that holds the namespaces of the pod, usually by the program `pause`. What a
 * source says about the container decides. Without that, two things are left:
 *
 * A list of pods. The kubelet makes a pod's containers one after another (syncPod() in
 * pkg/kubelet/kuberuntime/kuberuntime_manager.go) and its status has all that the runtime lists at
 * one moment. So a status that has the id of a container knows every container that was made before
 * it and still runs. One that is older, runs, and is not in the status is the sandbox. A younger
 * one may be a container that the status does not have yet.
 *
 * The shape: the executable is called `pause`, and it is PID 1. That is a guess, since an
 * application may have that name. While an older container of the pod runs, it is not guessed.
 */
#ifndef CORE_ENGINE_SANDBOX_H
#define CORE_ENGINE_SANDBOX_H

#include "core/engine/names.h"

/* KNOWN: a source says so, or nothing else is left. */
enum sandbox { SANDBOX_NOT, SANDBOX_GUESSED, SANDBOX_KNOWN };

/* Whether a container is the sandbox of its pod. */
enum sandbox sandbox_of(const struct names *names, const struct cgnode *node);
/* Called before a container's cgroup or its stop is removed: keeps what the lists of its pod show
 * about the other containers. */
void sandbox_settle(const struct names *names, const struct cgnode *leaving);

#endif
