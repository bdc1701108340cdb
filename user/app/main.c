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

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;
	bool live; /* runs until a signal ends it */
} commands[] = {
	{"trace", cmd_trace, "live table (or JSON lines) of stops on this host", true},
	{"top", cmd_top, "live screen: what is stopping, what stopped last, who kills most", true},
	{"run", cmd_run, "the daemon", true},
	{"audit", cmd_audit, "which running containers would not react to their stop signal", true},
	{"pods", cmd_pods, "what the running daemon knows: pods, state, since when", true},
	{"explain", cmd_explain, "phase and conditions the kubelet would give a pod, and why",
	 false},
	{"plan", cmd_plan, "what a node shutdown would do now; what becomes of a dead node's pods",
	 false},
	{"why", cmd_why, "why a container ended: a sentence, what happened, what to do", false},
	{"log", cmd_log, "past stops, from the journal or a file", false},
	{"report", cmd_report, "what happened in a shutdown, a rollout or any span of time", false},
	{"shutdown", cmd_shutdown, "how it is with a shutdown of the node; begin or cancel one",
	 false},
	{"resolve", cmd_resolve, "cgroup path or pid -> pod, container, runtime", false},
	{"record", cmd_record, "write observations to a file", true},
	{"replay", cmd_replay, "feed a recording through the same engine", false},
	{"try", cmd_try, "would it stop well? stops a command, as a container, or a container",
	 true},
	{"wait", cmd_wait, "return when no container of this node has a process", true},
	{"check", cmd_check, "kernel, BTF, capabilities, cgroup mode, sockets: one line each",
	 false},
	{"version", cmd_version, "print the version", false},
};

#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static int help(void)
{
	printf("graced reports exactly how containers and pods die on this node.\n\n"
	       "usage: graced COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-9s  %s\n", commands[i].name, commands[i].does);
	printf("\ngraced COMMAND --help and graced help COMMAND explain each. graced --help prints this,\n"
	       "graced --version the version.\n");
	return 0;
}

/* With one of the three closed, the next file opened would be taken for it. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
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
static int help_of(char *name)
{
	char option[] = "--help", *argv[] = {name, option, NULL};

	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(2, argv);
	return no_such(name);
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (strcmp(name, "help") == 0 && argc > 2)
		return help_of(argv[2]);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help();
	if (strcmp(name, "--version") == 0)
		return cmd_version(1, argv + 1);
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		if (commands[i].live)
			hold_signals();
		return commands[i].run(argc - 1, argv + 1);
	}
	if (!*name)
		return say_usage("", "which command?");
	return no_such(name);
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
