// SPDX-License-Identifier: Apache-2.0
// Processes that share one memory, of which the OOM killer picks one.
//
//   oomer BEHAVIOUR [DIR]
#include "lib/box/page.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MIB (1024 * 1024)

static struct page *page;
static const char *dir; /* of the child's cgroup, which it makes; NULL: that of its parent */

static void pause_forever(void) __attribute__((noreturn));
static void pause_forever(void)
{
	for (;;)
		pause();
}

static void enter(void)
{
	char path[PATH_MAX];
	int fd;

	if (!dir)
		return;
	if (mkdir(dir, 0755))
		_exit(120);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(121);
	close(fd);
}

/* Among those that share a memory the kernel picks the one that came last. */
static int fill(void *arg)
{
	const size_t size = 4096UL * MIB;
	char *all = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	enter();
	for (size_t i = 0; all != MAP_FAILED && i < size; i += 4096)
		all[i] = 1;
	_exit(99);
}

static void start_child(void)
{
	char *stack = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page_await_go(page, 1);
	if (stack == MAP_FAILED || clone(fill, stack + MIB, CLONE_VM | SIGCHLD, NULL) < 0)
		_exit(122);
}

static void *other_thread(void *arg)
{
	page_ready(page);
	start_child();
	pause_forever();
}

/* shared: a child has the same memory, and takes more of it until all are killed */
static void shared(void)
{
	page_ready(page);
	start_child();
	pause_forever();
}

/* leaderless: the same, and the leader of the process has left */
static void leaderless(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other_thread, NULL))
		_exit(123);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	page = page_attach();
	dir = argc > 2 ? argv[2] : NULL;
	if (argc > 1 && strcmp(argv[1], "shared") == 0)
		shared();
	else if (argc > 1 && strcmp(argv[1], "leaderless") == 0)
		leaderless();
	return 124;
}
