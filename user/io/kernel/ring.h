/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring buffer on the event loop: records in, observations out. The kernel half wakes the reader
 * for what a person waits for and when a quarter of the ring is full; a timer fetches the rest.
 * While wakeups would follow one another closely the reader polls instead: a wakeup costs the
 * process that causes it several microseconds.
 */
#ifndef IO_KERNEL_RING_H
#define IO_KERNEL_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/facts/observation.h"

struct kern;
struct ring;

/* obs is valid during the call. */
typedef void (*ring_obs_fn)(void *userdata, const struct obs *obs);

struct ring_stats {
	uint64_t records;
	uint64_t rejected; /* not of the ABI: counted, dropped */
};

/* kern must outlive it. -errno. */
int ring_new(sd_event *event, struct kern *kern, ring_obs_fn fn, void *userdata, struct ring **ret);
struct ring *ring_free(struct ring *ring);

/*
 * Reads what was begun before this call, and nothing that follows, so that a busy producer cannot
 * keep it from returning. False: one of these records is being written, and it and those behind it
 * were not read. That takes a microsecond, unless the CPU of a virtual machine stands still.
 */
bool ring_drain(struct ring *ring);

/* While paused nothing is read; the kernel half counts what then finds no room. */
int ring_pause(struct ring *ring, bool pause);

void ring_get_stats(const struct ring *ring, struct ring_stats *ret);

#endif
