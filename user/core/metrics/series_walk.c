// SPDX-License-Identifier: Apache-2.0
/* Reading the series. */
#include <string.h>

#include "core/metrics/series_store.h"
#include "core/stop/outcome.h"

#define MILLION 1000000

static uint64_t used_ppm(const struct series *s)
{
	uint64_t room = series_room_of_histograms(s);

	return s->store.lines >= room ? MILLION : s->store.lines * MILLION / room;
}

void series_get_stats(const struct series *s, struct series_stats *ret)
{
	*ret = (struct series_stats){
		.lines = s->store.lines + s->overflow.lines,
		.limit = s->limit,
		.used_ppm = used_ppm(s),
		.labelsets = s->store.n,
		.aged = s->aged,
	};
	memcpy(ret->absorbed, s->absorbed, sizeof(ret->absorbed));
	memcpy(ret->incomplete, s->incomplete, sizeof(ret->incomplete));
	memcpy(ret->unheard, s->unheard, sizeof(ret->unheard));
}

const char *series_family_name(enum series_family family)
{
	static const char *const names[SERIES_FAMILY_COUNT] = {
		[SERIES_STOP_DURATION] = "graced_container_stop_duration_seconds",
		[SERIES_STOPS] = "graced_container_stops_total",
		[SERIES_GRACE_USED] = "graced_container_grace_used_ratio",
		[SERIES_DEAF_STOPS] = "graced_container_deaf_stops_total",
		[SERIES_COLLATERAL_KILLS] = "graced_collateral_kills_total",
		[SERIES_OOM_KILLS] = "graced_oom_kills_total",
		[SERIES_POD_EMPTY] = "graced_pod_empty_duration_seconds",
		[SERIES_POD_READY] = "graced_pod_ready_while_terminating_seconds",
	};

	return (unsigned int)family < SERIES_FAMILY_COUNT ? names[family] : NULL;
}

static void tell(const struct labelset *set, const struct serie *serie, series_fn fn,
		 void *userdata)
{
	const struct serie_key *key = &serie->key;
	struct series_point point = {
		.namespace_ = set->label[LABEL_NAMESPACE],
		.workload = set->label[LABEL_WORKLOAD],
		.container = set->label[LABEL_CONTAINER],
		.value = serie->value,
		.bounds = serie_bounds(key->family),
		.created_wall_ns = serie->created_wall_ns,
	};

	if (key->family == SERIES_POD_EMPTY || key->family == SERIES_POD_READY)
		point.container = NULL;
	if (point.bounds)
		point.histogram = serie->histogram;
	if (key->family == SERIES_STOPS || key->family == SERIES_STOP_DURATION)
		point.outcome = outcome_name((enum outcome)key->major);
	if (key->family == SERIES_STOPS)
		point.cause = cause_name((enum cause)key->minor);
	if (key->family == SERIES_OOM_KILLS)
		point.level = oom_level_name((enum oom_level)key->major);
	fn(userdata, &point);
}

static void tell_family(const struct labelset *set, enum series_family family, series_fn fn,
			void *userdata)
{
	for (const struct serie *serie = set->first; serie; serie = serie->next) {
		if (serie->key.family == family && serie->used)
			tell(set, serie, fn, userdata);
	}
}

void series_each(const struct series *s, enum series_family family, series_fn fn, void *userdata)
{
	for (size_t i = 0; i < s->store.n; i++)
		tell_family(s->store.sets[i], family, fn, userdata);
	tell_family(s->overflow.sets[0], family, fn, userdata);
}
