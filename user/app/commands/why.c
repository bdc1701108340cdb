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
#include "base/utf8.h"
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
		"stop concerned, or of one in the container. An exact name comes before a beginning.\n"
		"--last, --since and what else chooses records ask for past stops alone. The exit status\n"
		"is 1 when nothing matches, 2 after wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced why cart                            why it ended last\n"
		"  graced why --running cart                  would it stop well?\n"
		"  graced why --last 3 -n shop cart           its last three stops\n"
		"  graced why --since yesterday               what did not go well since then\n",
};

/* Other names that only begin like the one that is asked for. */
#define OTHERS_MAX 4

/* A pod or its workload, or a container outside pods or what it belongs to. */
struct subject {
	char *name;
	/* Of its stops that gave way: how many did not go well, and the last one of them. */
	size_t earlier_bad, earlier_last;
};

/* A record that was kept, by its line. */
struct found {
	char *line;
	unsigned int weight, badness;
	size_t subject;
	char id[RECORD_ID_SIZE];
	uint64_t empty_ns; /* by a later record; 0: there was none */
};

struct hits {
	struct found *list;
	size_t n, room;		  /* the oldest, or the one of least weight, gives way */
	size_t matched, bad;	  /* of them those that did not go well */
	struct subject *subjects; /* of those of a name */
	size_t n_subjects;
};

struct search {
	struct why why;
	/* Of those that are called as asked for, or if there is no name; and of others, of which
	 * that is a beginning. */
	struct hits exact, others;
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

static bool names_match(const struct why *why, const struct why_names *names,
			const struct record *record)
{
	return filter_matches(&names->by_pod, record) ||
	       filter_matches(&names->by_container, record) ||
	       (*why->pod_of_both && filter_matches(&names->by_both, record));
}

bool why_wants(const struct why *why, const struct record *record)
{
	if (!filter_matches(&why->options->filter, record))
		return false;
	if (why->pid && record->type == RECORD_STOP && has_process(&record->stop, why->pid))
		return true;
	return names_match(why, &why->names, record);
}

bool why_is_exact(const struct why *why, const struct record *record)
{
	if (why->pid && record->type == RECORD_STOP && has_process(&record->stop, why->pid))
		return true;
	return names_match(why, &why->exact, record);
}

static void add_subject(struct buf *out, const struct record_stop *stop)
{
	const struct record_container *c = &stop->container;
	const char *ns = record_namespace(&stop->pod, c);
	const char *name = stop->pod.known ? stop->pod.workload ?: stop->pod.name
					   : c->workload ?: c->name;

	if (!name) {
		why_add_subject(out, &stop->pod, c);
		return;
	}
	if (ns)
		utf8_add_visible(out, ns, strlen(ns));
	buf_adds(out, ns ? "/" : "");
	utf8_add_visible(out, name, strlen(name));
}

/* Its index. -ENOMEM */
static int find_subject(struct hits *h, const struct record_stop *stop, size_t *ret)
{
	_cleanup_(buf_free) struct buf name = {};
	struct subject *grown;

	add_subject(&name, stop);
	for (size_t i = h->n_subjects; i-- > 0;)
		if (strcmp(h->subjects[i].name, buf_str(&name)) == 0) {
			*ret = i;
			return 0;
		}
	grown = reallocarray(h->subjects, h->n_subjects + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	h->subjects = grown;
	grown[h->n_subjects] = (struct subject){.name = strdup(buf_str(&name))};
	if (!grown[h->n_subjects].name)
		return -ENOMEM;
	*ret = h->n_subjects++;
	return 0;
}

static void give_way(struct hits *h, const struct found *found)
{
	struct subject *subject = h->subjects ? h->subjects + found->subject : NULL;

	if (subject && found->badness) {
		subject->earlier_bad++;
		subject->earlier_last = h->matched - h->room;
	}
	free(found->line);
}

/* The last ones of a name; of all others the worst, and of these the last. */
static int keep(struct hits *h, const struct found *found, const char *line, size_t len)
{
	struct found new = *found;
	size_t at = h->n;

	new.line = strndup(line, len);
	if (!new.line)
		return -ENOMEM;
	while (at > 0 && h->list[at - 1].weight <= new.weight)
		at--;
	if (at == h->room) {
		give_way(h, &new);
		return 0;
	}
	if (h->n == h->room)
		give_way(h, h->list + --h->n);
	memmove(h->list + at + 1, h->list + at, (h->n - at) * sizeof(*h->list));
	h->list[at] = new;
	h->n++;
	return 0;
}

static void take_empty(struct hits *h, const struct record_empty *empty)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->list[i].id, empty->id) == 0)
			h->list[i].empty_ns = empty->empty_ns;
}

static void take_record(void *userdata, const struct record *record, const char *line, size_t len)
{
	struct search *s = userdata;
	struct found found = {};
	struct hits *h;
	int r = 0;

	if (record->type == RECORD_EMPTY) {
		take_empty(&s->exact, &record->empty);
		take_empty(&s->others, &record->empty);
	}
	if (record->type != RECORD_STOP || record->stop.container.kind == CONTAINER_KIND_SANDBOX)
		return;
	if (s->why.name ? !why_wants(&s->why, record)
			: !filter_matches(&s->why.options->filter, record))
		return;
	h = !s->why.name || why_is_exact(&s->why, record) ? &s->exact : &s->others;
	h->matched++;
	found.badness = record_badness(&record->stop);
	h->bad += found.badness > 0;
	strcpy(found.id, record->stop.id);
	found.weight = s->why.name ? 1 : found.badness;
	if (s->why.name)
		r = find_subject(h, &record->stop, &found.subject);
	if (r >= 0 && found.weight)
		r = keep(h, &found, line, len);
	if (r < 0)
		s->error = r;
}

/* --- printing ---------------------------------------------------------------------------------- */

int why_print(const struct why *why, struct story *story)
{
	_cleanup_(buf_free) struct buf out = {};
	struct grid_view view = screen_view(why->options);
	int r = why->options->json ? why_json(&out, story) : why_story(&out, story, &view);

	screen_print(&out);
	story_done(story);
	return r;
}

static int read_found(const struct found *found, struct arena *arena, struct record *ret)
{
	int r = record_read(found->line, strlen(found->line), RECORDS_STOPS, arena, ret);

	if (r >= 0 && !ret->stop.empty_ns)
		ret->stop.empty_ns = found->empty_ns;
	return r;
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
	screen_print(&out);
	return r;
}

/* Counts the earlier stops of the subject of the last story. */
static void print_earlier(const struct hits *h)
{
	const struct subject *subject = h->subjects + h->list[0].subject;

	if (subject->earlier_bad)
		printf("\n%zu of its earlier stops did not go well; --last %zu also tells the latest of "
		       "these.\n",
		       subject->earlier_bad, h->matched - subject->earlier_last + 1);
}

/* The name may be meant for one of these. */
static void print_others(const struct search *s, const struct hits *h)
{
	size_t n = 0;

	if (h != &s->others || h->n_subjects < 2)
		return;
	printf("\n'%s' is also the beginning of ", s->why.name);
	for (size_t i = h->n_subjects; i-- > 0 && n < OTHERS_MAX;)
		if (i != h->list[0].subject)
			printf("%s%s", n++ ? ", " : "", h->subjects[i].name);
	if (h->n_subjects - 1 > n)
		printf(" and %zu more", h->n_subjects - 1 - n);
	puts(".");
}

/* The oldest comes first, as in a log. */
static int print_named(const struct search *s, const struct hits *h)
{
	int r = 0;

	for (size_t i = h->n; r >= 0 && i-- > 0;) {
		if (i + 1 < h->n && !s->why.options->json)
			putchar('\n');
		r = print_story(s, h->list + i);
	}
	if (r >= 0 && h->n && !s->why.options->json) {
		print_earlier(h);
		print_others(s, h);
	}
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

	while (r >= 0 && (number = read_choice(s->exact.n))) {
		putchar('\n');
		if (number > 0)
			r = print_story(s, s->exact.list + number - 1);
	}
	return r;
}

static int print_list(const struct search *s)
{
	const struct hits *h = &s->exact;
	bool json = s->why.options->json;
	bool chosen = !json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < h->n; i++)
		r = json ? print_story(s, h->list + i)
			 : print_line(s, h->list + i, chosen ? i + 1 : 0);
	if (r >= 0 && h->bad > h->n && !json)
		printf("\n%zu more did not go well; graced log shows all.\n", h->bad - h->n);
	if (r >= 0 && h->n && chosen)
		r = choose(s);
	else if (r >= 0 && h->n && !json)
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
		say(s->exact.matched ? "no recorded stop went badly"
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
	if (filter_names_add(&w->names.by_both.pods, w->pod_of_both) < 0)
		return -EINVAL;
	return filter_names_add(&w->names.by_both.containers, slash + 1);
}

static void be_exact(struct filter *filter)
{
	filter->pods.exact = filter->containers.exact = true;
}

static int take_name(struct why *w, const char *name)
{
	char *end;
	unsigned long long pid;

	w->name = name;
	if (!name)
		return 0;
	/* What a name leaves out as a pod it would find as a container. */
	if (strchr(name, '!') || filter_names_add(&w->names.by_pod.pods, name) < 0 ||
	    filter_names_add(&w->names.by_container.containers, name) < 0 || take_both(w, name) < 0)
		return say_usage("why", "'%s' is no name", name);
	w->exact = w->names;
	be_exact(&w->exact.by_pod);
	be_exact(&w->exact.by_container);
	be_exact(&w->exact.by_both);
	pid = strtoull(name, &end, 10);
	w->pid = *end || pid > INT32_MAX ? 0 : (uint32_t)pid;
	return 0;
}

/* Reads what is past. Where only a beginning is of something that runs, the name may be that of a
 * container that does not. *ret_status: the exit status. */
static void read_past(struct search *s, struct history *history, struct whynow *now,
		      int *ret_status)
{
	*ret_status = history_read(history);
	if (now && !now->exact && s->exact.n)
		whynow_keep_exact(now);
}

/* What the story is of: others are left out if there is one that is exact. */
static const struct hits *hits_of(const struct search *s, const struct whynow *now)
{
	return s->exact.n || (now && now->exact) ? &s->exact : &s->others;
}

/* Prints what was found of the past, and otherwise, if now is not NULL, what is not over. 0, or
 * -errno. */
static int show_past(struct search *s, struct history *history, struct whynow *now, int *ret_status)
{
	const struct hits *h = hits_of(s, now);
	int r = 0;

	if (!*ret_status)
		r = s->why.name ? print_named(s, h) : print_list(s);
	if (r >= 0 && now && h->n && !s->why.options->json)
		whynow_print_again(now);
	if (r >= 0 && now && !h->n)
		r = whynow_print_running(now);
	fflush(stdout);
	if (!*ret_status)
		history_say_left_out(history);
	if (r == 0 && !h->n && !*ret_status) {
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

/* What is under way, else what is past, else what runs. */
static int show_all(struct search *s, struct history *history, int *ret_status)
{
	bool running = s->why.options->running;
	struct whynow now = {};
	int r;

	whynow_look(&now, &s->why);
	if (!running && !(now.exact && whynow_is_stopping(&now)))
		read_past(s, history, &now, ret_status);
	r = whynow_print_stopping(&now);
	if (r > 0)
		*ret_status = 0;
	else if (r == 0)
		r = running ? show_now(s, &now, ret_status)
			    : show_past(s, history, &now, ret_status);
	whynow_done(&now);
	return r;
}

static void hits_free(struct hits *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->list[i].line);
	free(h->list);
	for (size_t i = 0; i < h->n_subjects; i++)
		free(h->subjects[i].name);
	free(h->subjects);
}

static int hits_make(struct hits *h, size_t room)
{
	h->room = room;
	h->list = calloc(room + 1, sizeof(*h->list));
	return h->list ? 0 : -ENOMEM;
}

static int show(struct search *s, struct history *history)
{
	const struct options *o = s->why.options;
	size_t room = s->why.name ? (o->count ? o->count : 1) : LISTED_MAX;
	int status = 0, r = hits_make(&s->exact, room);

	if (r >= 0)
		r = hits_make(&s->others, room);
	if (r >= 0 && s->why.name && !is_past(o)) {
		r = show_all(s, history, &status);
	} else if (r >= 0) {
		read_past(s, history, NULL, &status);
		r = show_past(s, history, NULL, &status);
	}
	if (r < 0)
		say("cannot show all stops: %s", strerror(-r));
	hits_free(&s->exact);
	hits_free(&s->others);
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
	struct history history = {
		.options = &options, .fn = take_record, .userdata = &s, .empties = true};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	status = take_options(&s, &history, argc, argv);
	return status ? status : show(&s, &history);
}
