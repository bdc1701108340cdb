// SPDX-License-Identifier: Apache-2.0
/* A row for each pod with what happens to it and when, then the sums and the node's own times. */
#include "wire/text/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/time.h"
#include "base/utf8.h"
#include "wire/text/rows.h"

#define SHORT_UNTIL 1000 /* seconds, which are shown as such and as a range */

#define N_COLUMNS(columns) (sizeof(columns) / sizeof(*(columns)))

static void add_name(struct rows_row *row, const struct podobj_pod *pod)
{
	_cleanup_(buf_free) struct buf name = {};

	buf_printf(&name, "%s%s%s", pod->namespace_, *pod->namespace_ ? "/" : "", pod->name);
	rows_text(row, buf_str(&name));
}

/* --- a node that dies -------------------------------------------------------------------------- */

static const struct rows_column columns[] = {
	{"POD", 3, true},	{"OWNER", 11, false}, {"UNREADY", 9, false}, {"ASKED", 9, false},
	{"REPLACED", 9, false}, {"GONE", 9, false},   {"STUCK", 43, false},
};

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

static void add_stuck(struct buf *cell, uint32_t stuck)
{
	const char *separator = "";

	if (!stuck)
		buf_addc(cell, '-');
	for (unsigned int i = 0; i < NODEFAIL_STUCK_COUNT; i++) {
		if (!(causes(stuck) >> i & 1))
			continue;
		buf_printf(cell, "%s%s", separator, nodefail_stuck_name(i));
		separator = ",";
	}
}

/* A pod that is being deleted was asked, and may have been replaced, before the node fell silent. */
static void add_since(struct buf *cell, const struct nodeplan_pod *pod, struct nodefail_span span)
{
	if (pod->pod->deleting && !span.never && span.to_s == 0)
		buf_adds(cell, "before");
	else
		add_span(cell, span);
}

static void add_replaced(struct buf *cell, const struct nodeplan_pod *pod)
{
	if (pod->fate == NODEPLAN_OVER || pod->fate == NODEPLAN_UNKNOWN)
		buf_adds(cell, nodeplan_fate_name(pod->fate));
	else
		add_since(cell, pod, pod->dies.replaced);
}

static void add_pod(struct rows *rows, const struct nodeplan_pod *p)
{
	struct rows_row row = {};

	add_name(&row, p->pod);
	rows_text(&row, p->dies.maker == NODEFAIL_STATIC ? "static" : p->pod->owner_kind);
	add_span(rows_cell(&row, NULL), p->dies.unready);
	add_since(rows_cell(&row, NULL), p, p->dies.deleted);
	add_replaced(rows_cell(&row, NULL), p);
	add_span(rows_cell(&row, NULL), p->dies.gone);
	add_stuck(rows_cell(&row, NULL), p->dies.stuck);
	rows_keep(rows, &row);
}

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
	       size_t n)
{
	_cleanup_(rows_free_kept) struct rows rows = {};

	rows_keep_title(&rows, columns, N_COLUMNS(columns));
	for (size_t i = 0; i < n; i++)
		add_pod(&rows, &pods[i]);
	rows_put(out, &rows, columns, N_COLUMNS(columns), false);
	add_sums(out, rules, pods, n);
	return buf_error(out);
}

/* --- a node that shuts down -------------------------------------------------------------------- */

static const struct rows_column view_columns[] = {
	{"GROUP", 11, false},	 {"STARTS", 9, false}, {"DEADLINE", 8, false}, {"POD", 3, true},
	{"PRIORITY", 11, false}, {"GRACE", 7, false},  {"OVERRIDE", 8, false}, {"STOP", 7, false},
	{"DEAF", 6, false},	 {"NOTE", 18, false},
};

static void add_ns(struct buf *out, uint64_t ns)
{
	char text[DURATION_SIZE];

	if (ns % NS_PER_S == 0 && ns / NS_PER_S < SHORT_UNTIL)
		buf_printf(out, "%" PRIu64 "s", ns / NS_PER_S);
	else
		buf_adds(out, duration_format(ns > INT64_MAX ? INT64_MAX : ns, text));
}

static void add_seconds(struct buf *out, bool known, int64_t seconds)
{
	uint64_t ns;

	if (!known)
		buf_addc(out, '-');
	else if (seconds < 0)
		buf_printf(out, "%" PRId64 "s", seconds);
	else
		add_ns(out,
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
static void add_deaf(struct buf *cell, const struct shutview_pod *p)
{
	if (p->over || p->hearing == SHUTVIEW_HEARING_UNKNOWN)
		buf_addc(cell, '-');
	else if (p->hearing == SHUTVIEW_DEAF)
		add_ns(cell, p->wasted_ns);
	else
		buf_adds(cell, "no");
}

static void add_note(struct buf *cell, const struct shutview_pod *p)
{
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
		buf_printf(cell, "%s%s", separator, notes[i].word);
		separator = ",";
	}
	if (!*separator)
		buf_addc(cell, '-');
}

static void add_group(struct rows_row *row, const struct shutview *view,
		      const struct shutview_pod *p)
{
	struct buf *cell;

	if (p->over) {
		for (int i = 0; i < 3; i++)
			rows_text(row, "");
		return;
	}
	buf_printf(rows_cell(row, NULL), "%" PRId32, view->rules->plan.groups[p->group].priority);
	add_start(rows_cell(row, NULL), &view->groups[p->group]);
	cell = rows_cell(row, NULL);
	buf_addc(cell, '+');
	add_ns(cell, view->groups[p->group].deadline_ns);
}

/* Its name, its priority and its grace period. */
static void add_asked(struct rows_row *row, const struct podobj_pod *pod)
{
	add_name(row, pod);
	if (pod->has_priority)
		buf_printf(rows_cell(row, NULL), "%" PRId64, pod->priority);
	else
		rows_text(row, "");
	add_seconds(rows_cell(row, NULL), pod->has_grace, pod->grace_s);
}

static void add_view_pod(struct rows *rows, const struct shutview *view,
			 const struct shutview_pod *p)
{
	struct rows_row row = {};
	const struct podobj_pod *pod = p->pod;

	add_group(&row, view, p);
	add_asked(&row, pod);
	add_seconds(rows_cell(&row, NULL), !p->over, p->override_s);
	add_seconds(rows_cell(&row, NULL), !p->over, p->stop_s);
	add_deaf(rows_cell(&row, NULL), p);
	add_note(rows_cell(&row, NULL), p);
	rows_keep(rows, &row);
}

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

int shutview_table(struct buf *out, const struct shutview *view)
{
	_cleanup_(rows_free_kept) struct rows rows = {};

	rows_keep_title(&rows, view_columns, N_COLUMNS(view_columns));
	for (size_t i = 0; i < view->n; i++)
		add_view_pod(&rows, view, &view->pods[i]);
	rows_put(out, &rows, view_columns, N_COLUMNS(view_columns), false);
	add_view_counts(out, view);
	add_all_deaf(out, view);
	for (size_t i = 0; i < view->n; i++)
		add_early(out, &view->pods[i]);
	add_limit(out, view);
	return buf_error(out);
}

/* --- deletion before a deadline ---------------------------------------------------------------- */

static const struct rows_column drain_columns[] = {
	{"BY", 6, false},    {"POD", 3, true},	 {"PRIORITY", 11, false}, {"GRACE", 7, false},
	{"NEEDS", 7, false}, {"DEAF", 6, false}, {"NOTE", 18, false},
};

static bool is_cut(const struct drain_pod *p, enum shutview_cut cut)
{
	return p->part <= DRAIN_DELETING && p->view.cut == cut;
}

static void add_drain_note(struct buf *cell, const struct drain_pod *p)
{
	const char *separator = "";

	if (is_cut(p, SHUTVIEW_CUT_SHORT) || is_cut(p, SHUTVIEW_CUT_UNKNOWN)) {
		buf_adds(cell, p->view.cut == SHUTVIEW_CUT_SHORT ? "cut-short" : "maybe-cut");
		separator = ",";
	}
	if (p->part != DRAIN_DELETE)
		buf_printf(cell, "%s%s", separator, drain_part_name(p->part));
	else if (!*separator)
		buf_addc(cell, '-');
}

static void add_drain_pod(struct rows *rows, const struct drain *drain, const struct drain_pod *p)
{
	struct rows_row row = {};
	struct buf *cell;

	if (p->part == DRAIN_DELETE) {
		cell = rows_cell(&row, NULL);
		buf_addc(cell, '+');
		add_ns(cell, drain->groups[p->view.group].by_ns);
	} else {
		rows_text(&row, "");
	}
	add_asked(&row, p->view.pod);
	cell = rows_cell(&row, NULL);
	if (p->need_known && p->part <= DRAIN_DELETING)
		add_ns(cell, p->need_ns);
	else
		buf_addc(cell, '-');
	add_deaf(rows_cell(&row, NULL), &p->view);
	add_drain_note(rows_cell(&row, NULL), p);
	rows_keep(rows, &row);
}

int drain_table(struct buf *out, const struct drain *drain)
{
	_cleanup_(rows_free_kept) struct rows rows = {};
	size_t n = drain->parts[DRAIN_DELETE];

	rows_keep_title(&rows, drain_columns, N_COLUMNS(drain_columns));
	for (size_t i = 0; i < drain->n; i++)
		add_drain_pod(&rows, drain, &drain->pods[i]);
	rows_put(out, &rows, drain_columns, N_COLUMNS(drain_columns), false);
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
