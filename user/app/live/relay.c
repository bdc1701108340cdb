// SPDX-License-Identifier: Apache-2.0
#include "app/live/relay.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "app/config/run_dir.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "io/control/control.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "wire/json/record.h"

/* How long a daemon may take to answer where attaching is as good, and where it is asked for. */
#define QUICK_MS 200
#define ASKED_MS 5000

#define READ_BYTES (64u << 10)

struct relay {
	struct relay_config config;
	int fd;
	sd_event_source *io;
	struct buf got; /* a line that is not whole, at the end */
	bool pods;
	uint64_t dropped, unreadable, newer;
	uint64_t asked_ns; /* CLOCK_MONOTONIC; 0: no answer is awaited */
	uint64_t left;	   /* lines of the answer that are still to come */
	bool silent;	   /* none came, which was logged */
};

/* --- on which terms ---------------------------------------------------------------------------- */

static void add_list(struct buf *out, const char *name, const char *const *list)
{
	buf_printf(out, "\n%s", name);
	for (; *list; list++)
		buf_printf(out, " %s", *list);
}

void relay_add_terms(struct buf *out, const struct options *o)
{
	buf_printf(out, "scope %s\nnames %s\nassumed-grace %" PRIu64,
		   engine_scope_name(o->engine.scope), o->no_names ? "none" : "all",
		   o->engine.assumed_grace_ns);
	add_list(out, "roots", o->roots);
	add_list(out, "nested", o->nested);
}

static bool has_own_sources(const struct options *o, const struct options *usual)
{
	const struct sources_options *a = &o->sources, *b = &usual->sources;

	/* Defaults are the same strings, and what was given is not. */
	return o->log_dir != usual->log_dir || a->cri_endpoint != b->cri_endpoint ||
	       a->docker_root != b->docker_root || a->podman_root != b->podman_root ||
	       a->containerd_state != b->containerd_state ||
	       a->kubelet_socket != b->kubelet_socket || a->kubelet.url != b->kubelet.url ||
	       a->kubelet.ca != b->kubelet.ca || a->kubelet.server_name != b->kubelet.server_name ||
	       a->kubelet.token_file != b->kubelet.token_file;
}

/* The option that was given with which no daemon can be followed, as it is written, or NULL. */
static const char *own_option(const struct options *o)
{
	struct options usual;

	options_init(&usual, o->command);
	if (o->attach)
		return "--attach";
	if (o->record)
		return "--record";
	if (o->hierarchy)
		return "--hierarchy";
	if (o->ring_bytes != usual.ring_bytes)
		return "--ring-size";
	if (o->no_group_dead)
		return "--no-group-dead";
	if (o->debug)
		return "--debug";
	if (o->engine.name_wait_ns != usual.engine.name_wait_ns)
		return "--names.wait";
	return has_own_sources(o, &usual) ? "a source of names" : NULL;
}

int relay_check(const struct options *o)
{
	const char *own = o->socket ? own_option(o) : NULL;

	if (!own)
		return 0;
	return say_usage(o->command,
			 "--control.socket names a daemon to follow, which does not go with %s",
			 own);
}

/* --- lines ------------------------------------------------------------------------------------- */

static void end_answer(struct relay *relay)
{
	relay->asked_ns = 0;
	relay->silent = false;
	relay->config.stopping(relay->config.userdata, NULL);
}

/* Whether the line begins an answer. */
static bool begin_answer(struct relay *relay, const char *line, size_t len)
{
	struct control_why why = {};
	int r;

	if (!relay->asked_ns)
		return false;
	r = control_read_head(line, len, &relay->left, &why);
	if (r == -EREMOTEIO) {
		if (!relay->silent)
			say("the daemon does not list what is stopping: %s", why.text);
		relay->silent = true;
		relay->asked_ns = 0;
	} else if (r == 0 && !relay->left) {
		end_answer(relay);
	}
	return r == 0 || r == -EREMOTEIO;
}

static void take_answer(struct relay *relay, const char *line, size_t len)
{
	const struct relay_config *c = &relay->config;
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;

	if (record_read(line, len, RECORDS_ALL, &arena, &record) < 0)
		relay->unreadable++;
	else if (record.type == RECORD_STOP)
		c->stopping(c->userdata, &record.stop);
	else
		c->record(c->userdata, &record, line, len);
	relay->left--;
	if (!relay->left)
		end_answer(relay);
}

static void take_line(struct relay *relay, const char *line, size_t len)
{
	const struct relay_config *c = &relay->config;
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	bool dropped;
	int r;

	if (relay->left) {
		take_answer(relay, line, len);
		return;
	}
	r = record_read(line, len, RECORDS_ALL, &arena, &record);
	if (r == 0) {
		if (record.type == RECORD_ATTACHED)
			record.attached.pods = relay->pods;
		dropped = record.type == RECORD_DROPPED;
		if (dropped)
			relay->dropped += record.dropped.records;
		c->record(c->userdata, dropped ? NULL : &record, line, len);
		return;
	}
	if (r != -EBADMSG)
		relay->newer++;
	else if (!begin_answer(relay, line, len))
		relay->unreadable++;
}

/* Hands on whole lines. False: what comes is no line of a record. */
static bool take_lines(struct relay *relay)
{
	const char *at = buf_str(&relay->got), *end = at + relay->got.len, *newline;
	size_t left;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		take_line(relay, at, (size_t)(newline + 1 - at));
		at = newline + 1;
	}
	left = (size_t)(end - at);
	if (left && at != relay->got.data)
		memmove(relay->got.data, at, left);
	buf_truncate(&relay->got, left);
	return left <= RECORD_LINE_MAX;
}

static void end(struct relay *relay)
{
	sd_event_source_set_enabled(relay->io, SD_EVENT_OFF);
	relay->config.ended(relay->config.userdata);
}

static int on_lines(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct relay *relay = userdata;
	char *at = buf_reserve(&relay->got, READ_BYTES);
	ssize_t n = at ? recv(fd, at, READ_BYTES, MSG_DONTWAIT) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0) {
		buf_commit(&relay->got, (size_t)n);
		if (take_lines(relay))
			return 0;
		say("the daemon sends what is no record, and is followed no longer");
	} else if (!at) {
		say("there is no memory for the daemon's records, and it is followed no longer");
	} else {
		say("the daemon that was followed has ended, and later stops are not shown; begin "
		    "again to follow the next one, or to attach");
	}
	end(relay);
	return 0;
}

/* --- opening ----------------------------------------------------------------------------------- */

static int refuse(const char *socket, const char *why)
{
	say("cannot follow the daemon at %s: %s; without --control.socket, or with --attach, "
	    "programs are attached",
	    socket, why);
	return -EPERM;
}

static const char *path_of(const struct options *o, char buffer[static PATH_MAX])
{
	return control_socket_path(o->socket, buffer);
}

/* 1, 0 or -errno as relay_open(). */
static int follow(struct relay *relay)
{
	const struct options *o = relay->config.options;
	_cleanup_(buf_free) struct buf terms = {};
	struct control_follow answer;
	struct control_why why = {};
	char buffer[PATH_MAX];
	const char *path = path_of(o, buffer);
	int r = control_follow(path, relay->config.signals, o->socket ? ASKED_MS : QUICK_MS,
			       &relay->fd, &answer, &relay->got, &why);

	if (r < 0)
		return o->socket ? refuse(path, why.text) : 0;
	relay_add_terms(&terms, o);
	relay->pods = answer.pods;
	if (buf_error(&terms) == 0 && strcmp(answer.terms, buf_str(&terms)) == 0)
		return 1;
	return o->socket ? refuse(path, "it watches other containers than are asked for") : 0;
}

int relay_open(const struct relay_config *config, sd_event *event, struct relay **ret)
{
	struct relay *relay;
	int r;

	if (own_option(config->options))
		return 0;
	relay = calloc(1, sizeof(*relay));
	if (!relay)
		return 0;
	relay->config = *config;
	relay->fd = -1;
	r = follow(relay);
	if (r > 0 && sd_event_add_io(event, &relay->io, relay->fd, EPOLLIN, on_lines, relay) < 0)
		r = 0;
	if (r <= 0) {
		relay_free(relay);
		return r;
	}
	*ret = relay;
	return 1;
}

struct relay *relay_free(struct relay *relay)
{
	if (!relay)
		return NULL;
	sd_event_source_disable_unref(relay->io);
	cleanup_close(&relay->fd);
	buf_free(&relay->got);
	free(relay);
	return NULL;
}

void relay_begin(struct relay *relay)
{
	take_lines(relay);
}

int relay_pause(struct relay *relay, bool paused)
{
	return sd_event_source_set_enabled(relay->io, paused ? SD_EVENT_OFF : SD_EVENT_ON);
}

/* --- questions --------------------------------------------------------------------------------- */

/* One line may stand for several whose names are not known yet. */
static void take_container(const char *line, size_t len, engine_container_fn fn, void *userdata)
{
	struct engine_running running = {.unanswered = control_read_querying(line, len) > 0};
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;

	if (running.unanswered)
		fn(userdata, &running);
	if (running.unanswered || record_read(line, len, 1u << RECORD_EMPTY, &arena, &record) < 0)
		return;
	running.pod = record.empty.pod;
	running.container = record.empty.container;
	fn(userdata, &running);
}

void relay_each_container(struct relay *relay, engine_container_fn fn, void *userdata)
{
	const struct control_request request = {.command = CONTROL_CONTAINERS};
	struct control_answer answer = {};
	struct control_why why;
	char buffer[PATH_MAX];
	const char *newline;

	if (control_query(path_of(relay->config.options, buffer), &request, QUICK_MS, -1, &answer,
			  &why) < 0)
		fn(userdata, &(struct engine_running){.unanswered = true});
	for (const char *at = buf_str(&answer.text); (newline = strchr(at, '\n')); at = newline + 1)
		take_container(at, (size_t)(newline - at), fn, userdata);
	buf_free(&answer.text);
}

/* A question that finds no room on its way was not sent: the next call tries again. */
void relay_query_stopping(struct relay *relay)
{
	const struct control_request request = {.command = CONTROL_STOPPING};
	_cleanup_(buf_free) struct buf line = {};
	uint64_t now = clock_monotonic_ns();

	if (relay->asked_ns) {
		if (!relay->silent && now - relay->asked_ns > ASKED_MS * NS_PER_MS)
			say("the daemon does not answer: what stands under STOPPING may be over");
		relay->silent |= now - relay->asked_ns > ASKED_MS * NS_PER_MS;
		return;
	}
	control_add_request(&line, &request);
	if (send(relay->fd, buf_str(&line), line.len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	    (ssize_t)line.len)
		relay->asked_ns = now;
}

uint64_t relay_missed(const struct relay *relay)
{
	return relay->dropped + relay->newer + relay->unreadable;
}

void relay_log_losses(const struct relay *relay)
{
	if (relay->dropped)
		say("%" PRIu64 " records were dropped, as they were read too slowly",
		    relay->dropped);
	if (relay->newer)
		say("%" PRIu64 " %s left out", relay->newer,
		    relay->newer == 1 ? "record is of a newer graced, and was"
				      : "records are of a newer graced, and were");
	if (relay->unreadable)
		say("%" PRIu64 " %s", relay->unreadable,
		    relay->unreadable == 1 ? "line is no record" : "lines are no records");
}
