// SPDX-License-Identifier: Apache-2.0
/* graced why: why a container ended as it did, in a sentence, with what happened and what to do. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/commands/why.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "app/query/history.h"
#include "base/cleanup.h"
#include "base/signame.h"
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
		"Says why the container ended, in a sentence, with what happened and what to do: of a stop\n"
		"that is under way, else of the last one in the records that graced run wrote, else what a\n"
		"stop would do to one that runs. Without a name: the stops of the last hour that did not go\n"
		"well, the worst first; on a terminal a number tells one.\n",
	.tail = "POD and CONTAINER are names, or what they begin with, NAMESPACE/NAME, or an id;\n"
		"POD/CONTAINER and NAMESPACE/POD/CONTAINER name both. PID is that of any process that the\n"
		"stop concerned, or of one in the container. --last, --since and what else chooses records\n"
		"ask for past stops alone. The exit status is 1 when nothing matches, 2 after wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced why cart                            why it ended last\n"
		"  graced why --running cart                  would it stop well?\n"
		"  graced why --last 3 -n shop cart           its last three stops\n"
		"  graced why --since yesterday               what did not go well since then\n",
};

/* A record that was kept, by its line. */
struct found {
	char *line;
	unsigned int weight, badness;
};

struct search {
	struct why why;
	struct found *list;
	size_t n, room; /* the oldest, or the one of least weight, gives way */
	size_t matched;
	/* Of those of a name that gave way: how many did not go well, and the last one of them. */
	size_t earlier_bad, earlier_last;
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

bool why_wants(const struct why *why, const struct record *record)
{
	if (!filter_matches(&why->options->filter, record))
		return false;
	if (why->pid && record->type == RECORD_STOP && has_process(&record->stop, why->pid))
		return true;
	return filter_matches(&why->by_pod, record) || filter_matches(&why->by_container, record) ||
	       (*why->pod_of_both && filter_matches(&why->by_both, record));
}

static void give_way(struct search *s, const struct found *found)
{
	if (s->why.name && found->badness) {
		s->earlier_bad++;
		s->earlier_last = s->matched - s->room;
	}
	free(found->line);
}

/* The last ones of a name; of all others the worst, and of these the last. */
static void keep(struct search *s, const char *line, size_t len, unsigned int badness)
{
	struct found new = {strndup(line, len), s->why.name ? 1 : badness, badness};
	size_t at = s->n;

	if (!new.line) {
		s->error = -ENOMEM;
		return;
	}
	while (at > 0 && s->list[at - 1].weight <= new.weight)
		at--;
	if (at == s->room) {
		give_way(s, &new);
		return;
	}
	if (s->n == s->room)
		give_way(s, s->list + --s->n);
	memmove(s->list + at + 1, s->list + at, (s->n - at) * sizeof(*s->list));
	s->list[at] = new;
	s->n++;
}

static void take_record(void *userdata, const struct record *record, const char *line, size_t len)
{
	struct search *s = userdata;
	unsigned int badness;

	if (record->type != RECORD_STOP || record->stop.container.kind == CONTAINER_KIND_SANDBOX)
		return;
	badness = record_badness(&record->stop);
	if (s->why.name ? !why_wants(&s->why, record)
			: !filter_matches(&s->why.options->filter, record))
		return;
	s->matched++;
	if (badness || s->why.name)
		keep(s, line, len, badness);
}

/* --- printing ---------------------------------------------------------------------------------- */

int why_print(const struct why *why, struct story *story)
{
	_cleanup_(buf_free) struct buf out = {};
	struct grid_view view = screen_view(why->options);
	int r = why->options->json ? why_json(&out, story) : why_story(&out, story, &view);

	fputs(buf_str(&out), stdout);
	story_done(story);
	return r;
}

static int read_found(const struct found *found, struct arena *arena, struct record *ret)
{
	return record_read(found->line, strlen(found->line), RECORDS_STOPS, arena, ret);
}

static int print_story(const struct search *s, const struct found *found)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	struct story story;
	int r = read_found(found, &arena, &record);

	if (r < 0)
		return r;
	story_of_stop(&story, &record);
	return why_print(&s->why, &story);
}

/* number 0: without one. */
static int print_line(const struct search *s, const struct found *found, size_t number)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	struct grid_view view = screen_view(s->why.options);
	struct record record;
	int r = read_found(found, &arena, &record);

	if (r < 0)
		return r;
	r = why_line(&out, &record, number, &view);
	fputs(buf_str(&out), stdout);
	return r;
}

/* The oldest comes first, as in a log. */
static int print_named(const struct search *s)
{
	int r = 0;

	for (size_t i = s->n; r >= 0 && i-- > 0;) {
		if (i + 1 < s->n && !s->why.options->json)
			putchar('\n');
		r = print_story(s, s->list + i);
	}
	if (r >= 0 && s->earlier_bad && !s->why.options->json)
		printf("\n%zu of its earlier stops did not go well; --last %zu also tells the latest of "
		       "these.\n",
		       s->earlier_bad, s->matched - s->earlier_last + 1);
	return r;
}

/* --- a list to choose from --------------------------------------------------------------------- */

/* 0: the person ends the choice; -1: what was typed is not in the list. */
static long read_choice(size_t n)
{
	char line[32], *end;
	long number;

	printf("\nThe story of which one? (1 to %zu; q ends) ", n);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin)) {
		putchar('\n');
		return 0;
	}
	line[strcspn(line, "\n")] = '\0';
	if (!*line || strcmp(line, "q") == 0)
		return 0;
	number = strtol(line, &end, 10);
	return *end || number < 1 || (size_t)number > n ? -1 : number;
}

static int choose(const struct search *s)
{
	long number;
	int r = 0;

	while (r >= 0 && (number = read_choice(s->n))) {
		putchar('\n');
		if (number > 0)
			r = print_story(s, s->list + number - 1);
	}
	return r;
}

static int print_list(const struct search *s)
{
	bool json = s->why.options->json;
	bool chosen = !json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n; i++)
		r = json ? print_story(s, s->list + i)
			 : print_line(s, s->list + i, chosen ? i + 1 : 0);
	if (r >= 0 && s->n && chosen)
		r = choose(s);
	else if (r >= 0 && s->n && !json)
		puts("\ngraced why NAME tells the story of one.");
	return r;
}

/* --- the command ------------------------------------------------------------------------------- */

/* The records that are chosen are of an earlier time, or may be another node's. */
static bool is_past(const struct options *o)
{
	return o->file || o->boot || o->since || o->until || o->count;
}

#define EXIT_SIGNALLED 128u /* and the signal: what a shell says of a process that it killed */

/* An exit status was taken for a name. */
static void say_status(uint32_t status)
{
	uint32_t signal = status - EXIT_SIGNALLED;
	char text[SIGNAME_SIZE];

	if (status > EXIT_SIGNALLED && signal <= SIGNAME_MAX)
		say("exit status %u is %s: graced why wants the name of the container or its pod",
		    status, signame_format(signal, text));
}

static int say_nothing(const struct search *s, const struct whynow *now)
{
	const char *name = s->why.name;

	if (!name)
		say(s->matched ? "no recorded stop went badly"
			       : "there is no record of a stop in that time");
	else if (!now)
		say("no recorded stop of '%s'", name);
	else if (now->look < 0)
		say("no recorded stop of '%s'; cannot look at the containers that run: %s", name,
		    strerror(-now->look));
	else
		say("no %s of '%s', and no container of that name runs",
		    s->why.options->running ? "stop" : "recorded stop", name);
	say_status(s->why.pid);
	return 1;
}

/* POD/CONTAINER; a list of names, or a longer text than any name, is left to the other filters. */
static int take_both(struct why *w, const char *name)
{
	const char *slash = strrchr(name, '/');

	if (!slash || slash == name || !slash[1] || strchr(name, ',') ||
	    (size_t)(slash - name) >= sizeof(w->pod_of_both))
		return 0;
	snprintf(w->pod_of_both, sizeof(w->pod_of_both), "%.*s", (int)(slash - name), name);
	if (filter_names_add(&w->by_both.pods, w->pod_of_both) < 0)
		return -EINVAL;
	return filter_names_add(&w->by_both.containers, slash + 1);
}

static int take_name(struct why *w, const char *name)
{
	char *end;
	unsigned long long pid;

	w->name = name;
	if (!name)
		return 0;
	/* What a name leaves out as a pod it would find as a container. */
	if (strchr(name, '!') || filter_names_add(&w->by_pod.pods, name) < 0 ||
	    filter_names_add(&w->by_container.containers, name) < 0 || take_both(w, name) < 0)
		return say_usage("why", "'%s' is no name", name);
	pid = strtoull(name, &end, 10);
	w->pid = *end || pid > INT32_MAX ? 0 : (uint32_t)pid;
	return 0;
}

/* Prints what is found of the past, and otherwise, if now is not NULL, what is not over. 0, or
 * -errno. *ret_status: the exit status. */
static int show_past(struct search *s, struct history *history, struct whynow *now, int *ret_status)
{
	int r = 0;

	*ret_status = history_read(history);
	if (!*ret_status)
		r = s->why.name ? print_named(s) : print_list(s);
	if (r >= 0 && now && s->n && !s->why.options->json)
		whynow_print_again(now);
	if (r >= 0 && now && !s->n)
		r = whynow_print_running(now);
	fflush(stdout);
	if (!*ret_status)
		history_say_left_out(history);
	if (r == 0 && !s->n && !*ret_status) {
		*ret_status = say_nothing(s, now);
		if (!history->records)
			history_say_unrecorded(history->options);
	}
	return r < 0 ? r : s->error;
}

static int show_now(struct search *s, struct whynow *now, int *ret_status)
{
	int r = whynow_print_running(now);

	*ret_status = r ? 0 : say_nothing(s, now);
	return r;
}

static int show(struct search *s, struct history *history)
{
	const struct options *o = s->why.options;
	bool looks = s->why.name && !is_past(o);
	struct whynow now = {};
	int status = 0, r = 0;

	s->room = s->why.name ? (o->count ? o->count : 1) : LISTED_MAX;
	s->list = calloc(s->room + 1, sizeof(*s->list));
	if (!s->list) {
		say("cannot keep %zu stops: %s", s->room, strerror(ENOMEM));
		return 1;
	}
	if (looks) {
		whynow_look(&now, &s->why);
		r = whynow_print_stopping(&now);
	}
	if (r == 0)
		r = o->running ? show_now(s, &now, &status)
			       : show_past(s, history, looks ? &now : NULL, &status);
	if (looks)
		whynow_done(&now);
	if (r < 0)
		say("cannot show all stops: %s", strerror(-r));
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].line);
	free(s->list);
	return r < 0 ? 1 : status;
}

static int take_options(struct search *s, struct history *history, int argc, char **argv)
{
	const struct options *o = s->why.options;
	int status;

	if (o->first < argc - 1)
		return say_usage("why", "one pod, container or pid; not '%s', too",
				 argv[o->first + 1]);
	status = history_take_options(history);
	if (status)
		return status;
	if (o->running && (is_past(o) || !argv[o->first]))
		return say_usage("why",
				 "--running wants a name, and goes with no option that chooses "
				 "past stops");
	if (!argv[o->first] && !o->since && !o->boot && !o->file)
		history->since_ns = (int64_t)clock_wall_ns() - LOOK_BACK_NS;
	return take_name(&s->why, argv[o->first]);
}

int cmd_why(int argc, char **argv)
{
	struct options options;
	struct search s = {.why.options = &options};
	struct history history = {.options = &options, .fn = take_record, .userdata = &s};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	status = take_options(&s, &history, argc, argv);
	return status ? status : show(&s, &history);
}
