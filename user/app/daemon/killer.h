/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The containers whose processes are being killed in a shutdown of the node. A container of a
 * hierarchy v1 cgroup may fork for as long as it is killed, so the killing is done in slices, one
 * in a turn of the loop, from one container to the next. One that forks for long makes room for
 * those that wait, and is logged once.
 */
#ifndef APP_DAEMON_KILLER_H
#define APP_DAEMON_KILLER_H

#include <stdint.h>

#include <systemd/sd-event.h>

#include "io/cgroup/fs.h"

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
