// SPDX-License-Identifier: Apache-2.0
/* A row for each pod, and for each container or service in none: who, its state and since when,
 * what runs, how long it may still take. */
#include "wire/text/pods.h"

#include "base/duration.h"
#include "base/time.h"
#include "wire/text/table.h"

static void add_pod(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;

	if (r->namespace_ && r->name) {
		grid_text(cell, r->namespace_);
		buf_addc(cell->text, '/');
	}
	grid_text(cell, r->name ? r->name : r->uid);
}

static void add_workload(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;

	grid_text(cell, r->container.known ? r->container.workload : r->workload);
}

static void add_state(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;

	grid_text(cell, podview_state(r));
	if (r->gone || r->stage == POD_STAGE_FINISHED)
		cell->style = GRID_DIM;
	else if (r->stage != POD_STAGE_SYNC)
		cell->style = GRID_WARN;
}

static void add_since(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;
	uint64_t since_ns = r->gone ? 0 : r->since_ns, age_ns;
	char text[DURATION_SIZE];

	if (!since_ns)
		return;
	age_ns = r->at_ns > since_ns ? r->at_ns - since_ns : 0;
	buf_adds(cell->text, duration_format(age_ns, text));
	cell->key = (int64_t)(age_ns & INT64_MAX);
}

static void add_running(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;

	if (r->container.known)
		return;
	buf_printf(cell->text, "%u/%u", r->running, r->containers);
	cell->key = r->running;
}

static void add_left(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;
	char text[DURATION_SIZE];
	int64_t left;

	if (r->gone || !podview_left(r, &left))
		return;
	if (left < 0) {
		cell->style = GRID_BAD;
		buf_addc(cell->text, '-');
	}
	buf_adds(cell->text, duration_format(left < 0 ? 0 - (uint64_t)left : (uint64_t)left, text));
	cell->key = left;
}

static void add_ready(struct grid_cell *cell, const void *value)
{
	buf_adds(cell->text, *(const bool *)value ? "yes" : "no");
}

static void add_marks(struct grid_cell *cell, const void *row)
{
	const struct podview *r = row;
	bool orphan = podview_is_orphan(r), differs = r->discrepancies;
	const struct {
		bool has;
		const char *word;
	} marks[] = {
		{differs, "differs"},	  {orphan, "orphan"},	   {r->deleting, "deleting"},
		{r->is_static, "static"}, {r->waiting, "waiting"},
	};
	const char *separator = "";

	cell->style = differs ? GRID_BAD : orphan ? GRID_WARN : GRID_PLAIN;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (!marks[i].has)
			continue;
		buf_printf(cell->text, "%s%s", separator, marks[i].word);
		separator = " ";
	}
}

static const struct grid_column columns[] = {
	{"pod", .add = add_pod, .typical = 32, GRID_NAME, .optional = true},
	{"uid", GRID_TEXT(struct podview, uid), .typical = 36, .wide = true, .optional = true},
	{"namespace", GRID_TEXT(struct podview, container.namespace_), .optional = true},
	{"container", GRID_AT(table_add_subject, struct podview, container), .typical = 16,
	 GRID_NAME, .optional = true},
	{"id", GRID_AT(grid_add_id, struct podview, container.id), .typical = 12, .wide = true,
	 .optional = true},
	{"image", GRID_TEXT(struct podview, container.image), .optional = true},
	{"workload", .add = add_workload, .typical = 16, .wide = true, .optional = true},
	{"qos", GRID_WORD(struct podview, qos, cgpath_qos_name), .typical = 10, .wide = true,
	 .optional = true},
	{"state", .add = add_state, .typical = 11},
	{"since", .add = add_since, .typical = 6, .number = true, .runs = true},
	{"running", .add = add_running, .number = true, .optional = true},
	{"grace", GRID_AT(grid_add_duration, struct podview, grace_ns), .number = true,
	 .optional = true},
	{"left", .add = add_left, .typical = 6, .number = true, .runs = true, .optional = true},
	{"ready", GRID_AT(add_ready, struct podview, ready),
	 GRID_KNOWN(struct podview, ready_known), .optional = true},
	{"marks", .add = add_marks, .least = 8, .continues = true, .optional = true},
};

const struct grid_table pods_table = {
	.columns = columns,
	.n = sizeof(columns) / sizeof(*columns),
	.extras = "left,since,running,ready,grace,namespace,image",
};
