/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at containers that are being stopped, in short steps between other work of the loop. */
#ifndef APP_LIVE_LOOK_H
#define APP_LIVE_LOOK_H

#include <systemd/sd-event.h>

#include "app/live/feed.h"
#include "core/model/effect.h"
#include "io/cgroup/fs.h"
#include "io/cgroup/hierarchy.h"

struct looks;

/* -errno. All but ret outlive it. */
int looks_new(struct feed *feed, struct cgfs *cgfs, const struct hierarchy *hierarchy,
	      sd_event *event, struct looks **ret);
struct looks *looks_free(struct looks *looks);

/* Carries out an EFFECT_LOOK: feeds its answers when their turn comes. */
void looks_add(struct looks *looks, const struct effect *effect);

/* Whether an init is there. */

/* Feeds OBS_PROBE. What holds an init that has exited is logged. */
void probe_init(struct feed *feed, const struct effect *effect);

#endif
