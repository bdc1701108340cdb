// SPDX-License-Identifier: Apache-2.0
/* What is in the cells of the row of a stop, of a signal, and of an init that was reaped late. */
#include "wire/text/table.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"

#define DIM    "\033[2m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define ALARM  "\033[1;31m"

#define SHORT_UID 8
#define SHORT_ID  12
#define SUFFIX	  ".service"

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

static void add_day(struct grid_cell *cell, const void *row)
{
	grid_day(cell, ((const struct record *)row)->wall_ns);
}

static void add_time(struct grid_cell *cell, const void *row)
{
	grid_time(cell, ((const struct record *)row)->wall_ns);
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
	bool asked = cell->view->columns || cell->view->sort;

	if (!pod->known || asked)
		grid_text(cell, record_namespace(pod, container));
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
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

static const struct record_container *container_of(const struct record *r)
{
	if (is_reaped(r))
		return &r->reaped.container;
	return is_stop(r) ? &r->stop.container : &r->signal.container;
}

static void add_namespace(struct grid_cell *cell, const void *row)
{
	table_add_namespace(cell, pod_of(row), container_of(row));
}

static void add_workload(struct grid_cell *cell, const void *row)
{
	grid_text(cell, record_workload(pod_of(row), container_of(row)));
}

static void add_container(struct grid_cell *cell, const void *row)
{
	const struct record_container *container = container_of(row);

	if (container->known && container->name)
		add_unit(cell->text, container, container->name);
	else if (container->known && container->kind == CONTAINER_KIND_SANDBOX)
		buf_adds(cell->text, "sandbox?");
	else if (container->known && container->id)
		utf8_add_visible(cell->text, container->id, strnlen(container->id, SHORT_ID));
	else if (container->known && container->cgroup)
		add_unit(cell->text, container, last_component(container->cgroup));
}

static void add_id(struct grid_cell *cell, const void *row)
{
	const char *id = container_of(row)->id;

	if (id)
		utf8_add_visible(cell->text, id, strnlen(id, SHORT_ID));
}

static void add_kind(struct grid_cell *cell, const void *row)
{
	grid_text(cell, record_container_kind_name(container_of(row)->kind));
}

static const struct record_process *process_of(const struct record *r)
{
	static const struct record_process unknown;

	if (is_reaped(r))
		return &unknown;
	return is_stop(r) ? &r->stop.process : &r->signal.target;
}

static void add_pid(struct grid_cell *cell, const void *row)
{
	uint32_t pid = process_of(row)->pid;

	if (pid)
		buf_add_u64(cell->text, pid);
}

static void add_comm(struct grid_cell *cell, const void *row)
{
	grid_text(cell, process_of(row)->comm);
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

/* The sender that ended it; without one, the sender that requested its end. */
static const struct record_sender *ender(const struct record_stop *stop)
{
	if (stop->kill_signal.known &&
	    (stop->outcome == OUTCOME_KILLED || stop->cause == CAUSE_OOM_USERSPACE ||
	     !stop->stop_signal.known))
		return &record_killer(stop)->sender;
	return stop->stop_signal.known ? &stop->stop_signal.sender : NULL;
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

/* What is left out of the evidence stands last, so that a name has room to be read. */
static void add_stop_notes(struct buf *cell, const struct record_stop *stop)
{
	bool by_kernel = stop->outcome == OUTCOME_OOM_KILLED && stop->cause != CAUSE_OOM_USERSPACE;
	const char *separator = "";

	add_unheard(cell, stop->deaf, stop->reason);
	add_before_exec(cell, stop);
	if (stop->collateral_kills) {
		next_note(cell);
		buf_add_u64(cell, stop->collateral_kills);
		buf_adds(cell, " collateral");
	}
	if (!stop->oom_kills_unknown && stop->oom_kills > by_kernel) {
		next_note(cell);
		buf_adds(cell, "oom×");
		buf_add_u64(cell, stop->oom_kills);
	}
	if (stop->gaps == 0)
		return;
	next_note(cell);
	for (unsigned int gap = 0; gap < GAP_COUNT; gap++) {
		if (!(stop->gaps >> gap & 1))
			continue;
		buf_adds(cell, separator);
		buf_adds(cell, gap_name((enum gap)gap));
		separator = ",";
	}
}

static const char *outcome_colour(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_GRACEFUL:
	case OUTCOME_COMPLETED:
		return GREEN;
	case OUTCOME_TERMINATED:
		return YELLOW;
	case OUTCOME_KILLED:
	case OUTCOME_OOM_KILLED:
	case OUTCOME_CRASHED:
	case OUTCOME_FAILED:
		return RED;
	case OUTCOME_UNKNOWN:
	case OUTCOME_COUNT:
		break;
	}
	return DIM;
}

static void add_outcome(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;
	char name[SIGNAME_SIZE];

	if (is_stop(r)) {
		cell->colour = outcome_colour(r->stop.outcome);
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

static void add_grace(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;

	if (is_stop(r) && grace_known(&r->stop.grace))
		add_share(cell->text, &r->stop);
}

/* "runc[812] runtime", with the kind left out where it adds nothing. NULL: nothing. */
static void put_sender(struct grid_cell *cell, const struct record_sender *sender)
{
	const char *kind = sender ? sender_kind_name(sender->kind) : NULL;
	const char *comm = sender ? sender->process.comm : NULL;

	if (!sender)
		return;
	if (!comm || sender->kind == SENDER_KERNEL || sender->kind == SENDER_UNKNOWN) {
		buf_adds(cell->text, kind ? kind : "unknown");
		return;
	}
	add_visible(cell->text, comm);
	buf_printf(cell->text, "[%u]", sender->process.pid);
	if (sender->kind != SENDER_HOST && kind && strcmp(comm, kind) != 0)
		buf_printf(cell->text, " %s", kind);
}

static void add_sender(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;

	if (is_reaped(r))
		return;
	put_sender(cell, is_stop(r) ? ender(&r->stop) : &r->signal.sender);
}

/* The sender of the stop signal, also where another process killed it. */
static void add_asked_by(struct grid_cell *cell, const void *row)
{
	const struct record *r = row;

	if (is_stop(r) && r->stop.stop_signal.known)
		put_sender(cell, &r->stop.stop_signal.sender);
}

/* "runc runtime" */
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
	cell->colour = deaf ? ALARM : NULL;
	if (is_stop(r)) {
		add_stop_notes(cell->text, &r->stop);
		return;
	}
	add_unheard(cell->text, deaf, r->signal.reason);
	if (!r->signal.target_init) {
		next_note(cell->text);
		buf_printf(cell->text, "pid %u", r->signal.target.pid);
	}
}

static const struct grid_column columns[] = {
	{.name = "date", .title = "DATE", .add = add_day, .typical = 10, .wide = true},
	{.name = "time",
	 .title = "TIME",
	 .add = add_time,
	 .shorten = shorten_time,
	 .typical = 13,
	 .typical_short = 9},
	{.name = "namespace",
	 .title = "NAMESPACE",
	 .add = add_namespace,
	 .typical = 9,
	 .turn = 1,
	 .optional = true},
	/* The ends of pods' names are what keeps replicas apart. */
	{.name = "pod",
	 .title = "POD",
	 .add = add_pod,
	 .typical = 16,
	 .least = 12,
	 .keep_end = true,
	 .optional = true},
	{.name = "container",
	 .title = "CONTAINER",
	 .add = add_container,
	 .typical = 10,
	 .least = 12,
	 .keep_end = true},
	{.name = "workload", .title = "WORKLOAD", .add = add_workload, .typical = 10, .wide = true},
	{.name = "id", .title = "ID", .add = add_id, .typical = 12, .wide = true},
	{.name = "outcome", .title = "OUTCOME", .add = add_outcome, .typical = 10},
	{.name = "cause", .title = "CAUSE", .add = add_cause, .typical = 13, .turn = 6},
	{.name = "exit", .title = "EXIT", .add = add_exit, .typical = 7, .turn = 2},
	{.name = "took", .title = "TOOK", .add = add_took, .typical = 6, .turn = 4},
	{.name = "grace", .title = "GRACE", .add = add_grace, .typical = 8, .turn = 3},
	{.name = "signal", .title = "SIGNAL", .add = add_signal, .typical = 7, .wide = true},
	{.name = "asked-by",
	 .title = "ASKED-BY",
	 .add = add_asked_by,
	 .shorten = shorten_sender,
	 .typical = 19,
	 .typical_short = 12,
	 .wide = true},
	{.name = "sender",
	 .title = "SENDER",
	 .add = add_sender,
	 .shorten = shorten_sender,
	 .typical = 19,
	 .typical_short = 12,
	 .turn = 5},
	{.name = "kind", .title = "KIND", .add = add_kind, .typical = 9, .wide = true},
	{.name = "pid", .title = "PID", .add = add_pid, .typical = 7, .wide = true},
	{.name = "comm", .title = "COMM", .add = add_comm, .typical = 8, .wide = true},
	{.name = "note",
	 .title = "NOTE",
	 .add = add_note,
	 .typical = 4,
	 .least = 13,
	 .continues = true},
};

const struct grid_table table_stops = {columns, sizeof(columns) / sizeof(*columns)};

/* For sure; a guess has its row. */
static bool is_sandbox(const struct record *record)
{
	return container_of(record)->kind == CONTAINER_KIND_SANDBOX &&
	       !(is_stop(record) && record->stop.gaps >> GAP_SANDBOX_GUESSED & 1);
}

bool table_has_row(const struct record *record)
{
	return (is_stop(record) || is_reaped(record) || record->type == RECORD_SIGNAL) &&
	       !is_sandbox(record);
}
