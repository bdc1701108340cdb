// SPDX-License-Identifier: Apache-2.0
/* containerd's half of io/sources/files: the configurations of its running tasks, by their id or by
 * the cgroup that they say they are in. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/files/fd.h"
#include "io/sources/files/priv.h"

#define NAMESPACES_MAX 256
#define IDENTIFIER_MAX 76 /* pkg/identifiers */
#define PATH_PART_MAX  255
#define CRI_NAMESPACE  "k8s.io" /* internal/cri/constants */

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters and digits in runs, with one of ".", "_" and "-" between two of them. */
bool podsrc_files_is_identifier(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > IDENTIFIER_MAX || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!is_alnum(text[i]) && (!strchr("._-", text[i]) || !is_alnum(text[i - 1])))
			return false;
	return true;
}

static int open_tasks(const struct podsrc_files *src, int *ret_fd)
{
	_cleanup_(cleanup_close) int root = -1;
	int r = podsrc_files_open_part(&src->containerd, &root);

	return r < 0 ? r : podsrc_files_open_dir(root, "io.containerd.runtime.v2.task", ret_fd);
}

static int read_task(int tasks, const char *namespace_, const char *id, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int all = -1, dir = -1;
	int r = podsrc_files_open_dir(tasks, namespace_, &all);

	if (r >= 0)
		r = podsrc_files_open_dir(all, id, &dir);
	return r >= 0 ? podsrc_files_bundle(dir, ret) : r;
}

/* The task's configuration, unless it is in a pod. */
static int ask_task(int tasks, const char *namespace_, const char *id, struct ctrjson_bundle *ret)
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
		.known = bundle->grace_told ? META_CTR_GRACE : 0,
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
		if (!podsrc_files_is_identifier(entry->d_name))
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

	/* Docker's own, which tell nothing that its own file does not. */
	if (strcmp(namespace_, "moby") == 0)
		return -ENOENT;
	r = ask_task(tasks, namespace_, want->id, &bundle);
	if (r < 0)
		return r;
	want->bundle = bundle;
	return ++want->found > 1 ? -ENOTUNIQ : -ENOENT;
}

int podsrc_files_ask_tasks(struct podsrc_files *src, const char *id, struct meta_container *ret)
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
	return podsrc_files_complain(&src->containerd, "config.json", id, r);
}

int podsrc_files_ask_cri_task(struct podsrc_files *src, const char *id, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_close) int tasks = -1;
	int r = open_tasks(src, &tasks);

	if (r >= 0)
		r = read_task(tasks, CRI_NAMESPACE, id, ret);
	return podsrc_files_complain(&src->containerd, "config.json", id, r);
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
	int r = ask_task(tasks, namespace_, want->id, &bundle);

	if (r < 0)
		return r;
	if (!ctrjson_is_cgroup(bundle.cgroups_path, want->path))
		return -ENOENT;
	take_task(&bundle, want->id, want->ret);
	return 0;
}

static bool is_short_identifier(const char *text)
{
	return strlen(text) < META_ID_MAX && podsrc_files_is_identifier(text);
}

/* "/<namespace>/<id>"; base is the last component. */
static int ask_plain(int tasks, const char *path, const char *base, struct meta_container *ret)
{
	struct by_cgroup want = {path, base, ret};
	char namespace_[IDENTIFIER_MAX + 1];
	size_t len = (size_t)(base - path);

	if (len < 3 || len - 2 > IDENTIFIER_MAX || !is_short_identifier(base))
		return -ENOENT;
	memcpy(namespace_, path + 1, len - 2);
	namespace_[len - 2] = 0;
	if (!podsrc_files_is_identifier(namespace_))
		return -ENOENT;
	return try_cgroup(&want, tasks, namespace_);
}

/* "<prefix>-<id>.scope": either part may hold dashes of its own. */
static int ask_scope(int tasks, const char *path, const char *base, struct meta_container *ret)
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

int podsrc_files_ask_cgroup(struct podsrc_files *src, const char *path, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int tasks = -1;
	const char *base = strrchr(path, '/');
	int r = base && *path == '/' ? open_tasks(src, &tasks) : -ENOENT;

	if (r < 0)
		return podsrc_files_complain(&src->containerd, "tasks", path, r);
	base++;
	r = ask_plain(tasks, path, base, ret);
	if (r == -ENOENT)
		r = ask_scope(tasks, path, base, ret);
	return podsrc_files_complain(&src->containerd, "config.json", path, r);
}
