/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has systemd stop units, and start again those of them that ran (org.freedesktop.systemd1(5)).
 * Nothing is waited for: a connection is made for each task, and the answers come in the loop.
 */
#ifndef IO_BUS_UNITS_H
#define IO_BUS_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/boot/proof.h"

#define UNITJOBS_MAX	  32  /* units of one list */
#define UNITJOBS_NAME_MAX 256 /* systemd's UNIT_NAME_MAX, with its NUL */
/* Until then systemd has to have stopped all of them. */
#define UNITJOBS_LIMIT_NS 5000000000ull

struct unitjobs_options {
	/* "unix:path=/…" or a path. A socket called "private" is systemd's own, any other a bus.
	 * NULL: /run/systemd/private for root, where there is one, else the system bus. */
	const char *bus_address;
	uint64_t limit_ns; /* 0: UNITJOBS_LIMIT_NS */
};

struct unitjobs_sink {
	void *userdata;
	/* Which units are remembered has changed: before they are stopped, and when systemd starts
	 * one. */
	void (*remembered)(void *userdata);
	/* Once for each unitjobs_stop(): error is NULL when none of the units runs any more; else
	 * what is wrong, a line for people; that a start or another stop came first, too. May be
	 * called from within these functions. */
	void (*stopped)(void *userdata, const char *error);
	/* Some unit was not started again. */
	void (*start_failed)(void *userdata, const char *error);
};

struct unitjobs;

/* sink is copied. -EINVAL for an address that is not one of these, -ENOMEM. */
int unitjobs_new(sd_event *event, const struct unitjobs_options *options,
		 const struct unitjobs_sink *sink, struct unitjobs **ret);
/* There is no callback any more; jobs under way go on. */
struct unitjobs *unitjobs_free(struct unitjobs *jobs);

/*
 * Stops those of the units that run, or are about to, as `systemctl stop` does, and remembers them.
 * NULL-ended, UNITJOBS_MAX at most; more are ignored. Units that are not loaded or do not run are
 * left alone. Those that an earlier stop has ended stay remembered.
 */
void unitjobs_stop(struct unitjobs *jobs, const char *const *names);
/* Starts those that are remembered, each until systemd does so: what failed is tried again by the
 * next start, or the next process. No-op where there are none. */
void unitjobs_start(struct unitjobs *jobs);

/* The remembered units, in the order in which they were stopped: how many. */
size_t unitjobs_remembered(const struct unitjobs *jobs, const char *ret[static UNITJOBS_MAX]);
/* Remembers a unit that an earlier process has stopped. */
void unitjobs_remember(struct unitjobs *jobs, const char *name);

/*
 * Which units systemd does not start before the unit of this process is up: asked once, over a
 * connection of its own, and never waited for.
 */

#define UNITORDER_LIMIT_NS 5000000000ull

struct unitorder;

/* Once, from the loop. NULL: systemd did not answer, or not about these units; error says why. */
typedef void (*unitorder_fn)(void *userdata, const struct proof_order *order, const char *error);

/*
 * names: NULL-ended, PROOF_UNITS_MAX at most, borrowed. bus_address: as unitjobs_options has it
 * (io/bus/units.h). -EINVAL for an invalid address, -ENOENT where there is no systemd,
 * -ENOMEM, -errno; without a callback then.
 */
int unitorder_query(sd_event *event, const char *bus_address, const char *const *names,
		    unitorder_fn fn, void *userdata, struct unitorder **ret);
/* There is no callback any more. */
struct unitorder *unitorder_free(struct unitorder *order);

#endif
