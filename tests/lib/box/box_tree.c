// SPDX-License-Identifier: Apache-2.0
// Make the cgroup subtree of a test and take everything in it down again.
#include "lib/box/box_tree.h"

#include "lib/box/page.h"
#include "lib/box/v1freezer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

const char *box_unavailable(void)
{
	const char *helpers = getenv("HELPERS");
	struct hier hier;
	char path[HIER_PATH_MAX];

	if (geteuid() != 0)
		return "needs root";
	if (!helpers || !*helpers)
		return "HELPERS does not name the directory of the helper programs";
	snprintf(path, sizeof(path), "%s/workload", helpers);
	if (access(path, X_OK) < 0)
		return "the helper program workload is missing";
	if (hier_detect(&hier))
		return "no cgroup hierarchy for containers is mounted";
	return access(hier.mount, W_OK) < 0 ? "the cgroup hierarchy is read-only" : NULL;
}

static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;
	int r = 0;

	if (out < 0 || fstat(in, &st) < 0 ||
	    sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size)
		r = errno ? -errno : -EIO;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return r;
}

static void remove_tmp(const char *tmp)
{
	char path[512];
	struct dirent *entry;
	DIR *list = opendir(tmp);

	while (list && (entry = readdir(list))) {
		snprintf(path, sizeof(path), "%s/%s", tmp, entry->d_name);
		unlink(path);
	}
	if (list)
		closedir(list);
	rmdir(tmp);
}

static int tree_remove(const struct box_tree *tree)
{
	int out = v1freezer_let_out(tree->program);
	int r = cg_sweep(tree->root);
	int s = tree->twin_root[0] ? cg_sweep(tree->twin_root) : 0;

	if (tree->delegated_root)
		cg_write(tree->hier.mount, "cgroup.subtree_control", "-memory");
	remove_tmp(tree->tmp);
	if (!r)
		r = s;
	return r ? r : out;
}

/*
 * The guard outlives a program that dies without closing its tree: the end of the pipe tells it.
 * It is in a session of its own, so that an interrupt from the terminal does not end it first.
 */
static void guard_main(const struct box_tree *tree, int fd) __attribute__((noreturn));
static void guard_main(const struct box_tree *tree, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;
	char byte;

	setsid();
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		tree_remove(tree);
	_exit(0);
}

static int guard_start(struct box_tree *tree)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	tree->guard_pid = fork();
	if (tree->guard_pid == 0) {
		close(fds[1]);
		guard_main(tree, fds[0]);
	}
	close(fds[0]);
	tree->guard_fd = fds[1];
	return tree->guard_pid < 0 ? -errno : 0;
}

static void guard_end(struct box_tree *tree)
{
	ssize_t n = write(tree->guard_fd, "k", 1);

	(void)n;
	close(tree->guard_fd);
	waitpid(tree->guard_pid, NULL, 0);
}

static int make_layout(struct box_tree *tree)
{
	static const char *const below[] = {"", "/kubepods", "/kubepods/burstable"};
	char dir[HIER_PATH_MAX + 32];
	int r = 0;

	if (tree->hier.unified && tree->hier.memory &&
	    !cg_has_word(tree->hier.mount, "cgroup.subtree_control", "memory")) {
		r = cg_write(tree->hier.mount, "cgroup.subtree_control", "+memory");
		tree->delegated_root = !r;
	}
	for (size_t i = 0; !r && i < sizeof(below) / sizeof(below[0]); i++) {
		snprintf(dir, sizeof(dir), "%s%s", tree->root, below[i]);
		r = hier_make(&tree->hier, dir, true);
	}
	if (!r && tree->twin_root[0] && mkdir(tree->twin_root, 0755) < 0)
		r = -errno;
	return r;
}

/* Senders that the tracer shall take for a runtime are a program of that name. */
static int make_tmp(struct box_tree *tree, const char *what)
{
	char from[HIER_PATH_MAX + 16], to[128];

	if (snprintf(tree->tmp, sizeof(tree->tmp), "/tmp/graced-%s-%d-XXXXXX", what,
		     (int)getpid()) >= (int)sizeof(tree->tmp) ||
	    !mkdtemp(tree->tmp))
		return -errno;
	snprintf(from, sizeof(from), "%s/sender", tree->helpers);
	snprintf(to, sizeof(to), "%s/runc", tree->tmp);
	return copy_file(from, to);
}

/* Helpers start in another directory. */
static int absolute(const char *path, char ret[HIER_PATH_MAX])
{
	char *real = realpath(path, NULL);
	int r = real && strlen(real) < HIER_PATH_MAX ? 0 : -ENOENT;

	if (!r)
		memcpy(ret, real, strlen(real) + 1);
	free(real);
	return r;
}

int box_tree_open(struct box_tree *ret, const char *what)
{
	struct box_tree tree = {.guard_fd = -1, .program = getpid()};
	const char *helpers = getenv("HELPERS");
	int r = hier_detect(&tree.hier);

	if (r)
		return r;
	if (!helpers || absolute(helpers, tree.helpers))
		return -ENOENT;
	tree.seed = ((uint64_t)getpid() << 32) ^ page_clock_ns();
	if (snprintf(tree.root, sizeof(tree.root), "%s/graced-%s-%d", tree.hier.mount, what,
		     (int)getpid()) >= (int)sizeof(tree.root))
		return -ENAMETOOLONG;
	if (!tree.hier.unified && tree.hier.v2_mount[0] &&
	    snprintf(tree.twin_root, sizeof(tree.twin_root), "%s/graced-%s-%d", tree.hier.v2_mount,
		     what, (int)getpid()) >= (int)sizeof(tree.twin_root))
		return -ENAMETOOLONG;
	r = make_tmp(&tree, what);
	if (!r)
		r = guard_start(&tree);
	if (!r)
		r = make_layout(&tree);
	*ret = tree;
	if (r)
		box_tree_close(ret);
	return r;
}

int box_tree_close(struct box_tree *tree)
{
	int r;

	if (!tree || !tree->tmp[0])
		return 0;
	r = tree_remove(tree);
	if (tree->guard_fd >= 0)
		guard_end(tree);
	*tree = (struct box_tree){.guard_fd = -1};
	return r;
}

uint64_t box_tree_random(struct box_tree *tree)
{
	uint64_t z = (tree->seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

const char *box_tree_relative(const struct box_tree *tree, const char *dir)
{
	return dir + strlen(tree->hier.mount);
}
