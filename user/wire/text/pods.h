/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that the daemon knows as a table for people. */
#ifndef WIRE_TEXT_PODS_H
#define WIRE_TEXT_PODS_H

#include "wire/json/pods.h"
#include "wire/text/grid.h"

/* Its rows are struct podview. */
extern const struct grid_table pods_table;

#endif
