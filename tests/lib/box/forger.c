// SPDX-License-Identifier: Apache-2.0
/* Delegates a cgroup to nobody, who forges a pod in it. */
#include "lib/box/forger.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int join(char ret[HIER_PATH_MAX], const char *dir, const char *name)
{
	return snprintf(ret, HIER_PATH_MAX, "%s/%s", dir, name) < HIER_PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* What systemd hands over, too. */
static int delegate(const struct box_tree *tree, const char *dir)
{
	static const char *const files[] = {".", "cgroup.procs", "cgroup.threads",
					    "cgroup.subtree_control"};
	char path[HIER_PATH_MAX];
	int r = hier_make(&tree->hier, dir, false);

	for (size_t i = 0; r == 0 && i < sizeof(files) / sizeof(*files); i++) {
		r = join(path, dir, files[i]);
		if (r == 0 && chown(path, FORGER_UID, FORGER_UID) < 0 && errno != ENOENT)
			r = -errno;
	}
	return r;
}

/* Never returns; whatever goes wrong is written to out. */
static void forge(const struct forger *f, int out)
{
	int r = cg_enter(f->top, getpid());

	if (r == 0 &&
	    (setgroups(0, NULL) < 0 || setgid(FORGER_UID) < 0 || setuid(FORGER_UID) < 0 ||
	     mkdir(f->pods, 0755) < 0 || mkdir(f->pod, 0755) < 0 || mkdir(f->dir, 0755) < 0))
		r = -errno;
	if (r == 0)
		r = cg_enter(f->dir, getpid());
	if (r == 0) {
		execl("/bin/sleep", "sleep", "3600", NULL);
		r = -errno;
	}
	if (write(out, &r, sizeof(r)) < 0)
		_exit(2);
	_exit(1);
}

static int start(struct forger *f)
{
	int pipe_fds[2], r = 0;
	pid_t self = getpid();

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	f->pid = fork();
	if (f->pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != self)
			_exit(2);
		forge(f, pipe_fds[1]);
	}
	close(pipe_fds[1]);
	if (f->pid < 0)
		r = -errno;
	else if (read(pipe_fds[0], &r, sizeof(r)) == sizeof(r))
		forger_end(f);
	close(pipe_fds[0]);
	return r;
}

int forger_start(const struct box_tree *tree, const char *pod_uid, const char *container_id,
		 struct forger *ret)
{
	char pod[64];
	int r;

	memset(ret, 0, sizeof(*ret));
	snprintf(pod, sizeof(pod), "pod%s", pod_uid);
	r = join(ret->top, tree->root, "app.service");
	if (r == 0)
		r = join(ret->pods, ret->top, "kubepods");
	if (r == 0)
		r = join(ret->pod, ret->pods, pod);
	if (r == 0)
		r = join(ret->dir, ret->pod, container_id);
	if (r == 0)
		r = delegate(tree, ret->top);
	if (r < 0)
		return r;
	snprintf(ret->path, sizeof(ret->path), "%s", box_tree_relative(tree, ret->dir));
	return start(ret);
}

int forger_end(struct forger *f)
{
	if (f->pid > 0 && waitpid(f->pid, NULL, 0) < 0)
		return -errno;
	f->pid = 0;
	return cg_sweep(f->top);
}
