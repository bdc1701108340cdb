/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime has, found and reported: one container after another, a crowd by a list of
 * everything, and what its events name.
 */
#ifndef IO_SOURCES_CRI_LOOK_H
#define IO_SOURCES_CRI_LOOK_H

#include <systemd/sd-event.h>

#include "io/sources/cri/call.h"
#include "io/sources/source.h"

struct source_cri_look;

struct source_cri_look_session {
	void *userdata;
	/* A list makes no sense, or cannot be requested: the session is over. */
	void (*failed)(void *userdata, const char *what, const char *text);
	/* The first list was reported. */
	void (*listed)(void *userdata);
};

/* calls and its queue are the caller's, and outlive it. node: whose containers are reported; NULL:
 * all. -errno. */
int source_cri_look_new(sd_event *event, struct source_cri_calls *calls, const char *node,
			const struct source_sink *sink,
			const struct source_cri_look_session *session,
			struct source_cri_look **ret);
struct source_cri_look *source_cri_look_free(struct source_cri_look *l);

/* connected: the runtime can be asked; ready: its first list was reported, too. */
void source_cri_look_set(struct source_cri_look *l, bool connected, bool ready);
/* For another connection: its lists may be shorter. */
void source_cri_look_renew(struct source_cri_look *l);
/* Lists everything for the first time on this connection. */
void source_cri_look_list(struct source_cri_look *l);
/* Gives the list up; who waited for it goes there. */
void source_cri_look_abort(struct source_cri_look *l, enum source_cri_place place);
/* Answers all that wait that they failed, from the event loop. */
void source_cri_look_doom(struct source_cri_look *l);

/* As source_cri_find(), or with exit as source_cri_exit(), of an ID that is valid. */
void source_cri_look_up(struct source_cri_look *l, const char *id, bool exit);
/* Counts and reports the end of a source_cri_find(). */
void source_cri_look_answer(struct source_cri_look *l, const char *id, enum meta_result result);
/* Reports what an event holds, and looks up what it lacks. */
void source_cri_look_event(struct source_cri_look *l, struct cri_event *event);

void source_cri_look_count(const struct source_cri_look *l, uint64_t ret[META_RESULT_COUNT]);

#endif
