// SPDX-License-Identifier: Apache-2.0
/* Keeps the list sorted, and forgets the service longest unused where it is full. */
#include "io/sources/units/table.h"

#include <stdlib.h>
#include <string.h>

#include "io/sources/units/units.h"

void units_init(struct unit_table *t)
{
	TAILQ_INIT(&t->asked);
	TAILQ_INIT(&t->wanted);
	TAILQ_INIT(&t->stale);
}

void units_put(struct unit_table *t, struct unit *unit, struct unit_list *in)
{
	if (unit->in)
		TAILQ_REMOVE(unit->in, unit, link);
	t->n_asked -= unit->in == &t->asked;
	t->n_asked += in == &t->asked;
	unit->in = in;
	if (in)
		TAILQ_INSERT_TAIL(in, unit, link);
}

/* Where the cgroup is in the list, or would be. */
static size_t position(const struct unit_table *t, const char *cgroup)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(t->list[mid]->cgroup, cgroup) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void unit_free(struct unit *unit)
{
	sd_bus_slot_unref(unit->call);
	free(unit->object);
	free(unit);
}

static void unit_remove(struct unit_table *t, struct unit *unit)
{
	size_t at = position(t, unit->cgroup);

	units_put(t, unit, NULL);
	t->n--;
	memmove(t->list + at, t->list + at + 1, (t->n - at) * sizeof(*t->list));
	unit_free(unit);
}

void units_forget(struct unit_table *t, struct unit *unit)
{
	if (!unit->finds && !unit->pinned)
		unit_remove(t, unit);
}

static bool make_room(struct unit_table *t)
{
	struct unit *oldest = NULL, **list;
	size_t room = t->room ? t->room * 2 : 64;

	if (t->n >= SOURCE_UNITS_FOLLOWED_MAX) {
		for (size_t i = 0; i < t->n; i++)
			if (!t->list[i]->finds && !t->list[i]->pinned &&
			    (!oldest || t->list[i]->used < oldest->used))
				oldest = t->list[i];
		if (!oldest)
			return false;
		unit_remove(t, oldest);
	}
	if (t->n < t->room)
		return true;
	list = reallocarray(t->list, room, sizeof(*list));
	if (!list)
		return false;
	t->list = list;
	t->room = room;
	return true;
}

struct unit *units_get(struct unit_table *t, const char *cgroup)
{
	size_t at = position(t, cgroup), len = strlen(cgroup);
	struct unit *unit;

	if (at < t->n && strcmp(t->list[at]->cgroup, cgroup) == 0)
		return t->list[at];
	if (!make_room(t))
		return NULL;
	unit = calloc(1, sizeof(*unit) + len + 1);
	if (!unit)
		return NULL;
	memcpy(unit->cgroup, cgroup, len + 1);
	at = position(t, cgroup);
	memmove(t->list + at + 1, t->list + at, (t->n - at) * sizeof(*t->list));
	t->list[at] = unit;
	t->n++;
	return unit;
}

void units_refresh(struct unit_table *t, struct unit *unit)
{
	if (!unit->in)
		units_put(t, unit, &t->stale);
	else if (unit->in == &t->asked)
		unit->again = true;
}

void units_refresh_all(struct unit_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		units_refresh(t, t->list[i]);
}

struct unit *units_by_object(const struct unit_table *t, const char *object)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i]->object && strcmp(t->list[i]->object, object) == 0)
			return t->list[i];
	return NULL;
}

void units_done(struct unit_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		unit_free(t->list[i]);
	free(t->list);
}
