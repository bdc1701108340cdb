/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shutdown's room: graced's part in a node shutdown. The sequencer (core/shutdown) receives
 * what logind says and, while a shutdown is going on, what becomes of pods and their containers;
 * what it wants becomes effects.
 */
#ifndef CORE_ENGINE_SHUTDOWNS_H
#define CORE_ENGINE_SHUTDOWNS_H

#include "base/arena.h"
#include "core/engine/pods.h"
#include "core/engine/stops.h"
#include "core/shutdown/shutdown.h"

struct engine_planned_pod;
struct engine_shutdown_group;
struct kubelet_ending;

/* What a source was asked for last. */
struct shutdowns_question {
	char uid[POD_UID_MAX]; /* of the pod; "": it has answered */
	uint64_t at_ns;
};

/* The sequencer, and what the kubelet's configuration makes of its groups. */
struct shutdowns {
	struct cgmap *map;
	struct names *names;
	struct stops *stops;
	const struct pods *pods;
	struct output *out;

	struct shutdown *sequencer; /* NULL: no shutdown is followed, OBS_SHUTDOWN_PLAN never came */
	struct arena arena;
	struct shutplan plan;
	/* What a shutdown under way does not go by: the kubelet has read its own before. */
	struct obs_shutdown_plan next;
	bool has_next;
	uint64_t wake_ns; /* when the sequencer wants OBS_TIMER; 0: not */
	struct given given;
	struct shutdown_evidence evidence;
	bool managed;				      /* the mode is manage */
	bool writes;				      /* statuses of pods */
	struct managed_rule rules[MANAGED_RULES_MAX]; /* of shutdown.managed */
	size_t n_rules;
	bool going;    /* the sequencer receives facts as they change */
	bool unjudged; /* it has received some and has not decided yet */
	bool resuming; /* a shutdown begins that an earlier engine saved */
	struct shutdowns_question questions[META_SOURCE_COUNT];
	struct shutdown_run run; /* as it is saved */
	/* What an earlier engine saved, until a shutdown begins or is cancelled. */
	struct shutdown_run loaded;
	struct shutdown_run_turn *turns;
	size_t n_turns, room_turns;
	uint64_t unexpected; /* observations that could not be so */
};

void shutdowns_done(struct shutdowns *s);

/* --- core/engine/shutdowns_out.c --- */

/* Takes what the sequencer wants; userdata: the room. */
void shutdowns_take_effect(void *userdata, const struct effect *effect);

/* --- core/engine/shutdowns.c --- */

/* Take an observation. 0 or -ENOMEM. */
int shutdowns_on_plan(struct shutdowns *s, const struct obs *obs);
void shutdowns_on_rule(struct shutdowns *s, const struct obs *obs);
int shutdowns_on_event(struct shutdowns *s, const struct obs *obs);
int shutdowns_on_volume(struct shutdowns *s, const struct obs *obs);
/* Passes to the sequencer what an observation has changed, after all other rooms have taken it. */
void shutdowns_saw(struct shutdowns *s, const struct obs *obs);
/* A pod is followed no longer. */
void shutdowns_forget_pod(struct shutdowns *s, const char *uid);
/* A cgroup is gone: called before the map forgets it, and after its verdict, if that comes now. */
void shutdowns_forget_container(struct shutdowns *s, struct cgnode *node);
void shutdowns_expire(struct shutdowns *s, uint64_t now_ns);
/* Records of the kernel half were lost, so many in all. */
void shutdowns_lost(struct shutdowns *s, const struct obs_lost *totals);

/* What to save of a shutdown under way, and of the container of that cgroup, also while an earlier
 * engine's is not taken up yet. False: nothing. */
bool shutdowns_save_run(const struct shutdowns *s, struct shutdown_run *ret);
bool shutdowns_save_turn(const struct shutdowns *s, uint64_t id, struct shutdown_run_turn *ret);
/* The same: whether the pod was seen alive in it and being stopped, and whether it is to be saved
 * how containers exited. */
bool shutdowns_save_seen(const struct shutdowns *s, const struct epod *p);
bool shutdowns_want_exits(const struct shutdowns *s);
/* Take what an earlier engine saved. -ENOSPC, -ENOMEM. */
void shutdowns_load_run(struct shutdowns *s, const struct shutdown_run *run);
int shutdowns_load_turn(struct shutdowns *s, const struct shutdown_run_turn *turn);

/* As engine_get_shutdown() and engine_get_shutdown_groups() have it. */
bool shutdowns_get(const struct shutdowns *s, struct shutdown_status *ret,
		   struct shutdown_stats *ret_stats);
size_t shutdowns_get_groups(const struct shutdowns *s, struct engine_shutdown_group *ret,
			    size_t max);

/* What is noted of pods and their containers to the sequencer: core/engine/shutdowns_facts. */

/* A fact of shutdown_note(). What the sequencer refuses it has counted. */
void shutdowns_note(struct shutdowns *s, const struct shutdown_event *event);
/* A pod and its containers as they are now; that it is gone where nothing is known of it. */
void shutdowns_note_pod(struct shutdowns *s, const char *uid);
/* How good that is. */
void shutdowns_note_evidence(struct shutdowns *s);
/* All that are known. */
void shutdowns_note_all(struct shutdowns *s);
/* A container that is in no pod, or a service, as it is now: in mode manage, by shutdown.managed.
 * Nothing for any other cgroup. */
void shutdowns_note_outside(struct shutdowns *s, struct cgnode *node);
/* All that are known. Those whose labels a rule wants and no source has provided are queried. */
void shutdowns_note_all_outside(struct shutdowns *s);
/* As engine_get_ending() has it. */
bool shutdowns_get_ending(const struct shutdowns *s, const char *uid, struct kubelet_ending *ret);
/* As engine_each_planned() and engine_count_cut_short() have it. */
void shutdowns_each_planned(const struct shutdowns *s,
			    void (*fn)(void *userdata, const struct engine_planned_pod *pod),
			    void *userdata);
size_t shutdowns_count_cut_short(const struct shutdowns *s);

#endif
