// SPDX-License-Identifier: Apache-2.0
/* What stands in the cells of a stop's and of a signal's row. */
#include "wire/text/table.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "wire/text/rows.h"

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define ALARM  "\033[1;31m"

#define SHORT_UID 8
#define SHORT_ID  12
#define NOT_KNOWN "-"

#define EXIT_WIDTH   7
#define SENDER_WIDTH 13

/* The widths and a space between each two make ROWS_WIDTH. The ends of pods' names are what
 * keeps replicas apart. */
static const struct rows_column COLUMNS[] = {
	{"TIME", 12, false},	{"POD", 16, true},    {"CONTAINER", 12, false},
	{"OUTCOME", 10, false}, {"CAUSE", 13, false}, {"EXIT", EXIT_WIDTH, false},
	{"TOOK", 6, false},	{"GRACE", 9, false},  {"SENDER", SENDER_WIDTH, false},
	{"NOTE", 13, false},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

_Static_assert(COUNT(COLUMNS) <= ROWS_COLUMNS_MAX, "a row has a cell for each column");

int table_header(struct buf *out, bool colour)
{
	return rows_title(out, COLUMNS, COUNT(COLUMNS), colour ? BOLD : NULL);
}

static void add_visible(struct buf *cell, const char *text)
{
	utf8_add_visible(cell, text, strlen(text));
}

static void add_time(struct buf *cell, int64_t wall_ns)
{
	char text[RFC3339_SIZE];

	rfc3339_format(wall_ns, text);
	buf_add(cell, text + strlen("2026-11-21T"), strlen("15:04:05.123"));
}

static void add_pod(struct buf *cell, const struct record_pod *pod)
{
	if (pod->known && pod->name) {
		if (pod->namespace_) {
			add_visible(cell, pod->namespace_);
			buf_addc(cell, '/');
		}
		add_visible(cell, pod->name);
	} else if (pod->known && pod->uid) {
		utf8_add_visible(cell, pod->uid, strnlen(pod->uid, SHORT_UID));
	} else {
		buf_adds(cell, NOT_KNOWN);
	}
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_container(struct buf *cell, const struct record_container *container)
{
	if (container->known && container->name)
		add_visible(cell, container->name);
	else if (container->known && container->kind == CONTAINER_KIND_SANDBOX)
		buf_adds(cell, "sandbox?");
	else if (container->known && container->id)
		utf8_add_visible(cell, container->id, strnlen(container->id, SHORT_ID));
	else if (container->known && container->cgroup)
		add_visible(cell, last_component(container->cgroup));
	else
		buf_adds(cell, NOT_KNOWN);
}

static void add_exit(struct buf *cell, const struct record_exit *exit)
{
	uint32_t signal = exit->status & 0x7f;
	char name[SIGNAME_SIZE];

	if (!exit->known) {
		buf_adds(cell, NOT_KNOWN);
	} else if (signal) {
		signame_format(signal, name);
		buf_adds(cell, strlen(name) > EXIT_WIDTH ? name + strlen("SIG") : name);
	} else {
		buf_add_u64(cell, exit->status >> 8 & 0xff);
	}
}

/* "12%/30s": the share of the grace period that was used, and the period. */
static void add_grace(struct buf *cell, const struct record_stop *stop)
{
	char text[DURATION_SIZE];
	double percent;

	if (!grace_known(&stop->grace)) {
		buf_adds(cell, NOT_KNOWN);
		return;
	}
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

/* "runc[812] runtime", with the kind left out where it says nothing more. The pid, then the end of
 * the name, give way where the room is short. */
static void add_sender(struct buf *cell, const struct record_sender *sender)
{
	_cleanup_(buf_free) struct buf name = {};
	_cleanup_(buf_free) struct buf tail = {};
	const char *kind = sender_kind_name(sender->kind);
	const char *comm = sender->process.comm;
	bool has_kind = sender->kind != SENDER_HOST && kind && comm && strcmp(comm, kind) != 0;

	if (!comm || sender->kind == SENDER_KERNEL || sender->kind == SENDER_UNKNOWN) {
		buf_adds(cell, kind ? kind : "unknown");
		return;
	}
	add_visible(&name, comm);
	buf_printf(&tail, "[%u]%s%s", sender->process.pid, has_kind ? " " : "",
		   has_kind ? kind : "");
	if (has_kind && name.len + tail.len > SENDER_WIDTH) {
		buf_reset(&tail);
		buf_printf(&tail, " %s", kind);
	}
	if (name.len + tail.len > SENDER_WIDTH) {
		buf_truncate(&name, SENDER_WIDTH - 1 - tail.len);
		buf_adds(&name, "…");
	}
	buf_adds(cell, buf_str(&name));
	buf_adds(cell, buf_str(&tail));
}

/* The sender that ended it; without one, the sender that requested its end. */
static const struct record_sender *ender(const struct record_stop *stop)
{
	if (stop->kill_signal.known &&
	    (stop->outcome == OUTCOME_KILLED || !stop->stop_signal.known))
		return &stop->kill_signal.sender;
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

/* What is left out of the evidence stands last, so that a name has room to be read. */
static void add_notes(struct buf *cell, const struct record_stop *stop)
{
	const char *separator = "";

	add_unheard(cell, stop->deaf, stop->reason);
	if (stop->collateral_kills) {
		next_note(cell);
		buf_add_u64(cell, stop->collateral_kills);
		buf_adds(cell, " collateral");
	}
	if (stop->oom_kills > (stop->outcome == OUTCOME_OOM_KILLED)) {
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

static void fill_stop(struct rows_row *row, const struct record *record)
{
	const struct record_stop *stop = &record->stop;
	const struct record_sender *sender = ender(stop);
	char took[DURATION_SIZE];

	add_time(rows_cell(row, NULL), record->wall_ns);
	add_pod(rows_cell(row, NULL), &stop->pod);
	add_container(rows_cell(row, NULL), &stop->container);
	buf_adds(rows_cell(row, outcome_colour(stop->outcome)), outcome_name(stop->outcome));
	buf_adds(rows_cell(row, NULL), cause_name(stop->cause));
	add_exit(rows_cell(row, NULL), &stop->exit);
	buf_adds(rows_cell(row, NULL),
		 stop->latency_known ? duration_format(stop->latency_ns, took) : NOT_KNOWN);
	add_grace(rows_cell(row, NULL), stop);
	if (sender)
		add_sender(rows_cell(row, NULL), sender);
	else
		buf_adds(rows_cell(row, NULL), NOT_KNOWN);
	add_notes(rows_cell(row, stop->deaf ? ALARM : NULL), stop);
}

static void fill_signal(struct rows_row *row, const struct record *record)
{
	const struct record_signal *signal = &record->signal;
	char name[SIGNAME_SIZE];
	struct buf *note;

	add_time(rows_cell(row, NULL), record->wall_ns);
	add_pod(rows_cell(row, NULL), &signal->pod);
	add_container(rows_cell(row, NULL), &signal->container);
	buf_adds(rows_cell(row, NULL), signame_format(signal->number, name));
	buf_adds(rows_cell(row, NULL), record_result_name(signal->result));
	for (int i = 0; i < 3; i++) /* EXIT, TOOK, GRACE */
		buf_adds(rows_cell(row, NULL), NOT_KNOWN);
	add_sender(rows_cell(row, NULL), &signal->sender);

	note = rows_cell(row, signal->deaf ? ALARM : NULL);
	add_unheard(note, signal->deaf, signal->reason);
	if (!signal->target_init) {
		next_note(note);
		buf_printf(note, "pid %u", signal->target.pid);
	}
}

/* For sure; a guess has its row. */
static bool is_sandbox(const struct record *record)
{
	if (record->type == RECORD_STOP)
		return record->stop.container.kind == CONTAINER_KIND_SANDBOX &&
		       !(record->stop.gaps >> GAP_SANDBOX_GUESSED & 1);
	return record->type == RECORD_SIGNAL &&
	       record->signal.container.kind == CONTAINER_KIND_SANDBOX;
}

int table_row(struct buf *out, const struct record *record, bool colour)
{
	_cleanup_(rows_free) struct rows_row row = {};

	if (is_sandbox(record))
		return 0;
	if (record->type == RECORD_STOP)
		fill_stop(&row, record);
	else if (record->type == RECORD_SIGNAL)
		fill_signal(&row, record);
	else
		return 0;
	return rows_add(out, &row, COLUMNS, colour);
}
