// SPDX-License-Identifier: Apache-2.0
/* Hands descriptors to systemd, and takes them back. */
#include "io/logind/fd_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "io/files/fd.h"

static void free_names(char ***names)
{
	for (char **name = *names; name && *name; name++)
		free(*name);
	free(*names);
}

/* NAME.NUMBER, or NAME alone for 0. */
static const char *full_name(const char *name, uint32_t number, char ret[static 256])
{
	if (number)
		snprintf(ret, 256, "%s.%" PRIu32, name, number);
	else
		snprintf(ret, 256, "%s", name);
	return ret;
}

/* Only what full_name() writes: fdstore_remove() has to find it again. */
static bool is_of_name(const char *text, const char *name, uint32_t *ret_number)
{
	size_t len = strlen(name);
	char again[256];
	unsigned long number = 0;

	if (strncmp(text, name, len) != 0)
		return false;
	if (text[len] == '.')
		number = strtoul(text + len + 1, NULL, 10);
	if (number > UINT32_MAX || strcmp(full_name(name, (uint32_t)number, again), text) != 0)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

int fdstore_take(const char *name, uint32_t *ret_number)
{
	_cleanup_(free_names) char **names = NULL;
	_cleanup_(cleanup_close) int taken = -1;
	int n = sd_listen_fds_with_names(1, &names);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		if (taken < 0 && names && is_of_name(names[i], name, ret_number))
			taken = fd;
		else
			close(fd);
	}
	return taken < 0 ? -ENOENT : TAKE_FD(taken);
}

int fdstore_put(const char *name, uint32_t number, int fd)
{
	char text[300], full[256];

	/* Else systemd closes it once the other end hangs up, which may be for a moment only. */
	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s\nFDPOLL=0",
		 full_name(name, number, full));
	return sd_pid_notify_with_fds(0, 0, text, &fd, 1);
}

int fdstore_remove(const char *name, uint32_t number)
{
	char text[300], full[256];

	snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", full_name(name, number, full));
	return sd_notify(0, text);
}
