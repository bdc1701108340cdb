// SPDX-License-Identifier: Apache-2.0
/* Builds the stories of a boot: which shutdown a stop belongs to, which group, and what is missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/time.h"
#include "core/account/chapter.h"

/* What is in the making. */
struct chapter {
	const struct chapter_source *from;
	struct arena *arena;

	struct account_story *stories; /* the shutdowns by time; behind them one for the rest */
	size_t n_shutdowns;
	struct item *items; /* stops and states of pods */
	size_t n_items;
	struct map stops; /* by container: struct item, the last one that ended */
	struct entry *entries;
	size_t n_entries;
};

struct item {
	struct account_record *record;
	size_t story;
	uint64_t from_ns, to_ns;
};

/* A pod's part in a story. */
struct entry {
	size_t story;
	struct account_pod pod;
	struct item *items; /* stops that follow each other in those of the chapter */
	size_t n;
	uint64_t from_ns, to_ns;
	int64_t wall_offset_ns; /* of its first record */
	bool never_ran; /* it ended by what a source reports, and was never seen to be empty */
};

/* --- shutdowns ------------------------------------------------------------------------------- */

static int compare_announced(const void *a, const void *b)
{
	const struct account_story *x = a, *y = b;

	return compare_number(x->announced_ns, y->announced_ns);
}

static struct account_story *story_of(struct chapter *c, uint64_t announced_ns)
{
	for (size_t i = 0; i < c->n_shutdowns; i++)
		if (c->stories[i].announced_ns == announced_ns)
			return &c->stories[i];
	return NULL;
}

static struct account_story *begin_story(struct chapter *c, const struct account_record *record)
{
	struct account_story *story = &c->stories[c->n_shutdowns++];
	uint64_t announced_ns = record->step->step.announced_ns;

	*story = (struct account_story){
		.node = record->node,
		.boot = record->boot,
		.shutdown = true,
		.announced_ns = announced_ns,
		.begin_ns = announced_ns,
		.end_ns = announced_ns,
		.wall_offset_ns = (int64_t)((uint64_t)record->wall_ns - record->at_ns),
		.partial.begin_unseen = true,
	};
	return story;
}

static void take_release(struct account_story *story, const struct account_record *record)
{
	const struct shutdown_record *step = &record->step->step;

	story->released_ns = record->at_ns;
	story->reason = shutdown_reason_name(step->reason);
	story->left = step->living;
	story->others = step->n_holders;
	story->holders = step->holders;
	story->n_holders = step->n_listed;
	story->volumes_known = step->volumes_known;
	story->volumes = step->n_volumes;
}

/* Doubles the array whenever it is full. */
static struct account_group *add_group(struct chapter *c, struct account_story *story,
				       uint32_t index)
{
	size_t n = story->n_groups;
	struct account_group *groups = story->groups;

	if ((n & (n - 1)) == 0) {
		groups = arena_array(c->arena, n ? 2 * n : 1, sizeof(*groups));
		if (!groups)
			return NULL;
		if (n)
			memcpy(groups, story->groups, n * sizeof(*groups));
		story->groups = groups;
	}
	story->n_groups++;
	groups[n].index = index;
	return &groups[n];
}

static int take_group(struct chapter *c, struct account_story *story,
		      const struct account_record *record)
{
	const struct shutdown_record *step = &record->step->step;
	struct account_group *group = NULL;

	for (size_t i = 0; i < story->n_groups; i++)
		if (story->groups[i].index == step->group)
			group = &story->groups[i];
	if (!group && story->n_groups == SHUTDOWN_MAX_GROUPS)
		return 0;
	if (!group)
		group = add_group(c, story, step->group);
	if (!group)
		return -ENOMEM;
	if (record->step->group_known) {
		group->priority_known = true;
		group->priority = record->step->group_priority;
	}
	if (step->group_ns)
		group->length_ns = step->group_ns;
	if (step->what == SHUTDOWN_REPORT_GROUP_STARTED) {
		group->begin_ns = record->at_ns;
		group->planned_ns = step->planned_ns;
	} else {
		group->done_ns = record->at_ns;
		group->timed_out = step->timed_out;
	}
	return 0;
}

static int take_step(struct chapter *c, struct account_story *story,
		     const struct account_record *record)
{
	const struct shutdown_record *step = &record->step->step;

	story->end_ns = ns_later(story->end_ns, record->at_ns);
	story->lock_held |= step->locked;
	story->mode = shutdown_mode_name(step->mode);
	story->action = shutdown_action_name(step->action);
	if (step->limit_ns)
		story->limit_ns = step->limit_ns;
	switch (step->what) {
	case SHUTDOWN_REPORT_ANNOUNCED:
		story->partial.begin_unseen = false;
		story->wall_offset_ns = (int64_t)((uint64_t)record->wall_ns - record->at_ns);
		return 0;
	case SHUTDOWN_REPORT_GROUP_STARTED:
	case SHUTDOWN_REPORT_GROUP_DONE:
		return take_group(c, story, record);
	case SHUTDOWN_REPORT_RELEASED:
		take_release(story, record);
		return 0;
	case SHUTDOWN_REPORT_CANCELLED:
		story->cancelled_ns = record->at_ns;
		return 0;
	case SHUTDOWN_REPORT_ENDED:
		story->ended_ns = record->at_ns;
		return 0;
	default:
		break;
	}
	return 0;
}

static bool is_step(const struct account_record *record)
{
	return record->type == RECORD_SHUTDOWN && record->step->step.announced_ns;
}

/* Steps are few: at most that many shutdowns of a boot are distinguished. */
#define SHUTDOWNS_MAX 256

static int build_shutdowns(struct chapter *c)
{
	size_t most = 0;

	for (size_t i = 0; i < c->from->n && most < SHUTDOWNS_MAX; i++)
		most += is_step(c->from->records[i]);
	c->stories = arena_array(c->arena, most + 1, sizeof(*c->stories));
	if (!c->stories)
		return -ENOMEM;
	for (size_t i = 0; i < c->from->n; i++) {
		const struct account_record *record = c->from->records[i];
		struct account_story *story;

		if (!is_step(record))
			continue;
		story = story_of(c, record->step->step.announced_ns);
		if (!story && c->n_shutdowns < SHUTDOWNS_MAX)
			story = begin_story(c, record);
		if (story && take_step(c, story, record) < 0)
			return -ENOMEM;
	}
	qsort(c->stories, c->n_shutdowns, sizeof(*c->stories), compare_announced);
	return 0;
}

/* When nothing that begins later belongs to the shutdown; it has no end before the machine's. */
static uint64_t closes_ns(const struct chapter *c, size_t i)
{
	if (c->stories[i].cancelled_ns)
		return c->stories[i].cancelled_ns;
	return i + 1 < c->n_shutdowns ? c->stories[i + 1].announced_ns : UINT64_MAX;
}

static size_t place(const struct chapter *c, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < c->n_shutdowns; i++)
		if (to_ns >= c->stories[i].announced_ns && from_ns < closes_ns(c, i))
			return i;
	return c->n_shutdowns;
}

/* --- stops ----------------------------------------------------------------------------------- */

static uint64_t key_of(const struct record_container *container)
{
	const char *name = container->id ? container->id : container->cgroup;

	return name ? map_key(name) : 0;
}

static bool same_container(const struct record_container *a, const struct record_container *b)
{
	if (a->id || b->id)
		return compare_text(a->id, b->id) == 0;
	return compare_text(a->cgroup, b->cgroup) == 0;
}

static void reckon(struct account_stop *stop)
{
	const struct record_stop *of = stop->of;

	if (!of->stop_signal.at_ns || !grace_known(&of->grace))
		return;
	stop->deadline_ns = of->stop_signal.at_ns + of->grace.ns;
	if (!of->exit.known)
		return;
	stop->margin_known = true;
	stop->margin_ns = (int64_t)(stop->deadline_ns - of->exit.at_ns);
}

static void set_span(struct item *item)
{
	const struct record_stop *stop = item->record->stop.of;

	item->from_ns = stop->stop_signal.at_ns ? stop->stop_signal.at_ns
			: stop->exit.at_ns	? stop->exit.at_ns
						: item->record->at_ns;
	item->to_ns = stop->exit.at_ns ? stop->exit.at_ns : item->record->at_ns;
}

static int add_stop(struct chapter *c, struct account_record *record)
{
	struct item *item = &c->items[c->n_items++], *known;
	uint64_t key = key_of(&record->stop.of->container);

	item->record = record;
	reckon(&record->stop);
	set_span(item);
	item->story = place(c, item->from_ns, item->to_ns);
	if (!key)
		return 0;
	known = map_get(&c->stops, key);
	return known && known->to_ns > item->to_ns ? 0 : map_put(&c->stops, key, item);
}

/* A container that the shutdown names and whose stop is not among the records. */
static struct item *add_unrecorded(struct chapter *c, const struct account_record *from)
{
	const struct shutdown_container *step = &from->step->step.container;
	struct account_record *record = arena_alloc(c->arena, sizeof(*record));
	struct record_stop *stop = arena_alloc(c->arena, sizeof(*stop));
	struct item *item;

	if (!record || !stop)
		return NULL;
	*record = (struct account_record){.type = RECORD_STOP,
					  .boot = from->boot,
					  .node = from->node,
					  .at_ns = from->at_ns,
					  .wall_ns = from->wall_ns,
					  .order = from->order,
					  .stop = {.of = stop, .unrecorded = true}};
	stop->pod = from->step->pod;
	stop->container = from->step->container;
	stop->stop_signal.number = step->signal;
	stop->stop_signal.at_ns = step->asked_ns;
	stop->stop_signal.result = -1;
	stop->stop_signal.sender.kind = SENDER_UNKNOWN;
	stop->kill_signal = stop->stop_signal;
	stop->kill_signal.at_ns = step->kill_ns;
	stop->kill_signal.number = 0;
	if (step->timeout_ns)
		stop->grace = (struct grace){.from = GRACE_SHUTDOWN, .ns = step->timeout_ns};
	stop->outcome = OUTCOME_UNKNOWN;
	stop->cause = CAUSE_UNKNOWN;
	item = &c->items[c->n_items];
	return add_stop(c, record) < 0 ? NULL : item;
}

static int take_container_step(struct chapter *c, const struct account_record *record)
{
	const struct record_shutdown *step = record->step;
	uint64_t key = key_of(&step->container);
	struct item *item = key ? map_get(&c->stops, key) : NULL;
	struct account_stop *stop;

	if (!key)
		return 0;
	if (!item || item->to_ns < step->step.announced_ns ||
	    !same_container(&item->record->stop.of->container, &step->container))
		item = add_unrecorded(c, record);
	if (!item)
		return -ENOMEM;
	stop = &item->record->stop;
	stop->group_known = true;
	stop->group = step->step.group;
	if (step->step.what == SHUTDOWN_REPORT_OVERDUE)
		stop->overdue_ns = record->at_ns;
	if (stop->unrecorded && !stop->of->kill_signal.at_ns)
		stop->of->kill_signal.at_ns = step->step.what == SHUTDOWN_REPORT_KILLED
						      ? record->at_ns
						      : step->step.container.kill_ns;
	stop->of->deaf |= step->step.deaf;
	return 0;
}

static int build_stops(struct chapter *c)
{
	c->items = arena_array(c->arena, c->from->n, sizeof(*c->items));
	if (!c->items)
		return -ENOMEM;
	for (size_t i = 0; i < c->from->n; i++)
		if (c->from->records[i]->type == RECORD_STOP &&
		    add_stop(c, c->from->records[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < c->from->n; i++)
		if (is_step(c->from->records[i]) && take_container_step(c, c->from->records[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* The only group of which the kubelet, or graced, stopped pods when the stop was requested. */
static void place_in_group(const struct account_story *story, struct account_stop *stop)
{
	size_t found = 0, which = 0;

	for (size_t i = 0; i < story->n_groups; i++) {
		const struct account_group *group = &story->groups[i];

		if (!group->begin_ns || stop->of->stop_signal.at_ns < group->begin_ns ||
		    (group->done_ns && stop->of->stop_signal.at_ns > group->done_ns))
			continue;
		which = i;
		found++;
	}
	if (found != 1)
		return;
	stop->group_known = true;
	stop->group = story->groups[which].index;
}

static void finish_stop(const struct account_story *story, struct account_stop *stop)
{
	if (story->shutdown && !stop->group_known)
		place_in_group(story, stop);
	if (story->released_ns)
		stop->left = stop->of->exit.at_ns ? stop->of->exit.at_ns > story->released_ns
						  : stop->unrecorded;
}

/* --- pods ------------------------------------------------------------------------------------ */

static const struct record_pod *pod_of(const struct item *item)
{
	return item->record->type == RECORD_POD ? &item->record->pod->pod
						: &item->record->stop.of->pod;
}

/* By pod; what is in none comes first. */
static int compare_pods(const struct item *a, const struct item *b)
{
	const struct record_pod *x = pod_of(a), *y = pod_of(b);
	int order;

	if (x->uid || y->uid)
		return compare_text(x->uid, y->uid);
	order = compare_text(x->namespace_, y->namespace_);
	return order ? order : compare_text(x->name, y->name);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare_pods(x, y);

	if (order == 0)
		order = (int)x->record->type - (int)y->record->type;
	if (order == 0)
		order = compare_number(x->from_ns, y->from_ns);
	return order ? order : compare_number(x->record->order, y->record->order);
}

/* A container of that name is in the entry: the pod's containers have begun anew. */
static bool has_name(const struct entry *entry, const char *name)
{
	for (size_t i = 0; name && i < entry->n; i++)
		if (compare_text(entry->items[i].record->stop.of->container.name, name) == 0)
			return true;
	return false;
}

static struct entry *begin_entry(struct chapter *c, struct item *item)
{
	struct entry *entry = &c->entries[c->n_entries++];

	*entry = (struct entry){
		.story = item->story,
		.pod.names = *pod_of(item),
		.from_ns = item->from_ns,
		.wall_offset_ns = (int64_t)((uint64_t)item->record->wall_ns - item->record->at_ns),
		.items = item};
	return entry;
}

static void prefer(const char **text, const char *other)
{
	if (!*text)
		*text = other;
}

/* Names may have come later than the first record. */
static void take_names(struct record_pod *to, const struct record_pod *from)
{
	prefer(&to->namespace_, from->namespace_);
	prefer(&to->name, from->name);
	prefer(&to->workload, from->workload);
}

/* What the kernel lets conclude, or a restart hid, is about processes. */
static bool is_reported_end(enum pod_trigger trigger)
{
	return trigger != POD_TRIGGER_NONE && trigger != POD_STARTED &&
	       trigger != POD_STOP_SIGNAL && trigger != POD_LAST_EXIT &&
	       trigger != POD_CGROUP_REMOVED && trigger != POD_RESTART;
}

static void take_state(struct chapter *c, struct entry *first, struct item *item)
{
	const struct record_pod_state *state = item->record->pod;
	struct entry *end = c->entries + c->n_entries, *entry = NULL;

	for (struct entry *at = first; at < end; at++) {
		if (state->state == POD_STAGE_TERMINATING && at->to_ns >= state->at_ns) {
			entry = at;
			break;
		}
		if (state->state != POD_STAGE_TERMINATING && at->from_ns <= state->at_ns)
			entry = at;
	}
	if (!entry && state->state != POD_STAGE_TERMINATING)
		return;
	if (!entry)
		entry = begin_entry(c, item);
	take_names(&entry->pod.names, &state->pod);
	switch (state->state) {
	case POD_STAGE_TERMINATING:
		entry->pod.terminating_ns = state->at_ns;
		entry->pod.trigger = state->trigger;
		entry->pod.deadline_ns = state->deadline_ns;
		break;
	case POD_STAGE_TERMINATED:
		entry->pod.empty_ns = state->empty_ns;
		entry->never_ran = !state->empty_ns && is_reported_end(state->trigger);
		break;
	case POD_STAGE_FINISHED:
		entry->pod.finished_ns = state->at_ns;
		break;
	default:
		break;
	}
	entry->to_ns = ns_later(entry->to_ns, state->at_ns);
}

/* By all names that its records have. */
static bool pod_is_asked_for(const struct chapter *c, const struct item *items, size_t n)
{
	struct record_pod pod = *pod_of(items);

	for (size_t i = 1; i < n; i++)
		take_names(&pod, pod_of(&items[i]));
	return subject_matches(&c->from->query->filter, &pod);
}

/* A shutdown is reported whole, the rest only as far as it is in the span. */
static bool is_in_span(const struct chapter *c, const struct item *item)
{
	const struct account_query *query = c->from->query;
	int64_t at = item->record->wall_ns;

	if (item->story < c->n_shutdowns)
		return true;
	return (!query->since_ns || at >= query->since_ns) &&
	       (!query->until_ns || at <= query->until_ns);
}

static void take_pod(struct chapter *c, struct item *items, size_t n)
{
	size_t first = c->n_entries;
	struct entry *entry = NULL;
	bool in_pod = pod_of(items)->uid || pod_of(items)->name;

	if (in_pod && !pod_is_asked_for(c, items, n))
		return;
	for (size_t i = 0; i < n; i++) {
		struct item *item = &items[i];

		if (!is_in_span(c, item)) {
			entry = NULL;
			continue;
		}
		if (!in_pod && !subject_matches(&c->from->query->filter, pod_of(item)))
			continue;
		if (item->record->type == RECORD_POD) {
			take_state(c, c->entries + first, item);
			continue;
		}
		if (!entry || !in_pod || entry->story != item->story ||
		    has_name(entry, item->record->stop.of->container.name))
			entry = begin_entry(c, item);
		entry->n++;
		entry->to_ns = ns_later(entry->to_ns, item->to_ns);
		take_names(&entry->pod.names, pod_of(item));
		if (item->record->stop.of->stop_signal.at_ns && !entry->pod.asked_ns)
			entry->pod.asked_ns = item->record->stop.of->stop_signal.at_ns;
	}
}

static int build_pods(struct chapter *c)
{
	size_t begin = 0;

	for (size_t i = 0; i < c->from->n; i++) {
		struct account_record *record = c->from->records[i];
		uint64_t at_ns;

		if (record->type != RECORD_POD)
			continue;
		at_ns = record->pod->at_ns;
		c->items[c->n_items++] =
			(struct item){record, place(c, at_ns, at_ns), at_ns, at_ns};
	}
	c->entries = arena_array(c->arena, c->n_items, sizeof(*c->entries));
	if (!c->entries)
		return -ENOMEM;
	/* The map refers to items by their place, and is needed no more. */
	qsort(c->items, c->n_items, sizeof(*c->items), compare_items);
	for (size_t i = 1; i <= c->n_items; i++) {
		if (i < c->n_items && compare_pods(&c->items[begin], &c->items[i]) == 0)
			continue;
		take_pod(c, &c->items[begin], i - begin);
		begin = i;
	}
	return 0;
}

/* Its own where all stops that have one have the same. */
static bool group_of(const struct entry *entry, uint32_t *ret)
{
	bool known = false;

	for (size_t i = 0; i < entry->n; i++) {
		const struct account_stop *stop = &entry->items[i].record->stop;

		if (!stop->group_known)
			continue;
		if (known && stop->group != *ret)
			return false;
		known = true;
		*ret = stop->group;
	}
	return known;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	uint32_t first = UINT32_MAX, second = UINT32_MAX;
	int order = compare_number(x->story, y->story);

	if (order)
		return order;
	if (!group_of(x, &first))
		first = UINT32_MAX;
	if (!group_of(y, &second))
		second = UINT32_MAX;
	order = compare_number(first, second);
	if (order == 0)
		order = compare_number(x->from_ns, y->from_ns);
	return order ? order : compare_text(x->pod.names.uid, y->pod.names.uid);
}

/* --- the whole ------------------------------------------------------------------------------- */

static void stretch(struct account_story *story, uint64_t at_ns)
{
	if (!at_ns)
		return;
	if (!story->begin_ns || (!story->shutdown && at_ns < story->begin_ns))
		story->begin_ns = at_ns;
	story->end_ns = ns_later(story->end_ns, at_ns);
}

static void put_entry(struct account_story *story, struct entry *entry)
{
	uint32_t group = 0;
	bool known = group_of(entry, &group);
	struct account_pod *pod = &story->pods[story->n_pods++];

	*pod = entry->pod;
	pod->first = story->n_stops;
	pod->n = entry->n;
	for (size_t i = 0; i < entry->n; i++) {
		struct account_stop *stop = &entry->items[i].record->stop;

		stop->group_known = known;
		stop->group = group;
		story->stops[story->n_stops++] = stop;
		story->partial.gaps += stop->of->gaps != 0;
		story->partial.unrecorded += stop->unrecorded;
		stretch(story, stop->of->stop_signal.at_ns);
		stretch(story, stop->of->exit.at_ns ? stop->of->exit.at_ns : entry->items[i].to_ns);
		stretch(story, stop->of->empty_ns);
	}
	if (!story->wall_offset_ns)
		story->wall_offset_ns = entry->wall_offset_ns;
	stretch(story, pod->terminating_ns);
	stretch(story, pod->empty_ns);
	stretch(story, pod->finished_ns);
}

static int put_entries(struct chapter *c, struct entry *entries, size_t n, size_t n_stops)
{
	struct account_story *story = &c->stories[entries->story];

	story->pods = arena_array(c->arena, n, sizeof(*story->pods));
	story->stops = arena_array(c->arena, n_stops, sizeof(*story->stops));
	if (!story->pods || !story->stops)
		return -ENOMEM;
	/* A pod of a boot before, which a source still lists, has no part in a story of this one. */
	for (size_t i = 0; i < n; i++)
		if (entries[i].n || !entries[i].never_ran)
			put_entry(story, &entries[i]);
	return 0;
}

static int compare_groups(const void *a, const void *b)
{
	const struct account_group *x = a, *y = b;

	return compare_number(x->index, y->index);
}

static int lay_out(struct chapter *c)
{
	size_t begin = 0, n_stops = 0;

	for (size_t i = 0; i < c->n_shutdowns; i++)
		if (c->stories[i].n_groups)
			qsort(c->stories[i].groups, c->stories[i].n_groups,
			      sizeof(*c->stories[i].groups), compare_groups);
	for (size_t i = 0; i < c->n_entries; i++)
		for (size_t j = 0; j < c->entries[i].n; j++)
			finish_stop(&c->stories[c->entries[i].story],
				    &c->entries[i].items[j].record->stop);
	qsort(c->entries, c->n_entries, sizeof(*c->entries), compare_entries);
	for (size_t i = 0; i < c->n_entries; i++) {
		n_stops += c->entries[i].n;
		if (i + 1 < c->n_entries && c->entries[i + 1].story == c->entries[begin].story)
			continue;
		if (put_entries(c, &c->entries[begin], i + 1 - begin, n_stops) < 0)
			return -ENOMEM;
		begin = i + 1;
		n_stops = 0;
	}
	return 0;
}

/* Each process counts from its own beginning: a smaller total is another one's. */
static uint64_t more_than(uint64_t now, uint64_t last)
{
	return now >= last ? now - last : now;
}

static void count_lost(struct account_record *const *records, size_t n,
		       const struct account_story *story, struct account_lost *lost)
{
	struct account_lost last = {};

	for (size_t i = 0; i < n; i++) {
		const struct account_record *r = records[i];

		if (r->type != RECORD_LOST)
			continue;
		if (r->at_ns > story->begin_ns) {
			lost->events += more_than(r->lost.events, last.events);
			lost->cgroups += more_than(r->lost.cgroups, last.cgroups);
		}
		last = r->lost;
		if (r->at_ns >= story->end_ns)
			break;
	}
}

/* Whether records may be missing in the story: what it ends with may be among them. */
static bool is_hole_of(const struct chapter *c, const struct account_story *story,
		       const struct account_dropped *dropped)
{
	int64_t begin = (int64_t)(story->begin_ns + (uint64_t)story->wall_offset_ns);
	int64_t end = (int64_t)(story->end_ns + (uint64_t)story->wall_offset_ns);
	bool open = story->partial.end_unseen || (!story->shutdown && c->from->only_boot);

	return (dropped->until_ns >= begin || (open && !story->shutdown)) &&
	       (dropped->since_ns <= end || open);
}

static void judge(const struct chapter *c, const struct account_log *log,
		  struct account_story *story)
{
	struct account_partial *partial = &story->partial;

	partial->ended = story->ended_ns && !story->released_ns && !story->cancelled_ns;
	partial->end_unseen =
		story->shutdown && !story->released_ns && !story->cancelled_ns && !story->ended_ns;
	partial->cut = log->cut;
	partial->unreadable = log->unreadable;
	partial->newer = log->newer;
	count_lost(c->from->records, c->from->n, story, &partial->lost);
	if (c->from->only_boot)
		count_lost(c->from->floating, c->from->n_floating, story, &partial->lost);
	for (size_t i = 0; i < c->from->n_floating; i++)
		partial->lost_somewhere |=
			!c->from->only_boot &&
			(c->from->floating[i]->lost.events || c->from->floating[i]->lost.cgroups) &&
			c->from->floating[i]->type == RECORD_LOST;
	for (size_t i = 0; i < c->from->n + c->from->n_floating; i++) {
		const struct account_record *r =
			i < c->from->n ? c->from->records[i] : c->from->floating[i - c->from->n];

		if (r->type == RECORD_DROPPED && is_hole_of(c, story, &r->dropped))
			partial->dropped += r->dropped.records;
		partial->restarts += r->type == RECORD_ATTACHED &&
				     (i < c->from->n || c->from->only_boot) &&
				     r->at_ns > story->begin_ns && r->at_ns <= story->end_ns;
	}
}

int chapter_write(const struct chapter_source *from, struct arena *arena,
		  const struct account_log *log, struct account *ret)
{
	struct chapter c = {.from = from, .arena = arena};
	int r = build_shutdowns(&c);

	if (r == 0)
		r = build_stops(&c);
	if (r == 0)
		r = build_pods(&c);
	if (r == 0) {
		c.stories[c.n_shutdowns].node = from->records[0]->node;
		c.stories[c.n_shutdowns].boot = from->records[0]->boot;
		r = lay_out(&c);
	}
	if (r == 0)
		r = ending_write(from, arena, c.stories, c.n_shutdowns);
	map_done(&c.stops);
	for (size_t i = 0; r == 0 && i <= c.n_shutdowns; i++) {
		if (!c.stories[i].shutdown && !c.stories[i].n_pods && !c.stories[i].end)
			continue;
		judge(&c, log, &c.stories[i]);
		ret->stories[ret->n++] = &c.stories[i];
	}
	return r;
}
