/* SPDX-License-Identifier: Apache-2.0 */
/* A stop's bench with processes beside init, which get signals and end. */
#ifndef TESTS_LIB_ENGINE_PROCESSES_BENCH_H
#define TESTS_LIB_ENGINE_PROCESSES_BENCH_H

#include "core/stop/processes.h"
#include "lib/engine/stop_bench.h"

#define INIT	  50
#define NONE	  0
#define CODE(n)	  ((uint32_t)(n) << 8)
#define AT(tenth) (SEC(100) + MSEC(100) * (uint64_t)(tenth))

static inline struct graced_proc bench_proc(uint32_t pid)
{
	return (struct graced_proc){
		.pid = pid, .ns_pid = pid - INIT + 1, .start_ns = pid, .comm = "app"};
}

/* A container whose init is of pid INIT. */
static inline void bench_open_init(struct bench *b, enum stop_state state)
{
	bench_open(b, state);
	b->stop->init = bench_proc(INIT);
}

static inline void bench_signal(struct bench *b, uint64_t at_ns, uint32_t pid, uint32_t sig,
				enum relation from)
{
	const struct obs_signal obs = {
		.sig = sig, .flags = GRACED_SIG_DFL, .target = bench_proc(pid), .sender = P_SHELL};
	struct sender sender = {.relation = from, .kind = SENDER_HOST};

	processes_signalled(&b->map, b->stop, &obs, at_ns, sig == 15, &sender);
	sender_done(&b->map, &sender);
}

static inline void bench_ends(struct bench *b, uint64_t at_ns, uint32_t pid, uint32_t parent,
			      uint32_t status)
{
	const struct obs_exit obs = {
		.proc = bench_proc(pid), .parent_pid = parent, .status = status};

	processes_exited(&b->map, b->stop, &obs, at_ns);
}

static inline void bench_init_ends(struct bench *b, uint64_t at_ns, uint32_t status)
{
	const struct obs_exit obs = {.proc = bench_proc(INIT), .status = status};

	assert_true(stop_advance(b->stop, STOP_EV_EXIT));
	stop_exited(b->stop, &obs, at_ns);
}

#endif
