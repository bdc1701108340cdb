/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's whole state: everything hangs off struct manager. trace, record and run open the
 * sources of this host, replay opens none; all of them run one engine. What the daemon adds hangs
 * off its hooks.
 */
#ifndef APP_LIVE_MANAGER_H
#define APP_LIVE_MANAGER_H

#include <systemd/sd-event.h>

#include "app/config/options.h"
#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/sinks.h"
#include "base/buf.h"
#include "core/engine/engine.h"
#include "core/load/budget.h"
#include "io/cgroup/fs.h"
#include "io/cgroup/hierarchy.h"
#include "io/kernel/kernel.h"
#include "io/kernel/ring.h"
#include "io/sinks/lines.h"
#include "io/sources/logs/logs.h"

/* What was told to the engine last, so that only changes are told. */
struct manager_told {
	struct obs_lost lost;
	int64_t wall_offset_ns;
	struct manager_lost_of { /* of each cgroup with losses, sorted by id */
		uint64_t id, lost;
	} * lost_of;
	size_t n_lost_of;
	bool sweep_due; /* records were lost, and some of their cgroups were not read since */
};

/* What the daemon adds to a live command; a NULL function is left out. */
struct manager_hooks {
	void *userdata;
	/* There is a loop, and nothing else yet. -errno, told. */
	int (*open)(void *userdata, struct manager *m);
	/* Events are recorded, and nothing was fed: the time to feed what an earlier run left. */
	void (*restore)(void *userdata);
	void (*attached)(void *userdata);
	void (*record)(void *userdata, const struct record *record);
	/* What the engine wants done in a shutdown of the node. */
	void (*shutdown)(void *userdata, const struct effect *effect);
	/* The end of each turn of the loop. */
	void (*turn)(void *userdata);
	/* SIGHUP, which otherwise ends the command. */
	void (*reload)(void *userdata);
	/* The loop has ended; the last records are still to come. */
	void (*ending)(void *userdata);
	/* Before the loop and the sources are freed, after an open that failed, too. */
	void (*close)(void *userdata);
};

struct manager {
	const struct options *options;
	const struct manager_hooks *hooks;

	struct engine *engine;
	struct sinks *sinks;	 /* NULL: nothing is printed */
	struct feed_queue queue; /* effects that want an answer */
	/* Carries out one effect, and feeds its answer; NULL in a replay. */
	void (*carry_out)(struct manager *m, const struct effect *effect);
	struct out *recording; /* NULL: nothing is recorded */
	struct buf line;       /* scratch of the recording */

	/* The sources of a live command, NULL in a replay. */
	sd_event *event;
	struct hierarchy hierarchy;
	struct kern *kern;
	struct cgfs *cgfs;
	struct ring *ring;
	struct podsrc_logs *logs;   /* NULL: no names are looked up */
	struct lookup *lookup;	    /* the same */
	struct scan_search *search; /* for inits; NULL: not begun */
	enum shed shed;		    /* the budget's level, that of shed_of() */
	sd_event_source *wake, *chores, *duration, *stdout_ready, *recording_ready;
	unsigned int chores_done; /* how often the totals were looked after */
	uint64_t wake_at_ns;	  /* what the engine wished for; 0: nothing */
	struct manager_told told;

	bool paused; /* a reader is slow: the ring is left alone */
	bool ended;
	int status; /* to exit with */
};

/* Ends the loop with that exit status; the first one counts. */
static inline void manager_end(struct manager *m, int status)
{
	if (!m->ended)
		m->status = status;
	m->ended = true;
}

/* Runs a live command until something ends it. Says what goes wrong. The exit status. */
int manager_run(const struct options *options, struct sinks *sinks,
		const struct manager_hooks *hooks);

#endif
