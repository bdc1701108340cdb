// SPDX-License-Identifier: Apache-2.0
/* Why a daemon did not answer. */
#include "app/query/say.h"

#include <errno.h>
#include <limits.h>

#include "app/config/run_dir.h"
#include "app/log/say.h"

void query_say(const char *command, const char *socket, int error, const struct control_why *why)
{
	char buffer[PATH_MAX];
	const char *path = control_socket_path(socket, buffer);

	if (error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR)
		say("no daemon answers at %s; start graced run, or name its socket with --control.socket",
		    path);
	else if (error == -EACCES || error == -EPERM)
		say("only root may ask the daemon at %s; run graced %s as root", path, command);
	else if (error == -EREMOTEIO)
		say("the daemon refuses: %s", why->text);
	else
		say("cannot ask the daemon at %s: %s", path, why->text);
}
