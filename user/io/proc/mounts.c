// SPDX-License-Identifier: Apache-2.0
/*
 * The table of mounts, read line by line. Since Linux 5.8 a reader has its place in the table: what
 * is mounted while it reads is in no reading twice, and what stays is in each.
 */
#include "io/proc/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"

/* Reads of one slice; the kernel gives a page or so at a time. */
#define READS_A_SLICE 16
/* A reading is followed by a pause of so many times what it took. */
#define PAUSE_FACTOR  4

struct mounts {
	struct mounts_sink sink;
	int fd;
	/* Never disabled: to add it again would consume a change
	 * (mounts_poll() reports each once, to whichever poll comes first). */
	sd_event_source *changes;
	sd_event_source *slice; /* the next slice, or the end of a pause */
	bool reading;
	bool changed;	   /* since the reading began */
	bool skips;	   /* the rest of a line that is too long */
	uint64_t spent_ns; /* in this reading */
	uint64_t next_ns;  /* when the next one may begin, CLOCK_MONOTONIC */
	size_t have;	   /* bytes of a line that has not ended */
	char text[MOUNTS_LINE_MAX];
};

static void arm(struct mounts *m, uint64_t at_ns)
{
	sd_event_source_set_time(m->slice, at_ns / 1000);
	sd_event_source_set_enabled(m->slice, SD_EVENT_ONESHOT);
}

static void begin(struct mounts *m)
{
	m->changed = false;
	m->skips = false;
	m->have = 0;
	m->spent_ns = 0;
	m->reading = true;
}

static void end(struct mounts *m, int error)
{
	uint64_t pause_ns = PAUSE_FACTOR * m->spent_ns;

	if (pause_ns < MOUNTS_PAUSE_US * 1000ULL)
		pause_ns = MOUNTS_PAUSE_US * 1000ULL;
	m->reading = false;
	m->next_ns = clock_monotonic_ns() + pause_ns;
	if (m->changed || error < 0)
		arm(m, m->next_ns);
	m->sink.done(m->sink.userdata, error);
}

static void pass_lines(struct mounts *m)
{
	char *at = m->text, *stop = m->text + m->have, *newline;

	while ((newline = memchr(at, '\n', (size_t)(stop - at)))) {
		if (!m->skips)
			m->sink.line(m->sink.userdata, at, (size_t)(newline - at));
		m->skips = false;
		at = newline + 1;
	}
	m->have = (size_t)(stop - at);
	memmove(m->text, at, m->have);
	if (m->have < sizeof(m->text))
		return;
	m->skips = true;
	m->have = 0;
}

/* 1: there may be more; 0: that was all; -errno. */
static int read_slice(struct mounts *m)
{
	for (int i = 0; i < READS_A_SLICE; i++) {
		ssize_t n = read(m->fd, m->text + m->have, sizeof(m->text) - m->have);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		m->have += (size_t)n;
		pass_lines(m);
	}
	return 1;
}

static int on_slice(sd_event_source *source, uint64_t usec, void *userdata)
{
	uint64_t began_ns = clock_thread_ns();
	struct mounts *m = userdata;
	int r = 0;

	if (!m->reading) {
		begin(m);
		r = lseek(m->fd, 0, SEEK_SET) < 0 ? -errno : 0;
	}
	if (r == 0)
		r = read_slice(m);
	m->spent_ns += clock_thread_ns() - began_ns;
	if (r > 0)
		arm(m, 0);
	else
		end(m, r);
	return 0;
}

static int on_change(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct mounts *m = userdata;

	m->changed = true;
	if (!m->reading)
		arm(m, m->next_ns);
	return 0;
}

/* As the kubelet sees them: a unit of its own mount namespace has other mounts than the host. */
static int open_table(uint32_t pid)
{
	char path[64];
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mountinfo", pid);

	if (host_in_initial_pidns())
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int mounts_new(sd_event *event, uint32_t pid, const struct mounts_sink *sink, struct mounts **ret)
{
	struct mounts *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->sink = *sink;
	m->fd = open_table(pid);
	r = m->fd < 0 ? m->fd : 0;
	if (r >= 0)
		r = sd_event_add_io(event, &m->changes, m->fd, EPOLLPRI, on_change, m);
	/* Read after that, so that no change is missed. */
	if (r >= 0)
		r = sd_event_add_time(event, &m->slice, CLOCK_MONOTONIC, 0, 1, on_slice, m);
	if (r < 0) {
		mounts_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

struct mounts *mounts_free(struct mounts *m)
{
	if (!m)
		return NULL;
	sd_event_source_disable_unref(m->changes);
	sd_event_source_disable_unref(m->slice);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
	return NULL;
}

/* --- the driver of a volume --------------------------------------------------------------------- */

bool mounts_read_driver(const char *root, const struct kubemount *m,
			char ret[static SHUTDOWN_DRIVER_MAX])
{
	char below[PATH_MAX], path[PATH_MAX];

	for (unsigned int i = 0; i < KUBEMOUNT_FILES && kubemount_file(m, i, below, sizeof(below));
	     i++) {
		_cleanup_(cleanup_free) char *text = NULL;
		ssize_t len;

		if (snprintf(path, sizeof(path), "%s/%s", root, below) >= (int)sizeof(path))
			continue;
		len = fd_read_all(AT_FDCWD, path, KUBEMOUNT_FILE_MAX, &text);
		if (len >= 0 && kubemount_read_driver(text, (size_t)len, ret) == 0)
			return true;
	}
	return false;
}
