/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to the API server what the engine wants written in a shutdown: the last status of pods
 * (api.report: status), and the node's out-of-service taint (shutdown.outOfServiceTaint). Each
 * object is read first, and written only if it is still as it was read.
 */
#ifndef APP_API_STATUSES_H
#define APP_API_STATUSES_H

#include <stdbool.h>

#include "app/config/config.h"
#include "core/model/effect.h"

struct monitor;
struct statuses;

/* For an earlier boot that ended uncleanly: who waits for its proof of death. */
struct statuses_earlier {
	const char *dead;	 /* its id; NULL: there is none */
	const char *bus_address; /* of systemd; NULL: its own socket */
	/* The node may start now; once, from the loop or from statuses_turn(). */
	void (*over)(void *userdata);
	void *userdata;
};

/* Taints that may be set, and that an earlier graced has set, are removed; for an earlier boot that
 * of what is out of service may be set first. -errno, logged. */
int statuses_new(struct monitor *m, const struct config_shutdown *what,
		 const struct statuses_earlier *earlier, struct statuses **ret);
/* What is still to be written is not. */
struct statuses *statuses_free(struct statuses *statuses);

/* Whether the start of the node is held: earlier.over is still to be called. */
bool statuses_hold_start(const struct statuses *statuses);
/* At the end of each turn of the loop. */
void statuses_turn(struct statuses *statuses);

/* EFFECT_WRITE_STATUS, EFFECT_LEAVE_STATUS, EFFECT_SET_TAINT, EFFECT_CLEAR_TAINT,
 * EFFECT_CORDON and EFFECT_UNCORDON; no others. */
void statuses_effect(struct statuses *statuses, const struct effect *effect);

#endif
