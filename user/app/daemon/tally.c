// SPDX-License-Identifier: Apache-2.0
/* Counts records, and keeps the series in step with the containers that run. */
#include "app/daemon/tally.h"

#include <inttypes.h>
#include <string.h>

#include "app/daemon/hearings.h"
#include "app/live/lookup.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/time.h"
#include "io/proc/clock.h"
#include "wire/prometheus/metrics.h"

/* The kubelet names a container under /var/log once it has started it, which is after its init was
 * looked up: names that were missing are queried again so often, for so long, and so many at once. */
#define AGAIN_EVERY_NS (10 * NS_PER_S)
#define AGAIN_FOR_NS   (120 * NS_PER_S)
#define AGAIN_MAX      64

/* Below this share of the room, being full is over. */
#define CALM_PPM 900000

int tally_open(struct tally *ret, const struct config *config)
{
	struct series_config wanted = {
		.max_series = config->max_series,
		.reserved = METRICS_OWN_LINES,
		.max_age_ns = config->max_age_ns,
	};

	*ret = (struct tally){};
	return series_new(&wanted, &ret->series);
}

void tally_done(struct tally *t)
{
	t->series = series_free(t->series);
}

static uint64_t sum_absorbed(const struct series_stats *stats)
{
	uint64_t sum = 0;

	for (int i = 0; i < SERIES_FAMILY_COUNT; i++)
		sum += stats->absorbed[i];
	return sum;
}

void tally_record(struct tally *t, const struct record *record)
{
	struct series_stats before, after;

	series_get_stats(t->series, &before);
	series_record(t->series, record);
	series_get_stats(t->series, &after);
	if (t->full || sum_absorbed(&after) == sum_absorbed(&before))
		return;
	t->full = true;
	log_warning("metrics.maxSeries is too low: %" PRIu64 " of %" PRIu64 " time series are in "
		    "use, and new ones are counted as \"_other\" (graced_series_absorbed_total); "
		    "raise metrics.maxSeries",
		    after.lines + METRICS_OWN_LINES, after.limit);
}

struct look {
	struct tally *tally;
	const struct hearings *hearings;
	uint64_t now_ns;
	int64_t wall_ns;
	bool again; /* names are queried again */
	struct effect query[AGAIN_MAX];
	size_t n_queries;
};

static void add_query(struct look *look, const struct engine_running *running)
{
	if (!look->again || !running->unnamed || look->n_queries == AGAIN_MAX ||
	    look->now_ns > running->start_ns + AGAIN_FOR_NS)
		return;
	lookup_effect_of(running, &look->query[look->n_queries++]);
}

/* ... although a source may yet provide its names. */
static bool is_nameless(const struct engine_running *running)
{
	bool named = running->container.name && (!running->pod.known || running->pod.name);

	return running->lapse && !named;
}

static void seen(void *userdata, const struct engine_running *running)
{
	struct look *look = userdata;
	struct audit audit;

	add_query(look, running);
	/* Half of its names would make series that nothing is ever counted in. */
	if (running->unanswered || is_nameless(running))
		return;
	series_seen(look->tally->series, &running->pod, &running->container, look->now_ns,
		    look->wall_ns);
	if (look->hearings && hearings_get(look->hearings, running, &audit))
		series_hears(look->tally->series, &running->pod, &running->container, &audit);
}

void tally_look(struct tally *t, struct monitor *m, const struct hearings *hearings)
{
	struct look look = {.tally = t, .hearings = hearings, .now_ns = clock_boot_ns()};

	if (!monitor_engine(m))
		return;
	look.wall_ns = (int64_t)clock_wall_ns();
	look.again = look.now_ns - t->asked_ns >= AGAIN_EVERY_NS;
	if (look.again)
		t->asked_ns = look.now_ns;
	series_hears_begin(t->series);
	engine_each_container(monitor_engine(m), seen, &look);
	for (size_t i = 0; i < look.n_queries; i++)
		lookup_again(monitor_lookup(m), &look.query[i]);
}

void tally_age(struct tally *t)
{
	struct series_stats stats;

	series_age(t->series, clock_boot_ns());
	series_get_stats(t->series, &stats);
	t->full = t->full && stats.used_ppm >= CALM_PPM;
}
