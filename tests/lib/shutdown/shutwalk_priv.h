/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of shutwalk alone. */
#ifndef TESTS_LIB_SHUTDOWN_SHUTWALK_PRIV_H
#define TESTS_LIB_SHUTDOWN_SHUTWALK_PRIV_H

#include "core/shutdown/shutdown.h"
#include "lib/shutdown/shutwalk.h"

#define SHUTWALK_CONTAINERS 5
#define SHUTWALK_PODS	    3
#define SHUTWALK_GROUPS	    3

#define SHUTWALK_S	   1000000000ULL
/* What a stall may last unnoticed: a tick, and half of one for a machine that is busy. */
#define SHUTWALK_UNNOTICED (SHUTDOWN_TICK_NS + SHUTDOWN_TICK_NS / 2)

struct shutwalk_container {
	bool known;
	struct shutdown_container facts; /* as sent */
	unsigned int pod;		 /* of pods; SHUTWALK_PODS: none */
	uint64_t stalled_ns;		 /* of the walk, when it was asked */
	bool looking;			 /* a look was asked for, and not answered */
	uint64_t others_ns;		 /* when others of it were really signalled; 0: not */
	bool killed;			 /* by graced, in this shutdown */
};

struct shutwalk_pod {
	bool known;
	struct shutdown_pod facts; /* as sent; one that is gone has ended */
	bool stopped;		   /* in this shutdown */
	bool was_there;		   /* likewise: occupied, or neither stopped nor ended */
};

enum shutwalk_bus { SHUTWALK_ANSWERS, SHUTWALK_FAILS, SHUTWALK_SILENT };

struct shutwalk {
	shutwalk_roll_fn roll;
	void *userdata;
	struct shutwalk_seen *seen;
	const char *broken;

	struct shutdown_config config;
	struct shutdown *sd;
	uint64_t now_ns, wake_ns, stalled_ns;
	uint64_t seen_ns;     /* the latest time sent */
	unsigned int effects; /* of this step */

	bool lock, asked, flushing, listing;
	uint64_t list_ns; /* since when it is listing */
	bool on, released;
	uint64_t announced_ns, limit_ns, cancelled_ns;
	bool any_stopped;  /* in this shutdown */
	uint64_t empty_ns; /* since then nobody stops anything; 0: somebody does */
	uint64_t lost_ns;  /* since then nothing ran, or seemed to */
	uint64_t late_ns;  /* when the program came to a shutdown under way; 0: it was there */

	enum shutwalk_bus bus;
	bool kubelet, other;			  /* hold a lock */
	bool listed, listed_kubelet, list_failed; /* as logind said last */
	size_t n_listed;
	/* The sources of pods' status, by is_static; the kubelet is that of static pods. Times are
	 * in this shutdown, later by the time in which nothing ran. */
	struct {
		bool answers, silent;
		uint64_t since_ns;
		bool asked;
		uint64_t owed_ns; /* since when it owes an answer; 0: it does not */
	} sources[2];
	uint64_t kubelet_ns; /* when its lock was seen last; likewise */
	uint64_t free_ns;    /* since when graced holds no lock in this shutdown */
	struct shutdown_group groups[SHUTWALK_GROUPS];
	size_t n_groups;
	bool group_done[SHUTWALK_GROUPS];
	struct shutwalk_container containers[SHUTWALK_CONTAINERS];
	struct shutwalk_pod pods[SHUTWALK_PODS];
	struct {
		bool watched, complete, failed;
		bool lives;		     /* the process that held the kubelet's lock */
		uint64_t since_ns;	     /* it is followed */
		bool mounted[SHUTWALK_PODS]; /* the pod's mount exists */
		bool stopped[SHUTWALK_PODS]; /* ... and was when the pod was stopped */
	} volumes;
};

extern const char *const shutwalk_uids[SHUTWALK_PODS];

uint64_t shutwalk_roll(struct shutwalk *w, uint64_t sides);
bool shutwalk_chance(struct shutwalk *w, uint64_t of);
/* An event as a step, or as a fact that is noted and then decided about. */
void shutwalk_send(struct shutwalk *w, const struct shutdown_event *event);

/* Pods and containers (shutwalk_pods.c): each does something to one of them, or nothing. */
void shutwalk_tell_container(struct shutwalk *w, struct shutwalk_container *c);
void shutwalk_create(struct shutwalk *w);
void shutwalk_remove(struct shutwalk *w);
void shutwalk_stop(struct shutwalk *w);
void shutwalk_change(struct shutwalk *w);
void shutwalk_change_pod(struct shutwalk *w);

/* Mounts (shutwalk_volumes.c). */
void shutwalk_take_volumes(struct shutwalk *w, bool watch);
void shutwalk_change_volume(struct shutwalk *w);
void shutwalk_mark_volumes(struct shutwalk *w);
/* Whether the lock has to be held for one, and whether it may be. */
bool shutwalk_must_wait(const struct shutwalk *w);
bool shutwalk_may_wait(const struct shutwalk *w);

void shutwalk_break(struct shutwalk *w, const char *sentence);

uint64_t shutwalk_deadline(const struct shutwalk *w);
bool shutwalk_lives(const struct shutwalk_container *c);
bool shutwalk_kubelet_may_hold(const struct shutwalk *w);
bool shutwalk_is_stopped(const struct shutwalk *w, const struct shutwalk_container *c);

/* Takes an effect, and holds it against what it may be. */
void shutwalk_take(void *userdata, const struct effect *effect);
/* What must hold between any two steps. */
void shutwalk_check(struct shutwalk *w);

#endif
