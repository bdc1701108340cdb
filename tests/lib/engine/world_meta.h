/* SPDX-License-Identifier: Apache-2.0 */
/* What metadata sources say of the world's first container and its pod. */
#ifndef TESTS_LIB_ENGINE_WORLD_META_H
#define TESTS_LIB_ENGINE_WORLD_META_H

#include "lib/engine/world.h"

/* Scope containers; the runtime, the kubelet, Docker and containerd's own files may answer. */
extern const struct engine_config WORLD_ALL;

/* Pod A by the kubelet: default/web-0 of the workload web, 30 s of grace, not being deleted. */
struct meta_pod world_pod_a(void);
/* A1 by the runtime: main of pod A, restarted twice. */
struct meta_container world_main_a1(void);

void world_say_pod(struct world *w, uint64_t at, const struct meta_pod *pod);
void world_say_container(struct world *w, uint64_t at, const struct meta_container *c);
/* The last word on a question for names; with cid "" on one about the pod. */
void world_answer(struct world *w, uint64_t at, uint64_t id, const char *uid, const char *cid);

/* A1 runs since 10 s, named by the runtime and described by the kubelet at 12 s. */
void world_open_described(struct world *w, const struct meta_pod *pod,
			  const struct meta_container *c);
/* A1's init exits, its cgroup is empty 1 us later, and what waits for a name waits no longer. */
void world_ends(struct world *w, uint64_t at, uint32_t status);

#endif
