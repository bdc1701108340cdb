// SPDX-License-Identifier: Apache-2.0
/* graced replay: a recording through the same engine, without a kernel or a clock. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/feed.h"
#include "app/live/output.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "io/files/file.h"
#include "wire/json/record.h"
#include "wire/recording/recording.h"
#include "wire/text/table.h"

static const struct options_help help = {
	.head = "usage: graced replay [OPTIONS] FILE\n"
		"\n"
		"Prints what graced trace would have printed when FILE (- for standard input) was recorded.\n"
		"Needs no privilege. The same file gives the same bytes, always.\n",
	.tail = "EXAMPLES\n"
		"  graced replay node.rec\n"
		"  zcat node.rec.gz | graced replay -p cart -\n",
};

struct replay {
	const char *path;
	struct lines *lines;
	struct output *output;
	struct feed *feed; /* without sources */
	struct rec_options recorded;
	uint64_t line;
	bool ended; /* the recording says that it is whole */
	struct obs obs;
};

/* What graced run writes, or what trace -o json prints. */
static bool is_record(const struct lines_line *line)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	int r = record_read(line->at, line->len, RECORDS_STOPS, &arena, &record);

	return r == 0 || r == -ENOMSG || r == -EPROTONOSUPPORT;
}

static int bad_header(const struct replay *p, int r)
{
	if (r == -EPROTONOSUPPORT && p->recorded.version <= REC_VERSION)
		say("%s is a recording of ABI %" PRId64 ", this graced reads up to %d; use a newer "
		    "graced",
		    p->path, p->recorded.abi, GRACED_ABI);
	else if (r == -EPROTONOSUPPORT)
		say("%s is a recording of version %" PRId64 ", this graced reads up to %d; use a "
		    "newer graced",
		    p->path, p->recorded.version, REC_VERSION);
	else if (r == -EBADMSG)
		say("%s: its first line is damaged", p->path);
	else
		say("%s is not a graced recording", p->path);
	return 1;
}

static int bad_read(const struct replay *p, int r)
{
	if (r == -EMSGSIZE)
		say("%s, line %" PRIu64 ": longer than any observation", p->path, p->line);
	else
		say("cannot read %s: %s", p->path, strerror(-r));
	return 1;
}

static int read_header(struct replay *p)
{
	struct lines_line line;
	int r = lines_next(p->lines, &line);

	p->line = 1;
	if (r == -EMSGSIZE || r == 0)
		return bad_header(p, -ENOMSG);
	if (r < 0)
		return bad_read(p, r);
	rec_options_read(line.at, line.len, &p->recorded);
	r = rec_read_header(line.at, line.len);
	if (r == -ENOMSG && is_record(&line)) {
		say("%s holds records, not a recording; graced log --file %s shows them", p->path,
		    p->path);
		return 1;
	}
	return r < 0 ? bad_header(p, r) : 0;
}

static void on_record(void *userdata, const struct record *record)
{
	struct replay *p = userdata;

	output_add_record(p->output, record);
}

static int start_engine(struct replay *p, const struct options *options)
{
	const struct feed_sink sink = {.userdata = p, .record = on_record};
	struct engine_config config = p->recorded.engine;
	int r;

	if (options->scope_given)
		config.scope = options->engine.scope;
	if (options->grace_given)
		config.assumed_grace_ns = options->engine.assumed_grace_ns;
	if (options->n_nested)
		config.nested_nodes = options->nested;
	if (options->n_roots)
		config.container_roots = options->roots;
	if (options->helpers[0])
		config.helpers = options->helpers;
	r = feed_new(&config, &sink, &p->feed);
	if (r < 0)
		say("cannot start the engine: %s", strerror(-r));
	return r < 0;
}

/* The rows that --count asked for end a replay quietly. */
static bool wants_more(struct replay *p)
{
	return !output_has_ended(p->output);
}

static int feed_lines(struct replay *p)
{
	struct lines_line line;
	int r = 0;

	while (wants_more(p) && (r = lines_next(p->lines, &line)) > 0) {
		p->line++;
		if (rec_read_line(line.at, line.len, &p->obs) < 0) {
			say(line.ended ? "%s, line %" PRIu64 ": not an observation"
				       : "%s ends in the middle of line %" PRIu64
					 "; it was cut short",
			    p->path, p->line);
			return 1;
		}
		p->ended |= p->obs.type == OBS_END;
		feed_obs(p->feed, &p->obs);
	}
	if (r < 0) {
		p->line++;
		return bad_read(p, r);
	}
	if (!p->ended && wants_more(p)) {
		say("%s was cut short: it has no end after line %" PRIu64, p->path, p->line);
		return 1;
	}
	return 0;
}

static int replay(struct replay *p, const struct options *options)
{
	int status;
	int r = lines_open(p->path, REC_LINE_MAX, &p->lines);

	if (r < 0) {
		say("cannot open %s: %s", p->path, strerror(-r));
		return 1;
	}
	status = read_header(p);
	if (!status)
		status = start_engine(p, options);
	if (!status)
		status = feed_lines(p);
	output_flush(p->output);
	return output_status(p->output) ? 1 : status;
}

int cmd_replay(int argc, char **argv)
{
	struct replay p = {};
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first == argc)
		return say_usage("replay", "which FILE?");
	if (options.first + 1 < argc)
		return say_usage("replay", "'%s' is one argument too many",
				 argv[options.first + 1]);
	status = screen_check(&options, &table_trace);
	if (status)
		return status;
	if (output_new(&options, &p.output) < 0) {
		say("cannot begin: %s", strerror(ENOMEM));
		return 1;
	}
	p.path = argv[options.first];
	status = output_open_rows(p.output, false) < 0 ? 1 : replay(&p, &options);
	feed_free(p.feed);
	rec_options_done(&p.recorded);
	lines_free(p.lines);
	output_free(p.output);
	return status;
}
