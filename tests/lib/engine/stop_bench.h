/* SPDX-License-Identifier: Apache-2.0 */
/* One stop without a cgroup, to be shot at by senders whose relation the test decides. */
#ifndef TESTS_LIB_ENGINE_STOP_BENCH_H
#define TESTS_LIB_ENGINE_STOP_BENCH_H

#include "core/stop/stop.h"
#include "lib/claim.h"
#include "lib/engine/world.h"

#define BENCH_STOP_SET (1ULL << 14 | 1ULL << 1 | 1ULL << 2 | 1ULL << 36)

struct bench {
	struct cgmap map;
	struct deadline_queue queue;
	struct stop *stop;
};

static inline void bench_open(struct bench *b, enum stop_state state)
{
	*b = (struct bench){.stop = stop_new(NULL)};
	assert_non_null(b->stop);
	b->stop->state = state;
	b->stop->init = P_A1;
}

static inline void bench_close(struct bench *b)
{
	b->stop = stop_free(&b->map, &b->queue, b->stop);
	assert_null(b->stop);
	deadline_queue_done(&b->queue);
	cgmap_done(&b->map);
}

static inline enum stop_note bench_shoot(struct bench *b, uint64_t at, uint32_t sig,
					 enum relation from, int32_t result, uint32_t flags)
{
	const struct obs_signal obs = {
		.sig = sig,
		.result = result,
		.flags = flags | GRACED_SIG_INIT,
		.target = P_A1,
		.sender = P_SHELL,
	};
	struct sender sender = {.relation = from, .proc = P_SHELL, .kind = SENDER_HOST};

	return stop_signalled(&b->map, b->stop, &obs, at, BENCH_STOP_SET, true, &sender);
}

#endif
