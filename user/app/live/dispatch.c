// SPDX-License-Identifier: Apache-2.0
/* Carries out the engine's effects and feeds the answers back. */
#include "app/live/dispatch.h"

#include <errno.h>

#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/manager.h"
#include "app/live/scan.h"
#include "app/live/timers.h"
#include "io/proc/self.h"
#include "io/proc/proc.h"

/* Without an entry there is nothing to tell; the engine waits a bounded time for an answer. */
static void read_counts(struct manager *m, uint64_t id)
{
	struct graced_watch watch;
	struct obs obs;

	feed_begin(&obs, OBS_COUNTS);
	obs.counts.populated = scan_populated(m, id);
	/* Read after that: where nothing was left, all that ended in there is counted. */
	if (kern_watch_get(m->kern, id, &watch) < 0)
		return;
	obs.counts.id = id;
	obs.counts.counts = watch.counts;
	obs.counts.looked = true;
	obs.counts.told_at_ns = watch.told_at_ns;
	feed(m, &obs);
}

static void probe_init(struct manager *m, const struct effect *effect)
{
	struct obs obs;

	feed_begin(&obs, OBS_PROBE);
	obs.probe.id = effect->id;
	obs.probe.pid = effect->pid;
	obs.probe.start_ns = effect->start_ns;
	/* Where pids are not the host's, no process is known to be gone. */
	obs.probe.alive =
		!host_in_initial_pidns() || procfs_alive((pid_t)effect->pid, effect->start_ns);
	feed(m, &obs);
}

void dispatch_carry_out(struct manager *m, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_READ_COUNTS:
		read_counts(m, effect->id);
		break;
	case EFFECT_FIND_CGROUP:
		scan_find(m, effect->id);
		break;
	case EFFECT_PROBE_INIT:
		probe_init(m, effect);
		break;
	case EFFECT_FIND_NAMES:
		lookup_names(m, effect);
		break;
	case EFFECT_FIND_POD:
		lookup_pod(m, effect);
		break;
	case EFFECT_FIND_EXIT:
		lookup_exit(m, effect);
		break;
	case EFFECT_IDENTIFY:
		lookup_identify(m, effect);
		break;
	case EFFECT_SET_STOP:
		kern_watch_set_stop(m->kern, effect->id, effect->signal);
		break;
	case EFFECT_SET_INIT:
		scan_set_init(m, effect->id, effect->pid);
		break;
	case EFFECT_SET_WATCH:
		scan_correct(m, effect->id, effect->kind);
		break;
	case EFFECT_TAKE_LOCK:
	case EFFECT_DROP_LOCK:
	case EFFECT_LIST_HOLDERS:
	case EFFECT_FLUSH:
	case EFFECT_KILL:
		if (m->hooks && m->hooks->shutdown)
			m->hooks->shutdown(m->hooks->userdata, effect);
		break;
	case EFFECT_WAKE_AT:
		timers_wake_at(m, effect->at_ns);
		break;
	case EFFECT_REPORT:
		break;
	}
}
