/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in Kubernetes of what the daemon reports (api.report: events). core/events decides what is
 * worth one and how many there may be; here they are sent to the API server of api.url, by a queue
 * of their own, so that they hold nothing else up.
 */
#ifndef APP_DAEMON_EVENTS_H
#define APP_DAEMON_EVENTS_H

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "app/config/options.h"
#include "base/buf.h"
#include "core/stop/record.h"
#include "wire/prometheus/metrics.h"

struct events;

/* options are borrowed; event is the daemon's loop. -errno, logged. */
int events_new(sd_event *event, const struct options *options, struct events **ret);
/* What is still to be sent is not. */
struct events *events_free(struct events *events);

void events_record(struct events *events, const struct record *record);
/* Each Event that was begun has the server's answer, or was given up. */
bool events_idle(const struct events *events);
/* "events: up", or why not; a line for /readyz. */
void events_add_state(const struct events *events, struct buf *out);
void events_get_metrics(const struct events *events, struct api_events *ret);

#endif
