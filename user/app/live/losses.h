/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half could not record: its totals, and the cgroups that losses were about. */
#ifndef APP_LIVE_LOSSES_H
#define APP_LIVE_LOSSES_H

#include <stdbool.h>

#include "app/live/feed.h"
#include "app/live/scan.h"
#include "io/kernel/kernel.h"
#include "io/kernel/ring.h"

struct losses;

/* All are borrowed. 0 or -ENOMEM. */
int losses_new(struct feed *feed, struct scan *scan, struct kern *kern, struct ring *ring,
	       struct losses **ret);
struct losses *losses_free(struct losses *l);

/* Feeds what changed since the last call: totals, and counts by cgroup when records were lost.
 * final: feeds the totals in any case, and does not wait for a record that is being written. */
void losses_feed(struct losses *l, bool final);

/* The totals as they were fed last. */
const struct obs_lost *losses_totals(const struct losses *l);

#endif
