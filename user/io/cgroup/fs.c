// SPDX-License-Identifier: Apache-2.0
/* Walks the cgroup file system, finds cgroups by id, and reads their members and figures. */
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
#include <time.h>

#include "base/room.h"
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
	/* Opened before the visit, so that the one visited and the one read are the same. */
	_cleanup_(cleanup_close) int fd = fd_open_dir(at->parent_fd, at->name);
	_cleanup_(cleanup_closedir) DIR *d = NULL;
	struct stat st;
	int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;

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
	d = at->level < CGFS_DEPTH_MAX ? fdopendir(fd) : NULL;
	if (!d) {
		w->counts.skipped++;
		return 0;
	}
	TAKE_FD(fd);
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

/* Limits of one look without an interruption. */
#define PIDS_MAX   65536
#define LOOK_MAX   262144
/* The same where only the first process matters. */
#define SEARCH_MAX 16384
#define SEARCHES   32
#define PAUSE_NS   7000 /* the kernel's timer slack adds some 50,000 */
/* Limits of cgroups still to be visited: bytes of names, and levels above the present one. */
#define NAMES_MAX  (8u << 20)
#define LEVELS_MAX 262144

struct level {
	uint64_t id;
	size_t names; /* where those of its children begin */
};

struct cgfs_members {
	int dir;		     /* that is visited */
	struct cgfs_pids_file procs; /* its processes, still to be read */
	bool unlisted;		     /* its children are still to be listed */
	DIR *list;		     /* ... and to be read */
	struct level *levels;	     /* from the first directory to this one */
	size_t n_levels, room;
	char *names; /* of cgroups still to be visited, each with its NUL, the deepest last */
	size_t names_len, names_room;
	int error; /* the first that kept it from visiting a cgroup; 0: none */
	pid_t pids[CGFS_BATCH];
};

int cgfs_pids_file_open(int dir, struct cgfs_pids_file *ret)
{
	*ret = (struct cgfs_pids_file){};
	ret->fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return ret->fd < 0 ? -errno : 0;
}

void cgfs_pids_file_close(struct cgfs_pids_file *file)
{
	cleanup_close(&file->fd);
	file->fd = -1;
}

/* Makes text[at] the beginning of a whole line. False at the end of the file. A threaded cgroup
 * refuses to be read; its processes are listed further up. */
static bool next_line(struct cgfs_pids_file *file)
{
	ssize_t n;

	while (!memchr(file->text + file->at, '\n', file->len - file->at)) {
		memmove(file->text, file->text + file->at, file->len - file->at);
		file->len -= file->at;
		file->at = 0;
		/* No number is that long. */
		if (file->len == sizeof(file->text) - 1)
			file->len = 0;
		n = file->fd < 0 ? 0
				 : fd_read_full(file->fd, file->text + file->len,
						sizeof(file->text) - 1 - file->len);
		if (n < 0 && n != -EOPNOTSUPP && !cgfs_is_gone((int)n))
			file->error = (int)n;
		if (n <= 0) {
			cgfs_pids_file_close(file);
			if (!file->len)
				return false;
			file->text[file->len] = '\n';
			n = 1;
		}
		file->len += (size_t)n;
	}
	return true;
}

bool cgfs_pids_file_next(struct cgfs_pids_file *file, pid_t *ret)
{
	while (next_line(file)) {
		const char *line = file->text + file->at;
		const char *end = memchr(line, '\n', file->len - file->at);
		unsigned long pid = *line >= '0' && *line <= '9' ? strtoul(line, NULL, 10) : 0;

		file->at = (size_t)(end + 1 - file->text);
		/* 0 is a process outside our own pid namespace. */
		if (!pid || pid > INT32_MAX)
			continue;
		*ret = (pid_t)pid;
		return true;
	}
	return false;
}

static void note(struct cgfs_members *m, int error)
{
	if (!m->error && !cgfs_is_gone(error))
		m->error = error;
}

static int push_level(struct cgfs_members *m, uint64_t id)
{
	if (!ROOM_FOR_ONE(m->levels, m->n_levels, m->room, 16))
		return -ENOMEM;
	m->levels[m->n_levels++] = (struct level){.id = id, .names = m->names_len};
	return 0;
}

static int push_name(struct cgfs_members *m, const char *name)
{
	size_t size = strlen(name) + 1;

	if (m->names_len + size > NAMES_MAX)
		return -E2BIG;
	if (m->names_len + size > m->names_room) {
		size_t room = m->names_room ? 2 * m->names_room : 4096;
		char *names = realloc(m->names, room);

		if (!names)
			return -ENOMEM;
		m->names = names;
		m->names_room = room;
	}
	memcpy(m->names + m->names_len, name, size);
	m->names_len += size;
	return 0;
}

/* Makes fd, which becomes the walk's in any case, the directory that is visited. */
static int enter(struct cgfs_members *m, int fd)
{
	struct stat st;
	int r = fstat(fd, &st) < 0 ? -errno : push_level(m, st.st_ino);

	if (r < 0) {
		close(fd);
		return r;
	}
	cleanup_close(&m->dir);
	m->dir = fd;
	r = cgfs_pids_file_open(fd, &m->procs);
	if (r < 0)
		note(m, r);
	m->unlisted = true;
	return 0;
}

/* After its processes, so that none is missed that moves to a child meanwhile. Each child is a link
 * to it; file systems that do not count them have 1. */
static void begin_list(struct cgfs_members *m)
{
	struct stat st;
	int r = fstat(m->dir, &st) < 0 ? -errno : 0;

	m->unlisted = false;
	if (r == 0 && st.st_nlink != 2)
		r = fd_opendir(m->dir, ".", &m->list);
	if (r < 0)
		note(m, r);
}

static int read_pids(struct cgfs_members *m, cgfs_batch_fn fn, void *userdata, uint32_t *work)
{
	size_t n = 0;

	while (n < CGFS_BATCH && cgfs_pids_file_next(&m->procs, m->pids + n))
		n++;
	if (m->procs.error)
		note(m, m->procs.error);
	cgfs_use(work, n + 1);
	return n ? fn(userdata, &(struct cgfs_batch){.dir = m->dir,
						     .id = m->levels[m->n_levels - 1].id,
						     .pids = m->pids,
						     .n = n,
						     .work = work})
		 : 0;
}

static int list_children(struct cgfs_members *m, uint32_t *work)
{
	struct dirent *entry;
	int r;

	while (*work) {
		cgfs_use(work, 1);
		entry = readdir(m->list);
		if (!entry) {
			closedir(m->list);
			m->list = NULL;
			return 0;
		}
		if (!cgfs_is_subdir(entry))
			continue;
		r = push_name(m, entry->d_name);
		if (r < 0)
			note(m, r);
	}
	return 0;
}

static void go_down(struct cgfs_members *m)
{
	size_t end = m->names_len - 1;
	int fd, r;

	while (end > m->levels[m->n_levels - 1].names && m->names[end - 1])
		end--;
	m->names_len = end;
	if (m->n_levels >= LEVELS_MAX) {
		note(m, -E2BIG);
		return;
	}
	fd = openat(m->dir, m->names + end, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	r = fd < 0 ? -errno : enter(m, fd);
	if (r < 0)
		note(m, r);
}

/* A cgroup never gets another parent; in another file system the walk must not leave its tree. */
static int go_up(struct cgfs_members *m)
{
	int fd = openat(m->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	close(m->dir);
	m->dir = fd;
	m->n_levels--;
	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_ino == m->levels[m->n_levels - 1].id ? 0 : -ESTALE;
}

int cgfs_members_step(struct cgfs_members *m, cgfs_batch_fn fn, void *userdata, uint32_t *work)
{
	int r = 0;

	while (*work && r >= 0) {
		if (m->procs.fd >= 0 || m->procs.at < m->procs.len) {
			r = read_pids(m, fn, userdata, work);
			continue;
		}
		if (m->unlisted)
			begin_list(m);
		if (m->list) {
			r = list_children(m, work);
			continue;
		}
		cgfs_use(work, 1);
		if (m->names_len > m->levels[m->n_levels - 1].names)
			go_down(m);
		else if (m->n_levels == 1)
			return m->error;
		else
			r = go_up(m);
	}
	return r < 0 ? r : 1;
}

int cgfs_members_open(int dirfd_, const char *path, struct cgfs_members **ret)
{
	struct cgfs_members *m;
	int fd, r;

	fd = openat(dirfd_, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	m = calloc(1, sizeof(*m));
	if (!m) {
		close(fd);
		return -ENOMEM;
	}
	m->dir = m->procs.fd = -1;
	r = enter(m, fd);
	if (r < 0) {
		cgfs_members_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

int cgfs_members_begin(struct cgfs *cgfs, const char *path, uint64_t id, struct cgfs_members **ret)
{
	_cleanup_(cleanup_close) int dir = cgfs_open_dir(cgfs, path, id);

	return dir < 0 ? dir : cgfs_members_open(dir, ".", ret);
}

struct cgfs_members *cgfs_members_free(struct cgfs_members *m)
{
	if (!m)
		return NULL;
	cgfs_pids_file_close(&m->procs);
	if (m->list)
		closedir(m->list);
	cleanup_close(&m->dir);
	free(m->levels);
	free(m->names);
	free(m);
	return NULL;
}

struct each {
	cgfs_pid_fn fn;
	void *userdata;
	uint32_t left;
	int ended; /* what fn ended it with; 0: it did not */
};

static int each_pid(void *userdata, const struct cgfs_batch *batch)
{
	struct each *each = userdata;

	for (size_t i = 0; i < batch->n && !each->ended; i++) {
		if (!each->left--)
			return -E2BIG;
		each->ended = each->fn(each->userdata, batch->pids[i], batch->id);
	}
	return each->ended;
}

/* Without what could not be visited. */
int cgfs_pids(struct cgfs *cgfs, const char *path, cgfs_pid_fn fn, void *userdata)
{
	struct each each = {.fn = fn, .userdata = userdata, .left = PIDS_MAX};
	struct cgfs_members *m;
	uint32_t work = LOOK_MAX;

	if (cgfs_members_open(cgfs->root_fd, cgfs_relative(path), &m) < 0)
		return 0;
	cgfs_members_step(m, each_pid, &each, &work);
	cgfs_members_free(m);
	return each.ended;
}

int cgfs_parse_key(const char *text, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	for (const char *at = text; *at;) {
		if (strncmp(at, key, len) == 0 && at[len] == ' ' && at[len + 1] >= '0' &&
		    at[len + 1] <= '9') {
			*ret = strtoull(at + len + 1, NULL, 10);
			return 0;
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return -ENOENT;
}

static int read_key(struct cgfs *cgfs, const char *path, const char *file, const char *key,
		    uint64_t *ret)
{
	_cleanup_(cleanup_close) int fd = openat(cgfs->root_fd, cgfs_relative(path),
						 O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = fd_read_into(fd, file, text, sizeof(text));
	return n < 0 ? (int)n : cgfs_parse_key(text, key, ret);
}

static int found_one(void *userdata, const struct cgfs_batch *batch)
{
	return -ECANCELED;
}

/*
 * Decides, in few system calls, for a cgroup that has a process or no child: 1 or 0; -EAGAIN for
 * another. kernfs counts the child directories as links (kernfs_refresh_inode()). They are counted
 * after its processes are read, as one of those may make one and move there.
 */
static int leaf_has_member(struct cgfs *cgfs, const char *path)
{
	_cleanup_(cleanup_close) int dir = openat(cgfs->root_fd, cgfs_relative(path),
						  O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char text[16];
	ssize_t n = dir < 0 ? -EAGAIN : fd_read_into(dir, "cgroup.procs", text, sizeof(text));

	if (n > 0 && *text > '0' && *text <= '9')
		return 1;
	return n == 0 && fstat(dir, &st) == 0 && st.st_nlink == 2 ? 0 : -EAGAIN;
}

/* What was not visited may hold a process. */
static bool search_member(struct cgfs *cgfs, const char *path, uint32_t *work)
{
	struct cgfs_members *m;
	int r = cgfs_members_open(cgfs->root_fd, cgfs_relative(path), &m);

	if (r < 0)
		return !cgfs_is_gone(r);
	r = cgfs_members_step(m, found_one, NULL, work);
	cgfs_members_free(m);
	return r != 0;
}

/* Searches without a pause have missed a moving process many times in a row, as if the two were in
 * step: both wait for the same locks of the kernel. With pauses of several lengths they have not. */
static void fall_out_of_step(int search)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS * (search % 4 + 1)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Cgroups are read one after the other: a process that moves among them is missed where it has left
 * the next for one that was read. One that does nothing else is missed by one search in three. */
static bool has_member(struct cgfs *cgfs, const char *path)
{
	int r = leaf_has_member(cgfs, path);
	uint32_t work = SEARCH_MAX, used = 0;

	if (r >= 0)
		return r;
	for (int i = 0; i < SEARCHES && used <= work; i++) {
		uint32_t before = work;

		if (search_member(cgfs, path, &work))
			return true;
		used = before - work;
		if (i + 1 < SEARCHES)
			fall_out_of_step(i);
	}
	return false;
}

bool cgfs_populated(struct cgfs *cgfs, const char *path)
{
	uint64_t populated;

	if (cgfs->unified && read_key(cgfs, path, "cgroup.events", "populated", &populated) == 0)
		return populated != 0;
	return has_member(cgfs, path);
}

int cgfs_oom_events(struct cgfs *cgfs, const char *path, uint64_t *ret, uint64_t *ret_below)
{
	uint64_t own, all;

	if (!cgfs->unified || read_key(cgfs, path, "memory.events.local", "oom", &own) != 0 ||
	    read_key(cgfs, path, "memory.events", "oom", &all) != 0)
		return -ENOENT;
	*ret = own;
	*ret_below = all > own ? all - own : 0;
	return 0;
}
