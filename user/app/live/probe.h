/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an init is there. */
#ifndef APP_LIVE_PROBE_H
#define APP_LIVE_PROBE_H

#include "app/live/feed.h"
#include "core/model/effect.h"

/* Feeds OBS_PROBE. What holds an init that has exited is logged. */
void probe_init(struct feed *feed, const struct effect *effect);

#endif
