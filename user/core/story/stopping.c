// SPDX-License-Identifier: Apache-2.0
/* How a stop that is under way stands. */
#include <string.h>

#include "base/duration.h"
#include "core/story/part.h"
#include "core/story/phrase.h"

/* "runc[700] (the runtime) sent SIGTERM to app[1] 4.20s ago" */
static void add_sent(struct buf *out, const struct record_stop *stop,
		     const struct record_sigref *signal, uint64_t now_ns)
{
	phrase_add_culprit(out, stop, &signal->sender);
	buf_adds(out, " sent ");
	phrase_add_signal(out, signal->number);
	buf_adds(out, " to ");
	phrase_add_init(out, stop);
	buf_addc(out, ' ');
	phrase_add_time(out, signal->at_ns, now_ns);
	buf_adds(out, " ago");
}

static bool is_unheard(const struct record_stop *stop)
{
	return stop->stop_signal.known && (stop->deaf || stop->reason);
}

uint64_t story_taken_ns(const struct record_stop *stop)
{
	for (size_t i = 0; !stop->deliver_ns && i < RECORD_REQUESTS; i++)
		if (stop->requests[i].number && stop->requests[i].at_ns == stop->stop_signal.at_ns)
			return stop->requests[i].taken_ns;
	return stop->deliver_ns;
}

static bool is_taken(const struct record_stop *stop)
{
	return stop->stop_signal.known && !is_unheard(stop) && story_taken_ns(stop);
}

static bool is_open(const struct record_stop *stop)
{
	return stop->stop_signal.known && !is_unheard(stop) && !story_taken_ns(stop);
}

static void add_unheard(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	phrase_add_init(out, stop);
	buf_addc(out, ' ');
	phrase_add_reason(out, stop);
}

static void add_taken(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	buf_adds(out, "it took that after ");
	phrase_add_time(out, stop->stop_signal.at_ns, story_taken_ns(stop));
	buf_adds(out, " and has not ended");
}

static void add_open(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	buf_adds(out, "that it took it was not seen");
}

static bool has_request(const struct record_stop *stop)
{
	return stop->stop_signal.known;
}

/* The command that can give a stop another period than its container has, which no source shows. */
static const char *other_grace(const struct record_stop *stop)
{
	static const char *const commands[] = {
		[CGPATH_RT_UNKNOWN] = "docker stop -t",
		[CGPATH_RT_CONTAINERD] = "nerdctl stop -t",
		[CGPATH_RT_DOCKER] = "docker stop -t",
		[CGPATH_RT_PODMAN] = "podman stop -t",
	};
	enum cgpath_runtime runtime = stop->container.runtime;

	if (stop->pod.known ||
	    (stop->grace.from != GRACE_RUNTIME && stop->grace.from != GRACE_ASSUMED))
		return NULL;
	return runtime < sizeof(commands) / sizeof(*commands) ? commands[runtime] : NULL;
}

static void add_grace(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	uint64_t used = now_ns > stop->stop_signal.at_ns ? now_ns - stop->stop_signal.at_ns : 0;
	const struct grace *grace = &stop->grace;
	char text[DURATION_SIZE];

	if (record_is_unmanaged(stop)) {
		buf_adds(out, "It has no grace period, as no manager asked");
		return;
	}
	if (!grace_known(grace)) {
		buf_adds(out, "How long its grace period is, is not known");
		return;
	}
	if (used < grace->ns)
		buf_printf(out, "%u%% of its ",
			   (unsigned int)((double)used / (double)grace->ns * 100));
	else
		buf_adds(out, "Its ");
	buf_printf(out, "%sgrace period of %s ", grace->from == GRACE_ASSUMED ? "assumed " : "",
		   duration_format(grace->ns, text));
	if (used < grace->ns)
		buf_printf(out, "is used: %s is left", duration_format(grace->ns - used, text));
	else
		buf_printf(out, "was over %s ago", duration_format(used - grace->ns, text));
	if (other_grace(stop))
		buf_printf(out, ", unless the stop was given another one (%s)", other_grace(stop));
}

static bool is_killed(const struct record_stop *stop)
{
	return stop->kill_signal.known;
}

static void add_killed(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	add_sent(out, stop, &stop->kill_signal, now_ns);
	buf_adds(out, ", and it has not ended");
}

static bool is_held(const struct record_stop *stop)
{
	return stop->held_by.process.pid;
}

static void add_holder(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	buf_adds(out, "It waits for ");
	phrase_add_process(out, &stop->held_by.process);
}

static void add_waited(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	story_add_waited(out, stop);
}

static void add_request(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	add_sent(out, stop, &stop->stop_signal, now_ns);
}

/* Each that applies follows the ones before, after what parts them. */
static const struct {
	bool (*applies)(const struct record_stop *stop);
	const char *between;
	void (*add)(struct buf *out, const struct record_stop *stop, uint64_t now_ns);
} clauses[] = {
	{has_request, "", add_request},	  {is_unheard, "; ", add_unheard},
	{is_taken, "; ", add_taken},	  {is_open, "; ", add_open},
	{has_request, ". ", add_grace},	  {is_killed, ". ", add_killed},
	{story_waited, ". ", add_waited}, {is_held, ". ", add_holder},
};

void story_add_stopping(struct buf *out, const struct record_stop *stop, uint64_t now_ns)
{
	bool first = true;

	for (size_t i = 0; i < sizeof(clauses) / sizeof(*clauses); i++) {
		if (!clauses[i].applies(stop))
			continue;
		buf_adds(out, first ? "" : clauses[i].between);
		clauses[i].add(out, stop, now_ns);
		first = false;
	}
	buf_addc(out, '.');
}
