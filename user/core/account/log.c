// SPDX-License-Identifier: Apache-2.0
/* Collects records that were read back: leaves out what is not asked for, and keeps of the rest
 * what an account needs. */
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

/* --- what an account needs of a record ---------------------------------------------------------- */

#define LOST_MAX (UINT64_C(1) << 40) /* so that sums of all records fit */

/* A time before the one that it must follow counts as unknown. */
static void drop_contradictions(struct record_stop *stop)
{
	uint64_t exit_ns = stop->exit.at_ns;

	stop->exit.known = stop->exit.known && exit_ns;
	/* A signal from inside is in the record, and asks nothing (graced-records(5), stop). */
	if ((stop->exit.known && !stop->latency_known) ||
	    (exit_ns && stop->stop_signal.at_ns > exit_ns))
		stop->stop_signal.at_ns = 0;
	if (exit_ns && stop->kill_signal.at_ns > exit_ns)
		stop->kill_signal.at_ns = 0;
	if (stop->empty_ns < exit_ns)
		stop->empty_ns = 0;
	if (stop->deliver_ns < stop->stop_signal.at_ns || stop->deliver_ns > exit_ns)
		stop->deliver_ns = 0;
}

static uint64_t at_most(uint64_t n)
{
	return n < LOST_MAX ? n : LOST_MAX;
}

static void take_dropped(const struct record *record, struct account_dropped *ret)
{
	uint64_t at = record->at_ns, since = record->dropped.since_ns;
	uint64_t until = record->dropped.until_ns;

	if (until > at || !until)
		until = at;
	if (since > until || !since)
		since = until;
	/* A distance of two times of one clock holds for the other, too. */
	ret->records = at_most(record->dropped.records);
	ret->since_ns = (int64_t)((uint64_t)record->wall_ns - (at - since));
	ret->until_ns = (int64_t)((uint64_t)record->wall_ns - (at - until));
}

/* Those that are named count at least. -ENOMEM. */
static int take_alive(struct arena *arena, const struct bootlog_list *from, bool pods,
		      struct account_alive_list *ret)
{
	struct account_alive *rows = arena_array(arena, from->n, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < from->n; i++)
		rows[i] = (struct account_alive){.of = &from->rows[i],
						 .pod = pods,
						 .containers = pods ? from->rows[i].containers : 1};
	ret->rows = rows;
	ret->n = from->n;
	ret->total = from->total < from->n ? from->n : from->total;
	ret->unnamed = ret->total - ret->n;
	return 0;
}

/* The record's time and id are of the boot that ended, not of the one that wrote it. */
static int take_boot_end(struct arena *arena, const struct record *record,
			 struct account_record *ret)
{
	const struct bootlog *log = record->boot.log;

	ret->end = (struct account_boot_end){
		.end = record->boot.verdict.end,
		.reason = record->boot.verdict.reason,
		.journal = log->journal,
		.seen_ns = record->at_ns,
		.seen_wall_ns = record->wall_ns,
		.stopped_ns = log->stopped_ns,
		.announced_ns = log->shutdown.announced_ns,
		.released_ns = log->shutdown.released_ns,
	};
	if (!ret->boot || !ret->id || !strchr(ret->id, '/'))
		return -EBADMSG;
	if (take_alive(arena, &log->pods, true, &ret->end.pods) < 0)
		return -ENOMEM;
	return take_alive(arena, &log->containers, false, &ret->end.containers);
}

/* --- records ----------------------------------------------------------------------------------- */

/* A shutdown is reported whole: what belongs to one that the span overlaps is not far from it. */
#define SLACK_NS (86400 * NS_PER_S)

static bool is_near(const struct account_query *query, int64_t wall_ns)
{
	return (!query->since_ns || wall_ns >= query->since_ns - SLACK_NS) &&
	       (!query->until_ns || wall_ns <= query->until_ns + SLACK_NS);
}

/* NULL: such records have none, or it has none. */
static const char *id_of(const struct record *record)
{
	const char *id = NULL;

	if (record->type == RECORD_STOP)
		id = record->stop.id;
	else if (record->type == RECORD_EMPTY)
		id = record->empty.id;
	else if (record->type == RECORD_POD)
		id = record->pod_state.id;
	else if (record->type == RECORD_SHUTDOWN)
		id = record->shutdown.id;
	else if (record->type == RECORD_BOOT)
		id = record->boot.id;
	return id && *id ? id : NULL;
}

/* The boot is what the id begins with. */
static const char *boot_of(const struct record *record, const char *boot,
			   char buffer[static ACCOUNT_BOOT_SIZE])
{
	const char *id = id_of(record);

	if (id && strchr(id, '/'))
		boot = account_boot(id, strcspn(id, "/"), buffer);
	return boot && *boot ? boot : NULL;
}

bool account_log_wants(const struct account_query *query, const struct record *record,
		       const char *boot)
{
	char own[ACCOUNT_BOOT_SIZE];

	switch (record->type) {
	case RECORD_STOP:
		return record->stop.container.kind != CONTAINER_KIND_SANDBOX &&
		       is_near(query, record->wall_ns);
	case RECORD_POD:
		return record->pod_state.state != POD_STAGE_SYNC &&
		       record->pod_state.state != POD_STAGE_FORGOTTEN &&
		       is_near(query, record->wall_ns);
	case RECORD_BOOT:
		return !query->boot || compare_text(query->boot, boot_of(record, boot, own)) == 0;
	case RECORD_SHUTDOWN:
	case RECORD_EMPTY:
	case RECORD_LOST:
	case RECORD_ATTACHED:
	case RECORD_DROPPED:
		return true;
	default:
		return false;
	}
}

/* 0; -EBADMSG for what contradicts itself; -ENOMEM. */
static int take_members(struct arena *arena, struct record *record, struct account_record *ret)
{
	switch (record->type) {
	case RECORD_STOP:
		drop_contradictions(&record->stop);
		ret->stop.of = &record->stop;
		return ret->id ? 0 : -EBADMSG;
	case RECORD_POD:
		ret->pod = &record->pod_state;
		return ret->pod->at_ns && ret->pod->state != POD_STAGE_NONE ? 0 : -EBADMSG;
	case RECORD_BOOT:
		return take_boot_end(arena, record, ret);
	case RECORD_SHUTDOWN:
		ret->step = &record->shutdown;
		return ret->step->step.announced_ns <= record->at_ns ? 0 : -EBADMSG;
	case RECORD_EMPTY:
		ret->empty_ns = record->empty.empty_ns;
		return ret->id ? 0 : -EBADMSG;
	case RECORD_LOST:
		ret->lost = (struct account_lost){
			.events = at_most(record_events_lost(&record->lost)),
			.cgroups = at_most(record_cgroups_unwatched(&record->lost)),
		};
		break;
	case RECORD_DROPPED:
		take_dropped(record, &ret->dropped);
		break;
	default:
		break;
	}
	return 0;
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

static struct account_record *add_record(struct account_log *log)
{
	struct account_record *record = log->n < ACCOUNT_RECORDS_MAX && grow(log) == 0
						? arena_alloc(log->arena, sizeof(*record))
						: NULL;

	if (record)
		record->order = log->n;
	return record;
}

void account_log_add(struct account_log *log, struct record *record, const char *boot)
{
	struct account_record *r = record ? add_record(log) : NULL;
	char own[ACCOUNT_BOOT_SIZE];
	int error;

	if (!r) {
		log->cut++;
		return;
	}
	r->type = record->type;
	r->at_ns = record->at_ns;
	r->wall_ns = record->wall_ns;
	r->node = record->node;
	r->id = id_of(record);
	boot = boot_of(record, boot, own);
	r->boot = boot ? arena_share(log->arena, boot) : NULL;
	error = boot && !r->boot ? -ENOMEM : take_members(log->arena, record, r);
	if (error == 0)
		log->records[log->n++] = r;
	log->unreadable += error == -EBADMSG;
	log->cut += error == -ENOMEM;
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
