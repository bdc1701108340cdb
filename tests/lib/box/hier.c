// SPDX-License-Identifier: Apache-2.0
// Find the cgroup hierarchy of containers and make, fill and remove cgroups in it.
#include "lib/box/hier.h"

#include "lib/box/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SWEEP_MAX_NS 20000000000ull

static bool has_option(const char *options, const char *want)
{
	size_t len = strlen(want);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, want, len) && (at[len] == ',' || at[len] == '\0'))
			return true;
	}
	return false;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Where a v1 controller (or, with NULL, the cgroup2 tree) is mounted; the first mount wins. */
static int find_mount(const char *controller, char *ret, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	int r = -ENOENT;

	if (!mounts)
		return -errno;
	while (r && (entry = getmntent(mounts))) {
		bool found = controller ? !strcmp(entry->mnt_type, "cgroup") &&
						  has_option(entry->mnt_opts, controller)
					: !strcmp(entry->mnt_type, "cgroup2");

		if (found) {
			copy_text(ret, size, entry->mnt_dir);
			r = 0;
		}
	}
	endmntent(mounts);
	return r;
}

bool cg_has_word(const char *dir, const char *file, const char *word)
{
	char path[HIER_PATH_MAX + 64], text[256] = "";
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	in = fopen(path, "re");
	if (in && !fgets(text, sizeof(text), in))
		text[0] = '\0';
	if (in)
		fclose(in);
	return strstr(text, word) != NULL;
}

int hier_detect(struct hier *ret)
{
	const char *want = getenv("GRACED_TEST_HIERARCHY");
	struct hier hier = {0};
	int r;

	if (find_mount(NULL, hier.v2_mount, sizeof(hier.v2_mount)))
		hier.v2_mount[0] = '\0';
	if (!want || !*want || !strcmp(want, "auto"))
		want = !strcmp(hier.v2_mount, "/sys/fs/cgroup") ? "unified" : "memory";
	hier.unified = !strcmp(want, "unified");
	copy_text(hier.name, sizeof(hier.name), want);
	r = find_mount(hier.unified ? NULL : want, hier.mount, sizeof(hier.mount));
	if (r)
		return r;
	hier.memory = hier.unified ? cg_has_word(hier.mount, "cgroup.controllers", "memory")
				   : !strcmp(want, "memory");
	*ret = hier;
	return 0;
}

/* One line of /proc/<pid>/cgroup is "id:controllers:path"; the unified one has no controllers. */
static bool line_matches(const struct hier *hier, char *line, char **path)
{
	char *controllers = strchr(line, ':');
	char *at = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!at)
		return false;
	*controllers++ = '\0';
	*at++ = '\0';
	at[strcspn(at, "\n")] = '\0';
	*path = at;
	return hier->unified ? *controllers == '\0' : has_option(controllers, hier->name);
}

int hier_path_of(const struct hier *hier, pid_t pid, char *ret, size_t size)
{
	char file[64], line[1024], *path;
	int r = -ENOENT;
	FILE *in;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	in = fopen(file, "re");
	if (!in)
		return -ESRCH;
	while (r && fgets(line, sizeof(line), in)) {
		if (!line_matches(hier, line, &path))
			continue;
		copy_text(ret, size, path);
		r = 0;
	}
	fclose(in);
	return r;
}

int hier_own_path(const struct hier *hier, char *ret, size_t size)
{
	return hier_path_of(hier, getpid(), ret, size);
}

int cg_write(const char *dir, const char *file, const char *text)
{
	char path[HIER_PATH_MAX + 64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

int cg_enter(const char *dir, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return cg_write(dir, "cgroup.procs", text);
}

int hier_make(const struct hier *hier, const char *dir, bool delegate)
{
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	if (!hier->unified || !hier->memory || !delegate)
		return 0;
	return cg_write(dir, "cgroup.subtree_control", "+memory");
}

int hier_limit_memory(const struct hier *hier, const char *dir, uint64_t bytes)
{
	static const char memory_v1[] = "memory.limit_in_bytes";
	static const char with_swap_v1[] = "memory.memsw.limit_in_bytes";
	char text[24];
	int r;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	if (!hier->unified)
		/* At each moment that of memory is at most that of both: higher ones go up first. */
		(void)cg_write(dir, with_swap_v1, text);
	r = cg_write(dir, hier->unified ? "memory.max" : memory_v1, text);
	if (r)
		return r;
	r = hier->unified ? cg_write(dir, "memory.swap.max", "0")
			  : cg_write(dir, with_swap_v1, text);
	return r == -ENOENT ? 0 : r;
}

int cg_pids(const char *dir, pid_t *ret, size_t n)
{
	char path[HIER_PATH_MAX + 64];
	size_t found = 0;
	FILE *in;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	while (fscanf(in, "%d", &pid) == 1) {
		if (found < n)
			ret[found] = pid;
		found++;
	}
	fclose(in);
	return (int)found;
}

/* A v1 cgroup has no event for "the last process left", hence the short naps. */
static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static void kill_members(int dir)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC), pid;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (!in) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (fscanf(in, "%d", &pid) == 1)
		if (pid > 1 && pid != getpid())
			kill(pid, SIGKILL);
	fclose(in);
}

int cg_remove(const char *dir)
{
	uint64_t until = page_clock_ns() + SWEEP_MAX_NS;

	while (rmdir(dir) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || page_clock_ns() > until)
			return -errno;
		nap();
	}
	return 0;
}

/* At any depth, so without paths. */
static int sweep_once(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list)
		return -errno;
	kill_members(fd);
	while ((entry = readdir(list)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			sweep_once(fd, entry->d_name);
	closedir(list);
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int cg_sweep(const char *dir)
{
	uint64_t until = page_clock_ns() + SWEEP_MAX_NS;
	int r;

	while ((r = sweep_once(AT_FDCWD, dir)) && r != -ENOENT && page_clock_ns() < until)
		nap();
	return r == -ENOENT ? 0 : r;
}
