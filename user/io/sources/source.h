/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sources of metadata have in common, which query a peer for what others wait for: how
 * they report facts and the ends of look-ups, their own state, and a peer's messages as they come.
 * When to try again after failures is base/retry's, who may be connected to io/files/socket's, and
 * which of their failures are logged, once, app/live/lookup's.
 *
 * The functions of a sink are called from the event loop or from within a call into the source;
 * they may call the source again, but not free it.
 */
#ifndef IO_SOURCES_SOURCE_H
#define IO_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "core/names/credential.h"
#include "core/names/meta.h"
#include "io/loop/loop.h"

struct source_sink {
	void *userdata;
	void (*pod)(void *userdata, const struct meta_pod *pod);
	void (*container)(void *userdata, const struct meta_container *container);
	/* The look-up of key (a container's id, a pod's uid) is over; called after what it found. */
	void (*done)(void *userdata, enum meta_source source, const char *key,
		     enum meta_result result);
	/* A list that was asked for at asked_ns (CLOCK_BOOTTIME) has been reported as a whole, and
	 * what is gone since the last one. May be NULL. */
	void (*listed)(void *userdata, enum meta_source source, uint64_t asked_ns);
};

enum source_status {
	SOURCE_OFF, /* not configured, or nothing there to query */
	SOURCE_STARTING,
	SOURCE_UP,   /* the last question was answered */
	SOURCE_DOWN, /* the last one was not; text says why */
};

struct source_state {
	enum source_status status;
	char where[256]; /* a socket's path, a URL without what is secret in it */
	char text[160];	 /* one line for people: what it speaks (UP), what is wrong (DOWN) */
	/* No address of its host has been known since the start, or no socket was found: it was
	 * never asked. */
	bool addressless;
	uint64_t failures; /* in a row */
	uint64_t waiting;  /* questions that are asked or will be, now */
	uint64_t retry_ns; /* CLOCK_BOOTTIME of the next attempt; 0: none is due */
	uint64_t lookups[META_RESULT_COUNT]; /* since the start, by how they ended */
	struct credential credential; /* that it showed last; of two the one that expires first */
};

/* Where a source reports what it finds, and how its look-ups ended. */
struct source_report {
	struct source_sink sink;
	enum meta_source source;
	uint64_t lookups[META_RESULT_COUNT];
};

/* One is over: counts how, and reports it. */
void source_end_lookup(struct source_report *report, const char *key, enum meta_result result);

/*
 * Messages of gRPC that a peer sends one after another: taken as they come, handed on in slices
 * between other work of the loop. All zeros, but for the first members.
 */
struct source_messages {
	size_t backlog_max; /* bytes that wait to be read */
	size_t message_max;
	uint64_t slice_ns; /* how much of a turn of the loop reading may take */
	/* A message, which is valid during the call. May hold or reset the stream. */
	void (*message)(void *userdata, const void *message, size_t len);
	/* What came is no stream of messages: -EBADMSG, -EMSGSIZE. To be reset. */
	void (*broken)(void *userdata, int error);
	void *userdata;
	bool idle; /* whatever else there is to do comes first */

	struct defer slice;
	struct buf bytes;
	size_t at; /* of bytes: what was read */
	bool held;
};

/* -errno; then it is still to be closed. */
int source_messages_open(struct source_messages *stream, sd_event *event);
void source_messages_close(struct source_messages *stream);
/* As fetch_request.data takes it: -EMSGSIZE, -ENOMEM. */
int source_messages_add(struct source_messages *stream, const void *data, size_t len);
/* Held, no message is handed on. */
void source_messages_hold(struct source_messages *stream, bool hold);
/* Drops what came, and lets it go on: for another answer. */
void source_messages_reset(struct source_messages *stream);

#endif
