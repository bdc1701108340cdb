// SPDX-License-Identifier: Apache-2.0
// Hold processes in a cgroup of the v1 freezer and let them out again.
#include "lib/box/v1freezer.h"

#include "lib/box/page.h"
#include "lib/patience.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOUNT	 "/sys/fs/cgroup/freezer"
#define PIDS_MAX 256

static void dir_of(pid_t program, char ret[static HIER_PATH_MAX])
{
	snprintf(ret, HIER_PATH_MAX, MOUNT "/graced-%d", (int)program);
}

bool v1freezer_is_here(const struct hier *hier)
{
	return access(MOUNT "/cgroup.procs", W_OK) == 0 && strcmp(hier->name, "freezer") != 0;
}

static int await_state(const char *dir, const char *state)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;

	while (!cg_has_word(dir, "freezer.state", state)) {
		if (page_clock_ns() > until)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return 0;
}

static int hold(const pid_t *pids, int n)
{
	char dir[HIER_PATH_MAX];
	int r = 0;

	dir_of(getpid(), dir);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	for (int i = 0; !r && i < n; i++)
		r = cg_enter(dir, pids[i]);
	if (!r)
		r = cg_write(dir, "freezer.state", "FROZEN");
	return r ? r : await_state(dir, "FROZEN");
}

int v1freezer_hold(const char *cgroup)
{
	pid_t pids[PIDS_MAX];
	int n = cg_pids(cgroup, pids, PIDS_MAX);

	if (n < 0 || n > PIDS_MAX)
		return n < 0 ? n : -E2BIG;
	return hold(pids, n);
}

int v1freezer_hold_process(pid_t pid)
{
	return hold(&pid, 1);
}

int v1freezer_let_out(pid_t program)
{
	pid_t pids[PIDS_MAX];
	char dir[HIER_PATH_MAX];
	int n, r;

	dir_of(program, dir);
	if (access(dir, F_OK) < 0)
		return 0;
	r = cg_write(dir, "freezer.state", "THAWED");
	n = cg_pids(dir, pids, PIDS_MAX);
	/* Who ends meanwhile leaves by itself. */
	for (int i = 0; i < n && i < PIDS_MAX; i++)
		cg_enter(MOUNT, pids[i]);
	return r ? r : cg_remove(dir);
}
