// SPDX-License-Identifier: Apache-2.0
/* Opens all that is asked about, gives up what it may do, and reads only then. */
#include "io/sources/files/home_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/child.h"
#include "wire/runtime/files.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define CONFIG_MAX ((size_t)1 << 20)
#define LIST_MAX   ((size_t)4 << 20)
#define LISTS	   2
#define DRIVERS	   4
#define PASSWD_MAX 16384
#define DOCKER	   ".local/share/docker/containers"
#define PODMAN	   ".local/share/containers/storage"

static const char *const drivers[DRIVERS] = {"overlay", "vfs", "btrfs", "zfs"};
static const char *const lists[LISTS] = {"containers", "volatile-containers"};

/* Descriptors; -1: the file is missing, or may not be read. */
struct opened {
	int docker[SOURCE_HOMES_WAITING];
	int podman[SOURCE_HOMES_WAITING][DRIVERS];
	int lists[DRIVERS][LISTS];
};

/* --- with privileges -------------------------------------------------------------------------- */

static bool find_in(const char *file, uint32_t user, char *ret, size_t size)
{
	_cleanup_(cleanup_fclose) FILE *f = fopen(file, "re");
	const struct passwd *entry;

	while (f && (entry = fgetpwent(f)))
		if (entry->pw_uid == user)
			return snprintf(ret, size, "%s", entry->pw_dir) < (int)size;
	return false;
}

static bool find_home(const struct home_question *q, char *ret, size_t size)
{
	struct passwd entry, *found = NULL;
	char text[PASSWD_MAX];

	if (q->passwd)
		return find_in(q->passwd, q->user, ret, size);
	if (getpwuid_r(q->user, &entry, text, sizeof(text), &found) != 0 || !found)
		return false;
	return snprintf(ret, size, "%s", found->pw_dir) < (int)size;
}

static int open_home(const struct home_question *q)
{
	_cleanup_(cleanup_close) int fd = -1;
	char path[CGPATH_MAX];
	struct stat st;

	if (!find_home(q, path, sizeof(path)) || path[0] != '/')
		return -1;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != q->user)
		return -1;
	return TAKE_FD(fd);
}

/* No link leads elsewhere, no mount of the user's (FUSE) is entered, and a FIFO, or a file that
 * another process holds a lease of, is not waited for. */
static int open_file(int home, uint32_t user, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	/* glibc 2.31 has no SYS_openat2. */
	_cleanup_(cleanup_close) int fd = (int)syscall(__NR_openat2, home, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != user)
		return -1;
	return TAKE_FD(fd);
}

static int open_podman(int home, uint32_t user, const char *driver, const char *rest)
{
	char path[CGPATH_MAX];

	snprintf(path, sizeof(path), PODMAN "/%s-containers/%s", driver, rest);
	return open_file(home, user, path);
}

static void open_container(int home, const struct home_question *q, unsigned int i,
			   struct opened *ret)
{
	const struct home_query *query = &q->queries[i];
	char path[256];

	if (query->runtime != CGPATH_RT_PODMAN) {
		snprintf(path, sizeof(path), DOCKER "/%s/config.v2.json", query->id);
		ret->docker[i] = open_file(home, q->user, path);
		return;
	}
	snprintf(path, sizeof(path), "%s/userdata/config.json", query->id);
	for (size_t d = 0; d < DRIVERS; d++)
		ret->podman[i][d] = open_podman(home, q->user, drivers[d], path);
}

static void open_all(const struct home_question *q, struct opened *ret)
{
	_cleanup_(cleanup_close) int home = open_home(q);
	char path[64];

	memset(ret, -1, sizeof(*ret));
	for (unsigned int i = 0; home >= 0 && i < q->n; i++)
		open_container(home, q, i, ret);
	for (size_t d = 0; home >= 0 && d < DRIVERS; d++)
		for (size_t l = 0; l < LISTS; l++) {
			snprintf(path, sizeof(path), "%s.json", lists[l]);
			ret->lists[d][l] = open_podman(home, q->user, drivers[d], path);
		}
}

/* --- without ---------------------------------------------------------------------------------- */

/* The caller frees *ret. -EFBIG for more than max bytes, however the file grows meanwhile. */
static int read_all(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct stat st;

	if (lseek(fd, 0, SEEK_SET) < 0 || fstat(fd, &st) < 0)
		return -errno;
	*ret_len = (size_t)st.st_size;
	return fd_read_sized(fd, st.st_size, max, ret);
}

static int read_docker(int fd, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r = fd < 0 ? -ENOENT : read_all(fd, CONFIG_MAX, &text, &len);

	return r < 0 ? r : ctrjson_docker(text, len, id, ret);
}

static int read_list(int fd, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r = fd < 0 ? -ENOENT : read_all(fd, LIST_MAX, &text, &len);

	return r < 0 ? r : ctrjson_storage(text, len, id, ret);
}

static int read_podman(const struct opened *opened, unsigned int i, size_t driver, const char *id,
		       struct meta_container *ret)
{
	struct meta_container found = {.source = META_PODMAN, .kind = META_KIND_CONTAINER};
	_cleanup_(cleanup_free) char *text = NULL;
	struct ctrjson_bundle bundle;
	int fd = opened->podman[i][driver], r;
	size_t len;

	r = fd < 0 ? -ENOENT : read_all(fd, CONFIG_MAX, &text, &len);
	if (r >= 0)
		r = ctrjson_bundle(text, len, &bundle);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t l = 0; l < LISTS && r == -ENOENT; l++)
		r = read_list(opened->lists[driver][l], id, &found);
	return r < 0 && r != -ENOENT ? r : ctrjson_podman(&bundle, &found, ret);
}

static int read_container(const struct home_question *q, const struct opened *opened,
			  unsigned int i, struct meta_container *ret)
{
	const struct home_query *query = &q->queries[i];
	int r = -ENOENT;

	if (query->runtime != CGPATH_RT_PODMAN)
		return read_docker(opened->docker[i], query->id, ret);
	for (size_t d = 0; d < DRIVERS && r == -ENOENT; d++)
		r = read_podman(opened, i, d, query->id, ret);
	return r;
}

void home_child_run(void *question, bool confined)
{
	const struct home_question *q = question;
	struct opened opened;

	open_all(q, &opened);
	if (!child_confine())
		child_end(1);
	for (unsigned int i = 0; i < q->n; i++) {
		struct home_answer answer = {.index = i};
		int r = read_container(q, &opened, i, &answer.container);

		answer.result = r == 0 ? META_FOUND : r == -ENOENT ? META_ABSENT : META_FAILED;
		if (send(0, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			child_end(1);
	}
}
