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
#include "app/query/when.h"
#include "base/cleanup.h"
#include "io/files/file.h"
#include "io/sinks/journal_reader.h"
#include "wire/json/record.h"
#include "wire/text/journal.h"
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

DEFINE_CLEANUP(struct lines *, lines_free);

struct history {
	const struct options *options;
	int64_t since_ns, until_ns; /* 0: not limited */
	char boot[JOURNAL_BOOT_SIZE];
	struct grid grid;
	char **last; /* with --count, the last lines that matched, from next on; owned */
	size_t next;
	uint64_t matched, printed, signals, untrusted, unreadable, newer, dropped;
	int error;
};

/* --- rows ----------------------------------------------------------------------------------------
 */

static void flush_table(struct history *h)
{
	_cleanup_(buf_free) struct buf out = {};
	int r = grid_flush(&h->grid, &out);

	if (r < 0 && !h->error)
		h->error = r;
	fwrite(buf_str(&out), 1, out.len, stdout);
}

static void print_line(struct history *h, const char *line, size_t len)
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
	grid_add(&h->grid, &record);
	if (h->printed % ROWS_TOGETHER == 0 && !h->options->table.sort)
		flush_table(h);
}

/* The oldest of those that are kept gives way. */
static void keep_line(struct history *h, const char *line, size_t len)
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

static void print_kept(struct history *h)
{
	for (uint64_t i = 0; h->last && i < h->options->count; i++) {
		const char *line = h->last[(h->next + i) % h->options->count];

		if (line)
			print_line(h, line, strlen(line));
	}
}

static bool is_asked_for(const struct history *h, const struct record *record)
{
	if ((h->since_ns && record->wall_ns < h->since_ns) ||
	    (h->until_ns && record->wall_ns > h->until_ns))
		return false;
	return (h->options->json || table_has_row(record)) &&
	       filter_matches(&h->options->filter, record);
}

/* By the wall clock; boot_ns: when one of them was reported. */
static int64_t dropped_at(const struct record *record, uint64_t boot_ns)
{
	return boot_ns && boot_ns < record->at_ns
		       ? (int64_t)((uint64_t)record->wall_ns - (record->at_ns - boot_ns))
		       : record->wall_ns;
}

static void count_dropped(struct history *h, const struct record *record)
{
	if ((h->since_ns && dropped_at(record, record->dropped.until_ns) < h->since_ns) ||
	    (h->until_ns && dropped_at(record, record->dropped.since_ns) > h->until_ns))
		return;
	h->dropped += record->dropped.records;
}

static void take_line(struct history *h, const char *line, size_t len)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	int r = record_read(line, len, RECORDS_STOPS, &arena, &record);

	if (r < 0) {
		h->newer += r == -EPROTONOSUPPORT;
		h->unreadable += r == -EBADMSG;
		return;
	}
	h->signals += record.type == RECORD_SIGNAL;
	if (record.type == RECORD_DROPPED)
		count_dropped(h, &record);
	if (record.type == RECORD_DROPPED || !is_asked_for(h, &record))
		return;
	h->matched++;
	if (h->last)
		keep_line(h, line, len);
	else
		print_line(h, line, len);
}

/* --- reading -------------------------------------------------------------------------------------
 */

static int read_file(struct history *h, const char *path)
{
	_cleanup_(cleanup_lines_free) struct lines *lines = NULL;
	struct lines_line line;
	int r = lines_open(path, RECORD_LINE_MAX, &lines);

	while (r >= 0 && (r = lines_next(lines, &line)) != 0) {
		if (r == -EMSGSIZE) {
			h->unreadable++;
			r = lines_skip(lines);
		} else if (r > 0) {
			take_line(h, line.at, line.len);
		}
	}
	if (r < 0)
		say("cannot read %s: %s", path, strerror(-r));
	return r < 0;
}

static void on_entry(void *userdata, const struct journal_entry *entry)
{
	struct history *h = userdata;

	if (!entry->by_root)
		h->untrusted++;
	else if (!entry->value || entry->size > RECORD_LINE_MAX)
		h->unreadable++;
	else
		take_line(h, entry->value, entry->size);
}

/* 0, or the exit status after what is wrong was logged. */
static int choose_boot(struct history *h)
{
	_cleanup_(cleanup_free) char(*boots)[JOURNAL_BOOT_SIZE] = NULL;
	const char *boot = h->options->boot;
	size_t n = 0, index;
	long offset;
	int r;

	if (!boot)
		return 0;
	if (!when_parse_boot(boot, &offset)) {
		for (size_t i = 0, at = 0; boot[i] && at < sizeof(h->boot) - 1; i++)
			if (boot[i] != '-')
				h->boot[at++] = boot[i];
		return 0;
	}
	r = journal_list_boots(h->options->journal_directory, &boots, &n);
	if (r < 0) {
		say("cannot read the journal: %s", strerror(-r));
		return 1;
	}
	if (!when_boot_index(offset, n, &index))
		return when_no_boot(offset, n);
	strcpy(h->boot, boots[index]);
	return 0;
}

static int read_journal(struct history *h)
{
	struct journal_query query = {
		.directory = h->options->journal_directory,
		.message_ids = h->options->filter.signals ? journal_signal_ids : journal_stop_ids,
		.field = JOURNAL_RECORD,
	};
	int r = choose_boot(h);

	if (r)
		return r;
	query.boot = *h->boot ? h->boot : NULL;
	r = journal_read(&query, on_entry, h);
	if (r < 0)
		say("cannot read the journal: %s", strerror(-r));
	return r < 0;
}

/* --- the command ---------------------------------------------------------------------------------
 */

static void say_left_out(const struct history *h)
{
	if (h->untrusted)
		say("%" PRIu64 " entries of the journal are not root's, and were left out",
		    h->untrusted);
	if (h->newer)
		say("%" PRIu64 " records are of a newer graced, and were left out", h->newer);
	if (h->dropped)
		say("%" PRIu64 " records are missing there: graced run could not write them",
		    h->dropped);
	if (h->unreadable)
		say("%" PRIu64 " lines are no records", h->unreadable);
	if (h->options->filter.signals && !h->signals)
		say("no signals are recorded there; graced run --sinks.signals records them");
}

static int finish(struct history *h)
{
	print_kept(h);
	if (!h->options->json && h->matched)
		flush_table(h);
	fflush(stdout);
	say_left_out(h);
	if (h->error < 0)
		say("cannot show all stops: %s", strerror(-h->error));
	else if (!h->matched)
		say("no recorded stop matches");
	return h->error < 0 || !h->matched;
}

/* 0, or the exit status after wrong use. */
static int take_options(struct history *h, const struct options *o)
{
	if (o->file && (o->journal_directory || o->boot))
		return say_usage("log", "--file does not go with --journal-directory and --boot");
	if (o->since && !when_parse(o->since, &h->since_ns))
		return say_usage("log", "--since wants a time, not '%s'", o->since);
	if (o->until && !when_parse(o->until, &h->until_ns))
		return say_usage("log", "--until wants a time, not '%s'", o->until);
	if (o->boot && !when_parse_boot(o->boot, &(long){0}) && !when_is_boot_id(o->boot))
		return say_usage("log", "--boot wants a number or the id of a boot, not '%s'",
				 o->boot);
	return screen_check(o, &table_stops);
}

static int show(struct history *h)
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
	grid_init(&h->grid, &table_stops, &view);
	status = o->file ? read_file(h, o->file) : read_journal(h);
	if (!status)
		status = finish(h);
	grid_done(&h->grid);
	for (uint64_t i = 0; h->last && i < o->count; i++)
		free(h->last[i]);
	free(h->last);
	return status;
}

int cmd_log(int argc, char **argv)
{
	struct options options;
	struct history h = {.options = &options};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("log", "'%s' is one argument too many; --file reads a file",
				 argv[options.first]);
	status = take_options(&h, &options);
	return status ? status : show(&h);
}
