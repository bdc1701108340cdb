/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host for real container runtimes inside the test program: the distribution's programs, unpacked
 * and not installed (tools/runtimes), find /run and /var/lib empty and their own, since the program
 * moves into a mount namespace where these are directories of the test. So everything a runtime
 * uses is where it is by default, and nothing of it meets the runtimes of the host.
 *
 *   struct runtime_host *host = NULL;
 *
 *   if (runtime_host_open("docker", &host)) …
 *   runtime_host_spawn(host, BOX_ARGV("dockerd", …), "dockerd", &pid);
 *   …
 *   runtime_host_close(host);
 *
 * Daemons live in a cgroup of the test, and containers are to be put below runtime_host.cgroup of
 * each hierarchy: closing kills and removes all of that, and a guard process does the same when the
 * program dies before.
 */
#ifndef TESTS_LIB_RUNTIME_HOST_H
#define TESTS_LIB_RUNTIME_HOST_H

#include "lib/box/hier.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct runtime_host {
	struct hier hier;
	char dir[64];		      /* the test's own, gone with the host */
	char packages[HIER_PATH_MAX]; /* where the runtimes were unpacked */
	char cgroup[64];	      /* "/graced-<what>-<pid>" from each hierarchy's root */
	char daemons[HIER_PATH_MAX];  /* cgroup directory of the daemons */
	char helpers[HIER_PATH_MAX];  /* where the helper programs are */
	int guard_fd;
	pid_t guard_pid;
};

/*
 * Opens the host; once per program, before it has threads. PATH, HOME and the like become the
 * host's. Where there cannot be one, says why on stderr, leaves *ret NULL and returns 0: the tests
 * skip. -1 when it should have worked.
 */
int runtime_host_open(const char *what, struct runtime_host **ret);

/* 0, or -1 when something would not go away, which stderr tells. NULL is fine. */
int runtime_host_close(struct runtime_host *host);

/* Starts a daemon in the host, its output in <dir>/<name>.log. 0 or -errno. */
int runtime_host_spawn(const struct runtime_host *host, const char *const *argv, const char *name,
		       pid_t *ret);

/* Ends a daemon by signal and reaps it. 0, or -ETIMEDOUT after PATIENCE_S (it is killed then). */
int runtime_host_end(pid_t pid, int sig);

/* Runs a program to its end: its exit status, or -errno. *ret_out is what it printed without the
 * last newline, to be freed; NULL: not wanted. What it says when it fails goes to stderr. */
int runtime_host_run(const char *const *argv, char **ret_out);

/* Waits until a unix socket takes connections: 0, -ETIMEDOUT after PATIENCE_S, or -ECHILD when the
 * process that should listen has ended. */
int runtime_host_await_socket(const char *path, pid_t listener);

/* Writes a file below dir. 0 or -errno. */
int runtime_host_write(const struct runtime_host *host, const char *name, mode_t mode,
		       const char *text);

/* Makes a container image of the helper program "workload" with these arguments, which those of a
 * container replace: ret is the path of a docker archive. stop_signal: "" for none. 0 or -1. */
int runtime_host_image(const struct runtime_host *host, const char *name, const char *stop_signal,
		       const char *const *args, char ret[static HIER_PATH_MAX]);

/* Puts the end of the daemons' logs on stderr: for a test that failed. */
void runtime_host_logs(const struct runtime_host *host);

/* Waits until "workload" runs in the container whose cgroup's name ends in id, and handles SIGTERM
 * if it shall: its pid, or -ETIMEDOUT after PATIENCE_S. */
pid_t runtime_host_await(const struct runtime_host *host, const char *id, bool handles);

#endif
