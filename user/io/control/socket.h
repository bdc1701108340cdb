/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listening socket at a path that only root, or who runs the daemon, comes to: its directory is
 * 0700. What a dead daemon left there is replaced, a live one's is not.
 */
#ifndef IO_CONTROL_SOCKET_H
#define IO_CONTROL_SOCKET_H

#include <sys/stat.h>

#include "wire/json/control.h"

struct control_socket {
	int fd;	 /* listens, non-blocking */
	int dir; /* that it is in */
	char name[108];
	dev_t dev; /* of the socket, as it was made */
	ino_t ino;
};

/*
 * path is absolute. Its directory is made when only that is missing; one that others may enter, or
 * somebody else's, is refused (-EPERM). -EADDRINUSE: a live daemon listens there. -EEXIST: what is
 * there is no socket. -ENAMETOOLONG; else -errno. *ret_why is filled on failure.
 */
int control_socket_open(const char *path, struct control_socket *ret, struct control_why *ret_why);

/* Closes it, and removes it unless something else is there by now. */
void control_socket_close(struct control_socket *sock);

#endif
