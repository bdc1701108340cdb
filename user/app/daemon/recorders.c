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
	struct linesink *lines[METRICS_JOURNAL]; /* of the types before; NULL: never wanted */
	struct journal *journal;		 /* likewise */
	char *path;				 /* of file, for messages */
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

	if (r->lines[METRICS_FILE] && same)
		return linesink_reopen(r->lines[METRICS_FILE], NULL);
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(r->path);
	r->path = copy;
	return r->lines[METRICS_FILE]
		       ? linesink_reopen(r->lines[METRICS_FILE], path)
		       : linesink_new(path, recorders_add_gap, r, &r->lines[METRICS_FILE]);
}

static bool is_there(const struct recorders *r, enum metrics_sink_type type)
{
	return type == METRICS_JOURNAL ? r->journal != NULL : r->lines[type] != NULL;
}

/* The sink is there. */
static struct line_stats stats_of(const struct recorders *r, enum metrics_sink_type type)
{
	struct line_stats stats;

	if (type == METRICS_JOURNAL)
		journal_get_stats(r->journal, &stats);
	else
		linesink_get_stats(r->lines[type], &stats);
	return stats;
}

/* Waits for a slow reader, at most that long in all. */
static void finish(struct recorders *r, enum metrics_sink_type type, int timeout_ms,
		   const char *why)
{
	uint64_t waiting;

	if (type == METRICS_JOURNAL)
		journal_finish(r->journal, timeout_ms);
	else
		linesink_finish(r->lines[type], timeout_ms);
	waiting = stats_of(r, type).waiting;
	if (waiting)
		log_warning("%" PRIu64 " records are not written to %s, as %s", waiting,
			    name_of(r, type), why);
}

/* What a sink does not take at once is lost when it is turned off; when it is turned on again, its
 * next record says so. */
static void turn_off(struct recorders *r, enum metrics_sink_type type)
{
	if (!r->on[type])
		return;
	finish(r, type, 0, "they are turned off there");
	if (type == METRICS_JOURNAL)
		journal_discard(r->journal, r->now_ns);
	else
		linesink_discard(r->lines[type], r->now_ns);
}

static int open_file(struct recorders *r, const struct config *config)
{
	const char *path = config->sink_file;
	int error = path ? open_path(r, path) : 0;

	if (is_there(r, METRICS_FILE))
		linesink_limit(r->lines[METRICS_FILE], config->sink_file_size);
	if (!path)
		turn_off(r, METRICS_FILE);
	/* With a file that cannot be opened now, it is tried again and again. */
	r->on[METRICS_FILE] = path && is_there(r, METRICS_FILE);
	return error < 0 ? open_failed(path, error) : 0;
}

static int open_journal(struct recorders *r, enum config_journal wanted)
{
	bool on = wanted == CONFIG_JOURNAL_ON ||
		  (wanted == CONFIG_JOURNAL_AUTO && host_is_socket(JOURNAL_SOCKET));
	int error =
		on && !r->journal ? journal_new(JOURNAL_SOCKET, add_gap_entry, r, &r->journal) : 0;

	if (!on)
		turn_off(r, METRICS_JOURNAL);
	r->on[METRICS_JOURNAL] = on && r->journal;
	return error < 0 ? open_failed("the journal", error) : 0;
}

static int open_stdout(struct recorders *r, bool wanted)
{
	struct linesink **out = &r->lines[METRICS_STDOUT];
	int error = wanted && !*out ? linesink_new(NULL, recorders_add_gap, r, out) : 0;

	if (!wanted)
		turn_off(r, METRICS_STDOUT);
	r->on[METRICS_STDOUT] = wanted && *out;
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
	for (int i = 0; i < METRICS_JOURNAL; i++)
		linesink_free(r->lines[i]);
	journal_free(r->journal);
	free(r->path);
	buf_free(&r->held);
	buf_free(&r->entry);
	free(r);
	return NULL;
}

static void add_line(struct recorders *r, const char *line, size_t size)
{
	for (int i = 0; i < METRICS_JOURNAL; i++)
		if (r->on[i])
			linesink_add(r->lines[i], line, size, r->now_ns);
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
	for (int i = 0; i < METRICS_JOURNAL; i++)
		if (r->on[i])
			linesink_mend(r->lines[i], buf_str(lines), lines->len);
	if (take_lines(r))
		buf_add(&r->held, buf_str(lines), lines->len);
}

static bool is_idle(const struct recorders *r, enum metrics_sink_type type)
{
	if (!r->on[type])
		return true;
	return type == METRICS_JOURNAL ? journal_is_idle(r->journal)
				       : linesink_is_idle(r->lines[type]);
}

bool recorders_idle(const struct recorders *r)
{
	return !r->held.len && is_idle(r, METRICS_STDOUT) && is_idle(r, METRICS_FILE);
}

static bool is_stuck(const struct recorders *r, enum metrics_sink_type type)
{
	return is_idle(r, type) || stats_of(r, type).error;
}

bool recorders_flushed(const struct recorders *r)
{
	return !r->held.len && is_stuck(r, METRICS_STDOUT) && is_stuck(r, METRICS_FILE) &&
	       is_stuck(r, METRICS_JOURNAL);
}

static bool drops(const struct recorders *r, enum metrics_sink_type type)
{
	if (!r->on[type])
		return false;
	return type == METRICS_JOURNAL ? journal_drops(r->journal) : linesink_drops(r->lines[type]);
}

bool recorders_drop(const struct recorders *r)
{
	return drops(r, METRICS_STDOUT) || drops(r, METRICS_FILE);
}

bool recorders_wait(const struct recorders *r)
{
	return !recorders_idle(r) || !is_idle(r, METRICS_JOURNAL);
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
		       uint64_t now_ns)
{
	struct sink_log *log = r->logs + type;
	uint64_t cost;

	switch (trouble_look(&log->losses, dropped, drops(r, type), now_ns, &cost)) {
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

static void flush(struct recorders *r, enum metrics_sink_type type, uint64_t now_ns)
{
	struct line_stats stats;

	if (!r->on[type])
		return;
	if (type == METRICS_JOURNAL)
		journal_flush(r->journal);
	else
		linesink_flush(r->lines[type], now_ns);
	stats = stats_of(r, type);
	log_error_change(r, type, stats.error);
	if (!is_gone(type, stats.error))
		log_losses(r, type, stats.dropped, now_ns);
}

void recorders_flush(struct recorders *r, uint64_t now_ns)
{
	r->now_ns = now_ns;
	hand_on(r);
	for (int i = 0; i < METRICS_SINK_COUNT; i++)
		flush(r, (enum metrics_sink_type)i, now_ns);
}

void recorders_shed_signals(struct recorders *r, bool shed)
{
	r->shed = shed;
}

void recorders_reopen(struct recorders *r)
{
	int error = r->on[METRICS_FILE] ? linesink_reopen(r->lines[METRICS_FILE], NULL) : 0;

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
	hand_on(r);
	for (int i = 0; i < METRICS_SINK_COUNT; i++)
		if (r->on[i])
			finish(r, (enum metrics_sink_type)i, FINISH_MS, "graced ends");
}

void recorders_get_stats(const struct recorders *r, struct metrics_sink *ret)
{
	for (int i = 0; i < METRICS_SINK_COUNT; i++) {
		struct line_stats stats;

		ret[i] = (struct metrics_sink){};
		if (!is_there(r, (enum metrics_sink_type)i))
			continue;
		stats = stats_of(r, (enum metrics_sink_type)i);
		ret[i] = (struct metrics_sink){true, stats.written, stats.dropped, stats.waiting,
					       r->logs[i].failures};
	}
}
