// SPDX-License-Identifier: Apache-2.0
/* A table of users, each with the look-ups that wait and the child that has some of them now. */
#include "io/sources/files/homes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "io/files/fd.h"
#include "io/proc/child.h"
#include "io/proc/clock.h"
#include "io/sources/files/home_child.h"

#define PATIENCE_NS (2 * (uint64_t)NS_PER_S)
/* A user's children begin so far apart, after some that may come at once; and they compute for a
 * small part of the time, since what a user has written says how long one takes. */
#define PAUSE_NS    ((uint64_t)NS_PER_S / 4)
#define BURST_NS    (2 * (uint64_t)NS_PER_S)
#define REST	    8

struct home {
	struct source_homes *homes;
	uint32_t user;		       /* 0: free */
	struct home_question question; /* that the child has; n 0: it has been answered */
	struct home_query waiting[SOURCE_HOMES_WAITING];
	unsigned int n_waiting;

	struct child child;	     /* pid 0: none runs */
	sd_event_source *end;	     /* on the child's pidfd */
	sd_event_source *limit;	     /* of its time, or of the pause before the next one */
	uint64_t started_ns, due_ns; /* CLOCK_MONOTONIC; of the last one, of the next one */
};

struct source_homes {
	sd_event *event;
	struct source_sink sink;
	struct source_homes_options options;
	unsigned int children;
	struct home users[SOURCE_HOMES_USERS];
};

void source_homes_key(uint32_t user, const char *container_id,
		      char ret[static SOURCE_HOMES_KEY_SIZE])
{
	snprintf(ret, SOURCE_HOMES_KEY_SIZE, "%u/%s", user, container_id);
}

static void conclude(struct source_homes *h, uint32_t user, const char *id, enum meta_result result)
{
	char key[SOURCE_HOMES_KEY_SIZE];

	source_homes_key(user, id, key);
	h->sink.done(h->sink.userdata, META_PODMAN, key, result);
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool is_text(const char *text, size_t size)
{
	size_t len = strnlen(text, size), at = 0, n;
	uint32_t code;

	while (at < len) {
		n = utf8_decode(text + at, len - at, &code);
		if (!n)
			return false;
		at += n;
	}
	return len < size;
}

/* What a user can say, of the container that was asked about. */
static bool take(uint32_t user, const char *id, const struct meta_container *from,
		 struct meta_container *ret)
{
	*ret = (struct meta_container){
		.source = from->source,
		.kind = META_KIND_CONTAINER,
		.user = user,
		.known = from->known & (META_CTR_GRACE | META_CTR_ATTEMPT),
		.grace_ns = from->grace_ns,
		.attempt = from->attempt,
		.stop_signal = from->stop_signal <= 64 ? from->stop_signal : 0,
	};
	if (from->source != META_DOCKER && from->source != META_PODMAN)
		return false;
	if (!is_text(from->name, sizeof(from->name)) ||
	    !is_text(from->image, sizeof(from->image)) ||
	    !is_text(from->namespace_, sizeof(from->namespace_)) ||
	    !is_text(from->workload, sizeof(from->workload)))
		return false;
	strcpy(ret->id, id);
	strcpy(ret->name, from->name);
	strcpy(ret->image, from->image);
	strcpy(ret->namespace_, from->namespace_);
	strcpy(ret->workload, from->workload);
	return true;
}

/* The sink may call the source again: what was asked is copied first. */
static void settle(struct home *home, unsigned int i, enum meta_result result,
		   const struct meta_container *container)
{
	struct source_homes *h = home->homes;
	struct home_query *query = &home->question.queries[i];
	struct meta_container found;
	char id[META_ID_MAX];

	if (!query->id[0])
		return;
	strcpy(id, query->id);
	query->id[0] = '\0';
	if (result == META_FOUND && !take(home->user, id, container, &found))
		result = META_FAILED;
	if (result == META_FOUND)
		h->sink.container(h->sink.userdata, &found);
	conclude(h, home->user, id, result);
}

static void take_answers(struct home *home)
{
	struct home_answer answer;

	for (unsigned int n = 0; n < SOURCE_HOMES_WAITING; n++) {
		if (recv(home->child.fd, &answer, sizeof(answer), MSG_DONTWAIT) !=
		    (ssize_t)sizeof(answer))
			break;
		if (answer.index < home->question.n && answer.result <= META_FAILED)
			settle(home, answer.index, (enum meta_result)answer.result,
			       &answer.container);
	}
}

/* Of those that have none. */
static void fail_rest(struct home *home)
{
	for (unsigned int i = 0; i < home->question.n; i++)
		settle(home, i, META_FAILED, NULL);
	home->question.n = 0;
}

/* --- children --------------------------------------------------------------------------------- */

static void run(void *userdata, bool confined)
{
	setpriority(PRIO_PROCESS, 0, 19);
	home_child_run(userdata, confined);
}

static void begin_all(struct source_homes *h);

/* The child has ended, so that nothing here waits. */
static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct home *home = userdata;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t rested_ns = now_ns + REST * (now_ns - home->started_ns);

	take_answers(home);
	fail_rest(home);
	child_stop(&home->child);
	home->end = sd_event_source_disable_unref(home->end);
	home->limit = sd_event_source_disable_unref(home->limit);
	home->homes->children--;
	if (rested_ns > home->due_ns)
		home->due_ns = rested_ns;
	begin_all(home->homes);
	return 0;
}

/* One that waits for a disk ends later, and keeps its place. */
static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct home *home = userdata;

	if (home->child.pid) {
		kill(home->child.pid, SIGKILL);
		fail_rest(home);
	} else {
		home->limit = sd_event_source_disable_unref(home->limit);
		begin_all(home->homes);
	}
	return 0;
}

static int set_limit(struct home *home, uint64_t ns)
{
	home->limit = sd_event_source_disable_unref(home->limit);
	return sd_event_add_time_relative(home->homes->event, &home->limit, CLOCK_MONOTONIC,
					  ns / (uint64_t)NS_PER_US, 0, on_limit, home);
}

static int watch_child(struct home *home)
{
	const struct source_homes_options *o = &home->homes->options;
	_cleanup_(cleanup_close) int pidfd = (int)syscall(SYS_pidfd_open, home->child.pid, 0);
	int r;

	if (pidfd < 0)
		return -errno;
	r = sd_event_add_io(home->homes->event, &home->end, pidfd, EPOLLIN, on_end, home);
	if (r < 0)
		return r;
	sd_event_source_set_io_fd_own(home->end, true);
	TAKE_FD(pidfd);
	return set_limit(home, o->patience_ns ? o->patience_ns : PATIENCE_NS);
}

static void start(struct home *home, uint64_t now_ns)
{
	struct source_homes *h = home->homes;
	struct home_question *q = &home->question;
	uint64_t from_ns = now_ns > BURST_NS ? now_ns - BURST_NS : 0;

	*q = (struct home_question){
		.passwd = h->options.passwd, .user = home->user, .n = home->n_waiting};
	memcpy(q->queries, home->waiting, sizeof(q->queries));
	home->n_waiting = 0;
	home->limit = sd_event_source_disable_unref(home->limit);
	home->started_ns = now_ns;
	home->due_ns = (home->due_ns > from_ns ? home->due_ns : from_ns) + PAUSE_NS;
	if (child_start_privileged("graced-home", run, q, &home->child) >= 0) {
		if (watch_child(home) >= 0) {
			h->children++;
			return;
		}
		home->end = sd_event_source_disable_unref(home->end);
		home->limit = sd_event_source_disable_unref(home->limit);
		child_stop(&home->child);
	}
	fail_rest(home);
}

static void begin(struct home *home)
{
	struct source_homes *h = home->homes;
	uint64_t now_ns = clock_monotonic_ns();

	if (!home->n_waiting || home->child.pid || h->children >= SOURCE_HOMES_CHILDREN)
		return;
	if (h->options.at_once || home->due_ns <= now_ns)
		start(home, now_ns);
	else if (!home->limit && set_limit(home, home->due_ns - now_ns) < 0)
		start(home, now_ns);
}

static void begin_all(struct source_homes *h)
{
	for (size_t i = 0; i < SOURCE_HOMES_USERS; i++)
		begin(&h->users[i]);
}

/* --- look-ups --------------------------------------------------------------------------------- */

/* The user's own place, or that of the one who had no question for the longest time; NULL: all have
 * some. */
static struct home *place_of(struct source_homes *h, uint32_t user)
{
	struct home *idle = NULL;

	for (size_t i = 0; i < SOURCE_HOMES_USERS; i++) {
		struct home *at = &h->users[i];

		if (at->user == user)
			return at;
		if (!at->child.pid && !at->n_waiting && (!idle || at->due_ns < idle->due_ns))
			idle = at;
	}
	if (idle)
		*idle = (struct home){.homes = h, .user = user};
	return idle;
}

static bool is_container_id(const char *id)
{
	return strlen(id) == CGPATH_ID_LEN && strspn(id, "0123456789abcdef") == CGPATH_ID_LEN;
}

static bool is_asked(const struct home *home, const char *id)
{
	for (unsigned int i = 0; i < home->n_waiting; i++)
		if (strcmp(home->waiting[i].id, id) == 0)
			return true;
	for (unsigned int i = 0; i < home->question.n; i++)
		if (strcmp(home->question.queries[i].id, id) == 0)
			return true;
	return false;
}

void source_homes_find(struct source_homes *h, uint32_t user, const char *container_id,
		       enum cgpath_runtime runtime)
{
	bool known = runtime == CGPATH_RT_PODMAN || runtime == CGPATH_RT_DOCKER ||
		     runtime == CGPATH_RT_UNKNOWN;
	struct home_query *query;
	struct home *home;

	if (!user || !known || !is_container_id(container_id)) {
		conclude(h, user, container_id, META_ABSENT);
		return;
	}
	home = place_of(h, user);
	if (home && is_asked(home, container_id))
		return;
	if (!home || home->n_waiting == SOURCE_HOMES_WAITING) {
		conclude(h, user, container_id, META_SHED);
		return;
	}
	query = &home->waiting[home->n_waiting++];
	*query = (struct home_query){.runtime = runtime};
	strcpy(query->id, container_id);
	begin(home);
}

int source_homes_new(sd_event *event, const struct source_homes_options *options,
		     const struct source_sink *sink, struct source_homes **ret)
{
	struct source_homes *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->event = sd_event_ref(event);
	h->sink = *sink;
	if (options)
		h->options = *options;
	*ret = h;
	return 0;
}

struct source_homes *source_homes_free(struct source_homes *h)
{
	if (!h)
		return NULL;
	for (size_t i = 0; i < SOURCE_HOMES_USERS; i++) {
		h->users[i].end = sd_event_source_disable_unref(h->users[i].end);
		h->users[i].limit = sd_event_source_disable_unref(h->users[i].limit);
		child_stop(&h->users[i].child);
	}
	sd_event_unref(h->event);
	free(h);
	return NULL;
}
