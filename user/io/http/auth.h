/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may see the pages: users with bcrypt hashes, asked by HTTP's Basic scheme.
 *
 * bcrypt is meant to take long, 60 ms at the usual cost, so it is not done in the loop but by a
 * child process, one password at a time. It is a process and not a thread: it gives up all it could
 * do before the first stranger's password reaches it, and its CPU time is not counted as the
 * loop's. The server's first child is forked before anything is loaded. One that comes later, with
 * the first users or in the place of one that died, is a copy of the daemon as it is then: it
 * closes and unmaps what it would share with it, but keeps what was in memory, keys included, and
 * can do no more with that than answer. Each password that was right is known from then on (as a
 * keyed hash, under a key of this start), as are the last wrong ones. What a flood of others may
 * cost is bounded to a tenth of a CPU; those beyond that are turned away, while passwords that are
 * known go on being good. A user that does not exist takes as long as one that does.
 */
#ifndef IO_HTTP_AUTH_H
#define IO_HTTP_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "io/http/web.h"
#include "io/tls/gnutls.h"

enum webauth_verdict {
	WEBAUTH_YES,
	WEBAUTH_NO,
	WEBAUTH_WAIT, /* ask again after changed() */
	WEBAUTH_BUSY, /* ask again in a second or so */
};

struct webauth;

/*
 * Starts the child. With wait it waits until that is there, 5 s at most, and its errors are
 * returned; without, clients wait, and when it does not come up all are turned away. changed() is
 * called from the loop whenever asking again may get another answer. -ELIBACC when libcrypt or
 * GnuTLS is missing, -EPERM when the child may not give up its privileges; *ret_why is filled on
 * every failure.
 */
int webauth_new(sd_event *event, bool wait, void (*changed)(void *userdata), void *userdata,
		struct webauth **ret, struct web_why *ret_why);
struct webauth *webauth_free(struct webauth *auth);
DEFINE_CLEANUP(struct webauth *, webauth_free);

/* Copies the users. Passwords stay known of those that did not change; changed() is called for all
 * who wait. 0 or -ENOMEM: then nothing changed. */
int webauth_set_users(struct webauth *auth, const struct web_user *users, size_t n);

/* What to do with a request that has this Authorization header, or NULL. */
enum webauth_verdict webauth_ask(struct webauth *auth, const char *header, uint64_t now_ns);

#endif
