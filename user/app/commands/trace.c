// SPDX-License-Identifier: Apache-2.0
/* graced trace: stops on this host as they happen. */
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/monitor.h"
#include "app/live/relay.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/time.h"
#include "io/proc/clock.h"
#include "wire/text/table.h"

static const struct options_help help = {
	.head = "usage: graced trace [OPTIONS]\n"
		"\n"
		"Shows every container on this host whose init stops: which process asked it to, whether init\n"
		"received the signal, how long the stop took, and what else died. Ctrl-C ends it. Where graced\n"
		"run runs and watches the same containers, its records are shown; else programs are attached.\n",
	.tail = "EXAMPLES\n"
		"  graced trace                          every container on this host\n"
		"  graced trace -p cart --signals        one pod, with each signal that is sent\n"
		"  graced trace --outcome killed,oom-killed -o json | jq .stop_signal.sender\n",
};

/* How long the names of containers are awaited before it is said which are there. */
#define NAMES_NS (5 * NS_PER_S)
/* How often they are looked for: where a daemon is followed, each look is a request to it. */
#define LOOK_NS	 (NS_PER_S / 2)

/* Whether a container that runs is one that the user asks for: a misspelt name must not look like
 * a container that does not stop. */
struct wanted {
	struct filter names; /* by names alone */
	struct monitor *monitor;
	/* CLOCK_BOOTTIME. */
	uint64_t until_ns; /* 0: not attached yet, or said */
	uint64_t next_ns;  /* looks not before */
	bool found, unknown;
};

static int take_monitor(void *userdata, struct monitor *m)
{
	struct wanted *w = userdata;

	w->monitor = m;
	return 0;
}

static void begin_looking(void *userdata)
{
	struct wanted *w = userdata;

	if (filter_has_names(&w->names))
		w->until_ns = clock_boot_ns() + NAMES_NS;
}

static void look_at(void *userdata, const struct engine_running *running)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = running->pod,
						 .container = running->container}};
	struct wanted *w = userdata;

	w->found |= filter_matches(&w->names, &subject);
	w->unknown |= running->unanswered;
}

static void look(void *userdata)
{
	struct wanted *w = userdata;
	uint64_t now_ns = clock_boot_ns();

	if (!w->until_ns || now_ns < w->next_ns)
		return;
	w->next_ns = now_ns + LOOK_NS;
	w->found = w->unknown = false;
	monitor_each_container(w->monitor, look_at, w);
	if (!w->found && w->unknown && now_ns < w->until_ns)
		return;
	w->until_ns = 0;
	if (!w->found)
		say("no container %s matches; waiting for one that does",
		    w->unknown ? "whose names are known" : "that runs now");
}

int cmd_trace(int argc, char **argv)
{
	struct wanted wanted = {};
	const struct monitor_hooks hooks = {.userdata = &wanted,
					    .open = take_monitor,
					    .attached = begin_looking,
					    .turn = look,
					    .may_follow = true};
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("trace", "'%s' is one argument too many", argv[options.first]);
	if (options.record && strcmp(options.record, "-") == 0)
		return say_usage("trace", "--record wants a file, as rows go to standard output");
	status = relay_check(&options);
	if (status)
		return status;
	status = screen_check(&options, &table_trace);
	if (status)
		return status;
	if (!say_host_pids("trace"))
		return 1;
	wanted.names = (struct filter){.namespaces = options.filter.namespaces,
				       .pods = options.filter.pods,
				       .containers = options.filter.containers};
	return monitor_run(&options, true, &hooks);
}
