// SPDX-License-Identifier: Apache-2.0
/* Writes trace events. Their times are microseconds since the first moment of the account, so that
 * a double holds nanoseconds; what has no observed end is an instant and no slice. */
#include "wire/account/account.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "wire/account/text.h"
#include "wire/json/writer.h"

#define NS_IN_US_DECIMALS 3

struct track {
	uint64_t process, thread;
};

struct trace {
	struct buf *out;
	const struct account_story *story;
	int64_t zero_ns; /* wall clock */
	uint64_t processes, threads, flows;
	struct track group; /* the first group's; the others follow it */
};

static uint64_t since_zero(const struct trace *t, uint64_t at_ns)
{
	return at_ns + (uint64_t)t->story->wall_offset_ns - (uint64_t)t->zero_ns;
}

static int64_t first_moment(const struct account *account)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < account->n; i++) {
		const struct account_story *s = account->stories[i];
		uint64_t at = s->begin_ns;

		if (s->end && s->end->seen_ns < at)
			at = s->end->seen_ns;

		for (size_t j = 0; j < s->n_stops; j++)
			if (s->stops[j]->of->stop_signal.at_ns &&
			    s->stops[j]->of->stop_signal.at_ns < at)
				at = s->stops[j]->of->stop_signal.at_ns;
		for (size_t j = 0; j < s->n_pods; j++)
			if (s->pods[j].terminating_ns && s->pods[j].terminating_ns < at)
				at = s->pods[j].terminating_ns;
		if ((int64_t)(at + (uint64_t)s->wall_offset_ns) < first)
			first = (int64_t)(at + (uint64_t)s->wall_offset_ns);
	}
	return first;
}

/* --- events ---------------------------------------------------------------------------------- */

static void begin_event(struct trace *t, const char *phase, const char *name, struct track track)
{
	jsonw_object(t->out, NULL);
	jsonw_str(t->out, "ph", phase);
	jsonw_str(t->out, "name", name);
	jsonw_u64(t->out, "pid", track.process);
	jsonw_u64(t->out, "tid", track.thread);
}

static void begin_timed(struct trace *t, const char *phase, const char *name, struct track track,
			uint64_t at_ns)
{
	begin_event(t, phase, name, track);
	jsonw_str(t->out, "cat", "graced");
	jsonw_decimal(t->out, "ts", since_zero(t, at_ns), NS_IN_US_DECIMALS);
}

static void add_name(struct trace *t, const char *kind, struct track track, const char *name)
{
	begin_event(t, "M", kind, track);
	jsonw_object(t->out, "args");
	jsonw_str(t->out, "name", name);
	jsonw_object_end(t->out);
	jsonw_object_end(t->out);
}

static struct track add_process(struct trace *t, const char *name)
{
	struct track track = {.process = ++t->processes, .thread = 0};

	add_name(t, "process_name", track, name);
	begin_event(t, "M", "process_sort_index", track);
	jsonw_object(t->out, "args");
	jsonw_u64(t->out, "sort_index", track.process);
	jsonw_object_end(t->out);
	jsonw_object_end(t->out);
	return track;
}

static struct track add_thread(struct trace *t, struct track process, const char *name)
{
	struct track track = {process.process, ++t->threads};

	add_name(t, "thread_name", track, name);
	return track;
}

static void add_instant(struct trace *t, const char *name, struct track track, uint64_t at_ns)
{
	if (!at_ns)
		return;
	begin_timed(t, "i", name, track, at_ns);
	jsonw_str(t->out, "s", "t");
	jsonw_object_end(t->out);
}

/* Leaves the event open, for its arguments. */
static void begin_slice(struct trace *t, const char *name, struct track track, uint64_t from_ns,
			uint64_t to_ns)
{
	begin_timed(t, "X", name, track, from_ns);
	jsonw_decimal(t->out, "dur", to_ns - from_ns, NS_IN_US_DECIMALS);
}

static void add_slice(struct trace *t, const char *name, struct track track, uint64_t from_ns,
		      uint64_t to_ns)
{
	if (!from_ns || !to_ns || to_ns < from_ns)
		return;
	begin_slice(t, name, track, from_ns, to_ns);
	jsonw_object_end(t->out);
}

/* --- shutdowns ------------------------------------------------------------------------------- */

/* On a thread of their own: Perfetto binds a flow to the last slice or instant of its thread, which
 * must be the group's slice. */
static void add_budgets(struct trace *t, struct track process)
{
	const struct account_story *s = t->story;
	struct track track = {};

	for (size_t i = 0; i < s->n_groups; i++) {
		const struct account_group *g = &s->groups[i];
		char name[48];

		if (!g->begin_ns || !g->length_ns)
			continue;
		if (!track.process)
			track = add_thread(t, process, "budgets");
		snprintf(name, sizeof(name), "budget of group %" PRIu32, g->index);
		add_instant(t, name, track, g->begin_ns + g->length_ns);
	}
}

static void add_shutdown(struct trace *t)
{
	const struct account_story *s = t->story;
	_cleanup_(buf_free) struct buf name = {};
	struct track process, lock;
	uint64_t end = account_lock_end(s);

	account_text_heading(&name, s);
	process = add_process(t, buf_str(&name));
	lock = add_thread(t, process, "delay lock");
	if (end)
		add_slice(t, "delay lock", lock, s->announced_ns, end);
	else
		add_instant(t, s->lock_held ? "delay lock held, end unknown" : "announced", lock,
			    s->announced_ns);
	if (s->limit_ns)
		add_instant(t, "limit", lock, s->announced_ns + s->limit_ns);
	t->group = (struct track){process.process, t->threads + 1};
	for (size_t i = 0; i < s->n_groups; i++) {
		const struct account_group *g = &s->groups[i];
		struct track track;

		buf_reset(&name);
		buf_printf(&name, "group %" PRIu32, g->index);
		track = add_thread(t, process, buf_str(&name));
		if (g->done_ns)
			add_slice(t, buf_str(&name), track, g->begin_ns, g->done_ns);
		else
			add_instant(t, "begin, end unknown", track, g->begin_ns);
	}
	add_budgets(t, process);
}

/* From the group's slice, if the stop was requested in it. */
static void add_flow(struct trace *t, struct track to, const struct account_stop *stop)
{
	const struct account_story *s = t->story;

	for (size_t i = 0; i < s->n_groups && stop->group_known; i++) {
		const struct account_group *g = &s->groups[i];
		struct track from = {t->group.process, t->group.thread + i};
		uint64_t id = t->flows + 1, at = stop->of->stop_signal.at_ns;

		if (g->index != stop->group || !g->begin_ns || at < g->begin_ns || at > g->done_ns)
			continue;
		t->flows++;
		begin_timed(t, "s", "stop", from, at);
		jsonw_u64(t->out, "id", id);
		jsonw_object_end(t->out);
		begin_timed(t, "f", "stop", to, at);
		jsonw_u64(t->out, "id", id);
		jsonw_str(t->out, "bp", "e");
		jsonw_object_end(t->out);
		return;
	}
}

/* --- containers ------------------------------------------------------------------------------ */

static void add_arguments(struct trace *t, const struct account_pod *pod,
			  const struct account_stop *stop)
{
	_cleanup_(buf_free) struct buf note = {};

	account_text_note(&note, t->story, pod, stop, stop->of->gaps);
	jsonw_object(t->out, "args");
	jsonw_str(t->out, "outcome", outcome_name(stop->of->outcome));
	jsonw_str(t->out, "cause", stop->unrecorded ? NULL : cause_name(stop->of->cause));
	jsonw_str(t->out, "namespace", stop->of->pod.namespace_);
	jsonw_str(t->out, "pod", stop->of->pod.name);
	jsonw_str(t->out, "container", stop->of->container.name);
	jsonw_str(t->out, "sender", stop->of->stop_signal.sender.process.comm);
	jsonw_i64_if(t->out, "margin_ns", stop->margin_known, stop->margin_ns);
	jsonw_str(t->out, "note", buf_str(&note));
	jsonw_object_end(t->out);
}

static void add_stages(struct trace *t, struct track track, const struct account_stop *stop)
{
	if (stop->of->deliver_ns) {
		add_slice(t, "signal to delivery", track, stop->of->stop_signal.at_ns,
			  stop->of->deliver_ns);
		add_slice(t, "delivery to exit", track, stop->of->deliver_ns, stop->of->exit.at_ns);
	} else {
		add_slice(t, "signal to exit", track, stop->of->stop_signal.at_ns,
			  stop->of->exit.at_ns);
	}
	add_slice(t, "exit to empty", track, stop->of->exit.at_ns, stop->of->empty_ns);
}

static void add_stop(struct trace *t, struct track lane, const struct account_pod *pod,
		     const struct account_stop *stop)
{
	_cleanup_(buf_free) struct buf name = {};
	uint64_t from =
		stop->of->stop_signal.at_ns ? stop->of->stop_signal.at_ns : stop->of->exit.at_ns;
	uint64_t to = stop->of->empty_ns ? stop->of->empty_ns : stop->of->exit.at_ns;
	struct track track;

	account_text_container(&name, stop);
	track = add_thread(t, lane, buf_str(&name));
	if (from && stop->of->exit.at_ns) {
		begin_slice(t, outcome_name(stop->of->outcome), track, from, to);
		add_arguments(t, pod, stop);
		jsonw_object_end(t->out);
		add_stages(t, track, stop);
		if (stop->of->stop_signal.at_ns)
			add_flow(t, track, stop);
	} else {
		add_instant(t, "asked to stop, exit unknown", track, from);
	}
	add_instant(t, "deadline", track, stop->deadline_ns);
	add_instant(t, "SIGKILL", track, stop->of->kill_signal.at_ns);
}

static struct track add_lane(struct trace *t, const struct account_stop *stop)
{
	_cleanup_(buf_free) struct buf name = {};

	account_text_heading(&name, t->story);
	if (stop && stop->group_known)
		buf_printf(&name, ", group %" PRIu32, stop->group);
	else if (t->story->shutdown)
		buf_adds(&name, ", group unknown");
	return add_process(t, buf_str(&name));
}

static bool same_lane(const struct account_stop *a, const struct account_stop *b)
{
	bool known = a && a->group_known;

	return known == (b && b->group_known) && (!known || a->group == b->group);
}

static void add_pods(struct trace *t)
{
	const struct account_story *s = t->story;
	const struct account_stop *last = NULL;
	struct track lane = {};

	for (size_t i = 0; i < s->n_pods; i++) {
		const struct account_pod *pod = &s->pods[i];
		const struct account_stop *first = pod->n ? s->stops[pod->first] : NULL;

		if (i == 0 || !same_lane(first, last))
			lane = add_lane(t, first);
		last = first;
		for (size_t j = 0; j < pod->n; j++)
			add_stop(t, lane, pod, s->stops[pod->first + j]);
	}
}

static void add_alive(struct buf *out, const struct account_alive_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		_cleanup_(buf_free) struct buf name = {};

		if (account_has_ended(&list->rows[i]))
			continue;
		account_text_alive(&name, &list->rows[i]);
		jsonw_str(out, NULL, buf_str(&name));
	}
}

/* An instant: when the boot ended after it is not known. */
static void add_boot_end(struct trace *t)
{
	const struct account_boot_end *end = t->story->end;
	_cleanup_(buf_free) struct buf name = {};
	struct track track;

	if (!end)
		return;
	account_text_heading(&name, t->story);
	track = add_thread(t, add_process(t, buf_str(&name)), "end of the boot");
	begin_timed(t, "i", "last look before the boot ended", track, end->seen_ns);
	jsonw_str(t->out, "s", "t");
	jsonw_object(t->out, "args");
	jsonw_str(t->out, "end", boot_end_name(end->end));
	jsonw_str(t->out, "reason", boot_reason_name(end->reason));
	jsonw_u64(t->out, "pods_alive", end->pods.total);
	jsonw_u64(t->out, "containers_alive", end->containers.total);
	jsonw_array(t->out, "end_unknown");
	add_alive(t->out, &end->pods);
	add_alive(t->out, &end->containers);
	jsonw_array_end(t->out);
	jsonw_object_end(t->out);
	jsonw_object_end(t->out);
}

int account_trace_event(struct buf *out, const struct account *account)
{
	struct trace t = {.out = out, .zero_ns = first_moment(account)};

	jsonw_object(out, NULL);
	jsonw_str(out, "displayTimeUnit", "ms");
	jsonw_array(out, "traceEvents");
	for (size_t i = 0; i < account->n; i++) {
		t.story = account->stories[i];
		if (t.story->shutdown)
			add_shutdown(&t);
		add_pods(&t);
		add_boot_end(&t);
	}
	jsonw_array_end(out);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}
