/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the connection see of io/sources/units/units, which alone includes this otherwise. */
#ifndef IO_SOURCES_UNITS_PRIV_H
#define IO_SOURCES_UNITS_PRIV_H

#include <systemd/sd-bus.h>

#include "io/sources/units/table.h"
#include "io/sources/units/units.h"

struct podsrc_units {
	sd_event *event;
	sd_event_source *timer; /* the next attempt, or the end of patience */
	struct podsrc_sink sink;
	uint64_t timeout_ns;
	char *address; /* a path; NULL: by the rule */

	struct unit_table table;
	uint64_t used;
	unsigned int waiting;
	uint64_t lookups[META_RESULT_COUNT];

	sd_bus *bus; /* NULL: not connected */
	sd_bus_slot *greeting[2];
	bool is_bus;  /* not systemd's own socket */
	bool greeted; /* version and root are known */
	bool reloading;
	char *root;	   /* its own cgroup */
	char *owner;	   /* its name on the bus */
	uint64_t began_ns; /* when it connected */
	uint64_t delay_ns, retry_ns;
	uint64_t failures;
	bool off; /* there is no socket */
	char where[256];
	char text[160];
};

/* Gives up the connection, sets the text, and tries again later. */
void units_drop(struct podsrc_units *u, const char *why);

#endif
