// SPDX-License-Identifier: Apache-2.0
/* Connects to a bus's daemon, or to systemd's own socket. */
#include "io/bus/connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "io/files/fd.h"

const char *busconn_path(const char *address)
{
	static const char scheme[] = "unix:path=";

	if (strncmp(address, scheme, strlen(scheme)) == 0)
		address += strlen(scheme);
	/* What D-Bus would unescape or take for a further address or key. */
	return *address != '/' || strpbrk(address, "%;,") ? NULL : address;
}

/* Only root answers for the system (or who runs this, for one of their own). */
static int check_peer(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EPERM;
}

int busconn_open(const char *path, int *ret)
{
	_cleanup_(cleanup_close) int fd = -1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	r = check_peer(fd);
	if (r == 0)
		*ret = TAKE_FD(fd);
	return r;
}

int busconn_begin(sd_event *event, int fd, bool is_bus, sd_bus **ret)
{
	sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_fd(bus, fd, fd);
	if (r < 0) {
		close(fd);
		sd_bus_unref(bus);
		*ret = NULL;
		return r;
	}
	r = sd_bus_set_bus_client(bus, is_bus);
	/* Else it would wait, at the loop's end, until all is written. */
	if (r >= 0)
		r = sd_bus_set_close_on_exit(bus, false);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
	*ret = bus;
	return r < 0 ? r : 0;
}

void busconn_line(char *ret, size_t size, const char *prefix, const char *text)
{
	snprintf(ret, size, "%s%s", prefix, text);
	for (char *c = ret; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}
