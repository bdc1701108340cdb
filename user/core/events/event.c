// SPDX-License-Identifier: Apache-2.0
/* Judges records, and writes what their Events say. */
#include "core/events/event.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "core/story/story.h"

/* Where one of these is open, what an Event would say may be wrong. */
#define GAPS_OF_DOUBT                                                                  \
	(1u << GAP_UNKNOWN_CGROUP | 1u << GAP_EXIT_UNSEEN | 1u << GAP_SENDER_UNKNOWN | \
	 1u << GAP_STOP_SIGNAL_UNKNOWN | 1u << GAP_INIT_UNSEEN | 1u << GAP_SANDBOX_GUESSED)

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGIT "0123456789"

/* --- names -------------------------------------------------------------------------------------- */

/* Takes only these characters, with a letter or digit at both ends: safe in a URL's path. */
static bool take_name(const char *name, const char *characters, char *ret, size_t size)
{
	size_t len = name ? strlen(name) : 0;

	if (len == 0 || len >= size || strspn(name, characters) != len)
		return false;
	if (!strchr(LOWER DIGIT, name[0]) || !strchr(LOWER DIGIT, name[len - 1]))
		return false;
	memcpy(ret, name, len + 1);
	return true;
}

static bool take_label(const char *name, char ret[static EVENT_LABEL_MAX])
{
	return take_name(name, LOWER DIGIT "-", ret, EVENT_LABEL_MAX);
}

static bool take_pod(const struct record_pod *pod, struct event *ret)
{
	return pod->known && take_label(pod->namespace_, ret->namespace_) &&
	       take_name(pod->name, LOWER DIGIT "-.", ret->name, EVENT_SUBDOMAIN_MAX) &&
	       take_name(pod->uid, LOWER DIGIT "-", ret->uid, EVENT_SUBDOMAIN_MAX);
}

/* A container of the pod's spec, as far as anything is known: no sandbox, and none without a
 * name. */
static bool take_container(const struct record_container *c, struct event *ret)
{
	if (!c->known || c->kind != CONTAINER_KIND_CONTAINER || !c->id ||
	    !take_label(c->name, ret->container))
		return false;
	ret->run = map_key(c->id);
	return true;
}

/* --- what it says ------------------------------------------------------------------------------- */

/* " Evidence is partial: events-lost, name-late." */
static void add_gaps(struct buf *note, uint32_t gaps)
{
	const char *between = " Evidence is partial: ";

	for (int gap = 0; gap < GAP_COUNT; gap++) {
		if (!(gaps >> gap & 1))
			continue;
		buf_adds(note, between);
		buf_adds(note, gap_name((enum gap)gap));
		between = ", ";
	}
	if (gaps)
		buf_addc(note, '.');
}

/* Cut where it is too long, but never what says that the evidence is partial. False: no memory. */
static bool take_note(struct event *ret, const struct buf *text, uint32_t gaps)
{
	_cleanup_(buf_free) struct buf end = {};
	size_t room, len = text->len;

	while (len && text->data[len - 1] == '.')
		len--;
	buf_addc(&end, '.');
	add_gaps(&end, gaps);
	if (buf_error(text) || buf_error(&end) || end.len >= EVENT_NOTE_MAX)
		return false;
	room = EVENT_NOTE_MAX - 1 - end.len;
	snprintf(ret->note, sizeof(ret->note), "%.*s%s", (int)(len < room ? len : room),
		 buf_str(text), buf_str(&end));
	return true;
}

/* --- verdicts ----------------------------------------------------------------------------------- */

static const struct worth {
	enum outcome outcome;
	uint32_t causes; /* bits 1 << enum cause */
	bool timed;	 /* with a grace period that is known */
	const char *reason;
} worths[] = {
	{OUTCOME_KILLED, 1u << CAUSE_GRACE_EXPIRED, true, "GraceExceeded"},
	/* Where no source provides the period, a kill at any time is said to be at its end. */
	{OUTCOME_KILLED, ~(1u << CAUSE_UNKNOWN), false, "KilledBy"},
	{OUTCOME_CRASHED, 1u << CAUSE_SAME_POD | 1u << CAUSE_OTHER_POD | 1u << CAUSE_HOST, false,
	 "KilledBy"},
	{OUTCOME_TERMINATED, 1u << CAUSE_SAME_POD | 1u << CAUSE_OTHER_POD | 1u << CAUSE_HOST, false,
	 "KilledBy"},
	{OUTCOME_OOM_KILLED, ~0u, false, "OOMKilledBy"},
};

/* Who did it is what an Event is for. */
static bool is_evident(const struct record_stop *r)
{
	if (r->outcome == OUTCOME_CRASHED || r->outcome == OUTCOME_TERMINATED)
		return record_died_of(&r->exit) && !record_may_be_terminal(r);
	if (r->outcome != OUTCOME_KILLED)
		return true;
	return r->kill_signal.known && (r->cause != CAUSE_GRACE_EXPIRED || r->stop_signal.known);
}

/* A person's shell ends with its pod, and ignores the request as shells do. */
static bool is_end_of_debugging(const struct record_stop *r)
{
	static const uint32_t ordinary = 1u << CAUSE_GRACE_EXPIRED | 1u << CAUSE_KILLED_EARLY |
					 1u << CAUSE_NO_GRACE | 1u << CAUSE_DEAF_GRACE |
					 1u << CAUSE_PID_NAMESPACE;

	return r->container.ephemeral && r->outcome == OUTCOME_KILLED && ordinary >> r->cause & 1;
}

static const struct worth *find_worth(const struct record_stop *r)
{
	if (is_end_of_debugging(r))
		return NULL;
	for (size_t i = 0; i < sizeof(worths) / sizeof(worths[0]); i++)
		if (worths[i].outcome == r->outcome && worths[i].causes >> r->cause & 1 &&
		    (!worths[i].timed || grace_known(&r->grace)))
			return worths + i;
	return NULL;
}

static bool take_subject(const struct record_pod *pod, const struct record_container *container,
			 struct event *ret)
{
	return take_pod(pod, ret) && take_container(container, ret);
}

static bool of_stop(const struct record_stop *r, struct event *ret)
{
	const struct worth *worth = find_worth(r);
	_cleanup_(buf_free) struct buf note = {};

	if (!worth || !is_evident(r) || !r->exit.known || r->gaps & GAPS_OF_DOUBT ||
	    !take_subject(&r->pod, &r->container, ret))
		return false;
	ret->reason = worth->reason;
	ret->action = "Killing";
	ret->cause = cause_name(r->cause);
	ret->warning = true;
	story_add_why(&note, r);
	return take_note(ret, &note, r->gaps);
}

/* From who stops containers: a signal that any other process sends need not be a request to stop.
 * It is reported when it is sent, while people wait for the pod to end. */
static bool of_signal(const struct record_signal *r, struct event *ret)
{
	_cleanup_(buf_free) struct buf note = {};
	bool asks = r->sender.kind == SENDER_KUBELET || r->sender.kind == SENDER_RUNTIME ||
		    r->sender.kind == SENDER_GRACED;

	if (!r->deaf || !r->target_init || !asks || r->container.ephemeral ||
	    !take_subject(&r->pod, &r->container, ret))
		return false;
	story_add_signal(&note, r);
	ret->reason = "ContainerDeaf";
	ret->action = "Stopping";
	ret->cause = unheard_name(r->reason) ?: "";
	ret->warning = true;
	return take_note(ret, &note, 0);
}

/* --- node shutdowns ----------------------------------------------------------------------------- */

static bool of_killed(const struct record_shutdown *r, struct event *ret)
{
	_cleanup_(buf_free) struct buf note = {};

	if (r->container.ephemeral || !take_subject(&r->pod, &r->container, ret))
		return false;
	buf_printf(&note, "graced sent SIGKILL in a shutdown of the node (mode %s): %s",
		   shutdown_mode_name(r->step.mode) ?: "unknown",
		   r->step.deaf ? "PID 1 cannot receive the stop signal"
				: "the container had its time");
	ret->reason = "StoppedOverdue";
	ret->action = "Killing";
	ret->cause = r->step.deaf ? "deaf" : "overdue";
	ret->warning = true;
	return take_note(ret, &note, 0);
}

/* Containers that are left make it no complete one, whatever the lock's end is called. */
static bool of_released(const struct record_shutdown *r, const char *node, struct event *ret)
{
	_cleanup_(buf_free) struct buf note = {};

	if (r->step.living || r->step.reason == SHUTDOWN_LIMIT ||
	    !take_name(node, LOWER DIGIT "-.", ret->name, EVENT_SUBDOMAIN_MAX))
		return false;
	strcpy(ret->uid, ret->name);
	ret->of_node = true;
	ret->run = map_key(r->id);
	buf_printf(&note, "No container of a pod has a process any more, for %s (%s)",
		   shutdown_action_name(r->step.action) ?: "unknown",
		   shutdown_reason_name(r->step.reason) ?: "unknown");
	if (r->step.volumes_known && r->step.n_volumes)
		buf_printf(&note, "; volumes of pods that are still mounted: %zu",
			   r->step.n_volumes);
	ret->reason = "NodeShutdownComplete";
	ret->action = "ShuttingDown";
	ret->cause = "";
	return take_note(ret, &note, 0);
}

bool event_of_record(const struct record *record, const char *node, struct event *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->wall_ns = record->wall_ns;
	switch (record->type) {
	case RECORD_STOP:
		return of_stop(&record->stop, ret);
	case RECORD_SIGNAL:
		return of_signal(&record->signal, ret);
	case RECORD_SHUTDOWN:
		if (record->shutdown.step.what == SHUTDOWN_REPORT_KILLED)
			return of_killed(&record->shutdown, ret);
		if (record->shutdown.step.what == SHUTDOWN_REPORT_RELEASED)
			return of_released(&record->shutdown, node, ret);
		return false;
	default:
		return false;
	}
}
