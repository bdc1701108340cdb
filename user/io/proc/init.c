// SPDX-License-Identifier: Apache-2.0
/* Which process of a container is its init, and in which cgroup a process is. */
#include "io/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/fd.h"

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

/* As in bpf/init.bpf.h. */
bool procfs_is_runtime(const char *exe)
{
	static const char *const names[] = {"runc", "crun", "criu", "youki"};
	static const char memfd[] = "memfd:";

	if (strncmp(exe, memfd, strlen(memfd)) == 0)
		exe += strlen(memfd);
	exe += *exe == '.';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(exe, names[i], len) == 0 && !(exe[len] >= 'a' && exe[len] <= 'z'))
			return true;
	}
	return false;
}

/* PID 1 of a pid namespace further down than ours, its parent outside. */
static bool is_pid1(const struct procfs_proc *procs, size_t n, const struct procfs_proc *p)
{
	return p->proc.ns_pid == 1 && p->ns_depth > 1 && !is_member(procs, n, p->ppid);
}

/*
 * The oldest process whose pid namespace holds the one of pid1 without being it: that is in the
 * container's init's own, so nobody in there is older, unless pid1 is a sandbox's whose parent has
 * died.
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

		p->stage = !pid1 && procfs_is_runtime(p->proc.exe);
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

int procfs_cgroup_of(pid_t pid, const char *controller, char *ret, size_t size)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	n = fd_read_all(AT_FDCWD, path, TEXT_MAX, &text);
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	return procfs_parse_cgroup(text, controller, ret, size);
}
