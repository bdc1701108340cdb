/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systemd says of its services: main process, stop signal, time to stop (org.freedesktop.
 * systemd1(5)). Asked over D-Bus, one call a look-up, and never waited for. What was found once is
 * followed: the sink is called again when the main process changes (Type=forking and notify name
 * theirs late) and when settings do (daemon-reload), or when systemd was away and is back.
 */
#ifndef IO_SOURCES_UNITS_UNITS_H
#define IO_SOURCES_UNITS_UNITS_H

#include <stdint.h>
#include <systemd/sd-event.h>

#include "io/sources/source.h"

/* Look-ups that wait for an answer; more are shed. */
#define SOURCE_UNITS_WAITING_MAX  1024
/* Services that are followed; beyond that the one longest known is forgotten. */
#define SOURCE_UNITS_FOLLOWED_MAX 4096

struct source_units_options {
	/*
	 * "unix:path=/…" or a path. A socket called "private" is systemd's own, any other a bus.
	 * NULL: /run/systemd/private for root, where there is one, else the system bus.
	 */
	const char *bus_address;
	uint64_t timeout_ns; /* for an answer, then systemd counts as down; 0: 5 s */
};

struct source_units;

/*
 * Begins to connect; a systemd that is not there, dies, or answers nothing is tried again after
 * 100 ms, later after up to 30 s. A socket that another user than root (or this one) listens on is
 * left alone. -EINVAL for an address that is not one of these, -ENAMETOOLONG, -ENOMEM. sink is
 * copied, what it points to is borrowed, like event. options: NULL is all zero.
 */
int source_units_new(sd_event *event, const struct source_units_options *options,
		     const struct source_sink *sink, struct source_units **ret);
/* Look-ups that wait are dropped without a word. */
struct source_units *source_units_free(struct source_units *units);

/*
 * Looks up the service whose cgroup that is ("/system.slice/nginx.service"). The sink receives a
 * container with its unit's name as name, and then, exactly once, that the look-up of that path is
 * over; possibly before this returns. META_ABSENT: it is no service of this systemd. While systemd
 * is down it is META_FAILED at once, and the container is reported when systemd is back; when it
 * was lost a moment ago, the next attempt is waited for.
 */
void source_units_find(struct source_units *units, const char *cgroup);

void source_units_get_state(const struct source_units *units, struct source_state *ret);

#endif
