// SPDX-License-Identifier: Apache-2.0
/* graced try: would it stop well? */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "app/trial/command.h"
#include "base/cleanup.h"
#include "base/time.h"

static const struct options_help help = {
	.head = "usage: graced try [OPTIONS] -- COMMAND [ARGUMENT...]\n"
		"       graced try [OPTIONS] NAME...\n"
		"\n"
		"Runs the command as a container does, as PID 1 of a pid namespace and in a cgroup of its own,\n"
		"waits until it is ready, stops it, and says whether that went well, why not, and what to\n"
		"change. It prints what the command prints on standard error. With NAMEs it has the runtimes\n"
		"of these running containers, or systemd, stop them.\n",
	.tail = "The exit status is 0 when it stopped well, 1 when it did not (it was killed, did not hear the\n"
		"signal, one of its processes was killed, it took longer than --within, or it refused\n"
		"connections), 2 after wrong use, and 3 when it could not be tried.\n"
		"\n"
		"EXAMPLES\n"
		"  graced try --ready-port 8080 --within 5s -- ./server\n"
		"  graced try --ready-log 'ready to accept' -o junit -- postgres -D data >stop.xml\n"
		"  graced try --init -- ./worker              with an init in front, to compare\n"
		"  graced try web                             docker stop web, or as its runtime has it\n",
};

/* The index of the word behind "--"; 0: there is no "--". */
static int find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i + 1;
	return 0;
}

/* Options that the other one of the two uses has. */
static int check_use(const struct options *o, bool command)
{
	if (!command && (o->ready_log || o->ready_port || o->init))
		return say_usage("try", "--ready-log, --ready-port and --init are for a command "
					"behind --");
	if (command && o->watch)
		return say_usage("try", "--watch is for containers that run, by their names");
	if (o->watch && (o->filter.sigmask || o->stop_grace_ns))
		return say_usage("try", "--watch waits until somebody else stops them: it has no "
					"use for --signal and --grace");
	if (!command && o->stop_grace_ns % NS_PER_S)
		return say_usage("try", "runtimes take whole seconds for --grace");
	return 0;
}

/* command: as find_command() has it. */
static int check(const struct options *o, int argc, char **argv, int command)
{
	if (o->first == argc)
		return say_usage("try", "which command? It follows --; or which container?");
	if (command && o->first != command)
		return say_usage("try", "'%s' stands before the --", argv[o->first]);
	if (o->filter.sigmask & (o->filter.sigmask - 1))
		return say_usage("try", "--signal wants one signal, the one that asks to stop");
	if (o->filter.sigmask & (1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)))
		return say_usage("try",
				 "SIGKILL and SIGSTOP ask nothing: no program can handle them");
	if (o->filter.sigmask &
	    (1ull << (SIGCHLD - 1) | 1ull << (SIGCONT - 1) | 1ull << (SIGURG - 1)))
		return say_usage("try",
				 "SIGCHLD, SIGCONT and SIGURG are not recorded: programs get "
				 "them all the time");
	return check_use(o, command);
}

int cmd_try(int argc, char **argv)
{
	_cleanup_(buf_free) struct buf out = {};
	struct trial_report report = {};
	int command = find_command(argc, argv), status, r;
	struct options options;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	status = check(&options, argc, argv, command);
	if (status)
		return status;
	report.format = options.trial_format;
	report.view = screen_view(&options);
	if (command)
		status = trial_command(&options, argv + command, &report);
	else
		status = say_host_pids("try") ? trial_named(&options, argv + options.first, &report)
					      : TRIAL_IN_VAIN;
	r = trial_report_write(&report, &out);
	if (report.cases)
		screen_print(&out);
	buf_free(&report.body);
	if (r < 0)
		say_as("try", "cannot show all of it: %s", strerror(-r));
	return r < 0 ? TRIAL_IN_VAIN : status;
}
