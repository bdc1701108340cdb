// SPDX-License-Identifier: Apache-2.0
/* graced log: past stops, from the records that graced run wrote. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "app/query/history.h"
#include "base/cleanup.h"
#include "wire/json/record.h"
#include "wire/text/table.h"

/* Rows of a table that are sized together, if it is not sorted. */
#define ROWS_TOGETHER 4096

static const struct options_help help = {
	.head = "usage: graced log [OPTIONS]\n"
		"\n"
		"Shows past stops as graced trace shows those that happen now, from the records that graced\n"
		"run wrote to the journal or to a file, the oldest first.\n",
	.tail = "Signals have rows, with --signals, where graced run recorded them (sinks.signals).\n"
		"\n"
		"The exit status is 1 when no stop matches, 2 after wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced log --since yesterday --outcome killed,oom-killed   who killed what, last night\n"
		"  graced log -p cart --count 5                               the last five stops of a pod\n"
		"  graced log --boot -1 -o json | jq .cause                   of the boot before this one\n",
};

struct rows {
	const struct options *options;
	struct grid grid;
	char **last; /* with --count, the last lines that matched, from next on; owned */
	size_t next;
	uint64_t matched, printed, late;
	int error;
};

/* --- rows ----------------------------------------------------------------------------------------
 */

static void flush_table(struct rows *h)
{
	_cleanup_(buf_free) struct buf out = {};
	int r = grid_flush(&h->grid, &out);

	if (r < 0 && !h->error)
		h->error = r;
	fwrite(buf_str(&out), 1, out.len, stdout);
}

static void print_line(struct rows *h, const char *line, size_t len)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;

	h->printed++;
	if (h->options->json) {
		while (len && line[len - 1] == '\n')
			len--;
		fwrite(line, 1, len, stdout);
		putchar('\n');
		return;
	}
	if (record_read(line, len, RECORDS_STOPS, &arena, &record) < 0)
		return;
	h->late += table_is_late(&record);
	grid_add(&h->grid, &record);
	if (h->printed % ROWS_TOGETHER == 0 && !h->options->table.sort)
		flush_table(h);
}

/* The oldest of those that are kept gives way. */
static void keep_line(struct rows *h, const char *line, size_t len)
{
	char *copy = strndup(line, len);

	if (!copy) {
		h->error = -ENOMEM;
		return;
	}
	free(h->last[h->next]);
	h->last[h->next] = copy;
	h->next = (h->next + 1) % h->options->count;
}

static void print_kept(struct rows *h)
{
	for (uint64_t i = 0; h->last && i < h->options->count; i++) {
		const char *line = h->last[(h->next + i) % h->options->count];

		if (line)
			print_line(h, line, strlen(line));
	}
}

static bool is_asked_for(const struct rows *h, const struct record *record)
{
	return (h->options->json || table_has_row(record)) &&
	       filter_matches(&h->options->filter, record);
}

static void take_record(void *userdata, const struct record *record, const char *line, size_t len)
{
	struct rows *h = userdata;

	if (!is_asked_for(h, record))
		return;
	h->matched++;
	if (h->last)
		keep_line(h, line, len);
	else
		print_line(h, line, len);
}

/* --- the command ---------------------------------------------------------------------------------
 */

static int finish(struct rows *h, const struct history *history)
{
	print_kept(h);
	if (!h->options->json && h->matched)
		flush_table(h);
	fflush(stdout);
	history_say_left_out(history);
	if (h->late && !ferror(stdout))
		say(TABLE_LATE, h->late);
	if (h->error < 0)
		say("cannot show all stops: %s", strerror(-h->error));
	else if (!h->matched)
		say("no recorded stop matches");
	if (!history->records)
		history_say_unrecorded(h->options);
	return h->error < 0 || !h->matched;
}

static int show(struct rows *h, struct history *history)
{
	const struct options *o = h->options;
	struct grid_view view = screen_view(o);
	int status;

	/* Stops of one day are rare here. */
	view.also = "date";
	if (o->count) {
		h->last = calloc(o->count, sizeof(*h->last));
		if (!h->last) {
			say("cannot keep %" PRIu64 " rows: %s", o->count, strerror(ENOMEM));
			return 1;
		}
	}
	grid_init(&h->grid, &table_log, &view);
	status = history_read(history);
	if (!status)
		status = finish(h, history);
	grid_done(&h->grid);
	for (uint64_t i = 0; h->last && i < o->count; i++)
		free(h->last[i]);
	free(h->last);
	return status;
}

int cmd_log(int argc, char **argv)
{
	struct options options;
	struct rows h = {.options = &options};
	struct history history = {.options = &options, .fn = take_record, .userdata = &h};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("log", "'%s' is one argument too many; --file reads a file",
				 argv[options.first]);
	status = history_take_options(&history);
	if (!status)
		status = screen_check(&options, &table_log);
	return status ? status : show(&h, &history);
}
