/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine reports of one container in recordings of tests/replay: each recording is played
 * once, and its records are kept, to be reported again under other names and at other times.
 */
#ifndef TESTS_LIB_FLEET_CAST_H
#define TESTS_LIB_FLEET_CAST_H

#include <stddef.h>

#include "app/live/feed.h"
#include "base/arena.h"
#include "core/stop/record.h"

#define CAST_RECORDS_MAX 16

/* What one recording shows of the container main of default/web-0, and of its pod: records of
 * signals, stops, OOM kills and pods, in their order. */
struct cast {
	struct record records[CAST_RECORDS_MAX];
	size_t n;
};

/* Under other names, which are borrowed. */
struct cast_role {
	const char *namespace_, *workload, *kind, *pod, *uid, *container, *container_id;
	const char *boot; /* the boot's id */
	int64_t wall_ns;  /* when it happens, since 1970 */
	/* Share of the recorded time that a stop takes which no SIGKILL ended, in thousandths. */
	uint32_t pace;
};

typedef void (*cast_fn)(void *userdata, const struct record *record);

/* Plays the recording of that path for the sink. 0 or -errno; -EBADMSG: it cannot be read. */
int cast_feed(const char *path, const struct feed_sink *sink);

/* Plays the recording of that path; strings are copied into the arena. 0 or -errno; -EBADMSG also
 * for a recording that shows nothing of that container. */
int cast_read(struct arena *arena, const char *path, struct cast *ret);

/* Calls fn with each record, as if it had happened to who plays the role. */
void cast_play(const struct cast *cast, const struct cast_role *role, cast_fn fn, void *userdata);

#endif
