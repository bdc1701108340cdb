// SPDX-License-Identifier: Apache-2.0
/* Sentences and cells about a story. */
#include "wire/account/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/shutdown/shutdown.h"
#include "core/story/story.h"
#include "wire/text/journal.h"

/* Containers that a verdict names; others are counted. */
#define TROUBLE_MAX 3
#define NAME_BYTES  64 /* of a name there */
/* Listed pods that were alive, or containers outside pods; others are counted. */
#define NAMES_MAX   128

static void add_text(struct buf *out, const char *text)
{
	utf8_add_visible(out, text, strlen(text));
}

static void add_known(struct buf *out, const char *text)
{
	add_text(out, text ? text : "unknown");
}

void account_text_pod(struct buf *out, const struct record_pod *pod)
{
	if (pod->name) {
		add_text(out, pod->namespace_ ? pod->namespace_ : "");
		buf_addc(out, '/');
		add_text(out, pod->name);
	} else {
		add_known(out, pod->uid);
	}
}

void account_text_container_alone(struct buf *out, const struct account_stop *stop)
{
	const struct record_container *container = &stop->of->container;
	const char *name = container->name ? container->name : container->id;

	add_known(out, name ? name : container->cgroup);
}

void account_text_container(struct buf *out, const struct account_stop *stop)
{
	const struct record_pod *pod = &stop->of->pod;

	if (pod->name || pod->uid) {
		account_text_pod(out, pod);
		buf_addc(out, '/');
	}
	account_text_container_alone(out, stop);
}

void account_text_duration(struct buf *out, uint64_t ns)
{
	char text[DURATION_SIZE];

	if (ns % NS_PER_S == 0 && ns < 60ull * NS_PER_S)
		buf_printf(out, "%us", (unsigned int)(ns / NS_PER_S));
	else
		buf_adds(out, duration_format(ns, text));
}

void account_text_margin(struct buf *out, int64_t ns)
{
	if (ns < 0)
		buf_addc(out, '-');
	account_text_duration(out, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

void account_text_offset(struct buf *out, const struct account_story *story, uint64_t at_ns)
{
	bool before = at_ns < story->begin_ns;

	buf_addc(out, before ? '-' : '+');
	account_text_duration(out, before ? story->begin_ns - at_ns : at_ns - story->begin_ns);
}

void account_text_heading(struct buf *out, const struct account_story *story)
{
	buf_adds(out, story->shutdown ? "shutdown of " : "stops on ");
	add_text(out, story->node ? story->node : "an unknown node");
	/* Before systemd 255 logind does not announce which it is. */
	if (story->action && strcmp(story->action, shutdown_action_name(SHUTDOWN_UNKNOWN)) != 0) {
		buf_adds(out, ": ");
		add_text(out, story->action);
	}
}

void account_text_where(struct buf *out, const struct account_story *story)
{
	char time[RFC3339_SIZE];
	int64_t begin = (int64_t)(story->begin_ns + (uint64_t)story->wall_offset_ns);

	rfc3339_format(begin, time);
	buf_printf(out, "%.23sZ, boot ", time);
	add_known(out, story->boot);
	if (story->shutdown) {
		buf_adds(out, ", mode ");
		add_known(out, story->mode);
	} else {
		buf_adds(out, ", outside of shutdowns");
	}
}

static void add_span(struct buf *out, const struct account_story *story, uint64_t end_ns)
{
	buf_adds(out, end_ns ? "held for " : "held");
	if (end_ns)
		account_text_duration(out, end_ns - story->begin_ns);
	if (story->limit_ns) {
		buf_adds(out, end_ns ? " of " : ", limit ");
		account_text_duration(out, story->limit_ns);
	}
}

void account_text_lock(struct buf *out, const struct account_story *story)
{
	if (story->lock_held)
		add_span(out, story, account_lock_end(story));
	else
		buf_adds(out, "not held by graced");
	if (story->released_ns) {
		buf_adds(out, story->lock_held ? ", released at " : ", done at ");
		account_text_offset(out, story, story->released_ns);
		buf_adds(out, ": ");
		add_known(out, story->reason);
	}
	if (story->cancelled_ns) {
		buf_adds(out, ", cancelled at ");
		account_text_offset(out, story, story->cancelled_ns);
	}
	if (!story->released_ns && !story->cancelled_ns)
		buf_adds(out, ", end unknown");
}

static void add_holders(struct buf *out, const struct account_story *story)
{
	for (size_t i = 0; i < story->n_holders; i++) {
		buf_adds(out, i ? ", " : ": ");
		add_known(out, story->holders[i].who);
		buf_printf(out, "[%" PRIu32 "]", story->holders[i].pid);
	}
	if (story->n_holders && story->others > story->n_holders)
		buf_adds(out, ", ...");
}

void account_text_left(struct buf *out, const struct account_story *story)
{
	if (!story->released_ns) {
		buf_adds(out, "unknown");
		return;
	}
	buf_printf(out, "containers: %" PRIu64, story->left);
	if (story->volumes_known)
		buf_printf(out, "; mounts of volumes: %" PRIu64, story->volumes);
	buf_printf(out, "; other delay locks: %" PRIu64, story->others);
	add_holders(out, story);
}

void account_text_group(struct buf *out, const struct account_story *story,
			const struct account_group *group)
{
	buf_printf(out, "group %" PRIu32, group->index);
	if (group->priority_known)
		buf_printf(out, ", priority %" PRId64, group->priority);
	buf_adds(out, ": ");
	if (group->begin_ns)
		account_text_offset(out, story, group->begin_ns);
	else
		buf_adds(out, "unknown");
	buf_adds(out, " to ");
	if (group->done_ns)
		account_text_offset(out, story, group->done_ns);
	else
		buf_adds(out, "unknown");
	if (group->planned_ns && group->planned_ns < group->begin_ns) {
		buf_adds(out, ", planned ");
		account_text_offset(out, story, group->planned_ns);
	}
	if (group->length_ns) {
		buf_adds(out, ", has ");
		account_text_duration(out, group->length_ns);
	}
	if (group->timed_out)
		buf_adds(out, ", timed out");
}

struct list {
	struct buf *out;
	size_t begin;
	const char *separator;
};

static struct buf *next(const struct list *list)
{
	if (list->out->len > list->begin)
		buf_adds(list->out, list->separator);
	return list->out;
}

static void count(const struct list *list, const char *what, uint64_t n)
{
	if (n)
		buf_printf(next(list), "%s: %" PRIu64, what, n);
}

/* Their notes do not say it again. */
static void count_late(struct buf *out, const struct account_story *story)
{
	size_t late = 0;

	for (size_t i = 0; i < story->n_stops; i++)
		late += story->stops[i]->of->gaps >> GAP_ATTACHED_LATE & 1;
	if (late)
		buf_printf(out, " (attached-late: %zu)", late);
}

void account_text_partial(struct buf *out, const struct account_story *story)
{
	const struct account_partial *p = &story->partial;
	const struct list list = {out, out->len, "; "};

	if (p->begin_unseen && story->shutdown)
		buf_adds(next(&list), "no record of the announcement");
	if (p->end_unseen)
		buf_adds(next(&list), "no record of its end");
	if (p->ended) {
		buf_adds(next(&list), "graced was stopped at ");
		account_text_offset(out, story, story->ended_ns);
		buf_adds(out, ", and reported no end");
	}
	if (story->end && story->end->end != BOOT_END_CLEAN)
		buf_adds(next(&list), "the end of its boot was not observed");
	count(&list, "restarts of graced", p->restarts);
	count(&list, "events lost in the kernel", p->lost.events);
	if (p->lost_somewhere)
		buf_adds(next(&list),
			 "events were lost, or cgroups not watched, in one of several boots");
	count(&list, "cgroups that were not watched, because of a limit", p->lost.cgroups);
	count(&list, "stops with gaps in their evidence", p->gaps);
	count_late(out, story);
	count(&list, "containers without a record of their stop", p->unrecorded);
	count(&list, "records that were not written", p->dropped);
	count(&list, "records left out beyond the limit", p->cut);
	count(&list, "records of a newer graced left out", p->newer);
	count(&list, "lines that are no records", p->unreadable);
}

/* --- the end of a boot ----------------------------------------------------------------------- */

void account_text_boot_end(struct buf *out, const struct account_story *story)
{
	const struct account_boot_end *end = story->end;
	const char *journal;
	char time[RFC3339_SIZE];

	if (!end)
		return;
	journal = journal_boot_journal(end->journal);
	buf_printf(out, "ended %s: ", boot_end_name(end->end));
	add_known(out, journal_boot_reason(end->reason));
	if (journal)
		buf_printf(out, "; %s", journal);
	rfc3339_format(end->seen_wall_ns, time);
	buf_printf(out, "; alive at the last look, %.23sZ (", time);
	account_text_offset(out, story, end->seen_ns);
	buf_printf(out, "): pods %" PRIu64 ", other containers %" PRIu64, end->pods.total,
		   end->containers.total);
}

void account_text_alive(struct buf *out, const struct account_alive *row)
{
	const char *namespace_ = row->of->namespace_, *name = row->of->name;

	if (row->pod && *name) {
		add_text(out, namespace_);
		buf_addc(out, '/');
	}
	add_known(out, *name ? name : *row->of->id ? row->of->id : NULL);
	if (row->ended && !account_has_ended(row))
		buf_printf(out, " (%" PRIu64 " of %" PRIu64 " containers ended later)", row->ended,
			   row->containers);
}

/* Returns how many found no room. */
static uint64_t add_alive_list(const struct list *list, const struct account_alive_list *alive,
			       bool ended)
{
	size_t n = 0;

	for (size_t i = 0; i < alive->n; i++) {
		if (account_has_ended(&alive->rows[i]) != ended)
			continue;
		if (n++ < NAMES_MAX)
			account_text_alive(next(list), &alive->rows[i]);
	}
	return n > NAMES_MAX ? n - NAMES_MAX : 0;
}

static void add_all_alive(struct buf *out, const struct account_boot_end *end, const char *head,
			  bool ended)
{
	size_t before = out->len;
	uint64_t more, unnamed = ended ? 0 : end->pods.unnamed + end->containers.unnamed;
	struct list list = {.out = out, .separator = ", "};

	buf_adds(out, head);
	list.begin = out->len;
	more = add_alive_list(&list, &end->pods, ended);
	more += add_alive_list(&list, &end->containers, ended);
	if (more)
		buf_printf(next(&list), "%" PRIu64 " more", more);
	if (unnamed)
		buf_printf(next(&list), "%" PRIu64 " that the record does not name", unnamed);
	if (out->len == list.begin)
		buf_truncate(out, before);
}

void account_text_lost(struct buf *out, const struct account_story *story)
{
	bool unclean = story->end && story->end->end == BOOT_END_UNCLEAN;

	if (story->end)
		add_all_alive(
			out, story->end,
			unclean ? "lost without evidence: " : "alive then, end unknown: ", false);
}

void account_text_ended(struct buf *out, const struct account_story *story)
{
	if (story->end)
		add_all_alive(out, story->end, "alive then, ended later: ", true);
}

void account_text_outcome(struct buf *out, const struct account_stop *stop)
{
	buf_adds(out, outcome_name(stop->of->outcome));
	if (stop->of->outcome != OUTCOME_UNKNOWN) {
		buf_adds(out, ", ");
		add_text(out, cause_name(stop->of->cause));
	}
}

static void note_sender(const struct list *list, const struct record_sigref *signal)
{
	char name[SIGNAME_SIZE];

	if (!signal->sender.process.comm)
		return;
	buf_printf(next(list), "%s from ", signame_format(signal->number, name));
	add_text(list->out, signal->sender.process.comm);
	buf_printf(list->out, "[%" PRIu32 "]", signal->sender.process.pid);
}

static void note_pod(const struct list *list, const struct account_pod *pod)
{
	if (!pod->terminating_ns)
		return;
	buf_adds(next(list), "pod ");
	add_known(list->out, pod_trigger_name(pod->trigger));
	if (!pod->empty_ns)
		buf_adds(list->out, ", its end unknown");
}

void account_text_gaps(struct buf *out, uint32_t gaps)
{
	const struct list list = {out, out->len, ","};

	for (unsigned int gap = 0; gap < GAP_COUNT; gap++)
		if (gaps >> gap & 1)
			buf_adds(next(&list), gap_name((enum gap)gap));
}

/* How a stop that was recorded went badly, as its story has it. */
static void note_why(const struct list *list, const struct record_stop *of)
{
	story_add_why(next(list), of);
	buf_truncate(list->out, list->out->len - 1);
}

static void note_end(const struct list *list, const struct record_stop *of)
{
	uint32_t signal = record_died_of(&of->exit);

	if (signal && signal != 9)
		buf_printf(next(list), "signal %" PRIu32, signal);
	else if (account_code(&of->exit) > 0)
		buf_printf(next(list), "code %" PRId64, account_code(&of->exit));
	if (of->kill_signal.at_ns)
		note_sender(list, &of->kill_signal);
	else if (of->stop_signal.at_ns)
		note_sender(list, &of->stop_signal);
}

static bool went_badly(const struct record_stop *of)
{
	return record_badness(of) || of->reason || of->deaf;
}

static void add_note(struct buf *out, const struct account_story *story,
		     const struct account_pod *pod, const struct account_stop *stop, uint32_t gaps,
		     bool sentence)
{
	const struct list list = {out, out->len, ", "};
	const struct record_stop *of = stop->of;

	if (stop->unrecorded)
		buf_adds(next(&list), "no record of its stop");
	if (stop->left)
		buf_adds(next(&list), "left at the release");
	if (stop->overdue_ns) {
		buf_adds(next(&list), "overdue at ");
		account_text_offset(out, story, stop->overdue_ns);
	}
	if ((sentence || went_badly(of)) && !stop->unrecorded)
		note_why(&list, of);
	else
		note_end(&list, of);
	if (stop == story->stops[pod->first])
		note_pod(&list, pod);
	if (gaps & of->gaps) {
		buf_adds(next(&list), "gaps: ");
		account_text_gaps(out, gaps & of->gaps);
	}
}

void account_text_note(struct buf *out, const struct account_story *story,
		       const struct account_pod *pod, const struct account_stop *stop,
		       uint32_t gaps)
{
	add_note(out, story, pod, stop, gaps, false);
}

void account_text_why(struct buf *out, const struct account_story *story,
		      const struct account_pod *pod, const struct account_stop *stop)
{
	add_note(out, story, pod, stop, stop->of->gaps, true);
}

/* --- the verdict ----------------------------------------------------------------------------- */

/* What is longer keeps its end. */
static void add_name(struct buf *out, const struct account_stop *stop)
{
	size_t begin = out->len, over;

	account_text_container(out, stop);
	if (buf_error(out) < 0 || out->len - begin <= NAME_BYTES)
		return;
	over = out->len - begin - NAME_BYTES;
	memmove(out->data + begin, out->data + begin + over, NAME_BYTES);
	memcpy(out->data + begin, "…", strlen("…"));
	buf_truncate(out, begin + NAME_BYTES);
}

static void add_trouble(struct buf *out, const struct account_stop *stop)
{
	add_name(out, stop);
	buf_adds(out, " (");
	if (stop->unrecorded)
		buf_adds(out, "no record of its stop");
	else
		account_text_outcome(out, stop);
	if (record_badness(stop->of) == 1)
		buf_printf(out, ", %" PRIu64 " of its processes cut", (uint64_t)stop->of->cut);
	if (stop->of->deaf)
		buf_adds(out, ", deaf");
	if (stop->left)
		buf_adds(out, ", left at the release");
	buf_addc(out, ')');
}

/* No stop: it ended with another code than 0, and had not been asked to. */
static bool has_failed(const struct account_stop *stop)
{
	return stop->of->outcome == OUTCOME_FAILED && !stop->of->stop_signal.known &&
	       !stop->of->deaf && !stop->left && !stop->overdue_ns && !stop->unrecorded;
}

static void add_troubles(struct buf *out, const struct account_story *story, bool failed, size_t n)
{
	const struct list list = {out, out->len, ", "};
	size_t named = 0;

	for (unsigned int badness = RECORD_BADNESS_MAX; badness > 0; badness--)
		for (size_t i = 0; i < story->n_stops && named < TROUBLE_MAX; i++)
			if (account_badness(story->stops[i]) == badness &&
			    has_failed(story->stops[i]) == failed) {
				add_trouble(next(&list), story->stops[i]);
				named++;
			}
	if (n > named)
		buf_printf(out, " and %zu more", n - named);
}

/* What may hide behind the stops that were recorded. */
static void add_missing(struct buf *out, const struct account_story *story)
{
	const struct account_partial *p = &story->partial;
	size_t silent = 0;

	for (size_t i = 0; i < story->n_pods; i++)
		silent += story->pods[i].n == 0;
	if (silent)
		buf_printf(out, "; %zu pod%s no record of a stop", silent,
			   silent == 1 ? " has" : "s have");
	if (p->lost.events || p->lost.cgroups || p->lost_somewhere || p->dropped || p->cut ||
	    p->unreadable || p->newer)
		buf_adds(out, "; some records are missing");
}

static void add_bad(struct buf *out, const struct account_story *story, size_t bad)
{
	size_t n = story->n_stops;

	if (n == 1)
		buf_adds(out, "1 container stopped, and not well: ");
	else if (n == bad)
		buf_printf(out, "None of %zu containers stopped well: ", n);
	else
		buf_printf(out, "%zu of %zu containers did not stop well: ", bad, n);
	add_troubles(out, story, false, bad);
}

static void add_failed(struct buf *out, const struct account_story *story, size_t failed,
		       bool first)
{
	size_t n = story->n_stops;

	buf_printf(out, "%s%zu ", first ? "" : "; ", failed);
	if (first && n > 1)
		buf_printf(out, "of %zu ", n);
	if (first)
		buf_printf(out, "container%s ", n == 1 ? "" : "s");
	buf_adds(out, "failed without having been asked to stop: ");
	add_troubles(out, story, true, failed);
}

static void add_stopped(struct buf *out, const struct account_story *story)
{
	size_t n = story->n_stops, bad = 0, failed = 0;

	for (size_t i = 0; i < n; i++) {
		failed += has_failed(story->stops[i]);
		bad += account_badness(story->stops[i]) > 0 && !has_failed(story->stops[i]);
	}
	if (n == 0)
		buf_adds(out, "No container's stop was recorded");
	else if (bad + failed == 0)
		buf_printf(out, "%zu container%s stopped, %s well", n, n == 1 ? "" : "s",
			   n == 1 ? "and it stopped" : "all of them");
	if (bad)
		add_bad(out, story, bad);
	if (failed)
		add_failed(out, story, failed, !bad);
	if (bad + failed && n > bad + failed)
		buf_printf(out, "; %zu stopped well", n - bad - failed);
	add_missing(out, story);
	buf_addc(out, '.');
}

/* "3s of its 1m00s" */
static void add_held(struct buf *out, const struct account_story *story)
{
	account_text_duration(out, account_lock_end(story) - story->begin_ns);
	if (!story->limit_ns)
		return;
	buf_adds(out, " of its ");
	account_text_duration(out, story->limit_ns);
}

/* Containers of pods, and others that ended after the release. */
static uint64_t left_alone(const struct account_story *story)
{
	uint64_t n = 0;

	for (size_t i = 0; i < story->n_stops; i++)
		n += story->stops[i]->left;
	return n > story->left ? n : story->left;
}

static void add_lock_verdict(struct buf *out, const struct account_story *story)
{
	uint64_t left = left_alone(story);

	if (!story->lock_held) {
		buf_adds(out, "graced held no delay lock.");
	} else if (story->cancelled_ns && !story->released_ns) {
		buf_adds(out, "The shutdown was cancelled after ");
		add_held(out, story);
		buf_addc(out, '.');
	} else if (!story->released_ns) {
		buf_adds(out, "Whether the delay lock was held until all had stopped is unknown.");
	} else {
		buf_printf(out, "The delay lock was %s until all had stopped: ",
			   left ? "not held" : "held");
		add_held(out, story);
		if (left)
			buf_printf(out, ", with %" PRIu64 " container%s left", left,
				   left == 1 ? "" : "s");
		buf_adds(out, " (");
		add_known(out, story->reason);
		buf_adds(out, ").");
	}
}

void account_text_verdict(struct buf *out, const struct account_story *story)
{
	if (story->end && story->end->end == BOOT_END_UNCLEAN)
		buf_adds(out, "The boot ended unclean, and what was alive then has no record of "
			      "its end. ");
	add_stopped(out, story);
	if (!story->shutdown)
		return;
	buf_addc(out, ' ');
	add_lock_verdict(out, story);
}
