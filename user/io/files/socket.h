/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the server behind a unix socket can be trusted because of where its socket is. */
#ifndef IO_FILES_SOCKET_H
#define IO_FILES_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
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
/* The same of the first of the places, NULL-ended, that is there and may be connected to, from *at
 * on, which is then its own. Else -ENOENT where none is there, or what socket_check() has of the
 * last one that is. */
int socket_find(const char *const *places, size_t *at, struct socket_id *ret,
		char ret_text[static 160]);
bool socket_is_same(const struct socket_id *a, const struct socket_id *b);
/* Whether another one, or none, is there now. */
bool socket_is_replaced(const char *path, const struct socket_id *sock);

#endif
