// SPDX-License-Identifier: Apache-2.0
/* The command line: finds the subcommand and hands over to it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/log/say.h"
#include "app/trial/init.h"
#include "base/nearest.h"

/* A group is the question that its commands answer. */
enum group { WHY, NOW, WELL, DAEMON, REST };

static const char *const questions[] = {
	[WHY] = "Why did it die?",     [NOW] = "What happens now?",
	[WELL] = "Will it stop well?", [DAEMON] = "The daemon and its node:",
	[REST] = "The rest:",
};

/* What tools/generate reads from the help is in graced(8) and the completions, too. */
static const struct command {
	const char *name, *alias; /* alias may be NULL */
	enum group group;	  /* rows of one are together */
	bool live;		  /* runs until a signal ends it */
	int (*run)(int argc, char **argv);
	const char *does;
} commands[] = {
	{"why", NULL, WHY, false, cmd_why,
	 "say why a container ended: a sentence, what happened, what to do"},
	{"log", NULL, WHY, false, cmd_log, "list past stops, from the journal or a file"},
	{"report", NULL, WHY, false, cmd_report,
	 "show what happened in a shutdown, a rollout or any span of time"},
	{"trace", NULL, NOW, true, cmd_trace,
	 "show stops as they happen, as a table or JSON lines"},
	{"top", NULL, NOW, true, cmd_top,
	 "show on a screen what is stopping, what stopped, who kills most"},
	{"pods", "ps", NOW, true, cmd_pods,
	 "list pods and containers that the daemon knows: state, since when"},
	{"audit", NULL, WELL, true, cmd_audit,
	 "list running containers that would not react to their stop signal"},
	{"try", NULL, WELL, true, cmd_try,
	 "stop a command as a container, or a container, and judge the stop"},
	{"plan", NULL, WELL, false, cmd_plan,
	 "show what a node shutdown would do now, and what if the node dies"},
	{"explain", NULL, WELL, false, cmd_explain,
	 "show the phase and conditions that a kubelet gives a pod, and why"},
	{"run", NULL, DAEMON, true, cmd_run, "run the daemon: metrics, records, node shutdowns"},
	{"check", NULL, DAEMON, false, cmd_check,
	 "list what this host offers, and what to do about what it lacks"},
	{"shutdown", NULL, DAEMON, false, cmd_shutdown,
	 "show, begin or cancel a shutdown of the node"},
	{"wait", NULL, DAEMON, true, cmd_wait,
	 "return when no container of this node has a process"},
	{"resolve", NULL, REST, false, cmd_resolve,
	 "find pod, container and runtime of a pid, a cgroup or a name"},
	{"record", NULL, REST, true, cmd_record, "write what happens on this host to a file"},
	{"replay", NULL, REST, false, cmd_replay, "feed such a file through the same engine"},
	{"version", NULL, REST, false, cmd_version,
	 "print the version, and what this program was built with"},
};

#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_name(const struct command *command)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s%s", command->name, command->alias ? ", " : "",
		 command->alias ? command->alias : "");
	printf("  %-8s  %s\n", name, command->does);
}

static int help(void)
{
	printf("graced reports exactly how containers and pods die on this node.\n\n"
	       "usage: graced COMMAND [OPTIONS]\n");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (i == 0 || commands[i].group != commands[i - 1].group)
			printf("\n%s\n", questions[commands[i].group]);
		print_name(&commands[i]);
	}
	printf("\ngraced COMMAND --help and graced help COMMAND explain each. graced --help prints\n"
	       "this, graced --version the version.\n");
	return 0;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const char *alias = commands[i].alias;

		if (strcmp(name, commands[i].name) == 0 || (alias && strcmp(name, alias) == 0))
			return &commands[i];
	}
	return NULL;
}

/* With one of the three closed, the next file opened would be taken for it. What is written there
 * fails, as it would without. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* The first error of a write to standard output. A stream keeps only that there was one, and what
 * the program does next overwrites errno. */
static int output_error;

static ssize_t write_output(void *cookie, const char *bytes, size_t n)
{
	size_t done = 0;

	(void)cookie;
	while (done < n) {
		ssize_t written = write(STDOUT_FILENO, bytes + done, n - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			output_error = output_error ? output_error : errno;
			break;
		}
		done += (size_t)written;
	}
	/* A short count makes the stream fail. */
	return (ssize_t)done;
}

static void watch_output(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});

	if (!stream)
		return;
	setvbuf(stream, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	stdout = stream;
}

/* A signal that comes before the loop listens waits for it, even one that a shell has ignored. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int no_such(const char *name)
{
	const char *names[N_COMMANDS];
	size_t near;

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	near = nearest_find(name, names, N_COMMANDS);
	if (near < N_COMMANDS)
		return say_usage("", "there is no command '%s' (did you mean %s?)", name,
				 names[near]);
	return say_usage("", "there is no command '%s'", name);
}

/* graced help COMMAND is graced COMMAND --help. */
static int help_of(const char *name)
{
	const struct command *command = find(name);
	char option[] = "--help", *argv[] = {NULL, option, NULL};

	if (!command)
		return no_such(name);
	argv[0] = (char *)command->name;
	return command->run(2, argv);
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct command *command = find(name);

	if (strcmp(name, "help") == 0 && argc > 2)
		return help_of(argv[2]);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help();
	if (strcmp(name, "--version") == 0)
		return cmd_version(1, argv + 1);
	if (!*name)
		return say_usage("", "which command?");
	if (!command)
		return no_such(name);
	if (command->live)
		hold_signals();
	argv[1] = (char *)command->name;
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	if (argc > 1 && strcmp(argv[0], TRIAL_INIT) == 0)
		return trial_init(argv);
	fill_standard_fds();
	signal(SIGPIPE, SIG_IGN);
	/* A file that may not grow is a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	watch_output();
	status = run(argc, argv);
	/* A reader that has left wanted no more; any other failure is one. */
	if ((fflush(stdout) == 0 && !ferror(stdout)) || output_error == EPIPE)
		return status;
	say("cannot write to standard output: %s", strerror(output_error ? output_error : errno));
	return status ? status : 1;
}
