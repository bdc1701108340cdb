// SPDX-License-Identifier: Apache-2.0
/* Collects records that were read back: leaves out what is not asked for, and keeps of the rest
 * what an account needs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/signame.h"
#include "base/time.h"
#include "core/account/chapter.h"
#include "core/boot/log.h"

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

/* Times and durations are at most 146 years, so that sums of two fit. */
#define TIME_MAX (INT64_MAX / 2)
#define LOST_MAX (UINT64_C(1) << 40) /* so that sums of all records fit */

static uint64_t time_of(uint64_t ns)
{
	return ns <= TIME_MAX ? ns : 0;
}

/* What finds no room is cut. */
struct taking {
	struct arena *arena;
	bool cut;
};

static const char *copy(struct taking *t, const char *text)
{
	const char *copied = text && *text ? arena_strdup(t->arena, text) : NULL;

	t->cut |= text && *text && !copied;
	return copied;
}

static struct account_subject subject_of(struct taking *t, const struct record_pod *pod,
					 const struct record_container *container)
{
	return (struct account_subject){
		.namespace_ = copy(t, pod->namespace_),
		.pod = copy(t, pod->name),
		.uid = copy(t, pod->uid),
		.workload = copy(t, pod->workload),
		.container = copy(t, container->name),
		.container_id = copy(t, container->id),
		.cgroup = copy(t, container->cgroup),
	};
}

static struct account_signal signal_of(struct taking *t, const struct record_sigref *signal)
{
	char name[SIGNAME_SIZE];

	if (!signal->known)
		return (struct account_signal){};
	return (struct account_signal){
		.at_ns = time_of(signal->at_ns),
		.name = copy(t, signame_format(signal->number, name)),
		.result = record_result_name(signal->result),
		.sender = copy(t, signal->sender.process.comm),
		.sender_kind = sender_kind_name(signal->sender.kind),
		.sender_pid = signal->sender.process.pid,
	};
}

static void take_exit(const struct record_exit *exit, struct account_stop *ret)
{
	ret->exit_ns = time_of(exit->at_ns);
	ret->exit_seen = ret->exit_ns && exit->known;
	ret->signal = exit->known ? exit->status & 0x7f : 0;
	ret->code = -1;
	if (exit->reported)
		ret->code = exit->code;
	else if (exit->known && !ret->signal)
		ret->code = exit->status >> 8 & 0xff;
}

/* A time before the one that it must follow counts as unknown. */
static void drop_contradictions(struct account_stop *stop)
{
	if (stop->asked.at_ns > stop->exit_ns && stop->exit_ns)
		stop->asked.at_ns = 0;
	if (stop->killed.at_ns > stop->exit_ns && stop->exit_ns)
		stop->killed.at_ns = 0;
	if (stop->empty_ns < stop->exit_ns)
		stop->empty_ns = 0;
	if (stop->deliver_ns < stop->asked.at_ns || stop->deliver_ns > stop->exit_ns)
		stop->deliver_ns = 0;
}

static int take_stop(struct taking *t, const struct record *record, struct account_record *ret)
{
	const struct record_stop *from = &record->stop;
	struct account_stop *stop = &ret->stop;

	*stop = (struct account_stop){
		.subject = subject_of(t, &from->pod, &from->container),
		.asked = signal_of(t, &from->stop_signal),
		.killed = signal_of(t, &from->kill_signal),
		.start_ns = time_of(from->process.start_ns),
		.deliver_ns = time_of(from->deliver_ns),
		.empty_ns = time_of(from->empty_ns),
		.grace_known = grace_known(&from->grace),
		.grace_ns = time_of(from->grace.ns),
		.grace_from = grace_from_name(from->grace.from),
		.outcome = from->outcome,
		.cause = cause_name(from->cause),
		.reason = unheard_name(from->reason),
		.deaf = from->deaf,
		.gaps = from->gaps,
	};
	take_exit(&from->exit, stop);
	/* A signal from inside is in the record, and asks nothing (graced-records(5), stop). */
	if (stop->exit_seen && !from->latency_known)
		stop->asked.at_ns = 0;
	drop_contradictions(stop);
	return from->id[0] ? 0 : -EBADMSG;
}

static int take_pod(struct taking *t, const struct record *record, struct account_record *ret)
{
	const struct record_pod_state *from = &record->pod_state;

	ret->pod = (struct account_pod_state){
		.subject = subject_of(t, &from->pod, &(struct record_container){}),
		.state = from->state,
		.trigger = from->trigger,
		.at_ns = time_of(from->at_ns),
		.deadline_ns = time_of(from->deadline_ns),
		.empty_ns = time_of(from->empty_ns),
	};
	return ret->pod.at_ns && from->state != POD_STAGE_NONE ? 0 : -EBADMSG;
}

static void take_holders(struct taking *t, const struct shutdown_record *from,
			 struct account_step *ret)
{
	struct shutdown_holder *holders = arena_array(t->arena, from->n_listed, sizeof(*holders));

	t->cut |= !holders;
	for (size_t i = 0; holders && i < from->n_listed; i++) {
		holders[i] = from->holders[i];
		holders[i].who = copy(t, holders[i].who);
	}
	ret->others = from->n_holders;
	ret->holders = holders;
	ret->n_holders = holders ? from->n_listed : 0;
}

static void take_group(const struct record_shutdown *from, struct account_step *ret)
{
	ret->group_known = from->container.known ||
			   from->step.what == SHUTDOWN_REPORT_GROUP_STARTED ||
			   from->step.what == SHUTDOWN_REPORT_GROUP_DONE;
	ret->group = from->step.group;
	ret->priority_known = from->group_known;
	ret->priority = from->group_priority;
	ret->length_ns = time_of(from->step.group_ns);
	ret->planned_ns = time_of(from->step.planned_ns);
	ret->timed_out = from->step.timed_out;
}

static int take_step(struct taking *t, const struct record *record, struct account_record *ret)
{
	const struct record_shutdown *from = &record->shutdown;
	const struct shutdown_container *c = &from->step.container;
	struct account_step *step = &ret->step;
	char name[SIGNAME_SIZE];

	*step = (struct account_step){
		.event = from->step.what,
		.mode = shutdown_mode_name(from->step.mode),
		.action = shutdown_action_name(from->step.action),
		.lock_held = from->step.locked,
		.announced_ns = time_of(from->step.announced_ns),
		.limit_ns = time_of(from->step.limit_ns),
		.left = from->step.living,
		.volumes_known = from->step.volumes_known,
		.volumes = from->step.n_volumes,
		.subject = subject_of(t, &from->pod, &from->container),
		.signal = c->signal ? copy(t, signame_format(c->signal, name)) : NULL,
		.asked_ns = time_of(c->asked_ns),
		.timeout_ns = time_of(c->timeout_ns),
		.kill_ns = time_of(c->kill_ns),
		.deaf = from->step.deaf,
	};
	if (step->event == SHUTDOWN_REPORT_RELEASED)
		step->reason = shutdown_reason_name(from->step.reason);
	take_holders(t, &from->step, step);
	take_group(from, step);
	return step->announced_ns <= record->at_ns ? 0 : -EBADMSG;
}

static uint64_t sum_lost(const struct record_lost *from)
{
	uint64_t sum = from->recursion_misses < LOST_MAX ? from->recursion_misses : LOST_MAX;

	for (size_t i = 0; i < GRACED_STAT_COUNT; i++)
		sum = from->totals[i].lost >= LOST_MAX - sum ? LOST_MAX
							     : sum + from->totals[i].lost;
	return sum;
}

static void take_dropped(const struct record *record, struct account_dropped *ret)
{
	uint64_t at = record->at_ns, since = time_of(record->dropped.since_ns);
	uint64_t until = time_of(record->dropped.until_ns);

	if (until > at || !until)
		until = at;
	if (since > until || !since)
		since = until;
	/* A distance of two times of one clock holds for the other, too. */
	ret->records = record->dropped.records < LOST_MAX ? record->dropped.records : LOST_MAX;
	ret->since_ns = (int64_t)((uint64_t)record->wall_ns - (at - since));
	ret->until_ns = (int64_t)((uint64_t)record->wall_ns - (at - until));
}

/* Those that are named count at least. */
static struct account_alive_list alive_of(struct taking *t, const struct bootlog_list *from,
					  bool pods)
{
	struct account_alive *rows = arena_array(t->arena, from->n, sizeof(*rows));
	struct account_alive_list list = {.rows = rows, .total = time_of(from->total)};

	t->cut |= !rows;
	for (; rows && list.n < from->n; list.n++) {
		const struct bootlog_alive *row = &from->rows[list.n];
		struct account_alive *to = &rows[list.n];

		to->containers = pods ? row->containers : 1;
		to->subject.namespace_ = pods ? copy(t, row->namespace_) : NULL;
		*(pods ? &to->subject.pod : &to->subject.container) = copy(t, row->name);
		*(pods ? &to->subject.uid : &to->subject.container_id) = copy(t, row->id);
	}
	if (list.total < list.n)
		list.total = list.n;
	list.unnamed = list.total - list.n;
	return list;
}

/* The record's time and id are of the boot that ended, not of the one that wrote it. */
static int take_boot_end(struct taking *t, const struct record *record, struct account_record *ret)
{
	const struct bootlog *log = record->boot.log;

	ret->end = (struct account_boot_end){
		.end = record->boot.verdict.end,
		.reason = record->boot.verdict.reason,
		.journal = log->journal,
		.seen_ns = record->at_ns,
		.seen_wall_ns = record->wall_ns,
		.stopped_ns = time_of(log->stopped_ns),
		.announced_ns = time_of(log->shutdown.announced_ns),
		.released_ns = time_of(log->shutdown.released_ns),
		.pods = alive_of(t, &log->pods, true),
		.containers = alive_of(t, &log->containers, false),
	};
	return ret->boot && ret->id && strchr(ret->id, '/') ? 0 : -EBADMSG;
}

/* --- records ----------------------------------------------------------------------------------- */

/* A shutdown is reported whole: what belongs to one that the span overlaps is not far from it. */
#define SLACK_NS (86400 * NS_PER_S)

static bool is_near(const struct account_query *query, int64_t wall_ns)
{
	return (!query->since_ns || wall_ns >= query->since_ns - SLACK_NS) &&
	       (!query->until_ns || wall_ns <= query->until_ns + SLACK_NS);
}

/* NULL: such records have none. */
static const char *id_of(const struct record *record)
{
	switch (record->type) {
	case RECORD_STOP:
		return record->stop.id;
	case RECORD_EMPTY:
		return record->empty.id;
	case RECORD_POD:
		return record->pod_state.id;
	case RECORD_SHUTDOWN:
		return record->shutdown.id;
	case RECORD_BOOT:
		return record->boot.id;
	default:
		return NULL;
	}
}

static bool is_asked_for(const struct account_query *query, const struct record *record,
			 const char *boot)
{
	switch (record->type) {
	case RECORD_STOP:
		return record->stop.container.kind != CONTAINER_KIND_SANDBOX &&
		       is_near(query, record->wall_ns);
	case RECORD_POD:
		return record->pod_state.state != POD_STAGE_SYNC &&
		       record->pod_state.state != POD_STAGE_FORGOTTEN &&
		       is_near(query, record->wall_ns);
	case RECORD_BOOT:
		return !query->boot || compare_text(query->boot, boot) == 0;
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

/* 0, or -EBADMSG for what contradicts itself. */
static int take_members(struct taking *t, const struct record *record, struct account_record *ret)
{
	switch (record->type) {
	case RECORD_STOP:
		return take_stop(t, record, ret);
	case RECORD_POD:
		return take_pod(t, record, ret);
	case RECORD_BOOT:
		return take_boot_end(t, record, ret);
	case RECORD_SHUTDOWN:
		return take_step(t, record, ret);
	case RECORD_EMPTY:
		ret->empty_ns = time_of(record->empty.empty_ns);
		return ret->id ? 0 : -EBADMSG;
	case RECORD_LOST:
		ret->lost = sum_lost(&record->lost);
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

void account_log_add(struct account_log *log, const struct account_query *query,
		     const struct record *record, const char *boot)
{
	struct taking t = {.arena = log->arena};
	const char *id = id_of(record);
	char own[ACCOUNT_BOOT_SIZE];
	struct account_record *r;

	/* The boot is what the id begins with. */
	if (id && strchr(id, '/'))
		boot = account_boot(id, strcspn(id, "/"), own);
	if (record->at_ns > TIME_MAX)
		log->unreadable++;
	if (record->at_ns > TIME_MAX || !is_asked_for(query, record, boot))
		return;
	r = add_record(log);
	if (!r) {
		log->cut++;
		return;
	}
	r->type = record->type;
	r->at_ns = record->at_ns;
	r->wall_ns = record->wall_ns;
	r->id = copy(&t, id);
	r->boot = copy(&t, boot);
	r->node = copy(&t, record->node);
	if (take_members(&t, record, r) < 0)
		log->unreadable++;
	else if (t.cut)
		log->cut++;
	else
		log->records[log->n++] = r;
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
