// SPDX-License-Identifier: Apache-2.0
/* Runs io/logind in a loop, and writes down what it tells. */
#include "lib/shutdown/logindscene.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"

#define TURN_US 20000
#define MS	UINT64_C(1000000)

__attribute__((format(printf, 2, 3))) static void add_event(struct logindscene *s,
							    const char *format, ...)
{
	size_t len = strlen(s->events);
	va_list args;

	va_start(args, format);
	vsnprintf(s->events + len, sizeof(s->events) - len, format, args);
	va_end(args);
}

static void take(struct logindscene *s)
{
	if (!s->no_lock && !logindscene_state(s).held)
		logind_take(s->logind);
}

static void on_up(void *userdata)
{
	add_event(userdata, "up ");
	take(userdata);
}

static void on_down(void *userdata)
{
	add_event(userdata, "down ");
}

static void on_taken(void *userdata)
{
	add_event(userdata, "taken ");
}

static void on_refused(void *userdata, const char *error, const char *text)
{
	add_event(userdata, "refused=%s ", error);
}

static void on_lost(void *userdata)
{
	add_event(userdata, "lost ");
	take(userdata);
}

static void on_announced(void *userdata, const uint64_t *limit_ns, const char *action)
{
	if (limit_ns)
		add_event(userdata, "announced=%" PRIu64 ":%s ", *limit_ns / MS, action);
	else
		add_event(userdata, "announced=?:%s ", action);
}

static void on_cancelled(void *userdata)
{
	add_event(userdata, "cancelled ");
	take(userdata);
}

static void on_limit(void *userdata, uint64_t limit_ns)
{
	struct logindscene *s = userdata;

	add_event(s, "limit=%" PRIu64 " ", limit_ns / MS);
	if (s->keep)
		delaykeep_limit(s->keep, limit_ns);
}

static void on_holders(void *userdata, const struct logind_holder *list, size_t n, bool failed)
{
	if (failed)
		add_event(userdata, "holders=failed ");
	else
		add_event(userdata, "holders=%zu ", n);
	for (size_t i = 0; i < n && i < LOGIND_HOLDERS_MAX; i++)
		add_event(userdata, "%s%s/%s ", list[i].own ? "own:" : "", list[i].who,
			  list[i].why);
}

static void on_reloaded(void *userdata, const char *error)
{
	struct logindscene *s = userdata;

	add_event(s, "reloaded=%s ", error ? error : "ok");
	if (s->keep)
		delaykeep_reloaded(s->keep, error);
}

void logindscene_begin(struct logindscene *s, bool run)
{
	*s = (struct logindscene){};
	logindmock_begin(&s->mock);
	if (run) {
		logindmock_start_bus(&s->mock);
		logindmock_start(&s->mock);
	}
	assert_int_equal(sd_event_new(&s->event), 0);
}

void logindscene_end(struct logindscene *s)
{
	s->keep = delaykeep_free(s->keep);
	s->logind = logind_free(s->logind);
	sd_event_unref(s->event);
	logindmock_end(&s->mock);
}

static int begin(void **state, bool run)
{
	static struct logindscene s;

	*state = NULL;
	if (!logindmock_is_here())
		return 0;
	logindscene_begin(&s, run);
	*state = &s;
	return 0;
}

int logindscene_setup(void **state)
{
	return begin(state, true);
}

int logindscene_setup_dark(void **state)
{
	return begin(state, false);
}

int logindscene_teardown(void **state)
{
	if (*state)
		logindscene_end(*state);
	return 0;
}

struct logindscene *logindscene_of(void **state)
{
	if (!*state) {
		print_message("needs dbus-daemon and python3-dbusmock\n");
		skip();
	}
	return *state;
}

void logindscene_open(struct logindscene *s, const struct logind_options *options)
{
	struct logind_options all = *options;
	const struct logind_sink sink = {
		s,	    on_up,	on_down,      on_taken,
		on_refused, on_lost,	on_announced, on_cancelled,
		on_limit,   on_holders, on_reloaded,
	};

	all.bus_address = s->mock.address;
	all.who = "graced";
	all.why = "It sees the shutdown through";
	assert_int_equal(logind_new(s->event, &all, &sink, &s->logind), 0);
}

static void turn(struct logindscene *s, uint64_t end_ns, const char *what)
{
	if (clock_boot_ns() > end_ns)
		fail_msg("%s does not come: %s", what, s->events);
	assert_true(sd_event_run(s->event, TURN_US) >= 0);
}

void logindscene_await(struct logindscene *s, const char *text)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (!strstr(s->events, text))
		turn(s, end_ns, text);
}

static const char *const status_names[] = {
	[LOGIND_STARTING] = "starting", [LOGIND_UP] = "up",	[LOGIND_SLOW] = "slow",
	[LOGIND_ABSENT] = "absent",	[LOGIND_DOWN] = "down", [LOGIND_OFF] = "off",
};

void logindscene_await_status(struct logindscene *s, enum logind_status status)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (logindscene_state(s).status != status)
		turn(s, end_ns, status_names[status]);
}

void logindscene_await_locks(struct logindscene *s, unsigned int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (logindmock_locks(&s->mock) != n)
		turn(s, end_ns, "the number of locks");
}

void logindscene_forget(struct logindscene *s)
{
	s->events[0] = '\0';
}

void logindscene_run_for(struct logindscene *s, uint64_t ns)
{
	uint64_t end_ns = clock_boot_ns() + ns;

	while (clock_boot_ns() < end_ns)
		assert_true(sd_event_run(s->event, TURN_US) >= 0);
}

void logindscene_settle(struct logindscene *s)
{
	/* The first answer may be to what was asked before. */
	for (int i = 0; i < 2; i++) {
		uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
		unsigned int n = logindscene_count(s, "limit=");

		logind_query_limit(s->logind);
		while (logindscene_count(s, "limit=") == n)
			turn(s, end_ns, "an answer");
	}
}

unsigned int logindscene_count(const struct logindscene *s, const char *text)
{
	unsigned int n = 0;

	for (const char *at = s->events; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

struct logind_state logindscene_state(const struct logindscene *s)
{
	struct logind_state state = {};

	if (s->logind)
		logind_get_state(s->logind, &state);
	return state;
}
