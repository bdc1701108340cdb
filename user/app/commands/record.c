// SPDX-License-Identifier: Apache-2.0
/* graced record: observations to a file, for graced replay. */
#include <inttypes.h>
#include <string.h>
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
	.tail = "EXAMPLES\n"
		"  graced record --duration 10m node.rec\n"
		"  graced record - | gzip >node.rec.gz\n",
};

/* For a person at a terminal; a script has the file and the exit status. */
struct recording {
	const char *path;
	bool shown;
	uint64_t observations, stops;
};

static void begin(void *userdata)
{
	struct recording *r = userdata;

	r->shown = isatty(STDERR_FILENO) && strcmp(r->path, "-") != 0;
	if (r->shown)
		say("recording to %s; Ctrl-C ends it", r->path);
}

static void count(void *userdata, const struct obs *obs)
{
	struct recording *r = userdata;

	r->observations++;
}

static void count_stop(void *userdata, const struct record *record)
{
	struct recording *r = userdata;

	r->stops += record->type == RECORD_STOP;
}

static void sum_up(void *userdata)
{
	const struct recording *r = userdata;

	if (r->shown)
		say("%" PRIu64 " stops and %" PRIu64
		    " observations recorded; graced replay %s shows "
		    "them",
		    r->stops, r->observations, r->path);
}

int cmd_record(int argc, char **argv)
{
	struct recording recording = {};
	const struct monitor_hooks hooks = {.userdata = &recording,
					    .attached = begin,
					    .observe = count,
					    .record = count_stop,
					    .close = sum_up};
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
	recording.path = options.record;
	return monitor_run(&options, false, &hooks);
}
