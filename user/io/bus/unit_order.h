/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which units systemd does not start before the unit of this process is up: asked once, over a
 * connection of its own, and never waited for.
 */
#ifndef IO_BUS_UNIT_ORDER_H
#define IO_BUS_UNIT_ORDER_H

#include <systemd/sd-event.h>

#include "core/boot/proof.h"

#define UNITORDER_LIMIT_NS 5000000000ull

struct unitorder;

/* Once, from the loop. NULL: systemd did not answer, or not about these units; error says why. */
typedef void (*unitorder_fn)(void *userdata, const struct proof_order *order, const char *error);

/*
 * names: NULL-ended, PROOF_UNITS_MAX at most, borrowed. bus_address: as unitjobs_options has it
 * (io/bus/unit_jobs.h). -EINVAL for an invalid address, -ENOENT where there is no systemd,
 * -ENOMEM, -errno; without a callback then.
 */
int unitorder_query(sd_event *event, const char *bus_address, const char *const *names,
		    unitorder_fn fn, void *userdata, struct unitorder **ret);
/* There is no callback any more. */
struct unitorder *unitorder_free(struct unitorder *order);

#endif
