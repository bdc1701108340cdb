// SPDX-License-Identifier: Apache-2.0
/* When the last shutdown began and was over: in a file of the kubelet's form
 * (docs/kubelet-rules.md, "Shutdown state file"), for the next process and for metrics. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "app/config/run_dir.h"
#include "app/daemon/daemon.h"
#include "app/daemon/inhibitor_priv.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/state.h"
#include "io/proc/clock.h"

static void write_times(const struct inhibitor *in)
{
	_cleanup_(buf_free) struct buf text = {};
	char path[PATH_MAX];
	int r = shutstate_write(&text, &in->times);

	statedir_path(SHUTSTATE_FILE, path);
	if (r == 0)
		r = statefile_write(path, buf_str(&text), text.len);
	if (r < 0)
		log_info("cannot write %s: %s; a restart in this shutdown does not know when it "
			 "was announced",
			 path, strerror(-r));
}

/*
 * In this boot, on CLOCK_BOOTTIME; 0: it is of another one, or there is none.
 *
 * logind does not tell when it announced a shutdown. One that was called off and announced anew
 * while no process ran to hear it cannot be told from the first and counts from when that was: the
 * lock goes too early, perhaps at once, and never after logind's limit. A process that ran in
 * between has heard that none goes on.
 */
static uint64_t resumed_at(const struct shutstate *times)
{
	int64_t at;

	if (!times->started || times->ended ||
	    __builtin_sub_overflow(times->start_wall_ns, clock_wall_offset_ns(), &at) || at <= 0)
		return 0;
	return (uint64_t)at <= clock_boot_ns() ? (uint64_t)at : 0;
}

void inhibitor_read_times(struct inhibitor *in)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[PATH_MAX];
	ssize_t size;
	int r;

	statedir_path(SHUTSTATE_FILE, path);
	size = fd_read_all(AT_FDCWD, path, SHUTSTATE_MAX_SIZE, &text);
	if (size == -ENOENT)
		return;
	r = size < 0 ? (int)size : shutstate_read(text, (size_t)size, &in->times);
	if (r < 0) {
		log_info("%s cannot be used: %s", path,
			 r == -EBADMSG ? "it makes no sense" : strerror(-r));
		in->times = (struct shutstate){};
	}
	in->resumed_ns = resumed_at(&in->times);
}

static void end_at(struct inhibitor *in, int64_t wall_ns)
{
	if (!in->times.started || in->times.ended)
		return;
	in->times.ended = true;
	in->times.end_wall_ns = wall_ns;
	write_times(in);
}

void inhibitor_none_goes_on(struct inhibitor *in)
{
	if (in->resumed_ns)
		end_at(in, (int64_t)clock_wall_ns());
	in->resumed_ns = 0;
}

/* Before the lock is released, as processShutdownEvent() of the kubelet does. */
void inhibitor_note_end(struct inhibitor *in)
{
	struct shutdown_status status;
	struct shutdown_stats stats;

	if (engine_get_shutdown(in->manager->engine, &status, &stats) && status.going)
		end_at(in, (int64_t)clock_wall_ns());
}

void inhibitor_record(struct inhibitor *in, const struct record *record)
{
	const struct shutdown_record *told = &record->shutdown.told;

	if (record->type != RECORD_SHUTDOWN)
		return;
	if (told->told == SHUTDOWN_TOLD_CANCELLED)
		end_at(in, record->wall_ns);
	if (told->told != SHUTDOWN_TOLD_ANNOUNCED || in->resumed_ns)
		return;
	in->times = (struct shutstate){
		.started = true,
		.start_wall_ns = record->wall_ns - (int64_t)(told->at_ns - told->announced_ns),
	};
	write_times(in);
}
