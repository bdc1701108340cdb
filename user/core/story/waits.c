// SPDX-License-Identifier: Apache-2.0
/* What a stop waited for, in words. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "core/story/part.h"
#include "core/story/phrase.h"

/* The pid that a process has in its container; 0: not known. */
static uint32_t own_pid(const struct record_stop *stop, uint32_t pid)
{
	const struct record_member *m = record_find_member(stop, pid);

	if (m && m->process.ns_pid)
		return m->process.ns_pid;
	for (size_t i = 0; i < stop->n_waited_for; i++)
		if (stop->waited_for[i].pid == pid && stop->waited_for[i].ns_pid)
			return stop->waited_for[i].ns_pid;
	return pid == stop->process.pid ? stop->process.ns_pid : 0;
}

/* Its number is that of its container; the host's is marked, where that is not known. */
static void add_who(struct buf *out, const struct record_stop *stop, uint32_t pid, const char *comm)
{
	uint32_t own = own_pid(stop, pid);

	phrase_add_comm(out, comm);
	buf_printf(out, own ? "[%u]" : "[%u on the host]", own ?: pid);
}

static void add_peer(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	const struct record_member *m = record_find_member(stop, w->peer_pid);

	add_who(out, stop, w->peer_pid, m ? m->process.comm : w->peer_comm);
}

static void add_where(struct buf *out, const struct wait *w)
{
	if (!w->wchan[0])
		return;
	buf_adds(out, " (in ");
	utf8_add_readable(out, w->wchan);
	buf_addc(out, ')');
}

static void add_file(struct buf *out, const char *before, const struct wait *w)
{
	buf_adds(out, before);
	if (w->file[0])
		utf8_add_readable(out, w->file);
	else
		buf_adds(out, "a file");
}

static void add_io(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	if (!w->pid) {
		buf_adds(out, "it had stalled for I/O for ");
		phrase_add_time(out, 0, w->time_ns);
		return;
	}
	buf_adds(out, " waited in the kernel for a file or a device");
	add_where(out, w);
}

static void add_kernel(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, " waited in the kernel, uninterruptible");
	add_where(out, w);
}

static void add_write(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	add_file(out, " was blocked in a write to ", w);
	if (!w->peer_pid)
		return;
	buf_adds(out, ", which ");
	if (w->peer_pid == w->pid)
		buf_adds(out, "it");
	else
		add_peer(out, stop, w);
	buf_adds(out, " has open for reading");
}

static void add_lock(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	add_file(out, " waited for the lock of ", w);
	if (!w->peer_pid)
		return;
	buf_adds(out, ", which ");
	add_peer(out, stop, w);
	buf_adds(out, " holds");
}

static void add_clients(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_printf(out, " had %" PRIu64 " client%s connected", w->count, w->count == 1 ? "" : "s");
	if (w->port)
		buf_printf(out, " at port %" PRIu32, w->port);
}

static void add_child(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	if (w->peer_pid) {
		buf_adds(out, wait_is_vfork(w)
				      ? " waited for its child to execute a program or end, "
				      : " had a child left, ");
		add_peer(out, stop, w);
	} else {
		buf_printf(out, " had %" PRIu64 " children left", w->count);
	}
}

static void add_tracer(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, " was stopped by its tracer");
	if (w->peer_pid)
		buf_printf(out, ", pid %" PRIu32 " on the host", w->peer_pid);
}

static void add_cpu(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, "its CPU limit had held it back for ");
	phrase_add_time(out, 0, w->time_ns);
}

static void add_memory(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, "it had stalled for memory for ");
	phrase_add_time(out, 0, w->time_ns);
}

static void add_fork(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_printf(out, "%" PRIu64 " fork%s had failed", w->count, w->count == 1 ? "" : "s");
	if (w->limit)
		buf_printf(out, " at its limit of %" PRIu64 " process%s", w->limit,
			   w->limit == 1 ? "" : "es");
}

static void add_frozen(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, w->pid ? " was frozen" : "it was frozen");
}

static void add_stopped(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, " was stopped by a signal");
}

static void add_handler(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	buf_adds(out, " was still computing");
}

static void add_sleep(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	const char *call = look_call_name(w->call);

	buf_adds(out, " slept");
	if (call && w->call != LOOK_CALL_OTHER)
		buf_printf(out, " in a %s", call);
	add_where(out, w);
}

typedef void (*add_fn)(struct buf *out, const struct record_stop *stop, const struct wait *w);

static const add_fn words[WAIT_FOR_COUNT] = {
	[WAIT_FOR_THAW] = add_frozen,	  [WAIT_FOR_TRACER] = add_tracer,
	[WAIT_FOR_CONT] = add_stopped,	  [WAIT_FOR_IO] = add_io,
	[WAIT_FOR_KERNEL] = add_kernel,	  [WAIT_FOR_READER] = add_write,
	[WAIT_FOR_LOCK] = add_lock,	  [WAIT_FOR_CLIENTS] = add_clients,
	[WAIT_FOR_CPU] = add_cpu,	  [WAIT_FOR_FORK] = add_fork,
	[WAIT_FOR_MEMORY] = add_memory,	  [WAIT_FOR_CHILD] = add_child,
	[WAIT_FOR_HANDLER] = add_handler, [WAIT_FOR_TIME] = add_sleep,
};

void story_add_wait(struct buf *out, const struct record_stop *stop, const struct wait *w)
{
	if (w->what >= WAIT_FOR_COUNT || !words[w->what])
		return;
	if (w->pid)
		add_who(out, stop, w->pid, w->comm);
	words[w->what](out, stop, w);
}

bool story_waited(const struct record_stop *stop)
{
	return stop->n_waited_for && stop->stop_signal.known;
}

void story_add_waited(struct buf *out, const struct record_stop *stop)
{
	phrase_add_time(out, stop->stop_signal.at_ns, stop->waited_for[0].at_ns);
	buf_adds(out, " after ");
	phrase_add_signal(out, stop->stop_signal.number);
	buf_addc(out, ' ');
	story_add_wait(out, stop, stop->waited_for);
}
