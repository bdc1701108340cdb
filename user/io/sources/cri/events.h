/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's stream of events, if it has one. */
#ifndef IO_SOURCES_CRI_EVENTS_H
#define IO_SOURCES_CRI_EVENTS_H

#include <systemd/sd-event.h>

#include "io/sources/cri/call.h"

struct podsrc_cri_events_sink {
	void *userdata;
	/* May stop the stream. */
	void (*event)(void *userdata, struct cri_event *event);
	/* Its connection broke, and with it perhaps the runtime. */
	void (*broken)(void *userdata);
};

struct podsrc_cri_events {
	const struct podsrc_cri_calls *calls;
	const char *node; /* whose events are read; NULL: all */
	struct podsrc_cri_events_sink sink;
	struct fetch_call *call;
	sd_event_source *slice, *retry;
	struct buf bytes;
	unsigned int failures;
	bool wanted;  /* from start to stop */
	bool refused; /* the runtime has none; until another is connected to */
	bool open;    /* bytes came */
};

/* All zeros, but for calls, node and sink. -errno; then it is still to be closed. */
int podsrc_cri_events_open(struct podsrc_cri_events *stream, sd_event *event);
void podsrc_cri_events_close(struct podsrc_cri_events *stream);
/* Requests the stream, again and again where it ends. */
void podsrc_cri_events_start(struct podsrc_cri_events *stream);
void podsrc_cri_events_stop(struct podsrc_cri_events *stream);

#endif
