// SPDX-License-Identifier: Apache-2.0
/* Writes rows and recording, and slows down for who reads them. */
#include "app/live/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "app/live/manager.h"
#include "app/log/say.h"
#include "wire/recording/recording.h"

/* How long a reader who has stopped reading can hold up the end. */
#define FINISH_MS 2000

static int write_header(struct manager *m, const struct engine_config *config)
{
	int r;

	buf_reset(&m->line);
	r = rec_write_header(&m->line, GRACED_VERSION);
	if (r >= 0)
		r = rec_options_write(&m->line, config);
	return r < 0 ? r : out_add(m->recording, buf_str(&m->line), m->line.len);
}

int outputs_record(struct manager *m, const struct engine_config *config)
{
	const char *path = m->options->record;
	struct stat st;
	int fd, r;

	if (!path)
		return 0;
	if (strcmp(path, "-") == 0)
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	/* It holds names of this host, and a file that was there keeps its mode. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && strcmp(path, "-") != 0)
		fchmod(fd, 0600);
	if (fd < 0) {
		say("cannot write %s: %s", path, strerror(errno));
		return -errno;
	}
	r = out_new(fd, true, true, &m->recording);
	if (r >= 0)
		r = write_header(m, config);
	if (r < 0)
		say("cannot begin the recording: %s", strerror(-r));
	return r;
}

/* The loop flushes after each turn; this only has to bring that turn about. */
static int on_output(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *m = userdata;

	if (revents & (EPOLLERR | EPOLLHUP))
		manager_end(m, 0);
	return 0;
}

static int watch_output(struct manager *m, struct out *out, sd_event_source **ret)
{
	int r;

	if (!out)
		return 0;
	r = sd_event_add_io(m->event, ret, out_fd(out), 0, on_output, m);
	/* A regular file cannot be polled and never has to be waited for. */
	return r == -EPERM ? 0 : r;
}

int outputs_watch(struct manager *m)
{
	int r = watch_output(m, m->sinks ? sinks_out(m->sinks) : NULL, &m->stdout_ready);

	return r < 0 ? r : watch_output(m, m->recording, &m->recording_ready);
}

void outputs_unwatch(struct manager *m)
{
	m->stdout_ready = sd_event_source_disable_unref(m->stdout_ready);
	m->recording_ready = sd_event_source_disable_unref(m->recording_ready);
}

/* Writes what is there. A reader that left ends the command, and is no failure. */
static void flush_out(struct manager *m, struct out *out, sd_event_source *ready, const char *name)
{
	int r;

	if (!out)
		return;
	r = out_flush(out);
	if (r == -EPIPE) {
		manager_end(m, 0);
	} else if (r < 0) {
		if (!m->ended || !m->status)
			say("cannot write %s: %s", name, strerror(-r));
		m->ended = true;
		m->status = 1;
	}
	if (ready)
		sd_event_source_set_io_events(ready, r == 1 ? EPOLLOUT : 0);
}

void outputs_flush(struct manager *m)
{
	struct out *out = m->sinks ? sinks_out(m->sinks) : NULL;
	bool behind;

	flush_out(m, out, m->stdout_ready, "standard output");
	flush_out(m, m->recording, m->recording_ready, m->options->record);
	if (m->sinks && sinks_full(m->sinks))
		manager_end(m, 0);
	behind = (out && out_is_behind(out)) || (m->recording && out_is_behind(m->recording));
	if (behind != m->paused && ring_pause(m->ring, behind) >= 0)
		m->paused = behind;
}

static void finish(struct manager *m, struct out *out, const char *name)
{
	int r = out ? out_finish(out, FINISH_MS) : 0;

	if (r == 1)
		say("%s was not read to the end", name);
	else if (r < 0 && r != -EPIPE && !m->status)
		say("cannot write %s: %s", name, strerror(-r));
	if (r == 1 || (r < 0 && r != -EPIPE))
		m->status = 1;
}

void outputs_finish(struct manager *m)
{
	if (m->sinks)
		finish(m, sinks_out(m->sinks), "standard output");
	finish(m, m->recording, m->options->record);
}
