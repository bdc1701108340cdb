/* SPDX-License-Identifier: Apache-2.0 */
/* Pod A of the world with its sandbox, from its first container to its cgroup's end, and its
 * records. */
#ifndef TESTS_LIB_ENGINE_WORLD_PODS_H
#define TESTS_LIB_ENGINE_WORLD_PODS_H

#include "lib/engine/world_meta.h"

#define CG_SANDBOX	 25
#define WORLD_ID_SANDBOX HEX_64("e")

extern const struct graced_proc P_PAUSE;

/* A transition, by what matters of it. */
struct move {
	enum pod_stage state;
	enum pod_trigger trigger;
	uint64_t at_ns;
};

#define MOVE(state, trigger, at)                     \
	{                                            \
		POD_STAGE_##state, POD_##trigger, at \
	}

/* The runtime provides which container is pod A's sandbox. */
void world_say_sandbox(struct world *w, uint64_t at);

/* The kubelet and the runtime may answer or, without sources, nobody; the sandbox and A1 run since
 * 10 s, and A2 has no process. */
void world_open_pod(struct world *w, bool sources);
/* The same with sources of one's own, which answer nothing yet. */
void world_open_pod_by(struct world *w, const struct engine_config *config);
/* The kubelet lists pod A like that, or has it no more; and the list is complete. */
void world_lists(struct world *w, uint64_t at, const struct meta_pod *pod);
void world_lists_not(struct world *w, uint64_t at);
void world_listed(struct world *w, uint64_t at);
void world_listed_by(struct world *w, uint64_t at, enum meta_source source);
/* Pod A while it is being deleted, asked for at that time. */
struct meta_pod world_pod_deleted(uint64_t at, uint64_t grace_ns);

/* A running pod, whose condition Ready is so. */
struct meta_pod world_pod_ready(struct meta_pod pod, bool ready);
/* The same as world_open_pod() with sources, and it is listed as Ready at 12 s. */
void world_open_ready(struct world *w);

/* The runtime stops A1 and then the sandbox, which leave at once; the exits are 1 ms after the
 * signals, and each cgroup is empty 1 us after its exit. */
void world_stop_a1(struct world *w, uint64_t at);
void world_stop_sandbox(struct world *w, uint64_t at);
/* The pod's cgroup has no process left; all its cgroups are removed. */
void world_pod_empty(struct world *w, uint64_t at);
void world_pod_removed(struct world *w, uint64_t at);

/* A1's init exits, the sandbox is stopped, and the cgroups go. */
void world_end_pod(struct world *w, uint64_t at);

/* The records of that pod are exactly those, in that order. */
void assert_moves_of(const struct world *w, const char *uid, const struct move *want, size_t n);
#define assert_moves(w, ...)                                                \
	assert_moves_of(w, WORLD_UID_A, (const struct move[]){__VA_ARGS__}, \
			sizeof((const struct move[]){__VA_ARGS__}) / sizeof(struct move))
/* The n-th record of a pod, from 0. */
const struct record_pod_state *world_move(const struct world *w, size_t n);
/* How the pod is shown; its stage is NONE where it is not. */
struct podview world_view(const struct world *w, const char *uid);

#endif
