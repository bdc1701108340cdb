/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's part in a shutdown of the node: what logind says is fed to the engine, and what the
 * engine wants (the delay lock, a container killed) is done.
 */
#ifndef APP_DAEMON_INHIBITOR_H
#define APP_DAEMON_INHIBITOR_H

#include "app/config/config.h"
#include "core/engine/engine.h"
#include "core/stop/record.h"
#include "wire/json/control.h"
#include "wire/prometheus/metrics.h"

struct monitor;
struct schedule_plan;
struct inhibitor;

/* A delay lock from systemd's store of descriptors. */
struct inhibitor_lock {
	int fd;	      /* -1: none */
	uint32_t pid; /* of the process that took it; 0: unknown */
};

/* The D-Bus address of systemd and logind from the environment; NULL: the default. */
const char *inhibitor_bus_address(void);

/* Takes the lock of an earlier process out of systemd's store: to be called before anything is
 * opened. */
struct inhibitor_lock inhibitor_take_back(const struct config_shutdown *options);

/* Why these settings cannot be used here, where containers are in that hierarchy (NULL: the
 * default); NULL: they can. A sentence for the operator. */
const char *inhibitor_refuse(const struct config_shutdown *options, const char *hierarchy);

/* Once the engine is attached. options are borrowed; lock becomes its own, whatever is returned.
 * -errno, logged; 0 and nothing in *ret: the system bus is at an address that cannot be used, which
 * is logged. */
int inhibitor_new(struct monitor *m, const struct config_shutdown *options,
		  struct inhibitor_lock lock, struct inhibitor **ret);
/* The lock is released when this process ends; systemd's copy stays for the next one. */
struct inhibitor *inhibitor_free(struct inhibitor *inhibitor);

/* Announces a shutdown to the engine that logind knows nothing of, or cancels it. One that is
 * announced already goes on as it is. -EPERM, -EBUSY, -ENOENT with the reason in *ret_why. */
int inhibitor_begin(struct inhibitor *inhibitor, enum shutdown_action action,
		    struct control_why *ret_why);
int inhibitor_cancel(struct inhibitor *inhibitor, struct control_why *ret_why);

/* Does what the engine wants done in a shutdown. */
void inhibitor_effect(struct inhibitor *inhibitor, const struct effect *effect);
/* The end of a turn; idle: all records are out. */
void inhibitor_turn(struct inhibitor *inhibitor, bool idle);

/* Each record that the engine reports. */
void inhibitor_record(struct inhibitor *inhibitor, const struct record *record);
/* Once a minute: queries logind's limit, which others may have changed. */
void inhibitor_look(struct inhibitor *inhibitor);

void inhibitor_get_metrics(const struct inhibitor *inhibitor, struct metrics_shutdown *ret);
/* What the kubelet, or graced, will do in a shutdown; valid until the loop turns. */
const struct schedule_plan *inhibitor_get_plan(const struct inhibitor *inhibitor);

#endif
