/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that answers every question with the same bytes, by TLS or in the clear, and keeps what
 * it heard: a process of its own, so that it is as slow, large or silent as it likes.
 */
#ifndef TESTS_LIB_DAEMON_KUBEPEER_H
#define TESTS_LIB_DAEMON_KUBEPEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What it does next; strings and bytes are only borrowed until kubepeer_play() returns. */
struct kubepeer_part {
	const char *cert, *key; /* PEM; NULL: in the clear */
	const char *client_ca;	/* PEM; NULL: the client need not show a certificate */
	const char *answer;
	size_t len;
	bool stays; /* goes on listening behind the answer, until the client closes */
};

struct kubepeer_heard;

struct kubepeer {
	int fd;
	uint16_t port; /* of 127.0.0.1, whatever it plays */
	pid_t pid;
	struct kubepeer_heard *heard;
};

void kubepeer_open(struct kubepeer *peer);
void kubepeer_close(struct kubepeer *peer);

/* Stops what it plays, forgets what it heard, and plays this. */
void kubepeer_play(struct kubepeer *peer, const struct kubepeer_part *part);

/* Connections accepted; questions heard to the end of their head. */
unsigned int kubepeer_accepted(const struct kubepeer *peer);
unsigned int kubepeer_asked(const struct kubepeer *peer);
/* All that was said to it, from behind TLS if there is any; "" when it was nothing. */
const char *kubepeer_said(const struct kubepeer *peer);

#endif
