// SPDX-License-Identifier: Apache-2.0
/* Walks the cgroup file system and finds cgroups by id. */
#include "io/cgroup/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "io/cgroup/priv.h"
#include "io/files/fd.h"

#define SCAN_MAX      262144
#define FILEID_KERNFS 0xfe /* include/linux/exportfs.h: the handle is the 64-bit id itself */

static bool is_cgroup_fs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

int cgfs_open(const char *mount, bool unified, struct cgfs **ret)
{
	size_t len = strlen(mount);
	struct cgfs *cgfs;
	int fd;

	fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	cgfs = calloc(1, sizeof(*cgfs) + len + 1);
	if (!cgfs) {
		close(fd);
		return -ENOMEM;
	}
	cgfs->root_fd = fd;
	cgfs->unified = unified;
	cgfs->handles = is_cgroup_fs(fd);
	memcpy(cgfs->mount, mount, len + 1);
	*ret = cgfs;
	return 0;
}

struct cgfs *cgfs_free(struct cgfs *cgfs)
{
	if (cgfs)
		close(cgfs->root_fd);
	free(cgfs);
	return NULL;
}

const char *cgfs_relative(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

static uint32_t level_of(const char *path)
{
	uint32_t level = 0;

	for (const char *at = path; *at; at++)
		level += at[0] == '/' && at[1] && at[1] != '/';
	return level;
}

/* As is_roots() in bpf/cgroup.bpf.c has it. */
static bool is_roots(const struct stat *st)
{
	if (st->st_uid != 0 || st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) || st->st_gid == 0;
}

uint32_t cgfs_delegated_level(struct cgfs *cgfs, const char *path)
{
	char above[PATH_MAX];
	uint32_t level = 1;
	struct stat st;

	if (fstat(cgfs->root_fd, &st) < 0 || !is_roots(&st))
		return 1;
	for (size_t i = 1; path[0] && path[i] && i < sizeof(above) - 1; i++) {
		if (path[i] != '/' || path[i - 1] == '/')
			continue;
		memcpy(above, path, i);
		above[i] = 0;
		level++;
		if (fstatat(cgfs->root_fd, cgfs_relative(above), &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !is_roots(&st))
			return level;
	}
	return 0;
}

struct walk {
	cgfs_visit_fn visit;
	void *userdata;
	struct cgfs_scan counts;
	size_t len; /* of path, 0 for the root */
	char path[PATH_MAX];
};

/* Visits what is in dir, which parent describes and st is about. */
static int walk_children(struct walk *w, DIR *dir, const struct cgfs_dir *parent,
			 const struct stat *st);

/* Appends a component; the length to go back to in *ret_len. */
static bool walk_push(struct walk *w, const char *name, size_t *ret_len)
{
	size_t n = strlen(name);

	if (w->len + 1 + n >= sizeof(w->path))
		return false;
	*ret_len = w->len;
	w->path[w->len] = '/';
	memcpy(w->path + w->len + 1, name, n + 1);
	w->len += 1 + n;
	return true;
}

static int walk_visit(struct walk *w, struct cgfs_dir *at)
{
	_cleanup_(cleanup_closedir) DIR *d = NULL;
	struct stat st;
	int r;

	/* Opened before the visit, so that the one visited and the one read are the same. */
	r = fd_opendir(at->parent_fd, at->name, &d);
	if (r == 0 && fstat(dirfd(d), &st) < 0)
		r = -errno;
	if (r < 0) {
		w->counts.skipped += !cgfs_is_gone(r);
		return 0;
	}
	at->id = st.st_ino;
	at->path = w->len ? w->path : "/";
	w->counts.visited++;
	r = w->visit(w->userdata, at);
	if (r <= 0)
		return r;
	if (at->level >= CGFS_DEPTH_MAX) {
		w->counts.skipped++;
		return 0;
	}
	return walk_children(w, d, at, &st);
}

static int walk_children(struct walk *w, DIR *dir, const struct cgfs_dir *parent,
			 const struct stat *st)
{
	uint32_t delegated_level = parent->delegated_level;
	struct dirent *entry;
	size_t len;
	int r;

	if (!delegated_level && !is_roots(st))
		delegated_level = parent->level + 1;
	while ((entry = readdir(dir))) {
		struct cgfs_dir child = {.parent_id = parent->id,
					 .level = parent->level + 1,
					 .delegated_level = delegated_level,
					 .parent_fd = dirfd(dir),
					 .name = entry->d_name};

		if (!cgfs_is_subdir(entry))
			continue;
		if (w->counts.visited >= SCAN_MAX || !walk_push(w, entry->d_name, &len)) {
			w->counts.skipped++;
			continue;
		}
		r = walk_visit(w, &child);
		w->len = len;
		w->path[len] = 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int cgfs_scan(struct cgfs *cgfs, const char *from, cgfs_visit_fn visit, void *userdata,
	      struct cgfs_scan *ret)
{
	struct cgfs_dir start = {.path = from, .parent_fd = -1, .name = ""};
	struct walk w = {.visit = visit, .userdata = userdata, .counts.visited = 1};
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct stat st;
	int r;

	w.len = strcmp(from, "/") ? strlen(from) : 0;
	if (w.len >= sizeof(w.path))
		return -ENAMETOOLONG;
	memcpy(w.path, from, w.len);
	r = fd_opendir(cgfs->root_fd, cgfs_relative(from), &dir);
	if (r < 0)
		return r;
	if (fstat(dirfd(dir), &st) < 0)
		return -errno;
	start.id = st.st_ino;
	start.level = level_of(from);
	start.delegated_level = cgfs_delegated_level(cgfs, from);
	r = visit(userdata, &start);
	if (r > 0)
		r = walk_children(&w, dir, &start, &st);
	if (ret)
		*ret = w.counts;
	return r < 0 ? r : 0;
}

bool cgfs_dir_exists(const struct cgfs_dir *dir)
{
	struct stat st;

	if (dir->parent_fd < 0)
		return true;
	return fstatat(dir->parent_fd, dir->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == dir->id;
}

static int open_by_id(struct cgfs *cgfs, uint64_t id)
{
	struct {
		struct file_handle handle;
		unsigned char bytes[sizeof(id)];
	} h = {.handle = {.handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS}};
	int fd;

	if (!cgfs->handles)
		return -EOPNOTSUPP;
	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(cgfs->root_fd, &h.handle, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int take_path(const char *path, char *ret, size_t size, uint32_t *ret_level)
{
	if (strlen(path) >= size)
		return -ENAMETOOLONG;
	strcpy(ret, path);
	*ret_level = level_of(path);
	return 0;
}

/* What the kernel prints for an open directory, less the mount point. */
static int path_of_fd(struct cgfs *cgfs, int fd, char *ret, size_t size, uint32_t *ret_level)
{
	char link[64], path[PATH_MAX];
	size_t prefix = strlen(cgfs->mount);
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	if (n < 0)
		return -errno;
	if ((size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	path[n] = 0;
	if (strncmp(path, cgfs->mount, prefix) || (path[prefix] && path[prefix] != '/'))
		return -ENOENT;
	/* A removed cgroup's path ends in " (deleted)", and so may a living one's name. */
	if (fstatat(cgfs->root_fd, cgfs_relative(path + prefix), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -ENOENT;
	return take_path(path[prefix] ? path + prefix : "/", ret, size, ret_level);
}

struct find {
	uint64_t id;
	char *ret;
	size_t size;
	uint32_t *ret_level;
	int result;
};

static int find_visit(void *userdata, const struct cgfs_dir *dir)
{
	struct find *f = userdata;

	if (dir->id != f->id)
		return 1;
	f->result = take_path(dir->path, f->ret, f->size, f->ret_level);
	return -ECANCELED;
}

int cgfs_path_of(struct cgfs *cgfs, uint64_t id, char *ret, size_t size, uint32_t *ret_level)
{
	struct find f = {id, ret, size, ret_level, -ENOENT};
	struct cgfs_scan counts = {};
	_cleanup_(cleanup_close) int fd = open_by_id(cgfs, id);
	int r;

	if (fd >= 0)
		return path_of_fd(cgfs, fd, ret, size, ret_level);
	if (fd == -ESTALE || fd == -ENOENT)
		return -ENOENT;
	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
		return fd;
	/* Without CAP_DAC_READ_SEARCH all of them are looked at. */
	r = cgfs_scan(cgfs, "/", find_visit, &f, &counts);
	if (r == -ECANCELED)
		return f.result;
	/* It may be in what was skipped. */
	return r == 0 && counts.skipped ? -E2BIG : r < 0 ? r : f.result;
}

int cgfs_id_of(struct cgfs *cgfs, const char *path, uint64_t *ret)
{
	struct stat st;

	if (fstatat(cgfs->root_fd, cgfs_relative(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret = st.st_ino;
	return 0;
}
