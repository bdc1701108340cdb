/* SPDX-License-Identifier: Apache-2.0 */
/* A server that answers every connection with the same bytes, whatever they are, from the test's
 * own event loop. */
#ifndef TESTS_LIB_NET_RAWPEER_H
#define TESTS_LIB_NET_RAWPEER_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "base/buf.h"

#define RAWPEER_CONNECTIONS 32

struct rawpeer {
	sd_event *event;
	sd_event_source *listener;
	uint16_t port; /* of 127.0.0.1; 0: a unix socket */
	const char *answer;
	size_t len;
	bool at_once;  /* does not wait for the end of the question's headers */
	bool stays;    /* does not close behind the answer */
	bool trickles; /* one byte every 5 ms, over and over */
	unsigned int accepted;
	struct buf asked; /* by the last one */
	struct rawpeer_connection {
		struct rawpeer *peer;
		sd_event_source *io, *pace;
		size_t at;
	} connections[RAWPEER_CONNECTIONS];
};

/* Listens at a path, or at a free port of 127.0.0.1 where it is NULL; answers with text. */
void rawpeer_open(struct rawpeer *peer, sd_event *event, const char *path, const char *answer);
void rawpeer_close(struct rawpeer *peer);

#endif
