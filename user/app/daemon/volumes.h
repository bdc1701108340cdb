/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the kubelet's mounts in a shutdown of the node, and the process that unmounts them, and
 * feeds what changes to the engine.
 */
#ifndef APP_DAEMON_VOLUMES_H
#define APP_DAEMON_VOLUMES_H

#include "core/model/effect.h"
#include "io/logind/logind.h"

struct monitor;
struct volumes;

/* root is the kubelet's root directory, borrowed. -errno. */
int volumes_new(struct monitor *m, const char *root, struct volumes **ret);
struct volumes *volumes_free(struct volumes *volumes);

/* EFFECT_WATCH_VOLUMES and EFFECT_LEAVE_VOLUMES, from the next turn of the loop on; no others. */
void volumes_effect(struct volumes *volumes, const struct effect *effect);
/* The end of a turn. */
void volumes_turn(struct volumes *volumes);

/* One that holds a delay lock: the kubelet's process is followed from then on, if mounts are. */
void volumes_note_holder(struct volumes *volumes, const struct logind_holder *holder);

#endif
