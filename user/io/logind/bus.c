// SPDX-License-Identifier: Apache-2.0
/* The connection to the bus: made, given up and made again; and the end of patience. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "io/logind/priv.h"
#include "io/proc/clock.h"

#define DELAY_MIN_NS 100000000ull
#define DELAY_MAX_NS 30000000000ull
#define GRAIN_US     1000

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

void logind_arm(struct logind *l)
{
	uint64_t at_ns = l->retry_ns;

	for (size_t i = 0; i < LOGIND_CALL_COUNT; i++)
		if (l->calls[i].slot)
			at_ns = earlier(at_ns, l->calls[i].asked_ns + l->timeout_ns);
	sd_event_source_set_time(l->timer, at_ns / 1000 + 1);
	sd_event_source_set_enabled(l->timer, at_ns ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

/* After a long time without a failure it begins with a short delay again. */
void logind_back_off(struct logind *l)
{
	uint64_t now_ns = clock_boot_ns();

	if (l->retry_ns)
		return;
	if (now_ns - l->failed_ns > 2 * DELAY_MAX_NS)
		l->delay_ns = 0;
	l->delay_ns = l->delay_ns ? l->delay_ns * 2 : DELAY_MIN_NS;
	if (l->delay_ns > DELAY_MAX_NS)
		l->delay_ns = DELAY_MAX_NS;
	l->failed_ns = now_ns;
	l->retry_ns = now_ns + l->delay_ns;
}

void logind_disconnect(struct logind *l)
{
	for (size_t i = 0; i < LOGIND_CALL_COUNT; i++) {
		logind_call_off(l, i);
		l->calls[i].due = false;
	}
	l->bus = sd_bus_close_unref(l->bus);
	free(l->owner);
	l->owner = NULL;
	l->owner_known = l->slow = false;
	l->retry_ns = 0;
}

void logind_lose_bus(struct logind *l, const char *why)
{
	static const enum logind_call told[] = {LOGIND_INHIBIT, LOGIND_HOLDERS, LOGIND_RELOAD};
	bool owed[LOGIND_CALL_COUNT], was_up = l->owner;
	char text[sizeof(l->text)];

	for (size_t i = 0; i < LOGIND_CALL_COUNT; i++)
		owed[i] = l->calls[i].slot;
	/* It may belong to the connection. */
	busconn_line(text, sizeof(text), "", why);
	logind_disconnect(l);
	l->verify = false;
	logind_back_off(l);
	logind_set_text(l, "", text);
	logind_arm(l);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (owed[told[i]])
			logind_call_failed(l, told[i], SD_BUS_ERROR_DISCONNECTED, text);
	if (was_up)
		l->sink.down(l->sink.userdata);
}

static void end_patience(struct logind *l, uint64_t now_ns)
{
	for (size_t i = 0; l->bus && i < LOGIND_CALL_COUNT; i++) {
		if (!l->calls[i].slot || now_ns - l->calls[i].asked_ns < l->timeout_ns)
			continue;
		l->counts.timeouts++;
		l->slow = i > LOGIND_SELF;
		/* Its answer, and the lock in it, are dropped when they come. */
		logind_call_off(l, i);
		logind_call_failed(l, i, SD_BUS_ERROR_NO_REPLY,
				   i <= LOGIND_SELF ? "the bus does not answer"
						    : "logind does not answer");
	}
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct logind *l = userdata;
	uint64_t now_ns = clock_boot_ns();
	bool due = l->retry_ns && now_ns >= l->retry_ns;

	(void)source;
	(void)usec;
	if (due)
		l->retry_ns = 0;
	if (due && !l->bus)
		logind_connect(l);
	else
		end_patience(l, now_ns);
	for (size_t i = 0; due && i < LOGIND_CALL_COUNT; i++)
		if (l->calls[i].due)
			logind_ask(l, i);
	logind_arm(l);
	return 0;
}

int logind_add_timer(struct logind *l)
{
	int r = sd_event_add_time(l->event, &l->timer, CLOCK_BOOTTIME, 0, GRAIN_US, on_timer, l);

	return r < 0 ? r : sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
}

void logind_connect(struct logind *l)
{
	int fd, r = busconn_open(l->address, &fd);

	l->counts.connections++;
	l->off = r == -ENOENT;
	if (r >= 0)
		r = busconn_begin(l->event, fd, true, &l->bus);
	if (r >= 0)
		r = logind_greet(l);
	if (r < 0)
		logind_lose_bus(l, r == -ENOENT	 ? "there is no system bus"
				   : r == -EPERM ? "the system bus is not root's"
						 : strerror(-r));
	else
		logind_arm(l);
}
