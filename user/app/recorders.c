// SPDX-License-Identifier: Apache-2.0
/* Encodes each record once for all who want it, and says in the log when one stops taking them. */
#include "app/recorders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/log.h"
#include "base/cleanup.h"
#include "io/host.h"
#include "io/journal.h"
#include "io/linesink.h"
#include "wire/journal.h"
#include "wire/record_json.h"

struct trouble { /* of one sink, as it was told last */
	int error;
	uint64_t dropped;
};

struct recorders {
	struct linesink *out, *file; /* NULL: not wanted */
	char *path;		     /* of file */
	struct journal *journal;
	struct trouble troubles[METRICS_SINK_COUNT];
	bool signals, shed;
	struct buf text; /* scratch */
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

static int open_file(struct recorders *r, const char *path)
{
	struct linesink *sink = NULL;
	char *copy = NULL;
	int error = 0;

	if (path) {
		copy = strdup(path);
		error = copy ? linesink_new(path, &sink) : -ENOMEM;
	}
	if (error < 0) {
		log_at(LOG_ERR, "cannot write records to %s: %s", path, strerror(-error));
		free(copy);
		return error;
	}
	linesink_free(r->file);
	free(r->path);
	r->file = sink;
	r->path = copy;
	return 0;
}

static int open_journal(struct recorders *r, enum config_journal wanted)
{
	bool on = wanted == CONFIG_JOURNAL_ON ||
		  (wanted == CONFIG_JOURNAL_AUTO && host_is_socket(JOURNAL_SOCKET));
	int error;

	if (!on || r->journal) {
		if (!on)
			r->journal = journal_free(r->journal);
		return 0;
	}
	error = journal_new(JOURNAL_SOCKET, &r->journal);
	if (error < 0)
		log_at(LOG_ERR, "cannot write records to the journal: %s", strerror(-error));
	return error;
}

static int open_stdout(struct recorders *r, bool wanted)
{
	int error;

	if (!wanted || r->out) {
		if (!wanted)
			r->out = linesink_free(r->out);
		return 0;
	}
	error = linesink_new(NULL, &r->out);
	if (error < 0)
		log_at(LOG_ERR, "cannot write records to standard output: %s", strerror(-error));
	return error;
}

DEFINE_CLEANUP(struct recorders *, recorders_free);

int recorders_new(const struct config *config, struct recorders **ret)
{
	_cleanup_(cleanup_recorders_free) struct recorders *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	r->signals = config->sink_signals;
	error = open_stdout(r, config->sink_stdout);
	if (error >= 0)
		error = open_file(r, config->sink_file);
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
	buf_free(&r->text);
	free(r);
	return NULL;
}

static void write_lines(struct recorders *r, const struct record *record)
{
	buf_reset(&r->text);
	if (record_json(&r->text, record) < 0)
		return;
	if (r->out)
		linesink_add(r->out, buf_str(&r->text), r->text.len);
	if (r->file)
		linesink_add(r->file, buf_str(&r->text), r->text.len);
}

static void write_entry(struct recorders *r, const struct record *record)
{
	buf_reset(&r->text);
	if (journal_write(&r->text, record) >= 0)
		journal_send(r->journal, buf_str(&r->text), r->text.len);
}

void recorders_record(struct recorders *r, const struct record *record)
{
	if (record->type == RECORD_SIGNAL && (!r->signals || r->shed))
		return;
	if (r->out || r->file)
		write_lines(r, record);
	if (r->journal && journal_has(record->type))
		write_entry(r, record);
}

/* Only a change is told, so that a full disk does not fill the log. */
static void tell(struct recorders *r, enum metrics_sink_type type, int error, uint64_t dropped)
{
	struct trouble *t = r->troubles + type;

	if ((error != 0) == (t->error != 0))
		return;
	if (error)
		log_at(LOG_WARNING,
		       "records are not written to %s: %s; they are counted as dropped",
		       name_of(r, type), strerror(-error));
	else
		log_at(LOG_NOTICE, "records are written to %s again; %" PRIu64 " were dropped",
		       name_of(r, type), dropped - t->dropped);
	t->error = error;
	t->dropped = dropped;
}

static void flush(struct recorders *r, enum metrics_sink_type type, struct linesink *sink,
		  uint64_t now_ns)
{
	struct linesink_stats stats;

	if (!sink)
		return;
	linesink_flush(sink, now_ns);
	linesink_get_stats(sink, &stats);
	tell(r, type, stats.error, stats.dropped);
}

void recorders_flush(struct recorders *r, uint64_t now_ns)
{
	struct journal_stats stats;

	flush(r, METRICS_STDOUT, r->out, now_ns);
	flush(r, METRICS_FILE, r->file, now_ns);
	if (!r->journal)
		return;
	journal_get_stats(r->journal, &stats);
	tell(r, METRICS_JOURNAL, stats.error, stats.dropped);
}

void recorders_shed_signals(struct recorders *r, bool shed)
{
	r->shed = shed;
}

void recorders_reopen(struct recorders *r)
{
	if (r->file)
		linesink_reopen(r->file);
}

void recorders_reload(struct recorders *r, const struct config *config)
{
	bool same = r->file && config->sink_file && strcmp(r->path, config->sink_file) == 0;

	r->signals = config->sink_signals;
	open_stdout(r, config->sink_stdout);
	open_journal(r, config->sink_journal);
	if (same)
		recorders_reopen(r);
	else
		open_file(r, config->sink_file);
}

static struct metrics_sink stats_of(const struct linesink *sink)
{
	struct linesink_stats stats;

	if (!sink)
		return (struct metrics_sink){};
	linesink_get_stats(sink, &stats);
	return (struct metrics_sink){true, stats.written, stats.dropped};
}

void recorders_get_stats(const struct recorders *r, struct metrics_sink *ret)
{
	struct journal_stats stats;

	ret[METRICS_STDOUT] = stats_of(r->out);
	ret[METRICS_FILE] = stats_of(r->file);
	ret[METRICS_JOURNAL] = (struct metrics_sink){};
	if (!r->journal)
		return;
	journal_get_stats(r->journal, &stats);
	ret[METRICS_JOURNAL] = (struct metrics_sink){true, stats.written, stats.dropped};
}
