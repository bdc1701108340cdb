/* SPDX-License-Identifier: Apache-2.0 */
/* A service's properties in a message. */
#ifndef IO_SOURCES_UNITS_READ_H
#define IO_SOURCES_UNITS_READ_H

#include <systemd/sd-bus.h>

#include "core/names/unit_facts.h"

/* Reads "a{sv}"; strings belong to the message. -EBADMSG, -errno. */
int units_read_facts(sd_bus_message *m, struct unitfacts *ret);

#endif
