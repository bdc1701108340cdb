// SPDX-License-Identifier: Apache-2.0
/* Hands each record to all sinks that want it, and logs when one stops taking them. */
#include "app/daemon/recorders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/log.h"
#include "base/cleanup.h"
#include "base/retry.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"
#include "io/sinks/journal.h"
#include "io/sinks/lines.h"
#include "wire/json/record.h"
#include "wire/text/journal.h"

/* How long a reader who has stopped reading can hold up the end. */
#define FINISH_MS 2000

/* Memory for what is held that stays allocated from turn to turn. */
#define HELD_KEPT (256u << 10)

/* What is known of a sink since its state was logged last. */
struct sink_log {
	int error;	       /* as it was logged */
	struct trouble losses; /* of records */
	uint64_t failures;
};

/* A sink that was wanted once stays, with its counts, when it is turned off. */
struct recorders {
	struct linesink *out, *file; /* NULL: never wanted so far */
	struct journal *journal;
	char *path; /* of file, for messages */
	bool on[METRICS_SINK_COUNT];
	struct sink_log logs[METRICS_SINK_COUNT];
	bool signals, shed;
	char node[META_NAME_MAX];
	uint64_t now_ns;  /* of the last turn */
	struct buf held;  /* lines, until the turn ends */
	struct buf entry; /* scratch */
};

static const char *name_of(const struct recorders *r, enum metrics_sink_type type)
{
	switch (type) {
	case METRICS_FILE:
		return r->path;
	case METRICS_JOURNAL:
		return "the journal";
	case METRICS_STDOUT:
	case METRICS_SINK_COUNT:
		break;
	}
	return "standard output";
}

static int open_failed(const char *name, int error)
{
	log_error("cannot write records to %s: %s", name, strerror(-error));
	return error;
}

static struct record gap_record(const struct recorders *r, const struct line_gap *gap)
{
	uint64_t now = clock_boot_ns();

	return (struct record){.type = RECORD_DROPPED,
			       .at_ns = now,
			       .wall_ns = (int64_t)now + clock_wall_offset_ns(),
			       .node = r->node,
			       .dropped = {gap->lines, gap->first_ns, gap->last_ns}};
}

void recorders_add_gap(void *userdata, struct buf *out, const struct line_gap *gap)
{
	struct record record = gap_record(userdata, gap);

	record_json(out, &record);
}

static void add_gap_entry(void *userdata, struct buf *out, const struct line_gap *gap)
{
	struct record record = gap_record(userdata, gap);
	_cleanup_(buf_free) struct buf line = {};

	if (record_json(&line, &record) >= 0)
		journal_write(out, &record, &line);
}

static int open_path(struct recorders *r, const char *path)
{
	bool same = r->path && strcmp(r->path, path) == 0;
	char *copy;

	if (r->file && same)
		return linesink_reopen(r->file, NULL);
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(r->path);
	r->path = copy;
	return r->file ? linesink_reopen(r->file, path)
		       : linesink_new(path, recorders_add_gap, r, &r->file);
}

static void log_unwritten(const struct recorders *r, enum metrics_sink_type type, uint64_t records,
			  const char *why)
{
	if (records)
		log_warning("%" PRIu64 " records are not written to %s, as %s", records,
			    name_of(r, type), why);
}

/* Waits for a slow reader, at most that long in all. */
static void finish(struct recorders *r, enum metrics_sink_type type, struct linesink *sink,
		   int timeout_ms, const char *why)
{
	struct linesink_stats stats;

	linesink_finish(sink, timeout_ms);
	linesink_get_stats(sink, &stats);
	log_unwritten(r, type, stats.waiting, why);
}

static void finish_journal(struct recorders *r, int timeout_ms, const char *why)
{
	struct journal_stats stats;

	journal_finish(r->journal, timeout_ms);
	journal_get_stats(r->journal, &stats);
	log_unwritten(r, METRICS_JOURNAL, stats.waiting, why);
}

static const char turned_off[] = "they are turned off there";

/* What a sink does not take at once is lost when it is turned off; when it is turned on again, its
 * next record says so. */
static void turn_off(struct recorders *r, enum metrics_sink_type type, struct linesink *sink)
{
	if (!r->on[type])
		return;
	finish(r, type, sink, 0, turned_off);
	linesink_discard(sink, r->now_ns);
}

static void turn_journal_off(struct recorders *r)
{
	if (!r->on[METRICS_JOURNAL])
		return;
	finish_journal(r, 0, turned_off);
	journal_discard(r->journal, r->now_ns);
}

static int open_file(struct recorders *r, const struct config *config)
{
	const char *path = config->sink_file;
	int error = path ? open_path(r, path) : 0;

	if (r->file)
		linesink_limit(r->file, config->sink_file_size);
	if (!path)
		turn_off(r, METRICS_FILE, r->file);
	/* With a file that cannot be opened now, it is tried again and again. */
	r->on[METRICS_FILE] = path && r->file;
	return error < 0 ? open_failed(path, error) : 0;
}

static int open_journal(struct recorders *r, enum config_journal wanted)
{
	bool on = wanted == CONFIG_JOURNAL_ON ||
		  (wanted == CONFIG_JOURNAL_AUTO && host_is_socket(JOURNAL_SOCKET));
	int error =
		on && !r->journal ? journal_new(JOURNAL_SOCKET, add_gap_entry, r, &r->journal) : 0;

	if (!on)
		turn_journal_off(r);
	r->on[METRICS_JOURNAL] = on && r->journal;
	return error < 0 ? open_failed("the journal", error) : 0;
}

static int open_stdout(struct recorders *r, bool wanted)
{
	int error = wanted && !r->out ? linesink_new(NULL, recorders_add_gap, r, &r->out) : 0;

	if (!wanted)
		turn_off(r, METRICS_STDOUT, r->out);
	r->on[METRICS_STDOUT] = wanted && r->out;
	return error < 0 ? open_failed("standard output", error) : 0;
}

DEFINE_CLEANUP(struct recorders *, recorders_free);

int recorders_new(const struct config *config, struct recorders **ret)
{
	_cleanup_(cleanup_recorders_free) struct recorders *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	r->signals = config->sink_signals;
	if (config->options.node_name)
		snprintf(r->node, sizeof(r->node), "%s", config->options.node_name);
	else
		clock_node_name(r->node, sizeof(r->node));
	r->now_ns = clock_boot_ns();
	error = open_stdout(r, config->sink_stdout);
	if (error >= 0)
		error = open_file(r, config);
	if (error >= 0)
		error = open_journal(r, config->sink_journal);
	if (error < 0)
		return error;
	*ret = TAKE_PTR(r);
	return 0;
}

struct recorders *recorders_free(struct recorders *r)
{
	if (!r)
		return NULL;
	linesink_free(r->out);
	linesink_free(r->file);
	journal_free(r->journal);
	free(r->path);
	buf_free(&r->held);
	buf_free(&r->entry);
	free(r);
	return NULL;
}

static void add_line(struct recorders *r, const char *line, size_t size)
{
	if (r->on[METRICS_STDOUT])
		linesink_add(r->out, line, size, r->now_ns);
	if (r->on[METRICS_FILE])
		linesink_add(r->file, line, size, r->now_ns);
}

static void hand_on(struct recorders *r)
{
	const char *at = buf_str(&r->held), *end = at + r->held.len, *newline;

	for (; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		add_line(r, at, (size_t)(newline + 1 - at));
	}
	if (r->held.room > HELD_KEPT)
		buf_free(&r->held);
	buf_reset(&r->held);
}

static void hold_line(struct recorders *r, const struct buf *line)
{
	buf_add(&r->held, buf_str(line), line->len);
	if (!buf_error(&r->held))
		return;
	/* Too much for one turn: a checkpoint comes second to a line that is written. */
	hand_on(r);
	add_line(r, buf_str(line), line->len);
}

static void write_entry(struct recorders *r, const struct record *record, const struct buf *line)
{
	buf_reset(&r->entry);
	if (journal_write(&r->entry, record, line) >= 0)
		journal_send(r->journal, buf_str(&r->entry), r->entry.len, record->at_ns);
}

static bool take_lines(const struct recorders *r)
{
	return r->on[METRICS_STDOUT] || r->on[METRICS_FILE];
}

static bool takes_entry(const struct recorders *r, const struct record *record)
{
	return r->on[METRICS_JOURNAL] && journal_has(record->type);
}

bool recorders_want(const struct recorders *r, const struct record *record)
{
	if (record->type == RECORD_SIGNAL && (!r->signals || r->shed))
		return false;
	return take_lines(r) || takes_entry(r, record);
}

bool recorders_record(struct recorders *r, const struct record *record, const struct buf *line)
{
	if (takes_entry(r, record))
		write_entry(r, record, line);
	if (take_lines(r))
		hold_line(r, line);
	return take_lines(r);
}

void recorders_repeat(struct recorders *r, const struct buf *lines)
{
	if (r->on[METRICS_STDOUT])
		linesink_mend(r->out, buf_str(lines), lines->len);
	if (r->on[METRICS_FILE])
		linesink_mend(r->file, buf_str(lines), lines->len);
	if (take_lines(r))
		buf_add(&r->held, buf_str(lines), lines->len);
}

static bool is_idle(const struct recorders *r, enum metrics_sink_type type,
		    const struct linesink *sink)
{
	return !r->on[type] || linesink_is_idle(sink);
}

bool recorders_idle(const struct recorders *r)
{
	return !r->held.len && is_idle(r, METRICS_STDOUT, r->out) &&
	       is_idle(r, METRICS_FILE, r->file);
}

static bool is_stuck(const struct recorders *r, enum metrics_sink_type type,
		     const struct linesink *sink)
{
	struct linesink_stats stats;

	if (!r->on[type])
		return true;
	linesink_get_stats(sink, &stats);
	return stats.error || linesink_is_idle(sink);
}

static bool is_journal_stuck(const struct recorders *r)
{
	struct journal_stats stats;

	if (!r->on[METRICS_JOURNAL])
		return true;
	journal_get_stats(r->journal, &stats);
	return stats.error || journal_is_idle(r->journal);
}

bool recorders_flushed(const struct recorders *r)
{
	return !r->held.len && is_stuck(r, METRICS_STDOUT, r->out) &&
	       is_stuck(r, METRICS_FILE, r->file) && is_journal_stuck(r);
}

bool recorders_drop(const struct recorders *r)
{
	return (r->on[METRICS_STDOUT] && linesink_drops(r->out)) ||
	       (r->on[METRICS_FILE] && linesink_drops(r->file));
}

bool recorders_wait(const struct recorders *r)
{
	return !recorders_idle(r) || (r->on[METRICS_JOURNAL] && !journal_is_idle(r->journal));
}

/* Who reads standard output does not come back. */
static bool is_gone(enum metrics_sink_type type, int error)
{
	return type == METRICS_STDOUT && error == -EPIPE;
}

static void log_error_change(struct recorders *r, enum metrics_sink_type type, int error)
{
	struct sink_log *log = r->logs + type;

	if (!error == !log->error)
		return;
	log->error = error;
	log->failures += error != 0;
	if (error)
		log_warning("records are not written to %s: %s; they %s", name_of(r, type),
			    strerror(-error),
			    is_gone(type, error) ? "are dropped" : "wait in memory");
	else
		log_at(LOG_NOTICE, "records are written to %s again", name_of(r, type));
}

static void log_losses(struct recorders *r, enum metrics_sink_type type, uint64_t dropped,
		       bool drops, uint64_t now_ns)
{
	struct sink_log *log = r->logs + type;
	uint64_t cost;

	switch (trouble_look(&log->losses, dropped, drops, now_ns, &cost)) {
	case TROUBLE_BEGINS:
		log_warning("records for %s are dropped: %s", name_of(r, type),
			    log->error ? "too many wait for it already"
				       : "it does not take them fast enough");
		break;
	case TROUBLE_ENDS:
		log_at(LOG_NOTICE,
		       "records for %s are no longer dropped; %" PRIu64
		       " were, and a record of type dropped is in their place",
		       name_of(r, type), cost);
		break;
	case TROUBLE_NO_NEWS:
		break;
	}
}

static void log_change(struct recorders *r, enum metrics_sink_type type, int error,
		       uint64_t dropped, bool drops, uint64_t now_ns)
{
	log_error_change(r, type, error);
	if (!is_gone(type, error))
		log_losses(r, type, dropped, drops, now_ns);
}

static void flush(struct recorders *r, enum metrics_sink_type type, struct linesink *sink,
		  uint64_t now_ns)
{
	struct linesink_stats stats;

	if (!r->on[type])
		return;
	linesink_flush(sink, now_ns);
	linesink_get_stats(sink, &stats);
	log_change(r, type, stats.error, stats.dropped, linesink_drops(sink), now_ns);
}

static void flush_journal(struct recorders *r, uint64_t now_ns)
{
	struct journal_stats stats;

	if (!r->on[METRICS_JOURNAL])
		return;
	journal_flush(r->journal);
	journal_get_stats(r->journal, &stats);
	log_change(r, METRICS_JOURNAL, stats.error, stats.dropped, journal_drops(r->journal),
		   now_ns);
}

void recorders_flush(struct recorders *r, uint64_t now_ns)
{
	r->now_ns = now_ns;
	hand_on(r);
	flush(r, METRICS_STDOUT, r->out, now_ns);
	flush(r, METRICS_FILE, r->file, now_ns);
	flush_journal(r, now_ns);
}

void recorders_shed_signals(struct recorders *r, bool shed)
{
	r->shed = shed;
}

void recorders_reopen(struct recorders *r)
{
	int error = r->on[METRICS_FILE] ? linesink_reopen(r->file, NULL) : 0;

	if (error < 0)
		open_failed(r->path, error);
}

int recorders_reload(struct recorders *r, const struct config *config)
{
	int out, file, journal;

	hand_on(r);
	out = open_stdout(r, config->sink_stdout);
	file = open_file(r, config);
	journal = open_journal(r, config->sink_journal);
	r->signals = config->sink_signals;
	/* What is missing is written before what comes next. */
	recorders_flush(r, r->now_ns);
	if (out < 0)
		return out;
	return file < 0 ? file : journal;
}

void recorders_finish(struct recorders *r)
{
	static const char why[] = "graced ends";

	hand_on(r);
	if (r->on[METRICS_STDOUT])
		finish(r, METRICS_STDOUT, r->out, FINISH_MS, why);
	if (r->on[METRICS_FILE])
		finish(r, METRICS_FILE, r->file, FINISH_MS, why);
	if (r->on[METRICS_JOURNAL])
		finish_journal(r, FINISH_MS, why);
}

static struct metrics_sink stats_of(const struct recorders *r, enum metrics_sink_type type,
				    const struct linesink *sink)
{
	struct linesink_stats stats;

	if (!sink)
		return (struct metrics_sink){};
	linesink_get_stats(sink, &stats);
	return (struct metrics_sink){true, stats.written, stats.dropped, stats.waiting,
				     r->logs[type].failures};
}

void recorders_get_stats(const struct recorders *r, struct metrics_sink *ret)
{
	struct journal_stats stats;

	ret[METRICS_STDOUT] = stats_of(r, METRICS_STDOUT, r->out);
	ret[METRICS_FILE] = stats_of(r, METRICS_FILE, r->file);
	ret[METRICS_JOURNAL] = (struct metrics_sink){};
	if (!r->journal)
		return;
	journal_get_stats(r->journal, &stats);
	ret[METRICS_JOURNAL] =
		(struct metrics_sink){true, stats.written, stats.dropped, stats.waiting,
				      r->logs[METRICS_JOURNAL].failures};
}
