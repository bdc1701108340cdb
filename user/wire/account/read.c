// SPDX-License-Identifier: Apache-2.0
/* Takes of each record what an account needs; every figure is bounded where it is read. */
#include "wire/account/read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "wire/json/record.h"

/* Times and durations are at most 146 years, so that sums of two fit. */
#define TIME_MAX     (INT64_MAX / 2)
#define GRACE_MAX_S  1000000000.0
#define LOST_MAX     (UINT64_C(1) << 40) /* so that sums of all records fit */
#define GAPS_SIZE    512
#define GAPS_COUNTED 32

DEFINE_CLEANUP(json_t *, json_decref);

/* What borrows from the line until the log has copied it. */
struct reading {
	struct account_record record;
	struct account_holder holders[ACCOUNT_HOLDERS_MAX];
	struct account_alive *alive; /* owned: pods, then containers; only of the end of a boot */
	char boot[ACCOUNT_BOOT_SIZE];
	char gaps[GAPS_SIZE];
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : NULL;
}

static bool number_of(const json_t *object, const char *key, uint64_t *ret)
{
	const json_t *member = json_object_get(object, key);
	json_int_t value = json_integer_value(member);

	if (!json_is_integer(member) || value < 0 || value > TIME_MAX)
		return false;
	*ret = (uint64_t)value;
	return true;
}

/* 0: not known. */
static uint64_t time_of(const json_t *object, const char *key)
{
	uint64_t value = 0;

	return number_of(object, key, &value) ? value : 0;
}

static uint64_t seconds_of(const json_t *object, const char *key)
{
	double seconds = json_number_value(json_object_get(object, key));

	return seconds >= 0 && seconds <= GRACE_MAX_S ? (uint64_t)(seconds * NS_PER_S + 0.5) : 0;
}

static void read_subject(const json_t *line, struct account_subject *ret)
{
	const json_t *pod = json_object_get(line, "pod");
	const json_t *container = json_object_get(line, "container");
	const char *kind = text_of(container, "kind");

	ret->namespace_ = text_of(pod, "namespace");
	ret->pod = text_of(pod, "name");
	ret->uid = text_of(pod, "uid");
	ret->workload = text_of(pod, "workload");
	ret->container = text_of(container, "name");
	ret->container_id = text_of(container, "id");
	ret->cgroup = text_of(container, "cgroup");
	ret->sandbox = kind && strcmp(kind, "sandbox") == 0;
}

static void read_signal(const json_t *signal, struct account_signal *ret)
{
	const json_t *sender = json_object_get(signal, "sender");

	ret->at_ns = time_of(signal, "at_boot_ns");
	ret->name = text_of(signal, "name");
	ret->result = text_of(signal, "result");
	ret->sender = text_of(sender, "comm");
	ret->sender_kind = text_of(sender, "kind");
	ret->sender_pid = (uint32_t)time_of(sender, "pid");
}

/* The names with commas between, as many as fit. */
static const char *read_gaps(const json_t *line, char ret[static GAPS_SIZE])
{
	const json_t *gaps = json_object_get(json_object_get(line, "evidence"), "gaps"), *gap;
	size_t at = 0, i;

	ret[0] = '\0';
	json_array_foreach(gaps, i, gap) {
		const char *name = json_string_value(gap);
		size_t n = name ? strlen(name) : 0;

		if (!n || i >= GAPS_COUNTED || at + n + 2 > GAPS_SIZE)
			continue;
		if (at)
			ret[at++] = ',';
		memcpy(ret + at, name, n + 1);
		at += n;
	}
	/* Evidence that is absent, or not complete without a reason, has a gap of unknown name. */
	if (!at && !json_is_true(json_object_get(json_object_get(line, "evidence"), "complete")))
		strcpy(ret, "unknown");
	return ret;
}

static void read_exit(const json_t *exit, struct account_stop *ret)
{
	const json_t *code = json_object_get(exit, "code");

	ret->exit_ns = time_of(exit, "at_boot_ns");
	ret->exit_seen = ret->exit_ns && number_of(exit, "signal", &ret->signal);
	ret->code = json_is_integer(code) ? json_integer_value(code) : -1;
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

static void read_stop(const json_t *line, struct reading *r)
{
	struct account_stop *stop = &r->record.stop;
	const json_t *grace = json_object_get(line, "grace");
	const char *outcome = text_of(line, "outcome");
	uint64_t delivered;

	read_subject(line, &stop->subject);
	read_signal(json_object_get(line, "stop_signal"), &stop->asked);
	read_signal(json_object_get(line, "kill_signal"), &stop->killed);
	read_exit(json_object_get(line, "exit"), stop);
	stop->start_ns = time_of(json_object_get(line, "process"), "start_boot_ns");
	stop->empty_ns = time_of(line, "empty_boot_ns");
	if (number_of(json_object_get(line, "stages"), "deliver_ns", &delivered) &&
	    stop->asked.at_ns)
		stop->deliver_ns = stop->asked.at_ns + delivered;
	/* A signal from inside is in the record, and asks nothing (graced-records(5), stop). */
	if (stop->exit_seen && json_is_null(json_object_get(line, "latency_ns")))
		stop->asked.at_ns = 0;
	stop->grace_known = json_is_number(json_object_get(grace, "seconds"));
	stop->grace_ns = seconds_of(grace, "seconds");
	stop->grace_from = text_of(grace, "from");
	stop->outcome = outcome ? outcome_from_name(outcome) : OUTCOME_UNKNOWN;
	stop->cause = text_of(line, "cause");
	stop->reason = text_of(line, "reason");
	stop->deaf = json_is_true(json_object_get(line, "deaf"));
	stop->gaps = read_gaps(line, r->gaps);
	drop_contradictions(stop);
}

/* Judges a word from a list: an unknown word is one of a newer graced. */
static int judge_word(const char *word, bool known)
{
	if (!word)
		return -EBADMSG;
	return known ? 0 : -EPROTONOSUPPORT;
}

static int read_pod(const json_t *line, struct reading *r)
{
	struct account_pod_state *pod = &r->record.pod;
	const char *state = text_of(line, "state");

	read_subject(line, &pod->subject);
	for (int i = POD_STAGE_SYNC; state && i < POD_STAGE_COUNT; i++)
		if (strcmp(state, pod_stage_name((enum pod_stage)i)) == 0)
			pod->state = (enum pod_stage)i;
	pod->trigger = text_of(line, "trigger");
	pod->at_ns = time_of(line, "at_boot_ns");
	pod->deadline_ns = time_of(line, "deadline_boot_ns");
	pod->empty_ns = time_of(line, "pod_empty_boot_ns");
	pod->gaps = read_gaps(line, r->gaps);
	if (pod->state == POD_STAGE_SYNC || pod->state == POD_STAGE_FORGOTTEN)
		return -ENOMSG;
	return pod->at_ns ? judge_word(state, pod->state != POD_STAGE_NONE) : -EBADMSG;
}

static void read_holders(const json_t *line, struct reading *r)
{
	struct account_step *step = &r->record.step;
	const json_t *list = json_object_get(line, "holders"), *one;
	size_t i;

	step->others_known = number_of(line, "others", &step->others);
	step->holders = r->holders;
	json_array_foreach(list, i, one) {
		if (step->n_holders == ACCOUNT_HOLDERS_MAX)
			break;
		r->holders[step->n_holders++] = (struct account_holder){.who = text_of(one, "who"),
									.pid = time_of(one, "pid"),
									.uid = time_of(one, "uid")};
	}
}

static void read_group(const json_t *group, struct account_step *step)
{
	const json_t *priority = json_object_get(group, "priority");
	uint64_t index = 0;

	step->group_known = number_of(group, "index", &index) && index <= UINT32_MAX;
	step->group = (uint32_t)index;
	step->priority_known = json_is_integer(priority);
	step->priority = json_integer_value(priority);
	step->length_ns = time_of(group, "length_ns");
	step->planned_ns = time_of(group, "planned_boot_ns");
	step->timed_out = json_is_true(json_object_get(group, "timed_out"));
}

static int read_step(const json_t *line, struct reading *r)
{
	struct account_step *step = &r->record.step;
	const json_t *stop = json_object_get(line, "stop");
	const char *event = text_of(line, "event");
	int what = 0;

	while (event && what < SHUTDOWN_REPORT_COUNT &&
	       strcmp(event, shutdown_report_name((enum shutdown_report)what)) != 0)
		what++;
	step->event = (enum shutdown_report)what;
	step->mode = text_of(line, "mode");
	step->action = text_of(line, "action");
	step->reason = text_of(line, "reason");
	step->lock_held = json_is_true(json_object_get(line, "lock_held"));
	step->announced_ns = time_of(line, "announced_boot_ns");
	step->limit_ns = time_of(line, "limit_ns");
	step->left_known = number_of(line, "containers_left", &step->left);
	step->volumes_known = number_of(line, "volumes_left", &step->volumes);
	number_of(line, "containers_stopping", &step->stopping);
	read_holders(line, r);
	read_group(json_object_get(line, "group"), step);
	read_subject(line, &step->subject);
	step->signal = text_of(json_object_get(stop, "signal"), "name");
	step->asked_ns = time_of(stop, "asked_boot_ns");
	step->timeout_ns = time_of(stop, "timeout_ns");
	step->kill_ns = time_of(stop, "kill_boot_ns");
	step->deaf = json_is_true(json_object_get(stop, "deaf"));
	return step->announced_ns <= r->record.at_ns
		       ? judge_word(event, what < SHUTDOWN_REPORT_COUNT)
		       : -EBADMSG;
}

static uint64_t add_bounded(uint64_t sum, uint64_t count)
{
	return count >= LOST_MAX - sum ? LOST_MAX : sum + count;
}

static void read_lost(const json_t *line, struct reading *r)
{
	static const char *const single[] = {"recursion_misses", "watch_full", "quota", "too_deep"};
	json_t *lost = json_object_get(line, "lost"), *count;
	uint64_t sum = 0;
	const char *key;

	json_object_foreach(lost, key, count)
		sum = add_bounded(sum, time_of(lost, key));
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		sum = add_bounded(sum, time_of(line, single[i]));
	r->record.lost = sum;
}

static void read_dropped(const json_t *line, struct reading *r)
{
	uint64_t at = r->record.at_ns, since = time_of(line, "since_boot_ns");
	uint64_t until = time_of(line, "until_boot_ns");

	if (until > at || !until)
		until = at;
	if (since > until || !since)
		since = until;
	r->record.dropped = (struct account_dropped){
		.records = add_bounded(0, time_of(line, "records")),
		.since_ns = (int64_t)((uint64_t)r->record.wall_ns - (at - since)),
		.until_ns = (int64_t)((uint64_t)r->record.wall_ns - (at - until)),
	};
}

/* --- the end of a boot ----------------------------------------------------------------------- */

static struct account_alive read_alive(const json_t *row, bool pod)
{
	struct account_alive alive = {.containers = 1};

	if (!pod) {
		alive.subject.container = text_of(row, "name");
		alive.subject.container_id = text_of(row, "id");
		return alive;
	}
	alive.subject.namespace_ = text_of(row, "namespace");
	alive.subject.pod = text_of(row, "name");
	alive.subject.uid = text_of(row, "uid");
	alive.containers = time_of(row, "containers");
	return alive;
}

/* Those that are named count at least. */
static void read_alive_list(const json_t *line, bool pods, struct account_alive *rows,
			    struct account_alive_list *ret)
{
	const json_t *list = json_object_get(line, pods ? "pods" : "containers"), *row;
	size_t i;

	json_array_foreach(list, i, row) {
		if (ret->n == ACCOUNT_ALIVE_MAX)
			break;
		if (json_is_object(row))
			rows[ret->n++] = read_alive(row, pods);
	}
	ret->rows = rows;
	ret->total = time_of(line, pods ? "pods_alive" : "containers_alive");
	if (ret->total < ret->n)
		ret->total = ret->n;
	ret->unnamed = ret->total - ret->n;
}

/* The record's time and id are of the boot that ended, not of the one that wrote it. */
static int read_boot_end(const json_t *line, struct reading *r)
{
	struct account_boot_end *end = &r->record.end;
	const char *verdict = text_of(line, "end"), *reason = text_of(line, "reason");
	const json_t *shutdown = json_object_get(line, "shutdown");
	const char *journal = text_of(line, "journal");
	int found = 0, why = 0, shown = BOOT_JOURNAL_UNREAD;

	while (verdict && found < BOOT_END_COUNT &&
	       strcmp(verdict, boot_end_name((enum boot_end)found)) != 0)
		found++;
	while (why < BOOT_REASON_COUNT &&
	       (!reason || strcmp(reason, boot_reason_name((enum boot_reason)why)) != 0))
		why++;
	while (journal && ++shown < BOOT_JOURNAL_COUNT &&
	       strcmp(journal, boot_journal_name((enum boot_journal)shown)) != 0)
		;
	end->end = (enum boot_end)found;
	end->reason = (enum boot_reason)why;
	end->journal = (enum boot_journal)shown;
	end->seen_ns = r->record.at_ns;
	end->seen_wall_ns = r->record.wall_ns;
	end->stopped_ns = time_of(line, "stopped_boot_ns");
	end->announced_ns = time_of(shutdown, "announced_boot_ns");
	end->released_ns = time_of(shutdown, "released_boot_ns");
	r->alive = calloc(2 * (size_t)ACCOUNT_ALIVE_MAX, sizeof(*r->alive));
	if (!r->alive)
		return -ENOMEM;
	read_alive_list(line, true, r->alive, &end->pods);
	read_alive_list(line, false, r->alive + ACCOUNT_ALIVE_MAX, &end->containers);
	return r->record.boot && r->record.id && strchr(r->record.id, '/')
		       ? judge_word(verdict, found < BOOT_END_COUNT)
		       : -EBADMSG;
}

/* 0, or what is wrong with it. */
static int read_members(const json_t *line, struct reading *r)
{
	switch (r->record.type) {
	case ACCOUNT_STOP:
		read_stop(line, r);
		return r->record.id ? 0 : -EBADMSG;
	case ACCOUNT_EMPTY:
		r->record.empty_ns = time_of(line, "empty_boot_ns");
		return r->record.id ? 0 : -EBADMSG;
	case ACCOUNT_POD:
		return read_pod(line, r);
	case ACCOUNT_SHUTDOWN:
		return read_step(line, r);
	case ACCOUNT_LOST:
		read_lost(line, r);
		return 0;
	case ACCOUNT_BOOT_END:
		return read_boot_end(line, r);
	case ACCOUNT_DROPPED:
		read_dropped(line, r);
		return 0;
	case ACCOUNT_ATTACHED:
		break;
	}
	return 0;
}

/* False: of no use for an account. */
static bool take_type(const char *name, enum account_type *ret)
{
	static const char *const names[] = {
		[ACCOUNT_STOP] = "stop",	 [ACCOUNT_EMPTY] = "empty",
		[ACCOUNT_POD] = "pod",		 [ACCOUNT_SHUTDOWN] = "shutdown",
		[ACCOUNT_LOST] = "lost",	 [ACCOUNT_ATTACHED] = "attached",
		[ACCOUNT_BOOT_END] = "boot_end", [ACCOUNT_DROPPED] = "dropped",
	};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum account_type)i;
			return true;
		}
	}
	return false;
}

/* The boot is what the id begins with. */
static void read_boot(struct reading *r, const char *boot)
{
	const char *id = r->record.id;

	if (id && strchr(id, '/'))
		boot = account_boot(id, strcspn(id, "/"), r->boot);
	r->record.boot = boot && *boot ? boot : NULL;
}

/* -ENOMSG: of no use for an account. -EPROTONOSUPPORT: of a newer graced. -EBADMSG: damaged. */
static int read_line(const json_t *line, const char *boot, struct reading *r)
{
	const char *type = text_of(line, "type"), *time = text_of(line, "time");
	struct account_record *record = &r->record;

	record->id = text_of(line, "id");
	record->node = text_of(line, "node");
	if (!type || json_integer_value(json_object_get(line, "schema")) != RECORD_SCHEMA ||
	    !number_of(line, "boot_ns", &record->at_ns) || !time ||
	    rfc3339_parse(time, &record->wall_ns) < 0)
		return -EBADMSG;
	if (!take_type(type, &record->type))
		return -ENOMSG;
	read_boot(r, boot);
	return read_members(line, r);
}

void account_read(struct account_log *log, const struct account_query *query, const char *line,
		  size_t size, const char *boot)
{
	_cleanup_(cleanup_json_decref) json_t *json = NULL;
	_cleanup_(arena_free) struct arena arena = {};
	struct reading r = {};
	struct record checked;
	int error;

	if (size == 0)
		return;
	if (record_read(line, size, RECORDS_ALL, &arena, &checked) == -EPROTONOSUPPORT) {
		log->newer++;
		return;
	}
	json = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	error = json ? read_line(json, boot, &r) : -EBADMSG;
	if (error == 0)
		account_log_add(log, query, &r.record);
	else if (error == -EPROTONOSUPPORT)
		log->newer++;
	else if (error != -ENOMSG)
		log->unreadable++;
	free(r.alive);
}
