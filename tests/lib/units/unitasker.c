// SPDX-License-Identifier: Apache-2.0
/* Runs io/sources/units and its peer in one loop, and keeps what the sink receives. */
#include "lib/units/unitasker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"

#define TURN_US 20000
#define STOP_US 90000000ull

static struct unitasker_report *add_report(struct unitasker *a, const char *key)
{
	struct unitasker_report *report = a->reports + a->n;

	assert_true(a->n < UNITASKER_REPORTS_MAX);
	a->n++;
	*report = (struct unitasker_report){};
	snprintf(report->key, sizeof(report->key), "%s", key);
	return report;
}

static void ask_next(struct unitasker *a)
{
	const char *next = a->next;

	a->next = NULL;
	if (next)
		source_units_find(a->units, next);
}

static void on_pod(void *userdata, const struct meta_pod *pod)
{
	fail_msg("systemd has no pods");
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct unitasker *a = userdata;

	add_report(a, container->unit)->container = *container;
	ask_next(a);
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	struct unitasker *a = userdata;
	struct unitasker_report *report = add_report(a, key);

	assert_int_equal(source, META_SYSTEMD);
	report->done = true;
	report->result = result;
	a->n_done++;
	ask_next(a);
}

void unitasker_begin(struct unitasker *a)
{
	*a = (struct unitasker){
		.sink = {a, on_pod, on_container, on_done},
		.dir = "/tmp/graced-units-XXXXXX",
		.reports = calloc(UNITASKER_REPORTS_MAX, sizeof(*a->reports)),
	};
	assert_non_null(a->reports);
	assert_non_null(mkdtemp(a->dir));
	assert_int_equal(sd_event_new(&a->event), 0);
}

void unitasker_end(struct unitasker *a)
{
	source_units_free(a->units);
	unitpeer_done(&a->peer);
	sd_event_unref(a->event);
	free(a->reports);
	assert_int_equal(rmdir(a->dir), 0);
}

int unitasker_setup(void **state)
{
	static struct unitpeer_service services[3];
	static struct unitasker a;

	services[0] = (struct unitpeer_service){"a_2eservice", UNITASKER_A, 42,	 SIGTERM,
						STOP_US,       NULL,	    NULL};
	services[1] = (struct unitpeer_service){"b_2eservice", UNITASKER_B, 43,	 SIGTERM,
						STOP_US,       NULL,	    NULL};
	unitasker_begin(&a);
	a.peer.services = services;
	*state = &a;
	return 0;
}

int unitasker_teardown(void **state)
{
	unitasker_end(*state);
	return 0;
}

void unitasker_listen(struct unitasker *a, const char *name)
{
	assert_int_equal(unitpeer_listen(&a->peer, a->event, a->dir, name), 0);
}

void unitasker_ask(struct unitasker *a, const char *name, uint64_t timeout_ns)
{
	char address[64];

	snprintf(address, sizeof(address), "unix:path=%s/%s", a->dir, name);
	assert_int_equal(source_units_new(a->event,
					  &(struct source_units_options){address, timeout_ns},
					  &a->sink, &a->units),
			 0);
}

void unitasker_until(struct unitasker *a, bool (*check)(struct unitasker *))
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (!check(a)) {
		if (clock_boot_ns() > end_ns)
			fail_msg("what was waited for does not come");
		assert_true(sd_event_run(a->event, TURN_US) >= 0);
	}
}

/* Everything is in one process: what is written can be read at once. */
void unitasker_settle(struct unitasker *a)
{
	while (sd_event_run(a->event, 0) > 0)
		;
}

static bool is_status(struct unitasker *a, enum source_status status)
{
	struct source_state state;

	source_units_get_state(a->units, &state);
	return state.status == status;
}

bool unitasker_is_up(struct unitasker *a)
{
	return is_status(a, SOURCE_UP);
}

bool unitasker_is_down(struct unitasker *a)
{
	return is_status(a, SOURCE_DOWN);
}

bool unitasker_is_off(struct unitasker *a)
{
	return is_status(a, SOURCE_OFF);
}

enum meta_result unitasker_find(struct unitasker *a, const char *cgroup)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
	size_t before = a->n_done;

	source_units_find(a->units, cgroup);
	while (a->n_done == before && clock_boot_ns() < end_ns)
		assert_true(sd_event_run(a->event, TURN_US) >= 0);
	assert_int_equal(a->n_done, before + 1);
	assert_string_equal(a->reports[a->n - 1].key, cgroup);
	return a->reports[a->n - 1].result;
}

const struct meta_container *unitasker_last(const struct unitasker *a)
{
	for (size_t i = a->n; i > 0; i--)
		if (!a->reports[i - 1].done)
			return &a->reports[i - 1].container;
	return NULL;
}

size_t unitasker_containers(const struct unitasker *a)
{
	return a->n - a->n_done;
}
