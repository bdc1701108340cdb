// SPDX-License-Identifier: Apache-2.0
/* A row for each pod with what happens to it and when, then the sums and the node's own times. */
#include "wire/text/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/time.h"
#include "base/utf8.h"

#define SHORT_UNTIL 1000 /* seconds, which are shown as such and as a range */

#define N_COLUMNS(columns) (sizeof(columns) / sizeof(*(columns)))
/* Sources of columns, in a struct podobj_pod. */
#define UID		   GRID_TEXT(struct podobj_pod, uid), .wide = true
#define PRIORITY                                            \
	GRID_AT(add_priority, struct podobj_pod, priority), \
		GRID_KNOWN(struct podobj_pod, has_priority), .number = true
#define GRACE                                             \
	GRID_AT(add_seconds, struct podobj_pod, grace.s), \
		GRID_KNOWN(struct podobj_pod, grace.set), .number = true

static void add_pod(struct grid_cell *cell, const void *value)
{
	const struct podobj_pod *pod = value;

	grid_text(cell, pod->namespace_);
	if (*pod->namespace_)
		buf_addc(cell->text, '/');
	grid_text(cell, pod->name);
}

static int64_t key_of_seconds(int64_t seconds)
{
	return seconds == GRID_NO_KEY ? seconds - 1 : seconds;
}

static int64_t key_of_ns(uint64_t ns)
{
	return ns < INT64_MAX ? (int64_t)ns : INT64_MAX - 1;
}

/* --- a node that dies -------------------------------------------------------------------------- */

/* "+50s", "+50-55s", "+2h46m". */
static void add_span(struct buf *out, struct nodefail_span span)
{
	uint64_t from_s = (uint64_t)span.from_s;
	char text[DURATION_SIZE];

	if (span.never)
		buf_adds(out, "never");
	else if (span.to_s >= SHORT_UNTIL)
		buf_printf(out, "+%s",
			   duration_format(from_s > INT64_MAX / NS_PER_S ? INT64_MAX
									 : from_s * NS_PER_S,
					   text));
	else if (span.from_s == span.to_s)
		buf_printf(out, "+%" PRId64 "s", span.from_s);
	else
		buf_printf(out, "+%" PRId64 "-%" PRId64 "s", span.from_s, span.to_s);
}

/* Leaves out what follows from another cause: a pod that is never asked to stop stays, and an
 * object that another waits for stays too. */
static uint32_t causes(uint32_t stuck)
{
	if (stuck >> NODEFAIL_STAYS & 1)
		stuck &= ~(1u << NODEFAIL_WAITS);
	if (stuck >> NODEFAIL_WAITS & 1)
		stuck &= ~(1u << NODEFAIL_TERMINATING);
	return stuck;
}

static void add_stuck(struct grid_cell *cell, const void *value)
{
	uint32_t stuck = *(const uint32_t *)value;
	const char *separator = "";

	if (!stuck)
		buf_addc(cell->text, '-');
	for (unsigned int i = 0; i < NODEFAIL_STUCK_COUNT; i++) {
		if (!(causes(stuck) >> i & 1))
			continue;
		buf_printf(cell->text, "%s%s", separator, nodefail_stuck_name(i));
		separator = ",";
	}
}

static const void *pod_of(const void *row)
{
	return ((const struct nodeplan_pod *)row)->pod;
}

static void add_owner(struct grid_cell *cell, const void *row)
{
	const struct nodeplan_pod *p = row;

	grid_text(cell, p->dies.maker == NODEFAIL_STATIC ? "static" : p->pod->owner.kind);
}

static void add_moment(struct grid_cell *cell, const void *value)
{
	const struct nodefail_span *span = value;

	add_span(cell->text, *span);
	cell->key = span->never ? GRID_NO_KEY : key_of_seconds(span->from_s);
}

/* A pod that is being deleted was asked, and may have been replaced, before the node fell silent. */
static void add_since(struct grid_cell *cell, const struct nodeplan_pod *pod,
		      struct nodefail_span span)
{
	if (!pod->pod->deleting || span.never || span.to_s != 0) {
		add_moment(cell, &span);
		return;
	}
	buf_adds(cell->text, "before");
	cell->key = -1;
}

static void add_asked_at(struct grid_cell *cell, const void *row)
{
	const struct nodeplan_pod *p = row;

	add_since(cell, p, p->dies.deleted);
}

static void add_replaced(struct grid_cell *cell, const void *row)
{
	const struct nodeplan_pod *p = row;

	if (p->fate == NODEPLAN_OVER || p->fate == NODEPLAN_UNKNOWN)
		buf_adds(cell->text, nodeplan_fate_name(p->fate));
	else
		add_since(cell, p, p->dies.replaced);
}

static const struct grid_column dies_columns[] = {
	{"pod", .of = pod_of, .add = add_pod, GRID_NAME},
	{"uid", .of = pod_of, UID},
	{"owner", .add = add_owner},
	{"owner-name", .of = pod_of, GRID_TEXT(struct podobj_pod, owner.name), .wide = true},
	{"unready", GRID_AT(add_moment, struct nodeplan_pod, dies.unready), .number = true},
	{"asked", .add = add_asked_at, .number = true},
	{"replaced", .add = add_replaced, .number = true},
	{"gone", GRID_AT(add_moment, struct nodeplan_pod, dies.gone), .number = true},
	{"stuck", GRID_AT(add_stuck, struct nodeplan_pod, dies.stuck), .least = 16,
	 .continues = true},
};

const struct grid_table plan_columns = {
	.columns = dies_columns,
	.n = N_COLUMNS(dies_columns),
	.extras = "gone,asked,unready,owner",
};

/* What of the pods each fate is, in words. */
static void add_counts(struct buf *out, const struct nodeplan_counts *counts, size_t n)
{
	static const char *const words[NODEPLAN_FATE_COUNT] = {
		[NODEPLAN_DOWN] = "stay down",
		[NODEPLAN_UNKNOWN] = "unknown",
		[NODEPLAN_REMAINS] = "replaced but stuck",
		[NODEPLAN_NODE] = "bound to the node",
		[NODEPLAN_REPLACED] = "replaced",
		[NODEPLAN_OVER] = "over",
	};
	const char *separator = ": ";

	buf_printf(out, "\n%zu pod%s", n, n == 1 ? "" : "s");
	for (unsigned int i = 0; i < NODEPLAN_FATE_COUNT; i++) {
		if (!counts->fates[i])
			continue;
		buf_printf(out, "%s%zu %s", separator, counts->fates[i], words[i]);
		separator = ", ";
	}
	buf_addc(out, '\n');
}

static void add_taint(struct buf *out, const struct nodeplan_rules *rules,
		      const struct nodeplan_counts *counts)
{
	struct nodefail_span at = {.from_s = rules->taint_s, .to_s = rules->taint_s};

	buf_printf(out, "out-of-service%s set at ",
		   rules->taint == NODEFAIL_TAINT_NO_EXECUTE ? ":NoExecute" : "");
	add_span(out, at);
	if (rules->nodefail.out_of_service)
		buf_printf(out,
			   " lets %zu go that would stay, and brings back %zu that would not\n",
			   counts->freed, counts->revived);
	else
		buf_printf(out, " means nothing to Kubernetes 1.%u\n", rules->minor);
}

static void add_sums(struct buf *out, const struct nodeplan_rules *rules,
		     const struct nodeplan_pod *pods, size_t n)
{
	struct nodeplan_counts counts = nodeplan_count(pods, n);

	add_counts(out, &counts, n);
	if (n > 0) {
		buf_adds(out, "node not ready at ");
		add_span(out, pods->dies.unready);
		buf_adds(out, " after its last heartbeat, tainted unreachable:NoExecute at ");
		add_span(out, pods->dies.tainted);
		buf_printf(out, " (Kubernetes 1.%u)\n", rules->minor);
	}
	if (rules->taint != NODEFAIL_NO_TAINT)
		add_taint(out, rules, &counts);
}

int plan_table(struct buf *out, const struct nodeplan_rules *rules, const struct nodeplan_pod *pods,
	       size_t n, const struct grid_view *view)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &plan_columns, view);
	grid_add_titles(&grid);
	for (size_t i = 0; i < n; i++)
		grid_add(&grid, &pods[i]);
	grid_flush(&grid, out);
	if (!view->no_titles)
		add_sums(out, rules, pods, n);
	return buf_error(out);
}

/* --- a node that shuts down -------------------------------------------------------------------- */

/* A row: a pod in the plan that it is of. */
struct view_row {
	const struct shutview *view;
	const struct shutview_pod *pod;
};

static void add_ns(struct buf *out, uint64_t ns)
{
	char text[DURATION_SIZE];

	if (ns % NS_PER_S == 0 && ns / NS_PER_S < SHORT_UNTIL)
		buf_printf(out, "%" PRIu64 "s", ns / NS_PER_S);
	else
		buf_adds(out, duration_format(ns > INT64_MAX ? INT64_MAX : ns, text));
}

static void add_seconds(struct grid_cell *cell, const void *value)
{
	int64_t seconds = *(const int64_t *)value;
	uint64_t ns;

	cell->key = key_of_seconds(seconds);
	if (seconds < 0)
		buf_printf(cell->text, "%" PRId64 "s", seconds);
	else
		add_ns(cell->text,
		       __builtin_mul_overflow((uint64_t)seconds, NS_PER_S, &ns) ? INT64_MAX : ns);
}

/* "+20s", "+0-20s", "<+2h46m". */
static void add_start(struct buf *out, const struct shutview_group *group)
{
	bool range = group->earliest_ns != group->latest_ns;

	if (range && group->latest_ns / NS_PER_S < SHORT_UNTIL)
		buf_printf(out, "+%" PRIu64 "-", group->earliest_ns / NS_PER_S);
	else
		buf_adds(out, range ? "<+" : "+");
	add_ns(out, group->latest_ns);
}

/* How long it is waited for in vain. */
static void add_wasted(struct grid_cell *cell, const void *value)
{
	const struct shutview_pod *p = value;

	if (p->over || p->hearing == SHUTVIEW_HEARING_UNKNOWN)
		return;
	if (p->hearing == SHUTVIEW_DEAF)
		add_ns(cell->text, p->wasted_ns);
	else
		buf_adds(cell->text, "no");
	cell->key = p->hearing == SHUTVIEW_DEAF ? key_of_ns(p->wasted_ns) : -1;
}

static void add_notes(struct grid_cell *cell, const void *value)
{
	const struct shutview_pod *p = value;
	const struct {
		bool is;
		const char *word;
	} notes[] = {
		{p->over, "over"},
		{!p->over && p->cut == SHUTVIEW_CUT_SHORT, "cut-short"},
		{!p->over && p->cut == SHUTVIEW_CUT_UNKNOWN, "maybe-cut"},
		{p->pod->deleting, "deleting"},
		{p->pod->is_static, "static"},
	};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		if (!notes[i].is)
			continue;
		buf_printf(cell->text, "%s%s", separator, notes[i].word);
		separator = ",";
	}
	if (!*separator)
		buf_addc(cell->text, '-');
}

static const void *planned_of(const void *row)
{
	return ((const struct view_row *)row)->pod;
}

static const void *planned_pod_of(const void *row)
{
	return ((const struct view_row *)row)->pod->pod;
}

/* NULL: nothing is planned for it. */
static const void *living_of(const void *row)
{
	const struct view_row *r = row;

	return r->pod->over ? NULL : r->pod;
}

static const void *group_of(const void *row)
{
	const struct view_row *r = row;

	return r->pod->over ? NULL : &r->view->groups[r->pod->group];
}

static void add_group(struct grid_cell *cell, const void *row)
{
	const struct view_row *r = row;

	if (r->pod->over)
		return;
	cell->key = r->view->rules->plan.groups[r->pod->group].priority;
	buf_printf(cell->text, "%" PRId64, cell->key);
}

static void add_starts(struct grid_cell *cell, const void *value)
{
	const struct shutview_group *group = value;

	add_start(cell->text, group);
	cell->key = key_of_ns(group->latest_ns);
}

static void add_deadline(struct grid_cell *cell, const void *value)
{
	uint64_t ns = *(const uint64_t *)value;

	buf_addc(cell->text, '+');
	add_ns(cell->text, ns);
	cell->key = key_of_ns(ns);
}

static void add_priority(struct grid_cell *cell, const void *value)
{
	cell->key = *(const int64_t *)value;
	buf_printf(cell->text, "%" PRId64, cell->key);
}

static const struct grid_column view_columns[] = {
	{"group", .add = add_group, .number = true},
	{"starts", .of = group_of, .add = add_starts, .number = true},
	{"deadline", .of = group_of, GRID_AT(add_deadline, struct shutview_group, deadline_ns),
	 .number = true},
	{"pod", .of = planned_pod_of, .add = add_pod, GRID_NAME},
	{"uid", .of = planned_pod_of, UID},
	{"priority", .of = planned_pod_of, PRIORITY},
	{"grace", .of = planned_pod_of, GRACE},
	{"override", .of = living_of, GRID_AT(add_seconds, struct shutview_pod, override_s),
	 .number = true},
	{"stop", .of = living_of, GRID_AT(add_seconds, struct shutview_pod, stop_s),
	 .number = true},
	{"deaf", .of = planned_of, .add = add_wasted, .number = true},
	{"note", .of = planned_of, .add = add_notes, .least = 10, .continues = true},
};

const struct grid_table shutview_columns = {
	.columns = view_columns,
	.n = N_COLUMNS(view_columns),
	.extras = "deadline,grace,group,starts,override,priority",
};

static void add_count(struct buf *out, size_t n, const char *what)
{
	if (n > 0)
		buf_printf(out, ", %zu %s", n, what);
}

static void add_view_counts(struct buf *out, const struct shutview *view)
{
	buf_printf(out, "\n%zu pod%s in %zu group%s", view->n - view->over,
		   view->n - view->over == 1 ? "" : "s", view->n_groups,
		   view->n_groups == 1 ? "" : "s");
	add_count(out, view->cut_short, "cut short");
	add_count(out, view->unknown, "maybe cut short");
	add_count(out, view->over, "over already");
	buf_printf(out, "\n%s at +",
		   view->rules->managed ? "graced's last group is over"
					: "the kubelet releases its lock");
	add_ns(out, view->end_ns);
	buf_adds(out, " at the latest");
	if (view->rules->managed)
		buf_adds(out, ", from when the units of shutdown.stopUnits are stopped\n");
	else
		buf_printf(out, " (Kubernetes 1.%u)\n", view->rules->minor);
}

static void add_all_deaf(struct buf *out, const struct shutview *view)
{
	size_t n = view->n - view->over;

	if (n == 0)
		return;
	if (view->unheard == n) {
		buf_adds(out, "which pods are deaf is not known on this host\n");
		return;
	}
	if (view->deaf == 0) {
		buf_printf(out, "no pod is %sdeaf", view->unheard > 0 ? "known to be " : "");
	} else {
		buf_printf(out, "%zu %s deaf and will waste ", view->deaf,
			   view->deaf == 1 ? "is" : "are");
		add_ns(out, view->wasted_ns);
		buf_adds(out, " at the most");
	}
	add_count(out, view->unheard, "not known");
	buf_addc(out, '\n');
}

static void add_limit(struct buf *out, const struct shutview *view)
{
	buf_adds(out, "logind has to allow ");
	add_ns(out, view->requested_ns);
	if (view->rules->has_limit) {
		buf_adds(out, "; by the files of this host it allows ");
		if (view->rules->limit_ns == UINT64_MAX)
			buf_adds(out, "any time");
		else
			add_ns(out, view->rules->limit_ns);
		if (!shutview_suffices(view))
			buf_printf(out, ", too little unless %s raises it",
				   view->rules->managed ? "graced" : "the kubelet");
	}
	buf_addc(out, '\n');
}

static void add_early(struct buf *out, const struct shutview_pod *p)
{
	for (size_t i = 0; i < p->n_early; i++) {
		const struct podobj_pod *driver = p->early[i].pod;

		buf_adds(out, "warning: ");
		utf8_add_visible(out, p->pod->namespace_, strlen(p->pod->namespace_));
		buf_addc(out, '/');
		utf8_add_visible(out, p->pod->name, strlen(p->pod->name));
		buf_adds(out, " has volumes of the CSI driver ");
		utf8_add_visible(out, p->early[i].driver, strlen(p->early[i].driver));
		buf_adds(out, ", whose pod ");
		utf8_add_visible(out, driver->namespace_, strlen(driver->namespace_));
		buf_addc(out, '/');
		utf8_add_visible(out, driver->name, strlen(driver->name));
		buf_adds(out,
			 " is stopped in an earlier group: nothing unmounts them then; give it a "
			 "higher priority\n");
	}
}

static void add_view_rows(struct buf *out, const struct shutview *view, const struct grid_view *how)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &shutview_columns, how);
	grid_add_titles(&grid);
	for (size_t i = 0; i < view->n; i++)
		grid_add(&grid, &(struct view_row){view, &view->pods[i]});
	grid_flush(&grid, out);
}

int shutview_table(struct buf *out, const struct shutview *view, const struct grid_view *how)
{
	add_view_rows(out, view, how);
	if (how->no_titles)
		return buf_error(out);
	add_view_counts(out, view);
	add_all_deaf(out, view);
	for (size_t i = 0; i < view->n; i++)
		add_early(out, &view->pods[i]);
	add_limit(out, view);
	return buf_error(out);
}

/* --- deletion before a deadline ---------------------------------------------------------------- */

/* A row: a pod in the plan that it is of. */
struct drain_row {
	const struct drain *drain;
	const struct shutview_pod *pod;
};

static bool is_cut(const struct shutview_pod *p, enum shutview_cut cut)
{
	return p->part <= DRAIN_DELETING && p->cut == cut;
}

static void add_drain_notes(struct grid_cell *cell, const void *value)
{
	const struct shutview_pod *p = value;
	const char *separator = "";

	if (is_cut(p, SHUTVIEW_CUT_SHORT) || is_cut(p, SHUTVIEW_CUT_UNKNOWN)) {
		buf_adds(cell->text, p->cut == SHUTVIEW_CUT_SHORT ? "cut-short" : "maybe-cut");
		separator = ",";
	}
	if (p->part != DRAIN_DELETE)
		buf_printf(cell->text, "%s%s", separator, drain_part_name(p->part));
	else if (!*separator)
		buf_addc(cell->text, '-');
}

static const void *drained_of(const void *row)
{
	return ((const struct drain_row *)row)->pod;
}

static const void *drained_pod_of(const void *row)
{
	return ((const struct drain_row *)row)->pod->pod;
}

/* NULL: it is not deleted with a group. */
static const void *drain_group_of(const void *row)
{
	const struct drain_row *r = row;

	return r->pod->part == DRAIN_DELETE ? &r->drain->groups[r->pod->group] : NULL;
}

static void add_needs(struct grid_cell *cell, const void *value)
{
	const struct shutview_pod *p = value;

	if (!p->need_known || p->part > DRAIN_DELETING)
		return;
	add_ns(cell->text, p->need_ns);
	cell->key = key_of_ns(p->need_ns);
}

static const struct grid_column drain_list[] = {
	{"by", .of = drain_group_of, GRID_AT(add_deadline, struct drain_group, by_ns),
	 .number = true},
	{"pod", .of = drained_pod_of, .add = add_pod, GRID_NAME},
	{"uid", .of = drained_pod_of, UID},
	{"priority", .of = drained_pod_of, PRIORITY},
	{"grace", .of = drained_pod_of, GRACE},
	{"needs", .of = drained_of, .add = add_needs, .number = true},
	{"deaf", .of = drained_of, .add = add_wasted, .number = true},
	{"note", .of = drained_of, .add = add_drain_notes, .least = 10, .continues = true},
};

const struct grid_table drain_columns = {
	.columns = drain_list,
	.n = N_COLUMNS(drain_list),
	.extras = "needs,grace,priority",
};

static void add_drain_rows(struct buf *out, const struct drain *drain, const struct grid_view *view)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &drain_columns, view);
	grid_add_titles(&grid);
	for (size_t i = 0; i < drain->n; i++)
		grid_add(&grid, &(struct drain_row){drain, &drain->pods[i]});
	grid_flush(&grid, out);
}

int drain_table(struct buf *out, const struct drain *drain, const struct grid_view *view)
{
	size_t n = drain->parts[DRAIN_DELETE];

	add_drain_rows(out, drain, view);
	if (view->no_titles)
		return buf_error(out);
	buf_printf(out, "\n%zu pod%s to delete in %zu group%s, in this order", n, n == 1 ? "" : "s",
		   drain->n_groups, drain->n_groups == 1 ? "" : "s");
	add_count(out, drain->parts[DRAIN_DELETING], "being deleted");
	add_count(out, drain->parts[DRAIN_STAYS], "not deleted (of DaemonSets or static)");
	add_count(out, drain->parts[DRAIN_OVER], "over already");
	buf_adds(out, "\nwithin ");
	add_ns(out, drain->deadline_ns);
	buf_printf(out, ": %zu cut short", drain->cut_short);
	add_count(out, drain->unknown, "maybe cut short");
	add_count(out, drain->deaf, "deaf");
	add_count(out, drain->unheard, "may be deaf");
	buf_printf(out, " (Kubernetes 1.%u)\n", drain->minor);
	return buf_error(out);
}
