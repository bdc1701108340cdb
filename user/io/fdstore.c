// SPDX-License-Identifier: Apache-2.0
/* Hands descriptors to systemd, and takes them back. */
#include "io/fdstore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "io/fd.h"

static void free_names(char ***names)
{
	for (char **name = *names; name && *name; name++)
		free(*name);
	free(*names);
}

int fdstore_take(const char *name)
{
	_cleanup_(free_names) char **names = NULL;
	_cleanup_(cleanup_close) int taken = -1;
	int n = sd_listen_fds_with_names(1, &names);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		if (taken < 0 && names && strcmp(names[i], name) == 0)
			taken = fd;
		else
			close(fd);
	}
	return taken < 0 ? -ENOENT : TAKE_FD(taken);
}

int fdstore_put(const char *name, int fd)
{
	char text[300];

	/* Else systemd lets go of it once the other end hangs up, which may be for a moment only. */
	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s\nFDPOLL=0", name);
	return sd_pid_notify_with_fds(0, 0, text, &fd, 1);
}

int fdstore_remove(const char *name)
{
	char text[300];

	snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	return sd_notify(0, text);
}
