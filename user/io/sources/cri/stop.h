/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops that the runtime was requested to make. They are apart from the session's calls: a stop
 * takes as long as the container wants, and containerd gives a stop up when its client hangs up, so
 * that a session that fails for another reason must not end it.
 */
#ifndef IO_SOURCES_CRI_STOP_H
#define IO_SOURCES_CRI_STOP_H

#include <systemd/sd-event.h>

#include "io/sources/cri/call.h"
#include "io/sources/cri/cri.h"

struct source_cri_stops;

/* calls has the socket and the client, is the caller's and outlives it. -errno. */
int source_cri_stops_new(sd_event *event, const struct source_cri_calls *calls,
			 struct source_cri_stops **ret);
/* Hangs up; there is no done any more. */
struct source_cri_stops *source_cri_stops_free(struct source_cri_stops *stops);

/* As source_cri_stop(), of an ID that is valid. */
int source_cri_stops_add(struct source_cri_stops *stops, const struct source_cri_stop *stop);

#endif
