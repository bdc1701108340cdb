// SPDX-License-Identifier: Apache-2.0
// Make a private host for container runtimes, and take everything in it down again.
#include "lib/runtime/host.h"

#include "lib/kernel/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PACKAGES_TOOL "tools/runtimes"

/* --- the end --- */

/* The cgroup in every hierarchy: first the containers', where all processes are. */
static int sweep(const struct runtime_host *host)
{
	char pattern[128], dir[HIER_PATH_MAX + 64];
	glob_t found;
	int r;

	snprintf(dir, sizeof(dir), "%s%s", host->hier.mount, host->cgroup);
	r = cg_sweep(dir);
	snprintf(pattern, sizeof(pattern), "/sys/fs/cgroup/*%s", host->cgroup);
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return r;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		int s = cg_sweep(found.gl_pathv[i]);

		r = r ? r : s;
	}
	globfree(&found);
	return r;
}

static void remove_files(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "exec rm -rf --one-file-system %s", dir);
	if (system(command))
		fprintf(stderr, "%s is not all gone\n", dir);
}

/*
 * The guard stays in the mount namespace of before, where the runtimes' mounts are not seen and
 * directories are removed with whatever is mounted on them elsewhere. The end of the pipe tells it
 * that the program has closed its host, or died. It is in a session of its own, so that who ends a
 * test does not end it.
 */
static void guard_main(const struct runtime_host *host, int fd) __attribute__((noreturn));
static void guard_main(const struct runtime_host *host, int fd)
{
	ssize_t n;
	char byte;
	int r;

	setsid();
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	r = sweep(host);
	if (r)
		fprintf(stderr, "cgroups %s do not go away: %s\n", host->cgroup, strerror(-r));
	remove_files(host->dir);
	_exit(r || access(host->dir, F_OK) == 0);
}

static int guard_start(struct runtime_host *host)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	fflush(stdout);
	host->guard_pid = fork();
	if (host->guard_pid == 0) {
		close(fds[1]);
		guard_main(host, fds[0]);
	}
	close(fds[0]);
	host->guard_fd = fds[1];
	return host->guard_pid < 0 ? -errno : 0;
}

int runtime_host_close(struct runtime_host *host)
{
	int r, status = 0;

	if (!host)
		return 0;
	r = sweep(host);
	/* Runtimes leave children to whoever takes in orphans, which is this program. */
	close(host->guard_fd);
	if (waitpid(host->guard_pid, &status, 0) < 0 || status)
		r = -EBUSY;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	free(host);
	return r ? -1 : 0;
}

/* --- the beginning --- */

/* The first line of what the tool prints: the directory, or (exit status 77) why there is none. */
static int find_packages(char *ret, size_t size)
{
	FILE *out = popen(PACKAGES_TOOL, "r");
	int status;

	if (!out || !fgets(ret, (int)size, out))
		snprintf(ret, size, PACKAGES_TOOL " says nothing");
	ret[strcspn(ret, "\n")] = '\0';
	status = out ? pclose(out) : -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOENT;
}

static int bind_over(const struct runtime_host *host, const char *name, const char *target)
{
	char from[128];

	snprintf(from, sizeof(from), "%s/%s", host->dir, name);
	if (mkdir(from, 0755) < 0 || mount(from, target, NULL, MS_BIND, NULL) < 0)
		return -errno;
	return 0;
}

static int enter_namespace(const struct runtime_host *host)
{
	int r;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	r = bind_over(host, "run", "/run");
	return r ? r : bind_over(host, "lib", "/var/lib");
}

/*
 * crun needs a library from among the packages, which podman does not let it know of; and on a
 * hybrid host it does not start while the cgroup2 tree has controllers, so that it may not see it.
 */
static int write_crun(const struct runtime_host *host)
{
	char text[2 * HIER_PATH_MAX + 256], dir[128];

	snprintf(text, sizeof(text),
		 "#!/bin/sh\n"
		 "export LD_LIBRARY_PATH='%s'\n"
		 "if [ \"$1\" != inner ]; then exec unshare -m \"$0\" inner \"$@\"; fi\n"
		 "shift\n"
		 "umount /sys/fs/cgroup/unified 2>/dev/null\n"
		 "exec %s/usr/bin/crun \"$@\"\n",
		 getenv("LD_LIBRARY_PATH"), host->packages);
	snprintf(dir, sizeof(dir), "%s/bin", host->dir);
	if (mkdir(dir, 0755) < 0)
		return -errno;
	return runtime_host_write(host, "bin/crun", 0755, text);
}

static int set_environment(const struct runtime_host *host)
{
	char path[3 * HIER_PATH_MAX], pattern[2 * HIER_PATH_MAX];
	static const char *const unwanted[] = {"DOCKER_HOST",	      "DOCKER_CONTEXT",
					       "CONTAINER_HOST",      "CONTAINERD_ADDRESS",
					       "XDG_RUNTIME_DIR",     "XDG_CONFIG_HOME",
					       "CONTAINERD_NAMESPACE"};
	glob_t libraries;

	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		unsetenv(unwanted[i]);
	snprintf(path, sizeof(path), "%s/bin:%s/usr/sbin:%s/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		 host->dir, host->packages, host->packages);
	snprintf(pattern, sizeof(pattern), "%s/usr/lib/*-linux-gnu*", host->packages);
	if (glob(pattern, 0, NULL, &libraries))
		return -ENOENT;
	setenv("PATH", path, 1);
	setenv("LD_LIBRARY_PATH", libraries.gl_pathv[0], 1);
	globfree(&libraries);
	setenv("HOME", host->dir, 1);
	return write_crun(host);
}

static int make_cgroup(struct runtime_host *host)
{
	char dir[HIER_PATH_MAX];
	int r;

	snprintf(dir, sizeof(dir), "%.400s%s", host->hier.mount, host->cgroup);
	snprintf(host->daemons, sizeof(host->daemons), "%.400s%s/daemons", host->hier.mount,
		 host->cgroup);
	r = hier_make(&host->hier, dir, false);
	return r ? r : hier_make(&host->hier, host->daemons, false);
}

static int host_open(struct runtime_host *host, const char *what)
{
	char *helpers = getenv("HELPERS"), *real;
	int r;

	if (!helpers || !(real = realpath(helpers, NULL)))
		return -ENOENT;
	snprintf(host->helpers, sizeof(host->helpers), "%s", real);
	free(real);
	snprintf(host->dir, sizeof(host->dir), "/tmp/graced-%s-%d-XXXXXX", what, (int)getpid());
	snprintf(host->cgroup, sizeof(host->cgroup), "/graced-%s-%d", what, (int)getpid());
	if (!mkdtemp(host->dir) || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	r = guard_start(host);
	if (r)
		return r;
	r = enter_namespace(host);
	if (!r)
		r = set_environment(host);
	return r ? r : make_cgroup(host);
}

int runtime_host_open(const char *what, struct runtime_host **ret)
{
	struct runtime_host *host = calloc(1, sizeof(*host));
	const char *why = tracer_unavailable();
	int r;

	*ret = NULL;
	if (!host)
		return -1;
	host->guard_fd = -1;
	if (!why && hier_detect(&host->hier))
		why = "no cgroup hierarchy for containers is mounted";
	if (!why && find_packages(host->packages, sizeof(host->packages)))
		why = host->packages;
	if (why) {
		fprintf(stderr, "SKIP %s: %s\n", what, why);
		free(host);
		return 0;
	}
	r = host_open(host, what);
	if (r) {
		fprintf(stderr, "%s: there can be no host for runtimes: %s\n", what, strerror(-r));
		if (host->guard_fd >= 0)
			runtime_host_close(host);
		return -1;
	}
	*ret = host;
	return 0;
}
