/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A D-Bus connection to a socket of this host, made without ever waiting: the socket is connected
 * here, and all else is answered later, in the loop.
 */
#ifndef IO_BUS_CONNECTION_H
#define IO_BUS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"

#define BUSCONN_SYSTEM_BUS "/run/dbus/system_bus_socket"

DEFINE_CLEANUP(sd_bus_message *, sd_bus_message_unref);

/*
 * "unix:path=/…" or a path. The path in it, which belongs to address; NULL for anything else:
 * escapes, further addresses, further keys, other transports.
 */
const char *busconn_path(const char *address);

/*
 * Connects to the socket at path; the caller owns *ret. -EPERM when another user than root (or this
 * one) listens there, -ENAMETOOLONG, else -errno.
 */
int busconn_open(const char *path, int *ret);

/*
 * Begins to speak on the socket fd, which is taken over in any case: with a bus's daemon, or with a
 * single peer. -errno. The caller closes *ret with sd_bus_close_unref(): it is set even when this
 * fails, unless it is NULL then.
 */
int busconn_begin(sd_event *event, int fd, bool is_bus, sd_bus **ret);

/* Writes prefix and text as one line of ASCII: whoever listens on a socket may have sent them. */
void busconn_line(char *ret, size_t size, const char *prefix, const char *text);

#endif
