// SPDX-License-Identifier: Apache-2.0
/* A row for each container: who, whether it would hear, why, and what to do about it. */
#include "wire/text/audit.h"

#include <stdio.h>
#include <string.h>

#include "base/signame.h"
#include "base/utf8.h"

#define RED    "\x1b[31m"
#define YELLOW "\x1b[33m"

static const struct rows_column columns[] = {
	{"POD", 3, true},      {"CONTAINER", 12, false},  {"SIGNAL", 7, false},
	{"VERDICT", 7, false}, {"WHY", 14, false},	  {"PID", 7, false},
	{"COMM", 8, false},    {"WHAT TO DO", 38, false},
};

#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

static bool has(const struct audit_record *r, enum audit_warning warning)
{
	return r->audit.warnings >> warning & 1;
}

static void add_warnings(struct buf *cell, const struct audit_record *r)
{
	if (has(r, AUDIT_FROZEN))
		buf_adds(cell, "it is frozen: hears once thawed");
	else if (has(r, AUDIT_STOPPED))
		buf_adds(cell, "it is stopped: hears once continued");
	else if (has(r, AUDIT_SHELL_WAITS))
		buf_printf(cell, "its trap waits for pid %u to end", r->app.pid);
	else if (has(r, AUDIT_CHILD_UNSIGNALLED))
		buf_printf(cell, "exec the app: pid %u gets no signal", r->app.pid);
	else if (has(r, AUDIT_GUESSED))
		buf_adds(cell, "which process is its init was guessed");
	else
		buf_addc(cell, '-');
}

static void add_advice(struct buf *cell, const struct audit_record *r)
{
	switch (r->audit.reason) {
	case AUDIT_SHIELD:
		buf_adds(cell, "handle it, or run it under tini (init)");
		break;
	case AUDIT_SHELL:
		buf_printf(cell, "exec the app: pid %u gets no signal", r->app.pid);
		break;
	case AUDIT_BLOCKED:
		buf_adds(cell, "wait for it, or unblock it");
		break;
	case AUDIT_DEFAULT_IGNORE:
	case AUDIT_SIG_IGN:
		buf_adds(cell, "handle it, or set another STOPSIGNAL");
		break;
	case AUDIT_SUSPENDS:
		buf_adds(cell, "set another STOPSIGNAL");
		break;
	case AUDIT_ACCESS:
		buf_adds(cell,
			 r->seen ? "look again as root" : "look again from the host's namespace");
		break;
	case AUDIT_THREADS:
		buf_adds(cell, "block it in every thread");
		break;
	case AUDIT_BUSY:
		buf_adds(cell, "look again when it is idle");
		break;
	case AUDIT_STARTING:
		buf_adds(cell, "look again when it has started");
		break;
	default:
		add_warnings(cell, r);
	}
}

static const char *colour_of(const struct audit_record *r)
{
	if (audit_is_deaf(&r->audit))
		return RED;
	return r->audit.verdict == AUDIT_UNKNOWN || r->audit.warnings & ~(1u << AUDIT_GUESSED)
		       ? YELLOW
		       : NULL;
}

static void add_text(struct rows_row *row, const char *text)
{
	utf8_add_visible(rows_cell(row, NULL), text, strlen(text));
}

static void add_names(struct rows_row *row, const struct audit_record *r)
{
	char pod[2 * OBS_NAME_MAX + 1], id[13];

	snprintf(pod, sizeof(pod), "%s/%s", r->pod.namespace_ ? r->pod.namespace_ : "",
		 r->pod.name ? r->pod.name : "");
	snprintf(id, sizeof(id), "%.12s", r->container.id ? r->container.id : "-");
	add_text(row, r->pod.name ? pod : r->pod.known ? r->pod.uid : "-");
	add_text(row, r->container.name ? r->container.name : id);
}

/* "RTMIN+3" rather than a name that is cut. */
static void add_signal(struct rows_row *row, uint32_t number)
{
	char name[SIGNAME_SIZE];

	signame_format(number, name);
	add_text(row, strlen(name) > 7 ? name + strlen("SIG") : name);
}

void audit_table_row(struct rows *rows, const struct audit_record *r)
{
	struct rows_row row = {};

	add_names(&row, r);
	add_signal(&row, r->facts.signal);
	buf_adds(rows_cell(&row, colour_of(r)), audit_verdict_name(r->audit.verdict));
	add_text(&row, audit_reason_name(r->audit.reason));
	if (r->seen)
		buf_printf(rows_cell(&row, NULL), "%u", r->process.pid);
	else
		add_text(&row, "-");
	add_text(&row, r->seen ? r->process.comm : "-");
	add_advice(rows_cell(&row, NULL), r);
	rows_keep(rows, &row);
}

void audit_table_title(struct rows *rows)
{
	rows_keep_title(rows, columns, N_COLUMNS);
}

int audit_table_put(struct buf *out, const struct rows *rows, bool colour)
{
	return rows_put(out, rows, columns, N_COLUMNS, colour);
}
