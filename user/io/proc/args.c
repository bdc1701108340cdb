// SPDX-License-Identifier: Apache-2.0
/* Reads /proc/PID/cmdline and environ. */
#include "io/proc/args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "io/files/fd.h"

#define ENVIRON_MAX (4u << 20)

size_t procfs_args(pid_t pid, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	n = fd_read_into(AT_FDCWD, path, ret, size);
	return n > 0 ? (size_t)n : 0;
}

int procfs_has_variable(pid_t pid, const char *variable)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len = strlen(variable);
	bool any = variable[len - 1] == '=';
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	n = fd_read_all(AT_FDCWD, path, ENVIRON_MAX, &text);
	if (n < 0)
		return (int)n;
	for (const char *at = text; at < text + n; at += strlen(at) + 1)
		if (strncmp(at, variable, len) == 0 && (any || !at[len]))
			return 1;
	return 0;
}
