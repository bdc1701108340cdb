// SPDX-License-Identifier: Apache-2.0
// An init that takes SIGTERM, and then waits for something: one manner per name.
//
//   waiter MANNER [FILE]
//
// deaf: it does not take the signal, and has a child.
#include "lib/box/page.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static volatile sig_atomic_t asked;
static const char *file;

static void on_term(int sig)
{
	(void)sig;
	asked = 1;
}

static void await_request(void)
{
	sigset_t none;

	sigemptyset(&none);
	while (!asked)
		sigsuspend(&none);
}

static void doze(void)
{
	for (;;)
		nanosleep(&(struct timespec){.tv_sec = 100}, NULL);
}

static void spin(void)
{
	for (;;)
		__asm__ volatile("");
}

static void fill_pipe(int fd)
{
	static const char zeros[4096];

	for (;;)
		if (write(fd, zeros, sizeof(zeros)) < 0)
			doze();
}

/* It reads from itself, in vain. */
static void pipe_own(void)
{
	int ends[2];

	if (pipe(ends) == 0)
		fill_pipe(ends[1]);
}

static void *pipe_thread(void *arg)
{
	fill_pipe(*(int *)arg);
	return NULL;
}

static void pipe_of_a_thread(void)
{
	static int ends[2];
	pthread_t thread;

	if (pipe(ends) == 0 && pthread_create(&thread, NULL, pipe_thread, &ends[1]) == 0)
		pthread_join(thread, NULL);
}

static void lock_flock(void)
{
	int fd = open(file, O_RDWR);

	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
	doze();
}

static void lock_fcntl(void)
{
	struct flock lock = {.l_type = F_WRLCK};
	int fd = open(file, O_RDWR);

	while (fcntl(fd, F_SETLKW, &lock) < 0 && errno == EINTR)
		;
	doze();
}

static void await_exec(void)
{
	if (!vfork())
		doze();
}

static void await_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		doze();
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void fail_to_fork(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
}

/* A client of its own, and the socket that listened is closed, as servers do when they stop. */
static int own_client(int family, const struct sockaddr *at, socklen_t size)
{
	int listener = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0);
	int one = 1, server;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, at, size) < 0 || listen(listener, 4) < 0 ||
	    connect(client, at, size) < 0)
		_exit(3);
	server = accept(listener, NULL, NULL);
	close(listener);
	return server;
}

static void serve(int server)
{
	char c;

	while (read(server, &c, 1) < 0 && errno == EINTR)
		;
	doze();
}

static void serve_tcp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(file)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	serve(own_client(AF_INET, (struct sockaddr *)&at, sizeof(at)));
}

static void serve_unix(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", file);
	serve(own_client(AF_UNIX, (struct sockaddr *)&at, sizeof(at)));
}

static const struct {
	const char *name;
	void (*wait)(void);
} manners[] = {
	{"sleep", doze},	{"spin", spin},
	{"pipe", pipe_own},	{"thread", pipe_of_a_thread},
	{"flock", lock_flock},	{"fcntl", lock_fcntl},
	{"child", await_child}, {"vfork", await_exec},
	{"fork", fail_to_fork}, {"tcp", serve_tcp},
	{"unix", serve_unix},
};

int main(int argc, char **argv)
{
	struct page *page = page_attach();
	sigset_t term;

	if (argc > 1 && strcmp(argv[1], "deaf") == 0) {
		if (fork())
			page_ready(page);
		doze();
	}
	file = argc > 2 ? argv[2] : "";
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	page_ready(page);
	await_request();
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	for (size_t i = 0; argc > 1 && i < sizeof(manners) / sizeof(manners[0]); i++)
		if (strcmp(argv[1], manners[i].name) == 0)
			manners[i].wait();
	return 120;
}
