// SPDX-License-Identifier: Apache-2.0
/* graced trace: stops on this host as they happen. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/monitor.h"
#include "app/log/say.h"

static const struct options_help help = {
	.head = "usage: graced trace [OPTIONS]\n"
		"\n"
		"Shows every container on this host whose init stops: which process asked it to, whether init\n"
		"received the signal, how long the stop took, and what else died. Ctrl-C ends it.\n",
};

int cmd_trace(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("trace", "'%s' is one argument too many", argv[options.first]);
	if (options.record && strcmp(options.record, "-") == 0)
		return say_usage("trace", "--record wants a file, as rows go to standard output");
	if (!say_host_pids("trace"))
		return 1;
	return monitor_run(&options, true, NULL);
}
