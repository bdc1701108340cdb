/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A crowd of bad clients in a process of its own, all at once and until it is ended: idle
 * ones, with and without half a request, that come back when they are closed; slow ones that read
 * one byte a second; some that send garbage; some that send 64 KiB of headers.
 */
#ifndef TESTS_LIB_NET_WEBCROWD_H
#define TESTS_LIB_NET_WEBCROWD_H

#include <stdint.h>
#include <sys/types.h>

#define WEBCROWD_IDLE	 1000
#define WEBCROWD_SLOW	 50
#define WEBCROWD_GARBAGE 20
#define WEBCROWD_HEADERS 10

/* How often a client of each kind was closed or answered, and came back. */
struct webcrowd_seen {
	uint32_t idle, slow, garbage, headers;
};

struct webcrowd {
	pid_t pid;
	volatile struct webcrowd_seen *seen; /* grows while they are there */
};

/* Connects to that port of loopback and asks for path where a whole request is sent. Returns when
 * each has been connected once: 0, or -errno with nothing left. */
int webcrowd_start(uint16_t port, const char *path, struct webcrowd *ret);

/* Closes all of them; twice is fine. 0, or -ECHILD when the process had ended before. */
int webcrowd_leave(struct webcrowd *crowd);

#endif
