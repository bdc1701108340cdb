/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live command: the sources of this host on one side (scan, lookup, losses and the ring, which
 * feed the engine), the outputs on the other, and the event loop. The monitor alone knows both
 * sides, and carries out the engine's effects. What the daemon adds hangs off its hooks.
 */
#ifndef APP_LIVE_MONITOR_H
#define APP_LIVE_MONITOR_H

#include <systemd/sd-event.h>

#include "app/config/options.h"
#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "io/cgroup/fs.h"
#include "io/cgroup/hierarchy.h"
#include "io/kernel/kernel.h"
#include "io/kernel/ring.h"
#include "io/loop/loop.h"

struct monitor;

/* What the daemon adds to a live command; a NULL function is left out. */
struct monitor_hooks {
	void *userdata;
	/* There is a loop, and nothing else yet. -errno, logged. */
	int (*open)(void *userdata, struct monitor *m);
	/* Events are recorded, and nothing was fed: the time to feed what an earlier run left. */
	void (*restore)(void *userdata);
	void (*attached)(void *userdata);
	/* An observation, before the engine takes it. */
	void (*observe)(void *userdata, const struct obs *obs);
	void (*record)(void *userdata, const struct record *record);
	/* Answers monitor_query_stopping(): each stop that is under way, then NULL. */
	void (*stopping)(void *userdata, const struct record_stop *stop);
	/* What the engine wants done in a shutdown of the node. */
	void (*shutdown)(void *userdata, const struct effect *effect);
	/* The end of each turn of the loop. */
	void (*turn)(void *userdata);
	/* SIGHUP, which otherwise ends the command. */
	void (*reload)(void *userdata);
	/* A signal is about to end the command. */
	void (*interrupt)(void *userdata);
	/* The loop has ended; the last records are still to come. */
	void (*ending)(void *userdata);
	/* Before the loop and the sources are freed, after an open that failed, too. */
	void (*close)(void *userdata);
	/* A daemon that runs on this host may be followed instead of attaching: there is no engine
	 * then, and no source. */
	bool may_follow;
	bool signals; /* ... with its records of signals, whatever the options say */
	/* The exit status after a signal has ended the command. */
	int interrupted;
};

/* Runs a live command until something ends it. rows: records go to standard output. Logs what goes
 * wrong. The exit status. */
int monitor_run(const struct options *options, bool rows, const struct monitor_hooks *hooks);

/* Ends the loop with that exit status; the first one counts. */
void monitor_end(struct monitor *m, int status);

/* Parts of the monitor, which stay its own; NULL before they are open. */
const struct options *monitor_options(const struct monitor *m);
const struct hierarchy *monitor_hierarchy(const struct monitor *m);
sd_event *monitor_event(const struct monitor *m);
/* Blocks the signal, and takes it from the loop. -errno. */
int monitor_add_signal(struct monitor *m, int number, sd_event_signal_handler_t fn, void *userdata);
const struct steps *monitor_steps(const struct monitor *m);
struct cgfs *monitor_cgfs(const struct monitor *m);
struct kern *monitor_kern(const struct monitor *m);
struct ring *monitor_ring(const struct monitor *m);
struct lookup *monitor_lookup(const struct monitor *m);
struct feed *monitor_feed(const struct monitor *m);
struct engine *monitor_engine(const struct monitor *m);

/* engine_each_container(), of the daemon that is followed or of the engine. */
void monitor_each_container(const struct monitor *m, engine_container_fn fn, void *userdata);
/* The hook receives which stops are under way: at once, or later where a daemon is followed, which
 * is not waited for. Its records say then how many events it lost, too. */
void monitor_query_stopping(struct monitor *m);
/* How many records of the daemon that is followed did not arrive. */
uint64_t monitor_missed(const struct monitor *m);
/* The totals of events that the kernel half lost, as they were read last. */
const struct obs_lost *monitor_lost(const struct monitor *m);

#endif
