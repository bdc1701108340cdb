// SPDX-License-Identifier: Apache-2.0
/* Filters and encodes records, encodes observations, and writes both as fast as they are read. */
#include "app/live/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/buf.h"
#include "base/version.h"
#include "io/sinks/out.h"
#include "wire/json/record.h"
#include "wire/recording/recording.h"
#include "wire/text/table.h"

/* How long a reader who has stopped reading can hold up the end. */
#define FINISH_MS 2000

struct output {
	const struct options *options;
	struct out *rows;      /* NULL: records are not printed */
	struct out *recording; /* NULL: nothing is recorded */
	sd_event_source *rows_ready, *recording_ready;
	struct buf text;  /* scratch */
	struct grid grid; /* the table */
	uint64_t printed; /* of what --count counts */
	uint64_t late;	  /* rows that table_is_late() is true for */
	bool failed;	  /* out of memory for a row */
	bool ended;
	int status;
};

int output_new(const struct options *options, struct output **ret)
{
	struct output *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->options = options;
	*ret = o;
	return 0;
}

struct output *output_free(struct output *o)
{
	if (!o)
		return NULL;
	sd_event_source_disable_unref(o->rows_ready);
	sd_event_source_disable_unref(o->recording_ready);
	out_free(o->rows);
	out_free(o->recording);
	buf_free(&o->text);
	grid_done(&o->grid);
	free(o);
	return NULL;
}

/* By a name, and not only by what to leave out. */
static bool asks_by(const struct filter_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		for (const char *at = names->lists[i]; at; at = strchr(at, ','), at += at != NULL)
			if (*at != '!')
				return true;
	return false;
}

static bool asks_for_pods(const struct options *options)
{
	return asks_by(&options->filter.namespaces) || asks_by(&options->filter.pods) ||
	       options->engine.scope == SCOPE_PODS;
}

int output_open_rows(struct output *o, bool live)
{
	struct grid_view view = screen_view(o->options);
	int r = out_new(STDOUT_FILENO, false, live, &o->rows);

	view.live = view.flat = true;
	grid_init(&o->grid, &table_trace, &view);
	if (asks_for_pods(o->options))
		grid_expect(&o->grid, "pod");
	if (r < 0)
		say("cannot use standard output: %s", strerror(-r));
	return r;
}

static int write_header(struct output *o, const struct engine_config *config)
{
	int r;

	buf_reset(&o->text);
	r = rec_write_header(&o->text, version_string());
	if (r >= 0)
		r = rec_options_write(&o->text, config);
	return r < 0 ? r : out_add(o->recording, buf_str(&o->text), o->text.len);
}

int output_begin_recording(struct output *o, const struct engine_config *config)
{
	const char *path = o->options->record;
	struct stat st;
	int fd, r;

	if (!path)
		return 0;
	if (strcmp(path, "-") == 0)
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	/* It holds names of this host, and a file that was there keeps its mode. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && strcmp(path, "-") != 0)
		fchmod(fd, 0600);
	if (fd < 0) {
		r = -errno;
		say("cannot write %s: %s", path, strerror(-r));
		return r;
	}
	r = out_new(fd, true, true, &o->recording);
	if (r >= 0)
		r = write_header(o, config);
	if (r < 0)
		say("cannot begin the recording: %s", strerror(-r));
	return r;
}

/* What --count counts: something happened to a container, reported for the first time. */
static bool is_row(const struct record *record)
{
	return record->type == RECORD_SIGNAL || record->type == RECORD_STOP ||
	       record->type == RECORD_OOM;
}

static bool is_full(const struct output *o)
{
	return o->failed || (o->options->count && o->printed >= o->options->count);
}

static void encode_row(struct output *o, const struct record *record)
{
	if (record->type == RECORD_ATTACHED) {
		if (record->attached.pods)
			grid_expect(&o->grid, "pod");
		grid_add_titles(&o->grid);
	} else if (table_has_row(record)) {
		o->late += table_is_late(record);
		grid_add(&o->grid, record);
	}
	/* Where there was no terminal at the start, none comes. */
	if (o->grid.view.width)
		grid_set_width(&o->grid, screen_width());
	grid_flush(&o->grid, &o->text);
}

static void encode(struct output *o, const struct record *record)
{
	buf_reset(&o->text);
	if (o->options->json)
		record_json(&o->text, record);
	else
		encode_row(o, record);
}

static bool is_wanted(const struct output *o, const struct record *record)
{
	return o->rows && !is_full(o) && filter_matches(&o->options->filter, record);
}

static void add_text(struct output *o, const struct record *record)
{
	if (!o->text.len)
		return;
	o->printed += record && is_row(record);
	if (out_add(o->rows, buf_str(&o->text), o->text.len) < 0)
		o->failed = true;
}

void output_add_record(struct output *o, const struct record *record)
{
	if (!is_wanted(o, record))
		return;
	encode(o, record);
	add_text(o, record);
}

void output_add_line(struct output *o, const struct record *record, const char *line, size_t len)
{
	static const struct record none = {.type = RECORD_NONE};

	if (!is_wanted(o, record ?: &none))
		return;
	buf_reset(&o->text);
	if (o->options->json)
		buf_add(&o->text, line, len);
	else if (record)
		encode_row(o, record);
	add_text(o, record);
}

static void end(struct output *o, int status)
{
	if (!o->ended || status)
		o->status = status;
	o->ended = true;
}

void output_add_obs(struct output *o, const struct obs *obs)
{
	if (!o->recording)
		return;
	buf_reset(&o->text);
	if (rec_write_obs(&o->text, obs) < 0) {
		say("cannot write an observation down: out of memory");
		end(o, 1);
		return;
	}
	out_add(o->recording, buf_str(&o->text), o->text.len);
}

/* The loop flushes after each turn; this only has to bring that turn about. */
static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	if (revents & (EPOLLERR | EPOLLHUP))
		end(userdata, 0);
	return 0;
}

static int watch(struct output *o, sd_event *event, struct out *out, sd_event_source **ret)
{
	int r;

	if (!out)
		return 0;
	r = sd_event_add_io(event, ret, out_fd(out), 0, on_ready, o);
	/* A regular file cannot be polled and never has to be waited for. */
	return r == -EPERM ? 0 : r;
}

int output_watch(struct output *o, sd_event *event)
{
	int r = watch(o, event, o->rows, &o->rows_ready);

	return r < 0 ? r : watch(o, event, o->recording, &o->recording_ready);
}

/* A reader that left ends the command, and is no failure. */
static void flush(struct output *o, struct out *out, sd_event_source *ready, const char *name)
{
	int r;

	if (!out)
		return;
	r = out_flush(out);
	if (r == -EPIPE) {
		end(o, 0);
	} else if (r < 0) {
		if (!o->status)
			say("cannot write %s: %s", name, strerror(-r));
		end(o, 1);
	}
	if (ready)
		sd_event_source_set_io_events(ready, r == 1 ? EPOLLOUT : 0);
}

void output_flush(struct output *o)
{
	flush(o, o->rows, o->rows_ready, "standard output");
	flush(o, o->recording, o->recording_ready, o->options->record);
}

bool output_is_behind(const struct output *o)
{
	return (o->rows && out_is_behind(o->rows)) || (o->recording && out_is_behind(o->recording));
}

bool output_has_ended(const struct output *o)
{
	return o->ended || is_full(o);
}

static void finish(struct output *o, struct out *out, const char *name)
{
	int r = out ? out_finish(out, FINISH_MS) : 0;

	if (r == 1)
		say("%s was not read to the end", name);
	else if (r < 0 && r != -EPIPE && !o->status)
		say("cannot write %s: %s", name, strerror(-r));
	if (r == 1 || (r < 0 && r != -EPIPE))
		o->status = 1;
}

void output_finish(struct output *o)
{
	finish(o, o->rows, "standard output");
	finish(o, o->recording, o->options->record);
	if (o->late && !o->status)
		say(TABLE_LATE, o->late);
}

int output_status(const struct output *o)
{
	return o->status;
}

bool output_has_table(const struct output *o)
{
	return o->rows && !o->options->json;
}
