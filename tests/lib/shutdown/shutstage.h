/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage for core/shutdown: time runs, timers fire when they want to, and what is done and
 * reported is written down, a line for each but the timer's.
 *
 *   "take", "flush", "drop", "look ID", "kill ID", "write UID", "leave UID", "set taint",
 *   "clear taint"
 *   "announced", "group-started N", "group-done N", "group-done N timed out", "pod-overdue ID",
 *   "container-killed ID", "container-killed ID deaf", "container-survives ID", "released REASON",
 *   "held-up WHO WHO", "cancelled", "ended"
 */
#ifndef TESTS_LIB_SHUTDOWN_SHUTSTAGE_H
#define TESTS_LIB_SHUTDOWN_SHUTSTAGE_H

#include "base/buf.h"
#include "core/shutdown/shutdown.h"

#define SHUTSTAGE_S 1000000000ULL

struct shutstage {
	struct shutdown *sd;
	uint64_t now_ns, wake_ns;
	const char *who;	     /* holds besides, as answered last */
	bool asks;		     /* logind was asked and has not answered yet */
	unsigned int lists;	     /* how often it was asked */
	unsigned int status_asked;   /* how often somebody was asked for a pod's status */
	char status_of[POD_UID_MAX]; /* ... the last time, of which */
	bool owes;		     /* its source has not answered yet */
	bool silent;		     /* that source never does */
	struct buf log;
};

/* Begins at 1000 s; effect and userdata are the stage's. */
void shutstage_begin_with(struct shutstage *s, const struct shutdown_config *config);
/* The same with the defaults of configuration and the mode. */
void shutstage_begin(struct shutstage *s, enum shutdown_mode mode, uint64_t deaf_grace_ns);
void shutstage_end(struct shutstage *s);

/* Time runs to that many seconds after the beginning. */
void shutstage_run(struct shutstage *s, double seconds);
/* It is so late of a sudden. */
void shutstage_jump(struct shutstage *s, double seconds);
uint64_t shutstage_at(double seconds);

void shutstage_send(struct shutstage *s, const struct shutdown_event *event);
void shutstage_plain(struct shutstage *s, enum shutdown_event_type type);
/* Logind is up and the lock taken. */
void shutstage_hold(struct shutstage *s);
/* limit_s: 0 for a limit that is not known. */
#define SHUTSTAGE_NO_DELAY (-1.0)
void shutstage_announce(struct shutstage *s, double limit_s);
/* What logind says now and whenever it is asked: names apart by a space, all root's; NULL: that it
 * cannot tell; "?": nothing. */
void shutstage_holders(struct shutstage *s, const char *who);
void shutstage_container(struct shutstage *s, const struct shutdown_container *c);
void shutstage_pod(struct shutstage *s, const char *uid, uint32_t group, bool stopping, bool ended);

/* A container 7 of pod "web", asked at 2 s and given 10. */
struct shutdown_container shutstage_asked(void);
/* Begins with that container, not asked yet, and at 1 s announces an assisted shutdown of limit
 * 60 s while who hold locks. */
void shutstage_assist(struct shutstage *s, uint64_t deaf_grace_ns, const char *who);

/* What happened since it was last asked; valid until the next call. */
const char *shutstage_log(struct shutstage *s);

#endif
