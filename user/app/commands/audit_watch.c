// SPDX-License-Identifier: Apache-2.0
/* graced audit --watch: looks again and again, and prints what is new. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/audit.h"
#include "app/commands/follow.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "core/stop/audit_changes.h"
#include "io/files/fd.h"
#include "wire/json/audit.h"
#include "wire/text/advice.h"
#include "wire/text/audit.h"

#define INTERVAL_MS 1000
/* Sources are queried again as long as a container is that new: a runtime may name it a moment
 * after it has begun. */
#define LOOKS_YOUNG 2

struct auditwatch {
	const struct options *options;
	uint32_t signal;
	int stop_fd;
	struct out *out;
	struct audit_changes changes;
	struct describe *describe; /* of the round before; NULL: none */
	bool asked;		   /* the sources were queried once */
	struct grid grid;
};

static struct audit_subject subject_of(const struct audit_found *f)
{
	return (struct audit_subject){
		.cgroup = f->cgroup, .pid = f->init.proc.pid, .start_ns = f->init.proc.start_ns};
}

static bool has_young(const struct auditwatch *w, const struct audit_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct audit_subject subject = subject_of(list->list + i);

		if (audit_changes_is_young(&w->changes, &subject, LOOKS_YOUNG))
			return true;
	}
	return false;
}

/* Looks, and where new containers are there looks once more, with what the sources say of them. */
static int look(struct auditwatch *w, struct audit_list *list)
{
	int r;

	*list = (struct audit_list){.describe = w->describe, .quiet = w->asked};
	w->describe = NULL;
	r = audit_scan(w->options, w->signal, list);
	if (r == 0 && w->asked && !w->options->no_names && has_young(w, list)) {
		audit_list_free(list);
		list->quiet = true;
		r = audit_scan(w->options, w->signal, list);
	}
	w->asked = true;
	return r;
}

/* Leaves those of the list that have something new to report. */
static int keep_new(struct auditwatch *w, struct audit_list *list)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct audit_subject subject = subject_of(list->list + i);
		struct audit_found kept = list->list[i];
		bool is_new = false;

		if (r == 0)
			r = audit_changes_take(&w->changes, &subject, &kept.audit, &is_new);
		if (!is_new)
			continue;
		list->list[i] = list->list[n];
		list->list[n++] = kept;
	}
	audit_changes_end_round(&w->changes);
	for (size_t i = n; i < list->n; i++)
		cleanup_free(&list->list[i].cgroup);
	list->n = n;
	return r;
}

static void add_row(struct auditwatch *w, struct buf *text, const struct audit_record *record)
{
	if (w->options->json) {
		audit_json(text, record);
		return;
	}
	grid_add(&w->grid, record);
	grid_flush(&w->grid, text);
	if (audit_explains(w->options))
		advice_lines(text, record, screen_width());
}

static int print(struct auditwatch *w, const struct audit_list *list)
{
	_cleanup_(cleanup_free) struct audit_record *records = NULL;
	_cleanup_(buf_free) struct buf text = {};
	char node[AUDIT_NODE_SIZE];
	size_t n;
	int r = audit_records(w->options, list, node, &records, &n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		add_row(w, &text, records + i);
	return follow_put(w->stop_fd, w->out, &text);
}

static int turn(struct auditwatch *w)
{
	struct audit_list list;
	int r = look(w, &list);

	if (r == 0)
		r = keep_new(w, &list);
	if (r == 0)
		r = print(w, &list);
	w->describe = list.describe;
	list.describe = NULL;
	audit_list_free(&list);
	return r;
}

static int watch(struct auditwatch *w)
{
	int r;

	do {
		r = turn(w);
		if (r == 0)
			r = follow_wait(w->stop_fd, w->out, 0, INTERVAL_MS);
	} while (r == 0);
	if (r == -ECANCELED || r == -EPIPE)
		return 0;
	say("cannot go on: %s", strerror(-r));
	return 1;
}

int audit_watch(const struct options *options, uint32_t signal)
{
	_cleanup_(cleanup_close) int stop_fd = -1;
	struct auditwatch w = {.options = options, .signal = signal};
	struct grid_view view = screen_view(options);
	int status, r = follow_open_stop(&stop_fd);

	if (r >= 0)
		r = out_new(STDOUT_FILENO, false, true, &w.out);
	if (r < 0) {
		say("cannot watch: %s", strerror(-r));
		return 1;
	}
	w.stop_fd = stop_fd;
	view.live = true;
	grid_init(&w.grid, &audit_table, &view);
	status = watch(&w);
	grid_done(&w.grid);
	audit_changes_done(&w.changes);
	describe_free(w.describe);
	out_free(w.out);
	return status;
}
