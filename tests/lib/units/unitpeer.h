/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for systemd's manager on a unix socket, in the event loop of the test: it answers for
 * services out of a table, or not at all, or with any bytes, and counts what it was asked.
 */
#ifndef TESTS_LIB_UNITS_UNITPEER_H
#define TESTS_LIB_UNITS_UNITPEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define UNITPEER_VERSION "252 (test)"
#define UNITPEER_OWNER	 ":1.1"

/* What GetAll tells of a service. */
struct unitpeer_service {
	const char *object; /* the last part of its path: "a_2eservice" */
	const char *cgroup;
	uint32_t main_pid;
	int32_t kill_signal;
	uint64_t stop_us;
	/* Instead of all that: appends what it likes to the reply. */
	int (*lie)(sd_bus_message *reply);
	const char *error; /* answers with this error */
};

struct unitpeer {
	struct unitpeer_service *services; /* the test's; ends with object NULL */
	const char *root;		   /* ControlGroup of the manager */
	bool silent;			   /* answers no GetAll until unitpeer_release() */
	bool mute;			   /* answers nothing at all */
	const char *greeting_error;	   /* refuses to tell its version */
	/* Sees each call first; above 0: it has answered that. NULL: none. */
	int (*on_call)(struct unitpeer *peer, sd_bus_message *m);
	/* Bytes for whoever connects, instead of all else; then it closes, or stays silent. */
	const void *bytes;
	size_t n_bytes;
	bool close_after;

	unsigned int connected, asked; /* since the start */
	unsigned int held;	       /* GetAll without an answer */

	struct {
		sd_event *event;
		sd_event_source *listener;
		char path[108];
		sd_bus *bus; /* the one who is connected */
		int raw;
		sd_bus_message *waiting[64];
	} own;
};

/* Listens at dir/name. 0 or -errno. */
int unitpeer_listen(struct unitpeer *peer, sd_event *event, const char *dir, const char *name);
/* No more listening; who is connected stays so. */
void unitpeer_stop(struct unitpeer *peer);
/* Closes the connection. */
void unitpeer_hang_up(struct unitpeer *peer);
/* Answers what it has held back, last first. */
void unitpeer_release(struct unitpeer *peer);
void unitpeer_done(struct unitpeer *peer);

/* Signals, as from `sender` (NULL: as systemd sends them). */
int unitpeer_tell_pid(struct unitpeer *peer, const char *sender, const char *object, uint32_t pid);
int unitpeer_tell_removed(struct unitpeer *peer, const char *sender, const char *object);
int unitpeer_tell_reloading(struct unitpeer *peer, const char *sender, bool begins);
int unitpeer_tell_new_owner(struct unitpeer *peer);

#endif
