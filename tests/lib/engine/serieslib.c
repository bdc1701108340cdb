// SPDX-License-Identifier: Apache-2.0
/* The records that tests count, and what became of them. */
#include "lib/engine/serieslib.h"

#include <stdio.h>

#include "lib/claim.h"

struct series *serieslib_new(uint32_t max, uint32_t reserved)
{
	struct series_config config = {.max_series = max, .reserved = reserved};
	struct series *series = NULL;

	assert_int_equal(series_new(&config, &series), 0);
	return series;
}

struct record serieslib_stop(const char *namespace_, const char *name)
{
	return (struct record){
		.type = RECORD_STOP,
		.at_ns = 100 * S,
		.stop =
			{
				.pod = {.known = namespace_,
					.namespace_ = namespace_,
					.name = "web-0"},
				.container = {.known = true,
					      .name = name,
					      .id = "0123",
					      .kind = CONTAINER_KIND_CONTAINER,
					      .cgroup = "/a/b.scope"},
				.latency_known = true,
				.latency_ns = 1500 * MS,
				.grace = {GRACE_SPEC, 30 * S},
				.outcome = OUTCOME_GRACEFUL,
				.cause = CAUSE_STOP_SIGNAL,
			},
	};
}

struct record serieslib_oom(const char *namespace_, const char *name, enum oom_level level)
{
	return (struct record){
		.type = RECORD_OOM,
		.at_ns = 100 * S,
		.oom =
			{
				.pod = {.known = namespace_, .namespace_ = namespace_},
				.container = {.known = true,
					      .name = name,
					      .kind = CONTAINER_KIND_CONTAINER},
				.level = level,
			},
	};
}

void serieslib_point(void *userdata, const struct series_point *p)
{
	struct serieslib_page *page = userdata;
	uint64_t value = p->histogram ? p->histogram->count : p->value;

	page->points++;
	page->sum += value;
	page->lines += p->bounds ? p->bounds->n + 3 : 1;
	if (page->len >= sizeof(page->text))
		return;
	page->len +=
		(size_t)snprintf(page->text + page->len, sizeof(page->text) - page->len,
				 "%s|%s|%s|%s|%s|%s|%s %llu\n", series_family_name(page->family),
				 p->namespace_, p->workload, p->container ? p->container : "-",
				 p->outcome ? p->outcome : "-", p->cause ? p->cause : "-",
				 p->level    ? p->level
				 : p->reason ? p->reason
				 : p->probe  ? p->probe
				 : p->kind   ? p->kind
					     : "-",
				 (unsigned long long)value);
}

void serieslib_read(const struct series *series, struct serieslib_page *ret)
{
	*ret = (struct serieslib_page){};
	for (int family = 0; family < SERIES_FAMILY_COUNT; family++) {
		ret->family = (enum series_family)family;
		series_each(series, ret->family, serieslib_point, ret);
	}
}

uint64_t serieslib_sum(const struct series *series, enum series_family family)
{
	struct serieslib_page page = {.family = family};

	series_each(series, family, serieslib_point, &page);
	return page.sum;
}

void serieslib_assert(const struct series *series, const char *want)
{
	static struct serieslib_page page;
	struct series_stats stats;

	serieslib_read(series, &page);
	assert_string_equal(page.text, want);
	series_get_stats(series, &stats);
	assert_int_equal(stats.lines, page.lines);
}
