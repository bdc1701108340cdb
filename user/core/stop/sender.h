/* SPDX-License-Identifier: Apache-2.0 */
/* Who sent a signal: what kind of process, and how it stands to the target. */
#ifndef CORE_STOP_SENDER_H
#define CORE_STOP_SENDER_H

#include "core/cgroup/map.h"
#include "core/stop/outcome.h"
#include "core/stop/record.h"

/* The process that decides what a sender does. */
struct sender_mind {
	uint32_t pid; /* 0: unknown */
	uint64_t start_ns;
};

/* A signal's sender as it was when the signal was generated. */
struct sender {
	enum sender_kind kind;
	enum relation relation;
	struct graced_proc proc; /* all zero when kind is SENDER_UNKNOWN */
	struct sender_mind mind; /* itself, or who started it, if it is a kill(1) or its like */
	char ancestors[GRACED_ANCESTORS][GRACED_COMM_LEN];
	struct cgnode *node; /* watched cgroup it was in; a reference; NULL: none */
};

/*
 * Judges the sender of sig, whose target lives in target (NULL: in no container). self_pid is our
 * own process. *ret holds a reference to a node until sender_done().
 */
void sender_judge(const struct cgmap *map, const struct obs_signal *sig,
		  const struct cgnode *target, uint32_t self_pid, struct sender *ret);

void sender_done(struct cgmap *map, struct sender *sender);

/* Whether a program of that name (executable or comm) usually gives a grace period, whoever runs
 * it. A user may run one, or another program by that name: it is no manager, but nobody says that
 * it gave no grace period, either. */
bool sender_may_manage(const char *name);

/* Whether it is a daemon of the host that kills where memory runs short, before the kernel does. */
bool sender_frees_memory(const struct sender *s);

/*
 * Whether a SIGKILL of it may be the end of a container whose keeper has died, and not what a
 * person asked for: podman, whose conmon is that keeper, looks after none by itself.
 */
bool sender_may_clean_up(const struct sender *s);

/* The same process, or both outside every container and of one mind. */
bool sender_same(const struct sender *a, const struct sender *b);

#endif
