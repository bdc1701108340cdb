// SPDX-License-Identifier: Apache-2.0
// Make and remove cgroups with one process each as fast as the kernel lets us.
#include "lib/box/many.h"

#include "lib/box/hier.h"
#include "lib/box/page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child of vfork() borrows our memory: system calls only. */
static int live(const char *procs, const char *workload, const char *code)
{
	int status, fd;
	pid_t pid = vfork();

	if (pid == 0) {
		fd = open(procs, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(126);
		/* Not the page and the pipe of a process that a test looks into. */
		close(PAGE_FD);
		close(READY_FD);
		execl(workload, "workload", "exit", code, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) < 126)
		return 0;
	fprintf(stderr, "a process for %s ended with status %#x\n", procs, (unsigned int)status);
	return -ECHILD;
}

static int live_in(const char *parent, const char *dir, const struct many_spec *spec, int code)
{
	char procs[2 * HIER_PATH_MAX + 32], text[16];
	int r;

	if ((mkdir(parent, 0755) < 0 && errno != EEXIST) || mkdir(dir, 0755) < 0)
		return -errno;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	snprintf(text, sizeof(text), "%d", code);
	r = live(procs, spec->workload, text);
	return r ? r : cg_remove(dir);
}

static int make(const struct many_spec *spec, uint32_t number)
{
	char parent[HIER_PATH_MAX], dir[2 * HIER_PATH_MAX];
	struct many_life life = {};
	int r;

	spec->fn(spec->userdata, number, &life);
	if (snprintf(parent, sizeof(parent), "%s%s%s", spec->root, life.parent[0] ? "/" : "",
		     life.parent) >= (int)sizeof(parent))
		return -ENAMETOOLONG;
	snprintf(dir, sizeof(dir), "%s/%s", parent, life.leaf);
	r = live_in(parent, dir, spec, life.code);
	if (!r && life.parent[0])
		r = rmdir(parent) < 0 ? -errno : 0;
	return r;
}

static void create(const struct many_spec *spec, uint32_t creator) __attribute__((noreturn));
static void create(const struct many_spec *spec, uint32_t creator)
{
	int r = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint32_t i = creator; i < spec->n && !r; i += MANY_CREATORS)
		r = make(spec, spec->first + i);
	_exit(-r);
}

static bool reap(struct many *many, int flags)
{
	bool all = true;
	int status;

	for (int i = 0; i < MANY_CREATORS; i++) {
		if (!many->creators[i])
			continue;
		if (waitpid(many->creators[i], &status, flags) == 0) {
			all = false;
			continue;
		}
		many->creators[i] = 0;
		if (status && !many->error)
			many->error = WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
	}
	return all;
}

int many_start(const struct many_spec *spec, struct many *ret)
{
	struct many many = {};

	fflush(stdout);
	for (uint32_t i = 0; i < MANY_CREATORS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			create(spec, i);
		if (pid < 0) {
			int r = -errno;

			for (uint32_t k = 0; k < i; k++)
				kill(many.creators[k], SIGKILL);
			many_wait(&many);
			return r;
		}
		many.creators[i] = pid;
	}
	*ret = many;
	return 0;
}

bool many_done(struct many *many)
{
	return reap(many, WNOHANG);
}

int many_wait(struct many *many)
{
	reap(many, 0);
	return many->error;
}

static void name_container(void *userdata, uint32_t number, struct many_life *ret)
{
	snprintf(ret->parent, sizeof(ret->parent),
		 "kubepods/burstable/pod%08x-0000-4000-8000-00000000cafe", number);
	snprintf(ret->leaf, sizeof(ret->leaf), "%056x%08x", 0xcafe, number);
}

int many_containers_start(const struct box_tree *tree, uint32_t first, uint32_t n, struct many *ret)
{
	char workload[HIER_PATH_MAX + 16];
	const struct many_spec spec = {
		.root = tree->root,
		.workload = workload,
		.first = first,
		.n = n,
		.fn = name_container,
	};

	snprintf(workload, sizeof(workload), "%s/workload", tree->helpers);
	return many_start(&spec, ret);
}

int many_containers(const struct box_tree *tree, uint32_t first, uint32_t n)
{
	struct many many;
	int r = many_containers_start(tree, first, n, &many);

	return r ? r : many_wait(&many);
}
