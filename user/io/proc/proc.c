// SPDX-License-Identifier: Apache-2.0
/* Reads and parses what /proc says of processes. */
#include "io/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "io/files/fd.h"

#define PF_EXITING 0x4 /* include/linux/sched.h; part of /proc's ABI in field 9 */

/* /proc counts in ticks of USER_HZ, which is 100 on every architecture Linux has kept. */
#define TICK_NS 10000000ull

static void copy_name(char ret[static GRACED_COMM_LEN], const char *at, size_t len)
{
	if (len > GRACED_COMM_LEN - 1)
		len = GRACED_COMM_LEN - 1;
	memset(ret, 0, GRACED_COMM_LEN);
	memcpy(ret, at, len);
}

/* pid (comm) state ppid ... : the name may hold anything, so what follows is found from the end. */
int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	struct procfs_stat stat = {};
	char rest[1024];
	uint64_t ticks;
	size_t n;

	if (!open || !close || close < open)
		return -EBADMSG;
	n = len - (size_t)(close + 1 - text);
	if (n >= sizeof(rest))
		n = sizeof(rest) - 1;
	memcpy(rest, close + 1, n);
	rest[n] = 0;
	if (sscanf(rest,
		   " %c %" SCNu32 " %*d %*d %*d %*d %" SCNu32 " %*u %*u %*u %*u %*u %*u %*d %*d"
		   " %*d %*d %*d %*d %" SCNu64,
		   &stat.state, &stat.ppid, &stat.flags, &ticks) != 4)
		return -EBADMSG;
	if (ticks > UINT64_MAX / TICK_NS)
		return -EBADMSG;
	stat.start_ns = ticks * TICK_NS;
	copy_name(stat.comm, open + 1, (size_t)(close - open - 1));
	*ret = stat;
	return 0;
}

/* The kernel escapes newlines in the only free text of this file (Name), so lines are lines. */
static const char *find_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *at = text; *at;) {
		if (strncmp(at, key, len) == 0)
			return at + len;
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return NULL;
}

int procfs_parse_status(const char *text, size_t len, struct procfs_status *ret)
{
	struct procfs_status status = {};
	char copy[8192];
	const char *at;

	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = 0;
	at = find_line(copy, "Uid:");
	if (!at || sscanf(at, "%" SCNu32, &status.uid) != 1)
		return -EBADMSG;
	at = find_line(copy, "NSpid:");
	if (!at)
		return -EBADMSG;
	for (;;) {
		char *end;

		at += strspn(at, " \t");
		status.ns_pid = (uint32_t)strtoul(at, &end, 10);
		if (end == at)
			return -EBADMSG;
		status.ns_depth++;
		at = end + strspn(end, " \t");
		if (*at == '\n' || !*at)
			break;
	}
	*ret = status;
	return 0;
}

static int read_stat(const char *path, struct procfs_stat *ret)
{
	char text[2048];
	ssize_t n = fd_read_into(AT_FDCWD, path, text, sizeof(text));

	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	return procfs_parse_stat(text, (size_t)n, ret);
}

static bool has_left(const struct procfs_stat *stat)
{
	return stat->flags & PF_EXITING || stat->state == 'Z' || stat->state == 'X';
}

/* A leader may leave long before the last of its threads. *ret 0: all of them have left. -errno
 * when one cannot be read. */
static int find_running_thread(pid_t pid, unsigned long *ret)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	int r;

	*ret = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	r = fd_opendir(AT_FDCWD, path, &dir);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	while ((entry = readdir(dir))) {
		unsigned long tid = strtoul(entry->d_name, NULL, 10);
		struct procfs_stat stat;

		if (!tid || tid > INT_MAX)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%lu/stat", pid, tid);
		r = read_stat(path, &stat);
		if (r < 0 && r != -ESRCH)
			return r;
		if (r == 0 && !has_left(&stat)) {
			*ret = tid;
			return 0;
		}
	}
	return 0;
}

/* A program in memory ("/memfd:NAME") has any characters in its name. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (strncmp(path, "/memfd:", 7) == 0)
		return path + 1;
	return slash ? slash + 1 : path;
}

/* tid: a thread that runs; one that has left has no memory, and no program. */
static void read_exe(pid_t pid, unsigned long tid, char ret[static GRACED_COMM_LEN])
{
	static const char deleted[] = " (deleted)";
	char link[64], path[PATH_MAX];
	const char *name;
	ssize_t n;

	memset(ret, 0, GRACED_COMM_LEN);
	snprintf(link, sizeof(link), "/proc/%d/task/%lu/exe", pid, tid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = 0;
	if ((size_t)n > strlen(deleted) && strcmp(path + n - strlen(deleted), deleted) == 0)
		path[(size_t)n - strlen(deleted)] = 0;
	name = base_name(path);
	copy_name(ret, name, strlen(name));
}

void procfs_exe(pid_t pid, char *ret, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, ret, size - 1);
	ret[n > 0 ? n : 0] = 0;
}

/* By /proc/self/fdinfo; -errno. */
static long mount_of(int fd)
{
	char path[64], text[512];
	const char *line;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return n;
	line = strstr(text, "mnt_id:");
	return line ? strtol(line + strlen("mnt_id:"), NULL, 10) : -EBADMSG;
}

/* All of memory's files are on one mount of the kernel's own (mm/shmem.c, shm_mnt). With O_PATH the
 * file is not opened, and /proc's link leads to it without a look-up. */
int procfs_exe_in_memory(pid_t pid)
{
	_cleanup_(cleanup_close) int exe = -EBADF, memory = -EBADF;
	long exe_mount, memory_mount;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	exe = open(link, O_PATH | O_CLOEXEC);
	if (exe < 0)
		return -errno;
	memory = memfd_create("graced", MFD_CLOEXEC);
	if (memory < 0)
		return -errno;
	exe_mount = mount_of(exe);
	memory_mount = mount_of(memory);
	if (exe_mount < 0 || memory_mount < 0)
		return (int)(exe_mount < 0 ? exe_mount : memory_mount);
	return exe_mount == memory_mount;
}

int procfs_read(pid_t pid, uint64_t cgroup_id, struct procfs_proc *ret)
{
	struct procfs_status status;
	struct procfs_proc p = {};
	struct procfs_stat stat;
	char path[64], text[8192];
	unsigned long tid = (unsigned long)pid;
	ssize_t n;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	r = read_stat(path, &stat);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	r = procfs_parse_status(text, (size_t)n, &status);
	if (r < 0)
		return r;
	p.proc.start_ns = stat.start_ns;
	p.proc.cgroup_id = cgroup_id;
	p.proc.pid = (uint32_t)pid;
	p.proc.ns_pid = status.ns_pid;
	p.proc.uid = status.uid;
	memcpy(p.proc.comm, stat.comm, sizeof(p.proc.comm));
	if (has_left(&stat))
		r = find_running_thread(pid, &tid);
	if (r < 0)
		return r;
	if (tid)
		read_exe(pid, tid, p.proc.exe);
	p.ppid = stat.ppid;
	p.ns_depth = status.ns_depth;
	p.exiting = !tid;
	*ret = p;
	return 0;
}

bool procfs_alive(pid_t pid, uint64_t start_ns)
{
	struct procfs_stat stat;
	unsigned long tid;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	r = read_stat(path, &stat);
	if (r < 0)
		return r != -ESRCH;
	if (stat.start_ns != start_ns - start_ns % TICK_NS)
		return false;
	return !has_left(&stat) || find_running_thread(pid, &tid) < 0 || tid;
}

uint64_t procfs_own_capabilities(void)
{
	char text[8192];
	const char *at;

	if (fd_read_into(AT_FDCWD, "/proc/self/status", text, sizeof(text)) < 0)
		return 0;
	at = find_line(text, "CapEff:");
	return at ? strtoull(at, NULL, 16) : 0;
}
