/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out what shutdown.mode manage wants besides a kill (app/daemon/killer): units are stopped
 * and started again, containers are given to their runtime, which runs their preStop hook before,
 * and an init is sent its stop signal.
 * What the engine waits for is answered by events of OBS_SHUTDOWN.
 */
#ifndef APP_DAEMON_STOPPER_H
#define APP_DAEMON_STOPPER_H

#include <stdbool.h>

#include "core/model/effect.h"

struct monitor;
struct stopper;

struct stopper_options {
	const char *const *units; /* shutdown.stopUnits, NULL-ended; borrowed */
	bool runs_hooks;	  /* shutdown.preStop is exec */
	const char *bus_address;  /* NULL: systemd's own socket */
};

/* The monitor is borrowed. Remembers the units that an earlier process has stopped. -errno. */
int stopper_new(struct monitor *m, const struct stopper_options *options, struct stopper **ret);
/* Hooks and stops that the runtime was requested to make are given up. */
struct stopper *stopper_free(struct stopper *stopper);

/* EFFECT_STOP_UNITS, EFFECT_START_UNITS, EFFECT_STOP, EFFECT_SIGNAL, EFFECT_STOP_SANDBOX. */
void stopper_effect(struct stopper *stopper, const struct effect *effect);

/* No shutdown is under way: starts the units that an earlier process has stopped and not started. */
void stopper_start_units(struct stopper *stopper);

#endif
