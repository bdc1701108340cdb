/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket. The end of the daemon is on its loop: it answers one request for each
 * connection, waits for no peer, and is bounded: in connections, in the bytes of a request and of
 * all replies that wait to be read, and in the time that a connection may take. The other end sends
 * one request and waits for all of the answer.
 */
#ifndef IO_CONTROL_CONTROL_H
#define IO_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "wire/json/control.h"

/*
 * The daemon's end of the control socket, on its loop. It answers one request for each connection,
 * waits for no peer, and is bounded: in connections, in the bytes of a request and of all replies
 * that wait to be read, and in the time that a connection may take.
 */

#define CONTROL_CONNECTIONS 8
#define CONTROL_TIMEOUT_NS  5000000000ULL

struct control;

struct control_config {
	const char *path;
	uint64_t timeout_ns; /* of a connection, from its beginning; 0: the default */
	void *userdata;
	/* Adds the lines of the answer and returns their number. -errno: there is none; what
	 * *ret_why says, unless it is empty, is the reason. */
	int (*answer)(void *userdata, const struct control_request *request, struct buf *out,
		      uint64_t *ret_lines, struct control_why *ret_why);
	/* Takes over the connection of a CONTROL_FOLLOW. -errno: it stays ours, and what *ret_why
	 * says is the reason. */
	int (*follow)(void *userdata, const struct control_request *request, int fd,
		      struct control_why *ret_why);
	/* Whether that process, of root or of the daemon's own user, may ask. */
	bool (*admits)(void *userdata, pid_t pid);
};

struct control_stats {
	uint64_t answered;
	uint64_t refused; /* other users, containers, and one connection too many */
	uint64_t failed;  /* requests that were none, slow ones, peers that left early */
};

/* Listens; path is not kept. -errno with *ret_why filled, as control_socket_open(). */
int control_new(sd_event *event, const struct control_config *config, struct control **ret,
		struct control_why *ret_why);

/* Closes all connections and removes the socket. NULL is fine; returns NULL. */
struct control *control_free(struct control *control);

void control_get_stats(const struct control *control, struct control_stats *ret);

/* Asks a running daemon over its control socket, and waits for all of the answer. */

struct control_answer {
	struct buf text; /* lines, each with its newline; fits buf_free() */
	uint64_t lines;
};

/*
 * Waits at most timeout_ms, and no longer than until stop_fd (-1: none) can be read: -ECANCELED.
 * 0 with the answer, which replaces what *ret held. -ENOENT, -ECONNREFUSED: no daemon is there.
 * -EACCES, -EPERM: this user may not ask. -ETIMEDOUT, -EBADMSG (also for an answer that was cut
 * short), -EPROTONOSUPPORT, -EREMOTEIO (what it said is in *ret_why), -EINVAL for a path that is
 * none; else -errno. *ret_why is filled whenever something failed.
 */
int control_query(const char *path, const struct control_request *request, int timeout_ms,
		  int stop_fd, struct control_answer *ret, struct control_why *ret_why);

/*
 * Asks to follow the records of the daemon, and waits at most timeout_ms for the beginning of its
 * reply. 0 with the socket, which the caller closes, and what was received of the records already,
 * added to rest. Else as control_query().
 */
int control_follow(const char *path, bool signals, int timeout_ms, int *ret_fd,
		   struct control_follow *ret, struct buf *rest, struct control_why *ret_why);

#endif
