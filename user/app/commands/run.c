// SPDX-License-Identifier: Apache-2.0
/* graced run: the daemon. */
#include <stdlib.h>

#include "app/commands/commands.h"
#include "app/config/config.h"
#include "app/config/run_dir.h"
#include "app/daemon/daemon.h"
#include "app/log/say.h"

int cmd_run(int argc, char **argv)
{
	struct config config;
	const char *relative;
	int status;

	if (!config_load(argc, argv, &config, &status))
		return status;
	relative = rundir_relative();
	if (relative) {
		say("%s=%s is no absolute path", relative, getenv(relative));
		config_done(&config);
		return 1;
	}
	return daemon_run(argc, argv, &config);
}
