// SPDX-License-Identifier: Apache-2.0
/* HTTP/2 and gRPC of the peer, with all that can be wrong in them. */
#include "lib/cri/cripeer.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/kubernetes/pods.h"

#define PACE_USEC 5000

struct stream {
	struct stream *prev, *next;
	struct cripeer_connection *connection;
	int32_t id;
	char path[128];
	struct buf question, body;
	size_t at;
	int status;	   /* in the trailers; -1: there are none */
	bool stays;	   /* for more, behind the body */
	bool is_event;	   /* a stream of them */
	bool held;	   /* its answer is */
	bool cuts, resets; /* behind the body */
	sd_event_source *pace;
};

struct cripeer_connection {
	struct cripeer_connection *prev, *next;
	struct cripeer *peer;
	nghttp2_session *session;
	sd_event_source *io;
	struct stream *streams;
	bool dies; /* after what is to be sent */
	const uint8_t *pending;
	size_t pending_len;
};

#define NV(n, v)                                                                           \
	{                                                                                  \
		(uint8_t *)(n), (uint8_t *)(v), strlen(n), strlen(v), NGHTTP2_NV_FLAG_NONE \
	}

static void free_stream(struct stream *s)
{
	if (s->is_event)
		s->connection->peer->streams--;
	*(s->prev ? &s->prev->next : &s->connection->streams) = s->next;
	if (s->next)
		s->next->prev = s->prev;
	sd_event_source_disable_unref(s->pace);
	buf_free(&s->question);
	buf_free(&s->body);
	free(s);
}

static void free_connection(struct cripeer_connection *c)
{
	while (c->streams)
		free_stream(c->streams);
	*(c->prev ? &c->prev->next : &c->peer->connections) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	nghttp2_session_del(c->session);
	sd_event_source_disable_unref(c->io);
	free(c);
}

/* False when the connection is gone. */
static bool send_on(struct cripeer_connection *c)
{
	int fd = sd_event_source_get_io_fd(c->io);

	for (;;) {
		ssize_t n;

		if (!c->pending_len) {
			n = nghttp2_session_mem_send(c->session, &c->pending);
			if (n <= 0)
				break;
			c->pending_len = (size_t)n;
		}
		n = send(fd, c->pending, c->pending_len, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN) {
			sd_event_source_set_io_events(c->io, EPOLLIN | EPOLLOUT);
			return true;
		}
		if (n < 0)
			break;
		c->pending += n;
		c->pending_len -= (size_t)n;
	}
	sd_event_source_set_io_events(c->io, EPOLLIN);
	if (!c->dies && !c->pending_len)
		return true;
	free_connection(c);
	return false;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void end_well(nghttp2_session *session, int32_t id, int status)
{
	char text[8];
	nghttp2_nv trailers[] = {NV("grpc-status", ""), NV("grpc-message", "so%20it%0Ais")};

	trailers[0].value = (uint8_t *)text;
	trailers[0].valuelen = (size_t)snprintf(text, sizeof(text), "%d", status);
	nghttp2_submit_trailer(session, id, trailers, 2);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *at, size_t len,
			 uint32_t *flags, nghttp2_data_source *source, void *userdata)
{
	struct stream *s = source->ptr;
	size_t left = s->body.len - s->at, n = left < len ? left : len;

	if (n)
		memcpy(at, s->body.data + s->at, n);
	s->at += n;
	if (n < left)
		return (ssize_t)n;
	if (s->stays)
		return n ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (s->status < 0)
		return (ssize_t)n;
	*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
	end_well(session, id, s->status);
	return (ssize_t)n;
}

static void respond(struct stream *s, const char *status)
{
	nghttp2_nv headers[] = {NV(":status", status), NV("content-type", "application/grpc")};
	nghttp2_data_provider provider = {.source.ptr = s, .read_callback = read_body};

	nghttp2_submit_response(s->connection->session, s->id, headers, 2, &provider);
}

static void add_prefix(struct buf *body, uint8_t flag, size_t len)
{
	const uint8_t prefix[] = {flag, (uint8_t)(len >> 24), (uint8_t)(len >> 16),
				  (uint8_t)(len >> 8), (uint8_t)len};

	buf_add(body, prefix, sizeof(prefix));
}

static int on_pace(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct stream *s = userdata;

	buf_addc(&s->body, 0);
	nghttp2_session_resume_data(s->connection->session, s->id);
	sd_event_source_set_time_relative(source, PACE_USEC);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	send_on(s->connection);
	return 0;
}

/* In front of the message, and its prefix. */
static void frame(struct stream *s, enum cripeer_act act, const struct buf *message)
{
	size_t announced = message->len + (act == CRIPEER_SHORT ? 10 : 0);

	s->body.limit = (size_t)64 << 20;
	if (act == CRIPEER_EMPTY || act == CRIPEER_ERROR)
		return;
	add_prefix(&s->body, act == CRIPEER_COMPRESSED, announced);
	if (act == CRIPEER_NONSENSE)
		memset(buf_reserve(&s->body, message->len), 0xff, message->len);
	else
		memcpy(buf_reserve(&s->body, message->len), buf_str(message), message->len);
	buf_commit(&s->body, message->len);
	if (act == CRIPEER_TWICE) {
		add_prefix(&s->body, 0, message->len);
		buf_add(&s->body, message->data, message->len);
	}
}

static void misbehave(struct stream *s, enum cripeer_act act)
{
	struct cripeer_connection *c = s->connection;
	static const char noise[] = "\x7f\xff\xff\xff\xff\xff noise, noise, and no HTTP/2 at all";

	if (act == CRIPEER_NOISE) {
		send(sd_event_source_get_io_fd(c->io), noise, sizeof(noise), MSG_NOSIGNAL);
		return;
	}
	if (act == CRIPEER_GOAWAY) {
		nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_ENHANCE_YOUR_CALM,
				      (const uint8_t *)"no", 2);
		return;
	}
	if (act == CRIPEER_TRICKLE) {
		s->stays = true;
		sd_event_add_time_relative(c->peer->event, &s->pace, CLOCK_MONOTONIC, 0, 1, on_pace,
					   s);
	}
	if (act == CRIPEER_CUT || act == CRIPEER_RESET) {
		buf_truncate(&s->body, s->body.len / 2);
		s->stays = true;
		s->cuts = act == CRIPEER_CUT;
		s->resets = act == CRIPEER_RESET;
	}
	if (act == CRIPEER_NO_TRAILERS)
		s->status = -1;
	respond(s, act == CRIPEER_503 ? "503" : "200");
}

static int method_of(const struct cripeer *peer, const char *path)
{
	if (peer->plays_kubelet)
		return strcmp(path, podproto_watch_path) == 0 ? CRI_EVENTS : -1;
	for (int version = 0; version < CRI_VERSION_COUNT; version++) {
		if (version == CRI_V1 ? peer->no_v1 : peer->no_v1alpha2)
			continue;
		for (int method = 0; method < CRI_METHOD_COUNT; method++)
			if (strcmp(cri_method_path((enum cri_version)version,
						   (enum cri_method)method),
				   path) == 0)
				return method;
	}
	return -1;
}

static void open_events(struct stream *s)
{
	s->is_event = s->stays = true;
	s->connection->peer->streams++;
	s->connection->peer->asked[CRI_EVENTS]++;
	s->body.limit = (size_t)64 << 20;
	if (s->connection->peer->greeting)
		buf_add(&s->body, s->connection->peer->greeting->data,
			s->connection->peer->greeting->len);
	respond(s, "200");
}

static void answer(struct stream *s)
{
	struct cripeer *peer = s->connection->peer;
	_cleanup_(buf_free) struct buf message = {.limit = SIZE_MAX};
	int method = method_of(peer, s->path), r;
	enum cripeer_act act = method < 0 ? CRIPEER_WELL : peer->act[method];

	if (method == CRI_EVENTS && peer->has_events) {
		open_events(s);
		return;
	}
	r = method < 0 ? -GRPC_UNIMPLEMENTED
		       : cripeer_answer(peer, (enum cri_method)method, &s->question, &message);
	s->status = act == CRIPEER_ERROR ? peer->status : -r;
	if (act == CRIPEER_SILENT ||
	    (method >= 0 && cripeer_is_mute(peer, (enum cri_method)method, &s->question)))
		return;
	frame(s, r < 0 ? CRIPEER_EMPTY : act, &message);
	misbehave(s, act);
}

static int on_delay(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct stream *s = userdata;

	s->pace = sd_event_source_disable_unref(source);
	answer(s);
	send_on(s->connection);
	return 0;
}

static void answer_in_time(struct stream *s)
{
	struct cripeer *peer = s->connection->peer;

	int method = method_of(peer, s->path);

	s->held = (peer->holds_stops && method == CRI_STOP) ||
		  (peer->holds_execs && method == CRI_EXEC);
	if (s->held)
		peer->asked[method]++;
	else if (!peer->delay_usec)
		answer(s);
	else
		sd_event_add_time_relative(peer->event, &s->pace, CLOCK_MONOTONIC, peer->delay_usec,
					   1, on_delay, s);
}

/* --- the session -------------------------------------------------------------------------------- */

static struct stream *stream_of(nghttp2_session *session, int32_t id)
{
	return nghttp2_session_get_stream_user_data(session, id);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame_, void *userdata)
{
	struct cripeer_connection *c = userdata;
	struct stream *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->connection = c;
	s->id = frame_->hd.stream_id;
	s->next = c->streams;
	if (s->next)
		s->next->prev = s;
	c->streams = s;
	nghttp2_session_set_stream_user_data(session, s->id, s);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame_, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags,
		     void *userdata)
{
	struct stream *s = stream_of(session, frame_->hd.stream_id);

	if (s && name_len == 5 && memcmp(name, ":path", 5) == 0)
		snprintf(s->path, sizeof(s->path), "%.*s", (int)len, (const char *)value);
	return 0;
}

static int on_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
		    size_t len, void *userdata)
{
	struct stream *s = stream_of(session, id);

	if (s)
		buf_add(&s->question, data, len);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame_, void *userdata)
{
	struct stream *s = stream_of(session, frame_->hd.stream_id);

	if (s && (frame_->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
	    (frame_->hd.type == NGHTTP2_DATA || frame_->hd.type == NGHTTP2_HEADERS))
		answer_in_time(s);
	return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame_, void *userdata)
{
	struct cripeer_connection *c = userdata;
	struct stream *s = stream_of(session, frame_->hd.stream_id);

	if (!s || frame_->hd.type != NGHTTP2_DATA || s->at < s->body.len)
		return 0;
	if (s->cuts)
		c->dies = true;
	if (s->resets)
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id,
					  NGHTTP2_INTERNAL_ERROR);
	return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *userdata)
{
	struct stream *s = stream_of(session, id);

	if (s)
		free_stream(s);
	return 0;
}

static int on_bytes(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct cripeer_connection *c = userdata;
	uint8_t piece[16384];
	ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN) ||
	    (n > 0 && nghttp2_session_mem_recv(c->session, piece, (size_t)n) < 0)) {
		free_connection(c);
		return 0;
	}
	send_on(c);
	return 0;
}

static void start_session(struct cripeer_connection *c)
{
	const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 100}};
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;

	assert_int_equal(nghttp2_option_new(&option), 0);
	/* libcurl 7.88 resets every stream that has ended, which other servers do not mind. */
	nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
	assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_chunk);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	assert_int_equal(nghttp2_session_server_new2(&c->session, callbacks, c, option), 0);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 1);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct cripeer *peer = userdata;
	struct cripeer_connection *c = calloc(1, sizeof(*c));
	int own = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	assert_non_null(c);
	assert_true(own >= 0);
	c->peer = peer;
	c->next = peer->connections;
	if (c->next)
		c->next->prev = c;
	peer->connections = c;
	peer->accepted++;
	assert_true(sd_event_add_io(peer->event, &c->io, own, EPOLLIN, on_bytes, c) >= 0);
	sd_event_source_set_io_fd_own(c->io, true);
	start_session(c);
	send_on(c);
	return 0;
}

/* --- the peer --------------------------------------------------------------------------------- */

void cripeer_init(struct cripeer *peer, sd_event *event, const char *path)
{
	*peer = (struct cripeer){.event = event};
	snprintf(peer->path, sizeof(peer->path), "%s", path);
}

void cripeer_listen(struct cripeer *peer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, peer->path, sizeof(address.sun_path));
	unlink(peer->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(peer->path, 0600), 0);
	assert_int_equal(listen(fd, SOMAXCONN), 0);
	assert_true(sd_event_add_io(peer->event, &peer->listener, fd, EPOLLIN, on_connection,
				    peer) >= 0);
	sd_event_source_set_io_fd_own(peer->listener, true);
}

void cripeer_leave(struct cripeer *peer)
{
	peer->listener = sd_event_source_disable_unref(peer->listener);
}

void cripeer_die(struct cripeer *peer)
{
	cripeer_leave(peer);
	while (peer->connections)
		free_connection(peer->connections);
}

void cripeer_done(struct cripeer *peer)
{
	cripeer_die(peer);
	cripeer_remove_all(peer);
	unlink(peer->path);
}

static void release(struct cripeer *peer, int method)
{
	struct cripeer_connection *c = peer->connections, *next;

	for (; c; c = next) {
		next = c->next;
		for (struct stream *s = c->streams; s; s = s->next) {
			if (!s->held || method_of(peer, s->path) != method)
				continue;
			s->held = false;
			peer->asked[method]--;
			answer(s);
		}
		send_on(c);
	}
}

void cripeer_release_stops(struct cripeer *peer)
{
	peer->holds_stops = false;
	release(peer, CRI_STOP);
}

void cripeer_release_execs(struct cripeer *peer)
{
	peer->holds_execs = false;
	release(peer, CRI_EXEC);
}

void cripeer_end_events(struct cripeer *peer, int status)
{
	struct cripeer_connection *c = peer->connections, *next;

	for (; c; c = next) {
		next = c->next;
		for (struct stream *s = c->streams; s; s = s->next) {
			if (!s->is_event)
				continue;
			s->stays = false;
			s->status = status;
			nghttp2_session_resume_data(c->session, s->id);
		}
		send_on(c);
	}
}

void cripeer_tell_bytes(struct cripeer *peer, const void *bytes, size_t len)
{
	struct cripeer_connection *c = peer->connections, *next;

	for (; c; c = next) {
		next = c->next;
		for (struct stream *s = c->streams; s; s = s->next) {
			if (!s->is_event)
				continue;
			buf_add(&s->body, bytes, len);
			nghttp2_session_resume_data(c->session, s->id);
		}
		send_on(c);
	}
}

void cripeer_tell(struct cripeer *peer, const char *id, enum cri_event_type type)
{
	_cleanup_(buf_free) struct buf message = {}, framed = {};

	cripeer_event_message(id, type, &message);
	add_prefix(&framed, 0, message.len);
	buf_add(&framed, message.data, message.len);
	cripeer_tell_bytes(peer, framed.data, framed.len);
}
