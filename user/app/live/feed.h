/* SPDX-License-Identifier: Apache-2.0 */
/* The one way into the engine: an observation is recorded, judged, and its effects carried out. */
#ifndef APP_LIVE_FEED_H
#define APP_LIVE_FEED_H

#include "core/facts/observation.h"

struct manager;

/* May be called from within an effect's answer; then the effects wait their turn. */
void feed(struct manager *m, const struct obs *obs);

/* An observation of this type made now, all members zero. */
void feed_begin(struct obs *ret, enum obs_type type);

#endif
