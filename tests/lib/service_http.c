// SPDX-License-Identifier: Apache-2.0
// Scrape a `graced run` child and add up samples.
#include "service.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S 30

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	const struct timeval limit = {.tv_sec = WAIT_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* All until the server closes, as `Connection: close` asked for. */
static int read_reply(int fd, struct buf *reply)
{
	ssize_t n;
	char *at;

	do {
		at = buf_reserve(reply, 65536);
		if (!at)
			return buf_error(reply);
		n = recv(fd, at, 65536, 0);
		if (n > 0)
			buf_commit(reply, (size_t)n);
	} while (n > 0);
	return n < 0 ? -errno : 0;
}

int service_get(const struct service *s, const char *path, const char *headers, struct buf *page)
{
	int fd = connect_to(service_port(s)), status = -EBADMSG, r;
	struct buf text = {};
	const char *body;

	if (fd < 0)
		return fd;
	buf_printf(&text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", path,
		   headers ? headers : "");
	r = send(fd, buf_str(&text), text.len, MSG_NOSIGNAL) < 0 ? -errno : 0;
	buf_reset(&text);
	if (!r)
		r = read_reply(fd, &text);
	close(fd);
	body = r ? NULL : strstr(buf_str(&text), "\r\n\r\n");
	if (body && sscanf(buf_str(&text), "HTTP/1.1 %d", &status) == 1) {
		buf_reset(page);
		buf_add(page, body + 4, text.len - (size_t)(body + 4 - text.data));
	}
	buf_free(&text);
	return r ? r : status;
}

/* The value of a sample line of that metric with that text among its labels. */
static bool take_sample(const char *line, const char *metric, const char *label, double *ret)
{
	size_t name = strlen(metric), len = strcspn(line, "\n");
	const char *end = line + name, *found;

	if (strncmp(line, metric, name) != 0 || (*end != '{' && *end != ' '))
		return false;
	if (*end == '{') {
		for (end = line + len; end > line && *end != '}'; end--)
			;
		end++;
	}
	if (label) {
		found = memmem(line, len, label, strlen(label));
		if (!found || found > end)
			return false;
	}
	*ret = strtod(end, NULL);
	return true;
}

double service_sum(const char *page, const char *metric, const char *label)
{
	double sum = 0, value;
	bool any = false;

	for (; *page; page += strcspn(page, "\n"), page += *page == '\n') {
		if (!take_sample(page, metric, label, &value))
			continue;
		sum += value;
		any = true;
	}
	return any ? sum : -1;
}

double service_metric(const struct service *s, const char *metric, const char *label)
{
	struct buf page = {};
	double sum = -1;

	if (service_get(s, "/metrics", NULL, &page) == 200)
		sum = service_sum(buf_str(&page), metric, label);
	buf_free(&page);
	return sum;
}

double service_await_metric(const struct service *s, const char *metric, const char *label,
			    double least)
{
	time_t until = time(NULL) + WAIT_S;
	double sum;

	while ((sum = service_metric(s, metric, label)) < least && time(NULL) < until)
		usleep(50000);
	return sum;
}
