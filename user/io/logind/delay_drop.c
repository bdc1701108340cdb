// SPDX-License-Identifier: Apache-2.0
/* Reads logind's files, writes one of them. */
#include "io/logind/delay_drop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "wire/config/logind.h"

#define TEMPORARY "." DELAYDROP_NAME ".new"

const char *const delaydrop_places[DELAYDROP_PLACES] = {
	"/etc/systemd",
	"/run/systemd",
	"/usr/local/lib/systemd",
	"/usr/lib/systemd",
};

struct found {
	struct logindconf_file files[DELAYDROP_FILES_MAX];
	size_t n;
	struct delaydrop_files *ret;
};

/* The whole file, through links, as logind reads it; nothing of what is none: /dev/null masks. */
static int read_file(int dirfd, const char *name, struct logindconf_value *ret)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_(cleanup_free) char *text = NULL;
	struct stat st;
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		text = malloc(LOGINDCONF_SIZE_MAX + 1);
		if (!text)
			return -ENOMEM;
		n = fd_read_full(fd, text, LOGINDCONF_SIZE_MAX + 1);
	}
	return logindconf_read(text ? text : "", n > 0 ? (size_t)n : 0, ret);
}

static int add_file(struct found *found, int dirfd, const char *name, const char *as,
		    unsigned int rank)
{
	struct logindconf_file *f = found->files + found->n;
	char *kept;
	int r;

	if (found->n >= DELAYDROP_FILES_MAX)
		return 0;
	kept = strdup(as);
	if (!kept)
		return -ENOMEM;
	found->ret->names[found->ret->n_names++] = kept;
	*f = (struct logindconf_file){.name = kept, .rank = rank};
	r = read_file(dirfd, name, &f->value);
	if (r < 0)
		return r;
	found->n++;
	return 0;
}

static int add_dropins(struct found *found, const char *path, unsigned int rank)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir(path);
	const struct dirent *entry;
	int r = 0;

	while (dir && r == 0 && (entry = readdir(dir)))
		if (logindconf_is_dropin(entry->d_name))
			r = add_file(found, dirfd(dir), entry->d_name, entry->d_name, rank);
	return r;
}

static int add_place(struct found *found, const char *root, unsigned int rank)
{
	char path[PATH_MAX];
	int r = 0;

	snprintf(path, sizeof(path), "%s%s/logind.conf", root, delaydrop_places[rank]);
	if (access(path, F_OK) == 0)
		r = add_file(found, AT_FDCWD, path, "", rank);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s%s/logind.conf.d", root, delaydrop_places[rank]);
	return add_dropins(found, path, rank);
}

int delaydrop_read(const char *root, struct delaydrop_files *ret)
{
	_cleanup_(cleanup_free) struct found *found = calloc(1, sizeof(*found));
	size_t n;
	int r = found ? 0 : -ENOMEM;

	*ret = (struct delaydrop_files){};
	if (r < 0)
		return r;
	found->ret = ret;
	for (unsigned int rank = 0; r == 0 && rank < DELAYDROP_PLACES; rank++)
		r = add_place(found, root, rank);
	if (r < 0) {
		delaydrop_done(ret);
		return r;
	}
	n = logindconf_merge(found->files, found->n);
	for (size_t i = 0; i < n; i++) {
		const struct logindconf_file *f = found->files + i;

		ret->list[i] = (struct delaylimit_file){f->name, f->value.said, f->value.broken,
							f->value.us};
		ret->places[i] = f->rank;
	}
	ret->n = n;
	return 0;
}

void delaydrop_done(struct delaydrop_files *files)
{
	for (size_t i = 0; i < files->n_names; i++)
		free(files->names[i]);
	files->n = files->n_names = 0;
}

static int write_temporary(int dirfd, const char *text)
{
	_cleanup_(cleanup_close) int fd = -1;
	size_t len = strlen(text);

	/* One that a process before this left behind goes. */
	unlinkat(dirfd, TEMPORARY, 0);
	fd = openat(dirfd, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0)
		return -errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : errno ? -errno : -EIO;
}

/* Not synced to disk, which could take long: after a crash an empty file says nothing, and the next
 * start writes it again. */
int delaydrop_write(const char *root, uint64_t us)
{
	_cleanup_(cleanup_close) int dirfd = -1;
	char path[PATH_MAX], text[DELAYLIMIT_TEXT_MAX];
	int r;

	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR, root);
	if (mkdir(path, 0755) == 0)
		/* Whatever the umask: logind's own user reads it. */
		(void)chmod(path, 0755);
	dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	delaylimit_text(us, text);
	errno = 0;
	r = write_temporary(dirfd, text);
	if (r == 0 && renameat(dirfd, TEMPORARY, dirfd, DELAYDROP_NAME) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, TEMPORARY, 0);
	return r;
}

int delaydrop_remove(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR "/" DELAYDROP_NAME, root);
	if (unlink(path) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}
