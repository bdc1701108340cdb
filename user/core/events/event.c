// SPDX-License-Identifier: Apache-2.0
/* Judges records, and writes what their Events say. */
#include "core/events/event.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/map.h"
#include "base/signame.h"
#include "base/utf8.h"

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

static void add_visible(struct buf *note, const char *text)
{
	utf8_add_visible(note, text, strlen(text));
}

static void add_place(struct buf *note, const struct record_sender *s)
{
	if (s->pod.known && s->pod.namespace_ && s->pod.name) {
		buf_adds(note, " in pod ");
		add_visible(note, s->pod.namespace_);
		buf_addc(note, '/');
		add_visible(note, s->pod.name);
	} else if (s->kind == SENDER_POD) {
		buf_adds(note, " in a pod");
	} else if (s->kind == SENDER_CONTAINER) {
		buf_adds(note, " in a container");
	} else if (s->kind == SENDER_UNPLACED) {
		buf_adds(note, ", perhaps in a container");
	} else if (s->kind == SENDER_HOST) {
		buf_adds(note, " of the host");
	}
	if (s->container.known && s->container.name) {
		buf_adds(note, ", container ");
		add_visible(note, s->container.name);
	}
	for (int i = 0; i < GRACED_ANCESTORS && s->ancestors[i]; i++) {
		buf_adds(note, i ? ", " : "; its parents: ");
		add_visible(note, s->ancestors[i]);
	}
}

/* "the kubelet", "graced", "process kill (pid 812) of the host; its parents: bash, sshd". */
static void add_sender(struct buf *note, const struct record_sender *s)
{
	static const char *const known[SENDER_KIND_COUNT] = {
		[SENDER_KERNEL] = "the kernel",	  [SENDER_SYSTEMD] = "systemd",
		[SENDER_KUBELET] = "the kubelet", [SENDER_RUNTIME] = "the container runtime",
		[SENDER_GRACED] = "graced",	  [SENDER_UNKNOWN] = "a sender that is not known",
	};
	const char *word = (unsigned int)s->kind < SENDER_KIND_COUNT ? known[s->kind] : NULL;

	if (word) {
		buf_adds(note, word);
		return;
	}
	buf_adds(note, "process ");
	add_visible(note, s->process.comm ?: "");
	buf_printf(note, " (pid %u)", s->process.pid);
	add_place(note, s);
}

static void add_signal(struct buf *note, uint32_t number)
{
	char name[SIGNAME_SIZE];

	buf_adds(note, signame_format(number, name));
}

/* ", 30.0s after SIGTERM". */
static void add_time_since_request(struct buf *note, const struct record_stop *r)
{
	char text[DURATION_SIZE];

	if (!r->stop_signal.known || !r->kill_signal.known ||
	    r->kill_signal.at_ns < r->stop_signal.at_ns)
		return;
	duration_format(r->kill_signal.at_ns - r->stop_signal.at_ns, text);
	buf_printf(note, ", %s after ", text);
	add_signal(note, r->stop_signal.number);
}

static void add_grace(struct buf *note, const struct grace *grace)
{
	char text[DURATION_SIZE];

	if (grace_known(grace))
		buf_printf(note, "; its grace period was %s (%s)", duration_format(grace->ns, text),
			   grace_from_name(grace->from));
}

static void add_kill(struct buf *note, const struct record_stop *r)
{
	buf_adds(note, "SIGKILL from ");
	add_sender(note, &r->kill_signal.sender);
	add_time_since_request(note, r);
}

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
	size_t room;

	buf_addc(&end, '.');
	add_gaps(&end, gaps);
	if (buf_error(text) || buf_error(&end) || end.len >= EVENT_NOTE_MAX)
		return false;
	room = EVENT_NOTE_MAX - 1 - end.len;
	snprintf(ret->note, sizeof(ret->note), "%.*s%s", (int)(text->len < room ? text->len : room),
		 buf_str(text), buf_str(&end));
	return true;
}

/* --- verdicts ----------------------------------------------------------------------------------- */

/* The note of a kind of death; false: it is not worth an Event. */
typedef bool (*note_fn)(struct buf *note, const struct record_stop *r);

static bool note_grace(struct buf *note, const struct record_stop *r)
{
	if (!r->kill_signal.known || !r->stop_signal.known)
		return false;
	add_kill(note, r);
	add_grace(note, &r->grace);
	if (r->deaf)
		buf_adds(note, "; PID 1 never received the stop signal");
	return true;
}

static bool note_kill(struct buf *note, const struct record_stop *r)
{
	if (!r->kill_signal.known)
		return false;
	add_kill(note, r);
	if (r->cause == CAUSE_KILLED_EARLY)
		add_grace(note, &r->grace);
	if (r->cause == CAUSE_GRACE_EXPIRED)
		buf_adds(note, "; its grace period is not known");
	else
		buf_printf(note, " (%s)", cause_name(r->cause));
	return true;
}

static bool note_lost(struct buf *note, const struct record_stop *r)
{
	if (!r->kill_signal.known)
		return false;
	buf_adds(note, "The process that kept it was lost");
	if (r->keeper_signal.known) {
		buf_adds(note, ": SIGKILL from ");
		add_sender(note, &r->keeper_signal.sender);
	}
	buf_adds(note, "; then ");
	add_kill(note, r);
	return true;
}

static bool note_fatal_signal(struct buf *note, const struct record_stop *r)
{
	if (!r->exit.known || !(r->exit.status & 0x7f) || record_may_be_terminal(r))
		return false;
	add_signal(note, r->exit.status & 0x7f);
	buf_printf(note, " ended it; its sender was not the container itself (%s)",
		   cause_name(r->cause));
	return true;
}

static bool note_oom(struct buf *note, const struct record_stop *r)
{
	static const char *const levels[CAUSE_COUNT] = {
		[CAUSE_OOM_CONTAINER] = "at the memory limit of the container",
		[CAUSE_OOM_POD] = "at the memory limit of the pod",
		[CAUSE_OOM_NODE] = "as the node ran out of memory",
		[CAUSE_OOM_UNKNOWN] = "at which limit is not known",
	};

	buf_printf(note, "The OOM killer ended it, %s", levels[r->cause]);
	return true;
}

static bool note_oom_daemon(struct buf *note, const struct record_stop *r)
{
	buf_adds(note, "Ended as memory ran short, by ");
	add_sender(note, r->kill_signal.known ? &r->kill_signal.sender : &r->stop_signal.sender);
	return true;
}

static const struct worth {
	enum outcome outcome;
	uint32_t causes; /* bits 1 << enum cause */
	bool timed;	 /* with a grace period that is known */
	const char *reason;
	note_fn note;
} worths[] = {
	{OUTCOME_KILLED, 1u << CAUSE_GRACE_EXPIRED, true, "GraceExceeded", note_grace},
	/* Where no source provides the period, a kill at any time is said to be at its end. */
	{OUTCOME_KILLED, 1u << CAUSE_GRACE_EXPIRED, false, "KilledBy", note_kill},
	{OUTCOME_KILLED, 1u << CAUSE_RUNTIME_LOST, false, "KilledBy", note_lost},
	{OUTCOME_KILLED, ~(1u << CAUSE_UNKNOWN | 1u << CAUSE_GRACE_EXPIRED), false, "KilledBy",
	 note_kill},
	{OUTCOME_CRASHED, 1u << CAUSE_SAME_POD | 1u << CAUSE_OTHER_POD | 1u << CAUSE_HOST, false,
	 "KilledBy", note_fatal_signal},
	{OUTCOME_TERMINATED, 1u << CAUSE_SAME_POD | 1u << CAUSE_OTHER_POD | 1u << CAUSE_HOST, false,
	 "KilledBy", note_fatal_signal},
	{OUTCOME_OOM_KILLED,
	 1u << CAUSE_OOM_CONTAINER | 1u << CAUSE_OOM_POD | 1u << CAUSE_OOM_NODE |
		 1u << CAUSE_OOM_UNKNOWN,
	 false, "OOMKilledBy", note_oom},
	{OUTCOME_OOM_KILLED, 1u << CAUSE_OOM_USERSPACE, false, "OOMKilledBy", note_oom_daemon},
};

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

	if (!worth || !r->exit.known || r->gaps & GAPS_OF_DOUBT ||
	    !take_subject(&r->pod, &r->container, ret))
		return false;
	ret->reason = worth->reason;
	ret->action = "Killing";
	ret->cause = cause_name(r->cause);
	ret->warning = true;
	return worth->note(&note, r) && take_note(ret, &note, r->gaps);
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
	buf_adds(&note, "PID 1 (");
	add_visible(&note, r->target.comm ?: "");
	buf_adds(&note, ") has no handler for ");
	add_signal(&note, r->number);
	buf_adds(&note, ", the stop signal from ");
	add_sender(&note, &r->sender);
	buf_adds(&note, ": the kernel discarded it");
	if (r->reason == UNHEARD_SHELL)
		buf_adds(&note, "; PID 1 is a shell in front of the application");
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
