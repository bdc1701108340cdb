// SPDX-License-Identifier: Apache-2.0
#include "io/control/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/line_queue.h"

struct stream {
	struct streams *streams;
	int fd; /* -1: this place is free */
	bool signals;
	sd_event_source *io;
	struct line_queue queue;
};

struct streams {
	sd_event *event;
	struct streams_config config;
	struct stream list[STREAMS_MAX];
};

static void stream_close(struct stream *s)
{
	s->io = sd_event_source_disable_unref(s->io);
	line_queue_free(&s->queue);
	close(s->fd);
	s->fd = -1;
}

/* 0: all that waited is out; 1: the peer has to read first; -errno: it is gone. */
static int stream_send(struct stream *s)
{
	size_t size;

	for (;;) {
		const char *at = line_queue_at(&s->queue, &size);
		ssize_t n = size ? send(s->fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

		if (!size)
			return 0;
		if (n >= 0)
			line_queue_take(&s->queue, (size_t)n);
		else if (errno == EAGAIN)
			return 1;
		else if (errno != EINTR)
			return -errno;
	}
}

/* After a gap: how large it was. */
static bool stream_end_gap(struct stream *s)
{
	_cleanup_(buf_free) struct buf line = {};
	uint64_t dropped = line_queue_end_gap(&s->queue);

	if (!dropped)
		return false;
	s->streams->config.add_dropped(s->streams->config.userdata, &line, dropped);
	if (buf_error(&line) < 0) {
		s->queue.dropped = dropped;
		return false;
	}
	line_queue_add(&s->queue, buf_str(&line), line.len);
	return true;
}

static void stream_flush(struct stream *s)
{
	int r = stream_send(s);

	if (r == 0 && stream_end_gap(s))
		r = stream_send(s);
	if (r >= 0)
		r = sd_event_source_set_io_events(s->io, r ? EPOLLIN | EPOLLOUT : EPOLLIN);
	if (r < 0)
		stream_close(s);
}

/* A client that follows has nothing more to say: what comes is dropped. */
static int on_stream(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct stream *s = userdata;
	char bytes[256];
	ssize_t n = 1;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		stream_flush(s);
	else
		stream_close(s);
	return 0;
}

int streams_new(sd_event *event, const struct streams_config *config, struct streams **ret)
{
	struct streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return -ENOMEM;
	streams->event = event;
	streams->config = *config;
	for (size_t i = 0; i < STREAMS_MAX; i++)
		streams->list[i] = (struct stream){.streams = streams, .fd = -1};
	*ret = streams;
	return 0;
}

struct streams *streams_free(struct streams *streams)
{
	if (!streams)
		return NULL;
	streams_flush(streams);
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (streams->list[i].fd >= 0)
			stream_close(&streams->list[i]);
	free(streams);
	return NULL;
}

int streams_add(struct streams *streams, int fd, bool signals, const struct buf *first)
{
	struct stream *s = streams->list;
	int r;

	while (s < streams->list + STREAMS_MAX && s->fd >= 0)
		s++;
	if (s == streams->list + STREAMS_MAX)
		return -EUSERS;
	r = sd_event_add_io(streams->event, &s->io, fd, EPOLLIN, on_stream, s);
	if (r < 0)
		return r;
	s->fd = fd;
	s->signals = signals;
	s->queue = (struct line_queue){.max = first->len};
	line_queue_add(&s->queue, buf_str(first), first->len);
	s->queue.max = STREAMS_QUEUE_MAX;
	stream_flush(s);
	return 0;
}

static bool stream_wants(const struct stream *s, bool signal)
{
	return s->fd >= 0 && (!signal || s->signals);
}

bool streams_want(const struct streams *streams, bool signal)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (stream_wants(&streams->list[i], signal))
			return true;
	return false;
}

void streams_put(struct streams *streams, bool signal, const char *line, size_t size)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (stream_wants(&streams->list[i], signal))
			line_queue_add(&streams->list[i].queue, line, size);
}

void streams_flush(struct streams *streams)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (streams->list[i].fd >= 0)
			stream_flush(&streams->list[i]);
}
