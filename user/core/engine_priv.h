/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share; nobody else includes this. */
#ifndef CORE_ENGINE_PRIV_H
#define CORE_ENGINE_PRIV_H

#include "core/engine.h"
#include "core/stop.h"

/* How long a verdict waits for its cgroup to run empty, and for its name. */
#define ENGINE_WAIT_NS	   250000000ULL
/*
 * How long an empty cgroup waits for what a dying PID 1 kills elsewhere: its own cgroup is left in
 * cgroup_exit(), the namespace is torn down after that in exit_notify() (kernel/exit.c).
 */
#define ENGINE_TEARDOWN_NS 5000000ULL

/* SIGTERM, SIGINT, SIGQUIT, SIGRTMIN+3: what stops a container whose own signal is not known. */
#define ENGINE_STOP_SET (1ULL << 14 | 1ULL << 1 | 1ULL << 2 | 1ULL << 36)

struct engine {
	struct engine_config config;
	struct cgmap map;
	struct deadline_queue deadlines;
	struct map procs;		 /* scope all: stops of single processes, by pid */
	struct deadline_queue proc_ages; /* of the last signal to each */
	struct engine_stats stats;
	uint64_t wake_ns; /* last EFFECT_WAKE_AT */

	bool attached;
	uint64_t attached_ns;
	struct obs_attached host;
	struct obs_lost lost;
	uint64_t containers_found;

	struct record record; /* scratch of the report under way */

	/* Valid during engine_step(). */
	uint64_t now_ns;
	engine_effect_fn fn;
	void *userdata;
};

void engine_effect(struct engine *e, const struct effect *effect);

/* Asks for the path of a cgroup whose record was lost. */
void engine_find_cgroup(struct engine *e, uint64_t id);
/* A node of the map turned up: gives containers a stop, corrects the kernel half, asks names. */
int engine_node_known(struct engine *e, struct cgnode *node, uint32_t kernel_kind);
/* Asks for the names of node's container unless they are known. */
void engine_ask_names(struct engine *e, struct cgnode *node);

/* The stop of a container, made when the kernel half tells of one we never heard of. */
struct stop *engine_stop_of(struct engine *e, uint64_t id);
void engine_wake(struct engine *e, struct stop *stop, uint64_t at_ns);
/* Moves stop, and counts an event that its state does not expect. */
void engine_expect(struct engine *e, struct stop *stop, enum stop_event event);
/* The verdict goes out; stop moves on. not_empty: the wait is over and processes are left. */
void engine_tell(struct engine *e, struct stop *stop, bool not_empty);
/* Its cgroup has no process left. */
void engine_stop_empty(struct engine *e, struct stop *stop, uint64_t at_ns);
/* Its names are known, or known to be unknown. */
void engine_stop_named(struct engine *e, struct stop *stop);
/* Its cgroup was removed. */
void engine_stop_gone(struct engine *e, struct stop *stop);
void engine_expire(struct engine *e, uint64_t now_ns);

/* The stop of a process that is no init; NULL unless the scope is all. */
struct stop *engine_proc_of(struct engine *e, const struct graced_proc *proc);
void engine_proc_signalled(struct engine *e, struct stop *stop, const struct obs *obs,
			   struct sender *sender);
int engine_on_proc_exit(struct engine *e, const struct obs *obs);
void engine_procs_done(struct engine *e);

static inline struct stop *stop_of_wake(struct deadline *wake)
{
	return (struct stop *)((char *)wake - offsetof(struct stop, wake));
}

int engine_on_init(struct engine *e, const struct obs *obs);
int engine_on_signal(struct engine *e, const struct obs *obs);
int engine_on_exit(struct engine *e, const struct obs *obs);
int engine_on_oom(struct engine *e, const struct obs *obs);
int engine_on_counts(struct engine *e, const struct obs *obs);
int engine_on_probe(struct engine *e, const struct obs *obs);
int engine_on_end(struct engine *e, const struct obs *obs);

void engine_report_attached(struct engine *e, uint64_t at_ns);
void engine_report_lost(struct engine *e, uint64_t at_ns, const struct obs_lost *lost);
void engine_report_stop(struct engine *e, const struct stop *stop, uint32_t gaps);
void engine_report_empty(struct engine *e, const struct stop *stop);
void engine_report_signal(struct engine *e, const struct obs *obs, const struct cgnode *target,
			  const struct sender *sender);
void engine_report_oom(struct engine *e, const struct obs *obs, const struct cgnode *node,
		       enum oom_level level);

#endif
