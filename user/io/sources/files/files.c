// SPDX-License-Identifier: Apache-2.0
/*
 * Queries the files of Docker, Podman and containerd for one container at a time. What queries one
 * of them returns 0, -ENOENT for a container that is not there, -ENXIO where the engine itself is
 * not, and -errno for what went wrong, which complain() noted.
 */
#include "io/sources/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "wire/runtime/files.h"

/* --- trusted directories ---------------------------------------------------------------------- */

/* Which file it is, and as of when: equal for a file that was not written since. */
struct source_files_stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

static int judge(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return -EPERM;
	return st->st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

static int open_judged(int dirfd, const char *path, int flags, int *ret_fd)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = judge(&st);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int source_files_open_dir(int dirfd, const char *name, int *ret_fd)
{
	return open_judged(dirfd, name, O_NOFOLLOW, ret_fd);
}

/* Opens a regular file for reading; waits for no FIFO. -EINVAL for anything else. */
static int source_files_open(int dirfd, const char *name, struct source_files_stamp *ret_stamp,
			     int *ret_fd)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r;

	/* A socket, or a device without a driver. */
	if (fd < 0 && errno == ENXIO)
		return -EINVAL;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = judge(&st);
	if (r < 0)
		return r;
	*ret_stamp = (struct source_files_stamp){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim,
	};
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int read_whole(int fd, const struct source_files_stamp *stamp, size_t max, char **ret,
		      size_t *ret_len)
{
	*ret_len = (size_t)stamp->size;
	return fd_read_sized(fd, stamp->size, max, ret);
}

/* --- the engines ------------------------------------------------------------------------------ */

#define CONFIG_MAX ((size_t)1 << 20)
#define LISTS	   2

#define LIST_MAX  ((size_t)4 << 20)
#define LIST_KEEP ((size_t)1 << 20) /* a longer one is read each time */

/* A file's times have the grain of a clock tick: one read so soon after a change may have missed
 * another one within the tick, on an inode that came back. */
#define STAMP_GRAIN_NS 100000000ll

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define NAMESPACES_MAX 256
#define IDENTIFIER_MAX 76 /* pkg/identifiers */
#define PATH_PART_MAX  255
#define CRI_NAMESPACE  "k8s.io" /* internal/cri/constants */

struct part {
	char *root; /* "": not asked */
	char text[160];
	uint64_t failures, lookups[META_RESULT_COUNT];
};

struct list {
	struct source_files_stamp stamp;
	char *text; /* NULL: to be read */
	size_t len;
};

struct source_files {
	struct part docker, podman, containerd;
	struct list lists[LISTS];
	const struct managed_rule *rules;
	size_t n_rules;
};

static int open_part(const struct part *part, int *ret_fd)
{
	/* Links on the way to what an administrator named are theirs, and followed. */
	int r = *part->root ? open_judged(AT_FDCWD, part->root, 0, ret_fd) : -ENOENT;

	return r == -ENOENT ? -ENXIO : r;
}

static const char *reason_of(int r)
{
	switch (-r) {
	case EPERM:
		return "others than root may write to it";
	case ELOOP:
		return "it is a link";
	case ENOTDIR:
		return "what should be a directory is none";
	case EINVAL:
		return "it is no regular file";
	case EFBIG:
		return "it is too big";
	case EBADMSG:
		return "it makes no sense";
	default:
		return strerror(-r);
	}
}

/* Notes what was wrong with a container's file, for people, and returns r. */
static int complain(struct part *part, const char *what, const char *id, int r)
{
	if (r < 0 && r != -ENOENT && r != -ENXIO)
		snprintf(part->text, sizeof(part->text), "%s of %.64s: %s", what, id, reason_of(r));
	return r;
}

static enum meta_result settle(struct part *part, int r)
{
	enum meta_result result = META_FAILED;

	if (r == -ENXIO)
		return META_ABSENT;
	if (r == 0 || r == -ENOENT)
		result = r == 0 ? META_FOUND : META_ABSENT;
	part->lookups[result]++;
	part->failures = result == META_FAILED ? part->failures + 1 : 0;
	return result;
}

static int read_file(int dirfd, const char *name, char **ret, size_t *ret_len)
{
	_cleanup_(cleanup_close) int fd = -1;
	struct source_files_stamp stamp;
	int r = source_files_open(dirfd, name, &stamp, &fd);

	return r < 0 ? r : read_whole(fd, &stamp, CONFIG_MAX, ret, ret_len);
}

static int read_bundle(int dirfd, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r = read_file(dirfd, "config.json", &text, &len);

	return r < 0 ? r : ctrjson_bundle(text, len, ret);
}

/* --- Docker ------------------------------------------------------------------------------------- */

static int query_docker(struct source_files *src, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int root = -1, containers = -1, dir = -1;
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r;

	r = open_part(&src->docker, &root);
	if (r >= 0)
		r = source_files_open_dir(root, "containers", &containers);
	if (r >= 0)
		r = source_files_open_dir(containers, id, &dir);
	if (r >= 0)
		r = read_file(dir, "config.v2.json", &text, &len);
	if (r < 0)
		return complain(&src->docker, "config.v2.json", id, r);
	r = ctrjson_docker(text, len, id, ret);
	if (r >= 0 && src->n_rules) {
		ret->known |= META_CTR_LABELS;
		ret->labels = ctrjson_docker_labels(text, len, src->rules, src->n_rules);
	}
	/* Another container's file in this one's place is a lie. */
	return complain(&src->docker, "config.v2.json", id, r < 0 ? -EBADMSG : 0);
}

/* --- Podman and CRI-O: a configuration, and a name out of the storage's list -------------------- */

static const char *const drivers[] = {"overlay-containers", "vfs-containers", "btrfs-containers",
				      "zfs-containers"};
/* Containers that go when they end (--rm) are in the second. */
static const char *const lists[LISTS] = {"containers.json", "volatile-containers.json"};

static void forget_lists(struct source_files *src)
{
	for (size_t i = 0; i < ARRAY_LEN(src->lists); i++) {
		free(src->lists[i].text);
		src->lists[i].text = NULL;
	}
}

static bool same_stamp(const struct source_files_stamp *a, const struct source_files_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

static bool has_settled(const struct source_files_stamp *stamp)
{
	int64_t changed = (int64_t)stamp->ctime.tv_sec * 1000000000 + stamp->ctime.tv_nsec;

	return (int64_t)clock_wall_ns() - changed > STAMP_GRAIN_NS;
}

/* The list is written anew whenever a container is made or removed. */
static int query_list(struct list *kept, int dirfd, const char *name, const char *id,
		      struct meta_container *ret)
{
	_cleanup_(cleanup_close) int fd = -1;
	_cleanup_(cleanup_free) char *text = NULL;
	struct source_files_stamp stamp;
	size_t len;
	int r;

	r = source_files_open(dirfd, name, &stamp, &fd);
	if (r < 0)
		return r;
	if (kept->text && same_stamp(&kept->stamp, &stamp))
		return ctrjson_storage(kept->text, kept->len, id, ret);
	free(kept->text);
	kept->text = NULL;
	r = read_whole(fd, &stamp, LIST_MAX, &text, &len);
	if (r < 0)
		return r;
	r = ctrjson_storage(text, len, id, ret);
	if (len <= LIST_KEEP && has_settled(&stamp))
		*kept = (struct list){stamp, TAKE_PTR(text), len};
	return r;
}

static int query_lists(struct source_files *src, int dirfd, const char *id,
		       struct meta_container *ret)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(lists) && r == -ENOENT; i++)
		r = complain(&src->podman, lists[i], id,
			     query_list(&src->lists[i], dirfd, lists[i], id, ret));
	return r;
}

static int open_userdata(int root, const char *driver, const char *id, int *ret_all,
			 int *ret_userdata)
{
	_cleanup_(cleanup_close) int all = -1, dir = -1;
	int r = source_files_open_dir(root, driver, &all);

	if (r >= 0)
		r = source_files_open_dir(all, id, &dir);
	if (r >= 0)
		r = source_files_open_dir(dir, "userdata", ret_userdata);
	if (r >= 0)
		*ret_all = TAKE_FD(all);
	return r;
}

static int read_userdata(int root, const char *driver, const char *id, int *ret_all,
			 struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int userdata = -1;
	int r = open_userdata(root, driver, id, ret_all, &userdata);

	return r >= 0 ? read_bundle(userdata, ret) : r;
}

static int query_driver(struct source_files *src, int root, const char *driver, const char *id,
			struct meta_container *ret)
{
	_cleanup_(cleanup_close) int all = -1;
	struct meta_container found = {.source = META_PODMAN, .kind = META_KIND_CONTAINER};
	struct ctrjson_bundle bundle;
	int r;

	r = read_userdata(root, driver, id, &all, &bundle);
	if (r < 0)
		return complain(&src->podman, "config.json", id, r);
	if (bundle.cri)
		return -ENOENT;
	snprintf(found.id, sizeof(found.id), "%s", id);
	r = query_lists(src, all, id, &found);
	return r < 0 && r != -ENOENT ? r : ctrjson_podman(&bundle, &found, ret);
}

static int query_podman(struct source_files *src, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int root = -1;
	int r = complain(&src->podman, src->podman.root, id, open_part(&src->podman, &root));

	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < ARRAY_LEN(drivers) && r == -ENOENT; i++)
		r = query_driver(src, root, drivers[i], id, ret);
	return r;
}

static int query_crio(struct source_files *src, const char *id, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int root = -1;
	int r = open_part(&src->podman, &root);

	if (r >= 0)
		r = -ENOENT;
	for (size_t i = 0; i < ARRAY_LEN(drivers) && r == -ENOENT; i++) {
		_cleanup_(cleanup_close) int all = -1;

		r = read_userdata(root, drivers[i], id, &all, ret);
	}
	return complain(&src->podman, "config.json", id, r);
}

/* --- containerd: its running tasks, by their id or by the cgroup that they say they are in ------ */

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters and digits in runs, with one of ".", "_" and "-" between two of them. */
static bool is_identifier(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > IDENTIFIER_MAX || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!is_alnum(text[i]) && (!strchr("._-", text[i]) || !is_alnum(text[i - 1])))
			return false;
	return true;
}

static int open_tasks(const struct source_files *src, int *ret_fd)
{
	_cleanup_(cleanup_close) int root = -1;
	int r = open_part(&src->containerd, &root);

	return r < 0 ? r : source_files_open_dir(root, "io.containerd.runtime.v2.task", ret_fd);
}

static int read_task(int tasks, const char *namespace_, const char *id, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int all = -1, dir = -1;
	int r = source_files_open_dir(tasks, namespace_, &all);

	if (r >= 0)
		r = source_files_open_dir(all, id, &dir);
	return r >= 0 ? read_bundle(dir, ret) : r;
}

/* The task's configuration, unless it is in a pod. */
static int query_task(int tasks, const char *namespace_, const char *id, struct ctrjson_bundle *ret)
{
	int r = read_task(tasks, namespace_, id, ret);

	return r >= 0 && ret->cri ? -ENOENT : r;
}

static void take_task(const struct ctrjson_bundle *bundle, const char *id,
		      struct meta_container *ret)
{
	*ret = (struct meta_container){
		.source = META_CONTAINERD,
		.kind = META_KIND_CONTAINER,
		.stop_signal = bundle->stop_signal,
		.known = bundle->has_grace ? META_CTR_GRACE : 0,
		.grace_ns = bundle->grace_ns,
	};
	snprintf(ret->id, sizeof(ret->id), "%s", id);
	snprintf(ret->name, sizeof(ret->name), "%s", *bundle->name ? bundle->name : id);
}

typedef int (*namespace_fn)(void *userdata, int tasks, const char *namespace_);

/* Calls fn for each namespace until one call returns other than -ENOENT, and returns that. */
static int each_namespace(int tasks, namespace_fn fn, void *userdata)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;
	unsigned int n = 0;
	int r = fd_opendir(tasks, ".", &dir);

	if (r < 0)
		return r;
	r = -ENOENT;
	while (r == -ENOENT && (entry = readdir(dir))) {
		if (!is_identifier(entry->d_name))
			continue;
		if (++n > NAMESPACES_MAX)
			return -E2BIG;
		r = fn(userdata, tasks, entry->d_name);
	}
	return r;
}

struct by_id {
	const char *id;
	struct ctrjson_bundle bundle;
	unsigned int found;
};

static int try_id(void *userdata, int tasks, const char *namespace_)
{
	struct by_id *want = userdata;
	struct ctrjson_bundle bundle;
	int r;

	/* Docker's own, which add nothing to its own file. */
	if (strcmp(namespace_, "moby") == 0)
		return -ENOENT;
	r = query_task(tasks, namespace_, want->id, &bundle);
	if (r < 0)
		return r;
	want->bundle = bundle;
	return ++want->found > 1 ? -ENOTUNIQ : -ENOENT;
}

static int query_tasks(struct source_files *src, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int tasks = -1;
	struct by_id want = {.id = id};
	int r = open_tasks(src, &tasks);

	if (r >= 0)
		r = each_namespace(tasks, try_id, &want);
	if (r == -ENOTUNIQ)
		return -ENOENT;
	if (r == -ENOENT && want.found) {
		take_task(&want.bundle, id, ret);
		return 0;
	}
	return complain(&src->containerd, "config.json", id, r);
}

static int query_cri_task(struct source_files *src, const char *id, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int tasks = -1;
	int r = open_tasks(src, &tasks);

	if (r >= 0)
		r = read_task(tasks, CRI_NAMESPACE, id, ret);
	return complain(&src->containerd, "config.json", id, r);
}

struct by_cgroup {
	const char *path;
	const char *id;
	struct meta_container *ret;
};

static int try_cgroup(void *userdata, int tasks, const char *namespace_)
{
	const struct by_cgroup *want = userdata;
	struct ctrjson_bundle bundle;
	int r = query_task(tasks, namespace_, want->id, &bundle);

	if (r < 0)
		return r;
	if (!ctrjson_is_cgroup(bundle.cgroups_path, want->path))
		return -ENOENT;
	take_task(&bundle, want->id, want->ret);
	return 0;
}

static bool is_short_identifier(const char *text)
{
	return strlen(text) < META_ID_MAX && is_identifier(text);
}

/* "/<namespace>/<id>"; base is the last component. */
static int query_plain(int tasks, const char *path, const char *base, struct meta_container *ret)
{
	struct by_cgroup want = {path, base, ret};
	char namespace_[IDENTIFIER_MAX + 1];
	size_t len = (size_t)(base - path);

	if (len < 3 || len - 2 > IDENTIFIER_MAX || !is_short_identifier(base))
		return -ENOENT;
	memcpy(namespace_, path + 1, len - 2);
	namespace_[len - 2] = 0;
	if (!is_identifier(namespace_))
		return -ENOENT;
	return try_cgroup(&want, tasks, namespace_);
}

/* "<prefix>-<id>.scope": either part may hold dashes of its own. */
static int query_scope(int tasks, const char *path, const char *base, struct meta_container *ret)
{
	struct by_cgroup want = {.path = path, .ret = ret};
	char name[PATH_PART_MAX + 1], *at;
	size_t len = strlen(base), tail = strlen(".scope");
	int r = -ENOENT;

	if (len > PATH_PART_MAX || len < tail || strcmp(base + len - tail, ".scope") != 0)
		return -ENOENT;
	memcpy(name, base, len - tail);
	name[len - tail] = 0;
	for (at = strchr(name, '-'); at && r == -ENOENT; at = strchr(at + 1, '-')) {
		want.id = at + 1;
		if (is_short_identifier(want.id))
			r = each_namespace(tasks, try_cgroup, &want);
	}
	return r;
}

static int query_cgroup(struct source_files *src, const char *path, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int tasks = -1;
	const char *base = strrchr(path, '/');
	int r = base && *path == '/' ? open_tasks(src, &tasks) : -ENOENT;

	if (r < 0)
		return complain(&src->containerd, "tasks", path, r);
	base++;
	r = query_plain(tasks, path, base, ret);
	if (r == -ENOENT)
		r = query_scope(tasks, path, base, ret);
	return complain(&src->containerd, "config.json", path, r);
}

/* --- the source --------------------------------------------------------------------------------- */

int source_files_new(const struct source_files_options *options, struct source_files **ret)
{
	struct source_files *src = calloc(1, sizeof(*src));

	if (!src)
		return -ENOMEM;
	src->rules = options->rules;
	src->n_rules = options->n_rules;
	src->docker.root = strdup(options->docker_root ?: "/var/lib/docker");
	src->podman.root = strdup(options->podman_root ?: "/var/lib/containers/storage");
	src->containerd.root = strdup(options->containerd_state ?: "/run/containerd");
	if (!src->docker.root || !src->podman.root || !src->containerd.root) {
		source_files_free(src);
		return -ENOMEM;
	}
	*ret = src;
	return 0;
}

struct source_files *source_files_free(struct source_files *src)
{
	if (src) {
		forget_lists(src);
		free(src->docker.root);
		free(src->podman.root);
		free(src->containerd.root);
	}
	free(src);
	return NULL;
}

enum meta_result source_files_find(struct source_files *src, const char *container_id,
				   enum cgpath_runtime runtime, struct meta_container *ret)
{
	bool hex = cgpath_is_id(container_id);
	enum meta_result result = META_ABSENT, second;

	if (strlen(container_id) >= META_ID_MAX || !is_identifier(container_id))
		return META_ABSENT;
	if (runtime == CGPATH_RT_PODMAN && hex)
		return settle(&src->podman, query_podman(src, container_id, ret));
	if (runtime != CGPATH_RT_DOCKER && runtime != CGPATH_RT_CONTAINERD &&
	    runtime != CGPATH_RT_UNKNOWN)
		return META_ABSENT;
	if (hex && runtime != CGPATH_RT_CONTAINERD)
		result = settle(&src->docker, query_docker(src, container_id, ret));
	if (result == META_FOUND || runtime == CGPATH_RT_DOCKER)
		return result;
	second = settle(&src->containerd, query_tasks(src, container_id, ret));
	return second == META_ABSENT ? result : second;
}

/* 0, or -ENOENT: the bundle says nothing of it. */
static int take_in_pod(const struct ctrjson_bundle *bundle, const char *id, const char *pod_uid,
		       struct meta_container *ret)
{
	bool is_sandbox = bundle->kind == META_KIND_SANDBOX;

	if (!bundle->kind || (is_sandbox && strcmp(bundle->sandbox_id, id) != 0))
		return -ENOENT;
	if (bundle->pod_uid[0] && strcmp(bundle->pod_uid, pod_uid) != 0)
		return -ENOENT;
	*ret = (struct meta_container){.kind = bundle->kind, .stop_signal = bundle->stop_signal};
	snprintf(ret->id, sizeof(ret->id), "%s", id);
	snprintf(ret->pod_uid, sizeof(ret->pod_uid), "%s", pod_uid);
	snprintf(ret->name, sizeof(ret->name), "%s", bundle->name);
	return 0;
}

static enum meta_result query_bundle(struct source_files *src, enum meta_source source,
				     const char *id, const char *pod_uid,
				     struct meta_container *ret)
{
	bool crio = source == META_PODMAN;
	struct ctrjson_bundle bundle;
	int r;

	r = crio ? query_crio(src, id, &bundle) : query_cri_task(src, id, &bundle);
	if (r >= 0)
		r = take_in_pod(&bundle, id, pod_uid, ret);
	if (r >= 0)
		ret->source = source;
	return settle(crio ? &src->podman : &src->containerd, r);
}

enum meta_result source_files_find_in_pod(struct source_files *src, const char *container_id,
					  enum cgpath_runtime runtime, const char *pod_uid,
					  struct meta_container *ret)
{
	enum meta_result result = META_ABSENT;
	bool any = runtime == CGPATH_RT_UNKNOWN;

	if (!cgpath_is_id(container_id))
		return META_ABSENT;
	if (any || runtime == CGPATH_RT_DOCKER)
		result = settle(&src->docker, query_docker(src, container_id, ret));
	if (result != META_FOUND && (any || runtime == CGPATH_RT_CONTAINERD))
		result = query_bundle(src, META_CONTAINERD, container_id, pod_uid, ret);
	if (result != META_FOUND && runtime == CGPATH_RT_CRIO)
		result = query_bundle(src, META_PODMAN, container_id, pod_uid, ret);
	return result;
}

enum meta_result source_files_identify(struct source_files *src, const char *cgroup_path,
				       struct meta_container *ret)
{
	int r = query_cgroup(src, cgroup_path, ret);

	/* Most cgroups are not containers: not worth counting. */
	return r == -ENOENT ? META_ABSENT : settle(&src->containerd, r);
}

static const struct part *part_of(const struct source_files *src, enum meta_source source)
{
	switch (source) {
	case META_DOCKER:
		return &src->docker;
	case META_PODMAN:
		return &src->podman;
	case META_CONTAINERD:
		return &src->containerd;
	default:
		return NULL;
	}
}

void source_files_get_state(const struct source_files *src, enum meta_source source,
			    struct source_state *ret)
{
	const struct part *part = part_of(src, source);
	_cleanup_(cleanup_close) int fd = -1;
	const char *text = "files can be read";
	int r;

	*ret = (struct source_state){.status = SOURCE_OFF};
	if (!part)
		return;
	snprintf(ret->where, sizeof(ret->where), "%s", part->root);
	memcpy(ret->lookups, part->lookups, sizeof(ret->lookups));
	r = open_part(part, &fd);
	if (r == -ENXIO)
		return;
	ret->failures = part->failures;
	ret->status = r < 0 || part->failures ? SOURCE_DOWN : SOURCE_UP;
	if (r < 0)
		text = reason_of(r);
	else if (part->failures)
		text = part->text;
	snprintf(ret->text, sizeof(ret->text), "%s", text);
}
