// SPDX-License-Identifier: Apache-2.0
/* Finds the runtime directory and the state directory. */
#include "app/config/run_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/say.h"

/* A service manager names several with colons between. */
static const char *path_in(const char *variable, const char *fallback, const char *name,
			   char buffer[static PATH_MAX])
{
	const char *dir = getenv(variable);

	if (!dir || dir[0] != '/')
		dir = fallback;
	snprintf(buffer, PATH_MAX, "%.*s/%s", (int)strcspn(dir, ":"), dir, name);
	return buffer;
}

const char *rundir_relative(void)
{
	static const char *const variables[] = {"RUNTIME_DIRECTORY", "STATE_DIRECTORY"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *dir = getenv(variables[i]);

		if (dir && *dir && *dir != '/')
			return variables[i];
	}
	return NULL;
}

const char *rundir_path(const char *name, char buffer[static PATH_MAX])
{
	return path_in("RUNTIME_DIRECTORY", RUNDIR, name, buffer);
}

const char *statedir_path(const char *name, char buffer[static PATH_MAX])
{
	return path_in("STATE_DIRECTORY", STATEDIR, name, buffer);
}

const char *control_socket_path(const char *given, char buffer[static PATH_MAX])
{
	const char *variable = getenv("GRACED_CONTROL_SOCKET");

	if (given)
		return given;
	if (variable && variable[0] == '/')
		return variable;
	return rundir_path(CONTROL_SOCKET_NAME, buffer);
}

/* --- a daemon that does not answer ------------------------------------------------------------ */

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
