/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of host names, without ever waiting for a name server: getaddrinfo() runs in a
 * child process (io/proc/child.h), so that /etc/hosts and /etc/nsswitch.conf count as everywhere
 * else; localhost and the names below it need no query. libcurl's own resolver is a thread that is
 * joined when a request ends, for as long as the name servers are silent.
 *
 * Addresses that were found once stay in use until a later query finds others: in a node's shutdown
 * the name servers are among the first to go. An address that is stale or wrong does no harm, since
 * a certificate is verified by name.
 */
#ifndef IO_FETCH_RESOLVE_H
#define IO_FETCH_RESOLVE_H

#include <stdint.h>

#include <systemd/sd-event.h>

#define RESOLVE_NAME_MAX 254

/* Names known at once; the one whose answer is the oldest makes way. */
#define RESOLVE_NAMES	  8
/* Addresses of a name that are used. */
#define RESOLVE_ADDRESSES 8

/* How long an answer counts as new: getaddrinfo() does not return for how long it is valid. */
#define RESOLVE_FRESH_NS    UINT64_C(60000000000)
/* When a query is given up. glibc gives up after half of it, without domains to search. */
#define RESOLVE_PATIENCE_NS UINT64_C(60000000000)

enum resolve_state {
	RESOLVE_PENDING, /* nothing is known, and a query is under way */
	RESOLVE_FOUND,
	RESOLVE_FAILED, /* nothing is known, and no query is under way */
};

/* The strings are valid until the event loop turns. */
struct resolve_result {
	enum resolve_state state;
	const char *addresses; /* FOUND: apart by commas, IPv6 in brackets */
	const char *error;     /* FAILED: why */
};

struct resolve;

/* changed() is called from the event loop when a query has ended. fresh_ns: RESOLVE_FRESH_NS, but
 * for tests. 0 or -errno. */
int resolve_new(sd_event *event, uint64_t fresh_ns, void (*changed)(void *userdata), void *userdata,
		struct resolve **ret);
/* Kills the children. */
struct resolve *resolve_free(struct resolve *r);

/* Begins a query for the name, unless there is one already or the last answer is new. A failure to
 * do so is the name's result. */
void resolve_query(struct resolve *r, const char *name);
struct resolve_result resolve_get(const struct resolve *r, const char *name);

#endif
