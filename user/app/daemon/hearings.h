/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit of the containers that run, by the daemon: a few looks at /proc at a time, each again
 * after a while. core/stop/hearing decides which is due and which answer counts.
 */
#ifndef APP_DAEMON_HEARINGS_H
#define APP_DAEMON_HEARINGS_H

#include "core/engine/engine.h"
#include "core/stop/audit.h"

struct hearings;
struct monitor;

/* Begins to look; the monitor is borrowed and has its engine. -errno, logged. The caller frees,
 * before the monitor's loop is closed. */
int hearings_new(struct monitor *m, struct hearings **ret);
struct hearings *hearings_free(struct hearings *h);

/* Whether that container would react to its stop signal; false: not known. */
bool hearings_get(const struct hearings *h, const struct engine_running *running,
		  struct audit *ret);

#endif
