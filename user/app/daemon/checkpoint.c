// SPDX-License-Identifier: Apache-2.0
/* Adds what is new to the file after each turn, and writes all of it anew when it has grown. */
#include "app/daemon/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "app/log/log.h"
#include "base/cleanup.h"
#include "base/version.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "wire/recording/checkpoint.h"

/* What is read at most, and written in one piece. */
#define FILE_MAX BUF_LIMIT_DEFAULT

/* It is written anew when it is bigger than this, and than twice what it was then. */
#define FILE_SMALL (1u << 20)

/* Lines that may not be written yet: more than what waits for a slow reader (io/sinks/lines). */
#define LINES_MAX (4u << 20)

/* Memory that stays allocated from turn to turn. */
#define TEXT_KEPT (256u << 10)

#define RETRY_NS 10000000000ULL

struct checkpoint {
	char *path;
	struct keepfile *file;
	struct buf lines; /* of the file, of records that may not be written yet */
	size_t done;	  /* bytes of lines that are in the file */
	bool hold_oldest; /* of more lines than LINES_MAX; else the newest */
	line_gap_fn gap_fn;
	void *userdata;
	struct line_gap gap; /* behind lines: those that found no room there */
	uint64_t gap_done;   /* how many of them the file says */
	bool out;     /* all its records are written by the sinks, which it does not say yet */
	bool foreign; /* the path names a file that is no checkpoint: it stays as it is */
	bool whole;   /* the file is what this daemon wrote, with nothing missing */
	bool failed;  /* which is logged */
	uint64_t tried_ns;
	size_t limit;	 /* above which it is written anew */
	struct buf text; /* scratch */
	struct metrics_checkpoint stats;
};

struct checkpoint *checkpoint_open(const char *path, line_gap_fn gap_fn, void *userdata)
{
	struct checkpoint *c;
	struct keepfile_why why;

	c = calloc(1, sizeof(*c));
	if (c)
		c->path = strdup(path);
	if (!c || !c->path) {
		log_warning("cannot save checkpoints: %s; a restart of graced will lose its state",
			    strerror(ENOMEM));
		return checkpoint_free(c);
	}
	if (keepfile_open(path, &c->file, &why) < 0) {
		log_warning("cannot save checkpoints: %s; a restart of graced will lose its state",
			    why.text);
		return checkpoint_free(c);
	}
	c->gap_fn = gap_fn;
	c->userdata = userdata;
	c->stats.on = true;
	return c;
}

struct checkpoint *checkpoint_free(struct checkpoint *c)
{
	if (!c)
		return NULL;
	keepfile_free(c->file);
	free(c->path);
	buf_free(&c->lines);
	buf_free(&c->text);
	free(c);
	return NULL;
}

static void log_unread(const struct checkpoint *c, int error)
{
	switch (error) {
	case -ENODATA:
		log_debug("the checkpoint %s is empty", c->path);
		break;
	case -ESTALE:
		log_info("the checkpoint %s is of another boot", c->path);
		break;
	case -EPROTONOSUPPORT:
		log_warning("the checkpoint %s is of another version, and is not used", c->path);
		break;
	case -ENOMSG:
		log_warning(
			"%s is not a checkpoint, and is left unchanged; a restart of graced will "
			"lose its state: remove that file, or set another checkpoint.file",
			c->path);
		break;
	default:
		log_warning("the checkpoint %s cannot be read: %s", c->path, strerror(-error));
	}
}

static void add_count(struct buf *text, uint64_t n, const char *what, const char *rest)
{
	buf_printf(text, ", %" PRIu64 " %s%s%s", n, what, n == 1 ? "" : "s", rest);
}

static void log_read(const struct checkpoint *c, const struct keep_counts *counts)
{
	_cleanup_(buf_free) struct buf text = {};

	if (!counts->observations && !counts->repeated && !counts->damaged && !counts->torn)
		return;
	add_count(&text, counts->observations, "observation", "");
	add_count(&text, counts->repeated, "record", " reported again");
	if (counts->damaged)
		add_count(&text, counts->damaged, "line", " not understood");
	if (counts->torn)
		buf_printf(&text, "; its end is torn, %" PRIu64 " byte%s left out", counts->torn,
			   counts->torn == 1 ? " is" : "s are");
	log_at(counts->damaged || counts->torn ? LOG_WARNING : LOG_INFO,
	       "restored the checkpoint %s: %s", c->path, buf_str(&text) + strlen(", "));
}

static void hold_lines(struct checkpoint *c, const char *lines, size_t size)
{
	const char *end = lines + size, *newline;

	for (; lines < end; lines = newline + 1) {
		newline = memchr(lines, '\n', (size_t)(end - lines));
		keep_add_record(&c->lines, lines, (size_t)(newline + 1 - lines));
	}
}

void checkpoint_restore(struct checkpoint *c, engine_obs_fn fn, void *userdata,
			struct buf *ret_lines)
{
	_cleanup_(buf_free) struct buf data = {.limit = FILE_MAX};
	size_t before = ret_lines->len;
	struct keep_counts counts;
	char boot_id[37];
	int r;

	clock_boot_id(boot_id);
	r = keepfile_read(c->file, FILE_MAX, &data);
	if (r >= 0)
		r = keep_read(buf_str(&data), data.len, boot_id, fn, userdata, ret_lines, &counts);
	c->foreign = r == -ENOMSG;
	if (r < 0) {
		log_unread(c, r);
		return;
	}
	log_read(c, &counts);
	hold_lines(c, buf_str(ret_lines) + before, ret_lines->len - before);
}

/* A signal is part of a stop, and records about the tracer are about this one. */
static bool is_kept(enum record_type type)
{
	return type != RECORD_SIGNAL && type != RECORD_ATTACHED && type != RECORD_LOST;
}

static void add_gap(const struct checkpoint *c, struct buf *out)
{
	_cleanup_(buf_free) struct buf line = {};

	if (!c->gap.lines)
		return;
	c->gap_fn(c->userdata, &line, &c->gap);
	if (buf_error(&line) == 0)
		keep_add_record(out, buf_str(&line), line.len);
}

/* Lines are held again: what is missing before them is one of them. */
static void end_gap(struct checkpoint *c)
{
	add_gap(c, &c->lines);
	/* There may be fewer of them in the file. */
	c->whole = c->whole && !c->gap_done;
	c->gap = (struct line_gap){};
	c->gap_done = 0;
}

void checkpoint_add(struct checkpoint *c, enum record_type type, const struct buf *line)
{
	if (!is_kept(type) || c->foreign)
		return;
	if (c->hold_oldest && c->lines.len > LINES_MAX) {
		line_gap_add(&c->gap, clock_boot_ns());
		c->stats.dropped++;
		return;
	}
	if (c->gap.lines)
		end_gap(c);
	keep_add_record(&c->lines, buf_str(line), line->len);
	c->stats.dropped += buf_error(&c->lines) != 0;
}

/* While no line is dropped by who takes them, the newest wait there, and the oldest are written.
 * What is new is to get into the file first, if that can be written. */
static void trim_lines(struct checkpoint *c)
{
	size_t old = c->failed ? c->lines.len : c->done, cut = 0;

	if (c->hold_oldest || old <= LINES_MAX)
		return;
	while (old - cut > LINES_MAX / 2) {
		const char *at = buf_str(&c->lines) + cut;
		const char *newline = memchr(at, '\n', c->lines.len - cut);

		cut += (size_t)(newline + 1 - at);
		c->stats.dropped++;
	}
	memmove(c->lines.data, c->lines.data + cut, c->lines.len - cut);
	buf_truncate(&c->lines, c->lines.len - cut);
	c->done -= cut < c->done ? cut : c->done;
}

static void add_obs(void *userdata, const struct obs *obs)
{
	keep_add_obs(userdata, obs);
}

static void begin_text(struct checkpoint *c)
{
	if (c->text.room > TEXT_KEPT)
		buf_free(&c->text);
	buf_reset(&c->text);
}

static void end_text(struct checkpoint *c, struct engine *engine, bool all)
{
	engine_keep(engine, all, add_obs, &c->text);
	keep_add_end(&c->text);
}

/* Above it the file is written anew; no more than FILE_MAX is read. */
static size_t limit_after(size_t size)
{
	size_t limit = size * 2 > FILE_SMALL ? size * 2 : FILE_SMALL;

	return limit < FILE_MAX ? limit : FILE_MAX;
}

/* What both parts of the file have in common once they are in it. */
static void wrote(struct checkpoint *c)
{
	c->done = c->lines.len;
	c->out = false;
	c->stats.writes++;
	c->stats.bytes = keepfile_size(c->file);
}

/* With a file that lacks something, stops would be reported again, and differently. */
static void fail(struct checkpoint *c, int error)
{
	if (!c->failed)
		log_warning("cannot write %s: %s; a restart of graced now would lose its state",
			    c->path, strerror(-error));
	keepfile_clear(c->file);
	c->whole = false;
	c->failed = true;
	c->stats.failed++;
	c->stats.bytes = keepfile_size(c->file);
}

static void write_anew(struct checkpoint *c, struct engine *engine, uint64_t now_ns)
{
	char boot_id[37];
	int r;

	c->tried_ns = now_ns;
	clock_boot_id(boot_id);
	begin_text(c);
	keep_add_header(&c->text, boot_id, version_string());
	buf_add(&c->text, buf_str(&c->lines), c->lines.len);
	add_gap(c, &c->text);
	end_text(c, engine, true);
	r = buf_error(&c->text);
	if (r >= 0)
		r = keepfile_replace(c->file, buf_str(&c->text), c->text.len);
	if (r < 0) {
		fail(c, r);
		return;
	}
	wrote(c);
	c->gap_done = c->gap.lines;
	c->whole = true;
	c->limit = limit_after(c->text.len);
	if (c->failed)
		log_at(LOG_NOTICE, "%s can be written again", c->path);
	c->failed = false;
}

static void add(struct checkpoint *c, struct engine *engine, uint64_t now_ns)
{
	int r;

	begin_text(c);
	if (c->out)
		keep_add_out(&c->text);
	buf_add(&c->text, buf_str(&c->lines) + c->done, c->lines.len - c->done);
	end_text(c, engine, false);
	if (keepfile_size(c->file) + c->text.len > FILE_MAX) {
		write_anew(c, engine, now_ns);
		return;
	}
	r = buf_error(&c->text);
	if (r >= 0)
		r = keepfile_append(c->file, buf_str(&c->text), c->text.len);
	if (r >= 0) {
		wrote(c);
		return;
	}
	/* Written anew it may be smaller. */
	fail(c, r);
	write_anew(c, engine, now_ns);
}

/* It must not be written anew for each line that is dropped. */
static bool gap_is_due(const struct checkpoint *c, uint64_t now_ns)
{
	return c->gap.lines > c->gap_done && (!c->gap_done || now_ns - c->tried_ns >= RETRY_NS);
}

void checkpoint_hold_oldest(struct checkpoint *c, bool oldest)
{
	c->hold_oldest = oldest;
}

void checkpoint_turn(struct checkpoint *c, struct engine *engine, uint64_t now_ns)
{
	bool news = c->out || c->lines.len > c->done || engine_has_changed(engine);

	if (c->foreign)
		return;
	trim_lines(c);
	if (!c->whole && (!c->failed || now_ns - c->tried_ns >= RETRY_NS))
		write_anew(c, engine, now_ns);
	else if (c->whole && ((news && keepfile_size(c->file) > c->limit) || gap_is_due(c, now_ns)))
		write_anew(c, engine, now_ns);
	else if (c->whole && news)
		add(c, engine, now_ns);
}

void checkpoint_written(struct checkpoint *c)
{
	c->out |= c->done > 0;
	c->done = 0;
	c->gap = (struct line_gap){};
	c->gap_done = 0;
	if (c->lines.room > TEXT_KEPT)
		buf_free(&c->lines);
	buf_reset(&c->lines);
}

void checkpoint_finish(struct checkpoint *c, struct engine *engine, uint64_t now_ns)
{
	if (!c->foreign)
		write_anew(c, engine, now_ns);
}

void checkpoint_get_stats(const struct checkpoint *c, struct metrics_checkpoint *ret)
{
	*ret = c->stats;
}
