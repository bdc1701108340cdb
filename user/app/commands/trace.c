// SPDX-License-Identifier: Apache-2.0
/* graced trace: stops on this host as they happen. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/manager.h"
#include "app/live/output.h"
#include "app/log/say.h"

static const char usage[] =
	"usage: graced trace [OPTIONS]\n"
	"\n"
	"Shows every container on this host whose init stops: who asked, whether it was heard, how\n"
	"long it took, what it cost. Ends by Ctrl-C.\n"
	"\n"
	"  -o, --output table|json  a table for people, or one JSON object per line\n"
	"  -n, --namespace NAME     only pods of this namespace\n"
	"  -p, --pod NAME           only this pod (name, or the beginning of its uid)\n"
	"  -c, --container NAME     only this container (name, or the beginning of its id)\n"
	"  -s, --signal SIG[,SIG]   only stops with one of these signals\n"
	"      --sender COMM        only what a process of this name sent\n"
	"      --outcome OUTCOME    only this outcome: graceful, terminated, killed, oom-killed,\n"
	"                           crashed, completed, failed, unknown\n"
	"      --signals            a row for each stop signal and SIGKILL, too\n"
	"      --scope SCOPE        pods, containers (default), services (systemd's, too) or all\n"
	"                           (every process that dies of a signal, too)\n"
	"      --assume-grace TIME  grace period of stops for which no source tells one\n"
	"      --count N            end after N rows\n"
	"      --duration TIME      end after this time, like 10s\n"
	"      --record FILE        write the observations to FILE, too\n"
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

int cmd_trace(int argc, char **argv)
{
	struct options options;
	struct output output;
	int status;

	if (!options_parse(argc, argv,
			   OPTIONS_FORMAT | OPTIONS_FILTER | OPTIONS_ENGINE | OPTIONS_HOST |
				   OPTIONS_LIVE | OPTIONS_RECORD,
			   usage, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("trace", "'%s' is one argument too many", argv[options.first]);
	if (options.record && strcmp(options.record, "-") == 0)
		return say_usage("trace", "--record wants a file, as rows go to standard output");
	if (!say_host_pids("trace"))
		return 1;
	if (!output_open(&options, true, &output))
		return 1;
	status = manager_run(&options, output.sinks, NULL);
	output_close(&output);
	return status;
}
