/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates that openssl makes, and curl as a client that checks them, beside a site of
 * tests/lib/net/webc that serves meanwhile. */
#ifndef TESTS_LIB_NET_TLSC_H
#define TESTS_LIB_NET_TLSC_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "lib/net/webc.h"

/*
 * A directory with PEM files: server.crt and server.key for localhost, signed by itself; ca.crt;
 * client.crt, purpose.crt (for servers alone), stranger.crt (of another CA) with a .key of the same
 * name each. For cmocka's groups; false from tlsc_can() when a program is missing, which is printed.
 */
int tlsc_set_up(void **state);
int tlsc_tear_down(void **state);
bool tlsc_can(void);

/* The content of one of the files, for the caller to free. */
char *tlsc_read(const char *name);

struct tlsc {
	pid_t pid;
	int fd;
	bool ended;
	int status; /* when it has */
	struct buf out;
};

/* Starts a program in that directory, whose arguments are split at spaces; {} in them becomes
 * https://localhost:<the site's port>. Its output is kept, errors with it. */
void tlsc_start(const struct site *site, const char *command, struct tlsc *ret);
/* Turns the site until it has ended; the exit status. */
int tlsc_await(struct site *site, struct tlsc *c);
/* Whether it has ended, without waiting. */
bool tlsc_poll(struct tlsc *c);
void tlsc_done(struct tlsc *c);

/* Runs curl with these further arguments: its output holds the status of every request. The exit
 * status. */
int tlsc_curl(struct site *site, const char *arguments, struct buf *ret_out);

#endif
