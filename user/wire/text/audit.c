// SPDX-License-Identifier: Apache-2.0
/* A row for each container: who, whether it would hear, why, and what to do about it. */
#include "wire/text/audit.h"

#include <string.h>

#include "base/signame.h"
#include "base/utf8.h"
#include "core/stop/advice.h"
#include "wire/text/table.h"

#define RED    "\x1b[31m"
#define YELLOW "\x1b[33m"

#define SHORT_ID 12

static const char *colour_of(const struct audit_record *r)
{
	if (audit_is_deaf(&r->audit))
		return RED;
	return r->audit.verdict == AUDIT_UNKNOWN || r->audit.warnings & ~(1u << AUDIT_GUESSED)
		       ? YELLOW
		       : NULL;
}

static void add_advice(struct grid_cell *cell, const void *row)
{
	advice_add_short(cell->text, row);
}

static void add_pod(struct grid_cell *cell, const void *row)
{
	const struct record_pod *pod = &((const struct audit_record *)row)->pod;

	if (pod->name && pod->namespace_) {
		grid_text(cell, pod->namespace_);
		buf_addc(cell->text, '/');
	}
	grid_text(cell, pod->name ? pod->name : pod->known ? pod->uid : NULL);
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

static void add_id(struct grid_cell *cell, const void *row)
{
	const char *id = ((const struct audit_record *)row)->container.id;

	if (id)
		utf8_add_visible(cell->text, id, strnlen(id, SHORT_ID));
}

static void add_container(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	if (r->container.name)
		grid_text(cell, r->container.name);
	else
		add_id(cell, row);
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

	cell->colour = colour_of(r);
	buf_adds(cell->text, audit_verdict_name(r->audit.verdict));
}

static void add_why(struct grid_cell *cell, const void *row)
{
	buf_adds(cell->text, audit_reason_name(((const struct audit_record *)row)->audit.reason));
}

static void add_pid(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	if (!r->seen)
		return;
	buf_add_u64(cell->text, r->process.pid);
	cell->key = r->process.pid;
}

static void add_comm(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	grid_text(cell, r->seen ? r->process.comm : NULL);
}

static void add_runtime(struct grid_cell *cell, const void *row)
{
	const struct audit_record *r = row;

	if (r->container.runtime != CGPATH_RT_UNKNOWN)
		grid_text(cell, cgpath_runtime_name(r->container.runtime));
}

static void add_image(struct grid_cell *cell, const void *row)
{
	grid_text(cell, ((const struct audit_record *)row)->container.image);
}

static const struct grid_column columns[] = {
	{.name = "namespace",
	 .title = "NAMESPACE",
	 .add = add_namespace,
	 .turn = 1,
	 .optional = true},
	{.name = "pod",
	 .title = "POD",
	 .add = add_pod,
	 .least = 12,
	 .keep_end = true,
	 .optional = true},
	{.name = "container",
	 .title = "CONTAINER",
	 .add = add_container,
	 .least = 12,
	 .keep_end = true},
	{.name = "workload", .title = "WORKLOAD", .add = add_workload, .wide = true},
	{.name = "id", .title = "ID", .add = add_id, .wide = true},
	{.name = "runtime", .title = "RUNTIME", .add = add_runtime, .wide = true},
	{.name = "image", .title = "IMAGE", .add = add_image, .wide = true},
	{.name = "signal", .title = "SIGNAL", .add = add_signal, .turn = 2, .number = true},
	{.name = "verdict", .title = "VERDICT", .add = add_verdict},
	{.name = "why", .title = "WHY", .add = add_why, .turn = 5},
	{.name = "pid", .title = "PID", .add = add_pid, .turn = 4, .number = true},
	{.name = "comm", .title = "COMM", .add = add_comm, .turn = 3},
	{.name = "advice", .title = "WHAT TO DO", .add = add_advice, .least = 20, .continues = true},
};

const struct grid_table audit_table = {columns, sizeof(columns) / sizeof(*columns)};
