// SPDX-License-Identifier: Apache-2.0
/* Speaks for systemd by sd-bus's server side, and for the bus's daemon where one is expected. */
#include "lib/units/unitpeer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(sd_bus_message *, sd_bus_message_unref);

#define UNITS	"/org/freedesktop/systemd1/unit/"
#define SERVICE "org.freedesktop.systemd1.Service"

static const struct unitpeer_service *service_of(const struct unitpeer *peer, const char *path)
{
	const struct unitpeer_service *s = peer->services;

	if (strncmp(path, UNITS, strlen(UNITS)) != 0)
		return NULL;
	for (; s && s->object; s++)
		if (strcmp(s->object, path + strlen(UNITS)) == 0)
			return s;
	return NULL;
}

static int send_as(struct unitpeer *peer, sd_bus_message *m, const char *sender)
{
	int r = sd_bus_message_set_sender(m, sender ? sender : UNITPEER_OWNER);

	return r < 0 ? r : sd_bus_send(peer->own.bus, m, NULL);
}

/* What systemd says of a name that nothing has. */
static const struct unitpeer_service nothing = {.cgroup = ""};

static int append_service(sd_bus_message *reply, const struct unitpeer_service *s)
{
	return sd_bus_message_append(reply, "a{sv}", 9, "Type", "s", "simple", "ExecStart",
				     "a(sasb)", 1, "/bin/a", 2, "/bin/a", "-b", false,
				     "ControlGroup", "s", s->cgroup, "MainPID", "u", s->main_pid,
				     "KillSignal", "i", s->kill_signal, "KillMode", "s",
				     "control-group", "TimeoutStopUSec", "t", s->stop_us,
				     "SendSIGKILL", "b", true, "ExecMainStartTimestamp", "t",
				     s->cgroup[0] ? (uint64_t)7 : (uint64_t)0);
}

static int answer_all(struct unitpeer *peer, sd_bus_message *m)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	const struct unitpeer_service *s = service_of(peer, sd_bus_message_get_path(m));
	int r;

	if (s && s->error)
		r = sd_bus_message_new_method_errorf(m, &reply, s->error, "no\n\033[1m");
	else
		r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0 && !(s && s->error))
		r = s && s->lie ? s->lie(reply) : append_service(reply, s ? s : &nothing);
	return r < 0 ? r : send_as(peer, reply, NULL);
}

static int answer_get(struct unitpeer *peer, sd_bus_message *m)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	const char *interface, *name;
	bool is_root;
	int r = sd_bus_message_read(m, "ss", &interface, &name);

	if (r < 0)
		return r;
	is_root = strcmp(name, "ControlGroup") == 0;
	if (peer->greeting_error)
		r = sd_bus_message_new_method_errorf(m, &reply, peer->greeting_error, "no");
	else
		r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0 && !peer->greeting_error)
		r = sd_bus_message_append(reply, "v", "s",
					  is_root ? (peer->root ? peer->root : "")
						  : UNITPEER_VERSION);
	return r < 0 ? r : send_as(peer, reply, NULL);
}

static int answer_hello(struct unitpeer *peer, sd_bus_message *m)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(m, &reply);

	if (r >= 0)
		r = sd_bus_message_append(reply, "s", ":1.7");
	return r < 0 ? r : send_as(peer, reply, "org.freedesktop.DBus");
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitpeer *peer = userdata;

	if (peer->mute)
		return 1;
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "Hello"))
		return answer_hello(peer, m) < 0 ? -EIO : 1;
	if (peer->on_call && peer->on_call(peer, m) > 0)
		return 1;
	if (sd_bus_message_is_method_call(m, NULL, "Get"))
		return answer_get(peer, m) < 0 ? -EIO : 1;
	if (!sd_bus_message_is_method_call(m, NULL, "GetAll"))
		return sd_bus_message_get_expect_reply(m) ? sd_bus_reply_method_return(m, "") : 1;
	peer->asked++;
	if (!peer->silent)
		return answer_all(peer, m) < 0 ? -EIO : 1;
	if (peer->held < sizeof(peer->own.waiting) / sizeof(peer->own.waiting[0]))
		peer->own.waiting[peer->held++] = sd_bus_message_ref(m);
	return 1;
}

static int on_raw(struct unitpeer *peer, int fd)
{
	/* To the last of them: who reads may be gone. */
	if (peer->n_bytes && write(fd, peer->bytes, peer->n_bytes) < 0)
		peer->close_after = true;
	peer->own.raw = fd;
	if (peer->close_after)
		unitpeer_hang_up(peer);
	return 0;
}

static int serve(struct unitpeer *peer, int fd)
{
	sd_id128_t id = {};
	int r = sd_bus_new(&peer->own.bus);

	if (r >= 0)
		r = sd_bus_set_fd(peer->own.bus, fd, fd);
	if (r >= 0)
		r = sd_bus_set_server(peer->own.bus, true, id);
	if (r >= 0)
		r = sd_bus_set_anonymous(peer->own.bus, true);
	if (r >= 0)
		r = sd_bus_set_close_on_exit(peer->own.bus, false);
	if (r >= 0)
		r = sd_bus_start(peer->own.bus);
	if (r >= 0)
		r = sd_bus_attach_event(peer->own.bus, peer->own.event, 0);
	return r < 0 ? r : sd_bus_add_filter(peer->own.bus, NULL, on_message, peer);
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct unitpeer *peer = userdata;

	fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return 0;
	unitpeer_hang_up(peer);
	peer->connected++;
	return peer->bytes ? on_raw(peer, fd) : serve(peer, fd);
}

int unitpeer_listen(struct unitpeer *peer, sd_event *event, const char *dir, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, r;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", dir, name);
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	strcpy(peer->own.path, address.sun_path);
	peer->own.event = event;
	r = sd_event_add_io(event, &peer->own.listener, fd, 1, on_connection, peer);
	if (r < 0)
		close(fd);
	else
		sd_event_source_set_io_fd_own(peer->own.listener, true);
	return r;
}

void unitpeer_stop(struct unitpeer *peer)
{
	peer->own.listener = sd_event_source_disable_unref(peer->own.listener);
	unlink(peer->own.path);
}

void unitpeer_hang_up(struct unitpeer *peer)
{
	while (peer->held > 0)
		sd_bus_message_unref(peer->own.waiting[--peer->held]);
	if (peer->own.raw > 0)
		close(peer->own.raw);
	peer->own.raw = 0;
	peer->own.bus = sd_bus_close_unref(peer->own.bus);
}

void unitpeer_release(struct unitpeer *peer)
{
	while (peer->held > 0) {
		answer_all(peer, peer->own.waiting[--peer->held]);
		sd_bus_message_unref(peer->own.waiting[peer->held]);
	}
}

void unitpeer_done(struct unitpeer *peer)
{
	unitpeer_stop(peer);
	unitpeer_hang_up(peer);
}

int unitpeer_tell_pid(struct unitpeer *peer, const char *sender, const char *object, uint32_t pid)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	char path[256];
	int r;

	snprintf(path, sizeof(path), UNITS "%s", object);
	r = sd_bus_message_new_signal(peer->own.bus, &m, path, "org.freedesktop.DBus.Properties",
				      "PropertiesChanged");
	if (r >= 0)
		r = sd_bus_message_append(m, "sa{sv}as", SERVICE, 2, "Result", "s", "success",
					  "MainPID", "u", pid, 1, "ExecStart");
	return r < 0 ? r : send_as(peer, m, sender);
}

static int tell(struct unitpeer *peer, const char *sender, const char *member, sd_bus_message **ret)
{
	int r = sd_bus_message_new_signal(peer->own.bus, ret, "/org/freedesktop/systemd1",
					  "org.freedesktop.systemd1.Manager", member);

	return r < 0 ? r : sd_bus_message_set_sender(*ret, sender ? sender : UNITPEER_OWNER);
}

int unitpeer_tell_removed(struct unitpeer *peer, const char *sender, const char *object)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	char path[256];
	int r = tell(peer, sender, "UnitRemoved", &m);

	snprintf(path, sizeof(path), UNITS "%s", object);
	if (r >= 0)
		r = sd_bus_message_append(m, "so", "a name", path);
	return r < 0 ? r : sd_bus_send(peer->own.bus, m, NULL);
}

int unitpeer_tell_reloading(struct unitpeer *peer, const char *sender, bool begins)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = tell(peer, sender, "Reloading", &m);

	if (r >= 0)
		r = sd_bus_message_append(m, "b", begins);
	return r < 0 ? r : sd_bus_send(peer->own.bus, m, NULL);
}

int unitpeer_tell_new_owner(struct unitpeer *peer)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_signal(peer->own.bus, &m, "/org/freedesktop/DBus",
					  "org.freedesktop.DBus", "NameOwnerChanged");

	if (r >= 0)
		r = sd_bus_message_append(m, "sss", "org.freedesktop.systemd1", UNITPEER_OWNER, "");
	return r < 0 ? r : send_as(peer, m, "org.freedesktop.DBus");
}
