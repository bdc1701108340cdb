// SPDX-License-Identifier: Apache-2.0
/* graced record: observations to a file, for graced replay. */
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/monitor.h"
#include "app/log/say.h"

static const struct options_help help = {
	.head = "usage: graced record [OPTIONS] FILE\n"
		"\n"
		"Writes what happens on this host to FILE (- for standard output), from which graced replay\n"
		"prints what graced trace would have. Ctrl-C ends it. An existing FILE is overwritten.\n"
		"The file holds process names, cgroup paths and pod names of this host.\n",
};

int cmd_record(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first == argc)
		return say_usage("record", "which FILE?");
	if (options.first + 1 < argc)
		return say_usage("record", "'%s' is one argument too many",
				 argv[options.first + 1]);
	options.record = argv[options.first];
	if (isatty(STDOUT_FILENO) && options.record[0] == '-' && !options.record[1])
		return say_usage("record", "a recording does not go to a terminal");
	if (!say_host_pids("record"))
		return 1;
	return monitor_run(&options, false, NULL);
}
