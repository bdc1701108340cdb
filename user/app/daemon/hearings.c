// SPDX-License-Identifier: Apache-2.0
/* Looks at inits in the daemon's loop, bounded by number, by time and by what a look reads. */
#include "app/daemon/hearings.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "app/live/monitor.h"
#include "app/log/log.h"
#include "core/stop/hearing.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"

#define TICK_US	 2000000
#define GRAIN_US 500000

/* In one tick: no more looks, and none begins later than that after the first. */
#define LOOKS_MAX     8
#define LOOKS_TIME_NS 2000000

/* Threads, or open files, that one look reads: 1 to 2 ms. What has more, and is not decided by
 * these, is unknown. */
#define READS_MAX 256

struct hearings {
	struct monitor *monitor;
	struct hearing hearing;
	sd_event_source *tick;
};

/* What a process does that may not be the init says nothing. */
static bool is_wanted(const struct engine_running *running)
{
	enum record_container_kind kind = running->container.kind;

	return !running->unanswered && !running->guessed &&
	       (kind == CONTAINER_KIND_CONTAINER || kind == CONTAINER_KIND_SERVICE);
}

/* Without memory or room it stays unknown. */
static void see(void *userdata, const struct engine_running *running)
{
	struct hearings *h = userdata;
	const struct hearing_init init = {
		.id = running->id,
		.start_ns = running->start_ns,
		.pid = running->pid,
		.ns_pid = running->ns_pid,
		.signal = running->stop_signal ? running->stop_signal : SIGTERM,
	};

	if (is_wanted(running))
		hearing_seen(&h->hearing, &init);
}

static struct audit look(struct hearing_init *init)
{
	const struct audit unknown = {.verdict = AUDIT_UNKNOWN, .reason = AUDIT_ACCESS};
	struct audit_facts facts = {
		.signal = init->signal, .shielded = init->ns_pid == 1, .runs = init->runs};
	pid_t pid = (pid_t)init->pid;
	struct procfs_proc proc;

	if (procfs_read(pid, init->id, &proc) < 0)
		return unknown;
	facts.shell.is_shell = audit_is_shell(proc.proc.exe, proc.proc.comm);
	facts.shell.in_front = facts.shell.is_shell && procfs_has_child(pid);
	if (procfs_sig_read(pid, READS_MAX, &facts) < 0 ||
	    !procfs_is_process(pid, init->start_ns) || !procfs_alive(pid, init->start_ns))
		return unknown;
	init->runs = facts.runs;
	return audit_judge(&facts);
}

static void look_at_due(struct hearings *h)
{
	uint64_t begin_ns = clock_boot_ns();
	struct hearing_init init;
	struct audit audit;

	for (int i = 0; i < LOOKS_MAX && clock_boot_ns() - begin_ns < LOOKS_TIME_NS; i++) {
		if (!hearing_next(&h->hearing, begin_ns, &init))
			return;
		audit = look(&init);
		hearing_take(&h->hearing, &init, &audit, begin_ns);
	}
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct hearings *h = userdata;

	engine_each_container(monitor_engine(h->monitor), see, h);
	hearing_end_round(&h->hearing);
	look_at_due(h);
	return timer_after(source, TICK_US);
}

bool hearings_get(const struct hearings *h, const struct engine_running *running, struct audit *ret)
{
	return hearing_get(&h->hearing, running->id, running->start_ns, ret);
}

int hearings_new(struct monitor *m, struct hearings **ret)
{
	struct hearings *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	h->monitor = m;
	r = sd_event_add_time_relative(monitor_event(m), &h->tick, CLOCK_MONOTONIC, TICK_US,
				       GRAIN_US, on_tick, h);
	if (r < 0) {
		log_error("cannot audit containers: %s", strerror(-r));
		free(h);
		return r;
	}
	*ret = h;
	return 0;
}

struct hearings *hearings_free(struct hearings *h)
{
	if (!h)
		return NULL;
	sd_event_source_disable_unref(h->tick);
	hearing_done(&h->hearing);
	free(h);
	return NULL;
}
