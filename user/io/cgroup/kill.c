// SPDX-License-Identifier: Apache-2.0
/* Ends a cgroup's processes: the kernel does it at once where it has cgroup.kill (v2, since 5.14);
 * elsewhere it is sent to each, and to those born meanwhile in the next round. Any other signal
 * goes to one process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/cgroup/fs.h"
#include "io/cgroup/priv.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"

/* How many were listed in a round, and how many of them were sent the signal. */
struct round {
	size_t n, sent;
	uint64_t sum; /* of their numbers */
	int error;    /* -errno of a process that is there and was not sent it; 0: none */
};

struct cgfs_kill {
	int dir;
	struct cgfs_members *members; /* of the round under way; NULL: none is */
	struct round before, now;
	uint32_t rounds; /* that have ended */
};

int cgfs_open_dir(struct cgfs *cgfs, const char *path, uint64_t id)
{
	int dir = openat(cgfs->root_fd, cgfs_relative(path),
			 O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) == 0 && st.st_ino == id)
		return dir;
	close(dir);
	return -ENOENT;
}

/* -errno; -ENOENT where there is no such file, or no such cgroup any more. */
static int kill_at_once(int dir)
{
	_cleanup_(cleanup_close) int fd =
		openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	return write(fd, "1", 1) == 1 ? 0 : -errno;
}

/* A descriptor for each of them, -1 for one that has none. */
static void open_pidfds(const pid_t *pids, size_t n, int *ret, struct round *round)
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = (int)syscall(SYS_pidfd_open, pids[i], 0);
		if (ret[i] < 0 && errno != ESRCH)
			round->error = -errno;
	}
}

/* Which of them are in the file. How many lines of it were read. */
static size_t confirm(struct cgfs_pids_file *file, const pid_t *pids, size_t n, bool *ret)
{
	pid_t least = pids[0], most = pids[0], pid;
	size_t left = n, lines = 0;

	for (size_t i = 0; i < n; i++) {
		least = pids[i] < least ? pids[i] : least;
		most = pids[i] > most ? pids[i] : most;
	}
	while (left && cgfs_pids_file_next(file, &pid)) {
		lines++;
		if (pid < least || pid > most)
			continue;
		for (size_t i = 0; i < n; i++) {
			left -= pids[i] == pid && !ret[i];
			ret[i] |= pids[i] == pid;
		}
	}
	return lines;
}

/* A number may have become another process's until its descriptor was had: who is sent the signal
 * has to be a member after that. One that has moved is found in its new cgroup. */
static int kill_batch(void *userdata, const struct cgfs_batch *batch)
{
	const pid_t *pids = batch->pids;
	size_t n = batch->n;
	bool member[CGFS_BATCH] = {};
	struct round *round = userdata;
	struct cgfs_pids_file file;
	int fds[CGFS_BATCH];
	/* Before the descriptors, which may be all that can be had. */
	int r = cgfs_pids_file_open(batch->dir, &file);

	if (r < 0)
		return r == -ENOENT || r == -ENODEV ? 0 : r;
	open_pidfds(pids, n, fds, round);
	cgfs_use(batch->work, confirm(&file, pids, n, member));
	cgfs_pids_file_close(&file);
	round->n += n;
	for (size_t i = 0; i < n; i++) {
		round->sum += (uint64_t)pids[i];
		if (fds[i] < 0)
			continue;
		if (member[i] && syscall(SYS_pidfd_send_signal, fds[i], SIGKILL, NULL, 0) == 0)
			round->sent++;
		else if (member[i] && errno != ESRCH)
			round->error = -errno;
		close(fds[i]);
	}
	return 0;
}

/* The path may be another cgroup's by now; the open directory is not. */
int cgfs_kill_begin(struct cgfs *cgfs, uint64_t id, struct cgfs_kill **ret)
{
	_cleanup_(cleanup_close) int dir = -1;
	struct cgfs_kill *k;
	char path[PATH_MAX];
	uint32_t level;
	int r = cgfs_path_of(cgfs, id, path, sizeof(path), &level);

	if (r < 0)
		return r;
	if (level == 0)
		return -EPERM;
	dir = cgfs_open_dir(cgfs, path, id);
	if (dir < 0)
		return dir;
	/* Otherwise an older kernel's, or read-only (ProtectControlGroups=). */
	if (cgfs->unified && kill_at_once(dir) >= 0)
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->dir = TAKE_FD(dir);
	*ret = k;
	return 1;
}

static bool is_same(const struct round *a, const struct round *b)
{
	return a->n == b->n && a->sum == b->sum;
}

/*
 * Two rounds in a row have found the same processes, or none: what does not die of it, as in a v1
 * freezer, is not sent it for ever. Where all that were listed had gone before it could be sent
 * there may be others, which they have left behind.
 */
static bool is_over(const struct cgfs_kill *k)
{
	const struct round *now = &k->now;

	return is_same(now, &k->before) || (now->error && !now->sent);
}

int cgfs_kill_step(struct cgfs_kill *k, uint32_t *work)
{
	int r;

	while (*work) {
		if (!k->members) {
			k->now = (struct round){};
			r = cgfs_members_open(k->dir, ".", &k->members);
			if (r < 0)
				return r == -ENOENT ? 0 : r;
		}
		r = cgfs_members_step(k->members, kill_batch, &k->now, work);
		if (r > 0)
			return 1;
		k->members = cgfs_members_free(k->members);
		if (r < 0 && !k->now.error)
			k->now.error = r;
		k->rounds++;
		if (is_over(k))
			return k->now.error;
		k->before = k->now;
	}
	return 1;
}

uint32_t cgfs_kill_rounds(const struct cgfs_kill *k)
{
	return k->rounds;
}

struct cgfs_kill *cgfs_kill_free(struct cgfs_kill *k)
{
	if (!k)
		return NULL;
	cgfs_members_free(k->members);
	close(k->dir);
	free(k);
	return NULL;
}

/* -ESRCH where it is in another cgroup. */
static int check_cgroup(struct cgfs *cgfs, const char *controller, uint64_t id, pid_t pid)
{
	char path[PATH_MAX], of[PATH_MAX];
	uint32_t level;
	size_t len;
	int r = cgfs_path_of(cgfs, id, path, sizeof(path), &level);

	if (r < 0)
		return r;
	if (level == 0)
		return -EPERM;
	r = procfs_cgroup_of(pid, controller, of, sizeof(of));
	if (r < 0)
		return r;
	len = strlen(path);
	return strncmp(of, path, len) == 0 && (!of[len] || of[len] == '/') ? 0 : -ESRCH;
}

/* The descriptor comes first: the process that has it keeps its number until it is reaped. So what
 * is read of that number was the same process's if the signal can be sent then. */
int cgfs_signal(struct cgfs *cgfs, const char *controller, uint64_t id,
		const struct cgfs_process *process, int signal)
{
	_cleanup_(cleanup_close) int fd = -1;
	int r;

	if (signal < 1 || signal > SIGRTMAX || process->pid <= 0)
		return -EINVAL;
	fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	if (fd < 0)
		return -errno;
	if (!procfs_is_process(process->pid, process->start_ns))
		return -ESRCH;
	r = check_cgroup(cgfs, controller, id, process->pid);
	if (r < 0)
		return r;
	return syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) == 0 ? 0 : -errno;
}
