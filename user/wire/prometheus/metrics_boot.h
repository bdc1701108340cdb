/* SPDX-License-Identifier: Apache-2.0 */
/* How earlier boots ended, on the metrics page. */
#ifndef WIRE_PROMETHEUS_METRICS_BOOT_H
#define WIRE_PROMETHEUS_METRICS_BOOT_H

#include <stdint.h>

#include "core/boot/log.h"
#include "wire/prometheus/exposition.h"

/* previous is NULL while nothing is known of an earlier boot. */
void metrics_boot_write(struct expo *expo, uint64_t unclean_boots, const struct bootlog *previous);

#endif
