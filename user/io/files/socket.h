/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the server behind a unix socket can be trusted because of where its socket is. */
#ifndef IO_FILES_SOCKET_H
#define IO_FILES_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define SOCKET_PATH_MAX 108 /* sockaddr_un.sun_path */

/* Takes an absolute path, with or without unix:// before it. -EINVAL for anything else, and for one
 * that is too long. */
int socket_take_path(const char *endpoint, char ret[static SOCKET_PATH_MAX]);

struct socket_id {
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* an inode's number may come back */
};

/* 0 for a socket that only root or this user can have put at path, -ENOENT, -ENOTSOCK,
 * -EPERM, -ELOOP or another of lstat()'s; *ret_text says what is wrong then. */
int socket_check(const char *path, struct socket_id *ret, char ret_text[static 160]);
/* Whether another one, or none, is there now. */
bool socket_is_replaced(const char *path, const struct socket_id *sock);

#endif
