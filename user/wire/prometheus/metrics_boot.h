/* SPDX-License-Identifier: Apache-2.0 */
/* How earlier boots ended, on the metrics page. */
#ifndef WIRE_PROMETHEUS_METRICS_BOOT_H
#define WIRE_PROMETHEUS_METRICS_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/boot/log.h"
#include "wire/prometheus/exposition.h"

struct metrics_boot {
	bool on;			/* false: no note is kept, and nothing is written */
	uint64_t unclean;		/* boots */
	const struct bootlog *previous; /* NULL: nothing is known of an earlier boot */
};

void metrics_boot_write(struct expo *expo, const struct metrics_boot *boot);

#endif
