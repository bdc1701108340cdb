/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node made of observations, the engine that gets them, and a copy of its effects.
 *
 * Two pods (A with two containers, B with one), a Docker container, systemd's units. Each has a
 * fixed cgroup id. Times are seconds of CLOCK_BOOTTIME as written by SEC() and MSEC().
 */
#ifndef TESTS_LIB_ENGINE_WORLD_H
#define TESTS_LIB_ENGINE_WORLD_H

#include "core/engine/engine.h"

#define SEC(n)	  ((uint64_t)(n)*1000000000ULL)
#define MSEC(n)	  ((uint64_t)(n)*1000000ULL)
#define EXIT(n)	  ((uint32_t)(n) << 8)
#define CORE_BIT  0x80u
#define WALL_ZERO 1700000000000000000LL /* CLOCK_REALTIME when CLOCK_BOOTTIME was 0 */

#define WORLD_BOOT  "0b5e2c1a-7f3d-4c7e-9a51-3d0f6f1f8c11"
#define WORLD_UID_A "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"
#define WORLD_UID_B "2c48913c-b29f-11e7-9350-020968147796"
#define HEX_16(c)   c c c c c c c c c c c c c c c c
#define HEX_64(c)   HEX_16(c) HEX_16(c) HEX_16(c) HEX_16(c)
#define WORLD_ID_A1 HEX_64("a")
#define WORLD_ID_A2 HEX_64("b")
#define WORLD_ID_B1 HEX_64("c")
#define WORLD_ID_D1 HEX_64("d")

enum world_cgroup {
	CG_ROOT = 1,
	CG_KUBEPODS = 10,
	CG_BURSTABLE,
	CG_POD_A = 20,
	CG_A1,
	CG_A2,
	CG_POD_B = 30,
	CG_B1,
	CG_DOCKER = 40,
	CG_D1,
	CG_SYSTEM = 50,
	CG_CONTAINERD,
	CG_KUBELET,
	CG_SSHD,
	CG_INIT_SCOPE = 60,
	CG_USER,
};

/* Senders and inits; ns_pid is 1 for the inits of containers. */
extern const struct graced_proc P_SYSTEMD, P_CONTAINERD, P_SHIM, P_RUNC, P_KUBELET, P_SSHD, P_SHELL,
	P_SELF, P_A1, P_A1_CHILD, P_A2, P_B1, P_D1;
/* A1's next init. */
struct graced_proc world_second_a1(void);

struct world {
	struct engine *engine;
	struct record *records; /* in the order they were reported; strings are copies */
	size_t n_records;
	struct effect *effects; /* all but reports */
	size_t n_effects;
	char **strings;
	size_t n_strings;
};

/* The node as it is once attached at 1 s; nobody runs in its containers yet. NULL: scope
 * containers, grace unknown. */
void world_open(struct world *w, const struct engine_config *config);
/* An engine that knows nothing and is not attached. */
void world_open_bare(struct world *w, const struct engine_config *config);
void world_close(struct world *w);
/* Forgets what was answered so far. */
void world_clear(struct world *w);

int world_tell(struct world *w, const struct obs *obs);
/* Called with each observation of any world before the engine gets it; NULL: not called. */
typedef void (*world_ear)(void *userdata, const struct obs *obs);
void world_listen(world_ear ear, void *userdata);

void world_attach(struct world *w, uint64_t at);
void world_made(struct world *w, uint64_t at, uint64_t id, uint64_t parent, const char *name);
void world_found(struct world *w, uint64_t at, uint64_t id, const char *path);
/* counts NULL: one exit, nothing else. */
void world_gone(struct world *w, uint64_t at, uint64_t id, const struct graced_counts *counts);
void world_init(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc);
void world_kept(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		uint32_t rank, uint32_t keeper_pid);
void world_ranked(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		  uint32_t rank);

struct shot {
	uint32_t sig;
	int32_t result, code;
	uint32_t flags; /* GRACED_SIG_INIT is added unless not_init */
	const struct graced_proc *from, *to;
	const struct graced_proc *parents[GRACED_ANCESTORS];
	uint32_t lost, suppressed;
	bool not_init;
};
void world_shot(struct world *w, uint64_t at, uint64_t id, const struct shot *shot);

/* Signals as the usual senders send them: through a runc whose parent is the shim, by a shell. */
void world_managed(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *to,
		   uint32_t sig);
void world_from(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *to,
		uint32_t sig, const struct graced_proc *from);

void world_exit(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		uint32_t status);
void world_exit_counted(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
			uint32_t status, const struct graced_counts *counts);
void world_empty(struct world *w, uint64_t at, uint64_t id);
void world_empty_counted(struct world *w, uint64_t at, uint64_t id,
			 const struct graced_counts *counts);
void world_counts(struct world *w, uint64_t at, uint64_t id, bool populated,
		  const struct graced_counts *counts);
/* The same as the answer to a question for them. */
void world_look(struct world *w, uint64_t at, uint64_t id, bool populated,
		const struct graced_counts *counts);
void world_timer(struct world *w, uint64_t at);
void world_names(struct world *w, uint64_t at, const char *uid, const char *id, const char *ns,
		 const char *pod, const char *container, bool found);

/* How many records of a type there are, and the n-th of them, from 0; fails the test without. */
size_t world_count(const struct world *w, enum record_type type);
const struct record *world_record(const struct world *w, enum record_type type, size_t n);
/* The only stop record. */
const struct record_stop *world_stop(const struct world *w);
/* The last effect of a type; NULL when there was none. */
const struct effect *world_effect(const struct world *w, enum effect_type type);
size_t world_effects(const struct world *w, enum effect_type type);

/* The only stop record has this verdict and exactly these gaps (bits 1 << enum gap). */
void assert_verdict(const struct world *w, enum outcome outcome, enum cause cause, uint32_t gaps);

#define GAP(name) (1u << GAP_##name)

#endif
