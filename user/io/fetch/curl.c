// SPDX-License-Identifier: Apache-2.0
/* Loads libcurl, waits for its sockets and timers, reads URLs by it and the heads of answers, and
 * turns its errors into errno. */
#include "io/fetch/curl.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "io/files/library.h"
#include "wire/grpc/message.h"

/* Connections kept, most of them for the next request. */
#define KEPT_MAX 16L

/* A socket that libcurl waits for. */
struct curl_watch {
	struct curl *curl;
	LIST_ENTRY(curl_watch) link;
	int fd;
	bool again; /* to be acted on without waiting */
	sd_event_source *io;
};

static const struct dynlib_function functions[] = {
#define CURL_ENTRY(name) {"curl_" #name, offsetof(struct curl, name)},
	CURL_FUNCTIONS(CURL_ENTRY)
#undef CURL_ENTRY
};

int curl_load(struct curl *ret, const char **ret_error)
{
	return dynlib_load(DYNLIB_CURL, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}

/* Takes what libcurl has finished. */
static void collect(struct curl *curl)
{
	CURLMsg *message;
	void *transfer;
	int left;

	while ((message = curl->multi_info_read(curl->multi, &left))) {
		CURL *easy = message->easy_handle;
		CURLcode code = message->data.result;

		if (message->msg == CURLMSG_DONE &&
		    curl->easy_getinfo(easy, CURLINFO_PRIVATE, &transfer) == CURLE_OK)
			curl->ended(transfer, code);
	}
}

static void act(struct curl *curl, curl_socket_t fd, int what)
{
	int running;

	curl->inside = true;
	curl->multi_socket_action(curl->multi, fd, what, &running);
	curl->inside = false;
	collect(curl);
}

/* Acts on a socket, or on those whose time has come, and once more in the next turn when something
 * came: libcurl 7.88 may keep bytes of HTTP/2 that it has read already, and forget them until the
 * socket has more. */
static void act_on(struct curl *curl, int fd, int what)
{
	uint64_t before = curl->progress;
	struct curl_watch *socket;

	act(curl, fd, what);
	if (curl->progress == before)
		return;
	LIST_FOREACH(socket, &curl->watches, link)
		if (socket->fd == fd || fd == CURL_SOCKET_TIMEOUT)
			socket->again = true;
	defer_enable(&curl->again);
}

static int on_again(sd_event_source *source, void *userdata)
{
	struct curl *curl = userdata;
	struct curl_watch *socket;

	LIST_FOREACH(socket, &curl->watches, link)
		if (socket->again)
			break;
	if (!socket)
		return 0;
	defer_enable(&curl->again);
	socket->again = false;
	act_on(curl, socket->fd, CURL_CSELECT_IN);
	return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
		   (events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
	struct curl_watch *socket = userdata;

	/* 0: it looks for itself what is wrong. */
	socket->again = false;
	act_on(socket->curl, fd, what);
	return 0;
}

static void forget(struct curl_watch *socket)
{
	if (!socket)
		return;
	LIST_REMOVE(socket, link);
	sd_event_source_disable_unref(socket->io);
	free(socket);
}

static int watch(struct curl *curl, curl_socket_t fd, uint32_t events)
{
	struct curl_watch *socket = calloc(1, sizeof(*socket));

	if (!socket)
		return -1;
	*socket = (struct curl_watch){.curl = curl, .fd = fd};
	if (sd_event_add_io(curl->event, &socket->io, fd, events, on_io, socket) < 0) {
		free(socket);
		return -1;
	}
	LIST_INSERT_HEAD(&curl->watches, socket, link);
	curl->multi_assign(curl->multi, fd, socket);
	return 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *userdata, void *assigned)
{
	struct curl *curl = userdata;
	struct curl_watch *socket = assigned;
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

	if (what == CURL_POLL_REMOVE) {
		forget(socket);
		curl->multi_assign(curl->multi, fd, NULL);
		return 0;
	}
	if (!socket)
		return watch(curl, fd, events);
	return sd_event_source_set_io_events(socket->io, events) < 0 ? -1 : 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	act_on(userdata, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *userdata)
{
	struct curl *curl = userdata;

	if (timeout_ms < 0)
		return sd_event_source_set_enabled(curl->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
	if (sd_event_source_set_time_relative(curl->timer, (uint64_t)timeout_ms * 1000) < 0)
		return -1;
	return sd_event_source_set_enabled(curl->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

static int open_loop(struct curl *curl)
{
	int r;

	curl->multi = curl->multi_init();
	if (!curl->multi)
		return -ENOMEM;
	r = sd_event_add_time_relative(curl->event, &curl->timer, CLOCK_MONOTONIC, 0, 1, on_time,
				       curl);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(curl->timer, SD_EVENT_OFF);
	r = defer_open(&curl->again, curl->event, on_again, curl);
	if (r < 0)
		return r;
	curl->multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl->multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl);
	curl->multi_setopt(curl->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl->multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl);
	curl->multi_setopt(curl->multi, CURLMOPT_MAXCONNECTS, KEPT_MAX);
	return 0;
}

static void close_loop(struct curl *curl)
{
	if (curl->multi)
		curl->multi_cleanup(curl->multi);
	curl->multi = NULL;
	while (!LIST_EMPTY(&curl->watches))
		forget(LIST_FIRST(&curl->watches));
	curl->timer = sd_event_source_disable_unref(curl->timer);
	defer_close(&curl->again);
}

int curl_open(struct curl *curl, sd_event *event, void (*ended)(void *transfer, CURLcode code))
{
	int r;

	curl->event = event;
	curl->ended = ended;
	if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	r = open_loop(curl);
	if (r < 0)
		curl_close(curl);
	return r;
}

void curl_close(struct curl *curl)
{
	close_loop(curl);
	curl->global_cleanup();
}

static int url_part(const struct curl *curl, CURLU *url, CURLUPart part, char *ret, size_t size)
{
	char *text;
	int n;

	if (curl->url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
		return -EINVAL;
	n = snprintf(ret, size, "%s", text);
	curl->free(text);
	return (size_t)n < size ? 0 : -EINVAL;
}

/* Neither a scheme that is not ours nor a password, which would be logged with the URL. */
static int check_url(const struct curl *curl, CURLU *url, bool *ret_secure)
{
	char part[64];

	if (url_part(curl, url, CURLUPART_SCHEME, part, sizeof(part)) < 0 ||
	    url_part(curl, url, CURLUPART_USER, part + 8, sizeof(part) - 8) == 0)
		return -EINVAL;
	*ret_secure = strcmp(part, "https") == 0;
	return *ret_secure || strcmp(part, "http") == 0 ? 0 : -EINVAL;
}

static int rename_host(const struct curl *curl, CURLU *url, const char *name,
		       struct fetch_target *ret)
{
	int n;

	if (curl->url_set(url, CURLUPART_HOST, name, 0) != CURLUE_OK)
		return -EINVAL;
	n = snprintf(ret->connect_to, sizeof(ret->connect_to), "::%s:%s", ret->peer, ret->port);
	return (size_t)n < sizeof(ret->connect_to) ? 0 : -EINVAL;
}

int fetch_target_read(const struct curl *curl, const char *text, const char *server_name,
		      struct fetch_target *ret)
{
	CURLU *url = curl->url();
	int r;

	if (!url)
		return -ENOMEM;
	ret->connect_to[0] = 0;
	r = curl->url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK ? 0 : -EINVAL;
	if (r == 0)
		r = check_url(curl, url, &ret->secure);
	if (r == 0)
		r = url_part(curl, url, CURLUPART_HOST, ret->peer, sizeof(ret->peer));
	if (r == 0)
		r = url_part(curl, url, CURLUPART_PORT, ret->port, sizeof(ret->port));
	if (r == 0 && server_name)
		r = rename_host(curl, url, server_name, ret);
	if (r == 0)
		r = url_part(curl, url, CURLUPART_HOST, ret->host, sizeof(ret->host));
	if (r == 0)
		r = url_part(curl, url, CURLUPART_URL, ret->url, sizeof(ret->url));
	curl->url_cleanup(url);
	return r;
}

/* libcurl keeps every header until the request is over. */
#define HEADERS_MAX 65536

/* Limit of a grpc-message, before it is decoded. */
#define MESSAGE_MAX 480

static const struct {
	CURLcode code;
	int error;
} errors[] = {
	{CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT},
	{CURLE_COULDNT_CONNECT, -ECONNREFUSED},
	{CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH},
	{CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED},
	{CURLE_SSL_CACERT_BADFILE, -EKEYREJECTED},
	{CURLE_SSL_ISSUER_ERROR, -EKEYREJECTED},
	{CURLE_SSL_CERTPROBLEM, -EACCES},
	{CURLE_SSL_CONNECT_ERROR, -EPROTO},
	{CURLE_SSL_CIPHER, -EPROTO},
	{CURLE_FILESIZE_EXCEEDED, -EMSGSIZE},
	{CURLE_SEND_ERROR, -ECONNRESET},
	{CURLE_RECV_ERROR, -ECONNRESET},
	{CURLE_GOT_NOTHING, -ECONNRESET},
	{CURLE_HTTP2, -EBADMSG},
	{CURLE_HTTP2_STREAM, -EBADMSG},
	{CURLE_PARTIAL_FILE, -EBADMSG},
	{CURLE_UNSUPPORTED_PROTOCOL, -EBADMSG}, /* not HTTP, or its 0.9 */
	{CURLE_WEIRD_SERVER_REPLY, -EBADMSG},
	{CURLE_BAD_CONTENT_ENCODING, -EBADMSG},
	{CURLE_OUT_OF_MEMORY, -ENOMEM},
};

/* Printable ASCII, cut. */
static void copy_line(const char *bytes, size_t len, char ret[static FETCH_TEXT_MAX])
{
	_cleanup_(buf_free) struct buf line = {};

	utf8_add_visible(&line, bytes, len < MESSAGE_MAX ? len : MESSAGE_MAX);
	snprintf(ret, FETCH_TEXT_MAX, "%s", buf_str(&line));
}

static void take_status(struct fetch_answer *answer, const char *at, size_t len)
{
	int status = grpc_read_status(at, len);

	answer->grpc_status = status < 0 ? -1 : status;
}

static void take_message(struct fetch_answer *answer, const char *at, size_t len)
{
	char text[MESSAGE_MAX];

	grpc_read_message(at, len, text, sizeof(text));
	copy_line(text, strlen(text), answer->grpc_message);
}

/* Seconds; a date is not read: what it means depends on two clocks. */
static void take_retry(struct fetch_answer *answer, const char *at, size_t len)
{
	uint32_t seconds = 0;

	for (size_t i = 0; i < len; i++) {
		if (at[i] < '0' || at[i] > '9')
			return;
		if (seconds > (UINT32_MAX - 9) / 10) {
			seconds = UINT32_MAX;
			break;
		}
		seconds = seconds * 10 + (uint32_t)(at[i] - '0');
	}
	answer->retry_after_s = seconds;
}

static bool is_named(const char *line, size_t len, const char *name, size_t *ret_at)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	for (n++; n < len && line[n] == ' ';)
		n++;
	*ret_at = n;
	return true;
}

int fetch_answer_add_header(struct fetch_answer *answer, const char *line, size_t len)
{
	size_t end = len, at;

	answer->header_bytes += len;
	if (answer->header_bytes > HEADERS_MAX)
		return -EMSGSIZE;
	while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r' || line[end - 1] == ' '))
		end--;
	/* Trailers follow the body line by line, a status line begins another head. */
	if (end == 0 || (len > 5 && memcmp(line, "HTTP/", 5) == 0))
		answer->head_whole = end == 0;
	if (is_named(line, end, "grpc-status", &at))
		take_status(answer, line + at, end - at);
	else if (is_named(line, end, "grpc-message", &at))
		take_message(answer, line + at, end - at);
	else if (is_named(line, end, "retry-after", &at))
		take_retry(answer, line + at, end - at);
	return 0;
}

int fetch_answer_count(struct fetch_answer *answer, size_t len)
{
	if (len > answer->max_bytes - answer->bytes)
		return -EMSGSIZE;
	answer->bytes += len;
	return 0;
}

static int to_errno(const struct fetch_answer *answer, const struct curl *curl, CURL *easy)
{
	long os_error = 0, status = 0;

	if (answer->error)
		return answer->error;
	/* libcurl is content with half of the headers. */
	if (answer->code == CURLE_OK)
		return answer->head_whole ? 0 : -EBADMSG;
	curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (answer->code == CURLE_RECV_ERROR && status)
		return -EBADMSG;
	if (answer->code == CURLE_COULDNT_CONNECT)
		curl->easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
	if (os_error > 0 && os_error < 4096)
		return (int)-os_error;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == answer->code)
			return errors[i].error;
	return -EIO;
}

static void say_error(const struct fetch_answer *answer, const struct curl *curl,
		      struct fetch_result *ret)
{
	const char *text = answer->trouble;
	char own[FETCH_TEXT_MAX];

	if (answer->header_bytes > HEADERS_MAX) {
		text = "the answer has too many headers";
	} else if (answer->error == -EMSGSIZE) {
		snprintf(own, sizeof(own), "the answer is longer than %zu bytes",
			 answer->max_bytes);
		text = own;
	} else if (answer->error == -ETIMEDOUT) {
		text = "nothing came for too long";
	} else if (answer->error && answer->error != -EHOSTUNREACH) {
		text = "the answer makes no sense";
	} else if (!answer->error && answer->code == CURLE_OK) {
		text = "the answer is cut short";
	} else if (!*text) {
		text = curl->easy_strerror(answer->code);
	}
	copy_line(text, strlen(text), ret->text);
}

void fetch_answer_result(const struct fetch_answer *answer, const struct curl *curl, CURL *easy,
			 struct fetch_result *ret)
{
	*ret = (struct fetch_result){
		.error = to_errno(answer, curl, easy),
		.body = buf_str(&answer->body),
		.len = answer->body.len,
		.grpc_status = answer->grpc_status,
		.retry_after_s = answer->retry_after_s,
	};
	curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &ret->status);
	strcpy(ret->grpc_message, answer->grpc_message);
	if (ret->error)
		say_error(answer, curl, ret);
	else if (ret->status < 200 || ret->status > 299)
		snprintf(ret->text, sizeof(ret->text), "HTTP status %ld", ret->status);
	else if (ret->grpc_status > 0)
		snprintf(ret->text, sizeof(ret->text), "gRPC status %d: %.120s", ret->grpc_status,
			 ret->grpc_message);
}
