// SPDX-License-Identifier: Apache-2.0
/*
 * Gives libcurl the addresses of the host that a request goes to, and keeps it from looking for
 * them itself: its resolver is a thread that it joins when the request ends, so that silent name
 * servers would hold the loop for as long as they are silent. CURLOPT_QUICK_EXIT, of 7.87, leaves
 * a thread behind for every request instead.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "io/fetch/priv.h"
#include "io/proc/clock.h"

#define set(call, option, value) \
	((call)->fetch->curl.easy_setopt((call)->easy, CURLOPT_##option, value))

/* How long a request waits for an address. The query goes on without it, and serves the next one:
 * who wants to know whether a peer can be reached must not wait as long as glibc does. */
#define WAIT_NS UINT64_C(2000000000)

/* RFC 6761: these names have no other addresses. */
#define LOCALHOST "127.0.0.1,[::1]"

static void on_resolved(void *userdata)
{
	fetch_wake(userdata);
}

int fetch_names_open(struct fetch *f)
{
	return resolve_new(f->event, RESOLVE_FRESH_NS, on_resolved, f, &f->resolve);
}

static bool is_address(const char *host)
{
	unsigned char address[16];

	return host[0] == '[' || inet_pton(AF_INET, host, address) == 1;
}

static bool is_localhost(const char *name)
{
	static const char end[] = ".localhost";
	size_t len = strlen(name);

	return strcasecmp(name, "localhost") == 0 ||
	       (len >= sizeof(end) && strcasecmp(name + len - strlen(end), end) == 0);
}

bool fetch_names_has(const struct fetch *f, const char *host)
{
	return is_address(host) || is_localhost(host) ||
	       resolve_get(f->resolve, host).state == RESOLVE_FOUND;
}

/* What libcurl does where it finds no address that it was given. */
static int refuse_resolver(void *resolver, void *reserved, void *userdata)
{
	struct fetch_call *call = userdata;

	(void)resolver;
	(void)reserved;
	return call->name != NULL;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct fetch_call *call = userdata;

	(void)source;
	(void)usec;
	snprintf(call->trouble, sizeof(call->trouble),
		 "the address of %.80s is unknown: the name servers do not answer", call->name);
	fetch_fail(call, -EHOSTUNREACH);
	return 0;
}

int fetch_names_want(struct fetch_call *call, const char *host, const char *port)
{
	struct fetch *f = call->fetch;
	uint64_t wait_ns = WAIT_NS;
	int r;

	set(call, RESOLVER_START_FUNCTION, refuse_resolver);
	set(call, RESOLVER_START_DATA, call);
	if (is_address(host))
		return 0;
	if (strlen(host) >= RESOLVE_NAME_MAX)
		return -EINVAL;
	snprintf(call->port, sizeof(call->port), "%s", port);
	call->name = strdup(host);
	if (!call->name)
		return -ENOMEM;
	if (is_localhost(host))
		return 0;
	resolve_query(f->resolve, host);
	if (call->timeout_ns && call->timeout_ns < wait_ns)
		wait_ns = call->timeout_ns;
	r = sd_event_add_time_relative(f->event, &call->names, CLOCK_MONOTONIC, wait_ns / 1000,
				       1000, on_limit, call);
	return r < 0 ? r : 0;
}

/* The time that it waited counts. */
static void give_addresses(struct fetch_call *call, const char *addresses)
{
	_cleanup_(buf_free) struct buf entry = {};
	uint64_t waited_ns = clock_monotonic_ns() - call->asked_ns;

	call->names = sd_event_source_disable_unref(call->names);
	call->fetch->curl.slist_free_all(call->resolved);
	buf_printf(&entry, "%s:%s:%s", call->name, call->port, addresses);
	call->resolved = call->fetch->curl.slist_append(NULL, buf_str(&entry));
	set(call, RESOLVE, call->resolved);
	if (call->timeout_ns)
		set(call, TIMEOUT_MS,
		    fetch_request_ms(waited_ns < call->timeout_ns ? call->timeout_ns - waited_ns
								  : 1));
}

bool fetch_names_admit(struct fetch_call *call)
{
	struct resolve_result result;

	if (!call->name)
		return true;
	if (is_localhost(call->name)) {
		give_addresses(call, LOCALHOST);
		return true;
	}
	result = resolve_get(call->fetch->resolve, call->name);
	if (result.state == RESOLVE_FOUND) {
		give_addresses(call, result.addresses);
		return true;
	}
	if (result.state == RESOLVE_PENDING)
		return false;
	snprintf(call->trouble, sizeof(call->trouble), "the address of %.80s is unknown: %s",
		 call->name, result.error);
	fetch_fail(call, -EHOSTUNREACH);
	return false;
}

void fetch_names_release(struct fetch_call *call)
{
	call->names = sd_event_source_disable_unref(call->names);
	free(call->name);
	call->name = NULL;
}
