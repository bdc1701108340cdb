// SPDX-License-Identifier: Apache-2.0
// A container that makes, ends, signals or replaces processes as fast as it can, from go 1 on until
// it is killed. Its processes hear SIGTERM and live on.
//
//   storm fork|signal|exec
#include "lib/box/page.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#define WORKERS 2

static struct page *page;

static void live_on(int sig)
{
	(void)sig;
}

/* Each other one dies of a signal. */
static void forks(void)
{
	for (unsigned int i = 0;; i++) {
		pid_t child = fork();

		if (child == 0 && i % 2)
			_exit(i % 3 ? 0 : 200);
		if (child == 0)
			raise(SIGKILL);
		waitpid(child, NULL, 0);
	}
}

static void signals(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	for (;;)
		kill(child, SIGTERM);
}

static void execs(void)
{
	const char *self = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	char *argv[] = {(char *)"storm", (char *)"end", NULL};

	for (;;) {
		pid_t child = vfork();

		if (child == 0) {
			execv(self, argv);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}

static void rage(const char *kind)
{
	page_await_go(page, 1);
	if (!strcmp(kind, "fork"))
		forks();
	if (!strcmp(kind, "signal"))
		signals();
	execs();
}

int main(int argc, char **argv)
{
	if (argc < 2 || !strcmp(argv[1], "end"))
		return 0;
	page = page_attach();
	signal(SIGTERM, live_on);
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			rage(argv[1]);
	page_ready(page);
	for (;;)
		pause();
}
