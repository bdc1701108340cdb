// SPDX-License-Identifier: Apache-2.0
/* Compares each list with the one before, as far as that one may be compared with. */
#include "io/sources/kubelet/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "io/sources/kubelet/kubelet.h"

void source_known_done(struct source_known *known)
{
	free(known->before.list);
	free(known->now.list);
}

static int by_uid(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void sort(struct source_known_pods *pods)
{
	if (pods->n)
		qsort(pods->list, pods->n, sizeof(pods->list[0]), by_uid);
}

/* Among the first n, which are sorted; NULL: it is not there. */
static struct source_known_pod *find(const struct source_known_pods *pods, size_t n,
				     const char *uid)
{
	return n ? bsearch(uid, pods->list, n, sizeof(pods->list[0]), by_uid) : NULL;
}

/* Makes room for one more pod. False: there is none, and the list is marked as full. */
static bool make_room(struct source_known_pods *pods)
{
	if (pods->n < SOURCE_KUBELET_PODS_MAX && ROOM_FOR_ONE(pods->list, pods->n, pods->room, 128))
		return true;
	pods->full = true;
	return false;
}

static void add(struct source_known_pods *pods, size_t at, const char *uid, int64_t seen_wall_ns)
{
	struct source_known_pod *added;

	if (!make_room(pods))
		return;
	added = pods->list + at;
	memmove(added + 1, added, (pods->n - at) * sizeof(*added));
	pods->n++;
	strcpy(added->uid, uid);
	added->seen_wall_ns = seen_wall_ns;
}

void source_known_begin(struct source_known *known)
{
	known->now.n = 0;
	known->now.full = known->now.by_api = false;
}

void source_known_add(struct source_known *known, const struct meta_pod *pod, int64_t seen_wall_ns)
{
	add(&known->now, known->now.n, pod->uid, seen_wall_ns);
	known->now.by_api |= !pod->is_static;
}

static enum source_known_process process_of(const struct source_known *known)
{
	enum source_known_process process = SOURCE_PROCESS_UNKNOWN;

	for (size_t i = 0; i < known->now.n; i++) {
		const struct source_known_pod *now = known->now.list + i;
		const struct source_known_pod *before =
			find(&known->before, known->before.n, now->uid);

		if (!before || !before->seen_wall_ns || !now->seen_wall_ns)
			continue;
		if (before->seen_wall_ns == now->seen_wall_ns)
			return SOURCE_PROCESS_SAME;
		process = SOURCE_PROCESS_RESTARTED;
	}
	return process;
}

/* Those that are listed again did not leave, and of another process nothing follows. */
static void review_left(struct source_known *known)
{
	for (size_t i = 0; i < SOURCE_KNOWN_LEFT; i++)
		if (known->process == SOURCE_PROCESS_RESTARTED ||
		    find(&known->now, known->now.n, known->left[i]))
			known->left[i][0] = 0;
}

bool source_known_has_left(const struct source_known *known, const char *uid)
{
	for (size_t i = 0; i < SOURCE_KNOWN_LEFT; i++)
		if (uid[0] && strcmp(known->left[i], uid) == 0)
			return true;
	return false;
}

static bool is_ignorant(const struct source_known *known)
{
	if (!known->kubelet || known->process == SOURCE_PROCESS_SAME)
		return false;
	return known->process == SOURCE_PROCESS_RESTARTED || (known->before.n && !known->now.n) ||
	       (known->before.by_api && !known->now.by_api);
}

void source_known_judge(struct source_known *known, bool same)
{
	sort(&known->now);
	known->process = same ? SOURCE_PROCESS_SAME : process_of(known);
	known->ignorant = is_ignorant(known);
	review_left(known);
}

bool source_known_is_ignorant(const struct source_known *known)
{
	return known->ignorant;
}

bool source_known_compare(struct source_known *known, size_t *at, size_t limit,
			  void (*gone)(void *userdata, const char *uid), void *userdata)
{
	size_t end = *at + limit;

	if (known->now.full || source_known_is_ignorant(known))
		*at = known->before.n;
	for (; *at < known->before.n && *at < end; ++*at) {
		const char *uid = known->before.list[*at].uid;

		if (find(&known->now, known->now.n, uid))
			continue;
		strcpy(known->left[known->n_left++ % SOURCE_KNOWN_LEFT], uid);
		gone(userdata, uid);
	}
	return *at >= known->before.n;
}

/* Keeps the pods of the list before that this one lacks, for the lists to come. */
static void keep_lacking(struct source_known *known)
{
	size_t n = known->now.n;

	for (size_t i = 0; i < known->before.n; i++) {
		const struct source_known_pod *before = known->before.list + i;

		if (!find(&known->now, n, before->uid))
			add(&known->now, known->now.n, before->uid, before->seen_wall_ns);
	}
	known->now.by_api |= known->before.by_api;
	sort(&known->now);
}

void source_known_finish(struct source_known *known)
{
	struct source_known_pods before = known->before;
	bool ignorant = source_known_is_ignorant(known);

	/* Not where pods of the API are still to come. */
	if (ignorant && !known->now.by_api && before.by_api)
		return;
	if (ignorant)
		keep_lacking(known);
	known->before = known->now;
	known->now = before;
}

void source_known_insert(struct source_known *known, const struct meta_pod *pod,
			 int64_t seen_wall_ns)
{
	struct source_known_pods *pods = &known->before;
	struct source_known_pod *there = find(pods, pods->n, pod->uid);
	size_t at = 0;

	pods->by_api |= !pod->is_static;
	if (there) {
		there->seen_wall_ns = seen_wall_ns;
		return;
	}
	for (size_t end = pods->n; at < end;) {
		size_t middle = at + (end - at) / 2;

		if (strcmp(pods->list[middle].uid, pod->uid) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	add(pods, at, pod->uid, seen_wall_ns);
}
