// SPDX-License-Identifier: Apache-2.0
/* Podman's half of io/sources/files: a container's configuration, and its name out of the storage's
 * list, which is kept as long as nobody wrote it anew. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "io/sources/files/priv.h"

#define LIST_MAX  ((size_t)4 << 20)
#define LIST_KEEP ((size_t)1 << 20) /* a longer one is read each time */

/* A file's times have the grain of a clock tick: one read so soon after a change may have missed
 * another one within the tick, on an inode that came back. */
#define STAMP_GRAIN_NS 100000000ll

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const char *const drivers[] = {"overlay-containers", "vfs-containers", "btrfs-containers",
				      "zfs-containers"};
/* Containers that go when they end (--rm) are in the second. */
static const char *const lists[PODSRC_FILES_LISTS] = {"containers.json",
						      "volatile-containers.json"};

void podsrc_files_forget_lists(struct podsrc_files *src)
{
	for (size_t i = 0; i < ARRAY_LEN(src->lists); i++) {
		free(src->lists[i].text);
		src->lists[i].text = NULL;
	}
}

static bool same_stamp(const struct podsrc_files_stamp *a, const struct podsrc_files_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

static bool has_settled(const struct podsrc_files_stamp *stamp)
{
	int64_t changed = (int64_t)stamp->ctime.tv_sec * 1000000000 + stamp->ctime.tv_nsec;

	return (int64_t)clock_wall_ns() - changed > STAMP_GRAIN_NS;
}

/* The list is written anew whenever a container is made or removed. */
static int ask_list(struct podsrc_files_list *kept, int dirfd, const char *name, const char *id,
		    struct meta_container *ret)
{
	_cleanup_(cleanup_close) int fd = -1;
	_cleanup_(cleanup_free) char *text = NULL;
	struct podsrc_files_stamp stamp;
	size_t len;
	int r;

	r = podsrc_files_open(dirfd, name, &stamp, &fd);
	if (r < 0)
		return r;
	if (kept->text && same_stamp(&kept->stamp, &stamp))
		return ctrjson_storage(kept->text, kept->len, id, ret);
	free(kept->text);
	kept->text = NULL;
	r = podsrc_files_read(fd, &stamp, LIST_MAX, &text, &len);
	if (r < 0)
		return r;
	r = ctrjson_storage(text, len, id, ret);
	if (len <= LIST_KEEP && has_settled(&stamp))
		*kept = (struct podsrc_files_list){stamp, TAKE_PTR(text), len};
	return r;
}

static int ask_lists(struct podsrc_files *src, int dirfd, const char *id,
		     struct meta_container *ret)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(lists) && r == -ENOENT; i++)
		r = podsrc_files_complain(&src->podman, lists[i], id,
					  ask_list(&src->lists[i], dirfd, lists[i], id, ret));
	return r;
}

static int open_userdata(int root, const char *driver, const char *id, int *ret_all,
			 int *ret_userdata)
{
	_cleanup_(cleanup_close) int all = -1, dir = -1;
	int r = podsrc_files_open_dir(root, driver, &all);

	if (r >= 0)
		r = podsrc_files_open_dir(all, id, &dir);
	if (r >= 0)
		r = podsrc_files_open_dir(dir, "userdata", ret_userdata);
	if (r >= 0)
		*ret_all = TAKE_FD(all);
	return r;
}

static int read_userdata(int root, const char *driver, const char *id, int *ret_all,
			 struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int userdata = -1;
	int r = open_userdata(root, driver, id, ret_all, &userdata);

	return r >= 0 ? podsrc_files_bundle(userdata, ret) : r;
}

static int ask_driver(struct podsrc_files *src, int root, const char *driver, const char *id,
		      struct meta_container *ret)
{
	_cleanup_(cleanup_close) int all = -1;
	struct meta_container found = {.source = META_PODMAN, .kind = META_KIND_CONTAINER};
	struct ctrjson_bundle bundle;
	int r;

	r = read_userdata(root, driver, id, &all, &bundle);
	if (r < 0)
		return podsrc_files_complain(&src->podman, "config.json", id, r);
	/* CRI-O's containers are in the same lists. */
	if (bundle.cri)
		return -ENOENT;
	snprintf(found.id, sizeof(found.id), "%s", id);
	r = ask_lists(src, all, id, &found);
	if (r < 0 && r != -ENOENT)
		return r;
	found.stop_signal = bundle.stop_signal;
	if (bundle.grace_told) {
		found.known |= META_CTR_GRACE;
		found.grace_ns = bundle.grace_ns;
	}
	*ret = found;
	return 0;
}

int podsrc_files_ask_podman(struct podsrc_files *src, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int root = -1;
	int r = podsrc_files_complain(&src->podman, src->podman.root, id,
				      podsrc_files_open_part(&src->podman, &root));

	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < ARRAY_LEN(drivers) && r == -ENOENT; i++)
		r = ask_driver(src, root, drivers[i], id, ret);
	return r;
}

int podsrc_files_ask_crio(struct podsrc_files *src, const char *id, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int root = -1;
	int r = podsrc_files_open_part(&src->podman, &root);

	if (r >= 0)
		r = -ENOENT;
	for (size_t i = 0; i < ARRAY_LEN(drivers) && r == -ENOENT; i++) {
		_cleanup_(cleanup_close) int all = -1;

		r = read_userdata(root, drivers[i], id, &all, ret);
	}
	return podsrc_files_complain(&src->podman, "config.json", id, r);
}
