/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every source of metadata has in common: how it reports facts, and its own state. The
 * functions are called from the event loop or from within a call into the source; they may call the
 * source again, but not free it.
 */
#ifndef IO_SOURCES_SOURCE_H
#define IO_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/names/credential.h"
#include "core/names/meta.h"

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

#endif
