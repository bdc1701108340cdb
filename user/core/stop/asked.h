/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an init was asked, and what it made of that: the request that its stop is judged by, and the
 * signals aside. The kernel decides twice: when a signal is queued (prepare_signal()) and when it
 * is taken from the queue (get_signal()). A request counts as heard if neither dropped it.
 *
 * For core/stop/stop, whose stop these are of; times are nanoseconds of CLOCK_BOOTTIME.
 */
#ifndef CORE_STOP_ASKED_H
#define CORE_STOP_ASKED_H

#include "core/stop/stop.h"

/* Takes over sender's reference. */
void asked_take(struct cgmap *map, struct stop_signal *s, const struct obs_signal *sig,
		uint64_t at_ns, struct sender *sender);
void asked_forget(struct cgmap *map, struct stop_signal *s);
/* The same of a stop's request or kill. */
void asked_drop(struct cgmap *map, const struct stop_signal **s);
/* To note it: the stop's own, made where it is not seen. NULL without memory: the stop is marked to
 * have lost a record. */
struct stop_signal *asked_want(struct stop *stop, const struct stop_signal **s);
void asked_forget_all(struct cgmap *map, struct stop *stop);
/* Forgets what is known by the request alone. */
void asked_clear(struct stop *stop);

/* A signal from one that asks: the request, or one beside it. */
void asked_note(struct cgmap *map, struct stop *stop, const struct obs_signal *sig, uint64_t at_ns,
		struct sender *sender);
/* One that may turn out to be the request: true, if it may. And one that may be why it exits. */
bool asked_note_candidate(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			  uint64_t at_ns, struct sender *sender);
void asked_note_inside(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
		       uint64_t at_ns, struct sender *sender);

/* One that asks for no stop of this container, and by which programs end all the same. */
void asked_note_beside(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
		       uint64_t at_ns, struct sender *sender);

/* Whether a process of that relation to the init can ask it to stop. */
bool asked_by(enum relation from);

/* A signal of this number is queued: those of it that were, and are no more, have been taken. */
void asked_queued(struct stop *stop, const struct obs_signal *sig);

#endif
