/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of core/shutdown alone. */
#ifndef CORE_SHUTDOWN_PRIV_H
#define CORE_SHUTDOWN_PRIV_H

#include <sys/queue.h>

#include "base/map.h"
#include "core/cgroup/map.h"
#include "core/shutdown/shutdown.h"

/* Events not of the outside, but what the rules of core/shutdown/judge.c come to. */
enum {
	SHUTDOWN_EV_FLUSH = SHUTDOWN_EVENT_COUNT,
	SHUTDOWN_EV_HOLD_ON, /* something is stopped after all */
	SHUTDOWN_EV_DROP,
	SHUTDOWN_ALL_EVENTS,
};

struct shutdown_pod_rec {
	struct pod *pod;
	struct shutdown_pod facts; /* its uid is not used */
	bool noted;		   /* by an event of its own, not only by a container's */
	bool stopped;		   /* it was ended in this shutdown */
	bool lives;		   /* some container of it, by the last survey */
	bool unseen; /* it was stopped and is empty, and its status does not show that yet */
	bool asked;  /* ... and its status was asked for since then */
	size_t containers;
	/* By the last survey, of those that mode manage ends: how many are no sidecar, and the last
	 * sidecar. */
	size_t mains;
	uint32_t last_sidecar;
	/* Mode manage has stopped a container of it; its sandbox is to be stopped, and was. */
	bool driven, sandbox_given, sandbox_answered;
	bool occupied; /* a process is in it, its sandbox aside, by the last survey */
	/* Its status: it is being written; it is written, or need not be; it cannot be. */
	bool writing, written, write_failed;
	bool was_occupied; /* in this shutdown */
	bool was_open;	   /* likewise: a source showed it, and neither stopped nor ended */
	bool was_over;	   /* it had ended before this shutdown */
	bool withheld;	   /* and that was counted */
	unsigned int conflicts;
	uint64_t empty_ns; /* since when it is not occupied; of the time that counts, 0: it is */
};

/* How mode manage ends a container. Times are of the time that counts, 0: not yet. */
struct shutdown_turn {
	SHARED(shutdown_run_turn, saved);
	uint64_t given_at; /* given_ns by the clock, decided by this process; 0: it was not */
	bool late;	   /* it began after the announcement */
	bool left;	   /* ... and after the lock was released: it is left to systemd */
	bool unsent;	   /* graced sends its stop signal when it has an init */
};

struct shutdown_container_rec {
	struct cgnode *node;
	TAILQ_ENTRY(shutdown_container_rec) all;
	struct shutdown_container facts; /* its pod_uid is not used */
	struct shutdown_pod_rec *pod;	 /* NULL: in none that is known */
	bool overdue_reported, survives_reported;
	uint64_t look_ns; /* when a look at it was asked for last; 0: not */
	struct shutdown_turn turn;
};

/* What all facts come to. */
struct shutdown_survey {
	size_t living, stopping;
	size_t living_in[SHUTDOWN_MAX_GROUPS];
	uint64_t asked_in[SHUTDOWN_MAX_GROUPS]; /* when one was asked to stop last; 0: none */
	size_t managed, managed_in[SHUTDOWN_MAX_GROUPS]; /* of the living: containers for sure */
	size_t unnamed;					 /* of the living: of unknown kind */
	size_t unanswered;				 /* a source has yet to answer about them */
	size_t pods_over;		 /* they had ended before this shutdown ... */
	size_t pods_stopped, pods_ended; /* ... and are not among these */
	size_t pods_unended;
	size_t pods_shown;   /* of those ended: a source shows it */
	size_t awaited[2];   /* of those unended: a source could show it; by is_static */
	size_t pods_unseen;  /* of those: they are empty */
	size_t pods_unasked; /* of those: not asked for yet */
	size_t sandboxes_due, sandboxes_owed; /* to be stopped; without an answer */
	size_t statuses_owed;		      /* pods whose last status is not written */
	bool api_stopped;
};

struct shutdown_plan {
	struct shutdown_group groups[SHUTDOWN_MAX_GROUPS];
	uint32_t n;
	uint32_t at;	     /* the group that the kubelet is at */
	bool driven;	     /* the kubelet ends pods by it, as far as is known */
	bool begun, started; /* any group; the one it is at */
	uint64_t started_ns; /* of the time that counts */
	/* Where the kubelet drives, a group has started when its first container is asked. */
	bool turned;	    /* the turn of the group that it is at has come */
	uint64_t turned_ns; /* when, by the clock */
	uint64_t from_ns;   /* since when the kubelet may be at it; likewise */
};

/* What mode manage is about. */
enum shutdown_drive_stage {
	SHUTDOWN_DRIVE_IDLE,
	SHUTDOWN_DRIVE_UNITS,  /* units are being stopped */
	SHUTDOWN_DRIVE_GROUPS, /* containers are, also after the last group */
};

struct shutdown_drive {
	enum shutdown_drive_stage stage;
	uint64_t units_ns;	 /* when units were to be stopped */
	unsigned int units_owed; /* answers to STOP_UNITS, also of a shutdown that was cancelled */
	bool units_sure;	 /* the last answer: all of them are stopped */
	uint64_t sandbox_ns; /* when the last sandbox was to be stopped; of the time that counts */
};

struct shutdown_holders {
	bool asked, known, failed;
	bool kubelet;
	uint64_t kubelet_ns; /* when it was seen last; of the time that counts, 0: never */
	uint64_t asked_ns;   /* since when logind was asked in vain */
	size_t n, n_listed;
	struct shutdown_holder list[SHUTDOWN_MAX_HOLDERS];
	char who[SHUTDOWN_MAX_HOLDERS][SHUTDOWN_WHO_MAX];
	uint64_t reported; /* a hash of those that were reported to hold up */
};

struct shutdown_volumes {
	bool watched, read, failed; /* read: all that are there are known */
	bool unmounter;		    /* the process that held the kubelet's lock lives */
	bool unmounter_known;
	bool counted; /* left holds */
	uint64_t since_ns;
	struct map list;		  /* of volumes.c, by mount */
	struct shutdown_volume_use *uses; /* room for those of all pods; NULL: list is empty */
	size_t left;			  /* of pods that were stopped */
};

/* What is known of a source that lists pods. Times are of the time that counts. */
struct shutdown_source {
	bool kubelet, reachable, absent;
	uint64_t since_ns; /* since when that is so, in this shutdown */
	uint64_t owed_ns;  /* since when it owes an answer; 0: it does not */
};

struct shutdown_taint {
	uint64_t asked_ns; /* when it was to be set; of the time that counts, 0: not */
	bool answered;
};

struct shutdown {
	struct shutdown_config config;
	enum shutdown_state state;
	uint64_t now_ns;
	uint64_t wake_ns;   /* the wish that stands; 0: none */
	uint64_t next_ns;   /* the earliest of this step's wishes; UINT64_MAX: none */
	uint64_t listed_ns; /* when logind was asked last which locks are held; 0: not yet */
	uint64_t ask_ns;    /* when the status of pods is queried again */

	uint64_t retry_ns, backoff_ns; /* when the lock is asked for again; 0: not */
	uint64_t taken_ns;

	enum shutdown_action action;
	uint64_t announced_ns, limit_ns;
	bool by_hand;	     /* begun without logind */
	uint64_t by_hand_ns; /* for how long it was, before logind announced it */
	uint64_t joined_ns; /* when this program came to it, after its beginning; 0: it was there */
	uint64_t cancelled_ns; /* when the last one was; 0: none */
	uint64_t lost_ns;      /* time in which nothing ran since then */
	uint64_t empty_ns; /* since when nothing is being stopped; of the time that counts, 0: no */
	uint64_t done_ns;  /* the same, or since when graced does not hold: what holds is others */
	uint64_t flush_ns; /* since when records are on their way out */
	bool flushed;
	bool handed_over; /* the lock was released in it */
	bool any_stopped; /* since it was announced */

	struct shutdown_plan plan;
	struct shutdown_drive drive;
	struct shutdown_holders holders;
	struct shutdown_source sources[2]; /* by is_static */
	struct shutdown_volumes volumes;
	struct shutdown_evidence evidence;
	struct shutdown_taint taint;
	uint64_t writes_ns; /* since when no write was decided; of the time that counts, 0: none */
	struct shutdown_statuses statuses; /* of this shutdown */
	struct cgmap own, *cgroups;
	TAILQ_HEAD(, shutdown_container_rec) containers; /* in the order they were noted in */
	size_t n_containers, n_pods;			 /* that have a turn */
	bool surveyed;					 /* survey holds */
	struct shutdown_survey survey;
	struct shutdown_stats stats;
};

static inline uint64_t shutdown_sum(uint64_t a, uint64_t b)
{
	uint64_t ns;

	return __builtin_add_overflow(a, b, &ns) ? UINT64_MAX : ns;
}

static inline bool shutdown_is_on(const struct shutdown *sd)
{
	return sd->state >= SHUTDOWN_GOING;
}

static inline bool shutdown_is_locked(const struct shutdown *sd)
{
	return sd->state == SHUTDOWN_HOLDING || sd->state == SHUTDOWN_GOING ||
	       sd->state == SHUTDOWN_FLUSHING;
}

/* The time that counts against containers and groups. */
static inline uint64_t shutdown_counted(const struct shutdown *sd)
{
	return sd->now_ns - sd->lost_ns;
}

/* When the lock is released at the latest, and by when records have to be written. */
uint64_t shutdown_deadline(const struct shutdown *sd);
uint64_t shutdown_flush_end(const struct shutdown *sd);

/* Does what the table has for the event, the state being the new one already. */
int shutdown_advance(struct shutdown *sd, int type, const struct shutdown_event *event);

void shutdown_do(struct shutdown *sd, enum effect_type type, uint64_t id, uint64_t at_ns);
void shutdown_do_pod(struct shutdown *sd, enum effect_type type, const char *uid, uint64_t at_ns);

/* A record with its common part. */
struct shutdown_record shutdown_record(struct shutdown *sd, enum shutdown_report what);
void shutdown_report(struct shutdown *sd, const struct shutdown_record *record);
void shutdown_report_plain(struct shutdown *sd, enum shutdown_report what);

/* Take an event: of a fact, what shutdown_note() returns for it; else 0. */
int shutdown_note_container(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_forget_container(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_note_pod(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_forget_pod(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_note_holders(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_note_plan(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_note_volume(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_forget_volume(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_units_stopped(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_stop_answered(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_sandbox_stopped(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_note_status(struct shutdown *sd, const struct shutdown_event *event);
int shutdown_note_taint(struct shutdown *sd, const struct shutdown_event *event);

void shutdown_forget_all(struct shutdown *sd);
void shutdown_forget_marks(struct shutdown *sd); /* of the shutdown before */

/* NULL when it has none. */
struct shutdown_container_rec *shutdown_container(const struct shutdown *sd, uint64_t id);
struct shutdown_pod_rec *shutdown_pod(const struct shutdown *sd, const char *uid);
/* Walks all; start with *pos = 0. NULL ends. */
struct shutdown_pod_rec *shutdown_next_pod(const struct shutdown *sd, size_t *pos);

const struct shutdown_survey *shutdown_survey(struct shutdown *sd);
uint32_t shutdown_group_of(const struct shutdown *sd, const struct shutdown_container_rec *rec);

/* Volumes: whether they are watched, by the state. */
void shutdown_watch_volumes(struct shutdown *sd);
/* Whether the lock is held for them: something is left, and something that unmounts it lives. */
bool shutdown_volumes_hold(struct shutdown *sd);
size_t shutdown_volumes_left(struct shutdown *sd);
void shutdown_list_volumes(struct shutdown *sd, struct shutdown_record *ret);
void shutdown_forget_volumes(struct shutdown *sd);

static inline bool shutdown_lives(const struct shutdown_container_rec *rec)
{
	return rec->facts.populated && (rec->facts.kind == SHUTDOWN_KIND_UNKNOWN ||
					rec->facts.kind == SHUTDOWN_KIND_CONTAINER);
}

static inline bool shutdown_is_stopped(const struct shutdown_container_rec *rec)
{
	return rec->facts.asked_ns || rec->turn.begun_ns || (rec->pod && rec->pod->facts.stopping);
}

/* Whether mode manage may end it. */
static inline bool shutdown_is_managed(const struct shutdown_container_rec *rec)
{
	return rec->facts.populated && rec->facts.kind == SHUTDOWN_KIND_CONTAINER &&
	       !rec->turn.left;
}

/* Whether the kubelet holds its lock; until logind has said so, it may. */
bool shutdown_kubelet_may_hold(const struct shutdown *sd);

/* Says what is to be done of groups, containers and the lock as things are now. */
void shutdown_judge(struct shutdown *sd);

void shutdown_report_group(struct shutdown *sd, enum shutdown_report what, bool timed_out);
void shutdown_report_container(struct shutdown *sd, const struct shutdown_container_rec *rec,
			       enum shutdown_report what, bool deaf);
/* deaf: for deafGrace, not for the end of its own time. */
void shutdown_kill(struct shutdown *sd, struct shutdown_container_rec *rec, bool deaf);

/* Mode manage: what a container has from its stop signal on, and at the least. */
uint64_t shutdown_given(const struct shutdown *sd, const struct shutdown_container_rec *rec);
uint64_t shutdown_least(const struct shutdown_container_rec *rec);
/* Mode manage: decides about units, groups and containers. */
void shutdown_drive(struct shutdown *sd);
/* Every group is over, and no container that it may end is left. */
bool shutdown_drive_has_stopped(struct shutdown *sd);
/* ... and no sandbox is waited for. */
bool shutdown_drive_is_over(struct shutdown *sd);
void shutdown_drive_cancel(struct shutdown *sd);
/* Goes on where an earlier process ended; also in mode assist. */
void shutdown_resume(struct shutdown *sd, const struct shutdown_event *announced);

/* Statuses of pods and the taint. */
/* Whether it ought to be written, by graced or by the kubelet. */
bool shutdown_status_is_owed(const struct shutdown *sd, const struct shutdown_pod_rec *pod);
void shutdown_judge_statuses(struct shutdown *sd);
/* Puts into a record of the release what came of all, and counts those that were withheld. */
void shutdown_sum_statuses(struct shutdown *sd, struct shutdown_record *ret);
/* Calls back those that are under way. */
void shutdown_leave_statuses(struct shutdown *sd);
/* Mode manage: whether the lock is held for them. If not, and some are not written, *ret is why. */
bool shutdown_statuses_hold(struct shutdown *sd, enum shutdown_reason *ret);
/* Whether the lock is held for the taint, which is set where the node's death is proven. */
bool shutdown_taint_holds(struct shutdown *sd);
void shutdown_judge_taint(struct shutdown *sd);
void shutdown_clear_taint(struct shutdown *sd);
/* No more time is given to a status, by shutdown.statusWait or logind's limit. */
bool shutdown_status_is_late(struct shutdown *sd);

/* Wishes to be woken at_ns, of the time that counts or of the clock itself. */
void shutdown_want(struct shutdown *sd, uint64_t at_ns);
void shutdown_want_counted(struct shutdown *sd, uint64_t at_ns);

#endif
