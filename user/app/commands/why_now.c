// SPDX-License-Identifier: Apache-2.0
/* Asks the daemon which stops are under way, and looks at the containers that run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/why.h"
#include "app/config/run_dir.h"
#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "wire/json/record.h"
#include "wire/text/why.h"

/* As long as a daemon may take a moment for something else. */
#define ANSWER_MS 3000

/* Containers of a name whose stories are printed. */
#define TOLD_MAX 4

/* --- the daemon -------------------------------------------------------------------------------- */

static void query(struct whynow *now)
{
	const struct control_request request = {.command = CONTROL_STOPPING};
	struct control_why reason;
	char buffer[PATH_MAX];

	now->daemon = control_query(control_socket_path(now->why->options->socket, buffer),
				    &request, ANSWER_MS, -1, &now->answer, &reason) == 0;
}

/* The next stop that is under way, from *at on. */
static bool next_stop(const char **at, struct arena *arena, struct record *ret)
{
	for (const char *newline; (newline = strchr(*at, '\n'));) {
		const char *line = *at;

		*at = newline + 1;
		if (record_read(line, (size_t)(newline - line), 1u << RECORD_STOP, arena, ret) == 0)
			return true;
	}
	return false;
}

/* --- the look ---------------------------------------------------------------------------------- */

static bool is_there(const char *cgroup, const struct record_container *container)
{
	return cgroup && container->cgroup && strcmp(container->cgroup, cgroup) == 0;
}

typedef bool (*match_fn)(const struct why *why, const struct record *record);

/* The daemon may have names that nothing here has. */
static bool is_stopping_in(const struct whynow *now, const char *cgroup, match_fn matches)
{
	const char *at = buf_str(&now->answer.text);

	for (;;) {
		_cleanup_(arena_free) struct arena arena = {};
		struct record record;

		if (!next_stop(&at, &arena, &record))
			return false;
		if (is_there(cgroup, &record.stop.container) && matches(now->why, &record))
			return true;
	}
}

static bool is_wanted(void *userdata, const struct record_pod *pod,
		      const struct record_container *container)
{
	const struct whynow *now = userdata;
	const struct record record = {.type = RECORD_EMPTY,
				      .empty = {.pod = *pod, .container = *container}};

	return container->kind != CONTAINER_KIND_SANDBOX &&
	       (why_wants(now->why, &record) || is_stopping_in(now, container->cgroup, why_wants));
}

static const struct audit_record *find_look(const struct whynow *now, const struct record *stop)
{
	const char *cgroup = stop->stop.container.cgroup;

	for (size_t i = 0; i < now->n; i++)
		if (is_there(cgroup, &now->records[i].container))
			return now->records + i;
	return NULL;
}

static bool is_wanted_stop(const struct whynow *now, const struct record *stop)
{
	if (stop->stop.container.kind == CONTAINER_KIND_SANDBOX)
		return false;
	if (find_look(now, stop))
		return true;
	return why_wants(now->why, stop) && (!now->exact || why_is_exact(now->why, stop));
}

static struct record subject_of(const struct audit_record *look)
{
	return (struct record){.type = RECORD_EMPTY,
			       .empty = {.pod = look->pod, .container = look->container}};
}

/* One without the name was found by the pid of a process, or by the daemon's stop. */
static bool is_exact(const struct whynow *now, const struct audit_record *look)
{
	const struct record subject = subject_of(look);
	const char *cgroup = look->container.cgroup;

	if (why_wants(now->why, &subject))
		return why_is_exact(now->why, &subject);
	return !is_stopping_in(now, cgroup, why_wants) || is_stopping_in(now, cgroup, why_is_exact);
}

void whynow_keep_exact(struct whynow *now)
{
	size_t n = 0;

	now->exact = true;
	for (size_t i = 0; i < now->n; i++)
		if (is_exact(now, now->records + i))
			now->records[n++] = now->records[i];
	now->n = n;
}

static bool has_exact(const struct whynow *now)
{
	const char *at = buf_str(&now->answer.text);

	for (size_t i = 0; i < now->n; i++)
		if (is_exact(now, now->records + i))
			return true;
	for (;;) {
		_cleanup_(arena_free) struct arena arena = {};
		struct record record;

		if (!next_stop(&at, &arena, &record))
			return false;
		if (is_wanted_stop(now, &record) && why_is_exact(now->why, &record))
			return true;
	}
}

void whynow_look(struct whynow *now, const struct why *why)
{
	const struct audit_only only = {is_wanted, now, (pid_t)why->pid};

	*now = (struct whynow){.why = why, .list = {.quiet = true, .trees = true, .only = &only}};
	query(now);
	now->look = audit_scan(why->options, 0, &now->list);
	if (now->look >= 0)
		now->look =
			audit_records(why->options, &now->list, now->node, &now->records, &now->n);
	now->list.only = NULL;
	if (has_exact(now))
		whynow_keep_exact(now);
}

void whynow_done(struct whynow *now)
{
	buf_free(&now->answer.text);
	free(now->records);
	audit_list_free(&now->list);
}

/* --- stops that are under way ------------------------------------------------------------------ */

bool whynow_is_stopping(const struct whynow *now)
{
	const char *at = buf_str(&now->answer.text);

	for (;;) {
		_cleanup_(arena_free) struct arena arena = {};
		struct record record;

		if (!next_stop(&at, &arena, &record))
			return false;
		if (is_wanted_stop(now, &record))
			return true;
	}
}

int whynow_print_stopping(struct whynow *now)
{
	const char *at = buf_str(&now->answer.text);
	int n = 0, r = 0;

	for (;;) {
		_cleanup_(arena_free) struct arena arena = {};
		const struct audit_record *look;
		struct record record;
		struct story story;

		if (r < 0 || n == TOLD_MAX || !next_stop(&at, &arena, &record))
			return r < 0 ? r : n;
		if (!is_wanted_stop(now, &record))
			continue;
		look = find_look(now, &record);
		if (n++ && !now->why->options->json)
			putchar('\n');
		story_of_stopping(&story, &record, look);
		r = why_print(now->why, &story);
	}
}

/* --- containers that run ----------------------------------------------------------------------- */

/* The worst first. */
static int rank(const struct audit_record *look)
{
	if (audit_is_deaf(&look->audit))
		return 0;
	if (look->audit.verdict == AUDIT_UNKNOWN)
		return 2;
	return look->audit.warnings ? 1 : 3;
}

static int by_rank(const void *a, const void *b)
{
	int x = rank(a), y = rank(b);

	return (x > y) - (x < y);
}

int whynow_print_running(struct whynow *now)
{
	bool json = now->why->options->json;
	size_t shown = json || now->n <= TOLD_MAX ? now->n : TOLD_MAX;
	int r = 0;

	if (now->n > shown)
		qsort(now->records, now->n, sizeof(*now->records), by_rank);
	for (size_t i = 0; r >= 0 && i < shown; i++) {
		struct story story;

		if (i && !json)
			putchar('\n');
		story_of_running(&story, now->records + i, now->why->pid, now->daemon);
		r = why_print(now->why, &story);
	}
	if (r >= 0 && now->n > shown)
		printf("\n%zu more containers of that name run: graced audit lists them.\n",
		       now->n - shown);
	return r < 0 ? r : (int)now->n;
}

void whynow_print_again(const struct whynow *now)
{
	_cleanup_(buf_free) struct buf out = {};

	if (!now->n)
		return;
	buf_adds(&out, "\nRunning now by that name: ");
	if (now->n == 1)
		why_add_subject(&out, &now->records->pod, &now->records->container);
	else
		buf_printf(&out, "%zu containers", now->n);
	buf_printf(&out, ".\ngraced why --running %s says what a stop would do.\n", now->why->name);
	fputs(buf_str(&out), stdout);
}
