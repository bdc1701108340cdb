// SPDX-License-Identifier: Apache-2.0
/* Collects the records that were read back: leaves out what is not asked for, and copies the rest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/account/chapter.h"

const char *account_boot(const char *id, size_t len, char ret[static ACCOUNT_BOOT_SIZE])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < ACCOUNT_BOOT_SIZE; i++) {
		char c = id[i];

		if (c != '-')
			ret[n++] = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
	}
	ret[n] = '\0';
	return ret;
}

/* --- what is asked for ----------------------------------------------------------------------- */

/* A shutdown is reported whole: what belongs to one that the span overlaps is not far from it. */
#define SLACK_NS (86400 * NS_PER_S)

static bool is_near(const struct account_query *query, int64_t wall_ns)
{
	return (!query->since_ns || wall_ns >= query->since_ns - SLACK_NS) &&
	       (!query->until_ns || wall_ns <= query->until_ns + SLACK_NS);
}

static bool is_asked_for(const struct account_query *query, const struct account_record *record)
{
	switch (record->type) {
	case ACCOUNT_STOP:
		return !record->stop.subject.sandbox && is_near(query, record->wall_ns);
	case ACCOUNT_POD:
		return is_near(query, record->wall_ns);
	case ACCOUNT_BOOT_END:
		return !query->boot || compare_text(query->boot, record->boot) == 0;
	case ACCOUNT_SHUTDOWN:
	case ACCOUNT_EMPTY:
	case ACCOUNT_LOST:
	case ACCOUNT_ATTACHED:
	case ACCOUNT_DROPPED:
		break;
	}
	return true;
}

/* --- copies ---------------------------------------------------------------------------------- */

/* Replaces a string by a copy; false without room. */
static bool keep(struct arena *arena, const char **text)
{
	if (*text)
		*text = arena_strdup(arena, *text);
	return *text;
}

static bool keep_all(struct arena *arena, const char **const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (*texts[i] && !keep(arena, texts[i]))
			return false;
	return true;
}

#define KEEP(arena, ...)                                \
	keep_all(arena, (const char **[]){__VA_ARGS__}, \
		 sizeof((const char **[]){__VA_ARGS__}) / sizeof(const char **))

static bool keep_subject(struct arena *arena, struct account_subject *s)
{
	return KEEP(arena, &s->namespace_, &s->pod, &s->uid, &s->workload, &s->container,
		    &s->container_id, &s->cgroup);
}

static bool keep_signal(struct arena *arena, struct account_signal *s)
{
	return KEEP(arena, &s->name, &s->result, &s->sender, &s->sender_kind);
}

static bool keep_stop(struct arena *arena, struct account_stop *s)
{
	return keep_subject(arena, &s->subject) && keep_signal(arena, &s->asked) &&
	       keep_signal(arena, &s->killed) &&
	       KEEP(arena, &s->grace_from, &s->cause, &s->reason, &s->gaps);
}

static bool keep_step(struct arena *arena, struct account_step *s)
{
	struct account_holder *holders = arena_array(arena, s->n_holders, sizeof(*holders));

	for (size_t i = 0; holders && i < s->n_holders; i++) {
		holders[i] = s->holders[i];
		if (!KEEP(arena, &holders[i].who))
			return false;
	}
	s->holders = holders;
	return holders && keep_subject(arena, &s->subject) &&
	       KEEP(arena, &s->mode, &s->action, &s->reason, &s->signal);
}

static bool keep_alive(struct arena *arena, struct account_alive_list *list)
{
	struct account_alive *rows = arena_array(arena, list->n, sizeof(*rows));

	for (size_t i = 0; rows && i < list->n; i++) {
		rows[i] = list->rows[i];
		if (!keep_subject(arena, &rows[i].subject))
			return false;
	}
	list->rows = rows;
	return rows;
}

static bool keep_record(struct arena *arena, struct account_record *r)
{
	if (!KEEP(arena, &r->id, &r->boot, &r->node))
		return false;
	switch (r->type) {
	case ACCOUNT_STOP:
		return keep_stop(arena, &r->stop);
	case ACCOUNT_POD:
		return keep_subject(arena, &r->pod.subject) &&
		       KEEP(arena, &r->pod.trigger, &r->pod.gaps);
	case ACCOUNT_SHUTDOWN:
		return keep_step(arena, &r->step);
	case ACCOUNT_BOOT_END:
		return keep_alive(arena, &r->end.pods) && keep_alive(arena, &r->end.containers);
	case ACCOUNT_EMPTY:
	case ACCOUNT_LOST:
	case ACCOUNT_ATTACHED:
	case ACCOUNT_DROPPED:
		break;
	}
	return true;
}

static int grow(struct account_log *log)
{
	size_t room = log->room ? 2 * log->room : 256;
	struct account_record **records;

	if (log->n < log->room)
		return 0;
	records = arena_array(log->arena, room, sizeof(*records));
	if (!records)
		return -ENOMEM;
	if (log->n)
		memcpy(records, log->records, log->n * sizeof(*records));
	log->records = records;
	log->room = room;
	return 0;
}

void account_log_add(struct account_log *log, const struct account_query *query,
		     const struct account_record *record)
{
	struct account_record *copy;

	if (!is_asked_for(query, record))
		return;
	copy = log->n < ACCOUNT_RECORDS_MAX && grow(log) == 0
		       ? arena_alloc(log->arena, sizeof(*copy))
		       : NULL;
	if (copy)
		*copy = *record;
	if (!copy || !keep_record(log->arena, copy)) {
		log->cut++;
		return;
	}
	copy->order = log->n;
	log->records[log->n++] = copy;
}

/* --- boots ----------------------------------------------------------------------------------- */

struct boot {
	const char *id;
	int64_t last_ns; /* wall clock */
};

static int compare_boots(const void *a, const void *b)
{
	const struct boot *first = a, *second = b;

	if (first->last_ns != second->last_ns)
		return first->last_ns < second->last_ns ? -1 : 1;
	return strcmp(first->id, second->id);
}

static int compare_boot_ids(const void *a, const void *b)
{
	const struct boot *first = a, *second = b;
	int order = strcmp(first->id, second->id);

	if (order == 0 && first->last_ns != second->last_ns)
		order = first->last_ns < second->last_ns ? -1 : 1;
	return order;
}

int account_log_boots(const struct account_log *log, const char *const **ret, size_t *ret_n)
{
	struct boot *boots = arena_array(log->arena, log->n, sizeof(*boots));
	const char **ids = arena_array(log->arena, log->n, sizeof(*ids));
	size_t n = 0, unique = 0;

	if (!boots || !ids)
		return -ENOMEM;
	for (size_t i = 0; i < log->n; i++)
		if (log->records[i]->boot)
			boots[n++] = (struct boot){log->records[i]->boot, log->records[i]->wall_ns};
	qsort(boots, n, sizeof(*boots), compare_boot_ids);
	/* The last of equal ones has the last time. */
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || strcmp(boots[i].id, boots[i + 1].id) != 0)
			boots[unique++] = boots[i];
	qsort(boots, unique, sizeof(*boots), compare_boots);
	for (size_t i = 0; i < unique; i++)
		ids[i] = boots[i].id;
	*ret = ids;
	*ret_n = unique;
	return 0;
}
