// SPDX-License-Identifier: Apache-2.0
/* From lines to a sorted list. */
#include "app/commands/pod_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/proc/clock.h"
#include "wire/json/pods.h"

/* Names and records of as many pods as a reply holds. */
#define ARENA_BYTES ((size_t)64 << 20)

/* The filter knows records; an emptiness is one of a pod and nothing more. */
static bool is_asked_for(const struct filter *filter, const struct podview *v)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = {.known = true,
							 .namespace_ = v->namespace_,
							 .name = v->name,
							 .uid = v->uid}}};

	return filter_matches(filter, &subject);
}

static int compare(const void *a, const void *b)
{
	return pods_record_order(a, b);
}

static int compare_uid(const void *a, const void *b)
{
	const struct pods_record *const *first = a, *const *second = b;

	return strcmp((*first)->view.uid, (*second)->view.uid);
}

static void sort(struct podlist *list)
{
	qsort(list->list, list->n, sizeof(*list->list), compare);
	for (size_t i = 0; i < list->n; i++)
		list->by_uid[i] = &list->list[i];
	qsort(list->by_uid, list->n, sizeof(*list->by_uid), compare_uid);
}

int podlist_read(const struct control_answer *answer, const struct filter *filter,
		 struct podlist *ret)
{
	int64_t wall_offset_ns = clock_wall_offset_ns();
	const char *at = buf_str(&answer->text);

	ret->arena.limit = ARENA_BYTES;
	ret->list = arena_array(&ret->arena, answer->lines, sizeof(*ret->list));
	ret->by_uid = arena_array(&ret->arena, answer->lines, sizeof(*ret->by_uid));
	if (!ret->list || !ret->by_uid)
		return -ENOMEM;
	for (uint64_t i = 0; i < answer->lines; i++) {
		struct pods_record *record = &ret->list[ret->n];
		size_t len = strcspn(at, "\n");
		int r = pods_json_read(at, len, &ret->arena, record);

		if (r < 0)
			return r;
		record->wall_ns = (int64_t)record->at_ns + wall_offset_ns;
		ret->n += is_asked_for(filter, &record->view);
		at += len + 1;
	}
	sort(ret);
	return 0;
}

void podlist_free(struct podlist *list)
{
	arena_free(&list->arena);
	*list = (struct podlist){};
}

const struct pods_record *podlist_find(const struct podlist *list, const char *uid)
{
	const struct pods_record wanted = {.view.uid = uid}, *key = &wanted;
	const struct pods_record **found;

	if (!list->n)
		return NULL;
	found = bsearch(&key, list->by_uid, list->n, sizeof(*list->by_uid), compare_uid);
	return found ? *found : NULL;
}
