/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's part in a shutdown of the node: what logind and the kubelet's configuration say is
 * fed to the engine, and what the engine wants (the delay lock, an end to a container) is done.
 */
#ifndef APP_DAEMON_INHIBITOR_H
#define APP_DAEMON_INHIBITOR_H

#include "app/config/config.h"
#include "core/engine/engine.h"
#include "core/stop/record.h"
#include "wire/prometheus/metrics.h"

struct daemon;
struct inhibitor;

/* A delay lock that systemd kept. */
struct inhibitor_lock {
	int fd;	      /* -1: none */
	uint32_t pid; /* of the process that took it; 0: not known */
};

/* Takes back what systemd keeps of an earlier process: to be called before anything is opened. */
struct inhibitor_lock inhibitor_take_back(const struct config_shutdown *options);

/* Why these settings cannot be had here, where containers are in that hierarchy (NULL: the
 * default); NULL: they can. To be shown as it is. */
const char *inhibitor_refuse(const struct config_shutdown *options, const char *hierarchy);

/* Where shutdowns are none of ours: what assist made of logind's configuration goes. Whether there
 * was anything. */
bool inhibitor_remove_drop_in(void);

/* Once the engine is attached. lock becomes its own, whatever is returned. -errno, told; 0 and
 * nothing in *ret: the system bus is where it cannot be asked, which is told, too. */
int inhibitor_new(struct daemon *daemon, struct inhibitor_lock lock, struct inhibitor **ret);
/* The lock is let go when this process is; systemd's copy stays for the next one. */
struct inhibitor *inhibitor_free(struct inhibitor *inhibitor);

/* Does what the engine wants done in a shutdown. */
void inhibitor_effect(struct inhibitor *inhibitor, const struct effect *effect);
/* The end of a turn; idle: all records are out. */
void inhibitor_turn(struct inhibitor *inhibitor, bool idle);

/* Each record that the engine has told. */
void inhibitor_record(struct inhibitor *inhibitor, const struct record *record);
/* Now and then: reads anew what others may have changed. */
void inhibitor_look(struct inhibitor *inhibitor);

void inhibitor_get_metrics(const struct inhibitor *inhibitor, struct metrics_shutdown *ret);

#endif
