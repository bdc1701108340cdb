/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user who is logged in: an entry of /etc/passwd that this program alone sees (it is, or moves
 * into, a mount namespace of its own), and the cgroups that systemd has for their own manager:
 *
 *   /user.slice/user-<uid>.slice                            root's
 *   /user.slice/user-<uid>.slice/user@<uid>.service         the user's, as all that is made in it
 */
#ifndef TESTS_LIB_BOX_LOGIN_H
#define TESTS_LIB_BOX_LOGIN_H

#include "lib/box/hier.h"

struct login {
	unsigned int uid; /* different ones in programs that run beside each other */
	char home[64];
	char users[HIER_PATH_MAX], slice[HIER_PATH_MAX], top[HIER_PATH_MAX];
};

/* dir: of the test, where home and passwd are made. 0 or -errno. The caller is in a mount namespace
 * of its own. */
int login_open(const struct hier *hier, const char *dir, struct login *ret);

/* Kills whatever runs in the slice, and removes it and the home. 0 or -errno. */
int login_close(const struct login *login);

/* The calling process becomes the user's, in their own cgroup, and dies with its parent; for a
 * child process. 0 or -errno. */
int login_become(const struct login *login);

/* Writes a file of the user's below the home, with its directories. 0 or -errno. */
int login_put(const struct login *login, const char *path, const char *text);

#endif
