// SPDX-License-Identifier: Apache-2.0
/* Claims about core/account: which story each record belongs to, what follows from it, and what a
 * story admits not to know. A record is a line of words, a story a line of figures, in seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "core/account/account.h"
#include "core/boot/log.h"
#include "lib/claim.h"

#define WORDS_MAX 16
#define ALIVE_MAX 4

/* --- records --------------------------------------------------------------------------------- */

struct line {
	char text[512];
	char *word[WORDS_MAX];
	size_t n;
};

static const char *value(struct line *w, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 1; i < w->n; i++)
		if (strncmp(w->word[i], key, n) == 0 && (w->word[i][n] == '=' || !w->word[i][n]))
			return w->word[i][n] ? w->word[i] + n + 1 : "";
	return NULL;
}

static uint64_t seconds(struct line *w, const char *key)
{
	const char *text = value(w, key);

	return text ? (uint64_t)(int64_t)(strtod(text, NULL) * NS_PER_S) : 0;
}

static struct record_pod a_pod(struct line *w)
{
	const char *name = value(w, "pod");

	return (struct record_pod){
		.known = name, .uid = name, .name = name, .namespace_ = value(w, "ns")};
}

static void set_id(struct line *w, char ret[static RECORD_ID_SIZE], const char *boot)
{
	snprintf(ret, RECORD_ID_SIZE, "%s%s%s", boot ? boot : "", boot ? "/" : "",
		 value(w, "id") ? value(w, "id") : "");
}

static void fill_stop(struct line *w, struct record *r, const char *boot)
{
	struct record_stop *s = &r->stop;

	r->type = RECORD_STOP;
	set_id(w, s->id, boot);
	s->pod = a_pod(w);
	s->container = (struct record_container){
		.known = true,
		.name = value(w, "name"),
		.id = value(w, "c"),
		.kind = value(w, "sandbox") ? CONTAINER_KIND_SANDBOX : CONTAINER_KIND_CONTAINER};
	s->stop_signal =
		(struct record_sigref){.known = value(w, "asked"), .at_ns = seconds(w, "asked")};
	s->exit = (struct record_exit){.known = value(w, "exit"), .at_ns = seconds(w, "exit")};
	s->latency_known = true;
	s->empty_ns = seconds(w, "empty");
	s->process.start_ns = seconds(w, "start");
	if (value(w, "grace"))
		s->grace = (struct grace){.from = GRACE_SPEC, .ns = seconds(w, "grace")};
	s->gaps = value(w, "gaps") ? 1 : 0;
	if (!r->at_ns)
		r->at_ns = s->exit.at_ns;
}

static void fill_step(struct line *w, struct record *r, const char *boot)
{
	struct record_shutdown *s = &r->shutdown;
	const char *event = value(w, "event");

	r->type = RECORD_SHUTDOWN;
	set_id(w, s->id, boot);
	while (strcmp(event, shutdown_report_name(s->step.what)) != 0)
		s->step.what++;
	s->step.announced_ns = seconds(w, "of");
	s->step.locked = value(w, "lock");
	s->step.limit_ns = seconds(w, "limit");
	s->step.living = seconds(w, "left") / NS_PER_S;
	s->step.group = (uint32_t)(seconds(w, "g") / NS_PER_S);
	s->step.group_ns = seconds(w, "length");
	s->container = (struct record_container){.known = value(w, "c"), .id = value(w, "c")};
	s->step.container.asked_ns = seconds(w, "asked");
	s->step.container.timeout_ns = seconds(w, "timeout");
}

static void fill_pod(struct line *w, struct record *r, const char *boot)
{
	struct record_pod_state *p = &r->pod_state;
	const char *by = value(w, "by");

	r->type = RECORD_POD;
	set_id(w, p->id, boot);
	p->pod = a_pod(w);
	p->state = POD_STAGE_TERMINATING;
	while (strcmp(value(w, "state"), pod_stage_name(p->state)) != 0)
		p->state++;
	p->at_ns = r->at_ns;
	p->empty_ns = seconds(w, "empty");
	while (by && (!p->trigger || strcmp(by, pod_trigger_name(p->trigger)) != 0))
		p->trigger++;
}

/* "p:2,q" are a pod with two containers and one with one; "x" a container outside pods. */
static void fill_alive(char *text, bool pods, struct bootlog_list *ret)
{
	char *one;

	while ((one = strsep(&text, ",")) && ret->n < ALIVE_MAX) {
		struct bootlog_alive *row = &ret->rows[ret->n++];
		char *name = strsep(&one, ":");

		row->containers = one ? (uint32_t)strtoul(one, NULL, 10) : 1;
		snprintf(row->id, sizeof(row->id), "%s", name);
		if (pods)
			snprintf(row->name, sizeof(row->name), "%s", name);
	}
	ret->total = ret->n;
}

static void fill_end(struct line *w, struct record *r, const char *boot, struct bootlog *log)
{
	const char *end = value(w, "end");

	r->type = RECORD_BOOT;
	set_id(w, r->boot.id, boot);
	while (strcmp(end, boot_end_name(r->boot.verdict.end)) != 0)
		r->boot.verdict.end++;
	r->boot.log = log;
	log->shutdown.announced_ns = seconds(w, "of");
	fill_alive((char *)value(w, "pods"), true, &log->pods);
	log->pods.total += seconds(w, "unnamed") / NS_PER_S;
	fill_alive((char *)value(w, "outside"), false, &log->containers);
}

static void fill(struct line *w, struct record *r, const char *boot, struct bootlog *log)
{
	if (strcmp(w->word[0], "stop") == 0) {
		fill_stop(w, r, boot);
	} else if (strcmp(w->word[0], "step") == 0) {
		fill_step(w, r, boot);
	} else if (strcmp(w->word[0], "pod") == 0) {
		fill_pod(w, r, boot);
	} else if (strcmp(w->word[0], "end") == 0) {
		fill_end(w, r, boot, log);
	} else if (strcmp(w->word[0], "empty") == 0) {
		r->type = RECORD_EMPTY;
		set_id(w, r->empty.id, boot);
		r->empty.empty_ns = r->at_ns;
	} else if (strcmp(w->word[0], "lost") == 0) {
		r->type = RECORD_LOST;
		r->lost.recursion_misses = seconds(w, "n") / NS_PER_S;
		r->lost.totals[GRACED_STAT_TOO_DEEP].lost = seconds(w, "deep") / NS_PER_S;
	} else if (strcmp(w->word[0], "dropped") == 0) {
		r->type = RECORD_DROPPED;
		r->dropped = (struct record_dropped){seconds(w, "n") / NS_PER_S,
						     seconds(w, "since"), seconds(w, "until")};
	} else {
		r->type = RECORD_ATTACHED;
	}
}

/* What a record has, and what it points to. */
struct given {
	struct record record;
	struct line words;
	struct bootlog end;
	struct bootlog_alive rows[2][ALIVE_MAX];
};

static void add(struct account_log *log, const struct account_query *query, const char *line)
{
	struct given *g = arena_alloc(log->arena, sizeof(*g));
	const char *boot;
	char *rest, *word;
	struct line *w;

	if (!g) {
		account_log_add(log, NULL, NULL);
		return;
	}
	w = &g->words;
	rest = w->text;
	g->end.pods.rows = g->rows[0];
	g->end.containers.rows = g->rows[1];
	snprintf(w->text, sizeof(w->text), "%s", line);
	while ((word = strsep(&rest, " ")) && w->n < WORDS_MAX)
		w->word[w->n++] = word;
	boot = value(w, "boot") ? value(w, "boot") : "b";
	if (strcmp(boot, "none") == 0)
		boot = NULL;
	g->record.node = value(w, "node") ? value(w, "node") : "n";
	g->record.at_ns = seconds(w, "at");
	fill(w, &g->record, boot, &g->end);
	/* Boots are a day apart, unless the clock was set. */
	g->record.wall_ns = (int64_t)(g->record.at_ns + seconds(w, "wall"));
	if (account_log_wants(query, &g->record, boot))
		account_log_add(log, &g->record, boot);
}

/* --- stories --------------------------------------------------------------------------------- */

static void put(struct buf *out, const char *label, uint64_t ns)
{
	if (ns)
		buf_printf(out, "%s%g", label, (double)ns / NS_PER_S);
	else
		buf_printf(out, "%s?", label);
}

static void put_partial(struct buf *out, const struct account_partial *p)
{
	const struct {
		const char *name;
		uint64_t n;
	} all[] = {
		{"lost", p->lost.events},
		{"unwatched", p->lost.cgroups},
		{"dropped", p->dropped},
		{"somewhere", p->lost_somewhere},
		{"gaps", p->gaps},
		{"unrecorded", p->unrecorded},
		{"nobegin", p->begin_unseen},
		{"noend", p->end_unseen},
		{"restarts", p->restarts},
		{"ended", p->ended},
	};

	for (size_t i = 0; i < LEN(all); i++)
		if (all[i].n)
			buf_printf(out, " %s=%u", all[i].name, (unsigned int)all[i].n);
}

static void put_stop(struct buf *out, const struct account_stop *s)
{
	buf_printf(out, " %s", s->of->container.id);
	if (s->group_known)
		buf_printf(out, "@%u", s->group);
	put(out, ":", s->of->stop_signal.at_ns);
	put(out, "-", s->of->exit.at_ns);
	put(out, "-", s->of->empty_ns);
	if (s->margin_known)
		buf_printf(out, "%+g", (double)s->margin_ns / NS_PER_S);
	buf_adds(out, s->left ? "!" : "");
}

static void put_alive(struct buf *out, const struct account_alive_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct account_alive *row = &list->rows[i];

		buf_printf(out, " %s", row->of->id);
		if (row->ended)
			buf_printf(out, "-%u", (unsigned int)row->ended);
		buf_adds(out, account_has_ended(row) ? "" : "?");
	}
	if (list->unnamed)
		buf_printf(out, " +%u", (unsigned int)list->unnamed);
}

static void put_end(struct buf *out, const struct account_story *s)
{
	if (!s->end)
		return;
	buf_printf(out, " {%s", boot_end_name(s->end->end));
	put(out, "@", s->end->seen_ns);
	put_alive(out, &s->end->pods);
	put_alive(out, &s->end->containers);
	buf_printf(out, "%s}", account_is_partial(s) ? "" : " whole");
}

static void put_story(struct buf *out, const struct account_story *s)
{
	buf_printf(out, "%s%s/%s", out->len ? "\n" : "", s->node, s->boot);
	if (s->shutdown) {
		put(out, " shutdown ", s->announced_ns);
		put(out, " lock ", account_lock_end(s));
		if (s->released_ns)
			buf_printf(out, " left %u", (unsigned int)s->left);
	}
	for (size_t i = 0; i < s->n_groups; i++) {
		buf_printf(out, " g%u", s->groups[i].index);
		put(out, ":", s->groups[i].begin_ns);
		put(out, "-", s->groups[i].done_ns);
	}
	put_end(out, s);
	put_partial(out, &s->partial);
	for (size_t i = 0; i < s->n_pods; i++) {
		const struct account_pod *pod = &s->pods[i];

		buf_printf(out, " [%s", pod->names.uid ? pod->names.uid : "");
		if (pod->terminating_ns)
			put(out, " ending ", pod->terminating_ns);
		if (pod->terminating_ns)
			put(out, "-", pod->empty_ns);
		for (size_t j = 0; j < pod->n; j++)
			put_stop(out, s->stops[pod->first + j]);
		buf_addc(out, ']');
	}
}

/* The story is the same in any order. */
enum order { FORWARDS, BACKWARDS, ORDERS };

static void expect(const char *const *lines, const struct account_query *query, enum order order,
		   const char *want)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf got = {};
	struct account_log log = {.arena = &arena};
	struct account account;
	size_t n = 0;

	while (lines[n])
		n++;
	for (size_t i = 0; i < n; i++)
		add(&log, query, lines[order == FORWARDS ? i : n - 1 - i]);
	assert_int_equal(account_build(&log, query, &account), 0);
	for (size_t i = 0; i < account.n; i++)
		put_story(&got, account.stories[i]);
	assert_string_equal(buf_str(&got), want);
}

struct scene {
	const char *lines[12];
	const char *want;
};

static void check(const struct scene *scenes, size_t n)
{
	static const struct account_query all = {};

	for (size_t i = 0; i < n; i++)
		for (enum order order = FORWARDS; order < ORDERS; order++)
			expect(scenes[i].lines, &all, order, scenes[i].want);
}

/* --- claims ---------------------------------------------------------------------------------- */

#define ANNOUNCED "step id=a at=100 of=100 event=announced lock limit=60"
#define RELEASED  "step id=r at=130 of=100 event=released left=0 lock"

static void shutdowns(void **state)
{
	static const struct scene scenes[] = {
		{{ANNOUNCED, RELEASED, "stop id=1 c=x asked=101 exit=104 empty=105 grace=5"},
		 "n/b shutdown 100 lock 130 left 0 [ x:101-104-105+2]"},
		/* It overran, and what was killed after the release was left. */
		{{ANNOUNCED, "step id=r at=110 of=100 event=released left=1 lock",
		  "stop id=1 c=x asked=101 exit=112 grace=5"},
		 "n/b shutdown 100 lock 110 left 1 [ x:101-112-?-6!]"},
		/* No lock, so none was held. */
		{{"step id=a at=100 of=100 event=announced",
		  "step id=r at=130 of=100 event=released left=0"},
		 "n/b shutdown 100 lock ? left 0"},
		{{ANNOUNCED}, "n/b shutdown 100 lock ? noend=1"},
		{{RELEASED}, "n/b shutdown 100 lock 130 left 0 nobegin=1"},
		/* The first process ends, the second one goes on with the same shutdown. */
		{{ANNOUNCED, "step id=e at=105 of=100 event=ended lock", "attached at=107",
		  RELEASED},
		 "n/b shutdown 100 lock 130 left 0 restarts=1"},
		{{ANNOUNCED, "step id=e at=105 of=100 event=ended lock"},
		 "n/b shutdown 100 lock ? ended=1"},
		/* Cancelled, then another one: a stop belongs to that in which it was requested. */
		{{ANNOUNCED, "step id=c at=110 of=100 event=cancelled lock",
		  "step id=a2 at=200 of=200 event=announced lock",
		  "step id=r2 at=210 of=200 event=released left=0 lock",
		  "stop id=1 c=x asked=105 exit=115", "stop id=2 c=y asked=150 exit=151",
		  "stop id=3 c=z asked=201 exit=202"},
		 "n/b shutdown 100 lock 110 [ x:105-115-?]\n"
		 "n/b [ y:150-151-?]\n"
		 "n/b shutdown 200 lock 210 left 0 [ z:201-202-?]"},
	};

	check(scenes, LEN(scenes));
}

static void groups(void **state)
{
#define GROUP_0 "step id=g0 at=101 of=100 event=group-started g=0 length=10"
#define DONE_0	"step id=d0 at=110 of=100 event=group-done g=0 length=10"
#define GROUP_1 "step id=g1 at=111 of=100 event=group-started g=1 length=10"
	static const struct scene scenes[] = {
		{{ANNOUNCED, GROUP_0, DONE_0, GROUP_1, RELEASED, "stop id=1 c=x asked=105 exit=106",
		  "stop id=2 c=y asked=112 exit=113", "stop id=3 c=z asked=100.5 exit=113"},
		 "n/b shutdown 100 lock 130 left 0 g0:101-110 g1:111-? [ x@0:105-106-?] "
		 "[ y@1:112-113-?] [ z:100.5-113-?]"},
		/* The end of the first group was not seen: it may be either. */
		{{ANNOUNCED, GROUP_0, GROUP_1, RELEASED, "stop id=2 c=y asked=112 exit=113"},
		 "n/b shutdown 100 lock 130 left 0 g0:101-? g1:111-? [ y:112-113-?]"},
		/* The group that a step names counts more than the time. */
		{{ANNOUNCED, GROUP_0, DONE_0, RELEASED,
		  "step id=o at=120 of=100 event=pod-overdue g=3 c=x asked=105 timeout=10",
		  "stop id=1 c=x asked=105 exit=121"},
		 "n/b shutdown 100 lock 130 left 0 g0:101-110 [ x@3:105-121-?]"},
		/* ... and it stands for a record that is not there. */
		{{ANNOUNCED, RELEASED,
		  "step id=o at=120 of=100 event=pod-overdue g=3 c=x asked=105 timeout=10",
		  "step id=k at=121 of=100 event=container-killed g=3 c=x asked=105 timeout=10"},
		 "n/b shutdown 100 lock 130 left 0 unrecorded=1 [ x@3:105-?-?!]"},
		/* Containers of one pod have one group, or none. */
		{{ANNOUNCED, GROUP_0, DONE_0, GROUP_1, RELEASED,
		  "stop id=1 pod=p name=a c=x asked=105 exit=106",
		  "stop id=2 pod=p name=b c=y asked=112 exit=113"},
		 "n/b shutdown 100 lock 130 left 0 g0:101-110 g1:111-? [p x:105-106-? y:112-113-?]"},
	};

	check(scenes, LEN(scenes));
}

static void pods(void **state)
{
	static const struct scene scenes[] = {
		{{"stop id=1 pod=p name=a c=x asked=10 exit=12",
		  "stop id=2 pod=p name=b c=y exit=13", "pod id=t pod=p state=terminating at=10",
		  "pod id=e pod=p state=terminated at=14 empty=14"},
		 "n/b [p ending 10-14 x:10-12-? y:?-13-?]"},
		/* A container that begins anew is another stop of the pod. */
		{{"stop id=1 pod=p name=a c=x asked=10 exit=12",
		  "stop id=2 pod=p name=a c=y asked=50 exit=52",
		  "pod id=t pod=p state=terminating at=50"},
		 "n/b [p x:10-12-?] [p ending 50-? y:50-52-?]"},
		/* Its containers have no record. */
		{{"pod id=t pod=p state=terminating at=10"}, "n/b [p ending 10-?]"},
		/* Only listed, it ended without a process: it is no part of what happened. */
		{{"pod id=t pod=p state=terminating at=10 by=deletion",
		  "pod id=e pod=p state=terminated at=10.1 by=deletion",
		  "pod id=f pod=p state=finished at=10.2 by=deletion"},
		 ""},
		{{ANNOUNCED, RELEASED, "pod id=t pod=p state=terminating at=110 by=phase",
		  "pod id=e pod=p state=terminated at=110.1 by=phase"},
		 "n/b shutdown 100 lock 130 left 0"},
		/* ... but for one that ended while no daemon ran, or in a step that was lost. */
		{{"pod id=t pod=p state=terminating at=10 by=removed",
		  "pod id=e pod=p state=terminated at=11 by=restart"},
		 "n/b [p ending 10-?]"},
		{{"pod id=t pod=p state=terminating at=10 by=removed",
		  "pod id=e pod=p state=terminated at=14 by=cgroup-removed"},
		 "n/b [p ending 10-?]"},
		/* A sandbox is none of its containers. */
		{{"stop id=1 pod=p c=x exit=12", "stop id=2 pod=p c=s exit=13 sandbox"},
		 "n/b [p x:?-12-?]"},
		/* It was empty later than its stop was recorded. */
		{{"stop id=1 c=x exit=12 gaps=not-empty", "empty id=1 at=15"},
		 "n/b gaps=1 [ x:?-12-15]"},
	};

	check(scenes, LEN(scenes));
}

static void evidence(void **state)
{
#define X "stop id=1 c=x exit=12"
	static const struct scene scenes[] = {
		/* Repeated records are one. */
		{{X, X, ANNOUNCED, ANNOUNCED, RELEASED},
		 "n/b [ x:?-12-?]\nn/b shutdown 100 lock 130 left 0"},
		/* Totals count from the beginning of their process. */
		{{X, "stop id=2 c=y exit=20", "lost at=5 n=3", "lost at=15 n=5", "lost at=30 n=9"},
		 "n/b lost=6 [ x:?-12-?] [ y:?-20-?]"},
		{{X, "stop id=2 c=y exit=20", "lost at=5 n=3", "attached at=14", "lost at=30 n=1"},
		 "n/b lost=1 restarts=1 [ x:?-12-?] [ y:?-20-?]"},
		{{X, "lost at=5 n=3", "lost at=30 n=3"}, "n/b [ x:?-12-?]"},
		{{X, "lost at=5 n=3", "lost at=30 n=3 deep=2"}, "n/b unwatched=2 [ x:?-12-?]"},
		/* Which boot they are of shows only where there is one. */
		{{X, "lost boot=none at=30 n=3"}, "n/b lost=3 [ x:?-12-?]"},
		{{X, "lost boot=none at=30 n=3", "stop id=2 boot=c c=y exit=5 wall=86400"},
		 "n/b somewhere=1 [ x:?-12-?]\nn/c somewhere=1 [ y:?-5-?]"},
		{{X, "lost boot=none at=30 n=0", "stop id=2 boot=c c=y exit=5 wall=86400"},
		 "n/b [ x:?-12-?]\nn/c [ y:?-5-?]"},
		/* With one boot any may be of its stops; with several the time decides. */
		{{X, "dropped boot=none at=30 n=7 since=25 until=29"}, "n/b dropped=7 [ x:?-12-?]"},
		{{X, "stop id=2 c=y exit=30", "dropped boot=none at=30 n=7 since=15 until=29",
		  "stop id=3 boot=c c=z exit=5 wall=86400"},
		 "n/b dropped=7 [ x:?-12-?] [ y:?-30-?]\nn/c [ z:?-5-?]"},
		/* A shutdown lacks those of its time, and all that follow where its end is missing.
		 */
		{{ANNOUNCED, RELEASED, "dropped boot=none at=99 n=7 since=25 until=29"},
		 "n/b shutdown 100 lock 130 left 0"},
		{{ANNOUNCED, RELEASED, "dropped boot=none at=199 n=7 since=140 until=150"},
		 "n/b shutdown 100 lock 130 left 0"},
		{{ANNOUNCED, RELEASED, "dropped boot=none at=125 n=7 since=25 until=120"},
		 "n/b shutdown 100 lock 130 left 0 dropped=7"},
		{{ANNOUNCED, "dropped boot=none at=500 n=7 since=200 until=400"},
		 "n/b shutdown 100 lock ? dropped=7 noend=1"},
		/* Nodes and boots stay apart; the clock may be set back between two records. */
		{{X, "stop id=2 node=m c=y exit=5", "stop id=3 c=z exit=13 wall=-3600"},
		 "m/b [ y:?-5-?]\nn/b [ x:?-12-?] [ z:?-13-?]"},
		/* A container whose exit was not seen. */
		{{"stop id=1 c=x asked=10 at=12 gaps=exit-unseen grace=5"},
		 "n/b gaps=1 [ x:10-?-?]"},
	};

	check(scenes, LEN(scenes));
}

/* When a story was, by the clock on the wall; none has a story of its own without a record. */
static void walls(void **state)
{
	static const char *const lines[] = {
		"pod id=t pod=p state=terminating at=10 wall=1000",
		"stop id=1 boot=c c=x exit=12 wall=2000",
		"end boot=d at=14 end=unclean pods=q wall=3000",
		"step id=a boot=e at=100 of=100 event=announced wall=4000",
	};
	static const struct account_query all = {};
	_cleanup_(arena_free) struct arena arena = {};
	struct account_log log = {.arena = &arena};
	struct account account;

	for (size_t i = 0; i < LEN(lines); i++)
		add(&log, &all, lines[i]);
	assert_int_equal(account_build(&log, &all, &account), 0);
	assert_int_equal(account.n, LEN(lines));
	for (size_t i = 0; i < account.n; i++)
		assert_int_equal(account.stories[i]->wall_offset_ns,
				 (int64_t)((i + 1) * 1000 * NS_PER_S));
}

static void queries(void **state)
{
	static const char *const lines[] = {
		"stop id=1 pod=web ns=shop c=x exit=12",
		"stop id=2 pod=db ns=data c=y exit=20",
		"stop id=3 pod=web ns=shop boot=c c=z exit=5 wall=86400",
		"stop id=4 pod=log c=k asked=101 exit=104",
		"step id=o at=103 of=100 event=pod-overdue c=k asked=101 timeout=1",
		ANNOUNCED,
		RELEASED,
		NULL};
	static const struct {
		struct account_query query;
		const char *want;
	} cases[] = {
		{{.boot = "c"}, "n/c [web z:?-5-?]"},
		{{.until_ns = 15 * NS_PER_S}, "n/b [web x:?-12-?]"},
		{{.since_ns = 1000 * NS_PER_S}, "n/c [web z:?-5-?]"},
		/* A shutdown that it overlaps is reported whole. */
		{{.since_ns = 110 * NS_PER_S, .until_ns = 120 * NS_PER_S},
		 "n/b shutdown 100 lock 130 left 0 [log k@0:101-104-?]"},
		/* What is left out is not missing. */
		{{.boot = "b", .filter = {.pods = {{"web"}, 1}}},
		 "n/b [web x:?-12-?]\nn/b shutdown 100 lock 130 left 0"},
		{{.boot = "b", .filter = {.namespaces = {{"data"}, 1}}},
		 "n/b [db y:?-20-?]\nn/b shutdown 100 lock 130 left 0"},
		{{.boot = "none of them"}, ""},
	};

	for (size_t i = 0; i < LEN(cases); i++)
		for (enum order order = FORWARDS; order < ORDERS; order++)
			expect(lines, &cases[i].query, order, cases[i].want);
}

static void ends(void **state)
{
	static const struct scene scenes[] = {
		/* A boot in the middle of nothing: there need be no stop in it. */
		{{"end id=b/end at=50 end=unclean pods=p:2,q outside=x unnamed=3"},
		 "n/b {unclean@50 p? q? +3 x?}"},
		{{"stop id=1 pod=p c=y exit=12", "end id=b/end at=50 end=unclean pods=p"},
		 "n/b {unclean@50 p?} [p y:?-12-?]"},
		/* What ended after the look was not lost; what began after it was not there. */
		{{"stop id=1 pod=p c=y start=10 exit=52", "stop id=2 pod=q c=z start=10 exit=52",
		  "stop id=3 pod=r c=s start=51 exit=52", "stop id=4 c=x start=1 exit=53",
		  "end id=b/end at=50 end=unclean pods=p:2,q,r outside=x"},
		 "n/b {unclean@50 p-1? q-1 r? x-1} [p y:?-52-?] [q z:?-52-?] [r s:?-52-?] "
		 "[ x:?-53-?]"},
		/* A step of the shutdown that names a container is no end of it. */
		{{ANNOUNCED, "end id=b/end at=102 of=100 end=unclean outside=x",
		  "step id=o at=103 of=100 event=pod-overdue c=x asked=101 timeout=10"},
		 "n/b shutdown 100 lock ? {unclean@102 x?} unrecorded=1 noend=1 [ x@0:101-?-?]"},
		/* It belongs to the shutdown that was under way, by a clock that may be slewed; the
		 * last look may be before the announcement. */
		{{ANNOUNCED, "stop id=1 c=y exit=12",
		  "end id=b/end at=95 of=100.5 end=unclean pods=p"},
		 "n/b [ y:?-12-?]\nn/b shutdown 100 lock ? {unclean@95 p?} noend=1"},
		{{ANNOUNCED, RELEASED, "end id=b/end at=131 of=100 end=clean"},
		 "n/b shutdown 100 lock 130 left 0 {clean@131 whole}"},
		/* It was cancelled, or has no other record. */
		{{ANNOUNCED, "step id=c at=110 of=100 event=cancelled lock",
		  "end id=b/end at=150 end=unclean"},
		 "n/b shutdown 100 lock 110\nn/b {unclean@150}"},
		{{ANNOUNCED, "step id=c at=110 of=100 event=cancelled lock",
		  "end id=b/end at=210 of=200 end=unclean"},
		 "n/b shutdown 100 lock 110\nn/b {unclean@210}"},
		/* graced was stopped before: the end is not known, and no pod is said to be lost. */
		{{"end id=b/end at=50 end=unknown pods=p"}, "n/b {unknown@50 p?}"},
		/* Repeated, and of boots that stay apart. */
		{{"end id=b/end at=50 end=unclean pods=p", "end id=b/end at=50 end=unclean pods=p",
		  "end id=c/end boot=c at=7 end=clean wall=86400"},
		 "n/b {unclean@50 p?}\nn/c {clean@7 whole}"},
	};
	static const char *const lines[] = {
		"end id=b/end at=50 end=unclean pods=web,db unnamed=1 outside=x",
		"stop id=1 pod=log c=y exit=40", "stop id=2 pod=log c=z start=55 exit=70",
		"end id=c/end boot=c at=7 end=unclean pods=web wall=86400", NULL};
	static const struct {
		struct account_query query;
		const char *want;
	} cases[] = {
		{{.boot = "c"}, "n/c {unclean@7 web?}"},
		{{.until_ns = 60 * NS_PER_S}, "n/b {unclean@50 web? db? +1 x?} [log y:?-40-?]"},
		{{.until_ns = 45 * NS_PER_S}, "n/b [log y:?-40-?]"},
		{{.since_ns = 60 * NS_PER_S}, "n/b [log z:?-70-?]\nn/c {unclean@7 web?}"},
		{{.boot = "b", .filter = {.pods = {{"db"}, 1}}}, "n/b {unclean@50 db? +1}"},
		{{.boot = "c", .filter = {.pods = {{"db"}, 1}}}, ""},
	};

	check(scenes, LEN(scenes));
	for (size_t i = 0; i < LEN(cases); i++)
		for (enum order order = FORWARDS; order < ORDERS; order++)
			expect(lines, &cases[i].query, order, cases[i].want);
}

static void boots(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct account_log log = {.arena = &arena};
	const struct account_query all = {};
	const char *const *list;
	char id[ACCOUNT_BOOT_SIZE];
	size_t n;

	add(&log, &all, "stop id=1 boot=z c=x exit=12");
	add(&log, &all, "stop id=2 boot=y c=x exit=1 wall=86400");
	add(&log, &all, "stop id=3 boot=z c=x exit=13");
	add(&log, &all, "lost boot=none at=1 n=1");
	assert_int_equal(account_log_boots(&log, &list, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0], "z");
	assert_string_equal(list[1], "y");
	assert_string_equal(account_boot("7C9F2F0E-5d0b-4a52-9a7d-0b6a3f1c2d4e!", 37, id),
			    "7c9f2f0e5d0b4a529a7d0b6a3f1c2d4e");
}

static void bounds(void **state)
{
	_cleanup_(arena_free) struct arena arena = {.limit = 65536};
	struct account_log log = {.arena = &arena};
	const struct account_query all = {};
	struct account account;

	for (int i = 0; i < 100; i++)
		add(&log, &all, "attached at=1");
	assert_true(log.n > 0 && log.n < 100);
	assert_int_equal(log.n + log.cut, 100);
	arena.limit = 1 << 20;
	add(&log, &all, X);
	assert_int_equal(account_build(&log, &all, &account), 0);
	assert_int_equal(account.n, 1);
	assert_true(account_is_partial(account.stories[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop belongs to the shutdown in which it was requested, whatever the order",
		      shutdowns),
		CLAIM("a stop is in the only group that it can be in, or in none", groups),
		CLAIM("stops and states of a pod are one entry for each of its lives", pods),
		CLAIM("a story reports what is missing, and counts nothing twice", evidence),
		CLAIM("a story has the wall clock of its records, whichever type they are of",
		      walls),
		CLAIM("boot, span, namespace and pod select stories and stops", queries),
		CLAIM("the end of a boot belongs to the shutdown under way, and names what has no "
		      "record of its end",
		      ends),
		CLAIM("boots are listed by their last record", boots),
		CLAIM("what finds no room is counted, and the story is partial", bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
