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

struct podsrc_cri_look;

struct podsrc_cri_look_session {
	void *userdata;
	/* A list makes no sense, or cannot be requested: the session is over. */
	void (*failed)(void *userdata, const char *what, const char *text);
	/* The first list was reported. */
	void (*listed)(void *userdata);
};

/* calls and its queue are the caller's, and outlive it. node: whose containers are reported; NULL:
 * all. -errno. */
int podsrc_cri_look_new(sd_event *event, struct podsrc_cri_calls *calls, const char *node,
			const struct podsrc_sink *sink,
			const struct podsrc_cri_look_session *session,
			struct podsrc_cri_look **ret);
struct podsrc_cri_look *podsrc_cri_look_free(struct podsrc_cri_look *l);

/* connected: the runtime can be asked; ready: its first list was reported, too. */
void podsrc_cri_look_set(struct podsrc_cri_look *l, bool connected, bool ready);
/* For another connection: its lists may be shorter. */
void podsrc_cri_look_renew(struct podsrc_cri_look *l);
/* Lists everything for the first time on this connection. */
void podsrc_cri_look_list(struct podsrc_cri_look *l);
/* Gives the list up; who waited for it goes there. */
void podsrc_cri_look_abort(struct podsrc_cri_look *l, enum podsrc_cri_place place);
/* Answers all that wait that they failed, from the event loop. */
void podsrc_cri_look_doom(struct podsrc_cri_look *l);

/* As podsrc_cri_find(), or with exit as podsrc_cri_exit(), of an ID that is valid. */
void podsrc_cri_look_up(struct podsrc_cri_look *l, const char *id, bool exit);
/* Counts and reports the end of a podsrc_cri_find(). */
void podsrc_cri_look_answer(struct podsrc_cri_look *l, const char *id, enum meta_result result);
/* Reports what an event holds, and looks up what it lacks. */
void podsrc_cri_look_event(struct podsrc_cri_look *l, struct cri_event *event);

void podsrc_cri_look_count(const struct podsrc_cri_look *l, uint64_t ret[META_RESULT_COUNT]);

#endif
