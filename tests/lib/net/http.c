// SPDX-License-Identifier: Apache-2.0
// One GET over loopback. HTTP/1.0, so that no server sends chunks.
#include "lib/net/http.h"
#include "lib/patience.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	const struct timeval limit = {.tv_sec = PATIENCE_S};
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

/* All until the server closes. */
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

int http_get(uint16_t port, const char *path, const char *headers, struct buf *page)
{
	int fd = connect_to(port), status = -EBADMSG, r;
	struct buf text = {};
	const char *body;

	if (fd < 0)
		return fd;
	buf_printf(&text, "GET %s HTTP/1.0\r\nHost: localhost\r\n%s\r\n", path,
		   headers ? headers : "");
	r = send(fd, buf_str(&text), text.len, MSG_NOSIGNAL) < 0 ? -errno : 0;
	buf_reset(&text);
	if (!r)
		r = read_reply(fd, &text);
	close(fd);
	body = r ? NULL : strstr(buf_str(&text), "\r\n\r\n");
	if (body && sscanf(buf_str(&text), "HTTP/1.%*d %d", &status) == 1) {
		buf_reset(page);
		buf_add(page, body + 4, text.len - (size_t)(body + 4 - text.data));
	}
	buf_free(&text);
	return r ? r : status;
}
