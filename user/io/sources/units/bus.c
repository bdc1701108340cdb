// SPDX-License-Identifier: Apache-2.0
/*
 * The connection to systemd: made, given up and made again. No function of sd-bus that waits is
 * called: the socket is connected here, and all else is answered later.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/connection.h"
#include "io/proc/clock.h"
#include "io/sources/units/priv.h"

#define PRIVATE_SOCKET "/run/systemd/private"

#define DELAY_MIN_NS 100000000ull
#define DELAY_MAX_NS 30000000000ull
#define GRAIN_US     1000

void units_set_text(struct podsrc_units *u, const char *prefix, const char *text)
{
	busconn_line(u->text, sizeof(u->text), prefix, text);
}

void units_arm(struct podsrc_units *u)
{
	const struct unit *oldest = TAILQ_FIRST(&u->asked);
	uint64_t at_ns = 0;

	if (!u->bus)
		at_ns = u->retry_ns;
	else if (!u->greeted)
		at_ns = u->began_ns + u->timeout_ns;
	else if (oldest)
		at_ns = oldest->asked_ns + u->timeout_ns;
	sd_event_source_set_time(u->timer, at_ns / 1000 + 1);
	sd_event_source_set_enabled(u->timer, at_ns ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void units_disconnect(struct podsrc_units *u)
{
	for (size_t i = 0; i < 2; i++)
		u->greeting[i] = sd_bus_slot_unref(u->greeting[i]);
	u->bus = sd_bus_close_unref(u->bus);
	free(u->root);
	free(u->owner);
	u->root = u->owner = NULL;
	u->greeted = u->reloading = false;
	u->retry_ns = 0;
}

/* systemd is away for a moment when it executes itself anew (daemon-reexec). */
bool units_is_soon_back(const struct podsrc_units *u)
{
	return u->retry_ns && u->delay_ns == DELAY_MIN_NS && !u->off;
}

/* One that answered for long is tried again soon. */
void units_drop(struct podsrc_units *u, const char *why)
{
	uint64_t now_ns = clock_boot_ns();

	if (u->greeted && now_ns - u->began_ns > DELAY_MAX_NS)
		u->delay_ns = 0;
	u->delay_ns = u->delay_ns ? u->delay_ns * 2 : DELAY_MIN_NS;
	if (u->delay_ns > DELAY_MAX_NS)
		u->delay_ns = DELAY_MAX_NS;
	units_set_text(u, "", why);
	units_disconnect(u);
	u->failures++;
	u->retry_ns = now_ns + u->delay_ns;
	units_arm(u);
	units_recall(u);
	if (!units_is_soon_back(u))
		units_fail_all(u);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_units *u = userdata;

	(void)source;
	(void)usec;
	if (!u->bus)
		units_connect(u);
	else
		units_drop(u, "it does not answer");
	return 0;
}

int units_add_timer(struct podsrc_units *u)
{
	int r = sd_event_add_time(u->event, &u->timer, CLOCK_BOOTTIME, 0, GRAIN_US, on_timer, u);

	return r < 0 ? r : sd_event_source_set_enabled(u->timer, SD_EVENT_OFF);
}

/* Takes over the socket. */
static int begin(struct podsrc_units *u, int fd)
{
	int r = busconn_begin(u->event, fd, u->is_bus, &u->bus);

	return r < 0 ? r : units_greet(u);
}

static int open_at(struct podsrc_units *u, const char *path, int *ret)
{
	const char *slash = strrchr(path, '/');

	u->is_bus = strcmp(slash, "/private") != 0;
	snprintf(u->where, sizeof(u->where), "%s", path);
	return busconn_open(path, ret);
}

static int open_any(struct podsrc_units *u, int *ret)
{
	int r = -ENOENT;

	if (u->address)
		return open_at(u, u->address, ret);
	if (geteuid() == 0)
		r = open_at(u, PRIVATE_SOCKET, ret);
	return r == -ENOENT ? open_at(u, BUSCONN_SYSTEM_BUS, ret) : r;
}

void units_connect(struct podsrc_units *u)
{
	int fd, r = open_any(u, &fd);

	u->off = r == -ENOENT;
	u->began_ns = clock_boot_ns();
	u->retry_ns = 0;
	if (r >= 0)
		r = begin(u, fd);
	if (r < 0)
		units_drop(u, r == -ENOENT  ? "there is no systemd"
			      : r == -EPERM ? "its socket is not root's"
					    : strerror(-r));
	else
		units_arm(u);
}
