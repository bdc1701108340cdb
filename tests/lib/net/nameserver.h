/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Name servers in a network and a mount namespace of the test's own: a process that listens at the
 * three addresses which /etc/resolv.conf names there, and answers as the test wants, or not at all.
 * glibc waits 5 s, 3 s and 6 s for them in turn, and asks all of them twice.
 */
#ifndef TESTS_LIB_NET_NAMESERVER_H
#define TESTS_LIB_NET_NAMESERVER_H

#include <stdbool.h>

#define NAMESERVER_COUNT 3

/* The answer to every query, whatever its name. */
enum nameserver_mood {
	NAMESERVER_SILENT,
	NAMESERVER_LOOPBACK,  /* 127.0.0.1 */
	NAMESERVER_ELSEWHERE, /* 127.0.0.99 */
	NAMESERVER_MANY,      /* 127.1.0.1 to 127.1.0.100 */
	NAMESERVER_GARBAGE,   /* a header and noise */
	NAMESERVER_NXDOMAIN,
};

struct nameserver;

/*
 * Moves this process, which must have one thread, into namespaces of its own and starts the
 * servers. NULL, and *ret_why says what is missing, where that is not allowed here.
 */
struct nameserver *nameserver_open(const char **ret_why);
void nameserver_close(struct nameserver *ns);

/* From now on. Forgets what was heard. */
void nameserver_play(struct nameserver *ns, enum nameserver_mood mood);

/* How many queries for an IPv4 address came since, by all three together. */
unsigned int nameserver_heard(const struct nameserver *ns);

#endif
