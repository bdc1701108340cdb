// SPDX-License-Identifier: Apache-2.0
/* The services that are followed: by cgroup, by object, in the order they are to be asked about. */
#include <errno.h>

#include "io/sources/units/priv.h"

void units_put(struct podsrc_units *u, struct unit *unit, struct unit_list *in)
{
	if (unit->in)
		TAILQ_REMOVE(unit->in, unit, link);
	u->n_asked -= unit->in == &u->asked;
	u->n_asked += in == &u->asked;
	unit->in = in;
	if (in)
		TAILQ_INSERT_TAIL(in, unit, link);
}

/* Where the cgroup is in the list, or would be. */
static size_t position(const struct podsrc_units *u, const char *cgroup)
{
	size_t low = 0, high = u->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(u->list[mid]->cgroup, cgroup) < 0)
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

static void unit_remove(struct podsrc_units *u, struct unit *unit)
{
	size_t at = position(u, unit->cgroup);

	units_put(u, unit, NULL);
	u->n--;
	memmove(u->list + at, u->list + at + 1, (u->n - at) * sizeof(*u->list));
	unit_free(unit);
}

void units_forget(struct podsrc_units *u, struct unit *unit)
{
	if (!unit->finds && !unit->pinned)
		unit_remove(u, unit);
}

static bool make_room(struct podsrc_units *u)
{
	struct unit *oldest = NULL, **list;
	size_t room = u->room ? u->room * 2 : 64;

	if (u->n >= PODSRC_UNITS_FOLLOWED_MAX) {
		for (size_t i = 0; i < u->n; i++)
			if (!u->list[i]->finds && !u->list[i]->pinned &&
			    (!oldest || u->list[i]->used < oldest->used))
				oldest = u->list[i];
		if (!oldest)
			return false;
		unit_remove(u, oldest);
	}
	if (u->n < u->room)
		return true;
	list = reallocarray(u->list, room, sizeof(*list));
	if (!list)
		return false;
	u->list = list;
	u->room = room;
	return true;
}

struct unit *units_get(struct podsrc_units *u, const char *cgroup)
{
	size_t at = position(u, cgroup), len = strlen(cgroup);
	struct unit *unit;

	if (at < u->n && strcmp(u->list[at]->cgroup, cgroup) == 0)
		return u->list[at];
	if (!make_room(u))
		return NULL;
	unit = calloc(1, sizeof(*unit) + len + 1);
	if (!unit)
		return NULL;
	memcpy(unit->cgroup, cgroup, len + 1);
	at = position(u, cgroup);
	memmove(u->list + at + 1, u->list + at, (u->n - at) * sizeof(*u->list));
	u->list[at] = unit;
	u->n++;
	return unit;
}

void units_refresh(struct podsrc_units *u, struct unit *unit)
{
	if (!unit->in)
		units_put(u, unit, &u->stale);
	else if (unit->in == &u->asked)
		unit->again = true;
}

void units_refresh_all(struct podsrc_units *u)
{
	for (size_t i = 0; i < u->n; i++)
		units_refresh(u, u->list[i]);
}

struct unit *units_by_object(const struct podsrc_units *u, const char *object)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->list[i]->object && strcmp(u->list[i]->object, object) == 0)
			return u->list[i];
	return NULL;
}

void units_done(struct podsrc_units *u)
{
	for (size_t i = 0; i < u->n; i++)
		unit_free(u->list[i]);
	free(u->list);
}
