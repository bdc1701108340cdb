/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of io/sources/units share: the table of services, the connection, the messages. */
#ifndef IO_SOURCES_UNITS_PRIV_H
#define IO_SOURCES_UNITS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include <systemd/sd-bus.h>

#include "core/names/unit_facts.h"
#include "io/bus/connection.h"
#include "io/sources/units/units.h"

#define UNITS_BUS_NAME	     "org.freedesktop.systemd1"
#define UNITS_OBJECT	     "/org/freedesktop/systemd1"
#define UNITS_UNIT_OBJECTS   UNITS_OBJECT "/unit"
#define UNITS_MANAGER	     UNITS_BUS_NAME ".Manager"
#define UNITS_SERVICE	     UNITS_BUS_NAME ".Service"
#define UNITS_PROPERTIES     "org.freedesktop.DBus.Properties"
#define UNITS_BUS_TIMEOUT_US UINT64_MAX /* deadlines are kept here, in one place */

struct unit;
TAILQ_HEAD(unit_list, unit);

/* What the sink was told of a service last. */
struct unit_told {
	uint32_t known, main_pid, stop_signal;
	uint64_t grace_ns;
};

/* A service that was asked for. */
struct unit {
	TAILQ_ENTRY(unit) link;
	struct unit_list *in; /* NULL: nothing is to be done about it */
	sd_bus_slot *call;    /* while it is asked */
	uint64_t asked_ns;
	uint64_t used;	     /* higher: asked for later */
	unsigned int finds;  /* look-ups that wait for it */
	unsigned int pinned; /* its end is being told: it may not go */
	bool again;	     /* the answer under way may be old */
	bool told;
	struct unit_told last;
	char *object; /* its path on the bus; NULL: not asked since connected */
	char cgroup[];
};

struct podsrc_units {
	sd_event *event;
	sd_event_source *timer; /* the next attempt, or the end of patience */
	struct podsrc_sink sink;
	uint64_t timeout_ns;
	char *address; /* a path; NULL: by the rule */

	struct unit **list; /* sorted by cgroup */
	size_t n, room;
	uint64_t used;
	unsigned int waiting;
	/* Looked up now, to be looked up, to be looked up again when there is nothing else. */
	struct unit_list asked, wanted, stale;
	unsigned int n_asked;
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

/* Who is told what (podsrc_units.c). */

/* Asks about as many services as may be asked about at once. */
void units_pump(struct podsrc_units *u);
/* The answer about a service: what facts say, or result where there are none. */
void units_answer(struct podsrc_units *u, struct unit *unit, enum meta_result result,
		  const struct unitfacts *facts);
/* Nothing is under way any more. */
void units_recall(struct podsrc_units *u);
/* All look-ups that wait have failed. */
void units_fail_all(struct podsrc_units *u);

/* The table (podsrc_units_table.c). */

/* Finds it or makes it. NULL when there is no memory, or everybody is waited for. */
struct unit *units_get(struct podsrc_units *u, const char *cgroup);
/* NULL for none. */
struct unit *units_by_object(const struct podsrc_units *u, const char *object);
/* Moves it to the end of another list, or of none. */
void units_put(struct podsrc_units *u, struct unit *unit, struct unit_list *in);
/* Looks it up again when there is time; what is under way may be old. */
void units_refresh(struct podsrc_units *u, struct unit *unit);
void units_refresh_all(struct podsrc_units *u);
/* Forgets it, unless somebody waits for it. */
void units_forget(struct podsrc_units *u, struct unit *unit);
/* Frees all of them. */
void units_done(struct podsrc_units *u);

/* The connection (podsrc_units_bus.c). */

/* Before anything else. -errno. */
int units_add_timer(struct podsrc_units *u);
/* Tries to connect now. */
void units_connect(struct podsrc_units *u);
/* Closes the connection, if any; no further attempt is made. */
void units_disconnect(struct podsrc_units *u);
/* Gives up the connection, says why, and tries again later. */
void units_drop(struct podsrc_units *u, const char *why);
/* Whether it was lost a moment ago, so that look-ups may wait for the next attempt. */
bool units_is_soon_back(const struct podsrc_units *u);
/* Both together are the state's text. */
void units_set_text(struct podsrc_units *u, const char *prefix, const char *text);
/* Sets the timer for what comes next. */
void units_arm(struct podsrc_units *u);

/* Calls and signals (podsrc_units_calls.c). */

/* The first calls on a connection, and the signals that are listened for. -errno. */
int units_greet(struct podsrc_units *u);
/* Asks about a service; unit->object is set. -errno. */
int units_ask(struct podsrc_units *u, struct unit *unit);

/* Messages (podsrc_units_read.c). */

/* Reads "a{sv}"; strings belong to the message. -EBADMSG, -errno. */
int units_read_facts(sd_bus_message *m, struct unitfacts *ret);

#endif
