// SPDX-License-Identifier: Apache-2.0
/* Reads who is in a cgroup, and the few figures the kernel keeps of it. */
#include "io/cgroup/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/cgroup/priv.h"
#include "io/files/fd.h"

/* Of one look without an interruption. */
#define PIDS_MAX   65536
#define LOOK_MAX   262144
/* The same where only the first process matters. */
#define SEARCH_MAX 16384
/* Of cgroups that are still to be visited: bytes of names, and levels above the present one. */
#define NAMES_MAX  (8u << 20)
#define LEVELS_MAX 262144

struct level {
	uint64_t id;
	size_t names; /* where those of its children begin */
};

struct cgfs_members {
	int dir;		     /* that is visited */
	struct cgfs_pids_file procs; /* its processes, still to be read */
	DIR *list;		     /* its children, still to be read */
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
	if (m->n_levels == m->room) {
		size_t room = m->room ? 2 * m->room : 16;
		struct level *levels = reallocarray(m->levels, room, sizeof(*levels));

		if (!levels)
			return -ENOMEM;
		m->levels = levels;
		m->room = room;
	}
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
	r = fd_opendir(fd, ".", &m->list);
	if (r < 0)
		note(m, r);
	return 0;
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

/* What was not visited may hold a process. */
static bool has_member(struct cgfs *cgfs, const char *path)
{
	uint32_t work = SEARCH_MAX;
	struct cgfs_members *m;
	int r = cgfs_members_open(cgfs->root_fd, cgfs_relative(path), &m);

	if (r < 0)
		return !cgfs_is_gone(r);
	r = cgfs_members_step(m, found_one, NULL, &work);
	cgfs_members_free(m);
	return r != 0;
}

bool cgfs_populated(struct cgfs *cgfs, const char *path)
{
	uint64_t populated;

	if (cgfs->unified && read_key(cgfs, path, "cgroup.events", "populated", &populated) == 0)
		return populated != 0;
	return has_member(cgfs, path);
}

int cgfs_oom_events(struct cgfs *cgfs, const char *path, uint64_t *ret)
{
	if (!cgfs->unified)
		return -ENOENT;
	return read_key(cgfs, path, "memory.events.local", "oom", ret) == 0 ? 0 : -ENOENT;
}
