// SPDX-License-Identifier: Apache-2.0
#include "io/control/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

struct stream {
	struct streams *streams;
	int fd; /* -1: this place is free */
	bool signals;
	bool asked; /* what is stopping, and has no answer yet */
	char request[CONTROL_REQUEST_MAX];
	size_t got; /* bytes of it */
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

/* What has to be sent whole is as long as it has to be. */
static bool stream_add_whole(struct stream *s, const struct buf *lines)
{
	bool added;

	s->queue.max = lines->len;
	added = line_queue_add(&s->queue, buf_str(lines), lines->len, 0);
	s->queue.max = STREAMS_QUEUE_MAX;
	return added;
}

/* Without memory for it now: later. */
static bool stream_answer(struct stream *s)
{
	_cleanup_(buf_free) struct buf lines = {};

	if (!s->asked)
		return false;
	s->streams->config.add_stopping(s->streams->config.userdata, &lines);
	s->asked = buf_error(&lines) < 0 || !stream_add_whole(s, &lines);
	return !s->asked;
}

static void stream_flush(struct stream *s)
{
	const struct streams_config *config = &s->streams->config;
	int r = stream_send(s);

	if (r == 0 && line_queue_end_gap(&s->queue, config->add_dropped, config->userdata))
		r = stream_send(s);
	if (r == 0 && stream_answer(s))
		r = stream_send(s);
	if (r >= 0)
		r = sd_event_source_set_io_events(s->io, r ? EPOLLIN | EPOLLOUT : EPOLLIN);
	if (r < 0)
		stream_close(s);
}

static void stream_take_request(struct stream *s, const char *line, size_t size)
{
	struct control_request request;
	struct control_why why;

	if (control_read_request(line, size, &request, &why) == 0)
		s->asked |= request.command == CONTROL_STOPPING;
}

/* A line that is longer than any request is ignored. */
static void stream_take(struct stream *s, size_t n)
{
	char *newline, *from = s->request;
	size_t left = s->got + n;

	while ((newline = memchr(from, '\n', left))) {
		stream_take_request(s, from, (size_t)(newline - from));
		left -= (size_t)(newline + 1 - from);
		from = newline + 1;
	}
	memmove(s->request, from, left);
	s->got = left < sizeof(s->request) ? left : 0;
}

static int on_stream(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct stream *s = userdata;
	ssize_t n = 1;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		n = recv(fd, s->request + s->got, sizeof(s->request) - s->got, MSG_DONTWAIT);
		if (n > 0)
			stream_take(s, (size_t)n);
	}
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
	s->asked = false;
	s->got = 0;
	s->queue = (struct line_queue){};
	stream_add_whole(s, first);
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

void streams_put(struct streams *streams, bool signal, const char *line, size_t size,
		 uint64_t now_ns)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (stream_wants(&streams->list[i], signal))
			line_queue_add(&streams->list[i].queue, line, size, now_ns);
}

void streams_flush(struct streams *streams)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (streams->list[i].fd >= 0)
			stream_flush(&streams->list[i]);
}
