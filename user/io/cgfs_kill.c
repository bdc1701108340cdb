// SPDX-License-Identifier: Apache-2.0
/* Ends a cgroup's processes: the kernel does it at once where it has cgroup.kill (v2, since 5.14);
 * elsewhere each is told, and whoever was born meanwhile in the next round. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/cgfs.h"
#include "io/cgfs_priv.h"
#include "io/fd.h"

#define ROUNDS 256
#define BATCH  256

/* Processes that are told together: those of a walk that come after the first from. */
struct batch {
	size_t from, passed;
	pid_t pids[BATCH];
	int fds[BATCH];
	bool member[BATCH]; /* still, now that its descriptor is had */
	size_t n;
	int error; /* -errno of one who is there and got no descriptor; 0: none */
};

/* Who was found in a round, and how many of them were told. */
struct round {
	size_t n, told;
	uint64_t sum; /* of their numbers */
	int error;    /* -errno of who could not be told; 0: none */
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

static int take(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	struct batch *batch = userdata;
	int fd;

	(void)cgroup_id;
	if (batch->passed++ < batch->from)
		return 0;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0) {
		if (errno != ESRCH)
			batch->error = -errno;
		return 0;
	}
	batch->pids[batch->n] = pid;
	batch->fds[batch->n] = fd;
	return ++batch->n < BATCH ? 0 : -ECANCELED;
}

static int confirm(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	struct batch *batch = userdata;

	(void)cgroup_id;
	for (size_t i = 0; i < batch->n; i++)
		batch->member[i] |= batch->pids[i] == pid;
	return 0;
}

/* A number may have become another process's until its descriptor was had: who is told has to be a
 * member after that. */
static void kill_batch(int dir, struct batch *batch, struct round *round)
{
	cgfs_pids_in(dir, take, batch);
	cgfs_pids_in(dir, confirm, batch);
	for (size_t i = 0; i < batch->n; i++) {
		if (batch->member[i] &&
		    syscall(SYS_pidfd_send_signal, batch->fds[i], SIGKILL, NULL, 0) == 0)
			round->told++;
		else if (batch->member[i] && errno != ESRCH)
			round->error = -errno;
		close(batch->fds[i]);
		round->sum += (uint64_t)batch->pids[i];
	}
	round->n += batch->n;
	if (batch->error)
		round->error = batch->error;
}

/* Who has gone by then moves others out of sight: the next round has them. */
static struct round kill_all(int dir)
{
	struct round round = {};
	struct batch batch;
	size_t from = 0;

	do {
		memset(&batch, 0, sizeof(batch));
		batch.from = from;
		kill_batch(dir, &batch, &round);
		from = batch.passed;
	} while (batch.n == BATCH);
	return round;
}

/* Who does not die of it, as in a v1 freezer, is not told for ever. */
static int kill_in_turn(int dir)
{
	struct round before = {}, now = {};

	for (int i = 0; i < ROUNDS; i++) {
		now = kill_all(dir);
		if (!now.told || (now.n == before.n && now.sum == before.sum))
			break;
		before = now;
	}
	return now.error;
}

/* The path may be another cgroup's by now; the open directory is not. */
int cgfs_kill(struct cgfs *cgfs, uint64_t id)
{
	_cleanup_(cleanup_close) int dir = -1;
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
	if (cgfs->unified) {
		/* Otherwise an older kernel's, or read-only (ProtectControlGroups=). */
		r = kill_at_once(dir);
		if (r >= 0)
			return r;
	}
	return kill_in_turn(dir);
}
