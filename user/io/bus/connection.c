// SPDX-License-Identifier: Apache-2.0
/* Connects to a bus's daemon, or to systemd's own socket, and again after it was lost. */
#include "io/bus/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/retry.h"
#include "io/files/fd.h"
#include "io/loop/loop.h"

#define GRAIN_US       1000
#define PRIVATE_SOCKET "/run/systemd/private"

const char *busconn_path(const char *address)
{
	static const char scheme[] = "unix:path=";

	if (strncmp(address, scheme, strlen(scheme)) == 0)
		address += strlen(scheme);
	/* What D-Bus would unescape or take for a further address or key. */
	return *address != '/' || strpbrk(address, "%;,") ? NULL : address;
}

/* No further attempt is planned. */
static void close_bus(struct busconn *c)
{
	c->bus = sd_bus_close_unref(c->bus);
	c->answered = false;
	c->retry_ns = 0;
}

int busconn_init(struct busconn *c, sd_event *event, sd_event_time_handler_t on_wake,
		 void *userdata)
{
	c->event = sd_event_ref(event);
	return timer_new(event, CLOCK_BOOTTIME, GRAIN_US, on_wake, userdata, &c->timer);
}

void busconn_done(struct busconn *c)
{
	close_bus(c);
	c->timer = sd_event_source_disable_unref(c->timer);
	c->event = sd_event_unref(c->event);
	free(c->address);
}

int busconn_set_address(struct busconn *c, const char *address)
{
	const char *path = address ? busconn_path(address) : NULL;

	if (!address)
		return 0;
	if (!path)
		return -EINVAL;
	c->address = strdup(path);
	return c->address ? 0 : -ENOMEM;
}

void busconn_wake(struct busconn *c, uint64_t at_ns)
{
	timer_at(c->timer, at_ns);
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

static int open_socket(const char *path, int *ret)
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

/* Begins to speak on the socket, which the connection takes over in any case. */
static int begin(struct busconn *c, int fd)
{
	int r = sd_bus_new(&c->bus);

	if (r >= 0)
		r = sd_bus_set_fd(c->bus, fd, fd);
	if (r < 0) {
		close(fd);
		c->bus = sd_bus_unref(c->bus);
		return r;
	}
	r = sd_bus_set_bus_client(c->bus, c->is_bus);
	/* Else it would wait, at the loop's end, until all is written. */
	if (r >= 0)
		r = sd_bus_set_close_on_exit(c->bus, false);
	if (r >= 0)
		r = sd_bus_start(c->bus);
	if (r >= 0)
		r = sd_bus_attach_event(c->bus, c->event, SD_EVENT_PRIORITY_NORMAL);
	return r < 0 ? r : 0;
}

int busconn_connect(struct busconn *c, const char *path, bool is_bus, uint64_t now_ns)
{
	int fd = -1, r = open_socket(path, &fd);

	c->path = path;
	c->is_bus = is_bus;
	c->off = r == -ENOENT;
	c->began_ns = now_ns;
	c->retry_ns = 0;
	return r < 0 ? r : begin(c, fd);
}

static int connect_to(struct busconn *c, const char *path, uint64_t now_ns)
{
	return busconn_connect(c, path, strcmp(strrchr(path, '/'), "/private") != 0, now_ns);
}

int busconn_connect_systemd(struct busconn *c, uint64_t now_ns)
{
	int r = -ENOENT;

	if (c->address)
		return connect_to(c, c->address, now_ns);
	if (geteuid() == 0)
		r = connect_to(c, PRIVATE_SOCKET, now_ns);
	return r == -ENOENT ? connect_to(c, BUSCONN_SYSTEM_BUS, now_ns) : r;
}

void busconn_lose(struct busconn *c, uint64_t now_ns)
{
	if (c->answered && now_ns - c->began_ns > BUSCONN_WAIT_MAX_NS)
		c->failures = 0;
	close_bus(c);
	busconn_back_off(c, now_ns);
}

void busconn_back_off(struct busconn *c, uint64_t now_ns)
{
	c->retry_ns = now_ns + backoff_ns(BUSCONN_WAIT_MIN_NS, BUSCONN_WAIT_MAX_NS, c->failures++);
}

void busconn_set_text(struct busconn *c, const char *prefix, const char *text)
{
	snprintf(c->text, sizeof(c->text), "%s%s", prefix, text);
	for (char *at = c->text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

int busconn_match(struct busconn *c, const struct busconn_match *matches, size_t n, void *userdata)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		if (c->is_bus || !matches[i].bus_only)
			r = sd_bus_add_match_async(c->bus, NULL, matches[i].rule,
						   matches[i].handler, NULL, userdata);
	return r < 0 ? r : 0;
}

int busconn_new_call(struct busconn *c, const struct busconn_method *method, sd_bus_message **ret)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(c->bus, &m, method->name, method->object,
					       method->interface, method->member);

	/* What an administrator stopped is not started again. */
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	for (size_t i = 0; r >= 0 && i < 2 && method->args[i]; i++)
		r = sd_bus_message_append(m, "s", method->args[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

bool busconn_is_sent_by(const struct busconn *c, sd_bus_message *m, const char *owner)
{
	const char *sender = sd_bus_message_get_sender(m);

	return !c->is_bus || (sender && owner && strcmp(sender, owner) == 0);
}

int busconn_send(struct busconn *c, sd_bus_message *m, sd_bus_slot **ret,
		 sd_bus_message_handler_t handler, void *userdata)
{
	int r = sd_bus_call_async(c->bus, ret, m, handler, userdata, UINT64_MAX);

	return r < 0 ? r : 0;
}

int busconn_call(struct busconn *c, const struct busconn_method *method, sd_bus_slot **ret,
		 sd_bus_message_handler_t handler, void *userdata)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = busconn_new_call(c, method, &m);

	return r < 0 ? r : busconn_send(c, m, ret, handler, userdata);
}

/* --- properties --------------------------------------------------------------------------------- */

/* systemd 252 has 330 for a service. */
#define PROPERTIES_MAX 2048

struct reading {
	const struct busconn_property *rows;
	size_t n;
	void *object;
	uint32_t known;
};

/* A property of another type than it should be is skipped. */
static int read_value(sd_bus_message *m, const struct busconn_property *p, struct reading *reading)
{
	const char *type = NULL;
	int r = sd_bus_message_peek_type(m, NULL, &type);

	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	if (!type || strcmp(type, p->type) != 0)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_read(m, "v", p->type, (char *)reading->object + p->offset);
	if (r > 0)
		reading->known |= p->bit;
	return r;
}

static int read_entry(sd_bus_message *m, struct reading *reading)
{
	const char *name;
	size_t i = 0;
	int r = sd_bus_message_read(m, "s", &name);

	while (r > 0 && i < reading->n && strcmp(reading->rows[i].name, name) != 0)
		i++;
	if (r > 0)
		r = i < reading->n ? read_value(m, &reading->rows[i], reading)
				   : sd_bus_message_skip(m, "v");
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int busconn_read_properties(sd_bus_message *m, const struct busconn_property *rows, size_t n,
			    void *object, uint32_t *ret_known)
{
	struct reading reading = {.rows = rows, .n = n, .object = object};
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r == 0)
		return -EBADMSG;
	for (unsigned int i = 0; r >= 0; i++) {
		r = sd_bus_message_enter_container(m, 'e', "sv");
		if (r == 0)
			break;
		if (r > 0)
			r = i < PROPERTIES_MAX ? read_entry(m, &reading) : -EBADMSG;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	*ret_known = reading.known;
	return 0;
}
