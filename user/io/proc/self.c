// SPDX-License-Identifier: Apache-2.0
/* Reads what this process uses, and the name, sockets and pid namespace of the host. */
#include "io/proc/self.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"

uint64_t selfstat_cpu_ns(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int drop_segments(struct dl_phdr_info *info, size_t size, void *userdata)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = info->dlpi_phdr + i;
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			(void)madvise((void *)(from / page * page), p->p_memsz + from % page,
				      MADV_DONTNEED);
	}
	return 0;
}

void self_drop_code(void)
{
	dl_iterate_phdr(drop_segments, NULL);
}

static int read_memory(struct selfstat *ret)
{
	uint64_t pages, resident, page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[128];
	ssize_t n = fd_read_into(AT_FDCWD, "/proc/self/statm", text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &pages, &resident) != 2)
		return -EBADMSG;
	ret->virtual_bytes = pages * page;
	ret->resident_bytes = resident * page;
	return 0;
}

static int read_start(struct selfstat *ret)
{
	struct procfs_stat stat;
	char text[1024];
	ssize_t n = fd_read_into(AT_FDCWD, "/proc/self/stat", text, sizeof(text));
	int r;

	if (n < 0)
		return (int)n;
	r = procfs_parse_stat(text, (size_t)n, &stat);
	if (r >= 0)
		ret->start_wall_ns = (int64_t)stat.start_ns + clock_wall_offset_ns();
	return r;
}

static int count_fds(struct selfstat *ret)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (!dir)
		return -errno;
	/* Without the descriptor of the directory itself. */
	ret->open_fds = 0;
	while ((entry = readdir(dir)))
		ret->open_fds += entry->d_name[0] != '.';
	ret->open_fds--;
	return 0;
}

int selfstat_read(struct selfstat *ret)
{
	struct selfstat stat = {.cpu_ns = selfstat_cpu_ns()};
	struct rlimit limit;
	int r = read_memory(&stat);

	if (r >= 0)
		r = read_start(&stat);
	if (r >= 0)
		r = count_fds(&stat);
	if (r < 0)
		return r;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		stat.max_fds = limit.rlim_cur;
	*ret = stat;
	return 0;
}

/* include/linux/proc_ns.h */
#define INITIAL_PIDNS_INODE  0xEFFFFFFCu
#define INITIAL_TIMENS_INODE 0xEFFFFFFAu

void host_kernel(char *ret, size_t size)
{
	struct utsname name;

	if (uname(&name) < 0)
		snprintf(ret, size, "unknown");
	else
		snprintf(ret, size, "%s %s %s", name.sysname, name.release, name.machine);
}

bool host_is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool host_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool host_in_initial_pidns(void)
{
	struct stat st;

	/* A /proc that is mounted for another namespace has no self. */
	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PIDNS_INODE;
}

bool host_in_initial_timens(void)
{
	struct stat st;

	/* Before Linux 5.6 there is no other. */
	return stat("/proc/self/ns/time", &st) < 0 || st.st_ino == INITIAL_TIMENS_INODE;
}

#define ROOT_MOUNT_MAX 512

/* "254:0 /": the device that is mounted at /, and which directory of it. The last of several mounts
 * there is on top. */
static int read_root_mount(const char *table, char ret[static ROOT_MOUNT_MAX])
{
	_cleanup_(cleanup_free) char *line = NULL;
	_cleanup_(cleanup_fclose) FILE *file = fopen(table, "re");
	size_t size = 0;
	int r = -ENOENT;

	while (file && getline(&line, &size, file) > 0) {
		char device[32], directory[ROOT_MOUNT_MAX - 40], at[4];

		if (sscanf(line, "%*s %*s %31s %471s %3s", device, directory, at) != 3 ||
		    strcmp(at, "/") != 0)
			continue;
		snprintf(ret, ROOT_MOUNT_MAX, "%s %s", device, directory);
		r = 0;
	}
	return r;
}

/* /proc/1/root would need CAP_SYS_PTRACE. */
bool host_is_own_root(void)
{
	char own[ROOT_MOUNT_MAX], host[ROOT_MOUNT_MAX];

	return host_in_initial_pidns() && read_root_mount("/proc/self/mountinfo", own) >= 0 &&
	       read_root_mount("/proc/1/mountinfo", host) >= 0 && strcmp(own, host) == 0;
}
