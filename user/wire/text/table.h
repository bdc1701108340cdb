/* SPDX-License-Identifier: Apache-2.0 */
/* The table of stops: a row for a stop, and one for a signal.
 *
 * Whatever a name holds, a row is printable text: names are shown as utf8_add_visible() shows them.
 * In a signal's row the signal is under OUTCOME and its result under CAUSE. */
#ifndef WIRE_TEXT_TABLE_H
#define WIRE_TEXT_TABLE_H

#include <inttypes.h>
#include <stdbool.h>

#include "core/stop/record.h"
#include "wire/text/grid.h"

/* Their rows are the records for which table_has_row() is true: of graced trace, which answers what
 * stops and why, and of graced log, which answers when that was. */
extern const struct grid_table table_trace, table_log;

/* Whether the record has a row: stops, signals and late reaps have, but for those of sandboxes. */
bool table_has_row(const struct record *record);

/* Whether the row is one of those of which is said once, and not in each NOTE that is not of a wide
 * table, that graced was attached after the container's start (GAP_ATTACHED_LATE). */
bool table_is_late(const struct record *record);
#define TABLE_LATE \
	"%" PRIu64 \
	" of the stops are of containers that ran before graced was attached (attached-late)"

/* How an outcome is shown. */
enum grid_style table_outcome_style(enum outcome outcome);

/* For columns: the name of a struct record_pod, or its uid; that of a struct record_container, or
 * the beginning of its id; that of an enum cgpath_runtime, if it is known. */
void table_add_pod(struct grid_cell *cell, const void *value);
void table_add_container(struct grid_cell *cell, const void *value);
/* ... of a struct record_container also a unit as systemctl takes it, or the name of its cgroup. */
void table_add_subject(struct grid_cell *cell, const void *value);
void table_add_runtime(struct grid_cell *cell, const void *value);

/* For a column of namespaces. A pod's is beside its name already, and shown only where the reader
 * chose the columns or what they are sorted by. */
void table_add_namespace(struct grid_cell *cell, const struct record_pod *pod,
			 const struct record_container *container);

#endif
