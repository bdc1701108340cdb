/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the socket at a path can be trusted, and whether it is still the same. */
#ifndef IO_SOURCES_CRI_SOCKET_H
#define IO_SOURCES_CRI_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct podsrc_cri_sock {
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* an inode's number may come back */
};

/* 0 for a socket that only root or this user can have put at path, -ENOENT, -ENOTSOCK,
 * -EPERM, -ELOOP or another of lstat()'s; *ret_text says what is wrong then. */
int podsrc_cri_sock_check(const char *path, struct podsrc_cri_sock *ret, char ret_text[static 160]);
/* Whether another one, or none, is there now. */
bool podsrc_cri_sock_is_replaced(const char *path, const struct podsrc_cri_sock *sock);

#endif
