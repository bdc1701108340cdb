// SPDX-License-Identifier: Apache-2.0
/* graced run: the daemon. */
#include "app/commands.h"
#include "app/config.h"
#include "app/daemon.h"

int cmd_run(int argc, char **argv)
{
	struct config config;
	int status;

	if (!config_load(argc, argv, &config, &status))
		return status;
	return daemon_run(argc, argv, &config);
}
