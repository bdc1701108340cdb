// SPDX-License-Identifier: Apache-2.0
/* Follows records into the note of a boot, and judges the note of an earlier one. */
#include "core/boot/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

#define SAME_NS 1000000000ULL

void bootlog_forget(struct bootlog *log)
{
	free(log->pods.rows);
	free(log->containers.rows);
	log->pods = log->containers = (struct bootlog_list){};
}

void bootlog_done(struct bootlog *log)
{
	bootlog_forget(log);
	*log = (struct bootlog){};
}

void bootlog_begin(struct bootlog *log, const char *boot_id, const char *node, uint64_t now_ns)
{
	if (strcmp(log->boot_id, boot_id) != 0)
		bootlog_done(log);
	log->resumed = log->shutdown;
	log->shutdown = (struct bootlog_shutdown){};
	log->stopped_ns = 0;
	if (!log->watched_ns)
		log->watched_ns = now_ns;
	snprintf(log->boot_id, sizeof(log->boot_id), "%s", boot_id);
	snprintf(log->node, sizeof(log->node), "%s", node);
}

/* By a clock that may be slewed between two daemons. */
static bool is_same_time(uint64_t a_ns, uint64_t b_ns)
{
	return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) <= SAME_NS;
}

static void begin_shutdown(struct bootlog *log, const struct shutdown_record *step)
{
	struct bootlog_shutdown *s = &log->shutdown;

	if (!s->announced_ns && log->resumed.announced_ns &&
	    is_same_time(log->resumed.announced_ns, step->announced_ns))
		*s = log->resumed;
	else if (s->announced_ns != step->announced_ns)
		*s = (struct bootlog_shutdown){.announced_ns = step->announced_ns};
	s->mode = step->mode;
	s->action = step->action;
}

static bool take_step(struct bootlog *log, const struct shutdown_record *step)
{
	struct bootlog_shutdown *s = &log->shutdown;

	switch (step->what) {
	case SHUTDOWN_REPORT_ANNOUNCED:
		begin_shutdown(log, step);
		return true;
	case SHUTDOWN_REPORT_RELEASED:
		if (!s->announced_ns)
			return false;
		s->released_ns = step->at_ns;
		s->reason = step->reason;
		return true;
	case SHUTDOWN_REPORT_CANCELLED:
		*s = (struct bootlog_shutdown){};
		return true;
	default:
		return false;
	}
}

bool bootlog_take(struct bootlog *log, const struct record *record)
{
	enum record_container_kind kind = record->stop.container.kind;

	if (record->type == RECORD_SHUTDOWN)
		return take_step(log, &record->shutdown.step);
	if (record->type == RECORD_STOP && log->shutdown.announced_ns &&
	    (kind == CONTAINER_KIND_CONTAINER || kind == CONTAINER_KIND_UNKNOWN))
		log->shutdown.outcomes[record->stop.outcome]++;
	return false;
}

bool bootlog_is_due(const struct bootlog *log, uint64_t now_ns)
{
	uint64_t every = log->shutdown.announced_ns ? BOOTLOG_LOOK_GOING_NS : BOOTLOG_LOOK_NS;

	return now_ns - log->saved_ns >= every;
}

void bootlog_look(struct bootlog *log, uint64_t now_ns, int64_t wall_ns)
{
	log->saved_ns = now_ns;
	log->saved_wall_ns = wall_ns;
	bootlog_forget(log);
}

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

bool bootlog_add(struct bootlog_list *list, const char *id, const char *namespace_,
		 const char *name, uint32_t containers)
{
	struct bootlog_alive *row;

	list->total++;
	if ((list->n == list->room && list->n >= BOOTLOG_LISTED_MAX) ||
	    !ROOM_FOR_ONE(list->rows, list->n, list->room, 16))
		return false;
	row = &list->rows[list->n++];
	copy(row->id, sizeof(row->id), id);
	copy(row->namespace_, sizeof(row->namespace_), namespace_);
	copy(row->name, sizeof(row->name), name);
	row->containers = containers;
	return true;
}

/* --- how the boot ended ------------------------------------------------------------------------ */

enum bootlog_known bootlog_compare(const struct bootlog *log, const char *boot_id, const char *node)
{
	if (!log->boot_id[0])
		return BOOTLOG_NOTHING;
	if (strcmp(log->boot_id, boot_id) == 0)
		return BOOTLOG_SAME;
	return strcmp(log->node, node) == 0 ? BOOTLOG_EARLIER : BOOTLOG_FOREIGN;
}

static struct boot_verdict judge_stopped(const struct bootlog_shutdown *s, bool alive)
{
	if (s->released_ns)
		return (struct boot_verdict){BOOT_END_CLEAN, BOOT_RELEASED};
	/* In the middle of nothing: for an upgrade, or in a shutdown that PID 1 alone was asked
	 * for. What came after it is not known. */
	if (!s->announced_ns)
		return (struct boot_verdict){BOOT_END_UNKNOWN, BOOT_STOPPED};
	return alive ? (struct boot_verdict){BOOT_END_UNKNOWN, BOOT_LEFT}
		     : (struct boot_verdict){BOOT_END_CLEAN, BOOT_EMPTY};
}

static struct boot_verdict judge_note(const struct bootlog *log)
{
	const struct bootlog_shutdown *s = &log->shutdown;
	bool alive = log->pods.total || log->containers.total;

	if (log->stopped_ns)
		return judge_stopped(s, alive);
	if (!s->announced_ns)
		return (struct boot_verdict){BOOT_END_UNCLEAN, BOOT_NOT_ANNOUNCED};
	if (!s->released_ns)
		return (struct boot_verdict){BOOT_END_UNCLEAN, BOOT_IN_SHUTDOWN};
	/* Whoever takes the machine down from then on stops graced, too, or has nothing to lose. */
	return alive ? (struct boot_verdict){BOOT_END_UNCLEAN, BOOT_AFTER_RELEASE}
		     : (struct boot_verdict){BOOT_END_CLEAN, BOOT_RELEASED};
}

bool bootlog_needs_journal(const struct bootlog *log)
{
	return judge_note(log).end != BOOT_END_CLEAN;
}

/* graced, stopped or killed, may have ended long before PID 1 took the machine down. */
struct boot_verdict bootlog_judge(const struct bootlog *log)
{
	struct boot_verdict verdict = judge_note(log);

	if (verdict.end == BOOT_END_CLEAN)
		return verdict;
	if (log->journal == BOOT_JOURNAL_WENT_DOWN)
		return (struct boot_verdict){BOOT_END_CLEAN, BOOT_WENT_DOWN};
	if (log->journal == BOOT_JOURNAL_GOING_DOWN)
		return (struct boot_verdict){BOOT_END_UNKNOWN, BOOT_GOING_DOWN};
	return verdict;
}

void bootlog_record(const struct bootlog *log, struct record *ret)
{
	*ret = (struct record){
		.type = RECORD_BOOT,
		.at_ns = log->saved_ns,
		.wall_ns = log->saved_wall_ns,
		.node = log->node[0] ? log->node : NULL,
		.boot = {.verdict = bootlog_judge(log), .log = log},
	};
	snprintf(ret->boot.id, sizeof(ret->boot.id), "%s/end", log->boot_id);
}
