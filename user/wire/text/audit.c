// SPDX-License-Identifier: Apache-2.0
/* A row for each container: who, whether it would hear, why, and what to do about it. */
#include "wire/text/audit.h"

#include <string.h>

#include "base/signame.h"
#include "base/utf8.h"
#include "core/stop/advice.h"
#include "wire/text/table.h"

static enum grid_style style_of(const struct audit_record *r)
{
	if (audit_is_deaf(&r->audit))
		return GRID_BAD;
	return r->audit.verdict == AUDIT_UNKNOWN || r->audit.warnings & ~(1u << AUDIT_GUESSED)
		       ? GRID_WARN
		       : GRID_PLAIN;
}

static void add_advice(struct grid_cell *cell, const void *row)
{
	advice_add_short(cell->text, row);
}

static void add_namespace(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	table_add_namespace(cell, &r->pod, &r->container);
}

static void add_workload(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	grid_text(cell, record_workload(&r->pod, &r->container));
}

static void add_signal(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;
	char name[SIGNAME_SIZE];

	buf_adds(cell->text, signame_format(r->facts.signal, name));
	cell->key = r->facts.signal;
}

static void add_verdict(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	cell->style = style_of(r);
	buf_adds(cell->text, audit_verdict_name(r->audit.verdict));
}

static const struct grid_column columns[] = {
	{"namespace", .add = add_namespace, .optional = true},
	{"pod", GRID_AT(table_add_pod, struct audit_record, pod), GRID_NAME, .optional = true},
	{"container", GRID_AT(table_add_container, struct audit_record, container), GRID_NAME},
	{"workload", .add = add_workload, .wide = true},
	{"id", GRID_AT(grid_add_id, struct audit_record, container.id), .wide = true},
	{"runtime", GRID_AT(table_add_runtime, struct audit_record, container.runtime),
	 .wide = true},
	{"image", GRID_TEXT(struct audit_record, container.image), .wide = true},
	{"signal", .add = add_signal, .number = true},
	{"verdict", .add = add_verdict},
	{"why", GRID_WORD(struct audit_record, audit.reason, audit_reason_name)},
	{"pid", GRID_AT(grid_add_number, struct audit_record, process.pid),
	 GRID_KNOWN(struct audit_record, seen), .number = true},
	{"comm", GRID_TEXT(struct audit_record, process.comm),
	 GRID_KNOWN(struct audit_record, seen)},
	{"advice", .title = "WHAT TO DO", .add = add_advice, .typical = 42, .least = 20,
	 .continues = true},
};

const struct grid_table audit_table = {
	.columns = columns,
	.n = sizeof(columns) / sizeof(*columns),
	.extras = "why,pid,comm,signal,namespace",
};
