// SPDX-License-Identifier: Apache-2.0
/* Reads and parses what /proc says of processes, and chooses inits. */
#include "io/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "graced/runtime.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"

/* include/linux/sched.h; part of /proc's ABI in field 9 */
#define PF_EXITING    0x4
#define PF_FORKNOEXEC 0x40

#define STAGE_NS 3000000000ull /* as in bpf/init.bpf.h */

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
	uint64_t ticks, user, system;
	size_t n;

	if (!open || !close || close < open)
		return -EBADMSG;
	n = len - (size_t)(close + 1 - text);
	if (n >= sizeof(rest))
		n = sizeof(rest) - 1;
	memcpy(rest, close + 1, n);
	rest[n] = 0;
	if (sscanf(rest,
		   " %c %" SCNu32 " %" SCNu32 " %*d %*d %*d %" SCNu32 " %*u %*u %*u %*u %" SCNu64
		   " %" SCNu64 " %*d %*d"
		   " %*d %*d %*d %*d %" SCNu64 " %*u %*d %*u %" SCNu64,
		   &stat.state, &stat.ppid, &stat.pgrp, &stat.flags, &user, &system, &ticks,
		   &stat.code) != 8)
		return -EBADMSG;
	if (ticks > UINT64_MAX / TICK_NS)
		return -EBADMSG;
	stat.cpu_ns = (user + system) * TICK_NS;
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

bool procfs_is_replaced(pid_t pid)
{
	unsigned long size, code, data;
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	return fd_read_into(AT_FDCWD, path, text, sizeof(text)) > 0 &&
	       sscanf(text, "%lu %*u %*u %lu %*u %lu", &size, &code, &data) == 3 && size &&
	       size == data && !code;
}

static int open_pidns(pid_t pid)
{
	char path[64];

	if (procfs_is_replaced(pid))
		return -EBUSY;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

ino_t procfs_pidns(pid_t pid)
{
	_cleanup_(cleanup_close) int fd = open_pidns(pid);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

int procfs_pidns_above(pid_t pid, ino_t pidns)
{
	int fd = open_pidns(pid), n = 0;
	struct stat st;

	for (; fd >= 0 && fstat(fd, &st) == 0 && st.st_ino != pidns; n++) {
		int above = ioctl(fd, NS_GET_PARENT);

		close(fd);
		fd = above;
	}
	if (fd < 0)
		return -ENOENT;
	close(fd);
	return n;
}

uint32_t procfs_ns_pid(const struct procfs_proc *p, ino_t pidns)
{
	int above = pidns ? procfs_pidns_above((pid_t)p->proc.pid, pidns) : 0;
	char path[64], text[8192], *at;
	unsigned long number = 0;

	if (above <= 0)
		return above < 0 ? 0 : p->proc.ns_pid;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", p->proc.pid);
	if (fd_read_into(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	at = (char *)find_line(text, "NSpid:");
	for (int i = above; at && i < (int)p->ns_depth; i++)
		number = strtoul(at + strspn(at, " \t"), &at, 10);
	return (uint32_t)number;
}

int procfs_stat(pid_t pid, pid_t tid, struct procfs_stat *ret)
{
	char path[64], text[2048];
	ssize_t n;

	if (procfs_is_replaced(pid))
		return -EBUSY;
	snprintf(path, sizeof(path), tid ? "/proc/%d/task/%d/stat" : "/proc/%d/stat", pid, tid);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	return procfs_parse_stat(text, (size_t)n, ret);
}

static bool has_left(const struct procfs_stat *stat)
{
	return stat->flags & PF_EXITING || stat->state == 'Z' || stat->state == 'X';
}

static bool is_running(const struct procfs_stat *stat)
{
	return !has_left(stat);
}

static bool is_ending(const struct procfs_stat *stat)
{
	return stat->flags & PF_EXITING && stat->state != 'Z' && stat->state != 'X';
}

/* Looks at each thread, as a leader may exit long before the others. *ret is 0 if none is wanted.
 * -errno if one cannot be read. */
static int find_thread(pid_t pid, bool (*is_wanted)(const struct procfs_stat *stat),
		       unsigned long *ret)
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
		r = procfs_stat(pid, (pid_t)tid, &stat);
		if (r < 0 && r != -ESRCH)
			return r;
		if (r == 0 && is_wanted(&stat)) {
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
	if (procfs_is_replaced(pid))
		return;
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
	n = procfs_is_replaced(pid) ? -1 : readlink(link, ret, size - 1);
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

	if (procfs_is_replaced(pid))
		return -EBUSY;
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

static bool is_runtime(const char *exe)
{
	__u64 name[2] = {};

	memcpy(name, exe, strnlen(exe, sizeof(name) - 1));
	graced_name_plain(&name[0], &name[1]);
	return graced_makes_containers(name[0]);
}

/* "mnt:[NUMBER]"; false: it may not be read. */
static bool read_mounts(uint32_t pid, char ret[static 64])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/ns/mnt", pid);
	n = procfs_is_replaced((pid_t)pid) ? -1 : readlink(link, ret, 63);
	ret[n > 0 ? n : 0] = 0;
	return n > 0;
}

/*
 * As is_stage() in bpf/init.bpf.h: where it is says so, not its name alone. Its parent is the
 * runtime, and it is young, or has not left the runtime's mounts.
 */
static bool is_stage(const struct procfs_proc *p)
{
	char parent[GRACED_COMM_LEN], own[64], outer[64];

	if (!is_runtime(p->proc.exe) || !p->ppid)
		return false;
	read_exe((pid_t)p->ppid, p->ppid, parent);
	if (!is_runtime(parent))
		return false;
	if (clock_boot_ns() - p->proc.start_ns < STAGE_NS)
		return true;
	return read_mounts((uint32_t)p->proc.pid, own) && read_mounts(p->ppid, outer) &&
	       strcmp(own, outer) == 0;
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

	r = procfs_stat(pid, 0, &stat);
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
		r = find_thread(pid, is_running, &tid);
	if (r < 0)
		return r;
	if (tid)
		read_exe(pid, tid, p.proc.exe);
	p.ppid = stat.ppid;
	p.pgrp = stat.pgrp;
	p.ns_depth = status.ns_depth;
	p.exiting = !tid;
	p.stage = is_stage(&p);
	/* fs/binfmt_elf.c, load_elf_binary(): noted last, behind all that is read of the file. */
	p.execs = !has_left(&stat) && !stat.code;
	p.unexecd = is_runtime(p.proc.exe) && stat.flags & PF_FORKNOEXEC;
	*ret = p;
	return 0;
}

uint32_t procfs_keeper(const struct procfs_proc *init)
{
	char parent[GRACED_COMM_LEN];

	/* PID 1 took over what another has left. */
	if (init->ppid <= 1 || clock_boot_ns() - init->proc.start_ns < STAGE_NS)
		return 0;
	read_exe((pid_t)init->ppid, init->ppid, parent);
	return !parent[0] || is_runtime(parent) ? 0 : init->ppid;
}

static bool started_at(const struct procfs_stat *stat, uint64_t start_ns)
{
	return stat->start_ns == start_ns - start_ns % TICK_NS;
}

bool procfs_is_process(pid_t pid, uint64_t start_ns)
{
	struct procfs_stat stat;

	return procfs_stat(pid, 0, &stat) == 0 && started_at(&stat, start_ns);
}

bool procfs_alive(pid_t pid, uint64_t start_ns)
{
	struct procfs_stat stat;
	unsigned long tid;
	int r = procfs_stat(pid, 0, &stat);

	if (r < 0)
		return r != -ESRCH;
	if (!started_at(&stat, start_ns))
		return false;
	return !has_left(&stat) || find_thread(pid, is_running, &tid) < 0 || tid;
}

bool procfs_ends(pid_t pid)
{
	unsigned long running, ending;

	return find_thread(pid, is_running, &running) == 0 && !running &&
	       find_thread(pid, is_ending, &ending) == 0 && ending;
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

#define TEXT_MAX (256u << 10)

static int by_pid(const void *a, const void *b)
{
	const struct procfs_proc *x = a, *y = b;

	return (x->proc.pid > y->proc.pid) - (x->proc.pid < y->proc.pid);
}

static bool is_member(const struct procfs_proc *procs, size_t n, uint32_t pid)
{
	struct procfs_proc key = {.proc.pid = pid};

	return bsearch(&key, procs, n, sizeof(key), by_pid);
}

static bool older(const struct procfs_proc *a, const struct procfs_proc *b)
{
	if (!b)
		return true;
	if (a->proc.start_ns != b->proc.start_ns)
		return a->proc.start_ns < b->proc.start_ns;
	return a->proc.pid < b->proc.pid;
}

/* pidfd_open(2) takes leaders alone: -EINVAL, and -ENOENT on newer kernels, mean another thread. */
bool procfs_is_thread(pid_t pid)
{
	_cleanup_(cleanup_close) int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 && (errno == EINVAL || errno == ENOENT);
}

/* PID 1 of a pid namespace further down than ours, its parent outside. */
static bool is_pid1(const struct procfs_proc *procs, size_t n, const struct procfs_proc *p)
{
	return p->proc.ns_pid == 1 && p->ns_depth > 1 && !is_member(procs, n, p->ppid);
}

/*
 * The oldest process whose pid namespace holds the one of pid1 without being it: that is in the
 * container's init's own, so no process in there is older, unless pid1 is a sandbox's whose parent
 * has died.
 */
static const struct procfs_proc *older_outside(const struct procfs_proc *procs, size_t n,
					       const struct procfs_proc *pid1)
{
	const struct procfs_proc *oldest = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct procfs_proc *p = procs + i;

		if (p->exiting || p->stage || p->ns_depth >= pid1->ns_depth || !older(p, pid1))
			continue;
		if (older(p, oldest))
			oldest = p;
	}
	return oldest;
}

const struct procfs_proc *procfs_choose_init(struct procfs_proc *procs, size_t n,
					     uint32_t *ret_rank)
{
	const struct procfs_proc *one = NULL, *oldest = NULL, *outside;

	if (n)
		qsort(procs, n, sizeof(*procs), by_pid);
	for (size_t i = 0; i < n; i++) {
		struct procfs_proc *p = procs + i;
		bool pid1 = is_pid1(procs, n, p);

		p->stage &= !pid1;
		if (p->exiting || p->stage)
			continue;
		if (older(p, oldest))
			oldest = p;
		if (pid1 && older(p, one))
			one = p;
	}
	outside = one ? older_outside(procs, n, one) : NULL;
	if (one && !outside) {
		*ret_rank = GRACED_INIT_PID1;
		return one;
	}
	*ret_rank = oldest ? GRACED_INIT_GUESSED : GRACED_INIT_NONE;
	return outside ? outside : oldest;
}

static bool lists(const char *names, size_t len, const char *name)
{
	size_t want = strlen(name);

	for (const char *at = names, *end = names + len; at < end;) {
		const char *stop = memchr(at, ',', (size_t)(end - at));

		if (!stop)
			stop = end;
		if ((size_t)(stop - at) == want && memcmp(at, name, want) == 0)
			return true;
		at = stop + 1;
	}
	return false;
}

/* id:controllers:path, with no controllers for the unified hierarchy */
int procfs_parse_cgroup(const char *text, const char *controller, char *ret, size_t size)
{
	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "\n");
		const char *names = memchr(at, ':', len), *path = NULL;
		size_t n;

		if (names)
			path = memchr(names + 1, ':', len - (size_t)(names + 1 - at));
		if (path) {
			n = (size_t)(path - names - 1);
			if (controller ? lists(names + 1, n, controller) : n == 0) {
				n = len - (size_t)(path + 1 - at);
				if (n >= size)
					return -ENAMETOOLONG;
				memcpy(ret, path + 1, n);
				ret[n] = 0;
				return 0;
			}
		}
		at += len;
		at += *at == '\n';
	}
	return -ENOENT;
}

static int read_cgroup(const char *path, const char *controller, char *ret, size_t size)
{
	_cleanup_(cleanup_free) char *text = NULL;
	ssize_t n = fd_read_all(AT_FDCWD, path, TEXT_MAX, &text);

	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	return procfs_parse_cgroup(text, controller, ret, size);
}

/* The kernel shows "/" of a leader that has left its threads behind. */
int procfs_cgroup_of(pid_t pid, const char *controller, char *ret, size_t size)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	r = read_cgroup(path, controller, ret, size);
	if (r < 0 || strcmp(ret, "/") != 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (fd_opendir(AT_FDCWD, path, &dir) < 0)
		return 0;
	while (strcmp(ret, "/") == 0 && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.15s/cgroup", pid, entry->d_name);
		read_cgroup(path, controller, ret, size);
	}
	return 0;
}

bool procfs_has_child(pid_t pid)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return fd_read_into(AT_FDCWD, path, text, sizeof(text)) > 0;
}

/* --- arguments and environment ---------------------------------------------------------------- */

#define ENVIRON_MAX (4u << 20)

size_t procfs_args(pid_t pid, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	n = fd_read_into(AT_FDCWD, path, ret, size);
	return n > 0 ? (size_t)n : 0;
}

int procfs_has_variable(pid_t pid, const char *variable)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len = strlen(variable);
	bool any = variable[len - 1] == '=';
	char path[64];
	ssize_t n;

	if (procfs_is_replaced(pid))
		return -EBUSY;
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	n = fd_read_all(AT_FDCWD, path, ENVIRON_MAX, &text);
	if (n < 0)
		return (int)n;
	for (const char *at = text; at < text + n; at += strlen(at) + 1)
		if (strncmp(at, variable, len) == 0 && (any || !at[len]))
			return 1;
	return 0;
}
