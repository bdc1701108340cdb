/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of managewalk alone. */
#ifndef TESTS_LIB_SHUTDOWN_MANAGEWALK_PRIV_H
#define TESTS_LIB_SHUTDOWN_MANAGEWALK_PRIV_H

#include "core/shutdown/shutdown.h"
#include "lib/shutdown/managewalk.h"

#define S	   1000000000ULL
#define MS	   1000000ULL
#define CONTAINERS 6
#define PODS	   3
#define GROUPS	   3
/* What a stall may last unnoticed: a tick, and half of one for a machine that is busy. */
#define UNNOTICED  (SHUTDOWN_TICK_NS + SHUTDOWN_TICK_NS / 2)
#define UNSEEN	   (2 * S) /* a runtime is overtaken */
#define LEAST	   (2 * S) /* no container has less */

enum nature { QUICK, SLOW, DEAF, STUCK, NATURES };
enum runtime { WORKS, LAGS, HANGS, FAILS, KILLS_NOTHING, RUNS_HOOKS, RUNTIMES };

/* A moment: by the clock, by the time in which the machine ran, and by the least of that which
 * core/shutdown may count. */
struct managewalk_moment {
	uint64_t at, ran, counted;
};

struct managewalk_container {
	bool there, moved; /* moved: its group is another than when its turn came */
	/* A container that no rule has matched yet is not noted; one that is first noted as living
	 * after the lock was released is left to systemd. */
	bool noted, living, left;
	struct shutdown_container facts;
	unsigned int pod; /* PODS: none */
	uint32_t group;	  /* outside pods: since its turn */
	enum nature nature;
	struct managewalk_moment appeared;
	/* In this shutdown and this life. */
	bool given, asked, signalled, failed, hooked, killed, turned;
	struct managewalk_moment given_at, asked_at, turn_at, hook_at;
	bool hook, unsure;			/* unsure: how much of stop_ns a hook took */
	uint64_t stop_ns, end_ran, end_counted; /* end: of the group that was under way */
	bool has_end;
	int64_t grace_s; /* INT64_MAX: not known exactly */
	/* What is to come, 0: nothing. */
	uint64_t killed_ns; /* the last time */
	uint64_t ask_ns, send_ns, exit_ns, kill_ns, fail_ns, hook_ns;
};

/* That of a pod: a container of it was stopped; it was to be stopped itself; it has no answer. */
struct managewalk_sandbox {
	bool driven, given, owed;
	uint64_t answer_ns;
};

struct managewalk {
	shutwalk_roll_fn roll;
	void *userdata;
	struct managewalk_seen *seen;
	const char *broken;

	struct shutdown *sd;
	uint64_t now_ns, stalled_ns, noticed_ns, wake_ns;
	bool lock, asked, flushing, on, released, stalled, held_late, handed_over;
	uint64_t announced_ns, limit_ns, cancelled_ns;
	unsigned int units_pending, units_stale;
	bool units_done, units_wanted;
	uint64_t units_ns, answer_ns;
	uint64_t joined_ns; /* it was started anew in this shutdown, more than a second after */
	enum runtime runtime;
	uint64_t groups[GROUPS];
	size_t n_groups;
	bool started[GROUPS], done[GROUPS];
	struct managewalk_moment started_at[GROUPS];
	struct shutdown_pod pods[PODS];
	struct managewalk_sandbox sandboxes[PODS];
	struct managewalk_moment sandbox_at; /* the last one was to be stopped */
	struct managewalk_container list[CONTAINERS];
};

extern const char *const managewalk_uids[PODS];

uint64_t managewalk_roll(struct managewalk *w, uint64_t sides);
bool managewalk_chance(struct managewalk *w, uint64_t of);
struct managewalk_moment managewalk_now(const struct managewalk *w);

void managewalk_must(struct managewalk *w, bool holds, const char *sentence);
bool managewalk_is_managed(const struct managewalk_container *c);
/* It was sent its stop signal; it exits as its nature is. */
void managewalk_note_asked(struct managewalk *w, struct managewalk_container *c);
void managewalk_plan_exit(struct managewalk *w, struct managewalk_container *c);

/* The groups do not begin yet: a process that was started anew waits for names. */
bool managewalk_awaits_names(const struct managewalk *w);
bool managewalk_is_near_limit(const struct managewalk *w, uint64_t within_ns);
/* A process is in the pod, its sandbox aside. */
bool managewalk_is_occupied(const struct managewalk *w, unsigned int pod);

/* Takes an effect, and checks it against what it may be. */
void managewalk_take(void *userdata, const struct effect *effect);
/* What must hold between any two steps. */
void managewalk_check(struct managewalk *w);

#endif
