// SPDX-License-Identifier: Apache-2.0
/* Gathers the metrics. */
#include "app/daemon/snapshot.h"

#include <string.h>
#include <sys/utsname.h>

#include "app/daemon/daemon.h"
#include "app/log/log.h"
#include "io/proc/self.h"

static void add_kernel_half(const struct monitor *m, struct metrics *ret)
{
	struct ring_stats ring;

	if (!monitor_kern(m) || !monitor_ring(m))
		return;
	kern_read_stats(monitor_kern(m), ret->totals);
	ret->recursion_misses = kern_recursion_misses(monitor_kern(m));
	ring_get_stats(monitor_ring(m), &ring);
	ret->rejected = ring.rejected;
}

static void add_process(struct metrics *ret)
{
	struct selfstat self;

	ret->process_known = selfstat_read(&self) >= 0;
	if (!ret->process_known)
		return;
	ret->process_cpu_ns = self.cpu_ns;
	ret->process_resident_bytes = self.resident_bytes;
	ret->process_virtual_bytes = self.virtual_bytes;
	ret->process_open_fds = self.open_fds;
	ret->process_max_fds = self.max_fds;
	ret->process_start_wall_ns = self.start_wall_ns;
}

static void add_lookups(const struct monitor *m, struct metrics *ret)
{
	struct podsrc_state state;

	for (int source = META_NONE + 1; source < META_SOURCE_COUNT; source++) {
		lookup_get_state(monitor_lookup(m), (enum meta_source)source, &state);
		ret->sources[source].asked = state.status != PODSRC_OFF;
		ret->sources[source].up = state.status == PODSRC_UP;
		ret->sources[source].credential = state.credential;
		memcpy(ret->sources[source].lookups, state.lookups, sizeof(state.lookups));
	}
}

_Static_assert(METRICS_HTTP_CLASSES == WEB_CLASSES, "both go by the first digit");

static void add_web(const struct daemon *d, struct metrics *ret)
{
	struct web_stats stats;

	web_get_stats(d->web, &stats);
	memcpy(ret->http_requests, stats.requests, sizeof(ret->http_requests));
	ret->http_connections = stats.connections;
	ret->http_connections_refused = stats.evicted + stats.refused;
	ret->http_connections_expired = stats.expired;
}

static void add_control(const struct daemon *d, struct metrics *ret)
{
	struct control_stats stats;

	if (!d->control)
		return;
	control_get_stats(d->control, &stats);
	ret->control = (struct metrics_control){true, stats.answered, stats.refused, stats.failed};
}

static void add_checkpoint(const struct daemon *d, struct metrics *ret)
{
	struct checkpoint_stats stats;

	if (!d->checkpoint)
		return;
	checkpoint_get_stats(d->checkpoint, &stats);
	ret->checkpoint = (struct metrics_checkpoint){true, stats.bytes, stats.writes, stats.failed,
						      stats.dropped};
}

int snapshot_write(struct daemon *d, enum expo_format format, struct buf *out)
{
	struct metrics metrics = {.series = d->tally.series, .version = GRACED_VERSION};
	struct monitor *m = d->monitor;
	struct utsname uts;

	add_kernel_half(m, &metrics);
	if (monitor_engine(m)) {
		engine_get_stats(monitor_engine(m), &metrics.engine);
		engine_pods_count(monitor_engine(m), &metrics.pods);
	}
	metrics.effects_dropped = monitor_feed(m) ? feed_dropped(monitor_feed(m)) : 0;
	add_lookups(m, &metrics);
	recorders_get_stats(d->recorders, metrics.sinks);
	if (d->costs)
		costs_get_metrics(d->costs, &metrics);
	add_web(d, &metrics);
	add_control(d, &metrics);
	add_checkpoint(d, &metrics);
	if (d->inhibitor)
		inhibitor_get_metrics(d->inhibitor, &metrics.shutdown);
	metrics.log_lost = log_lost();
	metrics.reload_failed = d->reload_failed;
	metrics.reload_ok_wall_ns = d->reload_ok_wall_ns;
	if (uname(&uts) == 0)
		metrics.kernel = uts.release;
	add_process(&metrics);
	return metrics_write(out, format, &metrics);
}
