// SPDX-License-Identifier: Apache-2.0
/* The end of a boot: which story it belongs to, and of what was alive no end was recorded. */
#include <errno.h>

#include "base/time.h"
#include "core/account/chapter.h"

/* Two daemons of a boot may reckon the same announcement by a clock that was slewed. */
#define SAME_NS NS_PER_S

bool subject_matches(const struct filter *filter, const struct record_pod *pod)
{
	struct record record = {.type = RECORD_POD, .pod_state.pod = *pod};

	record.pod_state.pod.known = pod->uid || pod->name;
	return !filter_has_names(filter) || filter_matches(filter, &record);
}

/* --- what was alive -------------------------------------------------------------------------- */

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static struct record_pod pod_of(const struct account_alive *row)
{
	if (!row->pod)
		return (struct record_pod){};
	return (struct record_pod){.namespace_ = known(row->of->namespace_),
				   .name = known(row->of->name),
				   .uid = known(row->of->id)};
}

static bool is_of_row(const struct account_alive *row, const struct record_stop *stop)
{
	const struct record_pod pod = pod_of(row);

	if (!row->pod)
		return *row->of->id && compare_text(row->of->id, stop->container.id) == 0;
	if (pod.uid)
		return compare_text(pod.uid, stop->pod.uid) == 0;
	return pod.name && compare_text(pod.name, stop->pod.name) == 0 &&
	       compare_text(pod.namespace_, stop->pod.namespace_) == 0;
}

/* Alive at the look, and its end was recorded later. What began after the look was not alive then. */
static bool ended_after(const struct account_record *record, uint64_t seen_ns)
{
	const struct record_stop *stop = record->stop.of;

	return record->type == RECORD_STOP && stop->process.start_ns <= seen_ns &&
	       (stop->exit.at_ns ? stop->exit.at_ns : record->at_ns) > seen_ns;
}

static uint64_t count_ended(const struct chapter_source *from, const struct account_alive *row,
			    uint64_t seen_ns)
{
	uint64_t n = 0;

	for (size_t i = 0; i < from->n; i++)
		n += ended_after(from->records[i], seen_ns) &&
		     is_of_row(row, from->records[i]->stop.of);
	return n;
}

static int select_alive(const struct chapter_source *from, struct arena *arena,
			const struct account_boot_end *end, struct account_alive_list *list)
{
	struct account_alive *rows = arena_array(arena, list->n, sizeof(*rows));
	size_t n = 0;

	if (!rows)
		return -ENOMEM;
	/* A filter by name can match only pods among what has no row. */
	if (filter_has_names(&from->query->filter) && list == &end->containers)
		list->unnamed = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct record_pod pod = pod_of(&list->rows[i]);

		if (!subject_matches(&from->query->filter, &pod))
			continue;
		rows[n] = list->rows[i];
		rows[n].ended = count_ended(from, &rows[n], end->seen_ns);
		n++;
	}
	list->rows = rows;
	list->n = n;
	return 0;
}

/* --- the story ------------------------------------------------------------------------------- */

static struct account_story *story_of(struct account_story *stories, size_t n_shutdowns,
				      uint64_t announced_ns)
{
	struct account_story *near = &stories[n_shutdowns];

	for (size_t i = 0; announced_ns && i < n_shutdowns; i++) {
		uint64_t at = stories[i].announced_ns;
		uint64_t off = at > announced_ns ? at - announced_ns : announced_ns - at;

		if (off == 0)
			return &stories[i];
		if (off <= SAME_NS)
			near = &stories[i];
	}
	return near;
}

/* The rest of a boot is reported as far as it is in the span, and by what the filter wants. */
static bool is_asked_for(const struct account_query *query, const struct account_boot_end *end)
{
	if ((query->since_ns && end->seen_wall_ns < query->since_ns) ||
	    (query->until_ns && end->seen_wall_ns > query->until_ns))
		return false;
	return !filter_has_names(&query->filter) || end->pods.n || end->pods.unnamed;
}

static void stretch(struct account_story *story, const struct account_record *record)
{
	if (!story->begin_ns || (!story->shutdown && record->at_ns < story->begin_ns))
		story->begin_ns = record->at_ns;
	if (record->at_ns > story->end_ns)
		story->end_ns = record->at_ns;
	if (!story->wall_offset_ns)
		story->wall_offset_ns = (int64_t)((uint64_t)record->wall_ns - record->at_ns);
}

int ending_write(const struct chapter_source *from, struct arena *arena,
		 struct account_story *stories, size_t n_shutdowns)
{
	struct account_record *record = NULL;
	struct account_story *story;
	struct account_boot_end *end;

	for (size_t i = 0; i < from->n; i++)
		if (from->records[i]->type == RECORD_BOOT)
			record = from->records[i];
	if (!record)
		return 0;
	end = &record->end;
	if (select_alive(from, arena, end, &end->pods) < 0 ||
	    select_alive(from, arena, end, &end->containers) < 0)
		return -ENOMEM;
	story = story_of(stories, n_shutdowns, end->announced_ns);
	if (!story->shutdown && !is_asked_for(from->query, end))
		return 0;
	story->end = end;
	stretch(story, record);
	return 0;
}
