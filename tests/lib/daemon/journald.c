// SPDX-License-Identifier: Apache-2.0
// Run systemd-journald beside the host's own, and read what it wrote.
#include "lib/daemon/journald.h"

#include "lib/patience.h"
#include "lib/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOURNALD   "/lib/systemd/systemd-journald"
#define JOURNALCTL "/usr/bin/journalctl"
#define REMOTE	   "/lib/systemd/systemd-journal-remote"
#define JOURNAL	   "/var/log/journal"
#define SOCKET	   "/run/systemd/journal/socket"
#define CONF_DIR   "/run/systemd/journald.conf.d"

/* In memory, from nobody but us, and as much as we like. */
static const char conf[] = "[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitBurst=0\n"
			   "RuntimeMaxUse=64M\nForwardToSyslog=no\nForwardToKMsg=no\n"
			   "ForwardToConsole=no\nForwardToWall=no\n";

const char *journald_unavailable(void)
{
	if (geteuid() != 0)
		return "needs root";
	if (access(JOURNALD, X_OK) < 0 || access(JOURNALCTL, X_OK) < 0)
		return "systemd-journald is not installed";
	return access("/etc/machine-id", R_OK) < 0 ? "there is no /etc/machine-id" : NULL;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -EIO;
}

static int make_run(void)
{
	static const char *const dirs[] = {"/run/systemd", "/run/systemd/journal", CONF_DIR,
					   "/run/log", "/run/log/journal"};

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=755") < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (mkdir(dirs[i], 0755) < 0)
			return -errno;
	return write_file(CONF_DIR "/test.conf", conf);
}

static void exec_journald(void) __attribute__((noreturn));
static void exec_journald(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	execl(JOURNALD, JOURNALD, (char *)NULL);
	_exit(127);
}

pid_t journald_start(void)
{
	int r = make_run();
	pid_t pid;

	if (r)
		return r;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exec_journald();
	if (pid < 0)
		return -errno;
	/* Nobody tells when it listens but systemd. */
	for (int i = 0; i < PATIENCE_S * 10; i++) {
		if (access(SOCKET, F_OK) == 0)
			return pid;
		usleep(100000);
	}
	journald_stop(pid);
	return -ETIMEDOUT;
}

void journald_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGCONT);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static json_t *parse_lines(char *text)
{
	json_t *entries = json_array(), *entry;
	char *end;

	for (; entries && *text; text = end) {
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		entry = json_loads(text, 0, NULL);
		if (!entry) {
			json_decref(entries);
			return NULL;
		}
		json_array_append_new(entries, entry);
	}
	return entries;
}

json_t *journald_entries(const char *match)
{
	const char *const args[] = {"-D", "/run/log/journal", "-o", "json", "-q", "--all", match,
				    NULL};
	struct run_result result;
	json_t *entries = NULL;

	if (run(&(struct run_spec){.exe = JOURNALCTL, .args = args}, &result) < 0)
		return NULL;
	/* Without any entry it answers 1, too. */
	if (result.status <= 1)
		entries = parse_lines(result.out);
	run_done(&result);
	return entries;
}

/* --- a journal of entries ---------------------------------------------------------------------- */

const char *journald_import_unavailable(void)
{
	if (geteuid() != 0)
		return "needs root";
	if (access(REMOTE, X_OK) < 0)
		return "systemd-journal-remote is not installed";
	if (access(JOURNAL, F_OK) < 0)
		return "there is no " JOURNAL;
	return access("/etc/machine-id", R_OK) < 0 ? "there is no /etc/machine-id" : NULL;
}

/* Its name is this machine's id. */
static int make_directory(char *ret, size_t size)
{
	FILE *file = fopen("/etc/machine-id", "re");
	char id[33] = "";
	int n;

	if (!file)
		return -errno;
	n = fscanf(file, "%32s", id);
	fclose(file);
	snprintf(ret, size, JOURNAL "/%s", id);
	return n != 1 ? -EBADMSG : mkdir(ret, 0755) < 0 ? -errno : 0;
}

static int hide_journals(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", JOURNAL, "tmpfs", 0, "mode=755") < 0)
		return -errno;
	if (mount("tmpfs", "/run/log/journal", "tmpfs", 0, "mode=755") < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int journald_import(const char *entries)
{
	char directory[PATH_MAX / 2], journal[PATH_MAX];
	const char *const args[] = {"--split-mode=none", "-o", journal, JOURNAL "/entries", NULL};
	struct run_result result;
	int r = hide_journals();

	if (!r)
		r = make_directory(directory, sizeof(directory));
	if (!r)
		r = write_file(JOURNAL "/entries", entries);
	if (r)
		return r;
	snprintf(journal, sizeof(journal), "%s/system.journal", directory);
	r = run(&(struct run_spec){.exe = REMOTE, .args = args}, &result);
	if (r < 0)
		return r;
	r = result.status == 0 ? 0 : -EIO;
	run_done(&result);
	return r;
}
