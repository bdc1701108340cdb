// SPDX-License-Identifier: Apache-2.0
/* Serves a small site and talks to it over loopback, in one thread. */
#include "lib/net/webc.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/claim.h"

#define PATIENCE_S 60 /* far beyond what any test takes */
#define LINE	   64

static const char *format_name(enum expo_format format)
{
	return format == EXPO_OPENMETRICS ? "om" : "text";
}

/* Lines that say where they stand, so that no piece can be taken for another. */
static void page_line(enum expo_format format, size_t at, char ret[static LINE])
{
	char start[LINE];
	int len = snprintf(start, sizeof(start), "%s_bytes_total{at=\"%010zu\"} ",
			   format_name(format), at);

	memset(ret, '7', LINE - 1);
	memcpy(ret, start, (size_t)len);
	ret[LINE - 1] = '\n';
}

static void add_page(const struct site *site, enum expo_format format, struct buf *out)
{
	char line[LINE];

	for (size_t at = 0; at < site->bytes; at += LINE) {
		page_line(format, at, line);
		buf_add(out, line, site->bytes - at < LINE ? site->bytes - at : LINE);
	}
}

bool site_is_page(const struct site *site, enum expo_format format, const char *body, size_t len)
{
	char line[LINE];

	if (len != site->bytes)
		return false;
	for (size_t at = 0; at < len; at += LINE) {
		page_line(format, at, line);
		if (memcmp(body + at, line, len - at < LINE ? len - at : LINE))
			return false;
	}
	return true;
}

static void render(void *userdata, const struct web_request *request, struct web_reply *ret)
{
	struct site *site = userdata;

	site->rendered++;
	ret->status = 200;
	ret->type = "text/plain; charset=utf-8";
	if (strcmp(request->path, "/") == 0) {
		buf_adds(&ret->body, "hello\n");
	} else if (strcmp(request->path, "/metrics") == 0) {
		ret->type = negotiate_content_type(request->format);
		ret->keep_ms = site->keep_ms;
		add_page(site, request->format, &ret->body);
	} else if (strcmp(request->path, "/each") == 0) {
		add_page(site, EXPO_TEXT, &ret->body);
	} else if (strcmp(request->path, "/moved") == 0) {
		ret->status = 302;
		ret->location = "/";
	} else if (strcmp(request->path, "/broken") == 0) {
		ret->body.limit = 4;
		buf_adds(&ret->body, "too long");
	} else if (strcmp(request->path, "/no-status") == 0) {
		ret->status = 0;
	} else {
		ret->status = 404;
		buf_printf(&ret->body, "There is no %s here.\n", request->path);
	}
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

void site_open(struct site *site, const struct web_config *config)
{
	static const char *const loopback[] = {"127.0.0.1:0"}, *const hosts[] = {"x", "*.x"};
	struct web_config full = *config;
	struct web_why why;

	*site = (struct site){.bytes = 2 << 20, .keep_ms = 3600 * 1000};
	site_be_patient(site);
	if (!full.n_listen) {
		full.listen = loopback;
		full.n_listen = 1;
	}
	full.hosts = hosts;
	full.n_hosts = LEN(hosts);
	assert_int_equal(sd_event_new(&site->event), 0);
	if (web_new(site->event, &full, render, site, &site->web, &why) < 0)
		fail_msg("%s", why.text);
	site->port = web_port(site->web, 0);
	assert_int_not_equal(site->port, 0);
}

void site_close(struct site *site)
{
	site->web = web_free(site->web);
	site->event = sd_event_unref(site->event);
}

void site_be_patient(struct site *site)
{
	site->patience_end_s = seconds() + PATIENCE_S;
}

void site_turn(struct site *site)
{
	assert_true(seconds() < site->patience_end_s);
	assert_true(sd_event_run(site->event, 10000) >= 0);
}

void site_settle(struct site *site)
{
	int r;

	while ((r = sd_event_run(site->event, 0)) > 0)
		;
	assert_int_equal(r, 0);
}

struct web_stats site_stats(const struct site *site)
{
	struct web_stats stats;

	web_get_stats(site->web, &stats);
	return stats;
}

unsigned int site_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void site_expect_served(struct site *site)
{
	struct webc_reply reply;

	assert_int_equal(webc_get(site, "/metrics", "", &reply), 200);
	assert_true(site_is_page(site, EXPO_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
}

void site_await_empty(struct site *site)
{
	while (site_stats(site).connections)
		site_turn(site);
}

void webc_open(const struct site *site, struct webc *ret)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(site->port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};

	*ret = (struct webc){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	assert_true(ret->fd >= 0);
	if (connect(ret->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		assert_int_equal(errno, EINPROGRESS);
}

void webc_close(struct webc *c)
{
	close(c->fd);
	c->fd = -1;
	buf_free(&c->got);
}

void webc_reset(struct webc *c)
{
	struct linger forget = {.l_onoff = 1};

	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &forget, sizeof(forget));
	webc_close(c);
}

bool webc_send(struct site *site, struct webc *c, const char *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = send(c->fd, data + done, len - done, MSG_NOSIGNAL);

		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != ENOTCONN)
			return false;
		site_turn(site);
	}
	return true;
}

bool webc_sends(struct site *site, struct webc *c, const char *text)
{
	return webc_send(site, c, text, strlen(text));
}

void webc_read(struct webc *c, size_t max)
{
	while (max && !c->ended) {
		char piece[65536];
		ssize_t n = recv(c->fd, piece, max < sizeof(piece) ? max : sizeof(piece), 0);

		if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return;
		if (n <= 0) {
			c->ended = true;
			return;
		}
		buf_add(&c->got, piece, (size_t)n);
		max -= (size_t)n;
	}
}

static void consume(struct webc *c, size_t len)
{
	memmove(c->got.data, c->got.data + len, c->got.len - len);
	buf_truncate(&c->got, c->got.len - len);
}

/* The length of the reply at the beginning of what was read; 0: it is not whole yet. */
static size_t whole_reply(const struct webc *c, bool head_only, size_t *ret_head)
{
	const char *end = c->got.len ? memmem(c->got.data, c->got.len, "\r\n\r\n", 4) : NULL;
	struct webc_reply head = {};
	const char *length;
	size_t total;

	if (!end)
		return 0;
	*ret_head = (size_t)(end - c->got.data) + 4;
	buf_add(&head.head, c->got.data, *ret_head);
	length = webc_header(&head, "Content-Length");
	assert_non_null(length);
	total = *ret_head + (head_only ? 0 : strtoul(length, NULL, 10));
	buf_free(&head.head);
	return total <= c->got.len ? total : 0;
}

bool webc_reply(struct site *site, struct webc *c, bool head_only, struct webc_reply *ret)
{
	size_t head, total;

	for (webc_read(c, SIZE_MAX); !(total = whole_reply(c, head_only, &head));
	     webc_read(c, SIZE_MAX)) {
		if (c->ended)
			return false;
		site_turn(site);
	}
	*ret = (struct webc_reply){};
	buf_add(&ret->head, c->got.data, head);
	buf_add(&ret->body, c->got.data + head, total - head);
	if (sscanf(buf_str(&ret->head), "HTTP/1.%*1d %3u", &ret->status) != 1)
		fail_msg("no status in: %s", buf_str(&ret->head));
	consume(c, total);
	return true;
}

void webc_reply_free(struct webc_reply *reply)
{
	buf_free(&reply->head);
	buf_free(&reply->body);
}

void webc_await_end(struct site *site, struct webc *c)
{
	for (webc_read(c, SIZE_MAX); !c->ended; webc_read(c, SIZE_MAX)) {
		site_turn(site);
	}
}

const char *webc_header(const struct webc_reply *reply, const char *name)
{
	static char value[256];
	size_t len = strlen(name);

	for (const char *at = buf_str(&reply->head); (at = strstr(at, "\r\n"));) {
		at += 2;
		if (strncasecmp(at, name, len) || strncmp(at + len, ": ", 2))
			continue;
		at += len + 2;
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, "\r"), at);
		return value;
	}
	return NULL;
}

unsigned int webc_get(struct site *site, const char *path, const char *headers,
		      struct webc_reply *ret)
{
	struct webc_reply reply = {};
	struct buf request = {};
	unsigned int status;
	struct webc c;

	webc_open(site, &c);
	buf_printf(&request, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, headers);
	assert_true(webc_send(site, &c, request.data, request.len));
	assert_true(webc_reply(site, &c, false, &reply));
	buf_free(&request);
	webc_close(&c);
	status = reply.status;
	if (ret)
		*ret = reply;
	else
		webc_reply_free(&reply);
	return status;
}

const char *webc_credentials(const char *both)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	static char line[1024];
	size_t len = strlen(both), n;

	strcpy(line, "Authorization: Basic ");
	n = strlen(line);
	for (size_t i = 0; i < len; i += 3) {
		unsigned int bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < len ? (unsigned char)both[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			line[n++] = i + k > len ? '=' : digits[bits >> (18 - 6 * k) & 63];
	}
	strcpy(line + n, "\r\n");
	return line;
}
