// SPDX-License-Identifier: Apache-2.0
/* What is in the cells of the row of a stop, of a signal, and of an init that was reaped late. */
#include "wire/text/table.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/story/story.h"

#define SHORT_UID 8
#define SUFFIX	  ".service"
/* Columns of senders are shortened to "runc runtime". */
#define SENDER	  .shorten = shorten_sender, .typical = 19, .typical_short = 12, .least = 12

static void add_visible(struct buf *cell, const char *text)
{
	utf8_add_visible(cell, text, strlen(text));
}

static bool is_stop(const struct record *r)
{
	return r->type == RECORD_STOP;
}

static bool is_reaped(const struct record *r)
{
	return r->type == RECORD_REAPED;
}

/* Removes len bytes; at NULL: none. */
static void take_out(struct buf *text, char *at, size_t len)
{
	if (!at)
		return;
	memmove(at, at + len, strlen(at + len));
	buf_truncate(text, text->len - len);
}

/* Whole seconds are enough to find the row elsewhere: "15:04:05Z". */
/* Without the year. */
static void shorten_day(struct buf *text)
{
	take_out(text, text->len ? text->data : NULL, strlen("2026-"));
}

static void shorten_time(struct buf *text)
{
	take_out(text, text->len ? strchr(text->data, '.') : NULL, strlen(".123"));
}

static const struct record_pod *pod_of(const struct record *r)
{
	if (is_reaped(r))
		return &r->reaped.pod;
	return is_stop(r) ? &r->stop.pod : &r->signal.pod;
}

static void add_pod(struct grid_cell *cell, const void *row)
{
	const struct record_pod *pod = pod_of(row);

	if (pod->known && pod->name) {
		if (pod->namespace_) {
			add_visible(cell->text, pod->namespace_);
			buf_addc(cell->text, '/');
		}
		add_visible(cell->text, pod->name);
	} else if (pod->known && pod->uid) {
		utf8_add_visible(cell->text, pod->uid, strnlen(pod->uid, SHORT_UID));
	}
}

void table_add_namespace(struct grid_cell *cell, const struct record_pod *pod,
			 const struct record_container *container)
{
	const char *sort = cell->view->sort;
	bool asked = cell->view->columns || (sort && strcasestr(sort, "namespace"));

	if (!pod->known || asked)
		grid_text(cell, record_namespace(pod, container));
}

/* As systemctl takes it: what has no other suffix is a service. */
static void add_unit(struct buf *cell, const struct record_container *container, const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	if (container->kind == CONTAINER_KIND_SERVICE && len > suffix &&
	    strcmp(name + len - suffix, SUFFIX) == 0)
		len -= suffix;
	utf8_add_visible(cell, name, len);
}

static const void *container_of(const void *row)
{
	const struct record *r = row;

	if (is_reaped(r))
		return &r->reaped.container;
	return is_stop(r) ? &r->stop.container : &r->signal.container;
}

void table_add_pod(struct grid_cell *cell, const void *value)
{
	const struct record_pod *pod = value;

	if (pod->name && pod->namespace_) {
		grid_text(cell, pod->namespace_);
		buf_addc(cell->text, '/');
	}
	grid_text(cell, pod->name ? pod->name : pod->known ? pod->uid : NULL);
}

void table_add_container(struct grid_cell *cell, const void *value)
{
	const struct record_container *container = value;

	if (container->name)
		grid_text(cell, container->name);
	else
		grid_add_id(cell, &container->id);
}

void table_add_runtime(struct grid_cell *cell, const void *value)
{
	enum cgpath_runtime runtime = *(const enum cgpath_runtime *)value;

	if (runtime != CGPATH_RT_UNKNOWN)
		grid_text(cell, cgpath_runtime_name(runtime));
}

static void add_namespace(struct grid_cell *cell, const void *row)
{
	table_add_namespace(cell, pod_of(row), container_of(row));
}

static void add_workload(struct grid_cell *cell, const void *row)
{
	grid_text(cell, record_workload(pod_of(row), container_of(row)));
}

void table_add_subject(struct grid_cell *cell, const void *value)
{
	const struct record_container *container = value;

	if (container->known && container->name)
		add_unit(cell->text, container, container->name);
	else if (container->known && container->kind == CONTAINER_KIND_SANDBOX)
		buf_adds(cell->text, "sandbox?");
	else if (container->known && container->id)
		grid_add_id(cell, &container->id);
	else if (container->known && container->cgroup)
		add_unit(cell->text, container, record_last_component(container->cgroup));
}

/* NULL: it is another record. */
static const void *stop_of(const void *row)
{
	const struct record *r = row;

	return is_stop(r) ? &r->stop : NULL;
}

/* NULL: the record has none. */
static const void *process_of(const void *row)
{
	const struct record *r = row;

	if (is_reaped(r))
		return NULL;
	return is_stop(r) ? &r->stop.process : &r->signal.target;
}

/* "12%/30s": the share of the grace period that was used, and the period. */
static void add_share(struct buf *cell, const struct record_stop *stop)
{
	char text[DURATION_SIZE];
	double percent;

	if (stop->latency_known && stop->grace.ns) {
		percent = (double)stop->latency_ns / (double)stop->grace.ns * 100 + 0.5;
		if (percent >= 1000)
			buf_adds(cell, ">999%/");
		else
			buf_printf(cell, "%u%%/", (unsigned int)percent);
	}
	if (stop->grace.ns % NS_PER_S == 0 && stop->grace.ns < 1000ull * NS_PER_S)
		buf_printf(cell, "%us", (unsigned int)(stop->grace.ns / NS_PER_S));
	else
		buf_adds(cell, duration_format(stop->grace.ns, text));
}

/* A space before what is not the first note in its cell. */
static void next_note(struct buf *cell)
{
	if (cell->len > 0 && cell->data[cell->len - 1] != '\0')
		buf_addc(cell, ' ');
}

/* no-handler is what deaf means. */
static void add_unheard(struct buf *cell, bool deaf, enum unheard reason)
{
	if (deaf)
		buf_adds(cell, "deaf");
	if (reason == UNHEARD_NONE || (deaf && reason == UNHEARD_NO_HANDLER))
		return;
	next_note(cell);
	buf_adds(cell, unheard_name(reason));
}

/* When that was, and what the init was then. */
static void add_before_exec(struct buf *cell, const struct record_stop *stop)
{
	char after[DURATION_SIZE];
	uint64_t after_ns;
	const char *comm = record_before_exec(stop, &after_ns);

	if (!comm)
		return;
	buf_adds(cell, " (");
	utf8_add_visible(cell, comm, strlen(comm));
	buf_printf(cell, ", %s)", duration_format(after_ns, after));
}

bool table_is_late(const struct record *record)
{
	return is_stop(record) && record->stop.gaps >> GAP_ATTACHED_LATE & 1;
}

static void add_gaps(struct buf *cell, uint32_t gaps)
{
	const char *separator = "";

	if (gaps)
		next_note(cell);
	for (unsigned int gap = 0; gap < GAP_COUNT; gap++) {
		if (!(gaps >> gap & 1))
			continue;
		buf_adds(cell, separator);
		buf_adds(cell, gap_name((enum gap)gap));
		separator = ",";
	}
}

/* What is left out of the evidence stands last, so that a name has room to be read. */
static void add_stop_notes(struct buf *cell, const struct record_stop *stop, uint32_t gaps)
{
	bool by_kernel = stop->outcome == OUTCOME_OOM_KILLED && stop->cause != CAUSE_OOM_USERSPACE;
	size_t at, begin;

	add_unheard(cell, stop->deaf, stop->reason);
	add_before_exec(cell, stop);
	at = cell->len;
	next_note(cell);
	begin = cell->len;
	story_add_note(cell, stop);
	if (cell->len == begin)
		buf_truncate(cell, at);
	if (stop->collateral_kills > record_cut_well(stop)) {
		next_note(cell);
		buf_add_u64(cell, stop->collateral_kills);
		buf_adds(cell, " collateral");
	}
	if (!stop->oom_kills_unknown && stop->oom_kills > by_kernel) {
		next_note(cell);
		buf_adds(cell, "oom×");
		buf_add_u64(cell, stop->oom_kills);
	}
	add_gaps(cell, gaps);
}

enum grid_style table_outcome_style(enum outcome outcome)
{
	static const enum grid_style styles[OUTCOME_COUNT] = {
		[OUTCOME_UNKNOWN] = GRID_DIM,	 [OUTCOME_GRACEFUL] = GRID_GOOD,
		[OUTCOME_COMPLETED] = GRID_GOOD, [OUTCOME_TERMINATED] = GRID_WARN,
		[OUTCOME_KILLED] = GRID_BAD,	 [OUTCOME_OOM_KILLED] = GRID_BAD,
		[OUTCOME_CRASHED] = GRID_BAD,	 [OUTCOME_FAILED] = GRID_BAD,
	};

	return styles[outcome];
}

static void add_outcome(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	char name[SIGNAME_SIZE];

	if (is_stop(r)) {
		cell->style = table_outcome_style(r->stop.outcome);
		buf_adds(cell->text, outcome_name(r->stop.outcome));
	} else if (is_reaped(r)) {
		buf_adds(cell->text, "reaped");
	} else {
		buf_adds(cell->text, signame_format(r->signal.number, name));
	}
}

static void add_cause(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;

	if (is_reaped(r))
		return;
	buf_adds(cell->text,
		 is_stop(r) ? cause_name(r->stop.cause) : record_result_name(r->signal.result));
}

static void add_exit(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	const struct record_exit *exit = is_reaped(r) ? &r->reaped.exit : &r->stop.exit;
	uint32_t signal = exit->status & 0x7f;
	char name[SIGNAME_SIZE];

	if (!(is_stop(r) || is_reaped(r)) || !exit->known)
		return;
	if (signal)
		buf_adds(cell->text, signame_format(signal, name));
	else
		buf_add_u64(cell->text, exit->status >> 8 & 0xff);
}

static void add_took(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	char took[DURATION_SIZE];

	if (is_stop(r) && r->stop.latency_known)
		buf_adds(cell->text, duration_format(r->stop.latency_ns, took));
	else if (is_reaped(r) && r->at_ns >= r->reaped.exit.at_ns)
		buf_adds(cell->text, duration_format(r->at_ns - r->reaped.exit.at_ns, took));
}

static void add_grace(struct grid_cell *cell, const void *value)
{
	const struct record_stop *stop = value;

	if (grace_known(&stop->grace))
		add_share(cell->text, stop);
}

/* "runc[812] runtime", with the kind left out where it adds nothing. */
static void put_sender(struct grid_cell *cell, const struct record_sender *sender)
{
	const char *kind = sender_kind_name(sender->kind);
	const char *comm = sender->process.comm;

	if (!comm || sender->kind == SENDER_KERNEL || sender->kind == SENDER_UNKNOWN) {
		buf_adds(cell->text, kind ? kind : "unknown");
		return;
	}
	add_visible(cell->text, comm);
	buf_printf(cell->text, "[%u]", sender->process.pid);
	if (sender->kind != SENDER_HOST && kind && strcmp(comm, kind) != 0)
		buf_printf(cell->text, " %s", kind);
	if (sender->kind == SENDER_CONTAINER && sender->container.name) {
		buf_addc(cell->text, ' ');
		add_visible(cell->text, sender->container.name);
	}
}

static void add_sender(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	struct record_sender ender;

	if (is_stop(r) ? record_ender(&r->stop, &ender) : !is_reaped(r))
		put_sender(cell, is_stop(r) ? &ender : &r->signal.sender);
}

/* The sender of the stop signal, also where another process killed it. */
static void add_asked_by(struct grid_cell *cell, const void *value)
{
	const struct record_sigref *asked = value;

	if (asked->known)
		put_sender(cell, &asked->sender);
}

static void shorten_sender(struct buf *text)
{
	char *pid = text->len ? strrchr(text->data, '[') : NULL;

	take_out(text, pid, pid ? strcspn(pid, "]") + 1 : 0);
}

/* That asked it to stop. */
static void add_signal(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	char name[SIGNAME_SIZE];

	if (r->type == RECORD_SIGNAL)
		buf_adds(cell->text, signame_format(r->signal.number, name));
	else if (is_stop(r) && r->stop.stop_signal.known)
		buf_adds(cell->text, signame_format(r->stop.stop_signal.number, name));
}

static void add_note(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	bool deaf = is_stop(r) ? r->stop.deaf : r->signal.deaf;

	if (is_reaped(r))
		return;
	cell->style = deaf ? GRID_ALARM : GRID_PLAIN;
	if (is_stop(r)) {
		add_stop_notes(cell->text, &r->stop,
			       r->stop.gaps & ~(cell->view->wide ? 0 : 1u << GAP_ATTACHED_LATE));
		return;
	}
	add_unheard(cell->text, deaf, r->signal.reason);
	if (!r->signal.target_init) {
		next_note(cell->text);
		buf_printf(cell->text, "pid %u", r->signal.target.pid);
	}
}

static const struct grid_column columns[] = {
	{"date", GRID_AT(grid_add_day, struct record, wall_ns), .shorten = shorten_day,
	 .typical = 10, .typical_short = 5, .wide = true},
	{"time", GRID_AT(grid_add_time, struct record, wall_ns), .shorten = shorten_time,
	 .typical = 13, .typical_short = 9},
	{"namespace", .add = add_namespace, .typical = 9, .optional = true},
	/* The ends of pods' names are what keeps replicas apart. */
	{"pod", .add = add_pod, .typical = 16, .least = 16, .keep_end = true, .optional = true},
	{"container", .of = container_of, .add = table_add_subject, .typical = 10, .least = 10,
	 .keep_end = true},
	{"workload", .add = add_workload, .typical = 10, .wide = true},
	{"id", .of = container_of, GRID_AT(grid_add_id, struct record_container, id), .typical = 12,
	 .wide = true},
	{"outcome", .add = add_outcome, .typical = 10},
	{"cause", .add = add_cause, .typical = 14},
	{"exit", .add = add_exit, .typical = 7},
	{"took", .add = add_took, .typical = 6},
	{"grace", .of = stop_of, .add = add_grace, .typical = 8},
	{"signal", .add = add_signal, .typical = 7, .wide = true},
	{"asked-by", .of = stop_of, GRID_AT(add_asked_by, struct record_stop, stop_signal), SENDER,
	 .wide = true},
	{"sender", .add = add_sender, SENDER},
	{"kind", .of = container_of,
	 GRID_WORD(struct record_container, kind, record_container_kind_name), .typical = 9,
	 .wide = true},
	{"pid", .of = process_of, GRID_AT(grid_add_number, struct record_process, pid),
	 .typical = 7, .wide = true},
	{"comm", .of = process_of, GRID_TEXT(struct record_process, comm), .typical = 8,
	 .wide = true},
	{"note", .add = add_note, .typical = 24, .typical_short = 6, .least = 13,
	 .continues = true},
};

/* A pod is never left out: the name of its container alone says nothing. */
const struct grid_table table_trace = {
	.columns = columns,
	.n = sizeof(columns) / sizeof(*columns),
	.answers = "container,outcome,cause,took,sender,note",
	.extras = "time,grace,exit,namespace",
};

const struct grid_table table_log = {
	.columns = columns,
	.n = sizeof(columns) / sizeof(*columns),
	.answers = "date,time,container,outcome,cause,took,sender",
	.extras = "note,grace,exit,namespace",
};

/* For sure; a guess has its row. */
static bool is_sandbox(const struct record *record)
{
	const struct record_container *container = container_of(record);

	return container->kind == CONTAINER_KIND_SANDBOX &&
	       !(is_stop(record) && record->stop.gaps >> GAP_SANDBOX_GUESSED & 1);
}

bool table_has_row(const struct record *record)
{
	return (is_stop(record) || is_reaped(record) || record->type == RECORD_SIGNAL) &&
	       !is_sandbox(record);
}
