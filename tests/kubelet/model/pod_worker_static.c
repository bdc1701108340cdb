// SPDX-License-Identifier: Apache-2.0
/* Static pods: of one full name one runs at a time, in the order they came (docs/kubelet-rules.md,
 * "Static pods"). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kubelet/model/pod_worker_priv.h"

#define MAX_NAMES PODLIFE_MAX_PODS
/* Entries of the dead stay in a queue until a pod of that name is looked at, but not beyond this. */
#define TIDY_FROM 64

struct podworker_name *podworker_name_find(const struct podworker *pw, const char *fullname)
{
	struct podworker_name *name = map_get(&pw->names, map_key(fullname));

	return name && strcmp(name->fullname, fullname) == 0 ? name : NULL;
}

static void name_free(struct podworker_name *name)
{
	free(name->fullname);
	free(name->waiting);
	free(name);
}

DEFINE_CLEANUP(struct podworker_name *, name_free);

void podworker_names_done(struct podworker *pw)
{
	struct podworker_name *name;

	while ((name = TAILQ_FIRST(&pw->all_names))) {
		TAILQ_REMOVE(&pw->all_names, name, all);
		name_free(name);
	}
	map_done(&pw->names);
}

static void drop_if_unused(struct podworker *pw, struct podworker_name *name)
{
	if (name->started[0] || name->n_waiting > 0)
		return;
	map_remove(&pw->names, map_key(name->fullname));
	TAILQ_REMOVE(&pw->all_names, name, all);
	name_free(name);
}

static bool is_live(const struct podworker *pw, const char *uid)
{
	const struct podworker_record *rec = podworker_find(pw, uid);

	return rec && !rec->status.terminating_ns && !rec->status.terminated_ns;
}

static void cut_waiting(struct podworker_name *name, size_t n)
{
	name->n_waiting -= n;
	memmove(name->waiting, name->waiting + n, name->n_waiting * sizeof(*name->waiting));
}

static bool waits_before(const struct podworker_name *name, size_t end, const char *uid)
{
	for (size_t i = 0; i < end; i++)
		if (strcmp(name->waiting[i], uid) == 0)
			return true;
	return false;
}

/* Whether it may yet start under this name, and not under another that its UID came back with. */
static bool waits_here(const struct podworker *pw, const struct podworker_name *name,
		       const char *uid)
{
	const struct podworker_record *rec = podworker_find(pw, uid);

	return rec && is_live(pw, uid) && strcmp(rec->fullname, name->fullname) == 0;
}

/* Drops who can never start, and who waits a second time. */
static void tidy(const struct podworker *pw, struct podworker_name *name)
{
	size_t n = 0;

	for (size_t i = 0; i < name->n_waiting; i++) {
		if (!waits_here(pw, name, name->waiting[i]) ||
		    waits_before(name, n, name->waiting[i]))
			continue;
		memmove(name->waiting[n++], name->waiting[i], sizeof(*name->waiting));
	}
	name->n_waiting = n;
}

/* Full names whose waiting pods are all gone have nobody left who would drop them. */
static void sweep(struct podworker *pw)
{
	struct podworker_name *name, *next;

	for (name = TAILQ_FIRST(&pw->all_names); name; name = next) {
		next = TAILQ_NEXT(name, all);
		tidy(pw, name);
		drop_if_unused(pw, name);
	}
}

static int want_name(struct podworker *pw, const char *fullname, struct podworker_name **ret)
{
	_cleanup_(cleanup_name_free) struct podworker_name *name = NULL;
	struct podworker_name *found = podworker_name_find(pw, fullname);
	int r;

	if (found) {
		*ret = found;
		return 0;
	}
	if (pw->names.count >= MAX_NAMES)
		sweep(pw);
	/* The second of two names with one key is refused. */
	if (pw->names.count >= MAX_NAMES || map_get(&pw->names, map_key(fullname))) {
		pw->refused++;
		return -ENOSPC;
	}
	name = calloc(1, sizeof(*name));
	if (!name)
		return -ENOMEM;
	name->fullname = strdup(fullname);
	if (!name->fullname)
		return -ENOMEM;
	r = map_put(&pw->names, map_key(fullname), name);
	if (r < 0)
		return r;
	TAILQ_INSERT_TAIL(&pw->all_names, name, all);
	*ret = TAKE_PTR(name);
	return 0;
}

static int make_room(const struct podworker *pw, struct podworker_name *name)
{
	size_t room = name->room ? 2 * name->room : 4;
	void *waiting;

	if (name->n_waiting < name->room)
		return 0;
	if (name->n_waiting >= TIDY_FROM) {
		tidy(pw, name);
		if (name->n_waiting <= name->room / 2)
			return 0;
	}
	waiting = reallocarray(name->waiting, room, sizeof(*name->waiting));
	if (!waiting)
		return -ENOMEM;
	name->waiting = waiting;
	name->room = room;
	return 0;
}

int podworker_name_wait(struct podworker *pw, const char *fullname, const char *uid)
{
	struct podworker_name *name;
	int r = want_name(pw, fullname, &name);

	if (r < 0)
		return r;
	r = make_room(pw, name);
	if (r < 0) {
		drop_if_unused(pw, name);
		return r;
	}
	snprintf(name->waiting[name->n_waiting++], sizeof(*name->waiting), "%s", uid);
	return 0;
}

int podworker_name_start(struct podworker *pw, const char *fullname, const char *uid)
{
	struct podworker_name *name;
	int r = want_name(pw, fullname, &name);

	if (r < 0)
		return r;
	snprintf(name->started, sizeof(name->started), "%s", uid);
	return 0;
}

void podworker_name_free(struct podworker *pw, const char *fullname, const char *uid)
{
	struct podworker_name *name = podworker_name_find(pw, fullname);

	if (!name || strcmp(name->started, uid) != 0)
		return;
	name->started[0] = '\0';
	drop_if_unused(pw, name);
}

/* The first that can still start is next. A queue without one keeps its dead. */
static bool is_next(const struct podworker *pw, struct podworker_name *name, const char *uid)
{
	for (size_t i = 0; i < name->n_waiting; i++) {
		bool self = strcmp(name->waiting[i], uid) == 0;

		if (!is_live(pw, name->waiting[i]))
			continue;
		cut_waiting(name, self ? i + 1 : i);
		return self;
	}
	return true;
}

enum podworker_may podworker_may_start(struct podworker *pw, const char *uid, bool is_static)
{
	const struct podworker_record *rec = podworker_find(pw, uid);
	struct podworker_name *name;

	if (!is_static)
		return PODWORKER_MAY_START;
	if (!rec || rec->status.terminating_ns)
		return PODWORKER_NEVER;
	name = podworker_name_find(pw, rec->fullname);
	if (name && name->started[0])
		return strcmp(name->started, uid) == 0 ? PODWORKER_MAY_START : PODWORKER_NOT_YET;
	if (name && !is_next(pw, name, uid))
		return PODWORKER_NOT_YET;
	/* Without room for its name it is tried again, like one that has to wait. */
	return podworker_name_start(pw, rec->fullname, uid) < 0 ? PODWORKER_NOT_YET
								: PODWORKER_MAY_START;
}
