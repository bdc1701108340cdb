// SPDX-License-Identifier: Apache-2.0
/* Reads the ring buffer in bounded batches, woken by the kernel half or by a timer. */
#include "io/kernel/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/kernel/kernel.h"
#include "io/kernel/ring_buffer.h"
#include "io/loop/loop.h"
#include "wire/kernel/event.h"

/* Records of one turn of the loop: below a millisecond of work. */
#define BATCH 512

/*
 * How the ring is read. Polling, and woken for nothing: begun by a second wakeup within one look,
 * or by a full batch. Looking now and then, and woken for what is urgent. Resting, and woken also
 * for what is wanted soon: no look finds any of that, and only what can wait is there.
 */
enum pace { POLLS, LOOKS, RESTS };

static const struct {
	uint64_t look_us;
	enum graced_urgency wakes_from;
	unsigned int empty_looks; /* in a row, before the next pace */
} paces[] = {
	[POLLS] = {5000, GRACED_URGENCY_COUNT, 2},
	[LOOKS] = {100000, GRACED_URGENT, 3},
	[RESTS] = {1000000, GRACED_SOON, UINT_MAX},
};

struct ring {
	struct ringbuf *buffer;
	struct evdec *decoder;
	struct kern *kern;
	sd_event_source *io, *timer;
	ring_obs_fn fn;
	void *userdata;
	struct ring_stats stats;
	struct obs obs;	   /* too large for the stack of a callback */
	unsigned int left; /* of the batch; 0: all are wanted */
	enum pace pace;
	unsigned int empty_looks; /* in a row, at this pace */
	uint64_t wanted;	  /* records that could not wait */
	uint64_t woken_us;	  /* CLOCK_MONOTONIC, the last time */
};

static bool can_wait(const struct obs *obs)
{
	if (obs->type == OBS_CGROUP_NEW)
		return obs->cgroup.kind == GRACED_WATCH_BRANCH;
	return obs->type == OBS_CGROUP_GONE && obs->empty.kind == GRACED_WATCH_BRANCH;
}

/* A negative result ends the batch; the record itself has been taken by then. */
static int on_record(void *userdata, void *data, size_t size)
{
	struct ring *ring = userdata;

	ring->stats.records++;
	if (evdec_decode(ring->decoder, data, size, &ring->obs) < 0) {
		ring->stats.rejected++;
	} else {
		ring->wanted += !can_wait(&ring->obs);
		ring->fn(ring->userdata, &ring->obs);
	}
	if (ring->left && --ring->left == 0)
		return -EAGAIN;
	return 0;
}

static uint64_t read_batch(struct ring *ring)
{
	uint64_t before = ring->stats.records;

	ring->left = BATCH;
	ringbuf_read(ring->buffer, on_record, ring);
	return ring->stats.records - before;
}

bool ring_drain(struct ring *ring)
{
	ring->left = 0;
	return ringbuf_drain(ring->buffer, on_record, ring);
}

/* About then: together with what else is due. */
static int arm(struct ring *ring, uint64_t us)
{
	int r = sd_event_source_set_time_accuracy(ring->timer, us / 10);

	return r < 0 ? r : timer_after(ring->timer, us);
}

static int set_pace(struct ring *ring, enum pace pace)
{
	uint64_t look_us = paces[pace].look_us;

	/* Nothing is woken for a record that was begun before the kernel half saw the change: one
	 * more look finds it. */
	if (pace > ring->pace)
		look_us = paces[POLLS].look_us;
	ring->pace = pace;
	ring->empty_looks = 0;
	kern_wake_from(ring->kern, paces[pace].wakes_from);
	return arm(ring, look_us);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct ring *ring = userdata;
	uint64_t wanted = ring->wanted;

	if (read_batch(ring) == BATCH)
		return set_pace(ring, POLLS);
	ring->empty_looks = ring->wanted > wanted ? 0 : ring->empty_looks + 1;
	if (!ring->empty_looks && ring->pace == RESTS)
		return set_pace(ring, LOOKS);
	if (ring->empty_looks >= paces[ring->pace].empty_looks)
		return set_pace(ring, ring->pace + 1);
	return arm(ring, paces[ring->pace].look_us);
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct ring *ring = userdata;
	uint64_t before_us = ring->woken_us, wanted = ring->wanted;

	if (!read_batch(ring))
		return 0;
	sd_event_now(sd_event_source_get_event(source), CLOCK_MONOTONIC, &ring->woken_us);
	if (ring->pace != POLLS && ring->woken_us - before_us <= paces[POLLS].look_us)
		return set_pace(ring, POLLS);
	return ring->pace == RESTS && ring->wanted > wanted ? set_pace(ring, LOOKS) : 0;
}

static int add_sources(struct ring *ring, sd_event *event)
{
	int r;

	r = sd_event_add_io(event, &ring->io, kern_ring_fd(ring->kern), EPOLLIN, on_readable, ring);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(event, &ring->timer, CLOCK_MONOTONIC, 0, 1000, on_tick,
				       ring);
	return r < 0 ? r : set_pace(ring, LOOKS);
}

/* One more than the highest number that a CPU may have; there may be fewer CPUs. The list is like
 * "0-3,8-11" (drivers/base/cpu.c, print_cpus_possible()). */
static int cpu_numbers(void)
{
	char list[4096];
	ssize_t n = fd_read_into(AT_FDCWD, "/sys/devices/system/cpu/possible", list, sizeof(list));
	int last = 0;

	if (n < 0)
		return (int)n;
	for (const char *at = list; *at; at += strspn(at, "-,\n")) {
		size_t digits = strspn(at, "0123456789");

		if (!digits)
			return -EBADMSG;
		last = atoi(at);
		at += digits;
	}
	return last + 1;
}

static int open_decoder(struct evdec **ret)
{
	int cpus = cpu_numbers();

	return cpus < 0 ? cpus : evdec_new((size_t)cpus, ret);
}

static int open_buffer(int map_fd, struct ringbuf **ret)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(map_fd, &info, &len) < 0)
		return -errno;
	return ringbuf_open(map_fd, info.max_entries, ret);
}

DEFINE_CLEANUP(struct ring *, ring_free);

int ring_new(sd_event *event, struct kern *kern, ring_obs_fn fn, void *userdata, struct ring **ret)
{
	_cleanup_(cleanup_ring_free) struct ring *ring = calloc(1, sizeof(*ring));
	int r;

	if (!ring)
		return -ENOMEM;
	ring->kern = kern;
	ring->fn = fn;
	ring->userdata = userdata;
	r = open_buffer(kern_ring_fd(kern), &ring->buffer);
	if (r >= 0)
		r = open_decoder(&ring->decoder);
	if (r >= 0)
		r = add_sources(ring, event);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(ring);
	return 0;
}

struct ring *ring_free(struct ring *ring)
{
	if (!ring)
		return NULL;
	sd_event_source_disable_unref(ring->io);
	sd_event_source_disable_unref(ring->timer);
	ringbuf_close(ring->buffer);
	evdec_free(ring->decoder);
	free(ring);
	return NULL;
}

int ring_pause(struct ring *ring, bool pause)
{
	int r;

	r = sd_event_source_set_enabled(ring->io, pause ? SD_EVENT_OFF : SD_EVENT_ON);
	if (r < 0)
		return r;
	r = set_pace(ring, LOOKS);
	return r < 0 || !pause ? r : sd_event_source_set_enabled(ring->timer, SD_EVENT_OFF);
}

void ring_get_stats(const struct ring *ring, struct ring_stats *ret)
{
	*ret = ring->stats;
}
