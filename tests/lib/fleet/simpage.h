/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon of a simulated node exposes and writes at a time: its history is counted anew
 * for each page, by the daemon's own series and page writer, so that a fleet needs no memory for
 * its nodes. Counters of a page never are below those of an earlier time.
 */
#ifndef TESTS_LIB_FLEET_SIMPAGE_H
#define TESTS_LIB_FLEET_SIMPAGE_H

#include "base/buf.h"
#include "lib/fleet/simnode.h"
#include "wire/prometheus/exposition.h"

#define SIMPAGE_ENDS_MAX 16

/* How containers end, by simnode_ends. */
struct simpage_casts {
	struct arena arena;
	struct cast ends[SIMPAGE_ENDS_MAX];
};

/* Reads the recordings of that directory. 0 or -errno; *ret_name is the recording it is about. */
int simpage_casts_read(const char *directory, struct simpage_casts *ret, const char **ret_name);
void simpage_casts_done(struct simpage_casts *casts);

/* Adds the page of the node at that time, since 1970. 0 or -ENOMEM. */
int simpage_write(const struct simpage_casts *casts, const struct simnode *node, int64_t at_s,
		  enum expo_format format, struct buf *out);

/* What became of the Events of a node, by the daemon's rules, with a server that takes all. */
struct simpage_events {
	uint64_t stops;
	uint64_t created, written; /* POST of an Event, PATCH of its series */
	uint64_t dropped;	   /* beyond the limit of one a second */
};

/* From from_s to until_s. 0 or -ENOMEM. */
int simpage_count_events(const struct simpage_casts *casts, const struct simnode *node,
			 int64_t from_s, int64_t until_s, struct simpage_events *ret);

#endif
