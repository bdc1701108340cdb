/* SPDX-License-Identifier: Apache-2.0 */
/* A server with a certificate of tests/lib/net/tlsc, played by openssl: it keeps what it is asked
 * and answers every question with the same bytes. */
#ifndef TESTS_LIB_NET_TLSPEER_H
#define TESTS_LIB_NET_TLSPEER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "lib/net/asker.h"

struct tlspeer {
	pid_t pid;
	int in, out;
	uint16_t port;
	struct buf said; /* by openssl, and by its clients */
};

/* With NAME.crt and NAME.key; waits until it listens, turning the loop. */
void tlspeer_open(struct tlspeer *peer, struct asker *asker, const char *name);
/* Starts the request and awaits its end; the peer answers as soon as the question's head is there. */
void tlspeer_ask(struct tlspeer *peer, struct asker *asker, struct fetch_request *request,
		 const char *answer, struct asker_reply *ret);
void tlspeer_close(struct tlspeer *peer);

#endif
