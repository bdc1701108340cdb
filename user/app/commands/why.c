// SPDX-License-Identifier: Apache-2.0
/* graced why: why a container ended as it did, in a sentence, with what happened and what to do. */
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
#include "base/time.h"
#include "io/proc/clock.h"
#include "wire/json/record.h"
#include "wire/json/why.h"
#include "wire/text/why.h"

/* Without a name: what ended in so long, and how many of these are listed. */
#define LOOK_BACK_NS (3600 * (int64_t)NS_PER_S)
#define LISTED_MAX   20

static const struct options_help help = {
	.head = "usage: graced why [OPTIONS] [POD|CONTAINER|PID]\n"
		"\n"
		"Says why the container ended, in a sentence, with what happened and what to do: of its last\n"
		"stop in the records that graced run wrote. Without a name: the stops of the last hour that\n"
		"did not go well, the worst first.\n",
	.tail = "POD and CONTAINER are names, or what they begin with, NAMESPACE/NAME, or an id; PID is that of\n"
		"any process that the stop concerned. The exit status is 1 when no stop matches, 2 after wrong\n"
		"use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced why cart                            why it ended last\n"
		"  graced why --last 3 -n shop cart           its last three stops\n"
		"  graced why --since yesterday               what did not go well since then\n",
};

/* A record that was kept, by its line. */
struct found {
	char *line;
	unsigned int badness;
};

struct search {
	const struct options *options;
	const char *name; /* NULL: what did not go well */
	struct filter by_pod, by_container;
	uint32_t pid; /* 0: the name is no number */
	struct found *list;
	size_t n, room; /* the oldest, or the least bad, gives way */
	int error;
};

/* --- which stops ------------------------------------------------------------------------------- */

static bool has_process(const struct record_stop *stop, uint32_t pid)
{
	if (stop->process.pid == pid)
		return true;
	for (size_t i = 0; i < stop->n_processes; i++)
		if (stop->processes[i].process.pid == pid)
			return true;
	return false;
}

static bool is_named(const struct search *s, const struct record *record)
{
	if (s->pid && has_process(&record->stop, s->pid))
		return true;
	return filter_matches(&s->by_pod, record) || filter_matches(&s->by_container, record);
}

/* The last ones of a name; of all others the worst, and of these the last. */
static void keep(struct search *s, const char *line, size_t len, unsigned int badness)
{
	struct found new = {strndup(line, len), badness};
	size_t at = s->n;

	if (!new.line) {
		s->error = -ENOMEM;
		return;
	}
	while (at > 0 && s->list[at - 1].badness <= badness)
		at--;
	if (at == s->room) {
		free(new.line);
		return;
	}
	if (s->n == s->room)
		free(s->list[--s->n].line);
	memmove(s->list + at + 1, s->list + at, (s->n - at) * sizeof(*s->list));
	s->list[at] = new;
	s->n++;
}

static void take_record(void *userdata, const struct record *record, const char *line, size_t len)
{
	struct search *s = userdata;
	unsigned int badness;

	if (record->type != RECORD_STOP || record->stop.container.kind == CONTAINER_KIND_SANDBOX ||
	    !filter_matches(&s->options->filter, record))
		return;
	badness = s->name ? 1 : record_badness(&record->stop);
	if (badness && (!s->name || is_named(s, record)))
		keep(s, line, len, badness);
}

/* --- the command ------------------------------------------------------------------------------- */

static int print_one(const struct search *s, const struct found *found)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	struct grid_view view = screen_view(s->options);
	struct record record;
	int r = record_read(found->line, strlen(found->line), RECORDS_STOPS, &arena, &record);

	if (r < 0)
		return r;
	if (s->options->json)
		r = why_json(&out, &record);
	else if (s->name)
		r = why_story(&out, &record, &view);
	else
		r = why_line(&out, &record, &view);
	fputs(buf_str(&out), stdout);
	return r;
}

static int print_all(const struct search *s)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		if (i && s->name && !s->options->json)
			putchar('\n');
		/* With a name the oldest comes first, as in a log. */
		r = print_one(s, s->list + (s->name ? s->n - 1 - i : i));
	}
	if (s->n && !s->name && !s->options->json)
		puts("\ngraced why NAME tells the story of one.");
	fflush(stdout);
	return r;
}

static int say_nothing(const struct search *s)
{
	if (s->name)
		say("no recorded stop of '%s'; graced audit -p shows how it would stop", s->name);
	else
		say("no recorded stop went badly");
	return 1;
}

static int take_name(struct search *s, const char *name)
{
	char *end;
	unsigned long long pid;

	s->name = name;
	if (!name)
		return 0;
	/* What a name leaves out as a pod it would find as a container. */
	if (strchr(name, '!') || filter_names_add(&s->by_pod.pods, name) < 0 ||
	    filter_names_add(&s->by_container.containers, name) < 0)
		return say_usage("why", "'%s' is no name", name);
	pid = strtoull(name, &end, 10);
	s->pid = *end || pid > INT32_MAX ? 0 : (uint32_t)pid;
	return 0;
}

static int show(struct search *s, struct history *history)
{
	int status, r;

	s->room = s->name ? (s->options->count ? s->options->count : 1) : LISTED_MAX;
	s->list = calloc(s->room + 1, sizeof(*s->list));
	if (!s->list) {
		say("cannot keep %zu stops: %s", s->room, strerror(ENOMEM));
		return 1;
	}
	status = history_read(history);
	r = status ? 0 : print_all(s);
	if (!status)
		history_say_left_out(history);
	if (r < 0 || s->error < 0)
		say("cannot show all stops: %s", strerror(r < 0 ? -r : -s->error));
	else if (!status && !s->n)
		status = say_nothing(s);
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].line);
	free(s->list);
	return r < 0 || s->error < 0 ? 1 : status;
}

int cmd_why(int argc, char **argv)
{
	struct options options;
	struct search s = {.options = &options};
	struct history history = {.options = &options, .fn = take_record, .userdata = &s};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc - 1)
		return say_usage("why", "one pod, container or pid; not '%s', too",
				 argv[options.first + 1]);
	status = history_take_options(&history);
	if (!status)
		status = take_name(&s, argv[options.first]);
	if (status)
		return status;
	if (!s.name && !options.since && !options.boot && !options.file)
		history.since_ns = (int64_t)clock_wall_ns() - LOOK_BACK_NS;
	return show(&s, &history);
}
