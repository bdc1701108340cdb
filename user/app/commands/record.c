// SPDX-License-Identifier: Apache-2.0
/* graced record: observations to a file, for graced replay. */
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/manager.h"
#include "app/log/say.h"

static const char usage[] =
	"usage: graced record [OPTIONS] FILE\n"
	"\n"
	"Writes what happens on this host to FILE (- for standard output), from which graced replay\n"
	"prints what graced trace would have. Ends by Ctrl-C. An existing FILE is overwritten.\n"
	"The file holds process names, cgroup paths and pod names of this host.\n"
	"\n"
	"      --scope SCOPE        pods, containers (default), services or all\n"
	"      --assume-grace TIME  grace period of stops for which no source tells one\n"
	"      --duration TIME      end after this time, like 10s\n"
	"\n"
	"      --hierarchy NAME     cgroup hierarchy of the containers: unified, or a v1 controller\n"
	"      --nested-node PATH   cgroup of a container that is a node of its own (repeatable)\n"
	"      --container-root PATH\n"
	"                           look for containers below this cgroup alone, and there also for\n"
	"                           those that others than root made (repeatable)\n"
	"      --no-names           do not look names up\n" OPTIONS_SOURCES_HELP
	"      --ring-size BYTES    size of the ring buffer, a power of two (default 2 MiB)\n"
	"      --no-group-dead      find the last thread of a process as older kernels have to\n"
	"      --debug              libbpf's messages on stderr\n";

int cmd_record(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, OPTIONS_ENGINE | OPTIONS_HOST | OPTIONS_LIVE, usage,
			   &options, &status))
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
	return manager_run(&options, NULL, NULL);
}
