/* SPDX-License-Identifier: Apache-2.0 */
/* Pods as a kubelet lists them, of the size that real ones have: most of it is not what anybody
 * reads. */
#ifndef TESTS_LIB_PODS_PODGEN_H
#define TESTS_LIB_PODS_PODGEN_H

#include <stddef.h>

#include "base/buf.h"

/* The uid of the pod with this number, and the id of its container after that many restarts. */
void podgen_uid(unsigned int number, char ret[static 37]);
void podgen_id(unsigned int number, unsigned int attempt, char ret[static 65]);

/*
 * A Deployment's pod, namespace "shop", name "web-<number>-7d4b9c6f5d-abcde", with an init
 * container ("prepare"), a sidecar ("proxy") and a container ("main", restarted once, with a
 * preStop hook and a grace period of 45 s), of at least that many bytes.
 */
void podgen_pod(struct buf *out, unsigned int number, size_t bytes);

/* A PodList of such pods, numbered from first on. */
void podgen_list(struct buf *out, unsigned int first, unsigned int count, size_t bytes_each);

#endif
