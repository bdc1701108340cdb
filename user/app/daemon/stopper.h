/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out what shutdown.mode manage wants besides a kill: units are stopped
 * and started again, containers are given to their runtime, which runs their preStop hook before,
 * and an init is sent its stop signal.
 * What the engine waits for is answered by events of OBS_SHUTDOWN.
 */
#ifndef APP_DAEMON_STOPPER_H
#define APP_DAEMON_STOPPER_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/model/effect.h"
#include "io/cgroup/fs.h"

struct monitor;
struct stopper;

/* The monitor is borrowed, and so are units: shutdown.stopUnits, NULL-ended. runs_hooks:
 * shutdown.preStop is exec; bus_address NULL: systemd's own socket. Remembers the units that an
 * earlier process has stopped. -errno. */
int stopper_new(struct monitor *m, const char *const *units, bool runs_hooks,
		const char *bus_address, struct stopper **ret);
/* Hooks and stops that the runtime was requested to make are given up. */
struct stopper *stopper_free(struct stopper *stopper);

/* EFFECT_STOP_UNITS, EFFECT_START_UNITS, EFFECT_STOP, EFFECT_SIGNAL, EFFECT_STOP_SANDBOX. */
void stopper_effect(struct stopper *stopper, const struct effect *effect);

/* No shutdown is under way: starts the units that an earlier process has stopped and not started. */
void stopper_start_units(struct stopper *stopper);

/*
 * The containers whose processes are being killed in a shutdown of the node. A container of a
 * hierarchy v1 cgroup may fork for as long as it is killed, so the killing is done in slices, one
 * in a turn of the loop, from one container to the next. One that forks for long makes room for
 * those that wait, and is logged once.
 */

/* A slice's budget: what cgfs_kill_step() reads. */
#define KILLER_WORK 2048

struct killer;

/* Both are borrowed. -errno. */
int killer_new(sd_event *event, struct cgfs *cgfs, struct killer **ret);
/* Gives what is under way a few slices more. */
struct killer *killer_free(struct killer *killer);

/* Kills the processes of the container, from the next turn on; what fails is logged. */
void killer_add(struct killer *killer, uint64_t id);

#endif
