// SPDX-License-Identifier: Apache-2.0
/* A table of names, each with what is known of it and the child that queries it now. */
#include "io/fetch/resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/child.h"
#include "io/proc/clock.h"

/* An address in brackets, and a comma. */
#define ADDRESS_TEXT (INET6_ADDRSTRLEN + 3)
#define LOCALHOST    "127.0.0.1,[::1]"

/* What the child sends, once. It may have fallen to a hostile name server: any bytes are valid. */
struct answer {
	int error; /* of getaddrinfo(), or UNCONFINED; 0: n addresses */
	unsigned int n;
	struct {
		int family;
		unsigned char bytes[16];
	} addresses[RESOLVE_ADDRESSES];
};

/* The child could do more than it should. getaddrinfo()'s errors are negative. */
#define UNCONFINED 1

struct entry {
	struct resolve *resolve;
	char name[RESOLVE_NAME_MAX]; /* "": free */
	char addresses[RESOLVE_ADDRESSES * ADDRESS_TEXT];
	char error[96];
	uint64_t answered_ns; /* CLOCK_MONOTONIC; 0: never */

	struct child child;	/* pid 0: none runs */
	sd_event_source *end;	/* on the child's pidfd */
	sd_event_source *limit; /* of its time */
};

struct resolve {
	sd_event *event;
	uint64_t fresh_ns;
	void (*changed)(void *userdata);
	void *userdata;
	struct entry entries[RESOLVE_NAMES];
};

/* --- the child -------------------------------------------------------------------------------- */

/* Link-local addresses need a scope, which libcurl does not take. */
static void add_address(struct answer *answer, const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;

	answer->addresses[answer->n].family = address->sa_family;
	if (address->sa_family == AF_INET)
		memcpy(answer->addresses[answer->n].bytes, &four->sin_addr, 4);
	else if (address->sa_family == AF_INET6 && !six->sin6_scope_id)
		memcpy(answer->addresses[answer->n].bytes, &six->sin6_addr, 16);
	else
		return;
	answer->n++;
}

static void run_child(void *userdata, bool confined)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct answer answer = {.error = UNCONFINED};
	struct addrinfo *list = NULL;

	if (confined)
		answer.error = getaddrinfo(userdata, NULL, &hints, &list);
	for (; list && answer.n < RESOLVE_ADDRESSES; list = list->ai_next)
		add_address(&answer, list->ai_addr);
	if (send(0, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
		child_end(1);
}

/* --- the table -------------------------------------------------------------------------------- */

static struct entry *find(const struct resolve *r, const char *name)
{
	for (size_t i = 0; i < RESOLVE_NAMES; i++)
		if (strcmp(r->entries[i].name, name) == 0)
			return (struct entry *)&r->entries[i];
	return NULL;
}

/* NULL when all are being queried. */
static struct entry *add(struct resolve *r, const char *name)
{
	struct entry *oldest = NULL;

	for (size_t i = 0; i < RESOLVE_NAMES; i++) {
		struct entry *at = &r->entries[i];

		if (!at->child.pid && (!oldest || at->answered_ns < oldest->answered_ns))
			oldest = at;
	}
	if (oldest) {
		*oldest = (struct entry){.resolve = r};
		strcpy(oldest->name, name);
	}
	return oldest;
}

static void format(const struct answer *answer, char *ret, size_t size)
{
	size_t at = 0;

	ret[0] = '\0';
	for (unsigned int i = 0; i < answer->n; i++) {
		bool six = answer->addresses[i].family == AF_INET6;
		char text[INET6_ADDRSTRLEN];

		inet_ntop(six ? AF_INET6 : AF_INET, answer->addresses[i].bytes, text, sizeof(text));
		at += (size_t)snprintf(ret + at, size - at, six ? "%s[%s]" : "%s%s", i ? "," : "",
				       text);
	}
}

static void fail(struct entry *e, const char *error)
{
	snprintf(e->error, sizeof(e->error), "%s", error);
}

static void take_answer(struct entry *e, const struct answer *answer)
{
	if (answer->error == UNCONFINED) {
		fail(e, "the process that resolves names cannot give up its privileges");
	} else if (answer->error) {
		fail(e, gai_strerror(answer->error));
	} else if (answer->n == 0) {
		fail(e, "No usable address");
	} else {
		format(answer, e->addresses, sizeof(e->addresses));
		e->answered_ns = clock_monotonic_ns();
	}
}

static void unwatch_child(struct entry *e)
{
	e->end = sd_event_source_disable_unref(e->end);
	e->limit = sd_event_source_disable_unref(e->limit);
}

/* The child has ended, so that nothing here waits. */
static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct answer answer;
	struct entry *e = userdata;
	ssize_t n = recv(e->child.fd, &answer, sizeof(answer), MSG_DONTWAIT);

	if (n == (ssize_t)sizeof(answer) && answer.n <= RESOLVE_ADDRESSES)
		take_answer(e, &answer);
	else
		fail(e, "The name servers do not answer");
	child_stop(&e->child);
	unwatch_child(e);
	e->resolve->changed(e->resolve->userdata);
	return 0;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct entry *e = userdata;

	kill(e->child.pid, SIGKILL);
	return 0;
}

static int watch_child(struct entry *e)
{
	_cleanup_(cleanup_close) int pidfd = (int)syscall(SYS_pidfd_open, e->child.pid, 0);
	int r;

	if (pidfd < 0)
		return -errno;
	r = sd_event_add_io(e->resolve->event, &e->end, pidfd, EPOLLIN, on_end, e);
	if (r < 0)
		return r;
	sd_event_source_set_io_fd_own(e->end, true);
	TAKE_FD(pidfd);
	return sd_event_add_time_relative(e->resolve->event, &e->limit, CLOCK_MONOTONIC,
					  RESOLVE_PATIENCE_NS / 1000, 1000000, on_limit, e);
}

static void start_child(struct entry *e)
{
	int r = child_start("graced-resolve", run_child, e->name, &e->child);

	if (r >= 0) {
		r = watch_child(e);
		if (r >= 0)
			return;
		child_stop(&e->child);
		unwatch_child(e);
	}
	fail(e, strerror(-r));
}

/* RFC 6761: these names have no other addresses than LOCALHOST. */
static bool is_localhost(const char *name)
{
	static const char end[] = ".localhost";
	size_t len = strlen(name);

	return strcasecmp(name, "localhost") == 0 ||
	       (len >= sizeof(end) && strcasecmp(name + len - strlen(end), end) == 0);
}

void resolve_query(struct resolve *r, const char *name)
{
	struct entry *e = find(r, name);

	if (is_localhost(name))
		return;
	if (!e)
		e = add(r, name);
	if (!e || e->child.pid)
		return;
	if (!e->answered_ns || clock_monotonic_ns() - e->answered_ns >= r->fresh_ns)
		start_child(e);
}

struct resolve_result resolve_get(const struct resolve *r, const char *name)
{
	const struct entry *e = find(r, name);

	if (is_localhost(name))
		return (struct resolve_result){.state = RESOLVE_FOUND, .addresses = LOCALHOST};
	if (!e)
		return (struct resolve_result){
			.state = RESOLVE_FAILED,
			.error = "Too many names are being resolved",
		};
	if (e->addresses[0])
		return (struct resolve_result){.state = RESOLVE_FOUND, .addresses = e->addresses};
	return (struct resolve_result){
		.state = e->child.pid ? RESOLVE_PENDING : RESOLVE_FAILED,
		.error = e->error,
	};
}

int resolve_new(sd_event *event, uint64_t fresh_ns, void (*changed)(void *userdata), void *userdata,
		struct resolve **ret)
{
	struct resolve *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->event = sd_event_ref(event);
	r->fresh_ns = fresh_ns;
	r->changed = changed;
	r->userdata = userdata;
	*ret = r;
	return 0;
}

struct resolve *resolve_free(struct resolve *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < RESOLVE_NAMES; i++)
		if (r->entries[i].child.pid) {
			child_stop(&r->entries[i].child);
			unwatch_child(&r->entries[i]);
		}
	sd_event_unref(r->event);
	free(r);
	return NULL;
}
