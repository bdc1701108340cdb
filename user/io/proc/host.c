// SPDX-License-Identifier: Apache-2.0
/* Looks at the host's name, sockets and pid namespace. */
#include "io/proc/host.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* include/linux/proc_ns.h */
#define INITIAL_PIDNS_INODE 0xEFFFFFFCu

void host_kernel(char *ret, size_t size)
{
	struct utsname name;

	if (uname(&name) < 0)
		snprintf(ret, size, "unknown");
	else
		snprintf(ret, size, "%s %s %s", name.sysname, name.release, name.machine);
}

bool host_is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool host_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool host_in_initial_pidns(void)
{
	struct stat st;

	/* A /proc that is mounted for another namespace has no self. */
	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PIDNS_INODE;
}
