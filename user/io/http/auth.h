/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may see the pages: users with bcrypt hashes, by HTTP's Basic scheme.
 *
 * bcrypt takes long on purpose, 60 ms at the usual cost. So a child process computes it and not the
 * loop, one password at a time. It is a process and not a thread, so that it can give up its
 * privileges before it receives the first password, and so that its CPU time is not the loop's.
 *
 * The server's first child is forked before anything is loaded. A later one, with the first users
 * or in the place of one that died, is a copy of the daemon at that time: it closes and unmaps what
 * it would share with the daemon, but still has what was in memory, keys included. All that it can
 * do with that is to answer.
 *
 * Each password that was right is remembered (as a keyed hash, under a key of this start), and so
 * are the last wrong ones. To check all others may cost a tenth of a CPU; clients beyond that are
 * turned away, while remembered passwords are still accepted. A user that does not exist takes as
 * long as one that does.
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
	WEBAUTH_WAIT, /* query again after changed() */
	WEBAUTH_BUSY, /* query again in a second or so */
};

struct webauth;

/*
 * Starts the child. With wait it waits until that is there, 5 s at most, and its errors are
 * returned; without, clients wait, and when it does not come up all are turned away. changed() is
 * called from the loop whenever a second query may get another answer. -ELIBACC when libcrypt or
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
enum webauth_verdict webauth_query(struct webauth *auth, const char *header, uint64_t now_ns);

#endif
