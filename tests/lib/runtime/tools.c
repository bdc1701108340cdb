// SPDX-License-Identifier: Apache-2.0
// Run programs in a host for runtimes and wait for what they bring about.
#include "lib/box/page.h"
#include "lib/patience.h"
#include "lib/runtime/host.h"
#include "io/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#define OUTPUT_MAX (1u << 20)
#define LOG_TAIL   1200
#define IMAGE_TOOL "tests/lib/runtime_image.sh"
#define IMAGE_ARGS 8

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* --- programs --- */

static void exec_daemon(const struct runtime_host *host, const char *const *argv, int log)
	__attribute__((noreturn));
static void exec_daemon(const struct runtime_host *host, const char *const *argv, int log)
{
	int null = open("/dev/null", O_RDONLY);

	setsid();
	if (cg_enter(host->daemons, getpid()) || dup2(null, 0) < 0 || dup2(log, 1) < 0 ||
	    dup2(log, 2) < 0)
		_exit(126);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

int runtime_host_spawn(const struct runtime_host *host, const char *const *argv, const char *name,
		       pid_t *ret)
{
	char path[128];
	pid_t pid;
	int log;

	snprintf(path, sizeof(path), "%s/%s.log", host->dir, name);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (log < 0)
		return -errno;
	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid == 0)
		exec_daemon(host, argv, log);
	close(log);
	if (pid < 0)
		return -errno;
	*ret = pid;
	return 0;
}

int runtime_host_end(pid_t pid, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return -errno;
	kill(pid, sig);
	r = poll(&ended, 1, 30000) == 1 ? 0 : -ETIMEDOUT;
	if (r)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	return r;
}

static void exec_tool(const char *const *argv, int out) __attribute__((noreturn));
static void exec_tool(const char *const *argv, int out)
{
	int null = open("/dev/null", O_RDONLY);

	if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* What it and all it leaves behind write into the file; daemons keep no pipe of ours open. */
static char *take_output(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = len >= 0 && len < OUTPUT_MAX ? calloc(1, (size_t)len + 1) : NULL;

	if (text && pread(fd, text, (size_t)len, 0) < 0)
		text[0] = '\0';
	while (text && len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	return text;
}

int runtime_host_run(const char *const *argv, char **ret_out)
{
	int out = memfd_create("output", MFD_CLOEXEC), status = 0;
	char *text;
	pid_t pid;

	if (out < 0)
		return -errno;
	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid == 0)
		exec_tool(argv, out);
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		close(out);
		return -errno;
	}
	text = take_output(out);
	close(out);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (status)
		fprintf(stderr, "%s %s: status %d: %s\n", argv[0], argv[1] ? argv[1] : "", status,
			text ? text : "");
	if (ret_out && !status && text)
		*ret_out = text;
	else
		free(text);
	return status;
}

/* --- files --- */

int runtime_host_write(const struct runtime_host *host, const char *name, mode_t mode,
		       const char *text)
{
	char path[HIER_PATH_MAX];
	size_t len = strlen(text);
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/%s", host->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		r = -EIO;
	close(fd);
	return r;
}

int runtime_host_image(const struct runtime_host *host, const char *name, const char *stop_signal,
		       const char *const *args, char ret[static HIER_PATH_MAX])
{
	const char *last = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	char program[HIER_PATH_MAX + 16];
	const char *argv[IMAGE_ARGS + 6] = {IMAGE_TOOL, name, stop_signal, ret, program};

	snprintf(program, sizeof(program), "%s/workload", host->helpers);
	snprintf(ret, HIER_PATH_MAX, "%s/image-%.*s.tar", host->dir, (int)strcspn(last, ":"), last);
	for (size_t i = 0; args[i] && i < IMAGE_ARGS; i++)
		argv[5 + i] = args[i];
	return runtime_host_run(argv, NULL) ? -1 : 0;
}

static void show_tail(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[LOG_TAIL + 1];
	off_t len = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, LOG_TAIL, len > LOG_TAIL ? len - LOG_TAIL : 0);

	if (n > 0)
		fprintf(stderr, "%s:\n%.*s\n", path, (int)n, text);
	if (fd >= 0)
		close(fd);
}

void runtime_host_logs(const struct runtime_host *host)
{
	DIR *list = opendir(host->dir);
	char path[HIER_PATH_MAX];
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		size_t len = strlen(entry->d_name);

		if (len < 4 || strcmp(entry->d_name + len - 4, ".log"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", host->dir, entry->d_name);
		show_tail(path);
	}
	if (list)
		closedir(list);
}

/* --- waiting --- */

static int try_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r = 0;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int runtime_host_await_socket(const char *path, pid_t listener)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;

	while (try_connect(path)) {
		if (waitpid(listener, NULL, WNOHANG) == listener)
			return -ECHILD;
		if (page_clock_ns() > until)
			return -ETIMEDOUT;
		nap();
	}
	return 0;
}

/* nftw() has no argument for its caller: one search at a time. */
static struct {
	const char *id;
	char *dir;
} sought;

static int is_sought(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t len = strlen(path), id_len = strlen(sought.id);

	if (type != FTW_D || len < id_len || strcmp(path + len - id_len, sought.id))
		return 0;
	snprintf(sought.dir, HIER_PATH_MAX, "%s", path);
	return 1;
}

static bool find_cgroup(const struct runtime_host *host, const char *id, char *ret)
{
	char root[2 * HIER_PATH_MAX];

	snprintf(root, sizeof(root), "%s%s", host->hier.mount, host->cgroup);
	sought.id = id;
	sought.dir = ret;
	return nftw(root, is_sought, 8, FTW_PHYS) == 1;
}

/* Whether it executes the program of the test's images, by whatever name it goes. */
static bool is_workload(pid_t pid)
{
	char path[64], exe[HIER_PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n < 0)
		return false;
	exe[n] = '\0';
	return !strcmp(basename(exe), "workload");
}

/* Whether it has come as far as its behaviour says. */
static bool is_set_up(pid_t pid, bool handles)
{
	struct procsig_status status;

	return is_workload(pid) && (!handles || (procfs_sig_status(pid, &status) == 0 &&
						 (status.caught >> (SIGTERM - 1) & 1)));
}

pid_t runtime_host_await(const struct runtime_host *host, const char *id, bool handles)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	char dir[HIER_PATH_MAX] = "";
	pid_t pids[16];

	while (page_clock_ns() < until) {
		int n = dir[0] || find_cgroup(host, id, dir) ? cg_pids(dir, pids, 16) : 0;

		for (int i = 0; i < n && i < 16; i++)
			if (is_set_up(pids[i], handles))
				return pids[i];
		nap();
	}
	return -ETIMEDOUT;
}
