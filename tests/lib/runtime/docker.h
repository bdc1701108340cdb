/* SPDX-License-Identifier: Apache-2.0 */
/* dockerd in a host for runtimes: with a containerd of its own, without networks, containers by
 * vfs, cgroups by cgroupfs below the host's, runc and crun as handlers. */
#ifndef TESTS_LIB_RUNTIME_DOCKER_H
#define TESTS_LIB_RUNTIME_DOCKER_H

#include "lib/runtime/stage.h"

/* Starts it, has the docker command find it, and loads the images of the stage. 0 or -1. */
int runtime_docker_start(const struct runtime_stage *stage, pid_t *ret);

#endif
