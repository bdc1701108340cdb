/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of containers as a table for people. */
#ifndef WIRE_TEXT_AUDIT_H
#define WIRE_TEXT_AUDIT_H

#include "wire/json/audit.h"
#include "wire/text/grid.h"

/* Its rows are struct audit_record. */
extern const struct grid_table audit_table;

#endif
