/* SPDX-License-Identifier: Apache-2.0 */
/* The way of one init, container A1's, from its exec to an empty cgroup, as a line of a table. */
#ifndef TESTS_LIB_ENGINE_WALK_H
#define TESTS_LIB_ENGINE_WALK_H

#include "lib/engine/world.h"

#define AT_INIT SEC(10)
#define AT_STOP SEC(100)

enum walk_by {
	BY_NOBODY,
	BY_RUNTIME,
	BY_SYSTEMD,
	BY_SHELL,
	BY_SSHD,
	BY_A1,
	BY_A1_CHILD,
	BY_A2,
	BY_B1,
	BY_KERNEL,
};

/* A signal to the init. */
struct walk_step {
	uint64_t after; /* of AT_STOP */
	uint32_t sig;
	enum walk_by by;
	int32_t result;
	uint32_t flags;
};

struct walk {
	const char *what;
	uint64_t grace;
	struct walk_step steps[3];
	uint64_t exit_after; /* of AT_STOP */
	uint32_t status;
	enum outcome outcome;
	enum cause cause;
};

/* The verdict, the init's wait status, the grace period, when it exits, and the signals before. */
#define WALK(of, by, code, name, time, left, ...)                                        \
	{                                                                                \
		.what = name, .grace = time, .steps = {__VA_ARGS__}, .exit_after = left, \
		.status = code, .outcome = OUTCOME_##of, .cause = CAUSE_##by             \
	}
#define SENT(at, sig, who)              \
	{                               \
		at, sig, BY_##who, 0, 0 \
	}
#define SENT_AS(at, sig, who, result, flags)     \
	{                                        \
		at, sig, BY_##who, result, flags \
	}

/* Opens a world, which the caller closes, and goes the way. */
void walk(struct world *w, const struct walk *path);

/* Each ends in its outcome and cause, with complete evidence. */
void assert_walks(const struct walk *paths, size_t n);

#endif
