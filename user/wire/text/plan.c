// SPDX-License-Identifier: Apache-2.0
/* A row for each pod with when what happens to it, then the sums and the node's own times. */
#include "wire/text/plan.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/time.h"
#include "wire/text/rows.h"

#define SHORT_UNTIL 1000 /* seconds, which are shown as such and as a range */

static const struct rows_column columns[] = {
	{"POD", 3, true},	{"OWNER", 11, false}, {"UNREADY", 9, false}, {"ASKED", 9, false},
	{"REPLACED", 9, false}, {"GONE", 9, false},   {"STUCK", 43, false},
};

#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

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
	_cleanup_(buf_free) struct buf name = {};
	const struct podobj_pod *pod = p->pod;

	buf_printf(&name, "%s%s%s", pod->namespace_, *pod->namespace_ ? "/" : "", pod->name);
	rows_text(&row, buf_str(&name));
	rows_text(&row, p->dies.maker == NODEFAIL_STATIC ? "static" : pod->owner_kind);
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

	rows_keep_title(&rows, columns, N_COLUMNS);
	for (size_t i = 0; i < n; i++)
		add_pod(&rows, &pods[i]);
	rows_put(out, &rows, columns, N_COLUMNS, false);
	add_sums(out, rules, pods, n);
	return buf_error(out);
}
