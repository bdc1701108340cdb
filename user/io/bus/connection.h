/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A D-Bus connection to a socket of this host, made without ever waiting: the socket is connected
 * here, and all else is answered later, in the loop. sd_bus_open_system() and sd_bus_open() are of
 * no use: they connect to any address in the environment, do not look at who listens, and a bus of
 * theirs waits at the loop's end. When and how often to connect again is kept here, too.
 */
#ifndef IO_BUS_CONNECTION_H
#define IO_BUS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"

#define BUSCONN_SYSTEM_BUS "/run/dbus/system_bus_socket"

/* systemd, on its own socket as on a bus. */
#define SYSTEMD_NAME	"org.freedesktop.systemd1"
#define SYSTEMD_OBJECT	"/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER SYSTEMD_NAME ".Manager"
#define BUS_PROPERTIES	"org.freedesktop.DBus.Properties"

/* Bounds of the wait between attempts. */
#define BUSCONN_WAIT_MIN_NS 100000000ull
#define BUSCONN_WAIT_MAX_NS 30000000000ull

#define BUSCONN_TEXT_MAX 160

/* The signal by which sd-bus reports the end of a connection. */
#define BUSCONN_DISCONNECTED                                \
	"type='signal',path='/org/freedesktop/DBus/Local'," \
	"interface='org.freedesktop.DBus.Local',member='Disconnected'"

DEFINE_CLEANUP(sd_bus_message *, sd_bus_message_unref);

/* Times are of CLOCK_BOOTTIME. */
struct busconn {
	sd_event *event;
	sd_event_source *timer; /* busconn_wake() */
	char *address;		/* the socket's path; NULL: not set */
	const char *path;	/* that was tried last; NULL: none was */
	sd_bus *bus;		/* NULL: not connected */
	bool is_bus;		/* a bus's daemon is the peer; false: systemd's own socket */
	bool off;		/* there was no socket */
	bool answered;		/* set by the owner: since it was connected the peer has answered */
	uint64_t began_ns;	/* the last attempt */
	uint64_t failures;	/* in a row, for the next wait; the owner may set it to 0 */
	uint64_t retry_ns;	/* when to try again; 0: nothing is planned */
	/* The last thing that went wrong, "" for nothing yet; ASCII, one line. */
	char text[BUSCONN_TEXT_MAX];
};

struct busconn_method {
	const char *name, *object, *interface, *member;
	const char *args[2]; /* strings; NULL: no more */
};

struct busconn_match {
	const char *rule;
	sd_bus_message_handler_t handler;
	bool bus_only; /* single peers send no such signal */
};

/*
 * "unix:path=/…" or a path. The path in it, which belongs to address; NULL for anything else:
 * escapes, further addresses, further keys, other transports.
 */
const char *busconn_path(const char *address);

/* For a connection of zeros. on_wake is called at the time of busconn_wake(). event is borrowed.
 * -errno; it is still to be closed by busconn_done() then. */
int busconn_init(struct busconn *c, sd_event *event, sd_event_time_handler_t on_wake,
		 void *userdata);
void busconn_done(struct busconn *c);

/* A copy of busconn_path(); NULL: none. -EINVAL, -ENOMEM. */
int busconn_set_address(struct busconn *c, const char *address);

/* Calls on_wake at that time, once; 0: never. */
void busconn_wake(struct busconn *c, uint64_t at_ns);

/*
 * Connects to the socket at path. -ENOENT: there is none; -EPERM when another user than root (or
 * this one) listens there, -ENAMETOOLONG, else -errno: then busconn_lose() is to follow.
 */
int busconn_connect(struct busconn *c, const char *path, bool is_bus, uint64_t now_ns);

/* The same to systemd: at the address, where a socket called "private" is systemd's own and any
 * other a bus; without one at /run/systemd/private for root, where there is one, else by the system
 * bus. */
int busconn_connect_systemd(struct busconn *c, uint64_t now_ns);

/* Closes the connection and plans the next attempt: soon for one that has answered for long. */
void busconn_lose(struct busconn *c, uint64_t now_ns);

/* Plans the next attempt after one more failure. */
void busconn_back_off(struct busconn *c, uint64_t now_ns);

/* Sets the text; the peer may have sent prefix and text, and text may belong to the connection. */
void busconn_set_text(struct busconn *c, const char *prefix, const char *text);

/* Has the signals of the rules handled. -errno. */
int busconn_match(struct busconn *c, const struct busconn_match *matches, size_t n, void *userdata);

/* A call with the method's arguments, which starts no service; the caller unrefs *ret. -errno. */
int busconn_new_call(struct busconn *c, const struct busconn_method *method, sd_bus_message **ret);

/* Whether the message is of that owner of a name; single peers are who they are. */
bool busconn_is_sent_by(const struct busconn *c, sd_bus_message *m, const char *owner);

/* Sends it. sd-bus waits for the answer for ever: owners have deadlines of their own. -errno. */
int busconn_send(struct busconn *c, sd_bus_message *m, sd_bus_slot **ret,
		 sd_bus_message_handler_t handler, void *userdata);

/* Both in one. */
int busconn_call(struct busconn *c, const struct busconn_method *method, sd_bus_slot **ret,
		 sd_bus_message_handler_t handler, void *userdata);

/* A property that is read into a member of an object. */
struct busconn_property {
	const char *name, *type; /* a basic one */
	size_t offset;
	uint32_t bit; /* of what is known then */
};

/* Reads "a{sv}" by the rows, into an object of which nothing counts on failure; strings belong to
 * the message. -EBADMSG, -errno. */
int busconn_read_properties(sd_bus_message *m, const struct busconn_property *rows, size_t n,
			    void *object, uint32_t *ret_known);

#endif
