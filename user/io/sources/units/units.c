// SPDX-License-Identifier: Apache-2.0
/* Keeps the services that were asked for, and who is to be told of which. */
#include "io/sources/units/units.h"

#include <errno.h>
#include <stdio.h>

#include "core/names/unit_name.h"
#include "io/bus/connection.h"
#include "io/proc/clock.h"
#include "io/sources/units/priv.h"

#define TIMEOUT_NS 5000000000ull

/* Under way at once: systemd does nothing else while it answers. */
#define ASKED_MAX 8

#define SUFFIX	 ".service"
#define PATH_LEN 4095

static void tell_done(struct podsrc_units *u, const char *cgroup, enum meta_result result)
{
	u->lookups[result]++;
	u->sink.done(u->sink.userdata, META_SYSTEMD, cgroup, result);
}

static void end_finds(struct podsrc_units *u, struct unit *unit, enum meta_result result)
{
	unsigned int n = unit->finds;

	unit->finds = 0;
	u->waiting -= n;
	unit->pinned++;
	while (n-- > 0)
		tell_done(u, unit->cgroup, result);
	unit->pinned--;
}

static bool same(const struct unit_told *a, const struct unit_told *b)
{
	return a->known == b->known && a->main_pid == b->main_pid &&
	       a->stop_signal == b->stop_signal && a->grace_ns == b->grace_ns;
}

static void tell(struct podsrc_units *u, struct unit *unit, const struct meta_container *container)
{
	struct unit_told now = {container->known, container->main_pid, container->stop_signal,
				container->grace_ns};

	if (!unit->finds && unit->told && same(&unit->last, &now))
		return;
	unit->told = true;
	unit->last = now;
	unit->pinned++;
	u->sink.container(u->sink.userdata, container);
	unit->pinned--;
}

/* unit may be gone afterwards. */
static void end(struct podsrc_units *u, struct unit *unit, enum meta_result result)
{
	end_finds(u, unit, result);
	if (result != META_FOUND && !unit->in)
		units_forget(u, unit);
}

void units_answer(struct podsrc_units *u, struct unit *unit, enum meta_result result,
		  const struct unitfacts *facts)
{
	struct meta_container container;
	char name[META_NAME_MAX];

	units_put(u, unit, NULL);
	unit->call = sd_bus_slot_unref(unit->call);
	if (facts)
		result = unitname_service(u->root, unit->cgroup, name)
				 ? unitfacts_judge(facts, name, unit->cgroup, &container)
				 : META_ABSENT;
	if (facts && result == META_FOUND)
		tell(u, unit, &container);
	if (unit->again && !unit->in)
		units_put(u, unit, &u->stale);
	unit->again = false;
	end(u, unit, result);
}

/* unit may be gone afterwards. */
static int ask(struct podsrc_units *u, struct unit *unit)
{
	char name[META_NAME_MAX];
	int r;

	units_put(u, unit, NULL);
	if (!unitname_service(u->root, unit->cgroup, name)) {
		end(u, unit, META_ABSENT);
		return 0;
	}
	if (!unit->object) {
		r = sd_bus_path_encode(UNITS_UNIT_OBJECTS, name, &unit->object);
		if (r < 0)
			return r;
	}
	unit->asked_ns = clock_boot_ns();
	units_put(u, unit, &u->asked);
	return units_ask(u, unit);
}

void units_pump(struct podsrc_units *u)
{
	struct unit *unit;
	int r = 0;

	while (r >= 0 && u->greeted && u->n_asked < ASKED_MAX) {
		unit = TAILQ_FIRST(&u->wanted);
		if (!unit && !u->n_asked)
			unit = TAILQ_FIRST(&u->stale);
		if (!unit)
			break;
		r = ask(u, unit);
	}
	if (r < 0)
		units_drop(u, strerror(-r));
	else
		units_arm(u);
}

void units_recall(struct podsrc_units *u)
{
	for (size_t i = 0; i < u->n; i++) {
		struct unit *unit = u->list[i];

		unit->call = sd_bus_slot_unref(unit->call);
		unit->again = false;
		free(unit->object);
		unit->object = NULL;
		if (!unit->finds)
			units_put(u, unit, NULL);
		else if (unit->in != &u->wanted)
			units_put(u, unit, &u->wanted);
	}
}

void units_fail_all(struct podsrc_units *u)
{
	/* The list may change while the sink is told. */
	while (!u->bus && !TAILQ_EMPTY(&u->wanted)) {
		struct unit *unit = TAILQ_FIRST(&u->wanted);

		units_put(u, unit, NULL);
		end_finds(u, unit, META_FAILED);
	}
}

static bool is_named_service(const char *cgroup)
{
	size_t len = strlen(cgroup), n = strlen(SUFFIX);

	return len > n && len <= PATH_LEN && strcmp(cgroup + len - n, SUFFIX) == 0;
}

void podsrc_units_find(struct podsrc_units *u, const char *cgroup)
{
	struct unit *unit;

	if (!is_named_service(cgroup)) {
		tell_done(u, cgroup, META_ABSENT);
		return;
	}
	unit = u->waiting < PODSRC_UNITS_WAITING_MAX ? units_get(u, cgroup) : NULL;
	if (!unit) {
		tell_done(u, cgroup, META_SHED);
		return;
	}
	unit->used = ++u->used;
	unit->finds++;
	u->waiting++;
	if (!u->bus && !units_is_soon_back(u)) {
		end_finds(u, unit, META_FAILED);
		return;
	}
	if (!unit->in || unit->in == &u->stale)
		units_put(u, unit, &u->wanted);
	units_pump(u);
}

void podsrc_units_get_state(const struct podsrc_units *u, struct podsrc_state *ret)
{
	*ret = (struct podsrc_state){.failures = u->failures, .retry_ns = u->retry_ns};
	if (u->greeted)
		ret->status = PODSRC_UP;
	else if (u->off)
		ret->status = PODSRC_OFF;
	else
		ret->status = u->failures ? PODSRC_DOWN : PODSRC_STARTING;
	memcpy(ret->where, u->where, sizeof(ret->where));
	memcpy(ret->text, u->text, sizeof(ret->text));
	memcpy(ret->lookups, u->lookups, sizeof(ret->lookups));
}

static int set_address(struct podsrc_units *u, const char *address)
{
	const char *path = address ? busconn_path(address) : NULL;

	if (!address)
		return 0;
	if (!path)
		return -EINVAL;
	u->address = strdup(path);
	return u->address ? 0 : -ENOMEM;
}

int podsrc_units_new(sd_event *event, const struct podsrc_units_options *options,
		     const struct podsrc_sink *sink, struct podsrc_units **ret)
{
	struct podsrc_units *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->event = sd_event_ref(event);
	u->sink = *sink;
	u->timeout_ns = options && options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	TAILQ_INIT(&u->asked);
	TAILQ_INIT(&u->wanted);
	TAILQ_INIT(&u->stale);
	r = set_address(u, options ? options->bus_address : NULL);
	if (r >= 0)
		r = units_add_timer(u);
	if (r < 0) {
		podsrc_units_free(u);
		return r;
	}
	units_connect(u);
	*ret = u;
	return 0;
}

struct podsrc_units *podsrc_units_free(struct podsrc_units *u)
{
	if (!u)
		return NULL;
	units_done(u);
	units_disconnect(u);
	sd_event_source_disable_unref(u->timer);
	sd_event_unref(u->event);
	free(u->address);
	free(u);
	return NULL;
}
