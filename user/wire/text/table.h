/* SPDX-License-Identifier: Apache-2.0 */
/* The table of stops: a row for a stop, and one for a signal.
 *
 * Whatever a name holds, a row is printable text: names are shown as utf8_add_visible() shows them.
 * In a signal's row the signal is under OUTCOME and its result under CAUSE. */
#ifndef WIRE_TEXT_TABLE_H
#define WIRE_TEXT_TABLE_H

#include <stdbool.h>

#include "core/stop/record.h"
#include "wire/text/grid.h"

/* Its rows are the records for which table_has_row() is true. */
extern const struct grid_table table_stops;

/* Whether the record has a row: stops, signals and late reaps have, but for those of sandboxes. */
bool table_has_row(const struct record *record);

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
